"""Rewards and credit: numbers checked by hand, and what must hold for any batch."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssp.config import CreditConfig, RewardConfig
from ssp.game.credit import METHODS, Scored, balanced, give_credit
from ssp.game.reward import SHAPES, proposer_reward
from ssp.types import Outcome, Verdict

PASSED, REJECTED = Verdict(Outcome.PASSED, ""), Verdict(Outcome.REJECTED, "leak")
UNDECIDED = Verdict(Outcome.UNDECIDED, "rag: outage")
BATCH = [
    Scored("a", "g1", 1, 1.0),
    Scored("b", "g1", 1, 0.0),
    Scored("c", "g1", 1, 0.0),
    Scored("d", "g2", 2, 1.0),
    Scored("e", "g2", 2, 0.5),
]


@pytest.mark.parametrize(
    ("shape", "right", "expected"),
    [
        ("one_minus_acc", 1, 0.8),
        ("one_minus_acc", 5, 0.0),
        ("learnability", 1, 0.64),
        ("learnability", 0, 0.0),
        ("band", 1, 1.0),
        ("band", 5, 0.0),
        ("variance", 0, math.exp(-(0.25**2) / 0.02)),
        ("dr_zero", 1, 1.5),
        ("dr_zero", 3, 1.0),
        ("dr_zero", 0, 0.5),
        ("dr_zero", 5, 0.5),
    ],
)
def test_shapes_of_the_proposers_reward(shape: str, right: int, expected: float) -> None:
    config = RewardConfig.model_validate({"shape": shape})
    rewards = [1.0] * right + [0.0] * (5 - right)
    assert proposer_reward(PASSED, rewards, config) == pytest.approx(expected)


def test_being_valid_may_be_worth_something() -> None:
    config = RewardConfig(shape="learnability", valid=0.5)
    assert proposer_reward(PASSED, [1.0, 1.0], config) == 0.5
    assert proposer_reward(PASSED, [1.0, 0.0], config) == 1.5
    assert proposer_reward(REJECTED, [], config) == 0.0
    assert proposer_reward(UNDECIDED, [], config) is None


@pytest.mark.parametrize("shape", list(SHAPES))
def test_invalid_questions_get_nothing_and_undecided_ones_are_not_scored(shape: str) -> None:
    config = RewardConfig.model_validate({"shape": shape})
    assert proposer_reward(REJECTED, [], config) == 0.0
    assert proposer_reward(UNDECIDED, [], config) is None
    assert proposer_reward(PASSED, [None, None], config) is None


def test_unjudged_attempts_do_not_count() -> None:
    assert proposer_reward(PASSED, [1.0, None, 0.0, None], RewardConfig()) == 0.5


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("grpo", {"a": 2 / 3, "b": -1 / 3, "c": -1 / 3, "d": 0.25, "e": -0.25}),
        ("hrpo", {"a": math.sqrt(2), "b": -math.sqrt(0.5), "c": -math.sqrt(0.5), "d": 1.0, "e": -1.0}),
        ("reinforce", {"a": 1.0, "b": 0.0, "c": 0.0, "d": 1.0, "e": 0.5}),
        ("reinforce-batch", {"a": 0.5, "b": -0.5, "c": -0.5, "d": 0.5, "e": 0.0}),
        ("reinforce-running", {"a": 0.6, "b": -0.4, "c": -0.4, "d": 0.6, "e": 0.1}),
        ("rae", {"a": 0.8, "b": -0.2, "c": -0.2, "d": 0.25, "e": -0.25}),
        ("reinforce++", {"a": 0.5 / math.sqrt(0.2), "b": -0.5 / math.sqrt(0.2), "e": 0.0}),
    ],
)
def test_advantages_by_hand(method: str, expected: dict[str, float]) -> None:
    baselines = {"solver": 0.4, "solver/1": 0.2}
    advantages, _ = give_credit(BATCH, method, CreditConfig(), "solver", baselines)
    assert {name: advantages[name] for name in expected} == pytest.approx(expected)


def test_running_means_move_on() -> None:
    _, after = give_credit(BATCH, "reinforce-running", CreditConfig(memory=0.9), "solver", {"solver": 0.4})
    assert after == {"solver": pytest.approx(0.9 * 0.4 + 0.1 * 0.5)}
    _, first = give_credit(BATCH, "rae", CreditConfig(), "proposer", {})
    assert first == {"proposer/1": pytest.approx(1 / 3), "proposer/2": pytest.approx(0.75)}


def test_grpo_may_divide_by_the_deviation_of_the_group() -> None:
    advantages, _ = give_credit(BATCH, "grpo", CreditConfig(deviation=True), "solver", {})
    assert advantages["d"] == pytest.approx(1.0)
    assert advantages["a"] == pytest.approx(math.sqrt(2))


scored_batches = st.lists(
    st.tuples(st.sampled_from("pqr"), st.integers(1, 3), st.floats(0, 1, width=16)), min_size=1, max_size=30
).map(lambda rows: [Scored(f"t{n}", group, hops, reward) for n, (group, hops, reward) in enumerate(rows)])


@given(scored_batches, st.sampled_from(list(METHODS)), st.randoms(use_true_random=False))
def test_the_order_of_a_batch_changes_nothing(batch: list[Scored], method: str, rng: object) -> None:
    shuffled = list(batch)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    baselines = {"solver": 0.3}
    straight = give_credit(batch, method, CreditConfig(), "solver", baselines)
    assert give_credit(shuffled, method, CreditConfig(), "solver", baselines) == straight


@given(scored_batches, st.booleans())
def test_advantages_of_a_group_add_up_to_nothing(batch: list[Scored], deviation: bool) -> None:
    advantages, _ = give_credit(batch, "grpo", CreditConfig(deviation=deviation), "solver", {})
    for group in {one.group for one in batch}:
        assert sum(advantages[one.id] for one in batch if one.group == group) == pytest.approx(0.0, abs=1e-6)


@given(scored_batches, st.sampled_from(list(METHODS)))
def test_everyone_gets_a_finite_advantage(batch: list[Scored], method: str) -> None:
    advantages, after = give_credit(batch, method, CreditConfig(), "solver", {})
    assert set(advantages) == {one.id for one in batch}
    assert all(math.isfinite(value) for value in [*advantages.values(), *after.values()])


def test_balanced_hop_counts_weigh_the_same_up_to_a_limit() -> None:
    scored = [*(Scored(f"{n}", "g1", 1, 0.0) for n in range(4)), Scored("x", "g2", 2, 0.0), Scored("y", "g2", 2, 0.0)]
    plain = {"0": 1.0, "1": -1.0, "2": 1.0, "3": -1.0, "x": 0.5, "y": -0.5}
    assert balanced(scored, plain, 1.0) == plain
    assert balanced(scored, plain, 3.0) == plain | {"x": 1.5, "y": -1.5}
    assert balanced(scored, plain, 9.0) == plain | {"x": 2.0, "y": -2.0}
    nothing = dict.fromkeys(plain, 0.0)
    assert balanced(scored, nothing, 9.0) == nothing


@given(scored_batches, st.floats(1.0, 10.0))
def test_balancing_keeps_signs_and_only_ever_adds_weight(scored: list[Scored], most: float) -> None:
    plain, _ = give_credit(scored, "grpo", CreditConfig(), "solver", {})
    for name, value in balanced(scored, plain, most).items():
        assert value * plain[name] >= 0.0
        assert abs(plain[name]) <= abs(value) * (1 + 1e-9)
        assert abs(value) <= abs(plain[name]) * most * (1 + 1e-9)
