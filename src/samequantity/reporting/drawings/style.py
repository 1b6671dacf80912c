"""What the figures share: sizes of type, colours, hatches and marks.

Labels are for a page of two columns, on which a figure takes the text width: nothing is smaller than `SMALL`. What has
to be told apart differs in lightness, and beside that in hatch or marker, so that print in grey and colour-blind
readers lose nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family

TITLE, LABEL, SMALL = 10, 9, 8
"""Sizes of type in points: a panel's system, labels, and numbers and notes."""

SETTINGS: Mapping[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "hatch.linewidth": 0.8,
    "svg.fonttype": "path",
    "svg.hashsalt": "samequantity",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the share of a layer or a family in a figure is filled, hatched and marked."""

    label: str
    fill: str
    hatch: str = ""
    marker: str = ""


EDGE = "#1b2a38"
GRID = "#cccccc"
BAND = "#f2f2f2"
"""The ground of every other row."""

FAINT = "#555555"
"""The colour of words that stand in the place of a number."""

LAYERS: Mapping[Layer, Look] = {
    Layer.STRICT: Look(label="strict", fill="#dbe9f4", hatch="////", marker="o"),
    Layer.AUDITED: Look(label="audited", fill="#5596c4", marker="s"),
}

FAMILIES: Mapping[Family, Look] = {
    Family.CANONICAL: Look(label="canonical", fill="#ffffff"),
    Family.FRACTION: Look(label="fraction", fill="#f3df6b", hatch="////"),
    Family.SCIENTIFIC: Look(label="scientific", fill="#bfae6f"),
    Family.PERCENT: Look(label="percent", fill="#8e8a79", hatch="\\\\\\\\"),
    Family.WORDS: Look(label="words", fill="#5d6570", hatch="...."),
    Family.UNIT: Look(label="unit", fill="#123570"),
}
"""From light to dark, along the lightness of cividis."""


def luminance(colour: Sequence[float]) -> float:
    """Relative luminance of an sRGB colour, 0 to 1, as WCAG 2 defines it."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def readable_on(colour: Sequence[float]) -> str:
    """Black or white, whichever has the greater contrast (WCAG 2) on a ground of this colour."""
    ground = luminance(colour) + 0.05
    return "white" if 1.05 / ground > ground / 0.05 else "black"
