"""Answers from any corpus, without labels: what its documents are about and what they mention.

Something is worth asking for if a document other than its own mentions it, and not too many do. How many hops can lead
to it follows from the mentions: whoever looks for it finds a document that mentions it, for that document's title
another that mentions the title, and so on.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ssp.seeds.people import calling_of
from ssp.text import UNSPACED_RUN, is_unspaced
from ssp.types import Doc, Seed

HOPS = (4.0, 3.0, 2.0, 1.0)  # shares of 1, 2, 3, 4 hops where all are possible
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_PATTERNS: Mapping[str, re.Pattern[str]] = {
    "date": re.compile(
        rf"\b\d{{1,2}} {_MONTH} \d{{3,4}}\b|\b{_MONTH} \d{{1,2}}, \d{{4}}\b|\b{_MONTH} \d{{4}}\b"
        r"|\b(?:1\d|20)\d\d\b(?![-.,]?\d)|\d{3,4}年(?:\d{1,2}月)?(?:\d{1,2}日)?"
    ),
    "number": re.compile(
        r"\b\d[\d,.]*\d? ?(?:km|kilometres|kilometers|miles|metres|meters|m|ft|feet|kg|people|inhabitants|percent|%|"
        r"million|billion|seats|pages|episodes)\b|\d[\d,.万亿千百]*(?:公里|千米|米|人|平方公里|元|吨|页|集)"
    ),
    "work": re.compile(r"[“\"]([A-Z][^“”\"]{2,60}?)[,.]?[”\"]|《([^《》]{1,30})》"),
    "name": re.compile(r"\b[A-Z][\w'’-]+(?:(?: (?:of|the|de|la|von|van|der|for))? [A-Z][\w'’-]+){0,5}"),
}
_NOT_NAMES = frozenset(
    "The A An In On At He She It They His Her Its Their This That These Those I We You And But Or For From With By As "
    "January February March April May June July August September October November December Monday Tuesday Wednesday "
    "Thursday Friday Saturday Sunday North South East West Mr Mrs Ms Dr English American British".split()
)
_SENTENCE_END = ("", ".", "!", "?", ":", '"', "“")
_ASIDE = re.compile(r"\s*[(（][^()（）]*[)）]$")
_LONGEST_NAME, _LONGEST_TITLE = 8, 12  # words; characters of unspaced text
_TOO_COMMON = 0.02  # of the documents
_OFTEN = 5  # documents that say of somebody that they are one: what is said less often is mostly no calling


@dataclass(frozen=True, slots=True)
class Mined:
    """An answer, what kind of thing it is, how many documents mention it, and how many hops can lead to it."""

    answer: str
    kind: str
    aliases: tuple[str, ...]
    mentioned: int
    depth: int


def mine(docs: Sequence[Doc], progress: Callable[[str, int], None] = lambda what, count: None) -> list[Mined]:
    """All answers that are worth asking for, in the order of the corpus."""
    titles = {bare_title(doc.title): doc for doc in reversed(docs) if bare_title(doc.title)}
    mentions: dict[str, list[Doc]] = {}
    kinds: dict[str, str] = {}
    for doc in docs:
        own = bare_title(doc.title)
        for answer, kind in dict(_candidates(doc.text, titles)).items():
            if answer.lower() != own.lower():
                mentions.setdefault(answer, []).append(doc)
                kinds.setdefault(answer, kind)
        progress("reading", 1)
    most = max(2, round(_TOO_COMMON * len(docs)))
    linked_from = {answer: {bare_title(doc.title) for doc in some} - {""} for answer, some in mentions.items()}
    return [
        Mined(answer, kinds[answer], _aliases(answer, titles), len(some), _depth(answer, linked_from, most))
        for answer, some in mentions.items()
        if _worth_asking_for(answer, kinds[answer], len(some), most)
    ]


def _worth_asking_for(answer: str, kind: str, mentioned: int, most: int) -> bool:
    if kind == "calling":
        return mentioned >= _OFTEN
    return mentioned <= most and (kind != "name" or mentioned > 1 or " " in answer)


def as_seeds(mined: Iterable[Mined], shares: Sequence[float] = HOPS, seed: int = 0) -> list[Seed]:
    """Seeds with a number of hops each, drawn by the shares from those that can lead to it."""
    rng = random.Random(seed)
    seeds = []
    for number, one in enumerate(mined, 1):
        possible = list(shares[: one.depth])
        if sum(possible) > 0.0:
            hops = rng.choices(range(1, len(possible) + 1), possible)[0]
            seeds.append(Seed(f"s{number}", one.answer, one.aliases, hops))
    return seeds


def is_date(answer: str) -> bool:
    """
    >>> is_date("13 May 1938"), is_date("1843"), is_date("Oakmere")
    (True, True, False)
    """
    return _PATTERNS["date"].fullmatch(answer) is not None


def counts_by_kind(mined: Iterable[Mined]) -> dict[str, int]:
    return dict(Counter(one.kind for one in mined).most_common())


def _candidates(text: str, titles: Mapping[str, Doc]) -> Iterator[tuple[str, str]]:
    """What the text mentions, with its kind; titles last, since they win."""
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            said = next((group for group in match.groups() if group), match[0]).strip(" ,.;:")
            if kind == "name":
                said = _name(said, begins=text[: match.start()].rstrip()[-1:] in _SENTENCE_END)
            if said:
                yield said, kind
    if (calling := calling_of(text)) is not None:
        yield calling, "calling"
    yield from ((title, "title") for title in _titles_in(text, titles))


def _name(text: str, begins: bool) -> str:
    """A name without words that are only written large; nothing, if a single word begins a sentence.

    >>> _name("In the Karsa Mills", begins=True), _name("Velbeck", begins=False), _name("Yesterday", begins=True)
    ('Karsa Mills', 'Velbeck', '')
    """
    words = text.split()
    while words and (words[0] in _NOT_NAMES or words[0].islower()):
        words.pop(0)
        begins = False
    long_enough = len(words) > 1 or (not begins and len(words) == 1 and len(words[0]) > 2)
    return " ".join(words) if long_enough and len(words) <= _LONGEST_NAME else ""


def _titles_in(text: str, titles: Mapping[str, Doc]) -> Iterator[str]:
    """Titles that stand in the text as whole words, or as characters where there are no words; the longest first."""
    words = list(re.finditer(r"[^\W_]+(?:['’.-][^\W_]+)*", text))
    place = 0
    while place < len(words):
        for last in range(min(len(words), place + _LONGEST_NAME) - 1, place - 1, -1):
            found = text[words[place].start() : words[last].end()]
            if found in titles and not is_unspaced(found) and (found[0].isupper() or found[0].isdigit()):
                yield found
                place = last
                break
        place += 1
    for run in UNSPACED_RUN.finditer(text):
        place = 0
        while place < len(run[0]):
            ends = range(min(len(run[0]), place + _LONGEST_TITLE), place + 1, -1)
            end = next((end for end in ends if run[0][place:end] in titles), None)
            if end is not None:
                yield run[0][place:end]
            place = end or place + 1


def _depth(answer: str, linked_from: Mapping[str, set[str]], most: int, deepest: int = len(HOPS)) -> int:
    """Over how many documents, each mentioning the title of the one before, one can come away from the answer."""
    reached, front = {answer}, {answer}
    for depth in range(1, deepest + 1):
        front = {
            title for one in front if len(linked_from.get(one, ())) <= most for title in linked_from.get(one, ())
        } - reached
        if not front:
            return max(depth - 1, 1)
        reached |= front
    return deepest


def bare_title(title: str) -> str:
    """A title without what tells it from others of the same name.

    >>> bare_title("Oakmere (town)")
    'Oakmere'
    """
    return _ASIDE.sub("", title).strip()


def _aliases(answer: str, titles: Mapping[str, Doc]) -> tuple[str, ...]:
    whole = titles[answer].title.strip() if answer in titles else answer
    return () if whole == answer else (whole,)
