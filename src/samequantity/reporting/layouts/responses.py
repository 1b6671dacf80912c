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
    audited_key,
    counted_cell,
    interval_data,
    place_cells,
    place_columns,
    place_data,
    share_cell,
    share_data,
    shown_views,
)
from samequantity.reporting.results import Key, Results, Row, Strata
from samequantity.reporting.tabular import ABSENT, Table, assembled, count_text, quarter_text
from samequantity.scoring.measures import Measure

QUARTILES = ("q1", "median", "q3")

UNKNOWN: Row = {"numerator": None, "denominator": None}
NOTHING_COUNTED: Row = {"numerator": 0, "denominator": 0}


def completion_tokens(results: Results, strata: Strata) -> Table:
    """Median [Q1, Q3] of the completion tokens of each family, and how many responses ended at the cap."""
    data, rows = [], []
    for view in shown_views(results, strata):
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
        name=f"completion_tokens{strata.suffix}",
        caption=captions.completion_tokens(results, strata),
        place=place_columns(strata),
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
    """Median [Q1, Q3]."""
    if not tokens:
        return ABSENT
    q1, median, q3 = (quarter_text(Fraction(tokens[point]["estimate"])) for point in QUARTILES)
    return f"{median} [{q1}, {q3}]"


def scientific(results: Results, strata: Strata) -> Table:
    """The scientific-notation table: what the audit recovers, what stays wrong, and what the cap cut off."""
    found = [
        (view, _counted(results, view)) for view in shown_views(results, strata) if view.family is Family.SCIENTIFIC
    ]
    return assembled(
        name=f"scientific{strata.suffix}",
        caption=captions.scientific(results, strata),
        place=place_columns(strata, family=False),
        results=["Views", "Strict", "Recovered", "Audited", "Magnitude drops", "Length-finished", "Without them"],
        rows=[[*place_cells(replace(view, family=None)), *_counted_cells(results, rows)] for view, rows in found],
        data=[
            place_data(key) | share_data(row) | interval_data(results, key)
            for _, rows in found
            for key, row in rows.items()
        ],
        schema={"layer": TEXT, "measure": TEXT} | ESTIMATE,
    )


def _counted(results: Results, strict: Key) -> dict[Key, Row]:
    """The rows of a view in the order of the table's columns; of what is not known, a row of nulls."""
    recovered, read, drops, finished = (
        audited_key(strict, measure)
        for measure in (
            Measure.RECOVERED,
            Measure.VIEW_CORRECTNESS,
            Measure.MAGNITUDE_DROP,
            Measure.FINISHED_CORRECTNESS,
        )
    )
    at_cap = _of_response(strict, Measure.LENGTH_FINISHED)
    found = {key: results.scores[key] for key in (strict, recovered, read, drops)}
    if at_cap not in results.scores:
        return found | dict.fromkeys((at_cap, finished), UNKNOWN)
    # Where every response of a template ended at the cap, score has nothing to count.
    return found | {at_cap: results.scores[at_cap], finished: results.scores.get(finished, NOTHING_COUNTED)}


def _counted_cells(results: Results, rows: Mapping[Key, Row]) -> list[str]:
    strict, _, read, *_ = rows
    asked, recovered, _, drops, at_cap, finished = rows.values()
    return [
        count_text(asked["denominator"]),
        counted_cell(results, strict),
        count_text(recovered["numerator"]),
        counted_cell(results, read),
        count_text(drops["numerator"]),
        ABSENT if at_cap["numerator"] is None else count_text(at_cap["numerator"]),
        share_cell(finished),
    ]


def _of_response(view: Key, measure: Measure) -> Key:
    """What is about the response itself, whatever a parser makes of it."""
    return replace(view, layer=None, measure=measure)
