"""A judge as a service of its own, in a process of its own, that does what it is told: for tests.

It speaks OpenAI's chat completions. `POST /tell` gives it a plan: what to do with the next requests, one word each;
after that it judges, by whether one of the right answers is a part of the prediction.
"""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ssp.chat import ChatModel
from ssp.errors import JudgeError
from ssp.judges.llm import LlmJudge


def llm_judge(url: str, model: str, *, cache: Path | None = None, **options: Any) -> LlmJudge:
    """A judge that asks the model at this address."""
    return LlmJudge(ChatModel(url, model, JudgeError, **options), cache=cache)


PLAN: list[str] = []
SEEN: list[dict[str, Any]] = []
REPLIES = {
    "incorrect": "Incorrect",
    "not-right": "Verdict: not right",
    "hedged": "Verdict: right or wrong",
    "both": "Verdict: wrong\nVerdict: right",
    "json": 'The same town.\n{"verdict": "right"}',
}


async def complete(request: Request) -> Response:
    body = await request.json()
    SEEN.append({"body": body, "key": request.headers.get("authorization")})
    order = PLAN.pop(0) if PLAN else "judge"
    if order.startswith("status-"):
        return Response("no", status_code=int(order.removeprefix("status-")))
    if order == "delay":
        await asyncio.sleep(1.0)
    if order == "garbage":
        return Response("<html>not what you asked for</html>")
    if order == "odd":
        return JSONResponse({"choices": []})
    if order == "drop":
        return StreamingResponse(_half(), media_type="application/json", headers={"content-length": "1000"})
    reply = REPLIES.get(order) or _judge(body["messages"][0]["content"])
    cut = order == "cut"
    choice = {"message": {"role": "assistant", "content": reply}, "finish_reason": "length" if cut else "stop"}
    return JSONResponse({"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 7}})


async def _half() -> AsyncIterator[bytes]:
    yield b'{"choices": ['
    raise ConnectionResetError("told to drop the connection")


def _judge(prompt: str) -> str:
    found = re.search(r"^\{.*?^\}", prompt, re.DOTALL | re.MULTILINE)
    assert found is not None
    case = json.loads(found[0])
    right = any(one.lower() in case["prediction"].lower() for one in case["right answers"])
    return f"By its words.\nVerdict: {'right' if right else 'wrong'}"


async def tell(request: Request) -> Response:
    PLAN[:] = await request.json()
    SEEN.clear()
    return JSONResponse({})


async def seen(request: Request) -> Response:
    return JSONResponse(SEEN)


APP = Starlette(
    routes=[
        Route("/v1/chat/completions", complete, methods=["POST"]),
        Route("/tell", tell, methods=["POST"]),
        Route("/seen", seen),
    ]
)


class JudgeServer:
    """The process, from outside."""

    def __init__(self, port: int = 0) -> None:
        arguments = [sys.executable, "-m", "tests.judge_server", str(port)]
        self.process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                break
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def tell(self, *orders: str) -> None:
        httpx.post(f"http://127.0.0.1:{self.port}/tell", json=list(orders)).raise_for_status()

    @property
    def seen(self) -> list[dict[str, Any]]:
        requests: list[dict[str, Any]] = httpx.get(f"http://127.0.0.1:{self.port}/seen").json()
        return requests

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


if __name__ == "__main__":
    uvicorn.run(APP, host="127.0.0.1", port=int(sys.argv[1]))
