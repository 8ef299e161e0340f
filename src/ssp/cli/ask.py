"""`ssp ask`."""

import asyncio
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ssp.cli.output import say_json
from ssp.errors import ConfigError, SearchError
from ssp.types import Status, Trajectory


def ask(
    target: str,
    question: str,
    *,
    index: Path | None = None,
    search: str | None = None,
    set: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    temperature: float = 0.0,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Answer a question with a trained agent, and show its searches and the passages it read.

    Parameters
    ----------
    target
        Run directory, or a model (Hugging Face directory or hub name).
    question
        What to answer.
    index
        Index to search; by default that of the run.
    search
        Address of a search service to use instead of an index.
    set
        One setting for a model that comes without a run, such as --set agent.prompts=zh; may be repeated.
    temperature
        0 takes the likeliest token each time; above, tokens are sampled, as in training.
    seed
        Decides what is sampled.
    json
        Print the trajectory as JSON.
    """
    if not question.strip():
        raise ConfigError("the question is empty")
    if not 0.0 <= temperature < 100.0 or seed < 0:
        raise ConfigError("--temperature must be between 0 and 100, and --seed not negative")
    trajectory = asyncio.run(_answer(target, question, index, search, set, temperature, seed))
    if trajectory.status is Status.SEARCH_FAILED:
        raise SearchError(f"search failed: {trajectory.searches[-1].error}")
    if json:
        say_json(
            {
                "answer": trajectory.final,
                "status": trajectory.status.value,
                "searches": [
                    {"query": call.query, "hits": [{"id": hit.doc.id, "title": hit.doc.title} for hit in call.hits]}
                    for call in trajectory.searches
                ],
                "transcript": trajectory.transcript,
                "seconds": round(trajectory.seconds, 3),
            }
        )
        return
    from ssp.cli.show import show_trajectory

    show_trajectory(trajectory)


async def _answer(
    target: str,
    question: str,
    index: Path | None,
    search: str | None,
    overrides: tuple[str, ...],
    temperature: float,
    seed: int,
) -> Trajectory:
    from ssp.agents.agent import Task
    from ssp.runs.players import open_player
    from ssp.types import Role

    player = open_player(target, overrides, index=index, url=search)
    task = Task("ask", Role.SOLVER, {"question": question}, seed, temperature)
    try:
        return await player.agent.run(task)
    finally:
        await player.agent.searcher.close()
        await player.agent.engine.close()
