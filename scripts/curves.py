"""Draw docs/images/learning.svg from runs of the default job: `python -m scripts.curves RUN [RUN …]`, one run a seed.

Thin lines are single runs, thick ones their mean.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "docs" / "images" / "learning.svg"
COLUMNS, PANEL, HEIGHT, LEFT, TOP, BOTTOM = 4, 262, 220, 40, 34, 46
FUNNEL = ("searched", "rag", "valid")  # of the gates, those that refuse much, and what is left
COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626")
INK, MUTED, GRID = "#1f2933", "#64748b", "#e2e8f0"
Points = list[tuple[float, float]]


def rows(run: Path, log: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / log).read_text(encoding="utf-8").splitlines()]


def _hops(number: str) -> str:
    return f"{number} hop" if number == "1" else f"{number} hops"


def accuracy(run: Path) -> dict[str, Points]:
    records = rows(run, "evals.jsonl")
    names = list(records[0]["sets"])
    return {_hops(name[-1]): [(r["step"], r["sets"][name]["accuracy"]) for r in records] for name in names}


def by_hops(run: Path, part: str) -> dict[str, Points]:
    return metrics(run, {_hops(str(hops)): f"hops/{hops}/{part}" for hops in (1, 2, 3)})


def metrics(run: Path, keys: Mapping[str, str]) -> dict[str, Points]:
    """Metrics by label, as means over five steps."""
    records = rows(run, "metrics.jsonl")
    series: dict[str, Points] = {}
    for label, key in keys.items():
        for start in range(0, len(records), 5):
            values = [record[key] for record in records[start : start + 5] if key in record]
            if values:
                series.setdefault(label, []).append((start + 2.5, fmean(values)))
    return series


def funnel(run: Path) -> dict[str, Points]:
    """Shares of the proposals that got past a gate."""
    counts = metrics(run, {gate: f"funnel/{gate}" for gate in ("proposed", *FUNNEL)})
    proposed = dict(counts.pop("proposed"))
    return {gate: [(x, y / proposed[x]) for x, y in line] for gate, line in counts.items()}


def mean(lines: Sequence[Points]) -> Points:
    places = sorted(set.intersection(*({x for x, _ in line} for line in lines)))
    return [(x, fmean(dict(line)[x] for line in lines)) for x in places]


def panel(number: int, title: str, runs: Sequence[Mapping[str, Points]], top: float | None = 1.0) -> list[str]:
    points = [point for run in runs for line in run.values() for point in line]
    right = max(x for x, _ in points)
    highest = top or max(y for _, y in points)
    row, column = divmod(number, COLUMNS)
    x0, y0, width, height = LEFT + column * PANEL, row * HEIGHT + TOP, PANEL - 60, HEIGHT - TOP - BOTTOM

    def place(line: Points) -> str:
        return " ".join(
            f"{x0 + width * x / right:.1f},{y0 + height * (1 - min(1.0, y / highest)):.1f}" for x, y in line
        )

    parts = [f'<text x="{x0}" y="{y0 - 14}" font-size="14" font-weight="700" fill="{INK}">{escape(title)}</text>']
    for share in (0.0, 0.5, 1.0):
        y = y0 + height * (1 - share)
        parts.append(f'<line x1="{x0}" x2="{x0 + width}" y1="{y}" y2="{y}" stroke="{GRID}"/>')
        label = f"{share * highest:.0%}" if top == 1.0 else f"{share * highest:.2g}"
        parts.append(f'<text x="{x0 - 5}" y="{y + 4}" font-size="10" text-anchor="end" fill="{MUTED}">{label}</text>')
    for index, (name, colour) in enumerate(zip(runs[0], COLOURS, strict=False)):
        lines = [run[name] for run in runs if name in run]
        thin = f'fill="none" stroke="{colour}" stroke-opacity="0.35"'
        parts += [f'<polyline {thin} points="{place(line)}"/>' for line in lines if len(lines) > 1]
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2.2" points="{place(mean(lines))}"/>')
        x, y = x0 + index * width / max(3, len(runs[0])), y0 + height + 32
        parts.append(f'<text x="{x:.1f}" y="{y}" font-size="11" fill="{colour}">{escape(name)}</text>')
    end = f'x="{x0 + width}" y="{y0 + height + 14}" font-size="10" text-anchor="end" fill="{MUTED}"'
    return [*parts, f"<text {end}>step {right:g}</text>"]


def draw(runs: Sequence[Path]) -> str:
    panels: list[tuple[str, Callable[[Path], dict[str, Points]], float | None]] = [
        ("Held-out accuracy", accuracy, 1.0),
        ("Valid share of proposals", lambda run: by_hops(run, "valid"), 1.0),
        ("True share of valid", lambda run: by_hops(run, "true"), 1.0),
        ("Funnel", funnel, 1.0),
        ("Attempts that succeed", lambda run: by_hops(run, "solved"), 1.0),
        ("Proposers' reward", lambda run: metrics(run, {"mean": "proposer/reward"}), None),
        (
            "Hops and searches",
            lambda run: metrics(run, {"hops": "proposer/hops_valid", "searches": "solver/searches"}),
            None,
        ),
        ("Entropy (nats a token)", lambda run: metrics(run, {"mean": "update/entropy"}), None),
    ]
    body = [
        line
        for number, (title, series, top) in enumerate(panels)
        for line in panel(number, title, [series(run) for run in runs], top)
    ]
    width, height = LEFT + COLUMNS * PANEL, HEIGHT * -(-len(panels) // COLUMNS)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif">'
    )
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#ffffff"/>', *body, "</svg>\n"])


if __name__ == "__main__":
    TARGET.write_text(draw([Path(run) for run in sys.argv[1:]]), encoding="utf-8")
