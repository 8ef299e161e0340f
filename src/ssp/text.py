"""Answers as text: normalisation, exact match, F1, and whether a question gives its answer away.

On English the scores are those of the official SQuAD and HotpotQA scripts, to the digit. Text that contains
Chinese, Japanese or Korean characters is normalised further (width forms, Unicode punctuation) and counted by
character, since such text has no words between spaces.

>>> exact_match("The  Oakmere.", ["oakmere", "Port Oakmere"])
True
>>> round(f1("born in Oakmere", ["Oakmere town"]), 2)
0.4
>>> leaks("Which river flows past Oakmere?", ["Oakmere"])
True
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

# Scripts written without spaces between words, plus Hangul, whose particles are glued to the noun.
_UNSPACED = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\uac00-\ud7af\u1100-\u11ff"  # Hangul
    "\u0e00-\u0e7f\u1000-\u109f\u1780-\u17ff"  # Thai, Burmese, Khmer
    "\U00020000-\U0003134f"  # Han extensions
)
UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_TOKEN = re.compile(f"[{_UNSPACED}]|[^{_UNSPACED}\\s]+")
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")
_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_THOUSANDS = re.compile(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))")
_ACCENTS = re.compile("[\u0300-\u036f]+")  # of Latin, Greek, Cyrillic; marks of other scripts carry meaning
_BINARY_ANSWERS = frozenset({"yes", "no", "noanswer"})


def valid_unicode(text: str) -> str:
    """The text with lone surrogates, which no file or service takes, replaced.

    >>> valid_unicode("a\\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode()


def is_unspaced(text: str) -> bool:
    """Does the text contain a script that does not put spaces between words?"""
    return UNSPACED_CHARACTER.search(text) is not None


def normalise_answer(text: str) -> str:
    """Lower case, no punctuation, no articles, single spaces: the official SQuAD normalisation.

    >>> normalise_answer("The U.S. Navy")
    'us navy'
    >>> normalise_answer("《红楼梦》 。")
    '红楼梦'
    """
    if is_unspaced(text):
        text = "".join(c for c in unicodedata.normalize("NFKC", text) if not _is_punctuation(c))
    text = text.lower().translate(_ASCII_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", text).split())


def answer_tokens(text: str) -> list[str]:
    """Normalised words; every character of an unspaced script is a word of its own.

    >>> answer_tokens("The Beijing 大学")
    ['beijing', '大', '学']
    """
    return _TOKEN.findall(normalise_answer(text))


def exact_match(prediction: str, answers: Iterable[str]) -> bool:
    """Is the prediction, normalised, equal to one of the answers?

    Where nothing is left of both after normalisation ("The The", "!!!"), they are compared as they stand, so that an
    empty prediction is right for nobody.
    """
    return any(_matches(prediction, answer) for answer in answers)


def f1(prediction: str, answers: Iterable[str]) -> float:
    """The best token F1 over the answers, as SQuAD and HotpotQA score it (yes/no answers are all or nothing)."""
    return max((_f1_single(prediction, answer) for answer in answers), default=0.0)


def _f1_single(prediction: str, answer: str) -> float:
    normal_prediction, normal_answer = normalise_answer(prediction), normalise_answer(answer)
    if normal_prediction != normal_answer and _BINARY_ANSWERS & {normal_prediction, normal_answer}:
        return 0.0
    predicted, wanted = _TOKEN.findall(normal_prediction), _TOKEN.findall(normal_answer)
    if not predicted or not wanted:
        return float(_matches(prediction, answer))
    shared = (Counter(predicted) & Counter(wanted)).total()
    if shared == 0:
        return 0.0
    precision, recall = shared / len(predicted), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def _matches(prediction: str, answer: str) -> bool:
    left, right = _comparable(prediction), _comparable(answer)
    return left == right and (left != "" or fold(prediction).strip() == fold(answer).strip())


def _comparable(text: str) -> str:
    """Normalised; spaces around unspaced characters do not count ("北京 大学" is "北京大学")."""
    normal = normalise_answer(text)
    return " ".join(answer_tokens(normal)) if is_unspaced(normal) else normal


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")


def fold(text: str) -> str:
    """Case, width, diacritics and thousands separators folded away, for comparing surface forms.

    >>> fold("Café Ångström had １,000 seats")
    'cafe angstrom had 1000 seats'
    """
    if text.isascii():
        return _THOUSANDS.sub("", text.lower()) if "," in text else text.lower()
    text = _THOUSANDS.sub("", text)  # before normalisation makes plain spaces of no-break ones
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return _THOUSANDS.sub("", unicodedata.normalize("NFKC", bare)).casefold()


def folded_words(text: str) -> list[str]:
    """Words of the folded text; punctuation separates, unspaced characters stand alone.

    >>> folded_words("Einstein's 1,000 cafés")
    ['einstein', 's', '1000', 'cafes']
    """
    return _WORD.findall(fold(text))


def leaks(text: str, answers: Iterable[str]) -> bool:
    """Does the text give one of the answers away?

    Whole words for languages with spaces, so that "Rome" is not in "Romeo"; characters for the others. A leading
    article of the answer does not matter. An answer of nothing but symbols is looked for as it stands.

    >>> leaks("Who was Romeo?", ["Rome"]), leaks("the capital, ROME?", ["Rome"])
    (False, True)
    >>> leaks("北京大学在哪里？", ["北京"])
    True
    """
    words = folded_words(text)
    return any(_leaks_one(text, words, answer) for answer in answers)


def _leaks_one(text: str, words: Sequence[str], answer: str) -> bool:
    wanted = folded_words(answer)
    if len(wanted) > 1 and wanted[0] in ("a", "an", "the"):
        wanted = wanted[1:]
    if not wanted:
        symbols = answer.strip()
        return symbols != "" and symbols in text
    first, length = wanted[0], len(wanted)
    return any(word == first and list(words[start : start + length]) == wanted for start, word in enumerate(words))


def word_count(text: str) -> int:
    """Words in text of any script; a Chinese character counts as one.

    >>> word_count("Where was she born?"), word_count("她出生在哪里？")
    (4, 6)
    """
    return len(_WORD.findall(text))
