"""What a judge has said, on disk, so that the same is not asked (and paid for) twice."""

import sqlite3
from pathlib import Path

from ssp.errors import DataError


class Memory:
    """A SQLite file with one reply for each key."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._disk = sqlite3.connect(path, isolation_level=None, timeout=10.0)
            self._disk.execute("PRAGMA journal_mode=WAL")
            self._disk.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT)")
        except (sqlite3.Error, OSError) as error:
            raise DataError(f"{path}: not usable as a judge's memory ({error})") from None

    def get(self, key: str) -> str | None:
        row = self._disk.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: str, reply: str) -> None:
        try:
            self._disk.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, reply))
        except sqlite3.Error as error:
            raise DataError(f"{self._path}: can't write the judge's memory ({error})") from None

    def close(self) -> None:
        self._disk.close()
