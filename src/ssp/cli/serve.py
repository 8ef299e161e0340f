"""`ssp serve`."""

import os
import socket
from contextlib import suppress
from pathlib import Path

from ssp.cli.output import note
from ssp.errors import ConfigError
from ssp.search.manifest import read_manifest
from ssp.search.wire import MAX_TOP_K

GRACE_SECONDS = 30
BACKLOG = 2048


def serve(
    index: Path,
    *,
    port: int = 8000,
    host: str = "127.0.0.1",
    topk: int = 3,
    threads: int = 2,
    token_env: str | None = None,
) -> None:
    """Serve an index over HTTP: POST /retrieve, GET /healthz, GET /openapi.json.

    Stops on Ctrl-C or SIGTERM after the requests under way are answered.

    Parameters
    ----------
    index
        Index directory, as `ssp index` writes it.
    port
        Port to listen on; 0 takes a free one.
    host
        Address to listen on. Anything but the default opens the index to others: use a token then.
    topk
        Documents per query where a request does not say.
    threads
        Threads that search.
    token_env
        Name of the environment variable that holds a bearer token; requests must then carry it.
    """
    if not host.strip():
        raise ConfigError("--host is empty; say 0.0.0.0 to serve all networks")
    if threads < 1:
        raise ConfigError(f"--threads must be at least 1, got {threads}")
    if not 1 <= topk <= MAX_TOP_K:
        raise ConfigError(f"--topk must be between 1 and {MAX_TOP_K}, got {topk}")
    documents = read_manifest(index).documents
    listener = _listen(host, port)
    token = _token(token_env)

    import uvicorn

    from ssp.search.index import open_index
    from ssp.search.server import make_app

    searcher = open_index(index)
    searcher.search_now(["warm up"], 1)  # compile or load before the first request, not during it
    application = make_app(searcher, documents=documents, token=token, topk=topk, workers=threads)
    config = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        backlog=BACKLOG,
    )
    address, actual_port = listener.getsockname()[:2]
    shown = f"[{address}]" if ":" in address else address
    note(f"serving {documents:,} documents at http://{shown}:{actual_port}/retrieve (Ctrl-C stops)")
    with suppress(KeyboardInterrupt):  # uvicorn raises the signal again after it has stopped cleanly
        uvicorn.Server(config).run(sockets=[listener])
    note("stopped")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)  # from here on clients may come; they wait until the index is open
    except (OSError, OverflowError) as error:
        listener.close()
        raise ConfigError(f"can't listen on {host} port {port}: {error}; choose another --port or --host") from None
    return listener


def _token(variable: str | None) -> str | None:
    if variable is None:
        return None
    token = os.environ.get(variable)
    if not token:
        raise ConfigError(f"the environment variable {variable} is empty or not set; put the token there")
    return token
