"""A judge for tests and docs: says what it is told to say."""

from collections.abc import Callable, Sequence

from ssp.errors import JudgeError
from ssp.judges.verdicts import as_list


class ScriptedJudge:
    """Decides by a function of question, answers and prediction; None stands for an outage.

    >>> import asyncio
    >>> judge = ScriptedJudge(lambda question, answers, prediction: prediction in answers)
    >>> asyncio.run(judge.same("Who?", "Mira Dolven", "Mira Dolven"))
    True
    """

    def __init__(self, decide: Callable[[str, Sequence[str], str], bool | None]) -> None:
        self._decide = decide

    async def same(self, question: str, answer: str | Sequence[str], prediction: str) -> bool:
        verdict = self._decide(question, as_list(answer), prediction)
        if verdict is None:
            raise JudgeError("the scripted judge is out of order")
        return verdict

    async def close(self) -> None:
        return None
