"""What the responses themselves say, where they were given to score: tokens, the cap, scientific notation beside it."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from samequantity.domain.views import Family
from samequantity.reporting import captions
from samequantity.reporting.layouts.entries import (
    COUNT,
    ESTIMATE,
    NUMBER,
    TEXT,
    audited,
    counted_cell,
    interval_data,
    name,
    place,
    place_cells,
    place_data,
    share_cell,
    share_data,
    views,
)
from samequantity.reporting.results import Key, Results, Row
from samequantity.reporting.tabular import ABSENT, Table, assembled, count_text
from samequantity.scoring.measures import Measure

QUARTILES = ("q1", "median", "q3")

UNKNOWN: Row = {"numerator": None, "denominator": None}
NONE: Row = {"numerator": 0, "denominator": 0}


def completion_tokens(results: Results, *, by_template: bool) -> Table:
    """Median [Q1, Q3] of the completion tokens of each family, and how many responses ended at the cap."""
    data, rows = [], []
    for view in views(results, by_template=by_template):
        at_cap = results.scores.get(_of_response(view, Measure.LENGTH_FINISHED), UNKNOWN)
        tokens = results.categories(_of_response(view, Measure.COMPLETION_TOKENS))
        data.append(
            place_data(view)
            | {
                "responses": results.scores[view]["denominator"],
                "length_finished": at_cap["numerator"],
            }
            | _quartiles(tokens)
        )
        n = count_text(tokens["median"]["denominator"]) if tokens else ABSENT
        rows.append([*place_cells(view), n, _quartile_cell(tokens), share_cell(at_cap)])
    return assembled(
        name=name("completion_tokens", by_template=by_template),
        caption=captions.completion_tokens(results, by_template=by_template),
        place=place(by_template=by_template),
        results=["n", "Median [Q1, Q3]", "Length-finished"],
        rows=rows,
        data=data,
        schema={"responses": COUNT, "length_finished": COUNT, "n": COUNT}
        | dict.fromkeys(QUARTILES, NUMBER)
        | {f"{point}_exact": TEXT for point in QUARTILES},
    )


def _quartiles(tokens: Mapping[str, Row]) -> dict[str, object]:
    """The number of responses whose tokens are known and their quartiles, as numbers and exactly."""
    if not tokens:
        return {}
    exact = {point: tokens[point]["estimate"] for point in QUARTILES}
    numbers = {point: float(Fraction(value)) for point, value in exact.items()}
    return {"n": tokens["median"]["denominator"]} | numbers | {f"{point}_exact": text for point, text in exact.items()}


def _quartile_cell(tokens: Mapping[str, Row]) -> str:
    """Median [Q1, Q3]; quartiles of whole numbers are multiples of a quarter, so that two decimals are exact."""
    if not tokens:
        return ABSENT
    q1, median, q3 = (
        f"{float(Fraction(tokens[point]['estimate'])):,.2f}".rstrip("0").rstrip(".") for point in QUARTILES
    )
    return f"{median} [{q1}, {q3}]"


def scientific(results: Results, *, by_template: bool) -> Table:
    """The scientific-notation table: what the audit recovers, what stays wrong, and what the cap cut off."""
    data, rows = [], []
    for strict in views(results, by_template=by_template):
        if strict.family is not Family.SCIENTIFIC:
            continue
        read, recovered, drops, finished = (
            audited(strict, measure)
            for measure in (
                Measure.VIEW_CORRECTNESS,
                Measure.RECOVERED,
                Measure.MAGNITUDE_DROP,
                Measure.FINISHED_CORRECTNESS,
            )
        )
        at_cap = _of_response(strict, Measure.LENGTH_FINISHED)
        known = {key: results.scores[key] for key in (strict, recovered, read, drops)} | _of_cap(
            results, at_cap, finished
        )
        data += [place_data(key) | share_data(row) | interval_data(results, key) for key, row in known.items()]
        rows.append(
            [
                *place_cells(replace(strict, family=None)),
                count_text(known[strict]["denominator"]),
                counted_cell(results, strict),
                count_text(known[recovered]["numerator"]),
                counted_cell(results, read),
                count_text(known[drops]["numerator"]),
                ABSENT if known[at_cap]["numerator"] is None else count_text(known[at_cap]["numerator"]),
                share_cell(known[finished]),
            ]
        )
    return assembled(
        name=name("scientific", by_template=by_template),
        caption=captions.scientific(results, by_template=by_template),
        place=place(by_template=by_template, family=False),
        results=["Views", "Strict", "Recovered", "Audited", "Magnitude errors", "Length-finished", "Without them"],
        rows=rows,
        data=data,
        schema={"layer": TEXT, "measure": TEXT} | ESTIMATE,
    )


def _of_cap(results: Results, at_cap: Key, finished: Key) -> dict[Key, Row]:
    """How many responses ended at the cap, and how many of the others are correct; null where it is not known."""
    if at_cap not in results.scores:
        return dict.fromkeys((at_cap, finished), UNKNOWN)
    # Where every response of a template ended at the cap, score has nothing to count.
    return {at_cap: results.scores[at_cap], finished: results.scores.get(finished, NONE)}


def _of_response(view: Key, measure: Measure) -> Key:
    """What is about the response itself, whatever a parser makes of it."""
    return replace(view, layer=None, measure=measure)
