"""Stage import: a transcript's rows find their views and become responses, or an error says which and how many not."""

import hashlib
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samequantity.domain.exchange import FinishReason, finish_reason, folded
from samequantity.engines.channels import split
from samequantity.engines.settings import ReasoningFormat
from samequantity.errors import TableError
from samequantity.stages.audit import audit
from samequantity.stages.parse import parse
from samequantity.stages.responses import RESPONSES_SCHEMA
from samequantity.stages.transcripts import Reading, responses_of
from transcripts import ANYTHING
from worked_cases import Outcome, WorkedCase, worked_cases

READING = Reading(system="theirs")
VIEWS = pl.DataFrame(
    {
        "view_id": ["a-0001/canonical", "a-0001/words", "b-0001/canonical"],
        "prompt": ["Add 1.5 × 10^4 L\nand 2 L.", "Add two.", "What is half of 3?"],
    }
)


def transcript(**columns: object) -> pl.DataFrame:
    """A right answer to each view, the last one first, with these columns changed, or left out where None."""
    frame = VIEWS.with_columns(text=pl.lit("FINAL: 2 liters"), finish_reason=pl.lit("stop")).reverse()
    lists = {name: pl.Series(value) if isinstance(value, list) else pl.lit(value) for name, value in columns.items()}
    return frame.with_columns(**lists).drop(name for name, value in columns.items() if value is None)


def refusal(rows: pl.DataFrame, views: pl.DataFrame = VIEWS, reading: Reading = READING) -> str:
    with pytest.raises(TableError) as caught:
        responses_of(rows, views, reading)
    return str(caught.value)


@pytest.mark.parametrize("key", ["view_id", "prompt"])
def test_a_row_finds_its_view_by_its_id_or_its_prompt(key: str) -> None:
    rows = transcript(text=["b", "a2", "a1"], completion_tokens=[7, None, 9])
    made = responses_of(rows.drop({"view_id", "prompt"} - {key}), VIEWS, READING)

    assert RESPONSES_SCHEMA == made.schema
    assert VIEWS["view_id"].to_list() == made["view_id"].to_list()
    assert ["a1", "a2", "b"] == made["text"].to_list() == made["raw"].to_list()
    assert [0, 1, 2] == made["order"].to_list()
    assert [9, None, 7] == made["completion_tokens"].to_list()
    assert [None] * 3 == made["prompt_tokens"].to_list()
    assert {"theirs"} == set(made["system"])
    assert [hashlib.sha256(prompt.encode()).hexdigest() for prompt in VIEWS["prompt"]] == made[
        "prompt_sha256"
    ].to_list()


@pytest.fixture(scope="module")
def cases() -> list[WorkedCase]:
    """The worked cases but for the largest texts, which test the parser's speed and not this."""
    return [case for case in worked_cases() if sum(times for _, times in case.parts) < 1000]


def test_the_worked_cases_come_through_import_parse_and_audit_as_they_should(cases: list[WorkedCase]) -> None:
    views = pl.DataFrame(
        {
            "view_id": [case.id for case in cases],
            "prompt": [f"Question {case.id}" for case in cases],
            "dimension": [case.dimension for case in cases],
            "canonical_unit": [case.unit for case in cases],
            "expected": [str(case.expected) for case in cases],
        }
    )
    rows = views.select("prompt").with_columns(
        text=pl.Series([case.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for case in cases]),
        finish_reason=pl.Series([case.finish_reason for case in cases]),
    )
    made = responses_of(rows.sample(fraction=1, shuffle=True, seed=1), views, READING)
    answers = parse(views, made, "unused")
    found = {row["view_id"]: row for row in audit(views, made, answers, "unused").rows(named=True)}

    verdicts = {
        case.id: (Outcome.from_row(row), Outcome.from_row(found[case.id]), found[case.id]["magnitude_k"])
        for case, row in zip(cases, answers.rows(named=True), strict=True)
    }
    assert len(cases) > 100
    other = {case.id for case in cases if verdicts[case.id] != (case.strict, case.audited, case.magnitude_k)}
    assert other == {case.id for case in cases if case.finish_reason in ("eos", "end_turn", "STOP")}, "now mapped (Q30)"
    assert len(other) == 3


@given(
    texts=st.lists(
        ANYTHING.filter(lambda text: not set(map(ord, text)) & set(range(0xD800, 0xE000))), min_size=3, max_size=3
    )
)
def test_any_text_is_kept_as_it_is(texts: list[str]) -> None:
    """NUL, line ends of every kind and whatever else there is."""
    made = responses_of(transcript(text=texts), VIEWS, READING)

    assert texts[::-1] == made["text"].to_list() == made["raw"].to_list()


STOP, LENGTH, OTHER = FinishReason
WORDS = {
    STOP: "stop Stop STOP eos EOS end_turn END_TURN eos_token EOS_TOKEN end_of_text COMPLETE complete",
    LENGTH: "length LENGTH limit max_tokens MAX_TOKENS",
    OTHER: "content_filter None null stop_sequence STOP_SEQUENCE word finished tool_calls SAFETY ſtop stop. other",
}
"""What those of public interfaces mean: a caller's stop sequence says nothing of where the model had got to."""


@pytest.mark.parametrize(("word", "meaning"), [(word, meaning) for meaning in WORDS for word in WORDS[meaning].split()])
def test_finish_reasons_are_put_into_our_words_and_kept_as_found(word: str, meaning: FinishReason) -> None:
    made = responses_of(transcript(finish_reason=[word, "stop", "length"]), VIEWS, READING)

    assert ["length", "stop", meaning.value] == made["finish_reason"].to_list()
    assert ["length", "stop", word] == made["raw_finish_reason"].to_list()


@given(word=st.text(max_size=12) | st.sampled_from(" ".join(WORDS.values()).split()).map(str.swapcase))
def test_only_a_known_word_in_whatever_case_means_that_a_response_is_whole(word: str) -> None:
    assert finish_reason(word) is finish_reason(folded(word))
    assert (finish_reason(word) is STOP) is (folded(word) in WORDS[STOP].split())


def test_finish_reasons_of_which_none_is_known_are_an_error_until_somebody_says_what_they_mean() -> None:
    rows = transcript(finish_reason=["DONE", "cut off", "DONE"])
    message = refusal(rows)

    assert 'no finish reason of 3 responses is known to mean stop or length: "DONE" (2), "cut off" (1).' in message
    assert "--finish DONE=stop where it says that the model ended its turn" in message
    for finish, expected in (
        ({"done": STOP}, ["stop", "other", "stop"]),
        ({"done": STOP, "cut off": LENGTH}, ["stop", "length", "stop"]),
        ({"done": OTHER, "cut off": OTHER}, ["other"] * 3),
    ):
        made = responses_of(rows, VIEWS, Reading(system="theirs", finish=finish))
        assert expected == made["finish_reason"].to_list()
        assert ["DONE", "cut off", "DONE"] == made["raw_finish_reason"].to_list()
    assert {"other"} == set(responses_of(transcript(finish_reason="other"), VIEWS, READING)["finish_reason"])
    overruled = responses_of(transcript(finish_reason="stop"), VIEWS, Reading(system="theirs", finish={"stop": LENGTH}))
    assert {"length"} == set(overruled["finish_reason"])


NAN = float("nan")


def test_whole_floats_are_counts_of_tokens() -> None:
    """As pandas writes a column of whole numbers in which one is not known."""
    made = responses_of(transcript(completion_tokens=[7.0, None, NAN], prompt_tokens=[0.0, 2.0**53, 3]), VIEWS, READING)

    assert RESPONSES_SCHEMA == made.schema
    assert ([None, None, 7], [3, 2**53, 0]) == (made["completion_tokens"].to_list(), made["prompt_tokens"].to_list())


@pytest.mark.parametrize("value", [1.5, float("inf"), 2.0**54, -0.5])
def test_a_part_of_a_token_is_refused(value: float) -> None:
    message = refusal(transcript(completion_tokens=[7.0, value, None]))

    assert f"1 value of completion_tokens that no number of tokens has: {value}. " in message
    assert "--column completion_tokens=" in message


@pytest.mark.parametrize(
    ("form", "text", "closed"),
    [
        (ReasoningFormat.THINK, "<think>FINAL: 2 liters or", False),
        (ReasoningFormat.THINK, "<think>a</think>FINAL: 2 liters", True),
        (ReasoningFormat.THINK, "a</think>FINAL: 2 liters", True),
        (ReasoningFormat.THINK, "FINAL: 2 liters\n<think>FINAL: 3 liters", False),
        (ReasoningFormat.THINK, "FINAL: 2 liters", True),
        (ReasoningFormat.BRACKET_THINK, "[THINK]a[/THINK][THINK]FINAL: 2 liters", False),
        (ReasoningFormat.HARMONY, "<|channel|>analysis<|message|>FINAL: 2 liters", False),
        (ReasoningFormat.HARMONY, "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>fin", False),
        (ReasoningFormat.HARMONY, "<|channel|>analysis<|mess", False),
        (ReasoningFormat.HARMONY, "<|channel|>analysis<|message|>FINAL: 2 liters<|return|>", True),
        (ReasoningFormat.HARMONY, "<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>FINAL: 2 l", True),
        (ReasoningFormat.HARMONY, "FINAL: 2 liters", True),
        (ReasoningFormat.NONE, "<think>FINAL: 2 liters", True),
    ],
)
def test_a_response_that_ends_inside_its_reasoning_is_length_finished(
    form: ReasoningFormat, text: str, closed: bool
) -> None:
    reading = Reading(system="theirs", split=partial(split, form=form))
    made = responses_of(transcript(text=text, finish_reason=["stop", "length", "filter"]), VIEWS, reading)

    assert ["other", "length", "stop" if closed else "length"] == made["finish_reason"].to_list()
    assert ["filter", "length", "stop"] == made["raw_finish_reason"].to_list()


def test_finish_reasons_are_never_assumed_unasked() -> None:
    for without in (transcript(finish_reason=None), transcript(finish_reason=""), transcript(finish_reason=[None] * 3)):
        assert "has no finish reasons" in (message := refusal(without))
        assert "--finish-reason stop" in message
        for assumed in FinishReason:
            made = responses_of(without, VIEWS, Reading(system="theirs", assumed=assumed))
            assert ({assumed}, {None}) == (set(made["finish_reason"]), set(made["raw_finish_reason"]))
    some = transcript(finish_reason=["stop", None, ""])
    assert "2 responses of 3 without a finish reason: a-0001/words, a-0001/canonical" in refusal(some)
    message = refusal(some, reading=Reading(system="theirs", assumed=FinishReason.STOP))
    assert "1 of 3 responses have a finish reason of their own. Leave --finish-reason out" in message


def test_reasoning_beside_the_text_lets_the_text_be_null() -> None:
    rows = transcript(text=[None, "FINAL: 2 L", ""], reasoning=["so it is", None, ""])
    made = responses_of(rows, VIEWS, READING)

    assert ["", "FINAL: 2 L", ""] == made["text"].to_list()
    assert ["", "", "so it is"] == made["reasoning"].to_list()
    assert ["", "FINAL: 2 L", None] == made["raw"].to_list(), "what else was generated is not known"
    kept = responses_of(rows.with_columns(raw=pl.Series(["r", None, "s"])), VIEWS, READING)
    assert ["s", "FINAL: 2 L", "r"] == kept["raw"].to_list()


@pytest.mark.parametrize(
    ("form", "raw", "reasoning"),
    [
        (ReasoningFormat.THINK, "<think>1 + 1</think>\nFINAL: 2 liters", "1 + 1"),
        (ReasoningFormat.BRACKET_THINK, "[THINK]FINAL: 3 liters[/THINK]FINAL: 2 liters", "FINAL: 3 liters"),
        (
            ReasoningFormat.HARMONY,
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>FINAL: 2 liters",
            "hm",
        ),
    ],
)
def test_reasoning_within_the_text_is_taken_out_as_the_engines_do(
    form: ReasoningFormat, raw: str, reasoning: str
) -> None:
    reading = Reading(system="theirs", split=partial(split, form=form))
    made = responses_of(transcript(text=raw), VIEWS, reading)

    assert {("FINAL: 2 liters", reasoning, raw)} == set(made.select("text", "reasoning", "raw").rows())
    apart = transcript(text=raw, reasoning=["", "x", None])
    assert "1 response with the reasoning apart already: a-0001/words" in refusal(apart, reading=reading)
    silent = transcript(text=[None, "a", "b"])
    assert "1 response without a text: b-0001/canonical" in refusal(silent, reading=reading)


def test_our_own_responses_come_back_with_the_same_content() -> None:
    ours = responses_of(transcript(completion_tokens=[3, 4, 5], prompt_tokens=9), VIEWS, Reading(system="ours"))
    again = responses_of(ours, VIEWS, READING)

    assert ours.drop("system").equals(again.drop("system"))


def test_views_may_lack_a_response_when_that_is_accepted() -> None:
    message = refusal(transcript().head(1))
    made = responses_of(transcript().head(1), VIEWS, Reading(system="theirs", allow_missing=True))

    assert "no response to 2 of 3 views: a-0001/canonical, a-0001/words" in message
    assert "--allow-missing" in message
    assert "complete_orbits_only" in message
    assert [("b-0001/canonical", 2)] == made.select("view_id", "order").rows()


DOUBLE = pl.concat([transcript(), transcript().head(1)])
PROMPTS = partial(transcript, view_id=None)


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        (transcript(view_id=["x/y", "z", "a-0001/words"], prompt=None), ["2 view ids that", ": x/y, z."]),
        (DOUBLE, ["1 view answered more than once: b-0001/canonical."]),
        (DOUBLE.drop("view_id"), ["1 view answered more than once: b-0001/canonical."]),
        (transcript().clear(), ["holds no row"]),
        (transcript(view_id=None, prompt=None), ["neither view_id nor prompt", "--column prompt="]),
        (transcript(view_id=["b-0001/canonical", None, None], prompt=None), ["2 of 3 rows have no view_id"]),
        (transcript(text=None), ["3 responses without a text"]),
        (transcript(text=["a", None, "b"]), ["1 response without a text: a-0001/words", 'as the text ""']),
        (transcript(completion_tokens=[5, -1, None]), ["1 response with less than no token: a-0001/words"]),
        (transcript(system=["one", "two", "one"]), ["2 systems in the column system: one, two"]),
        (transcript(prompt="Add 3."), ["3 prompts that the view of this id", '"Add 3."', '"What is half of 3?"']),
        (PROMPTS(prompt="Add 3."), ['3 of 3 prompts that no view has: "Add 3."', "Pass the views that were asked"]),
    ],
)  # fmt: skip
def test_rows_that_belong_to_no_view_or_say_too_little_are_counted_and_named(
    rows: pl.DataFrame, parts: list[str]
) -> None:
    message = refusal(rows)

    assert [] == [part for part in parts if part not in message], message


def test_a_prompt_of_several_views_asks_for_their_ids() -> None:
    views = VIEWS.with_columns(prompt=pl.Series(["Same.", "Same.", "Other."]))
    rows = transcript(view_id=None, prompt=["Same.", "Other.", "Other."])

    assert "1 prompt that several views have: a-0001/canonical, a-0001/words" in refusal(rows, views)
    other = views.filter(pl.col("prompt") == "Other.")
    assert 1 == len(responses_of(rows.unique("prompt").filter(pl.col("prompt") == "Other."), other, READING))
    assert "1 view there more than once: a-0001/words" in refusal(transcript(), pl.concat([VIEWS, VIEWS[1:2]]))


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (lambda prompt: prompt.replace("\n", "\r\n"), "1 of them differ in nothing but line ends (CR LF"),
        (lambda prompt: f"{prompt}\n", "3 of them differ in nothing but blanks or line ends at the beginning"),
        (lambda prompt: prompt.replace(" ", "  "), "3 of them differ in nothing but blanks or line ends, in which"),
        (str.upper, "3 of them differ in nothing but capital letters. "),
        (lambda prompt: prompt.replace("1.5", "15").upper(), "2 of them differ in nothing but capital letters. "),
        (lambda prompt: prompt.replace("1.5", "15").replace(".", "!").replace("?", "!"), "Pass the views that were"),
        (lambda prompt: f"<|user|>{prompt}<|end|>", "a view's prompt in it and more around it"),
    ],
)  # fmt: skip
def test_what_sets_prompts_apart_is_said(change: Callable[[str], str], difference: str) -> None:
    prompts = [change(prompt) for prompt in VIEWS["prompt"].reverse()]

    assert difference in refusal(PROMPTS(prompt=prompts))


def test_a_rendered_prompt_beside_the_id_is_taken_for_its_views() -> None:
    rendered = [f"<|user|>{prompt}<|end|>" for prompt in VIEWS["prompt"].reverse()]

    assert transcript().height == responses_of(transcript(prompt=rendered), VIEWS, READING).height


def test_a_value_survives_the_whole_chain() -> None:
    views = VIEWS.with_columns(
        dimension=pl.lit("volume"), canonical_unit=pl.lit("liters"), expected=pl.lit(str(Fraction(2)))
    )
    made = responses_of(transcript(), views, READING)

    assert {("theirs", "correct", "2")} == set(parse(views, made, "x").select("system", "status", "value").rows())
