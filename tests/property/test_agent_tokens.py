"""Whatever documents, questions and models say: tokens, mask and log-probabilities stay aligned, and no text can
speak for anyone else."""

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssp.agents.agent import Budget, SearchAgent, Task
from ssp.agents.prompts import prompt_set
from ssp.agents.protocol import ALL_TAGS, PROTOCOLS
from ssp.engines.codec import HfCodec
from ssp.engines.scripted import ByteCodec, ScriptedEngine
from ssp.errors import EngineError
from ssp.protocols import Codec
from ssp.search.static import StaticSearcher
from ssp.types import Doc, Role, SegmentKind, Trajectory
from tests.models import codec as real_codec

CODECS: dict[str, Codec] = {"bytes": ByteCodec(), "bpe": real_codec()}
marks = st.sampled_from(
    [f"<{slash}{tag}>" for tag in ALL_TAGS for slash in ("", "/")]
    + ["<|user|>", "<|assistant|>", "<|end|>", "<|pad|>", "<", ">", "/", "< /search >", "<SEARCH>", "\ue0000\ue001"]
)
texts = st.lists(st.one_of(marks, st.text(max_size=6)), max_size=10).map("".join)
turns = st.lists(
    st.one_of(
        texts,
        st.just("<search>q</search>"),
        texts.map(lambda text: f"<think>{text}</think><search>q</search>"),
        texts.map(lambda text: f"<answer>{text}</answer>"),
    ),
    max_size=5,
)


@dataclass(frozen=True)
class Game:
    """What a hostile world may contain."""

    question: str
    title: str
    body: str
    said: list[str]


games = st.builds(Game, texts, texts.filter(str.strip), texts, turns)


def play(game: Game, codec: Codec, protocol: str = "search-r1") -> Trajectory:
    doc = Doc("d", game.title, game.body)
    agent = SearchAgent(
        ScriptedEngine.saying(codec, *game.said),
        codec,
        StaticSearcher({"q": [doc]}),
        PROTOCOLS[protocol],
        prompt_set("en"),
        Budget(searches=2, turn_tokens=60),
    )
    return asyncio.run(agent.run(Task("t", Role.SOLVER, {"question": game.question})))


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(game=games)
def test_tokens_mask_and_logprobs_are_aligned(name: str, protocol: str, game: Game) -> None:
    try:
        done = play(game, CODECS[name], protocol)
    except EngineError:  # pragma: no cover
        raise AssertionError("an outage must end a trajectory, not escape from it") from None
    assert len(done.token_ids) == len(done.mask) == len(done.logprobs)
    assert CODECS[name].decode(done.token_ids) == done.transcript
    sampled = [token for token, mine in zip(done.token_ids, done.mask, strict=True) if mine]
    said = [token for segment in done.segments if segment.sampled for token in segment.token_ids]
    assert sampled == said


@given(game=games)
def test_documents_and_questions_make_no_special_token(game: Game) -> None:
    codec = real_codec()
    honest = play(Game("Q?", "T", "body", game.said), codec)
    hostile = play(game, codec)
    special = set(codec.tokenizer.all_special_ids)

    def marks_in(done: Trajectory) -> list[tuple[int, ...]]:
        kinds = (SegmentKind.PROMPT, SegmentKind.OBSERVATION)
        return [tuple(t for t in one.token_ids if t in special) for one in done.segments if one.kind in kinds]

    assert marks_in(hostile) == marks_in(honest)[: len(marks_in(hostile))]


@given(text=texts)
def test_untrusted_text_never_becomes_a_tag_or_a_special_token(text: str) -> None:
    codec = real_codec()
    ids = codec.encode_untrusted(text)
    assert not set(ids) & set(codec.tokenizer.all_special_ids)
    shown = codec.decode(ids)
    assert not any(f"<{slash}{tag}>" in shown for tag in ALL_TAGS for slash in ("", "/"))


@given(text=st.text(max_size=40))
def test_harmless_text_survives(text: str) -> None:
    if "<" not in text:
        shown = real_codec().decode(real_codec().encode_untrusted(text))
        assert shown.removeprefix(" ") == text.removeprefix(" ")


def test_a_slow_tokenizer_is_refused() -> None:
    class Slow:
        is_fast = False
        name_or_path = "old/model"

    with pytest.raises(Exception, match=r"needs a tokenizer\.json"):
        HfCodec(Slow())  # type: ignore[arg-type]
