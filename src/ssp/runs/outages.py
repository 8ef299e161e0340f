"""Waiting for services that a run can't do without."""

import asyncio
import time
from collections.abc import Callable, Sequence

from ssp.chat import ChatModel
from ssp.errors import SickRun

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0


async def wait_for(services: Sequence[ChatModel], patience: float, tell: Callable[[str], None]) -> None:
    """Until all of them answer; they are asked ever less often. SickRun when patience is at an end."""
    began, pause, told = time.monotonic(), _FIRST_PAUSE, False
    while missing := [one.url for one in services if not await one.answers()]:
        waited = time.monotonic() - began
        if waited >= patience:
            raise SickRun(f"{missing[0]} has not answered for {waited:.0f} seconds")
        if not told:
            tell(missing[0])
            told = True
        await asyncio.sleep(min(pause, patience - waited))
        pause = min(2 * pause, _LONGEST_PAUSE)
