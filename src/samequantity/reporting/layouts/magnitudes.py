"""Wrong values that are right but for a power of ten: in every family, and in the unit view beside its correctness."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from samequantity.domain.views import Family
from samequantity.reporting import captions
from samequantity.reporting.layouts.entries import (
    COUNT,
    ESTIMATE,
    SHARE,
    TEXT,
    audited_key,
    counted_cell,
    datum,
    place_cells,
    place_columns,
    place_data,
    share_data,
    shown_views,
)
from samequantity.reporting.results import BY_TEMPLATE, Key, Results, Row, Strata
from samequantity.reporting.tabular import Table, assembled, count_text
from samequantity.scoring.measures import Measure

ByPower = Mapping[int, Row]
"""The magnitude drops of a family's views by k."""


def unit_view(results: Results) -> Table:
    """The unit view by template: correctness in both layers, value errors, magnitude drops by |k|."""
    found = {view: drops for view, drops in _found(results, BY_TEMPLATE).items() if view.family is Family.UNIT}
    sizes = _sizes(found.values())
    data, rows = [], []
    for view, drops in found.items():
        rates = [view, audited_key(view, Measure.VIEW_CORRECTNESS)]
        data += [*(datum(results, key) for key in rates), *_data(results, view, drops)]
        asked, *counts = _counts(results, view, drops, sizes)
        rows.append([view.system, str(view.template), asked, *(counted_cell(results, key) for key in rates), *counts])
    return assembled(
        name="unit_by_template",
        caption=captions.unit_view(results),
        place=place_columns(BY_TEMPLATE, family=False),
        results=["Views", "Strict", "Audited", *_headings(sizes)],
        rows=rows,
        data=data,
        schema={"layer": TEXT, "measure": TEXT, "k": COUNT} | ESTIMATE,
    )


def magnitude_drops(results: Results, strata: Strata) -> Table:
    """Value errors and magnitude drops of every family, also where there are none."""
    found = _found(results, strata)
    sizes = _sizes(found.values())
    return assembled(
        name=f"magnitude_drops{strata.suffix}",
        caption=captions.magnitude_drops(results, strata),
        place=place_columns(strata),
        results=["Views", *_headings(sizes)],
        rows=[[*place_cells(view), *_counts(results, view, drops, sizes)] for view, drops in found.items()],
        data=[row for view, drops in found.items() for row in _data(results, view, drops)],
        schema={"measure": TEXT, "k": COUNT} | SHARE,
    )


def _found(results: Results, strata: Strata) -> Mapping[Key, ByPower]:
    return {view: _by_power(results, view) for view in shown_views(results, strata)}


def _by_power(results: Results, view: Key) -> ByPower:
    """Smallest |k| first, negative before positive."""
    found = {int(k): row for k, row in results.categories(audited_key(view, Measure.MAGNITUDE_DROP)).items()}
    return {power: found[power] for power in sorted(found, key=lambda power: (abs(power), power))}


def _sizes(found: Iterable[ByPower]) -> list[int]:
    """Every |k| that occurs in a table."""
    return sorted({abs(power) for drops in found for power in drops})


def _headings(sizes: Sequence[int]) -> list[str]:
    return ["Value errors", "Magnitude drops", *(f"|k| = {size}" for size in sizes)]


def _counts(results: Results, view: Key, drops: ByPower, sizes: Sequence[int]) -> list[str]:
    """Views, value errors, magnitude drops, and these by |k|."""
    errors, whole = (results.scores[key] for key in _audited(view))
    by_size = [sum(row["numerator"] for power, row in drops.items() if abs(power) == size) for size in sizes]
    return [count_text(count) for count in (errors["denominator"], errors["numerator"], whole["numerator"], *by_size)]


def _data(results: Results, view: Key, drops: ByPower) -> Iterator[dict[str, object]]:
    """One row for the value errors, one for all drops, and one for each k."""
    errors, whole = _audited(view)
    yield from (datum(results, errors), datum(results, whole))
    yield from (place_data(whole) | {"k": power} | share_data(row) for power, row in drops.items())


def _audited(view: Key) -> tuple[Key, Key]:
    """The value errors and the magnitude drops."""
    return audited_key(view, Measure.VALUE_ERROR), audited_key(view, Measure.MAGNITUDE_DROP)
