"""`ssp doctor`."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from ssp.cli.output import progress, say, say_json
from ssp.config import Config, load_config
from ssp.errors import DataError, SspError
from ssp.evaluate.multihop import NAME as MULTIHOP

if TYPE_CHECKING:
    from ssp.judges.calibration import Calibration


class Finding(NamedTuple):
    """What was looked at, whether it will do, and what is to be said of it."""

    name: str
    fine: bool
    says: str


def doctor(
    config: Path | None = None,
    *,
    preset: str | None = None,
    set: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    judge: Annotated[bool, Parameter(negative="")] = False,
    step: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Look over a configuration before a long run: packages, memory, disk, model, corpus, search, judge, reader.

    Parameters
    ----------
    config
        Configuration file (TOML), as for ssp train.
    preset
        Starting point; tiny is the default.
    set
        One setting, such as --set judge.kind=llm; may be repeated.
    judge
        Also put cases with known verdicts before the judge, and say how often it is right.
    step
        Also prepare the run in a temporary folder and play a small step of it, to tell how long one will take.
    json
        Print the findings as JSON.
    """
    resolved = load_config(config, preset=preset, overrides=set)
    findings = asyncio.run(_look(resolved))
    ready = all(one.fine for one in findings)
    if step and ready:
        findings.append(_time(resolved))
    calibration = asyncio.run(_calibrate(resolved)) if judge and ready else None
    if json:
        cases = {"judge": _as_json(calibration)} if calibration else {}
        say_json({"findings": [one._asdict() for one in findings], **cases})
    else:
        for one in findings:
            say(f"{'ok  ' if one.fine else 'BAD '} {one.name:<9} {one.says}")
        if calibration:
            _show(calibration)
    if sick := [one.name for one in findings if not one.fine]:
        raise DataError(f"not ready: {', '.join(sick)}")


async def _look(config: Config) -> list[Finding]:
    return [*_machine(), *_files(config), *await _services(config)]


def _machine() -> Iterator[Finding]:
    from ssp.runs.versions import versions

    made = versions()
    missing = [name for name, version in made.items() if version == "not installed"]
    says = f"Python {made['python']}, torch {made['torch']}, transformers {made['transformers']}"
    yield Finding("packages", not missing, f"not installed: {', '.join(missing)}" if missing else says)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") / 2**30
    yield Finding("memory", memory > 1.0, f"{memory:.1f} GiB free, {os.cpu_count()} cores")
    free = shutil.disk_usage(Path()).free / 2**30
    yield Finding("disk", free > 1.0, f"{free:.0f} GiB free here")


def _files(config: Config) -> Iterator[Finding]:
    if config.corpus not in ("world", "service", MULTIHOP):
        there = Path(config.corpus).expanduser().exists()
        yield Finding("corpus", there, config.corpus if there else f"there is nothing at {config.corpus}")
    if config.model.path != "tiny":
        yield _model(config.model.path)
    if config.engine.kind == "vllm" and not config.engine.urls:
        there = find_spec("vllm") is not None
        yield Finding("vllm", there, "is installed" if there else "is not installed: pip install 'ssp[vllm]'")


def _model(name: str) -> Finding:
    """Without getting anything."""
    from ssp.models.catalogue import KNOWN, place_of
    from ssp.models.find import is_hub_name

    folder = Path(name).expanduser()
    if (folder / "config.json").exists():
        return Finding("model", True, name)
    if name in KNOWN:
        there = place_of(name).exists()
        return Finding("model", True, f"{KNOWN[name].title}, {'is here' if there else 'will be pulled'}")
    fine = not folder.exists() and is_hub_name(name)
    return Finding("model", fine, f"{name} (from the hub)" if fine else f"{folder} is no model directory")


def _time(config: Config) -> Finding:
    from ssp.cli.follow import lasting
    from ssp.runs.trial import time_a_step

    with progress() as advance:
        found = asyncio.run(time_a_step(config, advance))
    whole = f"{config.steps} steps about {lasting(config.steps * found.step)}"
    measured = f"{found.seconds:.1f} s with {found.seeds} of {found.of} seeds; many at once take less each"
    return Finding("step", True, f"at most about {lasting(found.step)} ({measured}), {whole}")


async def _services(config: Config) -> list[Finding]:
    findings = []
    if config.search.url is not None:
        findings.append(await _search(config.search.url))
    if config.judge.kind == "llm":
        findings.append(await _judge(config))
    if config.verify.reader == "service":
        findings.append(await _reader(config))
    return findings


async def _reader(config: Config) -> Finding:
    from ssp.chat import ChatModel
    from ssp.errors import ReaderError

    chat = ChatModel.of(config.reader.model_copy(update={"attempts": 2}), ReaderError)
    fine = await chat.answers()
    await chat.close()
    return Finding("reader", fine, f"{chat.url} {'answers' if fine else 'does not answer'}")


async def _search(url: str) -> Finding:
    from ssp.search.http import HttpSearcher

    try:
        searcher = HttpSearcher(url, attempts=2)
        [hits] = await searcher.search(["river"], 1)
        await searcher.close()
    except SspError as error:
        return Finding("search", False, str(error))
    return Finding("search", True, f"{url} answers" + ("" if hits else ", but finds nothing for 'river'"))


async def _judge(config: Config) -> Finding:
    from ssp.judges.open import open_judge

    try:
        judge = open_judge(config.judge.model_copy(update={"cache": None, "attempts": 2}))
        right = await judge.same("In which city is the Louvre?", ["Paris"], "Paris, the capital of France")
        await judge.close()
    except SspError as error:
        return Finding("judge", False, str(error))
    return Finding("judge", right, f"{config.judge.model} answers" + ("" if right else ", but took Paris for wrong"))


async def _calibrate(config: Config) -> "Calibration":
    from ssp.judges.calibration import calibrate, calibration_cases
    from ssp.judges.open import open_judge

    cases = calibration_cases()
    judge = open_judge(config.judge)
    try:
        with progress(len(cases)) as advance:
            return await calibrate(judge, cases, advance)
    finally:
        await judge.close()


def _as_json(found: "Calibration") -> dict[str, Any]:
    from ssp.evaluate.statistics import wilson

    return {
        "cases": len(found.cases),
        "judged": found.judged,
        "agreed": found.agreed,
        "accuracy": found.agreed / found.judged if found.judged else None,
        "ci95": wilson(found.agreed, found.judged) if found.judged else None,
        "wrongly_passed": [asdict(case) for case in found.wrongly_passed],
        "wrongly_refused": [asdict(case) for case in found.wrongly_refused],
        "by_kind": found.by_kind,
    }


def _show(found: "Calibration") -> None:
    result = _as_json(found)
    if not found.judged:
        say(f"the judge decided none of {len(found.cases)} cases")
        return
    low, high = result["ci95"]
    say(f"judge: right in {found.agreed} of {found.judged} cases ({result['accuracy']:.0%}, {low:.0%} to {high:.0%})")
    if found.judged < len(found.cases):
        say(f"  without a verdict: {len(found.cases) - found.judged}")
    for title, cases in (("wrong, but passed", found.wrongly_passed), ("right, but refused", found.wrongly_refused)):
        say(f"  {title}: {len(cases)}")
        for case in cases[:5]:
            said = " ".join(case.prediction.split()) or "(nothing)"
            say(f"    {case.kind}: {case.question} {' | '.join(case.answers)} – {said}")
