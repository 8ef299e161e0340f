"""`ssp train`."""

import time
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ssp.cli.follow import follow, lasting
from ssp.cli.output import note, progress, say, say_json
from ssp.config import Config, load_config, to_toml
from ssp.errors import ConfigError, DataError


def train(
    config: Path | None = None,
    *,
    preset: str | None = None,
    set: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    out: Path | None = None,
    resume: Annotated[bool, Parameter(negative="")] = False,
    init: str | None = None,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Train a search agent by self-play.

    Parameters
    ----------
    config
        Configuration file (TOML); settings in it override the preset.
    preset
        Starting point; tiny is the default.
    set
        One setting, such as --set steps=20; may be repeated and overrides everything else.
    out
        Run directory to write; by default the next free one under runs/.
    resume
        Go on with the run in --out (by default the newest under runs/) from its last checkpoint.
    init
        Begin with the model of another run, or with a model directory.
    dry_run
        Print the resolved configuration and stop.
    json
        Print the result as JSON.
    """
    if resume:
        if dry_run or config or preset or init or any(not one.startswith("steps=") for one in set):
            raise ConfigError("--resume goes on with a run as it was configured; only --set steps=N can be changed")
        run = out or newest_run(Path("runs"))
        _train(run, json, steps=_steps(set))
        return
    overrides = (*set, f"model.path={_model(init)}") if init else set
    resolved = load_config(config, preset=preset, overrides=overrides)
    if dry_run:
        say_json(resolved.model_dump()) if json else say(to_toml(resolved).rstrip())
        return
    _train(prepare_run(resolved, out), json)


def newest_run(folder: Path) -> Path:
    """The run that was written to last."""
    runs = [entry for entry in folder.iterdir() if (entry / "config.json").exists()] if folder.is_dir() else []
    if not runs:
        raise DataError(f"there is no run in {folder}/ to go on with; name one with --out")
    return max(runs, key=lambda run: max(entry.stat().st_mtime for entry in run.iterdir()))


def _steps(overrides: tuple[str, ...]) -> int | None:
    return load_config(overrides=overrides).steps if overrides else None


def _model(init: str) -> str:
    """The newest model of a run, or the model that is named itself."""
    from ssp.runs.players import is_run, newest_model

    path = Path(init).expanduser()
    return str(newest_model(path)) if is_run(path) else init


def prepare_run(config: Config, out: Path | None) -> Path:
    """Write a new run directory, and say what is in it."""
    from ssp.runs.ground import next_run, prepare
    from ssp.search.index import open_index
    from ssp.worlds.retrieval import check_retrieval

    started = time.monotonic()
    run = out or next_run(Path("runs"), config.preset)
    with progress() as advance:
        ground = prepare(config, run, advance)
    took = lasting(time.monotonic() - started)
    what = f"{ground.documents:,} documents, {config.search.kind} index" if ground.index else config.search.url
    note(f"{run}: {what} and model, {took}")
    if ground.world and ground.index:
        check = check_retrieval(ground.world, open_index(ground.index), config.search.k)
        note(f"  searching a name finds its article in the top {check.k}:   {check.by_name:.1%} of articles")
        note(f"  one search finds all a multi-hop question needs: {check.by_multi_hop:.1%} of questions")
    return run


def _train(run: Path, json: bool, steps: int | None = None) -> None:
    import asyncio

    from ssp.runs.report import write_report
    from ssp.runs.training import summary
    from ssp.runs.training import train as play

    started = time.monotonic()
    try:
        with follow(run) as watcher:
            asyncio.run(play(run, watcher, steps, note))
    except KeyboardInterrupt:
        more = f" --set steps={steps}" if steps is not None else ""
        note(f"stopped; what the newest checkpoint has is saved. Go on with: ssp train --resume --out {run}{more}")
        raise
    result = {**summary(run), "seconds": round(time.monotonic() - started, 3)}
    if result["steps"]:
        write_report(run)
    say_json(result) if json else _show(result)


def _show(result: dict[str, Any]) -> None:
    start, final = result["eval"]["start"], result["eval"]["final"]
    if final:
        say(f"{'held-out questions':<20}{'before':>8}{'after':>8}")
        for name, after in final.items():
            say(f"{name:<20}{start[name]['accuracy']:>8.1%}{after['accuracy']:>8.1%}")
    funnel = result["funnel"]
    if funnel:
        say(f"{funnel['valid']:,} of {funnel['proposed']:,} proposed questions were valid and played")
        say(f"report: {result['run']}/report.html")
    say(f"run: {result['run']}")
