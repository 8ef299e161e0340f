"""`ssp report`."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ssp.cli.output import say, say_json
from ssp.errors import ConfigError


def report(
    run: Path,
    *,
    export: Path | None = None,
    form: Literal["plain", "verl"] = "plain",
    benchmark: Path | None = None,
    count: int = 200,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Write a run's report.html anew; export its verified problems; make a benchmark of its corpus.

    Parameters
    ----------
    run
        Run directory.
    export
        File for the verified problems (.jsonl or .parquet), with evidence, gates passed, solve rate, policy version.
    form
        Of the exported rows: plain, which ssp eval --on FILE reads, or verl.
    benchmark
        File for new, verified questions about answers that were kept out of training (eval.reserve); nothing that the
        model was trained on is among them.
    count
        Most questions of the benchmark.
    json
        Print what was written as JSON.
    """
    from ssp.runs.export import check_suffix, export_problems, write_rows
    from ssp.runs.report import write_report

    if count < 1:
        raise ConfigError("--count must be at least 1")
    for file in (export, benchmark):
        if file is not None:
            check_suffix(file)
    written: dict[str, object] = {"report": str(write_report(run))}
    if export is not None:
        written |= {"export": str(export), "problems": export_problems(run, export, form)}
    if benchmark is not None:
        from ssp.runs.benchmark import make_benchmark

        made = asyncio.run(make_benchmark(run, count))
        write_rows(made.rows, benchmark)
        written |= {"benchmark": str(benchmark), "questions": len(made.rows), "left_out": made.left_out}
    if json:
        say_json(written)
        return
    say(f"report: {written['report']}")
    if export is not None:
        say(f"{export}: {written['problems']:,} verified problems")
    if benchmark is not None:
        left = ", ".join(f"{number} {reason}" for reason, number in made.left_out.items())
        say(f"{benchmark}: {len(made.rows):,} questions" + (f"; left out: {left}" if left else ""))
        say(f"try: ssp eval {run} --on {benchmark}")
