"""Which page of the key-value cache holds what: allocation, sharing and eviction. No tensors here.

A page holds the keys and values of `size` consecutive tokens. What they are depends on these tokens and on all before
them, so a full page is known by its tokens and the page before it; whoever comes with the same beginning shares it.
That one rule keeps the cache over the turns of a trajectory, and computes the common prompt of many attempts once.
Pages that nobody uses stay until their place is needed, least recently used first.

>>> pool = PagePool(pages=4, size=2)
>>> mine = [pool.allocate(), pool.allocate()]
>>> pool.share(mine, [7, 8, 9, 10, 11])
>>> pool.release(mine)
>>> pool.match([7, 8, 9, 10, 12]) == mine
True
>>> pool.match([7, 8, 1, 2, 3]) == mine[:1]
True
"""

from collections import OrderedDict
from collections.abc import Sequence

_Key = tuple[int, tuple[int, ...]]  # the content before, the page's own tokens
_START = -1


class PagePool:
    """A fixed number of pages, counted by their users."""

    def __init__(self, pages: int, size: int) -> None:
        self.pages = pages
        self.size = size
        self._users = [0] * pages
        self._content = [_START] * pages  # number of what the page holds; _START if nobody else may use it
        self._key: list[_Key | None] = [None] * pages
        self._by_key: dict[_Key, int] = {}
        self._free = list(range(pages - 1, -1, -1))
        self._idle: OrderedDict[int, None] = OrderedDict()  # shared pages without users, oldest first
        self._contents = 0

    @property
    def available(self) -> int:
        """Pages that can be allocated now."""
        return len(self._free) + len(self._idle)

    def match(self, tokens: Sequence[int]) -> list[int]:
        """The pages that hold the beginning of these tokens, now used once more.

        At least one token is left over: its logits are wanted.
        """
        found: list[int] = []
        content = _START
        for start in range(0, len(tokens) - self.size, self.size):
            page = self._by_key.get((content, tuple(tokens[start : start + self.size])))
            if page is None:
                break
            found.append(page)
            content = self._content[page]
        for page in found:
            self._users[page] += 1
            self._idle.pop(page, None)
        return found

    def allocate(self) -> int | None:
        """A page of one's own; None if all are in use."""
        if self._free:
            page = self._free.pop()
        elif self._idle:
            page, _ = self._idle.popitem(last=False)
            self._forget(page)
        else:
            return None
        self._users[page] = 1
        return page

    def share(self, pages: Sequence[int], tokens: Sequence[int], done: int = 0) -> None:
        """Let others use these pages, as far as the tokens fill them. The first `done` are shared already."""
        content = self._content[pages[done - 1]] if done else _START
        for number in range(done, len(tokens) // self.size):
            page = pages[number]
            key = (content, tuple(tokens[number * self.size : (number + 1) * self.size]))
            twin = self._by_key.get(key)
            if twin is None:
                self._by_key[key] = page
                self._key[page] = key
                self._content[page] = self._contents
                self._contents += 1
                content = self._content[page]
            else:  # computed twice at the same time: this one stays private, followed by children of its twin
                content = self._content[page] = self._content[twin]

    def release(self, pages: Sequence[int]) -> None:
        """Give pages back. The last one is the first that may be forgotten."""
        for page in reversed(pages):
            self._users[page] -= 1
            if self._users[page]:
                continue
            if self._key[page] is None:
                self._content[page] = _START
                self._free.append(page)
            else:
                self._idle[page] = None

    def forget_all(self) -> None:
        """Drop everything that is kept for others: the weights changed. Only when no page is in use."""
        for page in self._idle:
            self._forget(page)
        self._free.extend(self._idle)
        self._idle.clear()

    def _forget(self, page: int) -> None:
        key = self._key[page]
        if key is not None:
            del self._by_key[key]
        self._key[page] = None
        self._content[page] = _START
