"""Invariants of the core types, and the worked examples in their docstrings."""

import doctest
import importlib
import pkgutil

import pytest

import ssp
from ssp.types import (
    Attempt,
    Check,
    Doc,
    Episode,
    Hit,
    Outcome,
    Problem,
    Role,
    RunState,
    Sample,
    SearchCall,
    Seed,
    Segment,
    Status,
    Trajectory,
    Verdict,
)

DOC = Doc("d1", "Oakmere", "A town.")
SEED = Seed("s1", "Oakmere")
PROMPT = Segment.prompt("Q?", (1, 2))


def proposal(trajectory_id: str = "t1") -> Trajectory:
    return Trajectory(trajectory_id, Role.PROPOSER, (PROMPT,), (), Status.NO_FINAL, 0)


def problem(seed_id: str = "s1", proposal_id: str = "t1") -> Problem:
    return Problem("p1", seed_id, "Where?", "Oakmere", proposal_id, 1)


def modules() -> list[str]:
    found = pkgutil.walk_packages(ssp.__path__, "ssp.")
    return sorted(module.name for module in found if not module.name.endswith("__main__"))


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", ["Doc", "Seed", "Segment", "Trajectory", "Problem", "Verdict", "Attempt", "Episode"])
def test_core_types_carry_a_worked_example(name: str) -> None:
    assert ">>>" in (getattr(importlib.import_module("ssp.types"), name).__doc__ or "")


def test_hits_are_ranked_from_one() -> None:
    with pytest.raises(ValueError, match="ranked 1, 2"):
        SearchCall("q", (Hit(DOC, 2, 1.0),), 0.0)
    with pytest.raises(ValueError, match="failed search has no hits"):
        SearchCall("q", (Hit(DOC, 1, 1.0),), 0.0, error="down")


def test_seed_needs_an_answer_and_hops() -> None:
    with pytest.raises(ValueError, match="empty answer"):
        Seed("s", "  ")
    with pytest.raises(ValueError, match="0 hops"):
        Seed("s", "a", hops=0)


def test_only_sampled_segments_have_logprobs() -> None:
    with pytest.raises(ValueError, match="one log-probability per token"):
        Segment.from_sample("x", (1, 2), (-0.1,))
    with pytest.raises(ValueError, match="≤ 0"):
        Segment.from_sample("x", (1,), (0.5,))


def test_a_trajectory_has_a_final_block_exactly_when_finished() -> None:
    with pytest.raises(ValueError, match="final block"):
        Trajectory("t", Role.SOLVER, (PROMPT,), (), Status.FINISHED, 0, final=None)
    with pytest.raises(ValueError, match="final block"):
        Trajectory("t", Role.SOLVER, (PROMPT,), (), Status.LENGTH, 0, final="x")
    with pytest.raises(ValueError, match="begin with its prompt"):
        Trajectory("t", Role.SOLVER, (Segment.observation("o", ()),), (), Status.LENGTH, 0)


def test_outages_are_told_from_the_agents_own_endings() -> None:
    outages = {status for status in Status if status.is_outage}
    assert outages == {Status.SEARCH_FAILED, Status.ENGINE_FAILED}


def test_verdict_adds_up_from_its_checks() -> None:
    passed = Verdict.of((Check("format", Outcome.PASSED), Check("rag", Outcome.PASSED)))
    assert (passed.outcome, passed.reason) == (Outcome.PASSED, "")
    undecided = Verdict.of((Check("format", Outcome.PASSED), Check("rag", Outcome.UNDECIDED, "judge down")))
    assert undecided.outcome is Outcome.UNDECIDED
    with pytest.raises(ValueError, match="did not pass"):
        Verdict(Outcome.PASSED, "", (Check("leak", Outcome.REJECTED),))


def test_no_answer_is_never_correct() -> None:
    with pytest.raises(ValueError, match="can't be correct"):
        Attempt("p1", "t1", None, True)


def test_episode_links_by_id() -> None:
    with pytest.raises(ValueError, match="another seed"):
        Episode("e", 0, SEED, proposal(), problem(seed_id="s2"))
    with pytest.raises(ValueError, match="another proposal"):
        Episode("e", 0, SEED, proposal(), problem(proposal_id="t9"))
    with pytest.raises(ValueError, match="without its trajectory"):
        Episode("e", 0, SEED, proposal(), problem(), attempts=(Attempt("p1", "t5", "x", False),))
    with pytest.raises(ValueError, match="pooled problem has no proposal"):
        Episode("e", 0, SEED, proposal(), problem(), pooled=True)


def test_the_undecided_and_the_unjudged_have_no_reward() -> None:
    undecided = Verdict.of((Check("rag", Outcome.UNDECIDED, "down"),))
    with pytest.raises(ValueError, match="undecided proposal has a reward"):
        Episode("e", 0, SEED, proposal(), problem(), undecided, rewards={"t1": 0.0})
    solution = Trajectory("t2", Role.SOLVER, (PROMPT,), (), Status.FINISHED, 0, final="x")
    unjudged = (Attempt("p1", "t2", "x", None),)
    passed = Verdict.of(())
    with pytest.raises(ValueError, match="unjudged attempt has a reward"):
        Episode("e", 0, SEED, proposal(), problem(), passed, unjudged, (solution,), rewards={"t2": 0.0})


def test_samples_have_equal_arrays_and_credit_only_inside_the_mask() -> None:
    with pytest.raises(ValueError, match="unequal length"):
        Sample("t", Role.SOLVER, "g", 0, (1, 2), (False,), (0.0,), (0.0,))
    with pytest.raises(ValueError, match="outside the mask"):
        Sample("t", Role.SOLVER, "g", 0, (1, 2), (False, False), (0.0, 0.0), (0.0, 1.0))
    with pytest.raises(ValueError, match="first token"):
        Sample("t", Role.SOLVER, "g", 0, (1,), (True,), (-0.1,), (1.0,))


def test_numbers_that_json_can_not_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        SearchCall("q", (), float("inf"))
    with pytest.raises(ValueError, match="finite"):
        RunState(0, baselines={"a": float("nan")})
    with pytest.raises(ValueError, match="not JSON compliant"):
        Seed("s", "a", meta={"x": [float("inf")]})
    with pytest.raises(ValueError, match="seconds"):
        Episode("e", 0, SEED, seconds={"propose": float("nan")})
    with pytest.raises(ValueError, match="finite"):
        Trajectory("t", Role.SOLVER, (PROMPT,), (), Status.LENGTH, 0, seconds=float("nan"))
