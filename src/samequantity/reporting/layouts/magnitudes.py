"""Wrong values that are right but for a power of ten: in every family, and in the unit view beside its correctness."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from samequantity.domain.views import Family
from samequantity.reporting import captions
from samequantity.reporting.layouts.entries import (
    COUNT,
    ESTIMATE,
    SHARE,
    TEXT,
    audited,
    counted_cell,
    datum,
    name,
    place,
    place_cells,
    place_data,
    share_data,
    views,
)
from samequantity.reporting.results import Key, Results, Row
from samequantity.reporting.tabular import Table, assembled, count_text
from samequantity.scoring.measures import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Drops:
    """The audited value errors of a family's views, the magnitude drops among them, and these by k."""

    view: Key
    errors: Key
    drops: Key
    by_power: Mapping[int, Row]

    def count(self, size: int) -> int:
        """How many drops have this |k|."""
        return sum(row["numerator"] for power, row in self.by_power.items() if abs(power) == size)

    def data(self, results: Results) -> list[dict[str, object]]:
        """One row for the value errors, one for all drops, and one for each k."""
        return [
            datum(results, self.errors),
            datum(results, self.drops),
            *(place_data(self.drops) | {"k": power} | share_data(row) for power, row in self.by_power.items()),
        ]


def unit_view(results: Results) -> Table:
    """The unit view by template: correctness in both layers, value errors, magnitude drops by |k|."""
    found = [drops for drops in _found(results, by_template=True) if drops.view.family is Family.UNIT]
    data, rows = [], []
    for drops in found:
        rates = [drops.view, audited(drops.view, Measure.VIEW_CORRECTNESS)]
        data += [*(datum(results, key) for key in rates), *drops.data(results)]
        where = [drops.view.system, str(drops.view.template)]
        asked, *counts = _cells(results, drops, _sizes(found))
        rows.append([*where, asked, *(counted_cell(results, key) for key in rates), *counts])
    return assembled(
        name="unit_by_template",
        caption=captions.unit_view(results),
        place=place(by_template=True, family=False),
        results=["Views", "Strict", "Audited", *_headings(_sizes(found))],
        rows=rows,
        data=data,
        schema={"layer": TEXT, "measure": TEXT, "k": COUNT} | ESTIMATE,
    )


def magnitude_drops(results: Results, *, by_template: bool) -> Table:
    """Value errors and magnitude drops of every family, also where there are none."""
    found = _found(results, by_template=by_template)
    sizes = _sizes(found)
    return assembled(
        name=name("magnitude_drops", by_template=by_template),
        caption=captions.magnitude_drops(results, by_template=by_template),
        place=place(by_template=by_template),
        results=["Views", *_headings(sizes)],
        rows=[[*place_cells(drops.view), *_cells(results, drops, sizes)] for drops in found],
        data=[row for drops in found for row in drops.data(results)],
        schema={"measure": TEXT, "k": COUNT} | SHARE,
    )


def _found(results: Results, *, by_template: bool) -> list[Drops]:
    return [_drops(results, view) for view in views(results, by_template=by_template)]


def _drops(results: Results, view: Key) -> Drops:
    whole = audited(view, Measure.MAGNITUDE_DROP)
    by_power = {int(power): row for power, row in results.categories(whole).items()}
    return Drops(
        view=view,
        errors=audited(view, Measure.VALUE_ERROR),
        drops=whole,
        by_power=dict(sorted(by_power.items(), key=lambda found: (abs(found[0]), found[0]))),
    )


def _sizes(found: Iterable[Drops]) -> list[int]:
    """Every |k| that occurs in a table."""
    return sorted({abs(power) for drops in found for power in drops.by_power})


def _headings(sizes: Sequence[int]) -> list[str]:
    return ["Value errors", "Magnitude drops", *(f"|k| = {size}" for size in sizes)]


def _cells(results: Results, drops: Drops, sizes: Sequence[int]) -> list[str]:
    """Views, value errors, magnitude drops, and these by |k|."""
    errors, whole = results.scores[drops.errors], results.scores[drops.drops]
    counts = [errors["denominator"], errors["numerator"], whole["numerator"], *map(drops.count, sizes)]
    return [count_text(count) for count in counts]
