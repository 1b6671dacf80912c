"""Figure `heatmap`: how often no value could be read from an answer, system by family, before and after the audit.

Why this measure: how often an answer is right stands in figure `correctness`, and what a family loses in `family_gaps`.
What neither shows is how an answer fails, and that tells the layers apart. One from which the canonicalizer reads no
value fails by its form (PROTOCOL, section 1: z is undefined); every other wrong one fails by its value. A cell has the
share of the first and the code that most of them have; the audit repairs what the panels differ by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from samequantity.domain.verdicts import Layer, Status
from samequantity.domain.views import Family
from samequantity.reporting.drawings.pages import GUTTER, MARGIN, WIDTH, lines_height, page, wrapped
from samequantity.reporting.drawings.style import LABEL, SMALL, TITLE, readable_on
from samequantity.reporting.results import Key, Results
from samequantity.scoring.measures import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CODES: Mapping[Status, str] = {
    Status.TRUNCATION_ERROR: "cut off",
    Status.FORMAT_ERROR: "format",
    Status.PARSE_ERROR: "parse",
    Status.UNIT_ERROR: "unit",
}
"""The outcomes without a value, as a cell names them."""

TITLES: Mapping[Layer, str] = {Layer.STRICT: "strict: as written", Layer.AUDITED: "audited: after the rewrite"}
COLOURS = "cividis_r"
"""Its lightness falls steadily from 0 to 1."""

NAMES, HEAD, ROW, LINE = 1.3, 0.78, 0.36, 0.14
"""Inches: the systems' names at the left, what stands above the cells, the lowest row, and a line in a cell."""

BELOW = 0.17
"""Inches from the cells down to the line with the numbers of views."""

SLANTED: Mapping[str, Any] = {"rotation": 40, "rotation_mode": "anchor"}

NOTE = """\
In a cell: the share of the views from which no value could be read, darker for more, and the code that most of them
have: parse, what follows the tag is no number; format, no line begins with the tag; unit, no unit of the asked
dimension; cut off, the response did not end by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A system's row of cells, in inches from the top of the page."""

    system: str
    name: str
    top: float
    height: float

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The views of one system, layer and family, and those without a value by their code."""

    views: int
    failures: Mapping[Status, int]

    @property
    def failed(self) -> int:
        return sum(self.failures.values())

    @property
    def lines(self) -> tuple[str, ...]:
        """The share to three places, ties to even as in the tables, and the first of the most frequent codes."""
        if not self.views:
            return ("no view",)
        if not self.failed:
            return ("0",)
        return f"{Decimal(self.failed) / self.views:.3f}", CODES[max(CODES, key=self.failures.__getitem__)]


def heatmap(results: Results) -> "Figure":
    """A panel a layer, a row a system, a column a family; each cell's share is both printed and coloured."""
    rows = _rows(results.systems)
    end = rows[-1].top + rows[-1].height
    sheet = page(end + 0.32 + lines_height(NOTE, SMALL) + MARGIN)
    for row in rows:
        sheet.write(MARGIN, row.middle, row.name, va="center_baseline")
    sheet.write(MARGIN, end + BELOW, "number of views", size=SMALL, va="baseline")
    width = (WIDTH - 2 * MARGIN - NAMES - GUTTER / 2) / len(TITLES)
    for place, (layer, title) in enumerate(TITLES.items()):
        left = MARGIN + NAMES + place * (width + GUTTER / 2)
        sheet.write(left, MARGIN, title, size=TITLE, fontweight="bold")
        axes = sheet.axes(left=left, top=HEAD, width=width, height=end - HEAD)
        axes.set_xlim(0, len(Family))
        axes.set_ylim(end, HEAD)
        _draw(axes, rows, {row.system: _cells(results, row.system, layer) for row in rows})
    sheet.write(MARGIN, end + 0.32, NOTE, size=SMALL)
    return sheet.figure


def _rows(systems: Sequence[str]) -> list[Row]:
    rows, top = [], HEAD
    for system in systems:
        name = wrapped(system, NAMES - 0.1, LABEL)
        height = max(ROW, lines_height(name, LABEL) + 0.06)
        rows.append(Row(system=system, name=name, top=top, height=height))
        top += height
    return rows


def _cells(results: Results, system: str, layer: Layer) -> list[Cell]:
    """The cells of a row, by family."""
    found = []
    for family in Family:
        counted = {
            code: results.scores[Key(system=system, layer=layer, measure=Measure(code.value), family=family)]
            for code in CODES
        }
        views = counted[Status.PARSE_ERROR]["denominator"]
        found.append(Cell(views=views, failures={code: row["numerator"] for code, row in counted.items()}))
    return found


def _draw(axes: "Axes", rows: Sequence[Row], cells: Mapping[str, Sequence[Cell]]) -> None:
    """The cells of a layer under the families' names and above their numbers of views."""
    from matplotlib import colormaps
    from matplotlib.collections import PolyCollection

    colours = colormaps[COLOURS]
    corners, fills = [], []
    for row in rows:
        for place, cell in enumerate(cells[row.system]):
            fill = colours(cell.failed / cell.views) if cell.views else (1.0, 1.0, 1.0, 1.0)
            low, high = row.top, row.top + row.height
            corners.append([(place, low), (place + 1, low), (place + 1, high), (place, high)])
            fills.append(fill)
            for line, text in enumerate(cell.lines):
                y = row.middle + LINE * (line - len(cell.lines) / 2 + 0.8)
                _write(axes, place + 0.5, y, text, color=readable_on(fill))
    axes.add_collection(PolyCollection(corners, facecolors=fills, edgecolors="white", linewidths=1.5), autolim=False)
    end = rows[-1].top + rows[-1].height
    for place, family in enumerate(Family):
        _write(axes, place + 0.5, HEAD - 0.06, family.value, fontsize=LABEL, ha="left", **SLANTED)
        views = sorted({cells[row.system][place].views for row in rows})
        _write(axes, place + 0.5, end + BELOW, _range(views))


def _range(views: Sequence[int]) -> str:
    """The number of a family's views, from the smallest to the largest where the systems differ."""
    return f"{views[0]:,}" if len(views) == 1 else f"{views[0]:,}–{views[-1]:,}"


def _write(axes: "Axes", x: float, y: float, text: str, **look: Any) -> None:
    axes.text(x, y, text, **{"ha": "center", "va": "baseline", "fontsize": SMALL, **look})
