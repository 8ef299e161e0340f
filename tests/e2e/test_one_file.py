"""The edition for reading plays, scores and learns exactly as the package does."""

import json
from pathlib import Path

import pytest
import torch
from examples import ssp_in_one_file as one_file

from ssp.engines.models import load_model
from ssp.records import decode
from ssp.rng import derive
from ssp.runs.ground import FIRST_CHECKPOINT
from ssp.types import Episode, Trajectory
from tests.e2e.conftest import Run


def test_one_step_equals_the_packages(ssp: Run, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """A sample that falls between two tokens to within rounding parts the editions (it did with 24 seeds).

    So another step is tried before this fails. A true difference shows in both.
    """
    try:
        compare_one_step(ssp, request, tmp_path, seeds=20)
    except AssertionError:
        compare_one_step(ssp, request, tmp_path, seeds=21)


def compare_one_step(ssp: Run, request: pytest.FixtureRequest, tmp_path: Path, seeds: int) -> None:
    assert request.config.cache is not None
    cache = request.config.cache.mkdir("warmup")
    settings = ["steps=1", f"game.seeds={seeds}", "game.curriculum=0", "eval.questions=0", f"warmup.cache={cache}"]
    trained = ssp("train", "--json", *(part for one in settings for part in ("--set", one)), timeout=900)
    assert trained.returncode == 0, trained.stderr
    run = tmp_path / json.loads(trained.stdout)["run"]
    episodes = [decode(Episode, line) for line in (run / "episodes.jsonl").read_bytes().splitlines()]

    table, library = (one_file.Table(run / FIRST_CHECKPOINT / "model", run / "index") for _ in range(2))
    learner = one_file.Learner(table.policy, library.policy)
    games = one_file.play_step(table, library, [one.seed for one in episodes], 0, derive(0, "step", 0))
    learner.update(one_file.give_credit(games), 0)

    assert any(one.valid and one.seed.hops == 1 for one in episodes)
    for episode, game in zip(episodes, games, strict=True):
        assert episode.proposal is not None
        assert (not game.reason) == episode.valid, (episode.id, game.reason, episode.verdict)
        assert game.reward == episode.rewards[episode.proposal.id]
        for trajectory, agent in zip(
            (episode.proposal, *episode.solutions), (game.proposer, *game.solvers), strict=True
        ):
            assert_same(trajectory, agent)
    theirs = load_model(run / "checkpoints" / "step-000001" / "model")[0].state_dict()
    start = load_model(run / FIRST_CHECKPOINT / "model")[0].state_dict()
    for name, weights in table.policy.state_dict().items():
        moved = (theirs[name] - start[name]).abs().mean().item()
        assert (weights - theirs[name]).abs().mean().item() < 0.02 * moved + 1e-9, name


def assert_same(trajectory: Trajectory, agent: one_file.Agent) -> None:
    assert tuple(agent.tokens) == trajectory.token_ids
    assert tuple(agent.sampled) == trajectory.mask
    assert agent.final == trajectory.final
    assert torch.allclose(torch.tensor(agent.logprobs), torch.tensor(trajectory.logprobs), atol=1e-4)
