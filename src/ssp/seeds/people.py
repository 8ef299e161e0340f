"""Whether a document is about a person, and what they are said to be: by how encyclopedias begin (English)."""

import re

_ABOUT_A_PERSON = re.compile(  # all runs are bounded: it is matched with any text
    r"(?:[^.(]|(?<=\b[A-Z])\.|(?<=[JS]r)\.){0,80}\("
    r"(?:(?:[^()]{0,80}\b)?(?:(?:born|died)\b|[bd]\. ?\d)|[^()]{0,80}?\d{3,4}[^()]{0,60}?[–-][^()]{0,60}?\d{3,4})"
)
BEFORE_A_CALLING = (  # "is a retired Danish"
    r"\b(?:is|was) an? (?:(?:[A-Z][\w'’-]*|former|retired|professional|independent|rules|early|late|\d+\w\w-century)"
    r",? (?:and )?)*"
)
_CALLING = re.compile(
    rf"{BEFORE_A_CALLING}((?:[a-z]+(?:-[a-z]+)? ){{0,2}}?[a-z]+(?:-[a-z]+)?)"
    r"(?=[,.;/]| (?:and|or|who|from|in|of|for|at|with|whose|best|known|on|by|as|during|noted|active|born|based|playing|"
    r"affiliated|notable|member)\b)"
)
_NO_CALLING = frozenset(
    "member son daughter native graduate student prominent leading born rules film stage television theatre".split()
)


def is_about_a_person(text: str) -> bool:
    """By what an encyclopedia puts behind the name.

    >>> is_about_a_person("Ida Kern (born 1950) is a painter."), is_about_a_person("Trust is a 1990 film.")
    (True, False)
    """
    return _ABOUT_A_PERSON.match(text) is not None


def calling_of(text: str) -> str | None:
    """What the person is that the text is about; None if it is about something else, or does not say.

    >>> calling_of("Ida Kern (born 1950) is a retired Danish ice hockey player who …")
    'ice hockey player'
    """
    found = _CALLING.search(text) if is_about_a_person(text) else None
    return None if found is None or found[1] in _NO_CALLING else found[1]
