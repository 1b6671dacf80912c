"""Figure `completion_tokens`: how long the completions are, by family, within each system."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.reporting.drawings.pages import (
    MARGIN,
    Block,
    Page,
    blocks,
    lines_height,
    notice,
    page,
    round_ticks,
    rule_across,
)
from samequantity.reporting.drawings.style import EDGE, FAINT, LAYERS, SMALL, TITLE
from samequantity.reporting.results import Key, Results
from samequantity.scoring.measures import Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW, BELOW = 0.19, 0.36
"""Inches: a family's row, and what stands under the rows."""

LABELS, COUNTS = 0.8, 0.6
"""Inches left of the plot for the families' names, and right of it for the length-finished responses."""

NOTE = """\
Square: median; line: first to third quartile (inclusive). At cap: number of length-finished responses, which would have
been longer. Each system has an axis of its own, since token counts compare within a system only."""
ABSENT = (
    "Completion lengths are not known: the scores were made without the responses, or these say neither how many "
    "tokens they have nor why they ended. Give them to samequantity score as --responses."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """What is known of the completions of one system and family: quartiles in tokens, and how many met the cap."""

    views: int
    quartiles: tuple[float, ...]
    length_finished: int | None

    @property
    def is_known(self) -> bool:
        return bool(self.quartiles) or self.length_finished is not None


def completion_tokens(results: Results) -> "Figure":
    """One panel a system with its own axis, a row a family: median, quartiles and length-finished responses."""
    found = {system: {family: _lengths(results, system, family) for family in Family} for system in results.systems}
    if not any(lengths.is_known for families in found.values() for lengths in families.values()):
        return notice(ABSENT)
    columns = min(2, len(results.systems))
    body = lines_height("", SMALL) + len(Family) * ROW + BELOW
    placed, end = blocks(results.systems, columns=columns, top=MARGIN, body=body)
    sheet = page(end + lines_height(NOTE, SMALL) + MARGIN)
    for block in placed:
        _panel(sheet, block, found[block.system])
    sheet.write(MARGIN, end, NOTE, size=SMALL)
    return sheet.figure


def _lengths(results: Results, system: str, family: Family) -> Lengths:
    shown = Key(system=system, layer=Layer.STRICT, measure=Measure.VIEW_CORRECTNESS, family=family)
    at_cap = results.scores.get(Key(system=system, layer=None, measure=Measure.LENGTH_FINISHED, family=family))
    tokens = Key(system=system, layer=None, measure=Measure.COMPLETION_TOKENS, family=family)
    quartiles = [results.scores.get(replace(tokens, category=name)) for name in ("q1", "median", "q3")]
    return Lengths(
        views=results.scores[shown]["denominator"],
        quartiles=tuple(float(Fraction(row["estimate"])) for row in quartiles if row is not None),
        length_finished=None if at_cap is None else at_cap["numerator"],
    )


def _panel(sheet: Page, block: Block, families: Mapping[Family, Lengths]) -> None:
    """A panel; its vertical axis is in inches from the top of the page."""
    right, top = block.left + block.width, block.body + lines_height("", SMALL)
    sheet.write(block.left, block.top, block.title, size=TITLE, fontweight="bold")
    sheet.write(block.left + LABELS, block.body, "completion tokens", size=SMALL)
    sheet.write(right, block.body, "at cap", size=SMALL, ha="right")
    end = top + len(Family) * ROW
    axes = sheet.axes(left=block.left + LABELS, top=top, width=block.width - LABELS - COUNTS, height=end - top)
    axes.set_ylim(end, top)
    longest = max((lengths.quartiles[-1] for lengths in families.values() if lengths.quartiles), default=0.0)
    axes.set_xlim(0, max(longest, 1) * 1.05)
    rule_across(axes, {tick: f"{tick:,}" for tick in round_ticks(longest)}, spans=[(top, end)])
    for place, (family, lengths) in enumerate(families.items()):
        y = top + (place + 0.5) * ROW
        sheet.write(block.left, y, family.value, va="center_baseline")
        at_cap = "–" if lengths.length_finished is None else f"{lengths.length_finished:,}"
        sheet.write(right, y, at_cap, size=SMALL, ha="right", va="center_baseline")
        if not lengths.quartiles:
            said = "not recorded" if lengths.views else "no view"
            sheet.write(block.left + LABELS + 0.1, y, said, size=SMALL, va="center_baseline", color=FAINT)
    known = [
        (top + (place + 0.5) * ROW, *lengths.quartiles)
        for place, lengths in enumerate(families.values())
        if lengths.quartiles
    ]
    places, firsts, medians, thirds = zip(*known, strict=True) if known else ((), (), (), ())
    axes.hlines(places, firsts, thirds, color=EDGE, linewidth=1.6)
    look = LAYERS[Layer.AUDITED]
    axes.plot(
        medians, places, look.marker, markersize=5, markerfacecolor=look.fill, markeredgecolor=EDGE, clip_on=False
    )
