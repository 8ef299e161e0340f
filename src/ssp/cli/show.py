"""Trajectories and games as a person reads them: `rich` on a terminal, plain text otherwise."""

import re
import sys
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.text import Text

from ssp.types import Episode, SegmentKind, Trajectory

_BLOCK = re.compile(r"<(think|search|tool_call|answer|question)>(.*?)</\1>", re.DOTALL)
_STYLES = {"think": "italic", "search": "bold cyan", "tool_call": "bold cyan", "answer": "bold", "question": "bold"}
_VERBS = {"think": "thinks", "search": "searches", "tool_call": "searches", "answer": "answers", "question": "asks"}


def show_trajectory(trajectory: Trajectory) -> None:
    """What the agent did, step by step, and how it ended."""
    console = _console()
    console.print(Group(*_steps(trajectory)))
    console.print(_ending(trajectory))


def show_game(episode: Episode, console: Console | None = None) -> None:
    """A linked game: proposal, verdict, attempts, rewards."""
    console = console or _console()
    seed, proposal, verdict = episode.seed, episode.proposal, episode.verdict
    assert proposal is not None
    assert verdict is not None
    title = f"proposal for the answer {seed.answer!r}, {seed.hops} hop{'s' if seed.hops > 1 else ''}"
    _section(console, title, Group(*_steps(proposal), _ending(proposal)))
    checks = [f"{check.gate}: {check.outcome.value}{_because(check.detail)}" for check in verdict.checks]
    _section(console, f"verdict: {verdict.outcome.value}", Text("\n".join(checks)))
    solutions = {solution.id: solution for solution in episode.solutions}
    for number, attempt in enumerate(episode.attempts, 1):
        judged = {True: "right", False: "wrong", None: "not judged"}[attempt.correct]
        solution = solutions[attempt.trajectory_id]
        _section(console, f"attempt {number}: {judged}", Group(*_steps(solution, brief=True), _ending(solution)))
    lines = [f"proposer: {_reward(episode.rewards.get(proposal.id))}"]
    if episode.attempts:
        gained = [_reward(episode.rewards.get(attempt.trajectory_id)) for attempt in episode.attempts]
        lines.append(f"solvers:  {', '.join(gained)}")
    _section(console, "rewards", Text("\n".join(lines)))


def _console() -> Console:
    """Plain and unwrapped where nobody looks at a terminal."""
    return Console(file=sys.stdout, highlight=False, soft_wrap=not sys.stdout.isatty())


def _section(console: Console, title: str, body: RenderableType) -> None:
    if console.is_terminal:
        console.print(Panel(body, title=escape(title), title_align="left"))
    else:
        console.print(Text(f"== {title}"))
        console.print(body)


def _steps(trajectory: Trajectory, brief: bool = False) -> Iterator[RenderableType]:
    """The agent's blocks in order, and under each search what it found."""
    searches = iter(trajectory.searches)
    for segment in trajectory.segments:
        if segment.kind is SegmentKind.SAMPLED:
            for tag, text in _BLOCK.findall(segment.text):
                yield Text(f"{_VERBS[tag]:<8}  {' '.join(text.split())}", style=_STYLES[tag])
        elif segment.kind is SegmentKind.OBSERVATION:
            call = next(searches, None)
            for hit in call.hits if call else ():
                passage = "" if brief else f": {' '.join(hit.doc.text.split())}"
                yield Text(f"          {hit.rank}. {hit.doc.title} [{hit.doc.id}]{passage}", style="dim")


def _ending(trajectory: Trajectory) -> Text:
    if trajectory.final is not None:
        return Text(f"→ {trajectory.final}", style="bold green")
    return Text(f"→ nothing: {trajectory.status.value.replace('_', ' ')}", style="bold red")


def _because(detail: str) -> str:
    return f" ({detail})" if detail else ""


def _reward(value: float | None) -> str:
    return "none (undecided)" if value is None else f"{value:.2f}"
