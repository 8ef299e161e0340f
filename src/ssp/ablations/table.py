"""Ablations as tables, in Markdown and HTML."""

from collections.abc import Mapping, Sequence
from html import escape

from ssp.ablations.arms import Ablation
from ssp.ablations.outcome import Summary

Rows = list[list[str]]
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1e293b}"
    "table{border-collapse:collapse}td,th{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #e2e8f0}"
    "td:first-child,th:first-child{text-align:left}"
)


def rows(ablation: Ablation, found: Mapping[str, Summary]) -> Rows:
    """A line for each arm that has runs, below a line of headings."""
    sets = list(next(iter(found.values())).sets)
    heads = ["arm", "paper", *sets, "mean", "gain", "95 % interval", "valid", "true", "s a step", "seeds"]
    lines = [heads]
    for arm in ablation.arms:
        if arm.name in found:
            one = found[arm.name]
            interval = one.gain_interval
            spread = f"{100 * interval[0]:+.0f} to {100 * interval[1]:+.0f}" if interval else "one seed"
            lines.append(
                [
                    arm.name,
                    arm.paper,
                    *(f"{100 * one.sets[name]:.0f}" for name in sets),
                    f"{100 * one.accuracy:.1f}",
                    f"{100 * one.gain:+.1f}",
                    spread,
                    _percent(one.mean(lambda run: run.valid)),
                    _percent(one.mean(lambda run: run.true)),
                    f"{one.mean(lambda run: run.seconds) or 0.0:.1f}",
                    str(len(one.outcomes)),
                ]
            )
    return lines


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
        "Held-out accuracy in percent after self-play, by set and on average; gain over the start, with the 95 % "
        "t interval over seeds; share of proposals that were valid, and of these true by the oracle, in the last five "
        f"steps. Paper: {ablation.figures}."
    )
