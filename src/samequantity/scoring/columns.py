"""The columns of scores and of intervals, which score and bootstrap write and tables and figures read."""

import polars as pl

SCORES = pl.Schema(
    {
        "system": pl.String(),
        "layer": pl.String(),
        "measure": pl.String(),
        "family": pl.String(),
        "template": pl.String(),
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
"""One row a layer, measure, family and template, in the order of `Layer`, `Measure`, `Family`; pooled rows (template
null) stand before the strata, which are sorted by name.

`estimate` is numerator / denominator as text in lowest terms, null over an empty denominator; `absent` then says why
(pooled rows only: a stratum without a view has no row). A family gap has C, T, c and t; its pooled row has the tests.
`marked` belongs to the audited family gaps, `supported` to the strict ones and to the rows h1 and h2. Row h1 counts the
families that support it among those tested; row h2 repeats the strict orbit gap.
"""

INTERVALS = pl.Schema(
    {
        "system": pl.String(),
        "layer": pl.String(),
        "measure": pl.String(),
        "family": pl.String(),
        "template": pl.String(),
        "estimate": pl.String(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "draws": pl.Int64(),
        "dropped_draws": pl.Int64(),
        "method": pl.String(),
    }
)
"""One row a layer, measure, family and template, ordered as the scores are; `estimate` is exact text, as there.

`draws` is null for Wilson; `dropped_draws` counts the draws without a base in the denominator, which enter no
percentile. `low` and `high` are null when every draw was dropped. What has no view in the sample has no row.
"""
