"""Every alarm is driven by crafted metrics, and none by healthy ones."""

import pytest

from ssp.config import HealthConfig
from ssp.runs.health import RULES, check

HEALTHY = {
    "valid": 0.5,
    "solver/reward_fresh": 0.5,
    "solver/reward_pooled": 0.6,
    "solver/searches": 1.8,
    "solver/mixed": 0.5,
    "update/entropy": 0.3,
    "update/mismatch": 1e-6,
    "proposer/different": 0.95,
    "endings/search_failed": 0.0,
}
SICK = {
    "death_spiral": {"valid": 0.01},
    "saturation": {"solver/reward_fresh": 0.99},
    "tool_abandonment": {"solver/searches": 0.1},
    "entropy_collapse": {"update/entropy": 0.001},
    "duplicates": {"proposer/different": 0.2},
    "pool_overfit": {"solver/reward_fresh": 0.1, "solver/reward_pooled": 0.9},
    "outage": {"endings/engine_failed": 0.3},
    "nothing_to_learn": {"solver/mixed": 0.0},
    "mismatch": {"update/mismatch": 0.4},
}


def test_a_healthy_run_raises_no_alarm() -> None:
    assert check([HEALTHY] * 20, HealthConfig()) == []


def test_every_rule_is_driven_here() -> None:
    assert set(SICK) == {rule.name for rule in RULES}


@pytest.mark.parametrize("name", list(SICK))
def test_each_alarm_rings_alone_and_says_what_to_do(name: str) -> None:
    history = [HEALTHY] * 10 + [HEALTHY | SICK[name]] * 5
    [alarm] = check(history, HealthConfig())
    assert alarm.name == name
    assert alarm.action == "warn"
    assert alarm.hint in str(alarm)
    assert check(history, HealthConfig.model_validate({name: "ignore"})) == []


def test_older_checkpoints_are_needed_for_rolling_back_only() -> None:
    assert HealthConfig().checkpoints_needed == 0
    assert HealthConfig(duplicates="roll-back", window=7).checkpoints_needed == 8


def test_one_bad_step_is_not_a_sickness() -> None:
    assert check([HEALTHY] * 10 + [HEALTHY | {"solver/searches": 0.0}], HealthConfig()) == []


def test_nothing_is_said_before_there_is_something_to_judge() -> None:
    assert check([HEALTHY | SICK["saturation"]] * 3, HealthConfig(window=5)) == []


def test_a_low_valid_rate_from_the_start_is_no_death_spiral() -> None:
    assert check([HEALTHY | {"valid": 0.03}] * 20, HealthConfig()) == []
