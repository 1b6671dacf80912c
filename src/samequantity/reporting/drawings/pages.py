"""Where things stand on a figure: pages, panels and text placed in inches from the upper left corner.

Places are computed, not found by a layout engine: that is many times faster, and the same for SVG and PNG.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samequantity.reporting.drawings.style import GRID, LABEL, SETTINGS, SMALL, TITLE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.0
"""Inches: the text width of a two-column page, so that the labels keep their size in print."""

MARGIN = 0.1
"""Inches that stay free at the edges."""

GUTTER = 0.25
"""Inches between two columns of panels."""

_PART = re.compile(r"[^\s\-_/:+]*[\s\-_/:+]*")
"""A piece of a name that a line may end after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A figure as wide as the text, and so many inches high."""

    figure: "Figure"
    height: float

    def axes(self, *, left: float, top: float, width: float, height: float) -> "Axes":
        """An empty panel without axes of its own; `rule_across` draws one, in a fraction of the time."""
        bottom = self.height - top - height
        axes = self.figure.add_axes((left / WIDTH, bottom / self.height, width / WIDTH, height / self.height))
        axes.set_axis_off()
        return axes

    def write(self, left: float, top: float, text: str, *, size: int = LABEL, **look: Any) -> None:
        """Text whose upper left corner is here, or the corner that `ha` and `va` name."""
        # A dollar sign in a user's name would start a formula.
        look = {"ha": "left", "va": "top", "parse_math": False, "fontsize": size, **look}
        self.figure.text(left / WIDTH, 1 - top / self.height, text, **look)

    def legend(self, handles: Sequence["Artist"], labels: Sequence[str]) -> None:
        """One line at the top."""
        self.figure.legend(
            list(handles),
            list(labels),
            loc="upper left",
            bbox_to_anchor=(0, 1),
            ncols=len(labels),
            frameon=False,
            fontsize=LABEL,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Where one system is shown: its title, in lines, at `top`, its panel at `body`; all in inches."""

    system: str
    title: str
    column: int
    left: float
    top: float
    body: float
    width: float


def page(height: float) -> Page:
    """An empty page."""
    from matplotlib.figure import Figure

    return Page(figure=Figure(figsize=(WIDTH, height)), height=height)


def blocks(systems: Sequence[str], *, columns: int, top: float, body: float) -> tuple[list[Block], float]:
    """Places for the systems, row by row, with bodies of one height, and where the last row ends."""
    width = (WIDTH - 2 * MARGIN - GUTTER * (columns - 1)) / columns
    found = []
    for start in range(0, len(systems), columns):
        titles = {system: wrapped(system, width, TITLE, bold=True) for system in systems[start : start + columns]}
        begin = top + max(map(lines_height, titles.values())) + 0.06
        for column, (system, title) in enumerate(titles.items()):
            left = MARGIN + column * (width + GUTTER)
            found.append(Block(system=system, title=title, column=column, left=left, top=top, body=begin, width=width))
        top = begin + body
    return found, top


def lines_height(text: str, size: int = TITLE) -> float:
    """The height of lines of text in inches."""
    return (text.count("\n") + 1) * size * 1.2 / 72


def text_width(text: str, size: int, *, bold: bool = False) -> float:
    """The width of one line of text in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=SETTINGS["font.family"], size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def wrapped(text: str, width: float, size: int, *, bold: bool = False) -> str:
    """Text in lines of at most so many inches, all of it: two names that were cut short could look the same.

    A line ends after a blank or one of - _ / : +, or inside a word that is wider than a line.
    """
    text = " ".join(text.split())
    if text_width(text, size, bold=bold) <= width:
        return text
    lines = [""]
    for part in _PART.findall(text):
        for piece in [part] if text_width(part.rstrip(), size, bold=bold) <= width else part:
            if lines[-1] and text_width((lines[-1] + piece).rstrip(), size, bold=bold) > width:
                lines.append("")
            lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def rule_across(
    axes: "Axes", ticks: Mapping[int, str], *, spans: Sequence[tuple[float, float]], size: int = SMALL
) -> None:
    """A horizontal axis of a panel that is in inches downwards: labels under it, and lines that cross the spans."""
    for top, bottom in spans:
        axes.vlines(list(ticks), top, bottom, color=GRID, linewidth=0.6, zorder=1)
    low = axes.get_ylim()[0]
    axes.hlines([low], *axes.get_xlim(), color="black", linewidth=0.8, clip_on=False)
    for place, label in ticks.items():
        axes.text(place, low + 0.05, label, ha="center", va="top", fontsize=size)


def notice(text: str) -> "Figure":
    """A figure that says in words why there is nothing to draw."""
    said = wrapped(text, WIDTH - 2 * MARGIN, LABEL)
    sheet = page(2 * MARGIN + lines_height(said, LABEL))
    sheet.write(MARGIN, MARGIN, said)
    return sheet.figure


def round_ticks(top: float, *, steps: int = 4) -> list[int]:
    """Whole numbers from 0 to `top`, 1, 2 or 5 times a power of ten apart, with at most so many steps.

    >>> round_ticks(99), round_ticks(3), round_ticks(0)
    ([0, 20, 40, 60, 80], [0, 1, 2, 3], [0])
    """
    distances = (factor * 10**power for power in range(20) for factor in (1, 2, 5))
    return list(range(0, int(top) + 1, next(distance for distance in distances if top < distance * (steps + 1))))
