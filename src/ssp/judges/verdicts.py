"""What may be decided without a model, and how a model's verdict is read: strictly, or not at all."""

import re
from collections.abc import Iterable, Sequence

import orjson

from ssp.text import exact_match, fold, is_unspaced, word_count

RIGHT, WRONG = "right", "wrong"
_VERDICT_LINE = re.compile(r"[*_#>\s]*verdict[*_]*\s*[:：–-]\s*[*_]*(right|wrong)[*_.。!\s]*", re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?\s*(\{.*?\})\s*```\s*$", re.DOTALL)
_REFUSALS = re.compile(
    r"\b(i (do not|don't|dont|cannot|can't|could not|couldn't) (know|tell|find|answer|determine|say)"
    r"|(is|are|was) (unknown|not (known|given|stated|mentioned|available|specified))"
    r"|(cannot|can't|could not) be (determined|found|answered)|no (answer|information)|not enough information"
    r"|unable to)\b|不知道|不清楚|无法(确定|回答|得知|判断)|没有(找到|足够|相关)|未(知|提及|找到)"
)
_BARE_REFUSALS = frozenset(("unknown", "none", "n a", "na", "not sure", "unsure", "no idea", "不详", "不明"))
_ALTERNATIVE = re.compile(r"\s+(?:or|and/or)\s+|\s*(?:或者|或是|或|还是)\s*")
_LIST_MARK = re.compile(r"\s*[;；\n、|]\s*|,\s+|，|\s+/\s+|\s+(?:or|and|and/or)\s+|\s*(?:或者|或是|或|还是|以及)\s*")
_MOST_LISTED = 3  # short items in a row; a place may well be "Paris, Texas, USA"
_SHORT = 5  # words of an item of a list


def as_list(answer: str | Sequence[str]) -> list[str]:
    """One right answer, or several, as several."""
    return [answer] if isinstance(answer, str) else list(answer)


def decide_plainly(answers: Sequence[str], prediction: str) -> bool | None:
    """True for an answer as it stands, False for none, a refusal or a list to choose from; None where it takes a judge.

    >>> said = ("oakmere.", "I don't know", "Oakmere or Dunford", "Port Oakmere")
    >>> [decide_plainly(["Oakmere"], one) for one in said]
    [True, False, False, None]
    """
    if exact_match(prediction, answers):
        return True
    if not prediction.strip() or refuses(prediction) or hedges(answers, prediction):
        return False
    return None


def refuses(prediction: str) -> bool:
    """Does it decline to answer?

    >>> refuses("The date is not mentioned."), refuses("无法确定"), refuses("The Unknown Soldier")
    (True, True, False)
    """
    plain = " ".join(re.findall(r"\w+", fold(prediction)))
    return plain in _BARE_REFUSALS or _REFUSALS.search(fold(prediction).replace("’", "'")) is not None


def hedges(answers: Iterable[str], prediction: str) -> bool:
    """Does it offer several things where the right answer is one?

    >>> hedges(["1843"], "1843 or 1844"), hedges(["Pride or Prejudice"], "pride or prejudice, the book")
    (True, False)
    >>> hedges(["Dunford"], "Dunford, Oakmere, Velbeck, Harrow"), hedges(["Paris, Texas"], "Paris, Texas, USA")
    (True, False)
    """
    golds = list(answers)
    if _ALTERNATIVE.search(prediction) and not any(_ALTERNATIVE.search(gold) for gold in golds):
        parts = [part for part in _ALTERNATIVE.split(prediction) if part.strip()]
        if len(parts) > 1 and min(map(_length, parts)) <= _SHORT:
            return True
    allowed = max([_MOST_LISTED, *(len(_items(gold)) + 1 for gold in golds)])
    items = _items(prediction)
    return len(items) > allowed and all(_length(item) <= _SHORT for item in items)


def _items(text: str) -> list[str]:
    return [item for item in _LIST_MARK.split(text) if item.strip()]


def _length(text: str) -> int:
    return word_count(text) // 2 if is_unspaced(text) else word_count(text)


def parse_verdict(reply: str) -> bool | None:
    """The verdict of a judge: a JSON object with `verdict`, or the last line "Verdict: right". Else there is none.

    Two words are known, and nothing but them counts: "Incorrect", "not right", "right or wrong" are no verdicts.

    >>> parse_verdict('Both name the same town. {"verdict": "right"}'), parse_verdict("…\\nVerdict: WRONG.")
    (True, False)
    >>> parse_verdict("That is right"), parse_verdict("Verdict: not right"), parse_verdict("")
    (None, None, None)
    """
    said = reply.strip()
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if not lines:
        return None
    if line := _VERDICT_LINE.fullmatch(lines[-1]):
        return line[1].lower() == RIGHT if _agree(lines, line[1]) else None
    return _from_json(said)


def _agree(lines: Sequence[str], verdict: str) -> bool:
    """A judge that says both has said nothing."""
    found = [match for line in lines if (match := _VERDICT_LINE.fullmatch(line))]
    return all(match[1].lower() == verdict.lower() for match in found)


def _from_json(said: str) -> bool | None:
    fenced = _FENCE.search(said)
    text = fenced[1] if fenced else said[said.rfind("{") :] if "{" in said else ""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    verdict = value.get("verdict") if isinstance(value, dict) else None
    if not isinstance(verdict, str) or verdict.lower() not in (RIGHT, WRONG):
        return None
    return verdict.lower() == RIGHT
