"""`report.html`: a run on one page that needs nothing else. Curves, the funnel, and ten games to read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ssp.errors import DataError
from ssp.records import decode
from ssp.runs.directory import EPISODES, EVALS, METRICS, RunDirectory
from ssp.types import Episode, Trajectory

GAMES = 10
_COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#475569")
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1e293b}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}table{border-collapse:collapse}
td,th{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #e2e8f0}
td:first-child,th:first-child{text-align:left}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(25rem,1fr));gap:1rem}figure{margin:0}
figcaption{font-weight:600}svg{width:100%;height:auto}.key{font-size:.85rem;color:#475569}.key b{font-weight:600}
details{border:1px solid #e2e8f0;border-radius:.4rem;padding:.4rem .8rem;margin:.5rem 0}summary{cursor:pointer}
pre{white-space:pre-wrap;font-size:.85rem;background:#f8fafc;padding:.6rem;border-radius:.3rem}
.seen{color:#64748b}.yes{color:#059669}.no{color:#dc2626}
"""


def write_report(run: Path) -> Path:
    """Write the run's `report.html` anew from its logs."""
    if not (run / METRICS).exists():
        raise DataError(f"{run} has no metrics yet; train it with: ssp train --resume --out {run}")
    directory = RunDirectory(run)
    target = run / "report.html"
    target.write_text(page(run.name, directory), encoding="utf-8")
    return target


def page(name: str, run: RunDirectory) -> str:
    metrics, evals = list(run.lines(METRICS)), list(run.lines(EVALS))
    return "".join(
        (
            "<!doctype html><html lang='en'><meta charset='utf-8'>",
            f"<title>{escape(name)}</title><style>{_STYLE}</style>",
            f"<h1>{escape(name)}: {len(metrics)} steps of self-play</h1>",
            _before_and_after(evals),
            "<h2>Curves</h2><div class='charts'>",
            *_charts(metrics, evals),
            "</div><h2>The funnel</h2>",
            _funnel(metrics),
            "<h2>Games</h2><p>From the first step to the last, one in so many. Grey is what the agents were shown.</p>",
            *(_game(episode) for episode in _some_games(run)),
            "</html>",
        )
    )


def _before_and_after(evals: Sequence[Mapping[str, Any]]) -> str:
    if not evals:
        return "<p>Nothing was evaluated.</p>"
    first, last = evals[0]["sets"], evals[-1]["sets"]
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{first[name]['accuracy']:.1%}</td><td>{one['accuracy']:.1%}</td>"
        f"<td>{first[name]['searches']:.2f}</td><td>{one['searches']:.2f}</td><td>{one['n']}</td></tr>"
        for name, one in last.items()
        if name in first
    )
    names = ("held-out questions", "before", "after", "searches before", "after", "n")
    return f"<table><tr>{''.join(f'<th>{name}</th>' for name in names)}</tr>{rows}</table>"


def _charts(metrics: Sequence[Mapping[str, Any]], evals: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    sets = sorted({name for record in evals for name in record["sets"]})
    yield _chart(
        "Held-out accuracy",
        {n: [(r["step"], r["sets"][n]["accuracy"]) for r in evals if n in r["sets"]] for n in sets},
        top=1.0,
    )
    hops = sorted({int(key.split("/")[1]) for record in metrics for key in record if key.startswith("hops/")})
    for title, part, top in (
        ("Valid share of proposals, by hops asked for", "valid", 1.0),
        ("True share of valid questions (by the oracle), by hops", "true", 1.0),
        ("Attempts that succeed at new questions, by hops", "solved", 1.0),
        ("Searches per attempt, by hops", "searches", None),
    ):
        yield _chart(title, {f"{n} hop{'s' * (n > 1)}": _series(metrics, f"hops/{n}/{part}") for n in hops}, top=top)
    for title, keys in (
        ("Rewards", ("solver/reward", "proposer/reward")),
        ("Searches", ("solver/searches", "proposer/searches")),
        ("Entropy (nats per token)", ("update/entropy",)),
        ("Sampler and learner: mean difference of log-probabilities", ("update/mismatch",)),
        ("Seconds per step", tuple(f"seconds/{part}" for part in ("propose", "verify", "solve", "update", "record"))),
    ):
        yield _chart(title, {key.split("/")[-1] if len(keys) == 1 else key: _series(metrics, key) for key in keys})


def _series(metrics: Sequence[Mapping[str, Any]], key: str) -> list[tuple[float, float]]:
    return [(record["step"], record[key]) for record in metrics if key in record]


def _chart(title: str, series: Mapping[str, Sequence[tuple[float, float]]], top: float | None = None) -> str:
    """Lines over steps, as SVG."""
    points = [point for line in series.values() for point in line]
    if not points:
        return ""
    right = max(x for x, _ in points) or 1.0
    highest = top or max(y for _, y in points) or 1.0
    width, height, left, bottom = 400, 180, 52, 20

    def place(x: float, y: float) -> str:
        across = left + (width - left - 6) * x / right
        return f"{across:.1f},{height - bottom - (height - bottom - 8) * min(y / highest, 1.0):.1f}"

    lines = "".join(
        f"<polyline fill='none' stroke='{colour}' stroke-width='1.6' points='{_path(line, place)}'/>"
        for line, colour in zip(series.values(), _COLOURS, strict=False)
    )
    marks = "".join(
        f"<line x1='{left}' x2='{width - 6}' y1='{y}' y2='{y}' stroke='#e2e8f0'/>"
        f"<text x='{left - 5}' y='{y + 4:.1f}' font-size='10' text-anchor='end' fill='#64748b'>{value:.3g}</text>"
        for value in (0.0, highest / 2, highest)
        for y in [float(place(0, value).split(",")[1])]
    )
    key = " ".join(
        f"<span><b style='color:{colour}'>—</b> {escape(name)}</span>"
        for name, colour in zip(series, _COLOURS, strict=False)
    )
    steps = (
        f"<text x='{width - 6}' y='{height - 5}' font-size='10' text-anchor='end' fill='#64748b'>step {right:g}</text>"
    )
    drawing = f"<svg viewBox='0 0 {width} {height}' role='img' aria-label='{escape(title)}'>{marks}{lines}{steps}</svg>"
    return f"<figure><figcaption>{escape(title)}</figcaption>{drawing}<div class='key'>{key}</div></figure>"


def _path(line: Sequence[tuple[float, float]], place: Callable[[float, float], str]) -> str:
    return " ".join(place(x, y) for x, y in line)


def _funnel(metrics: Sequence[Mapping[str, Any]]) -> str:
    """How many proposals got how far, in the first and the last tenth of the run and in all of it."""
    part = max(1, len(metrics) // 10)
    spans = {"first steps": metrics[:part], "last steps": metrics[-part:], "all": metrics}
    gates = list(dict.fromkeys(key for record in metrics for key in record if key.startswith("funnel/")))
    head = "".join(f"<th>{name}</th>" for name in spans)
    rows = ""
    for gate in gates:
        cells = ""
        for records in spans.values():
            proposed = sum(record["funnel/proposed"] for record in records) or 1
            count = sum(record.get(gate, 0) for record in records)
            cells += f"<td>{count:.0f} ({count / proposed:.0%})</td>"
        rows += f"<tr><td>{escape(gate.removeprefix('funnel/'))}</td>{cells}</tr>"
    return f"<table><tr><th>passed</th>{head}</tr>{rows}</table>"


def _some_games(run: RunDirectory) -> list[Episode]:
    """Ten games over the whole run, most of them with a valid question."""
    path = run.path / EPISODES
    offsets = []
    place = 0
    with path.open("rb") as file:
        for line in file:
            if b'"pooled":false' in line:
                offsets.append((place, b'"outcome":"passed","reason":""' in line))
            place += len(line)
        valid = [offset for offset, passed in offsets if passed]
        chosen = _spread(valid, GAMES - 2) + _spread([offset for offset, passed in offsets if not passed], 2)
        games = []
        for offset in sorted(chosen):
            file.seek(offset)
            games.append(decode(Episode, file.readline(), str(path)))
    return games


def _spread(offsets: Sequence[int], count: int) -> list[int]:
    if len(offsets) <= count:
        return list(offsets)
    return [offsets[round(n * (len(offsets) - 1) / (count - 1))] for n in range(count)]


def _game(episode: Episode) -> str:
    reason = episode.verdict.reason if episode.verdict else "no verdict"
    right = sum(attempt.correct is True for attempt in episode.attempts)
    verdict = f"valid, {right} of {len(episode.attempts)} attempts right" if episode.valid else reason
    asked = episode.problem.question if episode.problem else "no question"
    parts = [_trajectory(f"Proposal for {episode.seed.answer!r}, {episode.seed.hops} hops", episode.proposal)]
    for attempt, solution in zip(episode.attempts, episode.solutions, strict=True):
        mark = "<span class='yes'>right</span>" if attempt.correct else "<span class='no'>wrong</span>"
        parts.append(_trajectory("Attempt", solution, mark))
    title = f"Step {episode.step} · {escape(asked)} → {escape(episode.seed.answer)} · {escape(verdict)}"
    return f"<details id='{escape(episode.id)}'><summary>{title}</summary>{''.join(parts)}</details>"


def _trajectory(title: str, trajectory: Trajectory | None, mark: str = "") -> str:
    if trajectory is None:
        return ""
    text = "".join(
        escape(segment.text) if segment.sampled else f"<span class='seen'>{escape(segment.text)}</span>"
        for segment in trajectory.segments
    )
    return f"<h3>{escape(title)} {mark}</h3><pre>{text}</pre>"
