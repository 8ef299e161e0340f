"""Reading turns and disarming untrusted text, whatever is thrown at them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssp.agents.prompts import prompt_set
from ssp.agents.protocol import ALL_TAGS, PROTOCOLS, ActionKind, Protocol, neutralise
from ssp.types import Doc

protocols = st.sampled_from(sorted(PROTOCOLS)).map(PROTOCOLS.__getitem__)
finals = st.sampled_from(["answer", "question"])
marks = st.sampled_from([f"<{slash}{tag}>" for tag in ALL_TAGS for slash in ("", "/")])
pieces = st.lists(
    st.one_of(st.text(max_size=8), marks, st.sampled_from(["<", ">", "/", "</", "<|im_end|>", "<|", "|>"])), max_size=10
)
hostile = pieces.map("".join)
harmless = st.text(alphabet=st.characters(exclude_characters="<>", exclude_categories=["Cs"]), max_size=30).filter(
    str.strip
)
SPECIAL = ("<|im_end|>", "<|im_start|>", "</s>")


@given(protocols, finals, harmless, hostile)
def test_a_search_is_read_back(protocol: Protocol, final: str, query: str, before: str) -> None:
    turn = f"<think>{neutralise(before)}</think>{protocol.write_search(query)}"
    action = protocol.read(turn, final)
    assert (action.kind, action.text) == (ActionKind.SEARCH, " ".join(query.split()))


@given(protocols, finals, harmless)
def test_a_final_block_is_read_back(protocol: Protocol, final: str, text: str) -> None:
    action = protocol.read(f"<{final}>{text}</{final}>", final)
    assert (action.kind, action.text) == (ActionKind.FINAL, text.strip())


@given(protocols, finals, hostile)
def test_any_output_is_read_as_something(protocol: Protocol, final: str, turn: str) -> None:
    action = protocol.read(turn, final)
    if action.kind in (ActionKind.SEARCH, ActionKind.FINAL):
        assert action.text.strip()
        assert not any(f"<{tag}>" in action.text or f"</{tag}>" in action.text for tag in protocol.tags)
        closing = protocol.search if action.kind is ActionKind.SEARCH else final
        assert f"</{closing}>" in turn
    if action.kind is ActionKind.NONE:
        assert not any(f"<{tag}>" in turn or f"</{tag}>" in turn for tag in (protocol.search, final))


@given(hostile)
def test_nothing_dangerous_is_left_in_untrusted_text(text: str) -> None:
    clean = neutralise(text, SPECIAL)
    assert neutralise(clean, SPECIAL) == clean
    assert not any(token in clean for token in SPECIAL)
    assert not any(f"<{slash}{tag}>" in clean.lower() for tag in ALL_TAGS for slash in ("", "/"))


@given(st.text(alphabet="abc <>=;\n", max_size=40))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert neutralise(text) == text


@given(protocols, finals, hostile, hostile)
def test_a_document_can_not_speak_for_the_agent(protocol: Protocol, final: str, title: str, body: str) -> None:
    before, after = protocol.frame
    [text] = prompt_set("en").show((Doc("d", title, body),))
    shown = before + neutralise(text, SPECIAL) + after
    assert shown.count(f"</{protocol.observation}>") == 1
    assert protocol.read(shown, final).kind is ActionKind.NONE


@pytest.mark.parametrize(
    ("turn", "complaint"),
    [
        ("<search>x", "not closed"),
        ("x</search>", "without <search>"),
        ("<search>  </search>", "is empty"),
        ("<search><answer>x</search>", "a tag inside"),
    ],
)
def test_malformed_actions_say_what_is_wrong(turn: str, complaint: str) -> None:
    action = PROTOCOLS["search-r1"].read(turn, "answer")
    assert action.kind is ActionKind.MALFORMED
    assert complaint in action.text


@pytest.mark.parametrize("call", ["no json", "[]", '{"name": "open"}', '{"name": "search", "arguments": {"query": 5}}'])
def test_a_tool_call_must_be_a_search(call: str) -> None:
    action = PROTOCOLS["tool-call"].read(f"<tool_call>{call}</tool_call>", "answer")
    assert (action.kind, action.text) == (ActionKind.MALFORMED, "<tool_call> does not hold a query")


def test_the_first_closed_action_decides() -> None:
    read = PROTOCOLS["search-r1"].read
    assert read("<search>a</search><answer>b</answer>", "answer").text == "a"
    assert read("<answer>b</answer><search>a</search>", "answer").text == "b"


def test_where_generation_stops() -> None:
    protocol = PROTOCOLS["r-search"]
    assert protocol.stops("question") == ("</question>", "</search>")
    assert protocol.stops("question", may_search=False) == ("</question>",)
