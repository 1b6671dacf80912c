"""Stage parse: the strict parser's verdict on every response."""

import polars as pl

from samequantity.domain.answers import judge
from samequantity.stages.questions import RESPONSE_COLUMNS, known, questions, with_system

SCHEMA = pl.Schema(
    {
        "system": pl.String(),
        "view_id": pl.String(),
        "status": pl.String(),
        "value": pl.String(),
        "unit": pl.String(),
        "final_lines": pl.Int64(),
    }
)


def parse(views: pl.DataFrame, responses: pl.DataFrame, system: str) -> pl.DataFrame:
    """One row a response, in the order of the responses.

    `views` has the columns of `questions.VIEW_COLUMNS`, `responses` those of `questions.RESPONSE_COLUMNS`; responses
    without a `system` column are given the name `system`. TableError for a response to an unknown view.
    """
    asked = questions(views)
    known(responses, asked, "responses")
    rows = []
    for name, view, text, finish_reason in (
        with_system(responses, system).select("system", *RESPONSE_COLUMNS).iter_rows()
    ):
        verdict = judge(text or "", finish_reason, asked[view])
        value = None if verdict.value is None else str(verdict.value)
        rows.append((name, view, verdict.status, value, verdict.unit and verdict.unit.name, verdict.final_lines))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
