"""Text to search terms.

Chosen by measured recall (docs/results.md): every word is indexed, stemmed and folded (case, accents, width,
thousands separators); common words and question words are left out of a *query* only, and only while something
else is left of it, so that "The Who" can be found. Scripts without spaces become single characters and pairs of
neighbours.

>>> analyzer = Analyzer()
>>> [analyzer.stem(word) for word in words("The Cafés of Oakmere")]
['the', 'cafe', 'of', 'oakmer']
>>> analyzer.query_terms("Where are the cafés of Oakmere?"), analyzer.query_terms("The Who")
(['cafe', 'oakmer'], ['the', 'who'])
>>> words("北京大学")
['北', '京', '大', '学', '北京', '京大', '大学']
"""

import re

import Stemmer

from ssp.text import UNSPACED_CHARACTER, UNSPACED_RUN, fold

_WORD = re.compile(r"[^\W_]+")
_ASCII_SEPARATORS = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})
QUERY_STOP_WORDS = frozenset(
    "a an and are as at be but by did do does for from had has have he her his how if in into is it its no not "
    "of on or she such that the their then there these they this to was were what when where which who whom whose "
    "will with".split()
)
VERSION = 1


class Analyzer:
    """Turns documents and queries into terms. Stems are remembered, up to a bound."""

    _REMEMBERED = 500_000

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english", 0)
        self._stems: dict[str, str] = {}

    def query_terms(self, text: str) -> list[str]:
        asked = words(text)
        telling = [word for word in asked if word not in QUERY_STOP_WORDS]
        stems = self._stems
        return [stems.get(word) or self.stem(word) for word in telling or asked]

    def stem(self, word: str) -> str:
        stem = self._stems.get(word)
        if stem is None:
            if len(self._stems) >= self._REMEMBERED:
                self._stems.clear()
            stem = self._stems[word] = self._stemmer.stemWord(word)
        return stem


def words(text: str) -> list[str]:
    """The folded words of a text, in order; single characters and pairs for scripts without spaces."""
    folded = fold(text)
    if folded.isascii():
        return folded.translate(_ASCII_SEPARATORS).split()
    if not UNSPACED_CHARACTER.search(folded):
        return _WORD.findall(folded)
    found = _WORD.findall(UNSPACED_RUN.sub(" ", folded))
    for run in UNSPACED_RUN.findall(folded):
        found.extend(run)
        found.extend(run[start : start + 2] for start in range(len(run) - 1))
    return found
