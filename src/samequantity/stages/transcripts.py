"""Stage import: responses that were made elsewhere become a system's responses, as if an engine had answered."""

import hashlib
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import polars as pl

from samequantity.domain.exchange import FinishReason, finish_reason, folded
from samequantity.errors import TableError
from samequantity.messages import counted, some
from samequantity.stages.matching import matched
from samequantity.stages.responses import ORDER, RESPONSES_SCHEMA

COLUMNS = pl.Schema(
    {
        **dict.fromkeys(("view_id", "prompt", "text", "finish_reason", "reasoning", "raw"), pl.String()),
        **dict.fromkeys(("prompt_tokens", "completion_tokens"), pl.Int64()),
    }
)
"""What is read of a transcript: `view_id` or `prompt`, `text`, and of the others what is there."""

TOKENS = ("prompt_tokens", "completion_tokens")
"""Columns of counts, which may come as floats: what pandas makes of whole numbers with a gap."""

_LARGEST = 2**53
"""Beyond it not every whole number is a float."""


class Channels(Protocol):
    """A response taken apart."""

    @property
    def text(self) -> str:
        """The answer."""

    @property
    def reasoning(self) -> str:
        """What was thought aloud."""

    @property
    def cut(self) -> bool:
        """Whether it ends inside its reasoning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a transcript is read.

    `system` is the name that its responses get. `assumed` is the finish reason of them all, where the transcript has
    none. `finish` says what finish reasons mean that are no word of ours, by the word as `folded` writes it. `split`
    takes a text apart, where the transcript's texts hold the reasoning too. `allow_missing` accepts views without a
    response.
    """

    system: str
    assumed: FinishReason | None = None
    finish: Mapping[str, FinishReason] = field(default_factory=dict)
    split: Callable[[str], Channels] | None = None
    allow_missing: bool = False


def responses_of(transcript: pl.DataFrame, views: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The responses table of a transcript, in the views' order; see `RESPONSES_SCHEMA`.

    `views` needs view_id and prompt. `order` is a view's place among them, and `prompt_sha256` that of its prompt's
    text, since how the prompt was rendered is not known. `finish_reason` is the transcript's own as the project calls
    it, `raw_finish_reason` the one that was found there. A response that ends inside its reasoning is `length`, even
    where `stop` stands beside it: no end token is there to see, and what never came to its answer was cut off. `raw` is
    the transcript's, or else its text where nothing says that more was generated. What is not known, as a number of
    tokens, is null.

    Raises TableError, with counts and examples, for rows that belong to no view, to one that has a row already, or to
    several; for a row without a text or a finish reason; for a view without a row; and when no finish reason is known.
    """
    _refuse_several_systems(transcript)
    asked = views.select("view_id", "prompt").with_row_index(ORDER)
    rows = matched(_completed(transcript), asked)
    _refuse_missing(rows, asked, allow_missing=reading.allow_missing)
    _refuse_negative_counts(rows)
    made = _with_channels(_with_finish_reasons(rows, reading), reading).with_columns(
        pl.lit(reading.system).alias("system"),
        pl.Series("prompt_sha256", [hashlib.sha256(prompt.encode()).hexdigest() for prompt in rows["asked"]]),
    )
    return made.select(pl.col(name).cast(kind) for name, kind in RESPONSES_SCHEMA.items()).sort(ORDER)


def _completed(transcript: pl.DataFrame) -> pl.DataFrame:
    """The transcript with all of `COLUMNS`, null where it does not have one; TableError when it holds nothing."""
    if transcript.is_empty():
        raise TableError("transcript: holds no row. Give the file with the responses")
    absent = {name: kind for name, kind in COLUMNS.items() if name not in transcript.columns}
    whole = transcript.with_columns(pl.lit(None, kind).alias(name) for name, kind in absent.items())
    whole = whole.with_columns(_counts(whole[name]) for name in TOKENS if whole[name].dtype.is_float())
    return whole.select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())


def _counts(column: pl.Series) -> pl.Series:
    """A column of floats as whole numbers, not a number as null; TableError for a part of a token."""
    known = column.fill_nan(None)
    strange = known.filter((known.floor() != known) | (known.abs() > _LARGEST))
    if len(strange):
        values = [str(value) for value in strange]
        raise TableError(
            f"transcript: {counted(values, 'value')} of {column.name} that no number of tokens has: {some(values)}. "
            f"Write whole numbers, or leave the column out with --column {column.name}="
        )
    return known.cast(pl.Int64())


def _refuse_several_systems(transcript: pl.DataFrame) -> None:
    names = [] if "system" not in transcript.columns else transcript["system"].unique(maintain_order=True).to_list()
    if len(names) > 1:
        raise TableError(
            f"transcript: {len(names)} systems in the column system: {some([str(name) for name in names])}. "
            "Make a file of each, and import it under its own name"
        )


def _refuse_missing(rows: pl.DataFrame, asked: pl.DataFrame, *, allow_missing: bool) -> None:
    missing = asked.join(rows, on=ORDER, how="anti")["view_id"].to_list()
    if missing and not allow_missing:
        raise TableError(
            f"transcript: no response to {len(missing)} of {counted(asked['view_id'].to_list(), 'view')}: "
            f"{some(missing)}. Ask them too, or accept it with --allow-missing; the study then wants "
            "complete_orbits_only: true, which leaves out the bases that lack a response"
        )


def _refuse_negative_counts(rows: pl.DataFrame) -> None:
    below = rows.filter(pl.any_horizontal(pl.col(*TOKENS) < 0))["view_id"].to_list()
    if below:
        raise TableError(
            f"transcript: {counted(below, 'response')} with less than no token: {some(below)}. "
            "Write null where the number is not known"
        )


def _with_finish_reasons(rows: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The rows with `finish_reason` in our words and `raw_finish_reason` as it was found; "" is none."""
    assumed = reading.assumed
    found = rows.with_columns(pl.col("finish_reason").replace("", None).alias("raw_finish_reason"))
    without = found.filter(pl.col("raw_finish_reason").is_null())["view_id"].to_list()
    if assumed is None and len(without) == len(found):
        raise TableError(
            "transcript: has no finish reasons, without which a response that was cut off passes for a whole one. Name "
            "their column with --column finish_reason=<name>, or assume one for all: --finish-reason stop"
        )
    if assumed is None and without:
        raise TableError(
            f"transcript: {counted(without, 'response')} of {len(found)} without a finish reason: {some(without)}. "
            "Write one; any but stop and what means the same, as unknown, counts as cut off"
        )
    if assumed is None:
        mapped = _mapped(found["raw_finish_reason"], reading.finish)
        return found.with_columns(pl.Series("finish_reason", mapped, pl.String))
    if len(without) < len(found):
        raise TableError(
            f"transcript: {len(found) - len(without)} of {len(found)} responses have a finish reason of their own. "
            "Leave --finish-reason out"
        )
    return found.with_columns(finish_reason=pl.lit(assumed.value))


def _mapped(found: pl.Series, finish: Mapping[str, FinishReason]) -> list[str]:
    """The finish reasons in our words; TableError when not one of them is known, and somebody must say what they mean.

    A word of ours that is `other` is known to be, and so is one that `finish` calls so.
    """
    means = {word: finish.get(folded(word), finish_reason(word)) for word in found.unique()}
    strange = [word for word in means if folded(word) not in finish and folded(word) != FinishReason.OTHER]
    if set(means.values()) == {FinishReason.OTHER} and strange:
        frequent = sorted(found.value_counts().rows(), key=lambda entry: (-entry[1], entry[0]))
        counts = [f"{json.dumps(word[:40], ensure_ascii=False)} ({times})" for word, times in frequent]
        raise TableError(
            f"transcript: no finish reason of {len(found)} responses is known to mean stop or length: {some(counts)}. "
            f"Say what each means: --finish {shlex.quote(frequent[0][0][:40])}=stop where it says that the model ended "
            "its turn, =length where it was cut off at its cap, =other for anything else"
        )
    return [means[word].value for word in found]


def _with_channels(rows: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The rows with `text`, `reasoning` and `raw` as our engines would have given them."""
    thought = pl.col("reasoning").fill_null("") != ""
    if reading.split is not None:
        return _split(rows, reading.split, rows.filter(thought)["view_id"].to_list())
    _refuse_silent(rows.filter(pl.col("text").is_null() & ~thought)["view_id"].to_list())
    whole = pl.when(pl.col("raw").is_not_null()).then(pl.col("raw")).when(~thought).then(pl.col("text"))
    return rows.with_columns(whole.alias("raw"), pl.col("text", "reasoning").fill_null(""))


def _split(rows: pl.DataFrame, split: Callable[[str], Channels], apart: Sequence[str]) -> pl.DataFrame:
    if apart:
        raise TableError(
            f"transcript: {counted(apart, 'response')} with the reasoning apart already: {some(apart)}. "
            "Leave --reasoning-format out"
        )
    _refuse_silent(rows.filter(pl.col("text").is_null())["view_id"].to_list())
    said = [split(text) for text in rows["text"]]
    stopped = pl.col("finish_reason") == FinishReason.STOP.value
    return rows.with_columns(
        pl.when(pl.Series([part.cut for part in said], dtype=pl.Boolean()) & stopped)
        .then(pl.lit(FinishReason.LENGTH.value))
        .otherwise("finish_reason")
        .alias("finish_reason"),
        pl.Series("text", [part.text for part in said], pl.String),
        pl.Series("reasoning", [part.reasoning for part in said], pl.String),
        pl.coalesce("raw", "text").alias("raw"),
    )


def _refuse_silent(views: Sequence[str]) -> None:
    if views:
        raise TableError(
            f"transcript: {counted(views, 'response')} without a text: {some(views)}. "
            'Write an empty answer as the text ""; null is one whose reasoning stands beside it, and no other'
        )
