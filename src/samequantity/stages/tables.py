"""Stage tables: every table of a study, as tidy data and for readers, from the scores and intervals of its systems."""

from collections.abc import Iterator, Sequence
from itertools import product

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.reporting.latex import to_latex
from samequantity.reporting.layouts.comparisons import comparisons as comparisons_table
from samequantity.reporting.layouts.gaps import gaps, hypotheses
from samequantity.reporting.layouts.magnitudes import magnitude_drops, unit_view
from samequantity.reporting.layouts.orbits import orbits
from samequantity.reporting.layouts.published import published as published_table
from samequantity.reporting.layouts.repeats import repeat_check, repeat_differences
from samequantity.reporting.layouts.responses import completion_tokens, scientific
from samequantity.reporting.layouts.tokens import tokens as tokens_table
from samequantity.reporting.layouts.views import correctness, failures, final_lines, rewrites
from samequantity.reporting.paper.publication import Published
from samequantity.reporting.results import BY_TEMPLATE, POOLED, Results, Strata, gather
from samequantity.reporting.tabular import Table, to_csv, to_markdown

BY_VIEW = (correctness, scientific, magnitude_drops, completion_tokens, failures, final_lines, rewrites)
"""Tables of views, each of which has a twin that tells the templates apart."""


def tables(
    scores: pl.DataFrame,
    intervals: pl.DataFrame,
    *,
    comparisons: pl.DataFrame | None = None,
    repeats: pl.DataFrame | None = None,
    tokens: pl.DataFrame | None = None,
    published: Published | None = None,
    systems: Sequence[str] | None = None,
) -> dict[str, bytes | pl.DataFrame]:
    """Every table in four files, keyed by file name, sorted: the data as a frame, and the bytes of three texts.

    `<name>.parquet` and `<name>.csv` hold the same tidy data, `<name>.md` and `<name>.tex` the same cells for readers.
    `scores` and `intervals` are the concatenated results of `score` and `bootstrap`, in any order. `systems` names the
    study's systems in the order to show them, sorted by name without it; one without results is named in the captions.
    `comparisons` are the result of `compare`, `repeats` of `repeat`, `tokens` of `tokens`, `published` the figures of a
    paper; without them, their tables are left out.

    Raises TableError when the frames do not fit each other (`samequantity.reporting.results.gather`).
    """
    results = gather(scores, intervals, systems)
    files: dict[str, bytes | pl.DataFrame] = {}
    for table in (*_of_systems(results), *_beside(results, comparisons, repeats, tokens, published)):
        files |= {
            f"{table.name}.parquet": table.data,
            f"{table.name}.csv": to_csv(table),
            f"{table.name}.md": to_markdown(table),
            f"{table.name}.tex": to_latex(table),
        }
    return dict(sorted(files.items()))


def _of_systems(results: Results) -> Iterator[Table]:
    """What PROTOCOL, section 6, says of each system apart."""
    for strata in (POOLED, BY_TEMPLATE):
        for layer in Layer:
            yield gaps(results, layer, strata)
        for layout in BY_VIEW:
            yield layout(results, strata)
    for by_template, by_size in product((False, True), repeat=2):
        yield orbits(results, Strata(by_template=by_template, by_size=by_size))
    yield unit_view(results)
    yield hypotheses(results)


def _beside(
    results: Results,
    comparisons: pl.DataFrame | None,
    repeats: pl.DataFrame | None,
    tokens: pl.DataFrame | None,
    published: Published | None,
) -> Iterator[Table]:
    """What stands beside the study's own results, where it was given."""
    if comparisons is not None:
        for strata in (POOLED, BY_TEMPLATE):
            yield comparisons_table(comparisons, results, strata)
    if repeats is not None:
        yield repeat_check(repeats, results)
        yield repeat_differences(repeats, results)
    if tokens is not None:
        for strata in (POOLED, BY_TEMPLATE):
            yield tokens_table(tokens, results, strata)
    if published is not None:
        yield published_table(results, published)
