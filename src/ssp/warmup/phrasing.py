"""Questions from sentences, without knowing what they mean: what stood in the gap is asked for where it stood.

"Arthur is a film directed by ___." becomes "Arthur is a film directed by who?", and what leads from one document to the
next is said in between: "Arthur is a film directed by someone who was born in what?" People ask like that, too.
"""

import re

from ssp.text import is_unspaced
from ssp.warmup.library import GAP

_SUBJECT = re.compile(
    r"(?:He|She|It|They|This|The (?:film|movie|book|novel|song|single|album|band|group|company|series|show|city|town|"
    r"village|river|school|university|game|team|club|station|building|species|genus|magazine|label))(?= [a-z])"
)
_OWNER = re.compile(r"(?:His|Her|Its|Their)(?= )")
_CHINESE_SUBJECT = re.compile(r"[他她它](?!们)|该[片书市镇村校]")
_ASIDE = re.compile(r"^\s*(?:\([^()]*\)|（[^（）]*）)?\s*,?\s*")
_YEAR = re.compile(r"\d{3,4}年?")
_NUMBER = re.compile(r"\d")
_NO_VERB = re.compile(r"(?:of|in|and|or|for|to|with|by|from|at|on|as|the|an?|who|which|that|whose|also)\b")
_BEGINS_LIKE_A_VERB = re.compile(r"[a-z]|[\u4e00-\u9fff]")
_NAME_GOES_ON = re.compile(r"(?:\b[A-Z][\w.'’-]*|&)(?: (?:of|the|and|&|de|la|von|van|der))* $")
_NAME_GOES_ON_AFTER = re.compile(r"^(?:['’-]\w| (?:of |& |the )?[A-Z]\w)")
_LONGEST = 24  # words of a beginning


def standing_alone(sentence: str, title: str) -> str:
    """The sentence so that it says what it is about, wherever it stands.

    >>> standing_alone("Its mayor is Mira Dolven.", "Oakmere"), standing_alone("The mayor left.", "Oakmere")
    ("Oakmere's mayor is Mira Dolven.", 'Oakmere: The mayor left.')
    """
    if title in sentence:
        return sentence
    for pattern, subject in ((_SUBJECT, title), (_OWNER, f"{title}'s"), (_CHINESE_SUBJECT, title)):
        if found := pattern.match(sentence):
            return f"{subject}{sentence[found.end() :]}"
    return f"{title}: {sentence}"


def with_gap(sentence: str, answer: str) -> str | None:
    """The sentence up to the answer, which is left out; from there on, if it begins with it. None: too long.

    >>> with_gap("Arthur is a film directed by Ida Kern, a painter.", "Ida Kern")
    'Arthur is a film directed by ___.'
    >>> with_gap("Ida Kern directed Arthur.", "Ida Kern")
    '___ directed Arthur.'
    """
    before, found, after = sentence.partition(answer)
    if not found or _NAME_GOES_ON_AFTER.match(after) or (before.count(" ") > 1 and _NAME_GOES_ON.search(before)):
        return None  # a part of a longer name
    if not before.strip(" \"“'(《"):
        return None if _too_long(after) else GAP + after
    if _too_long(before) or before.count("(") > before.count(")"):
        return None
    return f"{before}{GAP}{'。' if is_unspaced(before) else '.'}"


def _too_long(text: str) -> bool:
    return len(text.split()) > _LONGEST or len(text) > 12 * _LONGEST


def question_word(answer: str, person: bool, chinese: bool) -> str:
    """
    >>> question_word("1843", False, False), question_word("Ida Kern", True, False), question_word("亚瑟", False, True)
    ('what year', 'who', '什么')
    """
    if _YEAR.fullmatch(answer):
        return "哪一年" if chinese else "what year"
    if _NUMBER.search(answer):
        return "多少" if chinese else "what date or number"
    return ("谁" if chinese else "who") if person else ("什么" if chinese else "what")


def ask_for(wording: str, word: str) -> str:
    """
    >>> ask_for("Arthur is a film directed by ___.", "who"), ask_for("___ directed Arthur.", "who")
    ('Arthur is a film directed by who?', 'Who directed Arthur?')
    """
    mark = "？" if is_unspaced(wording.replace(GAP, "")) else "?"
    asked = wording.rstrip(" .。!！").replace(GAP, word)
    return f"{asked[:1].upper() if wording.startswith(GAP) else asked[:1]}{asked[1:]}{mark}"


def predicate(wording: str, title: str) -> str | None:
    """What a sentence says of its subject, if it begins with it; None if that can't be told.

    >>> predicate("Ida Kern (born 1950) was born in ___.", "Ida Kern")
    'was born in ___.'
    """
    if not wording.startswith(title):
        return None
    rest = wording[len(title) :]
    rest = _ASIDE.sub("", rest, count=1)
    says_something = _BEGINS_LIKE_A_VERB.match(rest) and not _NO_VERB.match(rest)
    return rest if says_something and GAP in rest else None


def led_to(wording: str, said: str, person: bool) -> str | None:
    """One sentence out of two: what the first leads to, and what is said of that.

    >>> led_to("Arthur is a film directed by ___.", "was born in ___.", person=True)
    'Arthur is a film directed by someone who was born in ___.'
    """
    before, _, after = wording.partition(GAP)
    if after.strip(" .。"):
        return None
    chinese = is_unspaced(before)
    link = (
        ("一个人，他" if person else "一样东西，它") if chinese else ("someone who " if person else "something that ")
    )
    return f"{before}{link}{said}"
