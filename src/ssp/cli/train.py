"""`ssp train`."""

import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ssp.cli.output import progress, say, say_json
from ssp.config import Config, load_config, to_toml

NOT_YET = "self-play is not in this version yet: 0 of {steps} steps were trained"


def train(
    config: Path | None = None,
    *,
    preset: str | None = None,
    set: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    out: Path | None = None,
    dry_run: bool = False,
    json: bool = False,
) -> None:
    """Prepare a run: the corpus, the index over it, and the warmed-up model. (Self-play comes with a later version.)

    Parameters
    ----------
    config
        Configuration file (TOML); settings in it override the preset.
    preset
        Starting point; tiny is the default.
    set
        One setting, such as --set world.articles=500; may be repeated and overrides everything else.
    out
        Run directory to write; by default the next free one under runs/.
    dry_run
        Print the resolved configuration and stop.
    json
        Print the result as JSON.
    """
    resolved = load_config(config, preset=preset, overrides=set)
    if dry_run:
        say_json(resolved.model_dump()) if json else say(to_toml(resolved).rstrip())
        return
    _prepare(resolved, out, json)


def _prepare(config: Config, out: Path | None, json: bool) -> None:
    from ssp.runs.ground import next_run, prepare
    from ssp.search.index import open_index
    from ssp.worlds.retrieval import check_retrieval

    started = time.monotonic()
    run = out or next_run(Path("runs"), config.preset)
    with progress() as advance:
        ground = prepare(config, run, advance)
    check = check_retrieval(ground.world, open_index(ground.index), config.search.k) if ground.world else None
    seconds = round(time.monotonic() - started, 3)
    if json:
        result = {"run": str(run), "steps": 0, "seconds": seconds, "eval": {"start": {}, "final": {}}, "funnel": {}}
        prepared = {"documents": ground.documents, "index": config.search.kind}
        checked = {"name_found": check.by_name, "found_at_once": check.by_multi_hop} if check else {}
        say_json({**result, "prepared": prepared | checked, "note": NOT_YET.format(steps=config.steps)})
        return
    say(f"{run}: {ground.documents:,} documents, {config.search.kind} index, ready after {seconds:.1f} s")
    if check is not None:
        say(f"  searching a name finds its article in the top {check.k}:   {check.by_name:.1%} of articles")
        say(f"  one search finds all a multi-hop question needs: {check.by_multi_hop:.1%} of questions")
    say(NOT_YET.format(steps=config.steps))
