"""`ssp eval`."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from cyclopts import Parameter

from ssp.cli.corpora import index_of
from ssp.cli.output import note, progress, say, say_json
from ssp.config import JudgeConfig, load_config
from ssp.errors import ConfigError
from ssp.evaluate.sets import DATA, find_set, fingerprint, pinned, read_set, set_name
from ssp.evaluate.table import side_by_side

if TYPE_CHECKING:
    from ssp.evaluate.compare import SetComparison
    from ssp.evaluate.questions import Question
    from ssp.evaluate.runner import Progress, Record, Sampling


def evaluate(
    *targets: str,
    on: str = "world",
    corpus: Path | None = None,
    search: str | None = None,
    data: Path = DATA,
    limit: int | None = None,
    skip: int = 0,
    samples: int = 1,
    temperature: float | None = None,
    seed: int = 0,
    set: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    out: Path | None = None,
    compare: tuple[str, str] | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Answer sets of questions and score the answers, with intervals; or compare two evaluations.

    Parameters
    ----------
    targets
        Run directory, or a model (Hugging Face directory or hub name); several are put side by side in a table.
    on
        Sets, separated by commas: world (world-1 … world-4), nq, triviaqa, popqa, hotpotqa, 2wiki, musique, bamboogle,
        simpleqa, frames, squad, or files of questions.
    corpus
        What is searched: an index, or a corpus to be indexed first; by default the run's own.
    search
        Address of a search service to use instead.
    data
        Folder with the files of the named sets.
    limit
        At most so many questions a set; the same ones everywhere.
    skip
        Leave out this many before them: those that were looked at while something was chosen. --skip 50 --limit 100
        gives the questions that --limit 150 has and --limit 50 has not.
    samples
        Answers to each question: more than one gives avg@K and pass@K.
    temperature
        Of sampling; by default 0 for one answer and 1 for several.
    seed
        Decides what is sampled.
    set
        One setting for a model that comes without a run, such as --set agent.prompts=zh; may be repeated. Settings of
        the judge (--set judge.kind=llm …) can be given for runs as well.
    out
        Folder for answers and scores; a stopped evaluation goes on. By default inside the run, or under evals/. Not for
        several targets.
    compare
        Two evaluation folders, A and B (or several of each, separated by commas: runs with different seeds).
    json
        Print the result as JSON.
    """
    if compare is not None:
        if targets:
            raise ConfigError("--compare takes two folders of evaluations, and no run besides")
        _compare(*compare, as_json=json)
        return
    if not targets:
        raise ConfigError("say what to evaluate: ssp eval RUN --on SET, or compare: ssp eval --compare A B")
    if samples < 1 or (limit is not None and limit < 1) or min(seed, skip) < 0:
        raise ConfigError("--samples and --limit must be at least 1, and --seed and --skip not negative")
    from ssp.evaluate.runner import Sampling

    heat = temperature if temperature is not None else float(samples > 1)
    if not 0.0 <= heat < 100.0:
        raise ConfigError("--temperature must be between 0 and 100")
    if len(targets) > 1 and out is not None:
        raise ConfigError("--out is for one target; several have a folder each")
    sampling = Sampling(samples, heat, seed)
    wishes = [_Wish(one, on, corpus, search, data.expanduser(), limit, skip, sampling, set, out) for one in targets]
    results = [asyncio.run(_evaluate(wish)) for wish in wishes]
    if len(results) == 1:
        say_json(results[0]) if json else _show(results[0])
    else:
        say_json({"models": results}) if json else say(side_by_side(results))


@dataclass(frozen=True, slots=True)
class _Wish:
    """What was asked for on the command line."""

    target: str
    on: str
    corpus: Path | None
    search: str | None
    data: Path
    limit: int | None
    skip: int
    sampling: "Sampling"
    overrides: tuple[str, ...]
    out: Path | None


async def _evaluate(wish: _Wish) -> dict[str, Any]:
    from ssp.evaluate.runner import RESULT, evaluate_set, macro, open_folder, score
    from ssp.runs.players import open_player

    questions = dict(_questions(wish))
    index = index_of(wish.corpus) if wish.corpus else None
    for_judge = tuple(one for one in wish.overrides if one.startswith("judge."))
    others = tuple(one for one in wish.overrides if one not in for_judge)
    player = open_player(wish.target, others, index=index, url=wish.search)
    judge = load_config(overrides=for_judge).judge if for_judge else player.config.judge
    settings = {
        "model": str(player.model),
        "searches": str(index or wish.search or "the run's own index"),
        **asdict(wish.sampling),
        "agent": player.config.agent.model_dump(mode="json"),
        "k": player.config.search.k,
        "questions": {name: fingerprint(some) for name, some in questions.items()},
    }
    folder = wish.out or _default_folder(wish.target, settings)
    open_folder(folder, settings)
    files = {name: folder / f"{name}.jsonl" for name in questions}
    try:
        with progress(sum(map(len, questions.values()))) as advance:
            records = {
                name: await evaluate_set(player.agent, some, files[name], wish.sampling, advance)
                for name, some in questions.items()
            }
            if judge.kind == "llm":
                records = await _judged(records, files, judge, advance)
    finally:
        await player.agent.searcher.close()
        await player.agent.engine.close()
    sets = {name: score(some, len(questions[name])) for name, some in records.items()}
    ids = {name: [one.id for one in some] for name, some in questions.items()} if wish.limit or wish.skip else {}
    result = {"sets": sets, "macro": macro(records), "model": str(player.model), "folder": str(folder)}
    (folder / RESULT).write_bytes(orjson.dumps({**result, "ids": ids}, option=orjson.OPT_INDENT_2) + b"\n")
    for name, one in sets.items():
        if one.get("unanswered"):
            note(f"{name}: {one['unanswered']} questions not answered since search failed; run this again to go on")
        if one.get("unjudged"):
            note(f"{name}: {one['unjudged']} answers not judged since the judge failed; run this again to go on")
    return result


async def _judged(
    records: "Mapping[str, list[Record]]", files: Mapping[str, Path], config: JudgeConfig, advance: "Progress"
) -> "dict[str, list[Record]]":
    from ssp.evaluate.judging import judge_records, verdict_file
    from ssp.judges.open import open_judge

    judge = open_judge(config)
    try:
        return {
            name: await judge_records(judge, some, verdict_file(files[name], config), advance)
            for name, some in records.items()
        }
    finally:
        await judge.close()


def _questions(wish: _Wish) -> "Iterator[tuple[str, Sequence[Question]]]":
    """The questions of each set that was asked for."""
    from ssp.runs.training import held_out

    target, first, last = wish.target, wish.skip, wish.skip + wish.limit if wish.limit else None
    world = held_out(Path(target).expanduser())
    for name in dict.fromkeys(part.strip() for part in wish.on.split(",") if part.strip()):
        if name == "world" or name.startswith("world-"):
            if not world:
                raise ConfigError(f"{name}: questions about a generated world belong to a run, and {target} is none")
            chosen = world if name == "world" else {name: world[name]} if name in world else {}
            if not chosen:
                raise ConfigError(f"no set {name}; this run's world has {', '.join(world)}")
            for one, questions in chosen.items():
                if first >= len(questions):
                    raise ConfigError(f"{one} has only {len(questions)} questions: --skip {first} leaves none")
                yield one, questions[first:last]
        else:
            file = find_set(name, wish.data)
            yield set_name(name, file), pinned(read_set(file), wish.limit, wish.skip)


def _default_folder(target: str, settings: dict[str, Any]) -> Path:
    """The same for the same question put again, so that it goes on."""
    from ssp.runs.players import is_run

    name = hashlib.sha256(orjson.dumps(settings, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]
    path = Path(target).expanduser()
    return path / "evals" / name if is_run(path) else Path("evals") / f"{path.name}-{name}"


def _show(result: dict[str, Any]) -> None:
    judged = any("judge" in one for one in result["sets"].values())
    right = "judged right" if judged else "right"
    say(f"{'set':<12} {'n':>5} {right:>12} {'95 % interval':>17} {'EM':>7} {'F1':>7} {'searches':>9}")
    for name, one in result["sets"].items():
        if "accuracy" not in one:
            continue
        low, high = one["ci95"]
        interval = f"{low:.1%} to {high:.1%}"
        say(
            f"{name:<12} {one['n']:>5} {one['accuracy']:>12.1%} {interval:>17} {one['em']:>7.1%} {one['f1']:>7.1%} "
            f"{one['searches']:>9.2f}"
        )
        for key in (key for key in one if key.startswith("pass@")):
            say(f"{'':<12} {key}: {one[key]:.1%}")
        if "agreement" in one:
            say(f"{'':<12} judge and exact match agree on {one['agreement']:.1%}")
    if result["macro"]:
        low, high = result["macro"]["ci95"]
        say(f"{'mean of sets':<18} {result['macro']['accuracy']:>12.1%} {f'{low:.1%} to {high:.1%}':>17}")
    say(f"answers and scores: {result['folder']}")


def _compare(a: str, b: str, *, as_json: bool) -> None:
    from ssp.evaluate.compare import compare_folders, compare_means

    left, right = ([Path(part).expanduser() for part in side.split(",")] for side in (a, b))
    found, overall = compare_folders(left, right), compare_means(left, right)
    if as_json:
        whole = {one.measure: {"difference": one.difference, "ci95": one.interval} for one in overall}
        say_json({"sets": {one.name: _as_json(one) for one in found}, "macro": whole})
        return
    for one in found:
        for pair in one.pairs:
            say(f"{one.name}: A {pair.mean_a:.1%}, B {pair.mean_b:.1%} of {pair.n} questions; {pair.in_words}")
            say(f"  only A right: {pair.only_a}, only B right: {pair.only_b}; McNemar's p = {pair.p:.2g}")
        if one.over_seeds:
            low, high = one.over_seeds
            say(f"  over {len(one.pairs)} pairs {one.difference:+.1%}, 95 % interval {low:+.1%} to {high:+.1%}")
    for mean in overall:
        low, high = mean.interval
        say(f"mean of sets, {mean.measure}: {mean.difference:+.1%}, 95 % interval {low:+.1%} to {high:+.1%}")


def _as_json(one: "SetComparison") -> dict[str, Any]:
    pairs = [
        {
            "n": pair.n,
            "a": pair.mean_a,
            "b": pair.mean_b,
            "difference": pair.difference,
            "ci95": pair.interval,
            "only_a": pair.only_a,
            "only_b": pair.only_b,
            "p": pair.p,
            "in_words": pair.in_words,
        }
        for pair in one.pairs
    ]
    return {"pairs": pairs, "difference": one.difference, "ci95_over_pairs": one.over_seeds}
