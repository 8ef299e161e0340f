"""Verdicts on answers that stand on disk, in a file beside them: what is judged once is not judged again."""

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path

from ssp.config import JudgeConfig
from ssp.errors import JudgeError
from ssp.evaluate.runner import Progress, Record, append_records, read_records
from ssp.protocols import Judge

_TOGETHER = 64  # questions between two writes to disk


def verdict_file(answers: Path, config: JudgeConfig) -> Path:
    """Each judge has its own folder beside the answers."""
    name = hashlib.sha256(f"{config.url}\0{config.model}".encode()).hexdigest()[:8]
    return answers.parent / f"judged-{name}" / answers.name


async def judge_records(judge: Judge, records: Sequence[Record], file: Path, progress: Progress) -> list[Record]:
    """The records with a verdict in each sample, None where there was none to be had. Those are asked for next time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    known = {row["id"]: row["verdicts"] for row in read_records(file)}
    missing = [record for record in records if record["id"] not in known]
    progress("judging", len(records) - len(missing))
    verdicts: dict[str, list[bool | None]] = dict(known)
    for begin in range(0, len(missing), _TOGETHER):
        block = missing[begin : begin + _TOGETHER]
        found = await asyncio.gather(*(_verdicts(judge, record) for record in block))
        verdicts |= {record["id"]: some for record, some in zip(block, found, strict=True)}
        whole = [record["id"] for record in block if None not in verdicts[record["id"]]]
        append_records(file, [{"id": one, "verdicts": verdicts[one]} for one in whole])
        progress("judging", len(block))
    return [_with(record, verdicts[record["id"]]) for record in records]


async def _verdicts(judge: Judge, record: Record) -> list[bool | None]:
    async def one(prediction: str | None) -> bool | None:
        if prediction is None:
            return False
        try:
            return await judge.same(record["question"], list(record["answers"]), prediction)
        except JudgeError:
            return None

    return await asyncio.gather(*(one(sample["answer"]) for sample in record["samples"]))


def _with(record: Record, verdicts: Sequence[bool | None]) -> Record:
    samples = [{**sample, "judged": verdict} for sample, verdict in zip(record["samples"], verdicts, strict=True)]
    return {**record, "samples": samples}
