"""Figure `magnitude_drops`: residual audited values that are a power of ten off, by that power and family."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.reporting.drawings.pages import (
    MARGIN,
    WIDTH,
    Block,
    Page,
    blocks,
    lines_height,
    notice,
    page,
    round_ticks,
    text_width,
)
from samequantity.reporting.drawings.style import EDGE, FAINT, FAMILIES, GRID, LABEL, SMALL, TITLE
from samequantity.reporting.results import Results
from samequantity.scoring.measures import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT, BELOW = 1.1, 0.4
"""Inches: the height of a plot, and what stands under it."""

FEWEST = 10
"""There is room for so many bars at least, so that a single one is not a wall."""

HALF_A_PAGE = 24
"""So many bars fit half the width of a page; a panel for more of them takes all of it."""

SCALE = 0.4
"""Inches left of a plot for the numbers of its axis."""

GAP = 0.8
"""Between the groups of bars, in widths of a bar."""

AXIS = "number of views by k, where value given × 10ᵏ = value expected (k > 0: given too small)"
ABSENT = (
    "No magnitude drop: after the audit, none of the {wrong:,} readable wrong values ({systems}) is the expected value "
    "times a power of ten."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drops:
    """The residual errors of one system: how many views by k and family, of so many with a wrong value."""

    counts: Mapping[tuple[int, Family], int]
    wrong: int

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def text(self) -> str:
        if not self.wrong:
            return "no readable wrong value"
        plural = "" if self.total == 1 else "s"
        return f"{self.total:,} magnitude drop{plural} among {self.wrong:,} readable wrong values"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """Where bars stand in every panel, in widths of a bar: grouped by k, a slot for each family that any system has."""

    families: Sequence[Family]
    bars: Mapping[tuple[int, Family], float]
    groups: Mapping[int, float]
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What the vertical axes share: their largest number, and room in inches above it, for numbers so turned."""

    top: int
    rotation: int | None
    room: float


def magnitude_drops(results: Results) -> "Figure":
    """One panel a system; all have the same axes, so that they compare, and each bar has its number."""
    found = _drops(results)
    slots = _slots({place for drops in found.values() for place in drops.counts})
    if not slots.families:
        wrong = sum(drops.wrong for drops in found.values())
        return notice(ABSENT.format(wrong=wrong, systems=", ".join(results.systems)))
    columns = 1 if len(results.systems) == 1 or slots.width > HALF_A_PAGE else 2
    body = lines_height("", SMALL) + PLOT + BELOW
    placed, end = blocks(results.systems, columns=columns, top=0.4, body=body)
    sheet = page(end + lines_height(AXIS, LABEL) + MARGIN)
    axis = _axis([count for drops in found.values() for count in drops.counts.values()], slots, placed[0])
    for block in placed:
        _panel(sheet, block, found[block.system], slots, axis)
    sheet.write(WIDTH / 2, end, AXIS, ha="center")
    _legend(sheet, slots.families)
    return sheet.figure


def _drops(results: Results) -> Mapping[str, Drops]:
    """The pooled drops of every system, from one walk over the scores."""
    counts: dict[str, dict[tuple[int, Family], int]] = {system: {} for system in results.systems}
    wrong = dict.fromkeys(results.systems, 0)
    for key, row in results.scores.items():
        if key.layer is not Layer.AUDITED or key.family is None or key.template is not None:
            continue
        if key.measure is Measure.VALUE_ERROR:
            wrong[key.system] += row["numerator"]
        if key.measure is Measure.MAGNITUDE_DROP and key.category is not None:
            counts[key.system][int(key.category), key.family] = row["numerator"]
    # In an order of their own, so that the bytes do not depend on that of the rows.
    return {system: Drops(counts=dict(sorted(counts[system].items())), wrong=wrong[system]) for system in counts}


def _slots(occurring: Set[tuple[int, Family]]) -> Slots:
    families = [family for family in Family if any(family is other for _, other in occurring)]
    bars: dict[tuple[int, Family], float] = {}
    groups: dict[int, float] = {}
    edge = max(GAP, FEWEST - len(occurring) - GAP * (len({power for power, _ in occurring}) - 1)) / 2
    start = edge
    for power in sorted({power for power, _ in occurring}):
        group = [family for family in families if (power, family) in occurring]
        bars |= {(power, family): edge + place + 0.5 for place, family in enumerate(group)}
        groups[power] = edge + len(group) / 2
        edge += len(group) + GAP
    return Slots(families=families, bars=bars, groups=groups, width=edge - GAP + start)


def _axis(counts: Sequence[int], slots: Slots, block: Block) -> Axis:
    """Numbers lie where the widest fits a bar, else they stand, and where not even that fits there are none."""
    bar = (block.width - SCALE) / slots.width
    widest = max(text_width(f"{count:,}", SMALL) for count in counts)
    height = lines_height("", SMALL)
    rotation = 0 if widest < bar else 90 if height < bar else None
    return Axis(top=max(counts), rotation=rotation, room=(height if rotation == 0 else widest) + 0.06)


def _panel(sheet: Page, block: Block, drops: Drops, slots: Slots, axis: Axis) -> None:
    sheet.write(block.left, block.top, block.title, size=TITLE, fontweight="bold")
    sheet.write(block.left, block.body, drops.text, size=SMALL)
    width = block.width - SCALE
    axes = sheet.axes(left=block.left + SCALE, top=block.body + lines_height("", SMALL), width=width, height=PLOT)
    axes.set_xlim(0, slots.width)
    axes.set_ylim(0, axis.top * PLOT / (PLOT - axis.room))
    inch = axes.get_ylim()[1] / PLOT
    left = -0.06 * slots.width / width
    axes.text(left, -0.08 * inch, "k", ha="right", va="top", fontsize=LABEL)
    for power, middle in slots.groups.items():
        axes.text(middle, -0.08 * inch, _signed(power), ha="center", va="top", fontsize=LABEL)
    ticks = round_ticks(axis.top)
    axes.hlines(ticks, 0, slots.width, color=GRID, linewidth=0.6, zorder=0)
    axes.hlines([0], 0, slots.width, color="black", linewidth=0.8, clip_on=False)
    for tick in ticks:
        axes.text(left, tick, f"{tick:,}", ha="right", va="center_baseline", fontsize=SMALL)
    if not drops.counts:
        said: dict[str, Any] = {"ha": "center", "color": FAINT, "fontsize": LABEL, "backgroundcolor": "white"}
        axes.text(slots.width / 2, axis.top / 2, "no magnitude drop", **said)
    for family in slots.families:
        _bars(axes, drops, slots, family, rotation=axis.rotation)


def _bars(axes: "Axes", drops: Drops, slots: Slots, family: Family, *, rotation: int | None) -> None:
    """One family's bars, each with its number where there is room for it."""
    shown = {power: count for (power, other), count in drops.counts.items() if other is family}
    look = FAMILIES[family]
    places = [slots.bars[power, family] for power in shown]
    axes.bar(
        places, list(shown.values()), 1, color=look.fill, edgecolor=EDGE, hatch=look.hatch, linewidth=0.8, label=family
    )
    if rotation is None:
        return
    gap = 0.03 * axes.get_ylim()[1] / PLOT
    for place, count in zip(places, shown.values(), strict=True):
        axes.text(place, count + gap, f"{count:,}", ha="center", va="bottom", rotation=rotation, fontsize=SMALL)


def _signed(power: int) -> str:
    return f"{power:+d}".replace("-", "−")


def _legend(sheet: Page, families: Sequence[Family]) -> None:
    from matplotlib.patches import Patch

    looks = [FAMILIES[family] for family in families]
    handles = [Patch(facecolor=look.fill, edgecolor=EDGE, hatch=look.hatch, linewidth=0.8) for look in looks]
    sheet.legend(handles, [look.label for look in looks])
