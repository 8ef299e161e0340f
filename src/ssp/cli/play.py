"""`ssp play`."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ssp.cli.output import say
from ssp.config import Config
from ssp.errors import ConfigError
from ssp.types import Episode, Seed

if TYPE_CHECKING:
    from ssp.runs.players import Player


def play(
    target: str,
    *,
    answer: str | None = None,
    hops: int | None = None,
    attempts: int = 5,
    seed: int = 0,
    index: Path | None = None,
    search: str | None = None,
    set: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    json: bool = False,
) -> None:
    """Play one linked game: a question for an answer, its verification, attempts at it, and the rewards.

    Parameters
    ----------
    target
        Run directory, or a model (Hugging Face directory or hub name).
    answer
        The answer to write a question for; by default one of the run's seeds.
    hops
        How many linked facts the question should need.
    attempts
        How many solvers try it.
    seed
        Decides what is drawn and sampled.
    index
        Index to search; by default that of the run.
    search
        Address of a search service to use instead of an index.
    set
        One setting for a model that comes without a run; may be repeated.
    json
        Print the episode as JSON.
    """
    if not 1 <= attempts <= 64 or seed < 0 or (hops is not None and hops < 1):
        raise ConfigError("--attempts must be from 1 to 64, --hops at least 1, and --seed not negative")
    if answer is not None and not answer.strip():
        raise ConfigError("the answer is empty")
    episode = asyncio.run(_play(target, answer, hops, attempts, seed, index, search, set))
    if json:
        from ssp.records import encode

        say(encode(episode).decode())
        return
    from ssp.cli.show import show_game

    show_game(episode)


async def _play(
    target: str,
    answer: str | None,
    hops: int | None,
    attempts: int,
    seed: int,
    index: Path | None,
    search: str | None,
    overrides: tuple[str, ...],
) -> Episode:
    from ssp.runs.players import make_game, open_player

    player = open_player(target, overrides, index=index, url=search)
    chosen, others = _draw(player, answer, hops, seed)
    game = make_game(_with(player.config, attempts), player.agent, player.first)
    try:
        [episode] = await game.play([chosen], 0, seed, others)
        return episode
    finally:
        await game.close()


def _with(config: Config, attempts: int) -> Config:
    return config.model_copy(update={"game": config.game.model_copy(update={"attempts": attempts})})


def _draw(player: "Player", answer: str | None, hops: int | None, seed: int) -> tuple[Seed, list[Seed]]:
    """The seed to play, and a few others whose documents serve as noise."""
    from ssp.rng import python_random
    from ssp.seeds.files import read_seeds

    known = read_seeds(player.seeds) if player.seeds else []
    python_random(seed, "draw").shuffle(known)
    if answer is not None:
        return Seed("given", answer, hops=hops or 1), known[:4]
    fitting = [one for one in known if hops is None or one.hops == hops]
    if not fitting:
        there = f" of {hops} hops, only of {sorted({one.hops for one in known})}" if known else ""
        raise ConfigError(f"there is no seed{there} to draw; say what the answer should be: --answer TEXT")
    return fitting[0], [one for one in known if one.id != fitting[0].id][:4]
