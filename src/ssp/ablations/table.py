"""Ablations as tables, in Markdown and HTML."""

from collections.abc import Mapping, Sequence
from html import escape

from ssp.ablations.arms import Ablation
from ssp.ablations.outcome import Summary
from ssp.evaluate.statistics import Interval

Rows = list[list[str]]
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1e293b}"
    "table{border-collapse:collapse}td,th{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #e2e8f0}"
    "td:first-child,th:first-child{text-align:left}"
)


def rows(ablation: Ablation, found: Mapping[str, Summary]) -> Rows:
    """A line for each arm that has runs, below a line of headings."""
    first = next(found[arm.name] for arm in ablation.arms if arm.name in found)
    sets = list(first.sets)
    heads = ["arm", "paper", *sets, "mean", "gain", "against the first", "valid", "true", "s a step", "seeds"]
    lines = [heads]
    for arm in ablation.arms:
        if arm.name in found:
            one = found[arm.name]
            lines.append(
                [
                    arm.name,
                    arm.paper,
                    *(f"{100 * one.sets[name]:.0f}" for name in sets),
                    f"{100 * one.accuracy:.1f}",
                    _with_interval(one.gain, one.gain_interval),
                    "" if one is first else _with_interval(*one.against(first)),
                    _percent(one.mean(lambda run: run.valid)),
                    _percent(one.mean(lambda run: run.true)),
                    f"{one.mean(lambda run: run.seconds) or 0.0:.1f}",
                    str(len(one.outcomes)),
                ]
            )
    return lines


def _with_interval(value: float, interval: Interval | None) -> str:
    """In points; one seed has no interval."""
    spread = f" ({100 * interval[0]:+.0f} to {100 * interval[1]:+.0f})" if interval else ""
    return f"{100 * value:+.1f}{spread}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f}"


def markdown(title: str, ablation: Ablation, lines: Rows, more: Sequence[str] = ()) -> str:
    head, *body = lines
    table = ["| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *body)]
    return "\n".join([f"## {title}: {ablation.asks}", "", explain(ablation), "", *table, *more]) + "\n"


def html(title: str, ablation: Ablation, lines: Rows) -> str:
    head, *body = lines
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    trs = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in body)
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(title)}</title><style>{_STYLE}</style>"
        f"<h1>{escape(title)}: {escape(ablation.asks)}</h1><p>{escape(explain(ablation))}</p>"
        f"<table><tr>{heads}</tr>{trs}</table></html>\n"
    )


def explain(ablation: Ablation) -> str:
    return (
        "Held-out accuracy in percent after self-play, by set and on average; gain over the start, and difference to "
        "the first arm, seed by seed, in points with 95 % t intervals over seeds; share of proposals that were valid, "
        f"and of these true by the oracle, in the last five steps. Paper: {ablation.figures}."
    )
