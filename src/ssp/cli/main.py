"""The `ssp` command: its subcommands by name, and the one place where errors become a line and an exit code.

Subcommands are imported only when they are called, so that `ssp --help` answers at once.
"""

import io
import logging
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from cyclopts import App, CycloptsError

from ssp import __version__
from ssp.environment import keep_memory, wait_calmly
from ssp.errors import SspError

COMMANDS = {
    "train": "Train a search agent by self-play; gives a run directory.",
    "eval": "Score an agent on sets of questions, with intervals; compare two evaluations.",
    "ablate": "Run one of the paper's comparisons with several seeds; gives a table.",
    "report": "Write a run's report anew; export its verified problems; make a benchmark of its corpus.",
    "ask": "Answer a question, and show the searches and the passages used.",
    "play": "Play one linked game: proposal, verdict, attempts, rewards.",
    "data": "Question sets: what is there, where the rest comes from, and getting it.",
    "models": "Pre-trained models: which are known by name, and getting them.",
    "doctor": "Look over a configuration before a long run; --judge tells how far a judge can be trusted.",
    "seeds": "Mine answers to propose for from a corpus.",
    "world": "Write a generated world: corpus, seeds, held-out questions, facts.",
    "index": "Build a search index from a corpus.",
    "search": "Search an index.",
    "serve": "Serve an index over HTTP (the /retrieve protocol).",
}
MODULES = {"eval": "evaluate"}  # where a command's own name is taken

app = App(
    name="ssp",
    version=__version__,
    help="Search Self-Play: train deep-search agents without question-answer labels.",
    suppress_keyboard_interrupt=False,
)
for _name, _help in COMMANDS.items():
    app.command(f"ssp.cli.{MODULES.get(_name, _name)}:{MODULES.get(_name, _name)}", name=_name, help=_help)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; gives the exit code: 0 done, 2 a mistake the user can mend, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Unicode still gets an answer
    wait_calmly()
    keep_memory()
    logging.getLogger("stamina").setLevel(logging.ERROR)  # of tries that failed, the last one is told
    signal.signal(signal.SIGTERM, _as_ctrl_c)
    try:
        app(arguments, print_error=False, exit_on_error=False, result_action="return_value")
        sys.stdout.flush()
    except (SspError, CycloptsError) as error:
        _complain(str(error))
        return 2
    except KeyboardInterrupt:
        _complain("stopped")
        return 130
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # a full disk, a name too long, a file we may not read
        _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        return 2
    return 0


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:
    """A polite kill cleans up as Ctrl-C does, also where that is ignored, as in the background of a script."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.default_int_handler(number, frame)
    signal.raise_signal(signal.SIGINT)


def _complain(message: str) -> None:
    line = " ".join(message.split())
    sys.stderr.write(f"ssp: {line}\n")


def run() -> None:
    """The entry point of the installed command."""
    sys.exit(main())
