"""The columns of scores, intervals, comparisons, repeats and tokens: what stages write and tables and figures read."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.scoring.measures import Measure

NO_VIEW = "no view of this family in the sample"
"""Why what is about a family is absent."""

SCORES = pl.Schema(
    {
        "system": pl.String(),
        "layer": pl.String(),
        "measure": pl.String(),
        "family": pl.String(),
        "template": pl.String(),
        "orbit_size": pl.Int64(),
        "category": pl.String(),
        "numerator": pl.Int64(),
        "denominator": pl.Int64(),
        "estimate": pl.String(),
        "canonical_correct": pl.Int64(),
        "transformed_correct": pl.Int64(),
        "canonical_only": pl.Int64(),
        "transformed_only": pl.Int64(),
        "p_value": pl.Float64(),
        "p_holm": pl.Float64(),
        "holm_tests": pl.Int64(),
        "marked": pl.Boolean(),
        "supported": pl.Boolean(),
        "absent": pl.String(),
        "dropped_bases": pl.Int64(),
    }
)
"""One row a layer, measure, family, template, orbit size and category, sorted in this order: layers, measures and
families as `Layer`, `Measure` and `Family` have them, and null, which stands for all of them, first. Only layer null
comes last: it is about the response itself, whatever a parser makes of it.

`orbit_size`, the number of a base's views, splits the measures of orbits. `category` splits counts: `magnitude_drop`
by k (parsed × 10^k = expected), `final_lines` by their number (the row without a category counts the responses with
more than one), `rewrite` and `rewrite_recovered` by the rewrite of the audit, `completion_tokens` into q1, median, q3,
whose estimate is exact and whose numerator is null. Only categories that occur have a row.

`estimate` is otherwise numerator / denominator as text in lowest terms, null over an empty denominator; `absent` then
says why (pooled rows only: a stratum without a view has no row). Gaps have C, T, c and t, where the orbit as a whole
stands for the transformed view of an orbit gap; pooled family gaps have the tests. `marked` belongs to the audited
family gaps, `supported` to the strict ones and to the rows h1 and h2. Row h1 counts the families that support it among
those tested; row h2 repeats the strict orbit gap.
"""

INTERVALS = pl.Schema(
    {
        "system": pl.String(),
        "layer": pl.String(),
        "measure": pl.String(),
        "family": pl.String(),
        "template": pl.String(),
        "orbit_size": pl.Int64(),
        "estimate": pl.String(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "draws": pl.Int64(),
        "dropped_draws": pl.Int64(),
        "method": pl.String(),
    }
)
"""One row a layer, measure, family, template and orbit size, sorted as the scores are; `estimate` is exact, as there.

`draws` is null for Wilson; `dropped_draws` counts the draws without a base in the denominator, which enter no
percentile. `low` and `high` are null when every draw was dropped. What has no view in the sample has no row.
"""

COMPARISONS = pl.Schema(
    {
        "system": pl.String(),
        "reference": pl.String(),
        "layer": pl.String(),
        "measure": pl.String(),
        "family": pl.String(),
        "template": pl.String(),
        "denominator": pl.Int64(),
        "system_numerator": pl.Int64(),
        "system_estimate": pl.String(),
        "reference_numerator": pl.Int64(),
        "reference_estimate": pl.String(),
        "difference": pl.String(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "draws": pl.Int64(),
        "dropped_draws": pl.Int64(),
        "system_only": pl.Int64(),
        "reference_only": pl.Int64(),
        "p_value": pl.Float64(),
        "p_holm": pl.Float64(),
        "holm_tests": pl.Int64(),
        "detectable": pl.Float64(),
        "absent": pl.String(),
        "dropped_bases": pl.Int64(),
    }
)
"""One row a layer, measure, family and template of two systems, sorted as the scores are.

Both systems are counted over the same `denominator`; `difference`, with its interval, is system − reference. The two
estimates and the difference are exact text, null over an empty denominator; `absent` then says why.

`system_only` and `reference_only` are the discordant pairs of a rate, null for gaps. Correctness by family and the
rates of orbits have `p_value`, pooled only; Holm's adjustment covers the families alone. `detectable` belongs to each
test: the smallest difference of rates that it finds with 80 % power at α = .05, given as many discordant pairs as were
observed. It is null with fewer than six of them, since no result would then reach α. `dropped_bases` counts the bases
that are left out because one of the two systems lacks a response.
"""

REPEATS = pl.Schema(
    {
        "system": pl.String(),
        "again": pl.String(),
        "view_id": pl.String(),
        "order": pl.Int64(),
        "byte_identical": pl.Boolean(),
        "reasoning_identical": pl.Boolean(),
        "answer_identical": pl.Boolean(),
        "text": pl.String(),
        "text_again": pl.String(),
        "status": pl.String(),
        "status_again": pl.String(),
        "value": pl.String(),
        "value_again": pl.String(),
    }
)
"""One row a view that was asked again, in the order of the first responses.

`again` names the system of the second responses: `system` itself where it was asked twice. `byte_identical` is about
the texts, the final channel, and `reasoning_identical` about what was thought aloud. An answer is the audited status
and value; `value` is exact text, null where the status has none.
"""

TOKENS = pl.Schema(
    {
        **dict.fromkeys(("system", "view_id", "base_id", "template", "family", "parameter"), pl.String()),
        "rewritten": pl.Boolean(),
        "quantity": pl.String(),
        "unit": pl.String(),
        "tokens": pl.Int64(),
        "tokens_with_unit": pl.Int64(),
        "pieces": pl.List(pl.String()),
        "ids": pl.List(pl.Int32()),
        "prompt_tokens": pl.Int64(),
        "prompt_sha256": pl.String(),
    }
)
"""One row a quantity of a view, in the order of the views and, within one, of its text.

`quantity` is the number as written, with its percent sign and without its unit, which is null where there is none;
`rewritten` says whether the view's family writes this parameter otherwise than the canonical view does. `tokens`,
`pieces` and `ids` are the tokens that share at least one byte with the number, the blank before it included where a
token holds both; `tokens_with_unit` counts those of number and unit together. A piece is text in which a byte that is
no whole character is \\xNN and a backslash is doubled. `prompt_tokens` counts the tokens of the whole rendered prompt.
"""


def place(row: Mapping[str, Any]) -> tuple[object, ...]:
    """Where a row of scores or intervals stands among the others of its system: a key to sort by, see `SCORES`."""
    category = row.get("category")
    return (
        list(Layer).index(row["layer"]) if row["layer"] else len(Layer),
        list(Measure).index(row["measure"]),
        list(Family).index(row["family"]) if row.get("family") else -1,
        row.get("template") or "",
        row.get("orbit_size") or 0,
        (0, 0, "") if category is None else (1, int(category), "") if _is_whole_number(category) else (2, 0, category),
    )


def _is_whole_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
