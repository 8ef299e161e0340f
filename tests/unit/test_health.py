"""Every alarm is driven by crafted metrics, and none by healthy ones."""

import asyncio
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from ssp.config import HealthConfig, load_config
from ssp.errors import SickRun
from ssp.runs.directory import METRICS, RunDirectory
from ssp.runs.health import RULES, Alarm, check, due
from ssp.runs.loop import Loop, stop_if_told

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
    "undecided": 0.0,
    "solver/unjudged": 0.0,
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


def test_a_fall_to_a_fifth_is_a_death_spiral_too() -> None:
    history = [HEALTHY] * 10 + [HEALTHY | {"valid": 0.09}] * 5
    assert [alarm.name for alarm in check(history, HealthConfig())] == ["death_spiral"]


def test_what_was_done_gets_time_to_show() -> None:
    sick = HEALTHY | SICK["duplicates"]
    config = HealthConfig(window=5)
    rings = [bool(due([HEALTHY] * 10 + [sick] * count, config)) for count in range(14)]
    first = rings.index(True)
    assert [count - first for count, ring in enumerate(rings) if ring] == [0, 5, 10]
    assert all(check([HEALTHY] * 10 + [sick] * count, config) for count in range(first, 14))


class _Scene:
    """A sick run in its 15th step, with checkpoints of all steps, and stand-ins that note what is done to them."""

    def __init__(self, folder: Path, action: str) -> None:
        self.done: list[object] = []
        for step in range(16):
            (folder / "checkpoints" / f"step-{step:06d}").mkdir(parents=True)
        run = RunDirectory(folder)
        sick = HEALTHY | SICK["duplicates"]
        run.append(METRICS, [orjson.dumps(one) for one in [*[HEALTHY] * 13, *[sick] * 2]])
        config = load_config(overrides=[f"health.duplicates={action}"])
        here = cast(Any, self)
        self.loop = Loop(config, run, game=here, learner=here, seeds=here, questions={}, watcher=here)
        self.agent = self.engine = self  # the game's, and the agent's

    def alarm(self, step: int, alarm: Alarm) -> None:
        self.done.append((step, alarm.name))

    def roll_back(self, checkpoint: Path) -> None:
        self.done.append(checkpoint.name)

    async def publish(self, engine: object) -> None:
        self.done.append("published" if engine is self else "published elsewhere")

    def mind(self) -> list[Alarm]:
        return asyncio.run(self.loop._mind_health(14))


def test_an_alarm_can_warn_only(tmp_path: Path) -> None:
    scene = _Scene(tmp_path, "warn")
    scene.mind()
    assert scene.done == [(14, "duplicates")]


def test_an_alarm_can_stop_a_run(tmp_path: Path) -> None:
    scene = _Scene(tmp_path, "stop")
    alarms = scene.mind()
    assert scene.done == [(14, "duplicates")]
    with pytest.raises(SickRun, match="stopped after step 15, which is saved: duplicates: only 65% of the valid"):
        stop_if_told(alarms, 15)


def test_an_alarm_can_take_the_weights_back_to_before_the_sickness(tmp_path: Path) -> None:
    scene = _Scene(tmp_path, "roll-back")
    scene.mind()
    assert scene.done == [(14, "duplicates"), "step-000010", "published"]
