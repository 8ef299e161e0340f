"""The search agent: prompt → generate → search → observe … → final block. All roles are this loop.

The proposer ends with a question, the solver and the answerer with an answer; the answerer may not search. What a
trajectory holds is exactly what the engine was given and what it sampled, token by token.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from ssp.agents.prompts import FINAL_TAGS, PromptSet
from ssp.agents.protocol import Action, ActionKind, Protocol
from ssp.agents.tape import Tape
from ssp.config import AgentConfig
from ssp.errors import EngineError, SearchError
from ssp.protocols import Codec, Engine, Searcher
from ssp.rng import derive
from ssp.types import Completion, Doc, Role, Sampling, SearchCall, Status, StopReason, Trajectory


@dataclass(frozen=True, slots=True)
class Budget:
    """What one trajectory may use. After the last search there is one more turn, without searching."""

    searches: int = 4
    turn_tokens: int = 256
    response_tokens: int = 4096  # sampled and observed together
    observation_tokens: int = 768  # of one search, over all its documents
    corrections: int = 1

    @classmethod
    def of(cls, config: AgentConfig) -> "Budget":
        return cls(
            config.searches,
            config.turn_tokens,
            config.response_tokens,
            config.observation_tokens,
            config.corrections,
        )


@dataclass(frozen=True, slots=True)
class Task:
    """What one agent is to do. `fields` fill in the role's prompt; `seed` decides its samples."""

    id: str
    role: Role
    fields: Mapping[str, str | int]
    seed: int = 0
    temperature: float = 1.0
    top_p: float = 1.0
    searches: int | None = None  # of the budget, unless said here


@dataclass(frozen=True, slots=True)
class SearchAgent:
    """Plays any role with an engine and a searcher."""

    engine: Engine
    codec: Codec
    searcher: Searcher
    protocol: Protocol
    prompts: PromptSet
    budget: Budget = field(default_factory=Budget)
    k: int = 3

    async def run(self, task: Task) -> Trajectory:
        """One whole trajectory. Outages end it with a status of their own; they never raise."""
        searches = 0 if task.role is Role.ANSWERER else self.budget.searches if task.searches is None else task.searches
        fields = {"searches": searches, **task.fields}
        tape = Tape(self.codec, task.id, task.role, self.prompts.pieces(task.role, self.protocol, fields))
        for turn in range(searches + 1 + self.budget.corrections):
            may_search = len(tape.searches) < searches
            room = min(self.budget.turn_tokens, self.budget.response_tokens - tape.response_length)
            if room < 1:
                return tape.end(Status.LENGTH)
            try:
                completion = await self._generate(tape, task, turn, room)
            except EngineError:
                return tape.end(Status.ENGINE_FAILED)
            action = self.protocol.read(tape.sampled(completion), FINAL_TAGS[task.role])
            if action.kind is ActionKind.FINAL:
                return tape.end(Status.FINISHED, action.text)
            ending = self._ending(action, completion, tape, may_search)
            if ending is not None:
                return tape.end(ending)
            if action.kind is ActionKind.MALFORMED:
                tape.corrections += 1
                tape.observed(self.codec.encode(self.prompts.correction(task.role, self.protocol, action.text)))
            elif not await self._search(tape, action.text):
                return tape.end(Status.SEARCH_FAILED)
        return tape.end(Status.TURN_LIMIT)

    async def _generate(self, tape: Tape, task: Task, turn: int, room: int) -> Completion:
        sampling = Sampling(
            max_tokens=room,
            seed=derive(task.seed, "turn", turn),
            temperature=task.temperature,
            top_p=task.top_p,
            stop=self.protocol.stops(FINAL_TAGS[task.role]),
        )
        [completion] = await self.engine.generate([tape.token_ids], [sampling])
        return completion

    def _ending(self, action: Action, completion: Completion, tape: Tape, may_search: bool) -> Status | None:
        """How the trajectory ends with this action, or None if it goes on."""
        if action.kind is ActionKind.SEARCH:
            return None if may_search else Status.TURN_LIMIT
        if completion.reason is StopReason.LENGTH:
            return Status.LENGTH
        if action.kind is ActionKind.NONE:
            return Status.NO_FINAL
        return None if tape.corrections < self.budget.corrections else Status.MALFORMED

    async def _search(self, tape: Tape, query: str) -> bool:
        """Search and observe; False in an outage, which is recorded."""
        began = perf_counter()
        try:
            [hits] = await self.searcher.search([query], self.k)
        except SearchError as error:
            tape.searches.append(SearchCall(query, (), perf_counter() - began, str(error)))
            return False
        tape.searches.append(SearchCall(query, tuple(hits), perf_counter() - began))
        tape.observed(self._frame(self.show(tuple(hit.doc for hit in hits))))
        return True

    def show(self, docs: tuple[Doc, ...]) -> list[str]:
        return self.prompts.show(docs) or [self.prompts.phrases["nothing_found"]]

    def _frame(self, texts: Sequence[str]) -> tuple[int, ...]:
        """An observation: our frame around untrusted text, cut to the budget."""
        opening, closing = (self.codec.encode(mark) for mark in self.protocol.frame)
        parts = [
            self.codec.encode_untrusted(f"{text}\n" if n + 1 < len(texts) else text) for n, text in enumerate(texts)
        ]
        shown = _share(parts, self.budget.observation_tokens, self.codec.encode("\n"))
        return (*opening, *(token for part in shown for token in part), *closing)


def _share(parts: Sequence[tuple[int, ...]], limit: int, end: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """Cut the parts to a common limit: short ones stay whole, long ones share what is left equally, and get an end.

    >>> _share([(1, 1), (2, 2, 2, 2, 2), (3, 3, 3, 3)], 8, end=(0,))
    [(1, 1), (2, 2, 0), (3, 3, 0)]
    """
    kept: dict[int, int] = {}
    for place, index in enumerate(sorted(range(len(parts)), key=lambda i: len(parts[i]))):
        share = (limit - sum(kept.values())) // (len(parts) - place)
        kept[index] = min(len(parts[index]), share)
    return [
        part if len(part) == kept[index] else (*part[: max(0, kept[index] - len(end))], *end)[: kept[index]]
        for index, part in enumerate(parts)
    ]
