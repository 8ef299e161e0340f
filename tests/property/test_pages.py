"""The page pool under arbitrary use: nothing leaks, nothing is used twice, matches are true."""

from hypothesis import given
from hypothesis import strategies as st

from ssp.engines.pages import PagePool

SIZE = 2
texts = st.lists(st.integers(0, 2), min_size=1, max_size=9)


@given(st.lists(st.tuples(st.booleans(), texts, st.integers(0, 5)), max_size=40), st.integers(3, 9))
def test_pages_hold_what_matches_say(actions: list[tuple[bool, list[int], int]], pages: int) -> None:
    pool = PagePool(pages, SIZE)
    written: dict[int, tuple[int, ...]] = {}  # page → all tokens up to its end, as whoever computed it saw them
    held: list[list[int]] = []
    for begins, tokens, which in actions:
        if begins:
            mine = pool.match(tokens)
            for number, page in enumerate(mine):
                assert written[page] == tuple(tokens[: (number + 1) * SIZE]), "a match is not what it claims to be"
            assert len(mine) * SIZE < len(tokens), "nothing is left to compute"
            shared = len(mine)
            while len(mine) * SIZE < len(tokens):
                fresh = pool.allocate()
                if fresh is None:
                    break
                assert all(fresh not in others for others in held), "a page in use was given away"
                mine.append(fresh)
                written[fresh] = tuple(tokens[: len(mine) * SIZE])
            full = min(len(mine), len(tokens) // SIZE)
            pool.share(mine, tokens[: full * SIZE], shared)
            held.append(mine)
        elif held:
            pool.release(held.pop(which % len(held)))
        in_use = {page for mine in held for page in mine}
        assert pool.available == pages - len(in_use)
    for mine in held:
        pool.release(mine)
    assert pool.available == pages
    pool.forget_all()
    assert pool.match([0, 0, 0]) == []
