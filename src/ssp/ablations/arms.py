"""What is compared with what: settings beside the preset's, and what the paper found for the same."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to run the game. `paper` is what the paper reports for it, if it does.

    With several `proposals` for a seed there are fewer seeds, so that all arms make as many proposals in a step.
    """

    name: str
    settings: tuple[str, ...] = ()
    paper: str = ""
    proposals: int = 1


@dataclass(frozen=True, slots=True)
class Ablation:
    """Arms that differ in one respect, and what the paper's figures are."""

    asks: str
    figures: str
    arms: tuple[Arm, ...]


_NO_READERS = ("verify.rag=false", "verify.deep=false", "verify.unique=0")
_PAPERS_REWARD = ("reward.shape=one_minus_acc", "reward.valid=0.0")


def _pair(proposer: str, solver: str, paper: str, *more: str) -> Arm:
    settings = (f"credit.proposer={proposer}", f"credit.solver={solver}", *more)
    return Arm(f"{proposer} – {solver}", settings, paper, proposals=4 if proposer == "grpo" else 1)


ABLATIONS: Mapping[str, Ablation] = {
    "roles": Ablation(
        "Who has to learn?",
        "mean accuracy over seven sets, Qwen2.5-7B-Instruct; 41.5 at the start",
        (
            Arm("solver only", ("game.proposer=start", "game.roles=solver"), "44.2"),
            Arm("proposer only", ("game.roles=proposer",), "41.7"),
            Arm("both", (), "49.5"),
        ),
    ),
    "rag": Ablation(
        "What is the check of questions worth, and the noise in it?",
        "accuracy on general / multi-hop sets",
        (
            Arm("no reader", _NO_READERS, "49.5 / 36.7"),
            *(
                Arm(f"{noise} noise documents", (f"verify.noise_docs={noise}",), paper)
                for noise, paper in ((0, "58.5 / 38.2"), (1, "58.5 / 36.9"), (4, "60.0 / 41.6"), (7, "57.8 / 35.9"))
            ),
        ),
    ),
    "fill": Ablation(
        "What fills a batch with too few valid questions?",
        "mean accuracy over seven sets, Qwen2.5-7B-Base; its dummies are our empty places",
        (
            Arm("nothing", ("pool.fill=none",), "41.4 (dummies)"),
            Arm("more seeds", ("pool.fill=resample",), "42.4"),
            Arm("pool, kept", ("pool.fill=reuse",), "44.4"),
            Arm("pool, emptied every 10 steps", ("pool.fill=reset", "pool.reset_every=10"), "48.7"),
        ),
    ),
    "algorithms": Ablation(
        "Which credit, proposer – solver?",
        "mean accuracy over seven sets, seconds a step",
        (
            _pair("reinforce", "grpo", "49.5, 83 s"),
            _pair("grpo", "grpo", "50.9, 504 s"),
            _pair("reinforce++", "grpo", "48.1, 80 s"),
            _pair("grpo", "reinforce", "46.5, 50 s"),
            _pair("reinforce", "reinforce", "42.0, 9 s"),
            _pair("grpo", "reinforce++", "29.1, 67 s"),
            _pair("hrpo", "grpo", ""),
        ),
    ),
    "reward": Ablation(
        "What should a proposer get for a valid question?",
        "the paper has the first only",
        (
            Arm("1 − p", _PAPERS_REWARD, "the paper's"),
            Arm("4p(1 − p)", ("reward.shape=learnability", "reward.valid=0.0")),
            Arm("1 within a band", ("reward.shape=band", "reward.valid=0.0")),
            Arm("bell over the variance", ("reward.shape=variance", "reward.valid=0.0")),
            Arm("(n − k)/(n − 1), and a half", ("reward.shape=dr_zero", "reward.valid=0.0")),
            Arm("bell over the variance, and 3", ("reward.shape=variance", "reward.valid=3.0")),
        ),
    ),
    "penalty": Ablation(
        "What does a penalty for invalid questions do?",
        "a penalty of 0.1: valid share down to 0.006, a death spiral",
        (
            Arm("0", (*_PAPERS_REWARD, "reward.invalid=0.0"), "the paper's"),
            Arm("−0.1", (*_PAPERS_REWARD, "reward.invalid=-0.1"), "death spiral"),
        ),
    ),
}
