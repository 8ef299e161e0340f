"""Longer questions as shorter ones are solved."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssp.game.curriculum import shares_now, solved
from ssp.runs.seeds import SeedBag
from ssp.types import Attempt, Episode, Outcome, Problem, Role, Seed, Segment, Status, Trajectory, Verdict

FULL = {1: 0.4, 2: 0.4, 3: 0.2}


def played(hops: int, *correct: bool | None, pooled: bool = False) -> Episode:
    seed = Seed(f"s{hops}", "Oakmere", hops=hops)
    problem = Problem("p", seed.id, "Where was Mira born?", "Oakmere", "t", hops)
    attempts = tuple(Attempt("p", f"a{number}", "x", one) for number, one in enumerate(correct))
    prompt = Segment.prompt("q", (1,))
    solutions = tuple(Trajectory(one.trajectory_id, Role.SOLVER, (prompt,), (), Status.NO_FINAL, 0) for one in attempts)
    verdict = Verdict(Outcome.PASSED, "")
    return Episode("e", 0, seed, None, problem, verdict, attempts, solutions, pooled=pooled)


def test_success_is_remembered_by_hops() -> None:
    first = solved([played(1, True, False, None), played(2, False)], {"solver": 0.3})
    assert first == {"solver": 0.3, "solved/1": 0.5, "solved/2": 0.0}
    again = solved([played(1, True), played(2, None), played(3, True, pooled=True)], first)
    assert again == {"solver": 0.3, "solved/1": 0.75, "solved/2": 0.0}, "unjudged and pooled ones say nothing"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 1))
def test_shares_grow_with_success_up_to_the_bar(one: float, two: float, bar: float) -> None:
    shares = shares_now(FULL, {"solved/1": one, "solved/2": two}, bar)
    assert (shares[1], shares[2]) == (FULL[1], FULL[2]), "the two shortest from the start"
    assert shares[3] == pytest.approx(FULL[3] * min(1.0, two / bar))
    assert shares_now(FULL, {}, 0.0) == FULL


def test_drawing_begins_with_the_two_shortest_and_ends_with_all() -> None:
    seeds = [Seed(f"s{hops}-{number}", "A", hops=hops) for hops in FULL for number in range(200)]
    bag = SeedBag(seeds, tuple(FULL.values()), seed=0, bar=0.5)

    def drawn(means: dict[str, float]) -> Counter[int]:
        return Counter(one.hops for one in bag.of_step(3, means)(100, 0))

    assert set(drawn({})) == set(drawn({"solved/1": 1.0})) == {1, 2}
    assert 0 < drawn({"solved/2": 0.2})[3] < drawn({"solved/2": 0.5})[3]
    assert drawn({"solved/2": 0.9}) == drawn({"solved/2": 0.5})
