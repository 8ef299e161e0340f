"""Draw docs/images/game.svg: `ssp play` on a terminal, with a game of a run: `python -m scripts.terminal RUN`.

The game is the last one of two hops that was valid and that some attempts, but not all, succeeded at.
"""

import re
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console

from ssp.cli.show import show_game
from ssp.records import decode
from ssp.types import Episode

TARGET = Path(__file__).resolve().parent.parent / "docs" / "images" / "game.svg"


def told(run: Path) -> Episode:
    """The game to show."""
    games = (decode(Episode, line) for line in (run / "episodes.jsonl").read_bytes().splitlines())
    fit = [one for one in games if one.valid and one.seed.hops == 2 and len({a.correct for a in one.attempts}) == 2]
    return fit[-1]


if __name__ == "__main__":
    console = Console(record=True, force_terminal=True, width=120, file=StringIO(), highlight=False)
    show_game(told(Path(sys.argv[1])), console)
    picture = re.sub(
        r"@font-face \{.*?\}", "", console.export_svg(title="ssp play"), flags=re.DOTALL
    )  # nothing from afar
    TARGET.write_text(picture, encoding="utf-8")
