"""Prompt sets: what each role is told, as text files in the package (`texts/<set>/`), and how they are filled in.

A prompt is a list of pieces. Our own text is trusted: tags in it are tags. Questions, answers and documents are not:
they are encoded so that no tag and no special token can arise from them.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ssp.agents.protocol import Protocol
from ssp.errors import ConfigError
from ssp.types import Doc, Role

_FIELD = re.compile(r"\{(\w+)\}")
UNTRUSTED = frozenset({"question", "answer", "documents"})
FINAL_TAGS = {Role.PROPOSER: "question", Role.SOLVER: "answer", Role.ANSWERER: "answer"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a prompt."""

    text: str
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The texts of one set. `phrases` are short things that the environment says."""

    name: str
    roles: Mapping[Role, str]
    document: str
    phrases: Mapping[str, str]

    def pieces(self, role: Role, protocol: Protocol, fields: Mapping[str, str | int]) -> list[Piece]:
        """The prompt of a role with its fields filled in.

        >>> brief = prompt_set("brief")
        >>> from ssp.agents.protocol import PROTOCOLS
        >>> brief.pieces(Role.SOLVER, PROTOCOLS["search-r1"], {"question": "Who?"})
        [Piece(text='Question:\\n', trusted=True), Piece(text='Who?', trusted=False)]
        """
        values = {**self._own_words(role, protocol), **fields}
        return list(_fill(self.roles[role], values))

    def show(self, docs: tuple[Doc, ...]) -> list[str]:
        """Each document as agents see it.

        >>> prompt_set("en").show((Doc("d1", "Oakmere", "A town."),))
        ['Doc 1 (Title: Oakmere) A town.']
        """
        return [self._show(number, doc) for number, doc in enumerate(docs, 1)]

    def _show(self, number: int, doc: Doc) -> str:
        values = {"number": str(number), "title": doc.title or doc.id, "text": doc.text}
        return _FIELD.sub(lambda field: values[field[1]], self.document)

    def correction(self, role: Role, protocol: Protocol, problem: str) -> str:
        """The observation after an action that could not be read: all our own words, so tags in it are tags."""
        values = {**self._own_words(role, protocol), "problem": problem}
        before, after = protocol.frame
        return before + "".join(piece.text for piece in _fill(self.phrases["malformed"], values)) + after

    def _own_words(self, role: Role, protocol: Protocol) -> dict[str, str]:
        final = FINAL_TAGS[role]
        return {
            "search_example": protocol.write_search(self.phrases["query"]),
            "final_example": f"<{final}>{self.phrases[final]}</{final}>",
            "observation": protocol.observation,
            "unknown": self.phrases["unknown"],
        }


def _fill(template: str, values: Mapping[str, str | int]) -> Iterator[Piece]:
    """Trusted fields melt into the text around them; untrusted ones stay apart."""
    own = ""
    end = 0
    for field in _FIELD.finditer(template):
        own += template[end : field.start()]
        end = field.end()
        value = str(values[field[1]])
        if field[1] in UNTRUSTED:
            yield Piece(own)
            yield Piece(value, trusted=False)
            own = ""
        else:
            own += value
    if own + template[end:]:
        yield Piece(own + template[end:])


def prompt_set_names() -> list[str]:
    return sorted(entry.name for entry in (resources.files("ssp") / "agents" / "texts").iterdir() if entry.is_dir())


@cache
def prompt_set(name: str) -> PromptSet:
    """The prompt set of this name."""
    if name not in prompt_set_names():
        raise ConfigError(f"no prompt set {name!r}; there is: {', '.join(prompt_set_names())}")
    folder = resources.files("ssp") / "agents" / "texts" / name

    def text(file: str) -> str:
        return (folder / file).read_text(encoding="utf-8").removesuffix("\n")

    roles = {role: text(f"{role}.txt") for role in Role}
    return PromptSet(name, roles, text("document.txt"), tomllib.loads(text("phrases.toml")))
