"""What a model thinks aloud never passes for its answer."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samequantity.engines.channels import Channels, left_open, split
from samequantity.engines.settings import ReasoningFormat

ANSWER = "FINAL: 2 L"

# raw, opened by the prompt, text, reasoning
THINK = [
    pytest.param(f"<think>\nhm\n</think>\n\n{ANSWER}", False, ANSWER, "hm", id="complete"),
    pytest.param(f"<think>\n\n</think>\n\n{ANSWER}", False, ANSWER, "", id="empty"),
    pytest.param(f"hm\n</think>\n\n{ANSWER}", True, ANSWER, "hm", id="opened by the prompt"),
    pytest.param(f"hm\n</think>\n\n{ANSWER}", False, ANSWER, "hm", id="opened by a prompt that we did not see"),
    pytest.param(f"<think>hm</think>{ANSWER}", True, ANSWER, "hm", id="opened twice"),
    pytest.param(f"<think>{ANSWER} or", False, "", f"{ANSWER} or", id="cut while thinking"),
    pytest.param(f"{ANSWER} or", True, "", f"{ANSWER} or", id="cut while thinking in the prompt's block"),
    pytest.param("<think>hm</thi", False, "", "hm</thi", id="cut in the mark"),
    pytest.param("<think>", False, "", "", id="cut after the mark"),
    pytest.param("<think>hm</think>FINAL: ", False, "FINAL: ", "hm", id="cut in the answer"),
    pytest.param(ANSWER, False, ANSWER, "", id="absent"),
    pytest.param("", False, "", "", id="nothing"),
    pytest.param(f"<think>a</think>b\n<think>c</think>{ANSWER}", False, f"b\n{ANSWER}", "a\nc", id="two blocks"),
    pytest.param(f"{ANSWER}\n<think>FINAL: 3 L", False, ANSWER, "FINAL: 3 L", id="a late block"),
]

HARMONY = [
    pytest.param(
        f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>",
        ANSWER,
        "hm",
        id="complete",
    ),
    pytest.param(f"<|channel|>final<|message|>{ANSWER}<|return|>", ANSWER, "", id="final alone"),
    pytest.param(
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json"
        f"<|message|>{{}}<|call|><|start|>assistant<|channel|>final<|message|>{ANSWER}",
        ANSWER,
        "a\n{}",
        id="commentary",
    ),
    pytest.param(f"<|channel|>analysis<|message|>{ANSWER} or", "", f"{ANSWER} or", id="cut while thinking"),
    pytest.param("<|channel|>analysis<|message|>hm<|end|><|start|>assis", "", "hm", id="cut between messages"),
    pytest.param("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>fin", "", "hm", id="cut header"),
    pytest.param("<|channel|>final<|message|>FINAL: ", "FINAL: ", "", id="cut in the answer"),
    pytest.param(
        f"<|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>", ANSWER, "", id="begins with its role"
    ),
    pytest.param(
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=functions.f "
        "<|constrain|>json<|message|>{}<|call|>",
        "",
        "a\n{}",
        id="ends with a call",
    ),
    pytest.param(f"<|channel|>analysis<|message|>{ANSWER}<|return|>", "", ANSWER, id="ends while thinking"),
    pytest.param(f"<|channel|>commentary<|message|>{ANSWER}<|end|>", "", ANSWER, id="commentary alone"),
    pytest.param(f"<|channel|>final <|constrain|>text<|message|>{ANSWER}<|end|>", ANSWER, "", id="final with a form"),
    pytest.param("<|channel|>analysis<|mess", "", "", id="cut in the first header"),
    pytest.param("<|channel|>", "", "", id="cut after the first mark"),
    pytest.param(f"FINAL: 3 L<|channel|>final<|message|>{ANSWER}", ANSWER, "FINAL: 3 L", id="text before"),
    pytest.param(ANSWER, ANSWER, "", id="absent"),
    pytest.param("", "", "", id="nothing"),
]


CUT = {
    "cut while thinking",
    "cut while thinking in the prompt's block",
    "cut in the mark",
    "cut after the mark",
    "a late block",
    "cut between messages",
    "cut header",
    "commentary alone",
    "cut in the first header",
    "cut after the first mark",
}
"""The ids of the cases that end inside their reasoning; one with `<|return|>` or `<|call|>` ended by itself."""


@pytest.fixture
def cut(request: pytest.FixtureRequest) -> bool:
    """Whether this case ends inside its reasoning."""
    return request.node.callspec.id in CUT


@pytest.mark.parametrize(("raw", "opened", "text", "reasoning"), THINK)
def test_think_blocks_are_reasoning(raw: str, opened: bool, text: str, reasoning: str, cut: bool) -> None:
    bracketed = raw.replace("<think>", "[THINK]").replace("</think>", "[/THINK]").replace("</thi", "[/THI")

    found = split(raw, ReasoningFormat.THINK, opened=opened)
    assert Channels(text=text, reasoning=reasoning, cut=cut) == found
    assert replace(found, reasoning=reasoning.replace("</thi", "[/THI")) == split(
        bracketed, ReasoningFormat.BRACKET_THINK, opened=opened
    )


@pytest.mark.parametrize(("raw", "text", "reasoning"), HARMONY)
def test_only_harmonys_final_channel_is_the_answer(raw: str, text: str, reasoning: str, cut: bool) -> None:
    assert Channels(text=text, reasoning=reasoning, cut=cut) == split(raw, ReasoningFormat.HARMONY)


@pytest.mark.parametrize(
    ("form", "raw"),
    [
        (ReasoningFormat.NONE, f"{ANSWER}<|im_end|>"),
        (ReasoningFormat.THINK, f"<think>hm<|im_end|></think>{ANSWER}<|im_end|>"),
        (ReasoningFormat.BRACKET_THINK, f"[THINK]hm[/THINK]{ANSWER}<|im_end|>"),
        (ReasoningFormat.HARMONY, f"<|channel|>final<|message|>{ANSWER}<|im_end|><|return|>"),
    ],
)
def test_no_control_token_stays_in_the_answer(form: ReasoningFormat, raw: str) -> None:
    assert split(raw, form, control=["<|im_end|>"]).text == ANSWER


def test_the_answer_of_a_model_without_reasoning_is_left_as_it_is() -> None:
    assert split(" <think> \n", ReasoningFormat.NONE).text == " <think> \n"


@pytest.mark.parametrize(
    ("prompt", "form", "expected"),
    [
        ("<|im_start|>assistant\n<think>\n", ReasoningFormat.THINK, True),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", ReasoningFormat.THINK, False),
        ("What is <think>? <|im_end|>", ReasoningFormat.THINK, False),
        ("[/INST][THINK]", ReasoningFormat.BRACKET_THINK, True),
        ("<think>", ReasoningFormat.NONE, False),
    ],
)
def test_a_prompt_can_open_the_reasoning(prompt: str, form: ReasoningFormat, expected: bool) -> None:
    assert expected is left_open(prompt, form)


MARKS = ["<think>", "</think>", "[THINK]", "<|channel|>", "<|message|>", "<|end|>", "<|start|>", "final", "a", "\n"]


@given(raw=st.lists(st.sampled_from(MARKS), max_size=12).map("".join), form=st.sampled_from(ReasoningFormat))
def test_whatever_is_generated_nothing_is_invented(raw: str, form: ReasoningFormat) -> None:
    """Every line of an answer or a reasoning occurs in what was generated, and splitting never fails."""
    found = split(raw, form)

    assert all(line in raw for line in (found.text + "\n" + found.reasoning).split("\n"))


def test_a_megabyte_of_marks_is_split_at_once() -> None:
    for raw in ("<|channel|>" * 100_000, "<|channel|>final" * 70_000, "<think>" * 150_000, "<|start|>" * 120_000):
        for form in ReasoningFormat:
            assert len(raw) >= len(split(raw, form).text)


def test_a_long_cut_header_is_read_in_linear_time() -> None:
    """A channel's name that never ends took quadratic time, which at this length would outlast the test's limit."""
    assert Channels(text="", reasoning="", cut=True) == split("<|channel|>" + "x" * 300_000, ReasoningFormat.HARMONY)
