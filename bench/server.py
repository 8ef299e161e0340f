"""Servers under 64 clients: `ssp serve` against a FAISS-flat service of the published shape, same protocol and load.

The published shape: one flat inner-product index, the request's queries encoded by the sentence encoder and searched
inside the request, no batching over requests. Its vectors are random unit vectors of the encoder's size, since a
flat scan costs the same whatever the values; the queries are really encoded, by the same encoder that our dense
search uses. Clients are raw sockets in a process of their own; one query a request, k = 3.
"""

import asyncio
import json
import subprocess
import sys
import time
from typing import Any

from bench.common import OUT, in_process, queries, save, table, world

CLIENTS, SECONDS, K = 64, 10.0, 3


def requests_for(size: int) -> list[bytes]:
    asked = queries(size, 2000)
    bodies = [json.dumps({"queries": [q], "topk": K, "return_scores": True}).encode() for q in asked["names"]]
    head = "POST /retrieve HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
    return [head.format(len(body)).encode() + body for body in bodies]


async def client(port: int, requests: list[bytes], first: int, deadline: float) -> list[float]:
    """One client: asks, waits for the whole answer, asks again; gives the seconds of each."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    seconds: list[float] = []
    while time.perf_counter() < deadline:
        started = time.perf_counter()
        writer.write(requests[(first + len(seconds) * CLIENTS) % len(requests)])
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        seconds.append(time.perf_counter() - started)
    writer.close()
    return seconds


async def crowd(port: int, requests: list[bytes]) -> dict[str, float]:
    warm = time.perf_counter() + 2.0
    await asyncio.gather(*(client(port, requests, n, warm) for n in range(CLIENTS)))
    started = time.perf_counter()
    found = await asyncio.gather(*(client(port, requests, n, started + SECONDS) for n in range(CLIENTS)))
    elapsed = time.perf_counter() - started
    seconds = sorted(value for values in found for value in values)
    return {
        "requests/s": len(seconds) / elapsed,
        "median ms": 1e3 * seconds[len(seconds) // 2],
        "p99 ms": 1e3 * seconds[int(len(seconds) * 0.99)],
    }


def serve_faiss_flat(size: int) -> None:
    """The comparison server; prints its port and serves until killed."""
    import socket

    import faiss
    import numpy as np
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    from ssp.search.dense import encode

    docs = [json.loads(line) for line in (world(size) / "corpus.jsonl").read_bytes().splitlines()]
    dimensions = encode("minilm", ["warm up"]).shape[1]
    vectors = np.random.default_rng(0).standard_normal((size, dimensions), dtype=np.float32)
    index = faiss.IndexFlatIP(dimensions)
    index.add(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    lock = asyncio.Lock()

    def search(asked: list[str], k: int) -> list[list[dict[str, Any]]]:
        scores, numbers = index.search(encode("minilm", asked), k)
        return [
            [
                {
                    "document": {"id": docs[n]["id"], "contents": f'"{docs[n]["title"]}"\n{docs[n]["text"]}'},
                    "score": float(s),
                }
                for n, s in zip(row_numbers, row_scores, strict=True)
            ]
            for row_numbers, row_scores in zip(numbers, scores, strict=True)
        ]

    async def retrieve(request: Request) -> JSONResponse:
        body = await request.json()
        async with lock:  # one request at a time keeps the encoder's threads from fighting each other
            found = await asyncio.to_thread(search, body["queries"], body["topk"])
        return JSONResponse({"result": found})

    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    sys.stderr.write(f"serving at http://127.0.0.1:{listener.getsockname()[1]}\n")
    sys.stderr.flush()
    app = Starlette(routes=[Route("/retrieve", retrieve, methods=["POST"])])
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


def started(command: list[str]) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "http://" in line:
            return process, int(line.split("http://127.0.0.1:")[1].split("/")[0].split()[0])
    raise RuntimeError(f"{command} did not start")


def ssp_command(kind: str, size: int) -> list[str]:
    index = OUT / f"served-{kind}-{size}"
    if not index.exists():
        ssp = [
            sys.executable,
            "-m",
            "ssp",
            "index",
            str(world(size) / "corpus.jsonl"),
            "--out",
            str(index),
            "--kind",
            kind,
        ]
        subprocess.run(ssp, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [sys.executable, "-m", "ssp", "serve", str(index), "--port", "0"]


def main(sizes: list[int]) -> None:
    rows: list[dict[str, Any]] = []
    for size in sizes:
        systems = {"ssp bm25": ssp_command("bm25", size)}
        if size <= 10_000:  # encoding more than this on two cores takes longer than the benchmark is worth
            systems["ssp dense"] = ssp_command("dense", size)
        systems["faiss-flat"] = [sys.executable, "-m", "bench.server", "--faiss-flat", str(size)]
        for name, command in systems.items():
            process, port = started(command)
            rows.append({"passages": size, "system": name, **in_process("bench.server", port, size)})
            process.kill()
            process.wait()
            print(table(rows[-1:]), flush=True)
        flat = next(r for r in rows if r["passages"] == size and r["system"] == "faiss-flat")["requests/s"]
        for row in rows:
            if row["passages"] == size:
                row["× faiss-flat"] = row["requests/s"] / flat
    save("server", rows)
    print(table(rows))


if __name__ == "__main__":
    if sys.argv[1] == "--faiss-flat":
        serve_faiss_flat(int(sys.argv[2]))
    else:
        print(json.dumps(asyncio.run(crowd(int(sys.argv[2]), requests_for(int(sys.argv[3]))))))
