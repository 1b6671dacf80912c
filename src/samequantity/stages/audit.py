"""Stage audit: every strict failure is read again after the fixed rewrite."""

import polars as pl

from samequantity.domain.rewriting import AsteriskBetweenDigits, Audited, second_reading
from samequantity.domain.verdicts import Status
from samequantity.errors import TableError
from samequantity.messages import counted, some
from samequantity.stages.questions import ANSWER_COLUMNS, RESPONSE_COLUMNS, known, named, questions, with_system

SCHEMA = pl.Schema(
    {
        "system": pl.String(),
        "view_id": pl.String(),
        "status": pl.String(),
        "value": pl.String(),
        "final_lines": pl.Int64(),
        "recovered": pl.Boolean(),
        "rewrites": pl.List(pl.String()),
        "magnitude_k": pl.Int64(),
    }
)


def audit(
    views: pl.DataFrame,
    responses: pl.DataFrame,
    answers: pl.DataFrame,
    system: str,
    asterisk: AsteriskBetweenDigits = AsteriskBetweenDigits.KEEP,
) -> pl.DataFrame:
    """One row a response, in the order of the answers; a strict success is carried over.

    `answers` has the columns of `questions.ANSWER_COLUMNS`, as stage parse writes them. TableError for an unknown view
    or status, a view answered or judged twice, an answer without its response, or a response without its answer.
    """
    asked = questions(views)
    known(answers, asked, "answers")
    responded = _responded(with_system(responses, system))
    judged = _once(with_system(answers, system), "answers").select("system", *ANSWER_COLUMNS).rows()
    if missing := [view for name, view, *_ in judged if (name, view) not in responded]:
        raise TableError(f"responses: {counted(missing, 'answer')} without a response: {some(missing)}")
    if left := [view for _, view in responded.keys() - {(name, view) for name, view, *_ in judged}]:
        raise TableError(f"answers: {counted(left, 'response')} that were not parsed: {some(sorted(left))}")
    if strange := sorted({str(status) for _, _, status, *_ in judged} - set(Status)):
        raise TableError(f"answers: unknown status {some(strange)}; there are {', '.join(Status)}")
    rows: list[tuple[object, ...]] = []
    for name, view, status, value, final_lines in judged:
        text, finish_reason = responded[name, view]
        read_again = second_reading(Status(status), text or "", finish_reason, asked[view], asterisk)
        if read_again is None:
            rows.append((name, view, status, value, final_lines, False, [], None))
        else:
            rows.append((name, view, *_audited(read_again)))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _responded(responses: pl.DataFrame) -> dict[tuple[str, str], tuple[str | None, str | None]]:
    """Text and finish reason by system and view; TableError for a view answered twice, of which one was judged."""
    named(responses, "responses")
    rows = _once(responses, "responses").select("system", *RESPONSE_COLUMNS).iter_rows()
    return {(name, view): (text, reason) for name, view, text, reason in rows}


def _once(rows: pl.DataFrame, table: str) -> pl.DataFrame:
    """The rows themselves; TableError when a system's view is there more than once."""
    repeated = rows.filter(pl.struct("system", "view_id").is_duplicated())["view_id"].unique(maintain_order=True)
    if not repeated.is_empty():
        raise TableError(
            f"{table}: {counted(repeated.to_list(), 'view')} answered more than once: {some(repeated.to_list())}"
        )
    return rows


def _audited(audited: Audited) -> tuple[object, ...]:
    """The columns of a strict failure after the audit: status to magnitude_k."""
    verdict = audited.verdict
    return (
        verdict.status,
        None if verdict.value is None else str(verdict.value),
        verdict.final_lines,
        verdict.status is Status.CORRECT,
        list(audited.rewrites),
        audited.magnitude_k,
    )
