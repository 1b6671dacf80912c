"""Figure `family_gaps`: a forest plot of the pooled family gaps, strict and audited, with bootstrap intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import TRANSFORMATIONS
from samequantity.reporting.drawings.pages import MARGIN, WIDTH, Block, Page, blocks, lines_height, page, rule_across
from samequantity.reporting.drawings.style import BAND, EDGE, FAINT, LABEL, LAYERS, SMALL, TITLE
from samequantity.reporting.results import Key, Results
from samequantity.scoring.measures import Measure
from samequantity.scoring.statistics import THRESHOLD_POINTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINEAR = 10
"""Percentage points on either side of zero up to which the axis is linear.

Strict gaps reach from one point to a hundred: on an axis that is linear throughout, the threshold and every interval
near it would be a blot. Beyond, the axis is logarithmic, a decade about as long as from 0 to 10.
"""

TICKS = (-100, -50, -20, -10, -5, 0, THRESHOLD_POINTS, 10, 20, 50, 100)
NARROW_TICKS = (-100, -10, 0, THRESHOLD_POINTS, 10, 100)
ONE_COLUMN = 5
"""Up to so many systems stand one below the other; more of them in two columns, so that the figure fits a page."""

ROW, SPACE = 0.23, 0.1
LABELS, COUNTS = 0.8, 0.95
"""Inches left of the plot for the families' names, and right of it for marks and numbers of bases."""

OFFSETS: Mapping[Layer, float] = {Layer.STRICT: -0.05, Layer.AUDITED: 0.05}
MARKS: Mapping[Layer, str] = {Layer.STRICT: "H1", Layer.AUDITED: "*"}

AXIS = f"canonical − transformed correctness in percentage points; linear up to {LINEAR}, logarithmic beyond"
NOTE = """\
H1: a strict gap of at least 3 points with a Holm-adjusted p below .05. *: an audited gap that exceeds 3 points with a
Holm-adjusted p below .05, descriptive and not H1. n: bases with both views, of all templates together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What is drawn of one gap: its place in inches from the top of the page, itself and its interval in points."""

    layer: Layer
    y: float
    estimate: float
    interval: tuple[float, float] | None
    mark: str

    @property
    def ends(self) -> tuple[float, float]:
        """The part of the axis that it takes."""
        low, high = self.interval or (self.estimate, self.estimate)
        return min(low, self.estimate), max(high, self.estimate)


def family_gaps(results: Results) -> "Figure":
    """One block a system, one row a family, both layers in it; H1 and the marked audited gaps are named."""
    columns = 1 if len(results.systems) <= ONE_COLUMN else 2
    placed, end = blocks(results.systems, columns=columns, top=0.4, body=len(TRANSFORMATIONS) * ROW + SPACE)
    sheet = page(end + 0.5 + lines_height(NOTE, SMALL) + MARGIN)
    gaps = {block.system: list(_gaps(results, block)) for block in placed}
    limits = _limits([end for found in gaps.values() for gap in found for end in gap.ends])
    for column in range(columns):
        shown = [block for block in placed if block.column == column]
        axes = _axes(sheet, shown, end, limits, TICKS if columns == 1 else NARROW_TICKS)
        for block in shown:
            _label(sheet, results, block)
        _draw(axes, [gap for block in shown for gap in gaps[block.system]])
    _legend(sheet)
    sheet.write(WIDTH / 2, end + 0.24, AXIS, ha="center")
    sheet.write(MARGIN, end + 0.5, NOTE, size=SMALL)
    return sheet.figure


def _gaps(results: Results, block: Block) -> Iterator[Gap]:
    for layer in Layer:
        for place, family in enumerate(TRANSFORMATIONS):
            key = Key(system=block.system, layer=layer, measure=Measure.FAMILY_GAP, family=family)
            row = results.scores[key]
            if not row["denominator"]:
                continue
            covered = results.intervals[key]
            yield Gap(
                layer=layer,
                y=_middle(block, place) + OFFSETS[layer],
                estimate=100 * row["numerator"] / row["denominator"],
                interval=None if covered["low"] is None else (100 * covered["low"], 100 * covered["high"]),
                mark=MARKS[layer] if row["supported"] or row["marked"] else "",
            )


def _middle(block: Block, place: int) -> float:
    return block.body + (place + 0.5) * ROW


def _limits(ends: Sequence[float]) -> tuple[float, float]:
    """The ticks just outside of all that is drawn, so that zero and the threshold lie between them."""
    low, high = min([TICKS[4], *ends]), max([LINEAR, *ends])
    return max(tick for tick in TICKS if tick <= low), min(tick for tick in TICKS if tick >= high)


def _axes(sheet: Page, shown: Sequence[Block], end: float, limits: tuple[float, float], ticks: Sequence[int]) -> "Axes":
    """A column of the page: across, the gap; down, inches from the top of the page."""
    first = shown[0]
    axes = sheet.axes(
        left=first.left + LABELS, top=first.body, width=first.width - LABELS - COUNTS, height=end - first.body
    )
    axes.set_ylim(end, first.body)
    axes.set_xscale("symlog", linthresh=LINEAR, linscale=1)
    axes.set_xlim(*limits)
    ticks = [tick for tick in ticks if limits[0] <= tick <= limits[1]]
    spans = [(block.body, block.body + len(TRANSFORMATIONS) * ROW) for block in shown]
    for top, _ in spans:
        for place in range(0, len(TRANSFORMATIONS), 2):
            axes.axhspan(top + place * ROW, top + (place + 1) * ROW, color=BAND, linewidth=0, zorder=0)
    labels = {tick: str(tick).replace("-", "−") for tick in ticks}
    rule_across(axes, labels, spans=spans, size=LABEL)
    tops, bottoms = zip(*spans, strict=True)
    axes.vlines([0] * len(spans), tops, bottoms, color="black", linewidth=1.0, zorder=1.4)
    dashed: dict[str, Any] = {"color": "black", "linewidth": 1.2, "linestyle": (0, (4, 2)), "zorder": 1.5}
    axes.vlines([THRESHOLD_POINTS] * len(spans), tops, bottoms, label=f"{THRESHOLD_POINTS} points", **dashed)
    return axes


def _label(sheet: Page, results: Results, block: Block) -> None:
    """The system, its families, and the number of bases that each gap rests on; both layers judge the same views."""
    sheet.write(block.left, block.top, block.title, size=TITLE, fontweight="bold")
    for place, family in enumerate(TRANSFORMATIONS):
        y = _middle(block, place)
        key = Key(system=block.system, layer=Layer.STRICT, measure=Measure.FAMILY_GAP, family=family)
        bases = results.scores[key]["denominator"]
        said, colour = (f"n = {bases:,}", "black") if bases else ("no view", FAINT)
        sheet.write(block.left, y, family.value, va="center_baseline")
        sheet.write(block.left + block.width, y, said, size=SMALL, ha="right", va="center_baseline", color=colour)


def _draw(axes: "Axes", gaps: Sequence[Gap]) -> None:
    for layer, look in LAYERS.items():
        shown = [gap for gap in gaps if gap.layer is layer]
        covered = [(gap.y, gap.interval) for gap in shown if gap.interval is not None]
        axes.hlines(
            [y for y, _ in covered],
            [low for _, (low, _) in covered],
            [high for _, (_, high) in covered],
            color="black",
            linewidth=1.4,
            zorder=2,
        )
        axes.plot(
            [gap.estimate for gap in shown],
            [gap.y for gap in shown],
            look.marker,
            markersize=5,
            markerfacecolor=look.fill,
            markeredgecolor=EDGE,
            label=look.label,
            clip_on=False,
            zorder=3,
        )
        for gap in shown:
            if gap.mark:
                place = (gap.ends[1], gap.y)
                axes.annotate(gap.mark, place, (4, 0), textcoords="offset points", va="center", fontsize=SMALL)


def _legend(sheet: Page) -> None:
    from matplotlib.lines import Line2D

    marks, names = sheet.figure.axes[0].get_legend_handles_labels()
    interval = Line2D([], [], color="black", linewidth=1.4)
    sheet.legend([*marks[1:], interval, marks[0]], [*names[1:], "95 % bootstrap interval", names[0]])
