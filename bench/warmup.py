"""The tiny model right after its warm-up: how well it reads, searches and proposes, over several seeds.

Each seed is a world of its own with a model of its own, made as `ssp train` makes it. Measured on the world's held-out
questions and its seeds; nothing of them is in any lesson.
"""

import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.common import in_process, save, table
from ssp.agents.agent import SearchAgent
from ssp.config import Config, load_config
from ssp.environment import wait_calmly
from ssp.evaluate.questions import Question, answer_questions
from ssp.evaluate.sets import read_set
from ssp.game.reader import AgentReader, reading_task
from ssp.game.step import Game
from ssp.game.verify import Verifier
from ssp.runs.ground import prepare
from ssp.runs.players import open_player
from ssp.search.documents import Documents
from ssp.seeds.files import read_seeds
from ssp.text import exact_match
from ssp.types import Doc, Seed
from ssp.worlds.oracle import Oracle, Truth

HOPS = (1, 2, 3, 4)
NOISE = 4


def measure(run: Path, count: int) -> dict[str, Any]:
    """Rates by hops, each over `count` questions or seeds."""
    player = open_player(str(run))
    agent = player.agent
    questions = read_set(run / "world" / "questions.jsonl")
    rows = [json.loads(line) for line in (run / "world" / "questions.jsonl").read_bytes().splitlines()]
    gold = {row["id"]: row["supporting_ids"] for row in rows}
    docs = {doc.id: doc for doc in Documents(run / "index")}
    assert player.seeds is not None
    seeds = read_seeds(player.seeds)
    oracle = Oracle.load(run / "world")
    result: dict[str, Any] = {}
    for hops in HOPS:
        some = [one for one in questions if one.hops == hops][:count]
        result[f"{hops} hops"] = {
            **asyncio.run(_solving(agent, some)),
            **asyncio.run(_reading(agent, some, gold, docs)),
            **asyncio.run(_proposing(agent, [one for one in seeds if one.hops == hops][:count], player.config, oracle)),
        }
    return result


async def _solving(agent: SearchAgent, questions: Sequence[Question]) -> dict[str, float]:
    greedy = await answer_questions(agent, questions)
    sampled = await answer_questions(agent, questions, temperature=1.0)
    return {
        "greedy": _share(one.correct for one in greedy),
        "sampled": _share(one.correct for one in sampled),
        "searches": sum(len(one.trajectory.searches) for one in sampled) / len(sampled),
    }


async def _reading(
    agent: SearchAgent, questions: Sequence[Question], gold: dict[str, list[str]], docs: dict[str, Doc]
) -> dict[str, float]:
    """With all documents that are needed, and without the last of them; among what a search finds beside, and noise."""
    rng = random.Random(0)

    async def read(question: Question, ids: Sequence[str], without: str = "") -> str | None:
        own = [docs[one] for one in ids]
        found = await agent.searcher.search([doc.title for doc in own], agent.k)
        beside = [hit.doc for hits in found for hit in hits]
        shown = list(dict.fromkeys([*own, *beside, *rng.sample(list(docs.values()), NOISE)]))
        rng.shuffle(shown)
        task = reading_task(question.id, question.question, [d for d in shown if d.id != without], agent, 0)
        return (await agent.run(task)).final

    full = await asyncio.gather(*(read(one, gold[one.id]) for one in questions))
    part = await asyncio.gather(*(read(one, gold[one.id][:-1], without=gold[one.id][-1]) for one in questions))
    return {
        "reader": _share(exact_match(said or "", one.answers) for said, one in zip(full, questions, strict=True)),
        "abstains": _share(said == agent.prompts.phrases["unknown"] for said in part),
    }


async def _proposing(agent: SearchAgent, seeds: Sequence[Seed], config: Config, oracle: Oracle) -> dict[str, float]:
    """As the game does it, but nobody solves."""
    settings = config.model_copy(update={"game": config.game.model_copy(update={"attempts": 0})})
    played = await Game(agent, Verifier(AgentReader(agent), config.verify), settings).play(seeds, 0, 0)
    passed = [one.problem for one in played if one.problem and one.valid]
    return {
        "proposals valid": len(passed) / len(seeds),
        "true among valid": _share(oracle.judge(one.question, one.answer) is Truth.TRUE for one in passed),
        "proposer searches": sum(len(one.proposal.searches) for one in played if one.proposal) / len(seeds),
    }


def _share(flags: Any) -> float:
    values = list(flags)
    return sum(values) / len(values) if values else float("nan")


def worker(seed: int, count: int, keep: str = "") -> dict[str, Any]:
    """The models can be kept, for `ssp train --set warmup.cache=…` to begin with; times are true only of fresh ones."""
    with tempfile.TemporaryDirectory() as folder:
        config = load_config(overrides=[f"seed={seed}", f"warmup.cache={keep or folder}"])
        began = time.perf_counter()
        prepare(config, Path(folder) / "run", lambda *_: None)
        seconds = time.perf_counter() - began
        return {"seconds": seconds, "measured": measure(Path(folder) / "run", count)}


def main(seeds: int = 3, count: int = 100, keep: str = "") -> None:
    answers = [in_process("bench.warmup", seed, count, keep) for seed in range(seeds)]
    rows = []
    for hops in HOPS:
        measured = [answer["measured"][f"{hops} hops"] for answer in answers]
        cells = {key: " ".join(f"{100 * one[key]:.0f}" for one in measured) for key in measured[0]}
        for key in ("searches", "proposer searches"):
            cells[key] = " ".join(f"{one[key]:.1f}" for one in measured)
        rows.append({"hops": hops, **cells})
    print("Per cent, one figure per seed.\n")
    print(table(rows))
    print("\nSeconds for world, index and warm-up:", " ".join(f"{answer['seconds']:.0f}" for answer in answers))
    save("warmup", rows)


if __name__ == "__main__":
    wait_calmly()
    seed, count, *keep = sys.argv[2:]
    sys.stdout.write(json.dumps(worker(int(seed), int(count), *keep)) + "\n")
