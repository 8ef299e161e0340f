"""The pool: who comes in, who is drawn, who leaves."""

from ssp.config import PoolConfig
from ssp.game.pool import draw, remember
from ssp.types import Problem


def problem(name: str, question: str | None = None) -> Problem:
    return Problem(id=name, seed_id="s", question=question or f"Question {name}?", answer="A", proposal_id="t", hops=1)


def test_a_question_is_kept_once() -> None:
    pool = remember((), [problem("p1", "Who ran Oakmere?"), problem("p2", "who ran  oakmere?")], {}, 0, PoolConfig())
    assert [entry.problem.id for entry in pool] == ["p1"]


def test_results_are_added_up() -> None:
    pool = remember((), [problem("p1")], {"p1": (2, 5)}, 0, PoolConfig())
    pool = remember(pool, [], {"p1": (1, 4)}, 3, PoolConfig())
    assert (pool[0].solved, pool[0].attempts, pool[0].last_step) == (3, 9, 3)


def test_nobody_is_drawn_twice_or_right_after_being_played() -> None:
    pool = remember((), [problem(f"p{n}") for n in range(5)], {}, 3, PoolConfig())
    assert draw(pool, 5, 4, PoolConfig(), key=1) == []
    drawn = draw(pool, 9, 5, PoolConfig(), key=1)
    assert sorted(one.id for one in drawn) == [f"p{n}" for n in range(5)]
    assert draw(pool, 3, 5, PoolConfig(), key=1) == draw(pool, 3, 5, PoolConfig(), key=1)


def test_reset_empties_the_pool_every_so_often_and_reuse_does_not() -> None:
    reset, reuse = PoolConfig(reset_every=10), PoolConfig(fill="reuse", reset_every=10)
    assert remember((), [problem("p")], {}, 9, reset) == ()
    assert remember((), [problem("p")], {}, 8, reset) != ()
    assert remember((), [problem("p")], {}, 9, reuse) != ()


def test_without_filling_there_is_no_pool() -> None:
    for fill in ("none", "resample"):
        config = PoolConfig.model_validate({"fill": fill})
        assert remember((), [problem("p")], {}, 1, config) == ()


def test_old_problems_leave_and_the_newest_stay() -> None:
    config = PoolConfig(fill="reuse", max_age=3, size=2)
    pool = remember((), [problem("p1")], {}, 0, config)
    assert remember(pool, [], {}, 3, config) == ()
    crowded = remember((), [problem("p1"), problem("p2"), problem("p3")], {}, 0, config)
    assert [entry.problem.id for entry in crowded] == ["p2", "p3"]
