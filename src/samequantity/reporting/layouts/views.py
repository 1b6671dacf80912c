"""Every view family: correctness, failure codes, FINAL lines, and what the audit rewrote."""

from dataclasses import replace

from samequantity.domain.rewriting import Rewrite
from samequantity.domain.verdicts import Layer, Status
from samequantity.reporting import captions
from samequantity.reporting.layouts.entries import (
    COUNT,
    ESTIMATE,
    SHARE,
    TEXT,
    audited_key,
    both_layers,
    datum,
    place_cells,
    place_columns,
    place_data,
    rate_cell,
    share_cell,
    share_data,
    shown_views,
)
from samequantity.reporting.results import Key, Results, Strata
from samequantity.reporting.tabular import Table, assembled, count_text
from samequantity.scoring.measures import FAILURES, Measure

OUTCOMES = {Status.CORRECT: Measure.VIEW_CORRECTNESS} | {failure: Measure(failure.value) for failure in FAILURES}
"""Correct and the five failure codes, with what counts them, in the order in which the codes apply."""

MANY_LINES = 4
"""Readers see so many FINAL lines and more in one column; the data has each number."""


def correctness(results: Results, strata: Strata) -> Table:
    """The strict and the audited rate of each family, with what the audit recovered."""
    data, rows = [], []
    for strict in shown_views(results, strata):
        read = audited_key(strict, Measure.VIEW_CORRECTNESS)
        recovered = results.scores[audited_key(strict, Measure.RECOVERED)]
        data += [datum(results, strict), datum(results, read) | {"recovered": recovered["numerator"]}]
        rates = [rate_cell(results, strict), rate_cell(results, read)]
        rows.append([*place_cells(strict), *rates, share_cell(recovered)])
    return assembled(
        name=f"correctness{strata.suffix}",
        caption=captions.correctness(results, strata),
        place=place_columns(strata),
        results=["Strict", "Audited", "Recovered"],
        rows=rows,
        data=data,
        schema={"layer": TEXT} | ESTIMATE | {"recovered": COUNT},
    )


def failures(results: Results, strata: Strata) -> Table:
    """How many views of each family were correct and how many failed for which reason."""
    data, rows = [], []
    for correct in both_layers(results, Measure.VIEW_CORRECTNESS, strata):
        found = {status: results.scores[replace(correct, measure=measure)] for status, measure in OUTCOMES.items()}
        data += [place_data(correct) | {"status": status.value} | share_data(row) for status, row in found.items()]
        counts = [results.scores[correct]["denominator"], *(row["numerator"] for row in found.values())]
        rows.append([*place_cells(correct, correct.layer), *map(count_text, counts)])
    return assembled(
        name=f"failures{strata.suffix}",
        caption=captions.failures(results, strata),
        place=place_columns(strata, layer=True),
        results=["Views", *(status.removesuffix("_error").capitalize() for status in OUTCOMES)],
        rows=rows,
        data=data,
        schema={"status": TEXT} | SHARE,
    )


def final_lines(results: Results, strata: Strata) -> Table:
    """How many responses have how many FINAL lines; one line is what was asked for."""
    data, rows = [], []
    for whole in both_layers(results, Measure.FINAL_LINES, strata):
        by_number = {int(lines): row for lines, row in results.categories(whole).items()}
        data += [
            place_data(whole) | {"final_lines": lines} | share_data(by_number[lines]) for lines in sorted(by_number)
        ]
        several = results.scores[whole]
        counts = [by_number[lines]["numerator"] if lines in by_number else 0 for lines in range(MANY_LINES)]
        more = several["denominator"] - sum(counts)
        cells = [count_text(count) for count in (several["denominator"], *counts, more)]
        rows.append([*place_cells(whole, whole.layer), *cells, share_cell(several)])
    return assembled(
        name=f"final_lines{strata.suffix}",
        caption=captions.final_lines(results, strata),
        place=place_columns(strata, layer=True),
        results=["Responses", *map(str, range(MANY_LINES)), f"{MANY_LINES} or more", "More than one"],
        rows=rows,
        data=data,
        schema={"final_lines": COUNT} | SHARE,
    )


def rewrites(results: Results, strata: Strata) -> Table:
    """What the audit rewrote in the strict failures of each family, and how many of them it recovered."""
    used = {whole: results.categories(whole) for whole in results.keys(Layer.AUDITED, Measure.REWRITE, strata)}
    kinds = [
        *dict.fromkeys([*(kind.value for kind in Rewrite), *sorted({kind for row in used.values() for kind in row})])
    ]
    data, rows = [], []
    for whole in used:
        strict = results.scores[replace(whole, layer=Layer.STRICT, measure=Measure.VIEW_CORRECTNESS)]
        asked, failed = strict["denominator"], strict["denominator"] - strict["numerator"]
        counts = [_uses(results, replace(whole, category=kind)) for kind in (None, *kinds)]
        data += [
            place_data(whole)
            | {"rewrite": kind, "used": count, "recovered": recovered, "strict_failures": failed, "views": asked}
            for kind, (count, recovered) in zip((None, *kinds), counts, strict=True)
        ]
        cells = [f"{count_text(count)} ({count_text(recovered)})" for count, recovered in counts]
        rows.append([*place_cells(whole), count_text(asked), count_text(failed), *cells])
    return assembled(
        name=f"rewrites{strata.suffix}",
        caption=captions.rewrites(results, strata),
        place=place_columns(strata),
        results=["Views", "Strict failures", "Any", *(kind.replace("_", " ").capitalize() for kind in kinds)],
        rows=rows,
        data=data,
        schema={"rewrite": TEXT, "used": COUNT, "recovered": COUNT, "strict_failures": COUNT, "views": COUNT},
    )


def _uses(results: Results, key: Key) -> tuple[int, int]:
    """How many views a rewrite was used in, and how many of them were recovered; what never occurs has no row."""
    found = (results.scores.get(replace(key, measure=one)) for one in (Measure.REWRITE, Measure.REWRITE_RECOVERED))
    used, recovered = (0 if row is None else int(row["numerator"]) for row in found)
    return used, recovered
