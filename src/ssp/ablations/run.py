"""Running the arms, one after the other. What is done stays done: a run is known by its whole configuration."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ssp.ablations.arms import ABLATIONS, Ablation, Arm
from ssp.ablations.outcome import Summary, outcome
from ssp.config import Config, load_config
from ssp.errors import ConfigError
from ssp.runs.directory import EVALS, RunDirectory

Play = Callable[[Config, Path], None]  # makes a run, or goes on with it, to its end


def ablation(name: str) -> Ablation:
    if name not in ABLATIONS:
        raise ConfigError(f"no ablation {name!r}; there are {', '.join(ABLATIONS)}")
    return ABLATIONS[name]


def configs(name: str, seeds: int, preset: str | None, overrides: tuple[str, ...]) -> Iterator[tuple[str, Config]]:
    """Every run of an ablation, seed by seed, so that a stopped one has all arms of its first seeds."""
    for seed in range(seeds):
        for arm in ablation(name).arms:
            given = (*overrides, f"seed={seed}", *_shared_out(arm, preset, overrides), *arm.settings)
            yield arm.name, load_config(preset=preset, overrides=given)


def _shared_out(arm: Arm, preset: str | None, overrides: tuple[str, ...]) -> tuple[str, ...]:
    """So many proposals for each of fewer seeds."""
    if arm.proposals == 1:
        return ()
    seeds = load_config(preset=preset, overrides=overrides).game.seeds
    return (f"game.proposals={arm.proposals}", f"game.seeds={max(1, seeds // arm.proposals)}")


def place(folder: Path, config: Config) -> Path:
    """Arms of different ablations that are the same have the same run."""
    digest = hashlib.sha256(config.model_dump_json().encode()).hexdigest()[:12]
    return folder / "runs" / f"{digest}-s{config.seed}"


def is_done(run: Path, config: Config) -> bool:
    if not (run / EVALS).exists():
        return False
    return any(record["step"] == config.steps for record in RunDirectory(run).lines(EVALS))


def play_all(
    name: str, seeds: int, preset: str | None, overrides: tuple[str, ...], folder: Path, play: Play
) -> dict[str, Summary]:
    """Play what is not done yet; gives what each arm came to."""
    found: dict[str, list[Path]] = {}
    for arm, config in list(configs(name, seeds, preset, overrides)):
        run = place(folder, config)
        if not is_done(run, config):
            play(config, run)
        found.setdefault(arm, []).append(run)
    return {arm: Summary(tuple(map(outcome, runs))) for arm, runs in found.items()}
