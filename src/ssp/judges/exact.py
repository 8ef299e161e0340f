"""The judge that needs nobody: equal after normalisation."""

from collections.abc import Sequence

from ssp.judges.verdicts import as_list
from ssp.text import exact_match


class ExactJudge:
    """Right is what is equal to an answer, as SQuAD's script sees it."""

    async def same(self, question: str, answer: str | Sequence[str], prediction: str) -> bool:
        return exact_match(prediction, as_list(answer))

    async def close(self) -> None:
        return None
