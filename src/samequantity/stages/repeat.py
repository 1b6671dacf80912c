"""Stage repeat: prompts that were asked again, and how often the same came back (PROTOCOL, section 7)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from samequantity.domain.answers import Question, judge
from samequantity.domain.rewriting import AsteriskBetweenDigits, second_reading
from samequantity.errors import TableError
from samequantity.messages import counted, some
from samequantity.scoring.columns import REPEATS
from samequantity.stages.questions import known, named, questions

COLUMNS = pl.Schema(
    {
        **dict.fromkeys(("system", "view_id"), pl.String()),
        "order": pl.Int64(),
        **dict.fromkeys(("prompt_sha256", "text", "reasoning", "finish_reason"), pl.String()),
    }
)
"""What is read of both tables of responses."""

_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """What was answered to one view the first time and the second."""

    first: _Row
    second: _Row


def repeat(
    views: pl.DataFrame,
    responses: pl.DataFrame,
    again: pl.DataFrame,
    *,
    other_engine: bool = False,
    asterisk: AsteriskBetweenDigits = AsteriskBetweenDigits.KEEP,
) -> pl.DataFrame:
    """Compare the responses in `again` with those to the same views in `responses`; see `REPEATS` for the result.

    `views` has the columns of `questions.VIEW_COLUMNS`, both tables of responses those of `COLUMNS`. The second may be
    another system's. Two answers are identical when the audit finds the same value in both, or none for the same
    reason. With `other_engine`, prompts may have other digests, as those of an engine that renders none have.

    Raises TableError when a table has no row, several systems, a view twice or a null text, and for a second response
    to a view that has no first one, that is unknown, or that was asked by another prompt.
    """
    asked = questions(views)
    first, second = _by_view(responses, "responses"), _by_view(again, "again")
    known(again, asked, "again")
    if stray := sorted(second.keys() - first.keys()):
        raise TableError(
            f"again: {counted(stray, 'view')} that the responses do not answer: {some(stray)}. "
            "Pass the responses of the whole study, and the second ones as --again"
        )
    found = [_Pair(first=row, second=second[view]) for view, row in first.items() if view in second]
    if not other_engine:
        _refuse_other_prompts(found)
    rows = [_row(pair, asked[pair.first["view_id"]], asterisk) for pair in found]
    return pl.DataFrame(rows, schema=REPEATS).sort("order", maintain_order=True)


def _by_view(responses: pl.DataFrame, table: str) -> dict[str, _Row]:
    """The rows of one system by view."""
    if responses.is_empty():
        raise TableError(f"{table}: holds no response")
    systems = responses["system"].unique(maintain_order=True).to_list()
    if len(systems) > 1 or systems[0] is None:
        raise TableError(f"{table}: one system was expected, found {some([str(name) for name in systems])}")
    named(responses, table)
    twice = responses.filter(pl.col("view_id").is_duplicated())["view_id"].unique(maintain_order=True).to_list()
    if twice:
        raise TableError(f"{table}: {counted(twice, 'view')} answered more than once: {some(twice)}")
    if silent := responses.filter(pl.col("text").is_null())["view_id"].to_list():
        raise TableError(
            f"{table}: {counted(silent, 'response')} without a text: {some(silent)}. "
            'Write an empty answer as the text ""; null is none, and two of them are not the same answer'
        )
    return {row["view_id"]: row for row in responses.select(*COLUMNS).iter_rows(named=True)}


def _refuse_other_prompts(found: list[_Pair]) -> None:
    """A digest that neither table tells is no other one."""
    differ = [pair.first["view_id"] for pair in found if pair.first["prompt_sha256"] != pair.second["prompt_sha256"]]
    if differ:
        raise TableError(
            f"again: {counted(differ, 'view')} of {len(found)} asked by another prompt than the first time: "
            f"{some(differ)}. Ask again with the same views, template and settings; or, if another engine rendered the "
            "prompts (a server's cannot be seen), pass --other-engine"
        )


def _row(pair: _Pair, question: Question, asterisk: AsteriskBetweenDigits) -> dict[str, object]:
    first, second = (_told(row, question, asterisk) for row in (pair.first, pair.second))
    return {
        **{name: pair.first[name] for name in ("system", "view_id", "order")},
        "again": pair.second["system"],
        "byte_identical": first["text"] == second["text"],
        "reasoning_identical": (pair.first["reasoning"] or "") == (pair.second["reasoning"] or ""),
        "answer_identical": all(first[name] == second[name] for name in ("status", "value")),
        **first,
        **{f"{name}_again": value for name, value in second.items()},
    }


def _told(response: _Row, question: Question, asterisk: AsteriskBetweenDigits) -> dict[str, str | None]:
    """A response's text and what stages parse and audit make of it."""
    text, finish_reason = response["text"], response["finish_reason"]
    verdict = judge(text, finish_reason, question)
    if (read_again := second_reading(verdict.status, text, finish_reason, question, asterisk)) is not None:
        verdict = read_again.verdict
    return {
        "text": text,
        "status": verdict.status.value,
        "value": None if verdict.value is None else str(verdict.value),
    }
