"""`ssp world`."""

from pathlib import Path

from ssp.cli.output import progress, say, say_json
from ssp.worlds.world import WorldSettings
from ssp.worlds.write import write_world


def world(
    *, out: Path, articles: int = 2000, seed: int = 0, hops: int = 4, richness: int = 1, json: bool = False
) -> None:
    """Write a generated world: corpus.jsonl, seeds.jsonl, questions.jsonl (held out) and world.json (the facts).

    Parameters
    ----------
    out
        New directory to write.
    articles
        Articles in the encyclopedia, a quarter of them held out for evaluation.
    seed
        Same seed and settings, same bytes.
    hops
        Longest chains among seeds and questions (1 to 4).
    richness
        How varied the language is (1 to 3); 1 suits a model of a few million parameters.
    json
        Print the counts as JSON.
    """
    settings = WorldSettings(articles=articles, seed=seed, richness=richness)
    with progress(articles) as advance:
        counts = write_world(settings, out, hops, lambda count: advance("writing articles", count))
    if json:
        say_json({"world": str(out), **counts})
        return
    questions = ", ".join(f"{counts[f'questions-{n}']} with {n}" for n in range(1, hops + 1))
    say(f"{out}: {counts['articles']:,} articles, {counts['seeds']:,} seeds; held-out questions by hops: {questions}")
