"""`ssp ablate`."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ssp.cli.output import note, say, say_json
from ssp.config import Config
from ssp.errors import ConfigError


def ablate(
    name: str,
    *,
    seeds: int = 3,
    preset: str | None = None,
    set: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    out: Path = Path("ablations"),
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Run one of the paper's comparisons: all arms with all seeds, one after the other; a stopped one goes on.

    Parameters
    ----------
    name
        roles, rag, fill, algorithms, reward or penalty.
    seeds
        Runs of each arm, with the seeds 0, 1, …
    preset
        What the arms have in common; tiny is the default.
    set
        One more setting for all arms, such as --set steps=20; may be repeated. An arm's own settings win.
    out
        Folder for the runs, which ablations share, and for the tables.
    json
        Print the outcomes as JSON.
    """
    from ssp.ablations.run import ablation, configs, is_done, place, play_all
    from ssp.ablations.table import html, markdown, rows

    if seeds < 1:
        raise ConfigError("--seeds must be at least 1")
    chosen = ablation(name)
    runs = [(place(out, config), config) for _, config in configs(name, seeds, preset, set)]
    if any(not config.steps for _, config in runs):
        raise ConfigError("an ablation needs at least one step: set steps=1 or more")
    missing = sum(not is_done(run, config) for run, config in dict(runs).items())
    note(f"{name}: {len(chosen.arms)} arms, {seeds} seeds; {missing} runs to do, in {out}/runs")
    try:
        found = play_all(name, seeds, preset, set, out, _play)
    except KeyboardInterrupt:
        note("stopped; what is done is kept. Go on with the same command")
        raise
    lines = rows(chosen, found)
    more = _gates(runs[-1][0]) if name == "rag" else []
    text = markdown(name, chosen, lines, more)
    (out / f"{name}.md").write_text(text, encoding="utf-8")
    (out / f"{name}.html").write_text(html(name, chosen, lines), encoding="utf-8")
    if json:
        arms = {arm: {"runs": [asdict(one) for one in summary.outcomes]} for arm, summary in found.items()}
        say_json({"ablation": name, "arms": arms, "table": str(out / f"{name}.md")})
        return
    say(text)
    say(f"tables: {out / name}.md, {out / name}.html")


def _play(config: Config, run: Path) -> None:
    """Make the run, or go on with it."""
    from ssp.cli.follow import follow
    from ssp.cli.train import prepare_run
    from ssp.runs.report import write_report
    from ssp.runs.training import train

    if not run.exists():
        prepare_run(config, run)
    with follow(run) as watcher:
        asyncio.run(train(run, watcher, complain=note))
    write_report(run)


def _gates(run: Path) -> list[str]:
    """Only for a generated world, which has an oracle."""
    from ssp.ablations.gates import gate_lines, score_gates

    return gate_lines(asyncio.run(score_gates(run))) if (run / "world" / "world.json").exists() else []
