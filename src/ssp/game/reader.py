"""Readers: who answers a question from given documents, so that it can be verified.

The policy itself or its start, as an agent that may not search; or a model behind a service, which knows nothing of
what the roles have learned together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ssp.agents.agent import SearchAgent, Task
from ssp.agents.prompts import FINAL_TAGS, PromptSet
from ssp.agents.protocol import ActionKind, neutralise
from ssp.agents.protocol import Protocol as Tags
from ssp.chat import ChatModel
from ssp.errors import ReaderError
from ssp.rng import derive
from ssp.text import valid_unicode
from ssp.types import Doc, Role


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer, or none; and why there is none. An outage is no answer, but says nothing about the question."""

    answer: str | None
    why: str = ""
    outage: bool = False


class Reader(Protocol):
    """Answers from these documents, in this order, and from nothing else. An outage is told, not raised."""

    async def read(
        self, name: str, question: str, docs: Sequence[Doc], key: int, temperature: float = 0.0
    ) -> Reading: ...


@dataclass(frozen=True, slots=True)
class AgentReader:
    """The policy, or a frozen copy of it, in the role of answerer."""

    agent: SearchAgent

    async def read(self, name: str, question: str, docs: Sequence[Doc], key: int, temperature: float = 0.0) -> Reading:
        task = reading_task(name, question, docs, self.agent, key)
        done = await self.agent.run(replace(task, temperature=temperature))
        return Reading(done.final, done.status.value, done.status.is_outage)


@dataclass(frozen=True, slots=True)
class ChatReader:
    """A model behind a service. Questions and documents are as untrusted for it as for the policy."""

    chat: ChatModel
    prompts: PromptSet
    tags: Tags

    async def read(self, name: str, question: str, docs: Sequence[Doc], key: int, temperature: float = 0.0) -> Reading:
        shown = "\n".join(self.prompts.show(tuple(docs)))
        fields: dict[str, str | int] = {"question": question, "documents": shown}
        pieces = self.prompts.pieces(Role.ANSWERER, self.tags, fields)
        message = "".join(piece.text if piece.trusted else neutralise(valid_unicode(piece.text)) for piece in pieces)
        try:
            reply = await self.chat.say(message, temperature, derive(key, "reader") % 2**31)
        except ReaderError as error:
            return Reading(None, str(error), outage=True)
        action = self.tags.read(reply, FINAL_TAGS[Role.ANSWERER])
        return Reading(action.text) if action.kind is ActionKind.FINAL else Reading(None, "no answer in its reply")


def reading_task(task_id: str, question: str, docs: Sequence[Doc], reader: SearchAgent, key: int) -> Task:
    """A single-turn task: answer from these documents. Greedy, so that a verdict does not hang on luck."""
    shown = "\n".join(reader.prompts.show(tuple(docs)))
    fields: dict[str, str | int] = {"question": question, "documents": shown}
    return Task(task_id, Role.ANSWERER, fields, seed=derive(key, "reader"), temperature=0.0)
