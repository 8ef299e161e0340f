"""Every core type survives the trip through JSON unchanged."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssp.errors import DataError
from ssp.records import SCHEMA, decode, encode
from ssp.types import (
    Attempt,
    Check,
    Doc,
    Episode,
    ErrorRecord,
    Hit,
    Outcome,
    PoolEntry,
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

texts = st.text(max_size=20)
ids = st.text(min_size=1, max_size=8)
said = st.text(min_size=1, max_size=20).filter(str.strip)
finite = st.floats(allow_nan=False, allow_infinity=False)
logprob = st.floats(max_value=0.0, min_value=-1e6)
tokens = st.lists(st.integers(0, 200_000), max_size=6).map(tuple)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | finite | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)

docs = st.builds(Doc, ids, texts, texts)


@st.composite
def searches(draw: st.DrawFn) -> SearchCall:
    hits = [Hit(doc, rank, draw(finite)) for rank, doc in enumerate(draw(st.lists(docs, max_size=3)), start=1)]
    error = None if hits else draw(st.none() | texts)
    return SearchCall(draw(texts), tuple(hits), draw(st.floats(0, 1e6)), error)


@st.composite
def segments(draw: st.DrawFn) -> Segment:
    text, ids_ = draw(texts), draw(tokens)
    if draw(st.booleans()):
        return Segment.from_sample(text, ids_, tuple(draw(logprob) for _ in ids_))
    return Segment.observation(text, ids_)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    status = draw(st.sampled_from(Status))
    return Trajectory(
        id=draw(ids),
        role=draw(st.sampled_from(Role)),
        segments=(Segment.prompt(draw(texts), draw(tokens)), *draw(st.lists(segments(), max_size=3))),
        searches=tuple(draw(st.lists(searches(), max_size=2))),
        status=status,
        policy_version=draw(st.integers(0, 10**6)),
        final=draw(texts) if status is Status.FINISHED else None,
        seconds=draw(st.floats(0, 1e6)),
    )


seeds = st.builds(
    Seed,
    id=ids,
    answer=said,
    aliases=st.lists(said, max_size=2).map(tuple),
    hops=st.integers(1, 9),
    meta=st.dictionaries(texts, json_values, max_size=2),
)
problems = st.builds(
    Problem,
    id=ids,
    seed_id=ids,
    question=said,
    answer=said,
    proposal_id=ids,
    hops=st.integers(1, 5),
    aliases=st.lists(said, max_size=2).map(tuple),
    evidence=st.lists(docs, max_size=2, unique_by=lambda doc: doc.id).map(tuple),
)
verdicts = st.lists(st.builds(Check, ids, st.sampled_from(Outcome), texts), max_size=3).map(
    lambda checks: Verdict.of(tuple(checks))
)


@st.composite
def episodes(draw: st.DrawFn) -> Episode:
    seed, proposal, verdict = draw(seeds), draw(trajectories()), draw(verdicts)
    base = draw(problems)
    problem = Problem(base.id, seed.id, base.question, base.answer, proposal.id, base.hops, base.aliases, base.evidence)
    solutions = draw(st.lists(trajectories(), max_size=2, unique_by=lambda t: t.id))
    solutions = [solution for solution in solutions if solution.id != proposal.id]
    attempts, rewards = [], dict[str, float | None]()
    for solution in solutions:
        answer = draw(st.none() | texts)
        correct = draw(st.none() | st.booleans()) if answer is not None else draw(st.sampled_from([None, False]))
        attempts.append(Attempt(problem.id, solution.id, answer, correct))
        rewards[solution.id] = None if correct is None else draw(finite)
    rewards[proposal.id] = draw(finite) if verdict.outcome is not Outcome.UNDECIDED else None
    return Episode(
        id=draw(ids),
        step=draw(st.integers(0, 10**6)),
        seed=seed,
        proposal=proposal,
        problem=problem,
        verdict=verdict,
        attempts=tuple(attempts),
        solutions=tuple(solutions),
        rewards=rewards,
        errors=tuple(draw(st.lists(st.builds(ErrorRecord, texts, texts), max_size=2))),
        seconds=draw(st.dictionaries(texts, st.floats(0, 1e6), max_size=2)),
    )


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    mask = draw(st.lists(st.booleans(), max_size=6).map(lambda rest: (False, *rest)))
    return Sample(
        id=draw(ids),
        role=draw(st.sampled_from(Role)),
        group=draw(texts),
        policy_version=draw(st.integers(0, 99)),
        token_ids=tuple(draw(st.integers(0, 9999)) for _ in mask),
        mask=mask,
        logprobs=tuple(draw(logprob) if sampled else 0.0 for sampled in mask),
        advantages=tuple(draw(finite) if sampled else 0.0 for sampled in mask),
    )


entries = st.builds(
    PoolEntry, problems, added_step=st.integers(0, 99), attempts=st.integers(5, 9), solved=st.integers(0, 5)
)
states = st.builds(
    RunState,
    seed=st.integers(0, 2**62),
    step=st.integers(0, 99),
    cursor=st.integers(0, 99),
    policy_version=st.integers(0, 99),
    pool=st.lists(entries, max_size=2, unique_by=lambda entry: entry.problem.id).map(tuple),
    baselines=st.dictionaries(texts, finite, max_size=2),
)


@given(
    st.one_of(
        docs, searches(), seeds, segments(), trajectories(), problems, verdicts, episodes(), samples(), entries, states
    )
)
def test_round_trip_is_lossless(record: Any) -> None:
    line = encode(record)
    assert b"\n" not in line
    assert line.startswith(b'{"schema":1,"type":"' + type(record).__name__.encode())
    assert decode(type(record), line) == record


@given(trajectories())
def test_views_have_equal_length_and_agree(trajectory: Trajectory) -> None:
    token_ids, mask, logprobs = trajectory.token_ids, trajectory.mask, trajectory.logprobs
    assert len(token_ids) == len(mask) == len(logprobs)
    assert all(sampled or value == 0.0 for sampled, value in zip(mask, logprobs, strict=True))
    assert sum(mask) == sum(len(s.token_ids) for s in trajectory.segments if s.sampled)
    found = [hit.doc.id for call in trajectory.searches for hit in call.hits]
    assert [doc.id for doc in trajectory.evidence] == list(dict.fromkeys(found))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"nonsense", "not JSON"),
        (b"[1]", "no schema version"),
        (b'{"id":"d"}', "no schema version"),
        (b'{"schema":99,"type":"Doc"}', "reads schema 1"),
        (b'{"schema":1,"type":"Hit"}', "expected a Doc record"),
        (b'{"schema":1,"type":"Doc","id":"d","title":"t"}', "file.jsonl:3: text"),
        (b'{"schema":1,"type":"Doc","id":"","title":"t","text":""}', "needs an id"),
        (b'{"schema":1,"type":"Doc","id":7,"title":"t","text":""}', "valid string"),
    ],
)
def test_bad_records_are_refused_with_place_and_reason(line: bytes, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        decode(Doc, line, "file.jsonl:3")


def test_schema_is_one_until_a_format_changes() -> None:
    assert SCHEMA == 1


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_not_finite_scores_are_refused(score: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Hit(Doc("d", "", ""), 1, score)
