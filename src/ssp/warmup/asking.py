"""Questions as people put them, from sentences of an encyclopedia and without knowing what they mean (English only).

A sentence with a gap ends with the words that say how its subject and the gap are related: "… directed by ___",
"… was born in ___", "… the capital of ___". These words decide the question: "Who directed Arthur?", "Where was Ida
Kern born?" What a question asks for can also be named within another one: "the person who directed Arthur".
"""

import re

from ssp.seeds.mining import bare_title
from ssp.warmup.library import GAP, Asking
from ssp.warmup.phrasing import standing_alone
from ssp.warmup.relations import Kind, relation

_FIRST = re.compile(r"[\"“']?[A-Z0-9][^.;:()]{0,60}?[\"”']?(?=\s*\(|,? (?:is|was|are|were) )")
_SHORT = re.compile(r"[^(,]+(?=,| \()")
_SURNAME = re.compile(r"(?!.* of )[^,]+ ([^ ,]+)")
_DATE = re.compile(r"\d{3,4}|\d{1,2} [A-Z][a-z]+|[A-Z][a-z]+ \d{1,2}\b")
_BORN = re.compile(r"\((?:[^()]*\b)?(?:born|b\.)\s*___|^[^()]*\(\s*___\s*[–-]")
_DIED = re.compile(r"\([^()]*[–-]\s*___\s*\)")
_DONE = re.compile(
    r"\b(?P<be>is|are|was|were|been|be)?\s?(?P<done>[a-z]+(?:ed|en|wn|rn)|set|built|held|sung|shot|won|known|made|led)"
    r"(?: (?:and|or) [a-z]+ed)?(?: (?:mainly|mostly|primarily|originally|first|officially|posthumously))?"
    r" (?P<how>by|in|at|on|near|to|for|from|as|after|with|into|under|through) (?:the )?___"
)
_DOES = re.compile(
    r"\b(?P<does>[a-z]+)(?P<what>(?: [a-z]+){0,3}?) "
    r"(?P<how>for|in|at|on|to|from|with|as|of|into|through|near|under|against) (?:the )?___"
)
_IS = re.compile(
    r"^(?P<be>is|was|are|were) (?P<what>(?:an?|the|one of the) (?:[\w'’-]+ ){0,2}?[a-z-]+) "
    r"(?P<how>of|for|in|at|from|by|on|to|with) (?:the )?___"
)
_KIND = re.compile(r"^(?P<be>is|was) an? (?:former |retired )?___\.?$")
_STARS = re.compile(r"\b(?:starring|stars|starred|featuring|features) ___")
_NATION = re.compile(r"[A-Z]\w+(?:an|ese|ish|aeli|stani|landic)|French|Dutch|Czech|Greek|Swiss|Welsh|Thai|Iraqi|Slovak")
_KIN = re.compile(r"\b(?:son|daughter|wife|husband|brother|sister|child|mother|father|widow)$")
_NATIONALITY = Asking(
    ("What nationality is {}?", "What is the nationality of {}?", "What is {}'s nationality?"),
    ("the nationality of {}",),
)
_STILL = frozenset(
    "based located situated headquartered known owned set named held used composed derived found".split()
)
_VERBS = {  # what a thing does or did → how that is asked for
    "plays": "play", "played": "play", "works": "work", "worked": "work", "serves": "serve", "served": "serve",
    "studied": "study", "studies": "study", "lives": "live", "lived": "live", "died": "die", "grew": "grow",
    "graduated": "graduate", "competed": "compete", "competes": "compete", "appeared": "appear", "starred": "star",
    "joined": "join", "moved": "move", "belongs": "belong", "flows": "flow", "runs": "run", "stands": "stand",
    "lies": "lie", "debuted": "debut", "began": "begin", "ended": "end", "premiered": "premiere", "aired": "air",
    "teaches": "teach", "taught": "teach", "fought": "fight", "won": "win", "took": "take", "ran": "run",
    "opened": "open", "closed": "close", "occurs": "occur", "occurred": "occur", "happened": "happen",
    "broadcasts": "broadcast", "specializes": "specialize", "participated": "participate", "retired": "retire",
    "travelled": "travel", "traveled": "travel", "settled": "settle", "emigrated": "emigrate", "returned": "return",
    "converted": "convert", "performed": "perform", "resides": "reside", "resided": "reside", "attended": "attend",
}  # fmt: skip
_WROTE = {"written": "wrote", "sung": "sang", "led": "led", "won": "won", "made": "made", "built": "built"}


def statement(sentence: str, title: str, first: bool, person: bool = False) -> str:
    """The sentence with the title as its subject, if that is what it is about; else as it is.

    The first sentence of an article is about its title, however that is spelled out; a `person` is named by the last
    word of it later on.

    >>> statement("Ida Maria Kern (born 1950) is a painter.", "Ida Kern", first=True)
    'Ida Kern (born 1950) is a painter.'
    >>> statement("She lives in Oakmere.", "Ida Kern", first=False)
    'Ida Kern lives in Oakmere.'
    >>> statement("Kern lives in Oakmere.", "Ida Kern (painter)", first=False, person=True)
    'Ida Kern (painter) lives in Oakmere.'
    """
    if first and (found := _FIRST.match(sentence)):
        return f"{title}{sentence[found.end() :]}"
    named = _SURNAME.fullmatch(bare_title(title))
    if person and named and title not in sentence and re.match(rf"{re.escape(named[1])} [a-z]", sentence):
        return f"{title}{sentence[len(named[1]) :]}"
    short = _SHORT.match(title)
    if not sentence.startswith(title) and short and sentence.startswith(f"{short[0]} "):
        return f"{title}{sentence[len(short[0]) :]}"
    return standing_alone(sentence, title)


def asking(wording: str, said: str | None, answer: str, person: bool, of_person: bool = False) -> Asking | None:
    """How to ask for what is in the gap; None if that can't be told.

    `said` is the sentence from behind its subject on, if it begins with it. `person`: whether the answer is one;
    `of_person`: whether the subject is.

    >>> asking("Arthur is a film directed by ___.", "is a film directed by ___.", "Ida Kern", True).questions[0]
    'Who directed {}?'
    >>> asking("Ida Kern was seen in ___.", "was seen in ___.", "Oakmere", False)
    Asking(questions=('Where was {} seen?',), phrases=('the place where {} was seen',))
    >>> asking("Ida Kern (born ___) is a painter.", None, "1 May 1950", False).questions[0]
    'When was {} born?'
    >>> asking("Oakmere: a list of ___.", None, "Mayors", False)
    """
    date = _DATE.search(answer) is not None
    if date and _BORN.search(wording):
        return _one("When was {} born?", "the date when {} was born")
    if date and _DIED.search(wording):
        return _one("When did {} die?", "the date when {} died")
    calling = answer[:1].islower()
    kind: Kind = "calling" if calling else "person" if person else "other"
    if not date and (known := relation(wording, "person" if of_person else "other", kind)):
        who = known.questions[0].startswith("Who")
        return None if who and _NATION.fullmatch(answer) else known  # "an album by Canadian …"
    if said is None or calling or not said.rstrip(" .").endswith(GAP):
        return None
    if _KIND.match(said) and _NATION.fullmatch(answer):
        return _NATIONALITY if of_person else None
    if _STARS.search(said):
        return None if date else _one("Who stars in {}?", "the star of {}")
    if (found := _DONE.search(said)) and (found["be"] or found["done"] not in _VERBS):
        return _done(found["done"], found["how"], date, person)
    if (found := _IS.search(said)) and not date:
        return _is(found["be"], found["what"], found["how"], person or _KIN.search(found["what"]) is not None)
    if (found := _DOES.search(said)) and found["does"] in _VERBS:
        return _does(_VERBS[found["does"]], found["what"], found["how"], date, person)
    return None


def _one(question: str, phrase: str) -> Asking:
    return Asking((question,), (phrase,))


def _done(done: str, how: str, date: bool, person: bool) -> Asking:
    be = "is" if done in _STILL else "was"
    if how == "by" and not date:
        active = _WROTE.get(done) or (done if done.endswith("ed") else None)
        if active:
            return _one(f"Who {active} {{}}?", f"the {'person' if person else 'one'} who {active} {{}}")
        return _one(f"Who {be} {{}} {done} by?", f"the one that {{}} {be} {done} by")
    if date:
        return _one(f"When {be} {{}} {done}?", f"the time when {{}} {be} {done}")
    if how in ("in", "at", "near", "on"):
        return _one(f"Where {be} {{}} {done}?", f"the place where {{}} {be} {done}")
    return _one(f"{'Who' if person else 'What'} {be} {{}} {done} {how}?", f"what {{}} {be} {done} {how}")


def _is(be: str, what: str, how: str, person: bool) -> Asking:
    return _one(f"{'Who' if person else 'What'} {be} {{}} {what} {how}?", f"what {{}} {be} {what} {how}")


def _does(verb: str, what: str, how: str, date: bool, person: bool) -> Asking:
    if date:
        return _one(f"When did {{}} {verb}{what}?", f"the time when {{}} did {verb}{what}")
    if how in ("in", "at", "near") and not what:
        return _one(f"Where did {{}} {verb}?", f"the place where {{}} did {verb}")
    return _one(f"{'Who' if person else 'What'} did {{}} {verb}{what} {how}?", f"what {{}} did {verb}{what} {how}")
