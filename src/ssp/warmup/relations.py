"""What an encyclopedia says of people and things again and again, and the ways in which people ask for it (English).

Whoever is taught one wording per fact knows the answer to that wording only: "Where was Ida Kern born?" is understood,
"In what city was Ida Kern born?" is answered with a date (docs/log.md). So each relation here has several.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ssp.seeds.people import BEFORE_A_CALLING
from ssp.warmup.library import Asking

Kind = Literal["person", "calling", "other", "name"]  # "name": a person's or another

_NAME = r"(?:the )?___(?![’'-]\w| (?:of (?:the )?|& |the )?[A-Z]\w)"  # not a part of one, where the sentence goes on
_LINKS = "of|and|or|by|in|for|from|at|with|to|on|as|after|under|who|based"
_WHO = rf"(?:the |an? )?(?:(?:[A-Z][\w-]+ )?(?:(?!(?:{_LINKS}) )[a-z-]+ ){{1,4}})?{_NAME}"  # "a Danish painter ___"
_NEAR = (  # "… on 3 May 1950 in the town of"; not "… and studied in"
    r"(?: and (?:raised|brought up|grew up))?(?:(?!\b(?:and|but|who|where|died|studied)\b)[^.;()–]){0,50}?,? "
    r"(?:in|at|near) (?:the (?:city|town|village) of )?"
)
_PLACES = (
    "village|town|city|municipality|district|commune|suburb|neighbou?rhood|hamlet|settlement|community|parish|county|"
    "province|region|river|creek|lake|bay|island|mountain|peak|valley|forest|park|glacier|school|college|university|"
    "church|cathedral|castle|house|building|bridge|station|airport|stadium|hospital|museum|library|hotel|cemetery|"
    "road|street|railway|mine|dam|theatre|prison|company|club"
)


@dataclass(frozen=True, slots=True)
class Relation:
    """Words around the gap that tell it, of whom it is said, what is in the gap, and how that is asked for."""

    said: re.Pattern[str]
    asked: Asking
    of: Kind = "name"
    answer: Kind = "name"


def relation(wording: str, of: Kind, answer: Kind) -> Asking | None:
    """How to ask for what is in the gap of a sentence, if it is one of the things that are always said.

    >>> relation("Ida Kern (born 1 May 1950 in ___) is a painter.", of="person", answer="other").questions[1]
    'In what city was {} born?'
    >>> relation("Arthur is a film written and directed by ___.", of="other", answer="person").phrases
    ('the director of {}', 'the person who directed {}')
    """
    for one in _RELATIONS:
        if _fits(one.of, of) and _fits(one.answer, answer) and one.said.search(wording):
            return one.asked
    return None


def _fits(wanted: Kind, kind: Kind) -> bool:
    return wanted == kind or (wanted == "name" and kind != "calling")


def _makers() -> Iterator[Relation]:
    """Who made something: directed by, written by, …"""
    for done, active, noun in (
        ("directed", "directed", "director"),
        ("written", "wrote", "writer"),
        ("composed", "composed", "composer"),
        ("produced", "produced", "producer"),
        ("created", "created", "creator"),
        ("designed", "designed", "designer"),
        ("developed", "developed", "developer"),
        ("founded", "founded", "founder"),
        ("published", "published", "publisher"),
        ("edited", "edited", "editor"),
        ("owned", "owns", "owner"),
    ):
        said = re.compile(rf"\b{done}(?:,? (?:and |or )?(?:co-)?[a-z]+(?:ed|en)){{0,2}} by {_WHO}")
        yield Relation(
            said,
            Asking(
                (f"Who {active} {{}}?", f"Who is the {noun} of {{}}?", f"Who was the {noun} of {{}}?"),
                (f"the {noun} of {{}}", f"the person who {active} {{}}"),
            ),
        )


_RELATIONS = (
    Relation(
        re.compile(rf"\bborn\b{_NEAR}{_NAME}|\bborn [^.;()–]{{0,40}}\d{{4}}, {_NAME}"),
        Asking(
            (
                "Where was {} born?",
                "In what city was {} born?",
                "What is the place of birth of {}?",
                "What is {}'s birthplace?",
            ),
            ("the place where {} was born", "the birthplace of {}"),
        ),
        answer="other",
    ),
    Relation(
        re.compile(rf"\bdied\b{_NEAR}{_NAME}"),
        Asking(
            ("Where did {} die?", "In what city did {} die?", "Where was the place of death of {}?"),
            ("the place where {} died", "the place of death of {}"),
        ),
        answer="other",
    ),
    Relation(
        re.compile(rf"{BEFORE_A_CALLING}___(?![\w-])"),
        Asking(
            ("What is {}'s occupation?", "What is the occupation of {}?", "What was {}'s profession?"),
            ("the occupation of {}",),
        ),
        of="person",
        answer="calling",
    ),
    *_makers(),
    Relation(
        re.compile(rf"\b(?:song|single|album|EP|track|mixtape)\b[^.;()]{{0,40}}? by {_WHO}"),
        Asking(
            ("Who is the performer of {}?", "Who performed {}?", "Which artist released {}?"),
            ("the performer of {}", "the artist who released {}"),
        ),
    ),
    Relation(
        re.compile(
            r"^(?!.*\b(?:based|adapt|inspired)).*\b(?:novel|book|play|poem|story|memoir|essay|manga|comic|series)\b"
            rf"[^.;()]{{0,30}}?(?<!ed)(?<!cast)(?<!sung) by {_WHO}"
        ),
        Asking(
            ("Who is the author of {}?", "Who wrote {}?"),
            ("the author of {}", "the person who wrote {}"),
        ),
    ),
    Relation(
        re.compile(rf"\b(?:son|daughter) of {_WHO}"),
        Asking(
            ("Who is the father of {}?", "Who is {}'s father?", "Who was the father of {}?"),
            ("the father of {}", "{}'s father"),
        ),
        of="person",
    ),
    Relation(
        re.compile(rf"\b(?:wife|husband|widow|consort) of {_WHO}|\bmarried (?:to )?{_WHO}"),
        Asking(
            ("Who is the spouse of {}?", "Who was {} married to?", "Who is {}'s spouse?"),
            ("the spouse of {}", "{}'s spouse"),
        ),
        of="person",
        answer="person",
    ),
    Relation(
        re.compile(rf"\b(?:educated|studied|graduated)\b[^.;()]{{0,30}}? (?:at|from) {_NAME}"),
        Asking(
            ("Where did {} study?", "Which university did {} attend?", "What school did {} graduate from?"),
            ("the school that {} attended",),
        ),
        answer="other",
    ),
    Relation(
        re.compile(rf"\b(?:plays|played|playing)\b[^.;()]{{0,40}}? for {_NAME}"),
        Asking(
            ("Which team did {} play for?", "What team does {} play for?"),
            ("the team that {} played for",),
        ),
        of="person",
        answer="other",
    ),
    Relation(
        re.compile(
            rf" (?:is|was|are|were) (?:an?|the|one of the) [^.;()]{{0,40}}?\b(?:{_PLACES})[^.;()]{{0,25}}? in {_NAME}"
        ),
        Asking(
            ("Where is {} located?", "Where is {}?", "In what place is {}?"),
            ("the place where {} is located", "the place of {}"),
        ),
        of="other",
        answer="other",
    ),
)
