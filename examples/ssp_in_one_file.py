"""Search Self-Play in one file, for reading: draw, propose, verify, solve, score, credit, update.

From the package comes only what the method is not about: the generated world with its index, prompts and tags, and the
warmed-up tiny model (made in about four minutes, and kept). Left out are speed (the package plays all games at once),
records, resuming, alarms, outages, the curriculum, and settings other than those of the default job. One step of this
equals one of the package's, as tests/e2e/test_one_file.py shows. Run: python examples/ssp_in_one_file.py [steps]
"""

import math
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np
import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from ssp.agents.prompts import FINAL_TAGS, prompt_set
from ssp.agents.protocol import PROTOCOLS, ActionKind
from ssp.agents.tape import encode_prompt
from ssp.config import load_config
from ssp.engines.models import load_model
from ssp.evaluate.sets import read_set
from ssp.rng import derive, python_random
from ssp.runs.ground import FIRST_CHECKPOINT, prepare
from ssp.runs.seeds import SeedBag
from ssp.search.index import open_index
from ssp.seeds.files import read_seeds
from ssp.text import exact_match, leaks, word_count
from ssp.types import Doc, Role, Seed

STEPS, SEEDS, HOPS = 5, 32, (0.4, 0.4, 0.2)  # seeds per step, and shares of those that ask for 1, 2 and 3 hops
ATTEMPTS, VALID, NOISE_DOCS, LEAST_WORDS, MOST_WORDS = 5, 3.0, 7, 4, 100
SEARCHES, DOCS, TURN_TOKENS, OBSERVATION_TOKENS, RESPONSE_TOKENS = 4, 3, 96, 320, 1024
RATE, RISE, CLIP, KL, GRADIENT_CLIP = 3e-4, 5, (1.0 - 0.2, 1.0 + 0.285), 0.03, 1.0
BALANCE, PROPOSER_HEAT, SOLVER_HEAT = 5.0, 0.5, 0.8  # heat: temperature of sampling
TAGS, PROMPTS = PROTOCOLS["search-r1"], prompt_set("brief")


# 1. One agent for all roles
@dataclass
class Agent:
    """Who is to do what, and what came of it: tokens, which were sampled, and with which log-probabilities."""

    role: Role
    fields: dict[str, str | int]
    key: int = 0
    heat: float = 0.0  # the temperature at which it is sampled
    tokens: list[int] = field(default_factory=list)
    sampled: list[bool] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    seen: dict[str, Doc] = field(default_factory=dict)  # by id, in order
    latest: set[str] = field(default_factory=set)  # of these, what only the last search found
    final: str | None = None  # the question or the answer that it ended with
    advantage: float = 0.0

    def append(self, tokens: Sequence[int], logprobs: Sequence[float] = ()) -> None:
        self.tokens += tokens
        self.sampled += [bool(logprobs)] * len(tokens)
        self.logprobs += logprobs or [0.0] * len(tokens)


class Table:
    """Where agents play: the policy that moves them all, and something to search."""

    def __init__(self, model: Path, index: Path) -> None:
        self.policy, self.codec = load_model(model)
        self.searcher = open_index(index, compiled=False)

    def play(self, agent: Agent) -> Agent:
        """Speak, search, read what was found, speak again, until there is an answer (or a question) or no way on."""
        allowed = 0 if agent.role is Role.ANSWERER else SEARCHES
        agent.append(encode_prompt(self.codec, PROMPTS.pieces(agent.role, TAGS, {"searches": allowed, **agent.fields})))
        end = len(agent.tokens) + RESPONSE_TOKENS
        cache, corrected = DynamicCache(), False
        for turn in range(allowed + 2):
            said, cut = self.speak(agent, turn, min(TURN_TOKENS, end - len(agent.tokens)), cache)
            action = TAGS.read(said, FINAL_TAGS[agent.role])
            if action.kind is ActionKind.FINAL:
                agent.final = action.text
                break
            if action.kind is ActionKind.SEARCH and len(agent.queries) < allowed:
                self.search(agent, action.text)
            elif action.kind is ActionKind.MALFORMED and not cut and not corrected:
                agent.append(self.codec.encode(PROMPTS.correction(agent.role, TAGS, action.text)))
                corrected = True
            else:
                break
        return agent

    @torch.inference_mode()
    def speak(self, agent: Agent, turn: int, most: int, cache: DynamicCache) -> tuple[str, bool]:
        """One turn, sampled token by token; its text, and whether it was cut off for length."""
        begin = len(agent.tokens)
        stops = {*self.codec.end_ids, *(self.codec.encode(tag)[0] for tag in TAGS.stops(FINAL_TAGS[agent.role]))}
        for number in np.random.Generator(np.random.Philox(key=derive(agent.key, "turn", turn))).random(max(0, most)):
            unread = torch.tensor([agent.tokens[cache.get_seq_length() :]])
            logits = self.policy(input_ids=unread, past_key_values=cache, use_cache=True, logits_to_keep=1).logits
            logprobs = (logits[0, -1] / (agent.heat or 1.0)).log_softmax(dim=-1)
            token = pick(logprobs, agent.heat, number)
            agent.append([token], [min(0.0, logprobs[token].item())])
            if token in stops:
                return self.codec.decode(agent.tokens[begin:]), False
        return self.codec.decode(agent.tokens[begin:]), True

    def search(self, agent: Agent, query: str) -> None:
        [hits] = self.searcher.search_now([query], DOCS)
        agent.queries.append(query)
        agent.latest = {hit.doc.id for hit in hits} - set(agent.seen)
        agent.seen |= {hit.doc.id: hit.doc for hit in hits if hit.doc.id in agent.latest}
        found = "\n".join(PROMPTS.show(tuple(hit.doc for hit in hits))) or PROMPTS.phrases["nothing_found"]
        before, after = (self.codec.encode(mark) for mark in TAGS.frame)  # all this is not sampled: not learned
        agent.append([*before, *self.codec.encode_untrusted(found)[:OBSERVATION_TOKENS], *after])


def pick(logprobs: Tensor, heat: float, number: float) -> int:
    """The likeliest token, or that at which the cumulative probability passes the number."""
    if heat == 0.0:
        return int(logprobs.argmax())
    cumulative = logprobs.exp().cumsum(dim=0, dtype=torch.float64)
    return min(int(torch.searchsorted(cumulative, number * cumulative[-1], right=True)), len(logprobs) - 1)


# 2. The game
@dataclass
class Game:
    """One seed's game. Both roles are played by the same policy, and neither sees what the other one saw."""

    name: str
    seed: Seed
    proposer: Agent
    reason: str = ""  # why the question is not valid
    solvers: list[Agent] = field(default_factory=list)

    @property
    def right(self) -> list[float]:
        """The solvers' rewards."""
        return [float(exact_match(one.final or "", self.seed.accepted)) for one in self.solvers]

    @property
    def reward(self) -> float:
        """The proposer's: the most where half of the attempts succeed, half of it where all do, none if not valid."""
        p = sum(self.right) / ATTEMPTS
        return VALID + math.exp(-((p * (1.0 - p) - 0.25) ** 2) / 0.02) if self.solvers else 0.0


def play_step(table: Table, library: Table, seeds: Sequence[Seed], step: int, key: int) -> list[Game]:
    """Propose, verify, solve. In the library sits a reader who does not learn: the model as it was at the start."""
    games = []
    for seed in seeds:
        name = f"{step:06d}/{seed.id}/0"
        fields: dict[str, str | int] = {"answer": seed.answer, "hops": seed.hops}
        proposer = Agent(Role.PROPOSER, fields, derive(key, f"{name}/proposal"), PROPOSER_HEAT)
        games.append(Game(name, seed, table.play(proposer)))
    ring = python_random(key, "neighbours").sample(games, len(games))
    for place, game in enumerate(ring):
        others = [ring[(place + n) % len(ring)] for n in range(1, len(ring))]
        game.reason = broken_rule(game) or misread(library, game, others[:NOISE_DOCS], key)
        if not game.reason:
            fields = {"question": game.proposer.final or ""}
            keys = [derive(key, f"{game.name}/attempt-{number}") for number in range(ATTEMPTS)]
            game.solvers = [table.play(Agent(Role.SOLVER, fields, one, SOLVER_HEAT)) for one in keys]
    return games


def broken_rule(game: Game) -> str:
    question = game.proposer.final
    if question is None or not LEAST_WORDS <= word_count(question) <= MOST_WORDS:
        return "format"
    if len({" ".join(query.lower().split()) for query in game.proposer.queries}) < game.seed.hops:
        return "searched"
    return "leak" if leaks(question, game.seed.accepted) else ""


def misread(library: Table, game: Game, others: Sequence[Game], key: int) -> str:
    """A reader must find the answer in the proposer's documents, among others' and alone; not without the last."""
    own = list(game.proposer.seen.values())
    if not is_read(library, game, [*own, *noise(game, others, derive(key, game.name))], "rag", key):
        return "rag"
    before = [doc for doc in own if doc.id not in game.proposer.latest]
    if game.seed.hops > 1 and is_read(library, game, before, "deep", key):
        return "deep"
    return "" if is_read(library, game, own, "unique-0", key) else "unique"


def is_read(library: Table, game: Game, docs: list[Doc], purpose: str, key: int) -> bool:
    python_random(derive(key, "verify", game.name), purpose).shuffle(docs)
    shown = "\n".join(PROMPTS.show(tuple(docs)))
    reader = library.play(Agent(Role.ANSWERER, {"question": game.proposer.final or "", "documents": shown}))
    return exact_match(reader.final or "", game.seed.accepted)


def noise(game: Game, others: Sequence[Game], key: int) -> Iterator[Doc]:
    """A document of each of the others that the proposer has not seen itself."""
    taken = set(game.proposer.seen)
    for number, other in enumerate(others):
        offered = [doc for doc in other.proposer.seen.values() if doc.id not in taken]
        if offered:
            doc = python_random(key, "noise", number).choice(offered)
            taken.add(doc.id)
            yield doc


# 3. Credit
def give_credit(games: Sequence[Game]) -> list[Agent]:
    """Advantages; gives those who have one. Solvers are compared with the other attempts at their question (GRPO), then
    all hop counts are made to weigh alike. Proposers get their reward (REINFORCE): the invalid teach nobody anything.
    """
    by_hops: defaultdict[int, list[Game]] = defaultdict(list)
    for game in games:
        by_hops[game.seed.hops].append(game)
        for solver, advantage in zip(game.solvers, standardised(game.right), strict=True):
            solver.advantage = advantage
    weights = {hops: sum(abs(one.advantage) for game in some for one in game.solvers) for hops, some in by_hops.items()}
    for hops, some in by_hops.items():
        for game in some:
            game.proposer.advantage = game.reward
            for solver in game.solvers:
                solver.advantage *= min(BALANCE, max(weights.values()) / weights[hops]) if weights[hops] else 1.0
    return [agent for game in games for agent in (game.proposer, *game.solvers) if agent.advantage]


def standardised(rewards: Sequence[float]) -> list[float]:
    """Minus their mean, divided by their deviation; nothing where all are equal."""
    mean, deviation = (fmean(rewards), pstdev(rewards)) if rewards else (0.0, 0.0)
    return [(reward - mean) / deviation if deviation > 1e-6 else 0.0 for reward in rewards]


# 4. Update
class Learner:
    """Moves the policy, all but its tables of words, and remembers where it started."""

    def __init__(self, policy: PreTrainedModel, start: PreTrainedModel) -> None:
        self.policy, self.start = policy, start
        for words in (policy.get_input_embeddings(), policy.get_output_embeddings()):
            words.requires_grad_(False)
        self.optimizer = torch.optim.AdamW(policy.parameters(), betas=(0.9, 0.95), weight_decay=0.0, fused=True)

    def update(self, agents: Sequence[Agent], step: int) -> None:
        """A clipped policy gradient on what was sampled, and a penalty (k3) on leaving the starting model."""
        self.optimizer.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / RISE)
        total = sum(sum(agent.sampled) for agent in agents)
        for agent in agents:
            sampled = torch.tensor(agent.sampled[1:])
            now = token_logprobs(self.policy, agent)[sampled]
            ratio = (now - torch.tensor(agent.logprobs[1:])[sampled]).exp()
            gain = torch.minimum(ratio * agent.advantage, ratio.clamp(*CLIP) * agent.advantage)
            with torch.no_grad():
                away = token_logprobs(self.start, agent)[sampled]
            divergence = (away - now).exp() - (away - now) - 1.0
            ((KL * divergence - gain).sum() / total).backward()
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), GRADIENT_CLIP)
        self.optimizer.step()
        self.optimizer.zero_grad()


def token_logprobs(model: PreTrainedModel, agent: Agent) -> Tensor:
    """Of each token but the first, given those before it."""
    ids = torch.tensor([agent.tokens])
    logprobs: Tensor = (model(input_ids=ids, use_cache=False).logits[0, :-1] / agent.heat).log_softmax(dim=-1)
    return logprobs.gather(1, ids[0, 1:, None])[:, 0]


# 5. The loop
def train(run: Path, steps: int, say: Callable[[str], None] = print) -> None:
    table, library = (Table(run / FIRST_CHECKPOINT / "model", run / "index") for _ in range(2))
    learner = Learner(table.policy, library.policy)
    seeds = SeedBag(read_seeds(run / "world" / "seeds.jsonl"), HOPS, seed=0)
    held_out = run / "world" / "questions.jsonl"
    say(f"before: {accuracy(table, held_out)}")
    for step in range(steps):
        games = play_step(table, library, seeds.of_step(step)(SEEDS, 0), step, derive(0, "step", step))
        learner.update(give_credit(games), step)
        valid = [game for game in games if not game.reason]
        solved = sum(sum(game.right) for game in valid) / max(1, len(valid) * ATTEMPTS)
        say(f"step {step}: {len(valid)} of {len(games)} questions valid, {solved:.0%} of the attempts at them right")
    say(f"after:  {accuracy(table, held_out)}")


def accuracy(table: Table, questions: Path, count: int = 50) -> str:
    """Right answers to held-out questions, by hops."""
    parts = []
    for hops in (1, 2, 3):
        some = [one for one in read_set(questions) if one.hops == hops][:count]
        said = [table.play(Agent(Role.SOLVER, {"question": one.question})).final or "" for one in some]
        right = sum(exact_match(answer, one.answers) for answer, one in zip(said, some, strict=True))
        parts.append(f"{right / len(some):.0%} at {hops} hops")
    return ", ".join(parts)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        prepare(load_config(), Path(folder) / "run", lambda *_: None)
        train(Path(folder) / "run", int(sys.argv[1]) if len(sys.argv) > 1 else STEPS)
