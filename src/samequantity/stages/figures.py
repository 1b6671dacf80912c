"""Stage figures: correctness by family and system, strict and audited side by side, as SVG and PNG.

The bytes depend on the results and on matplotlib's version alone: no date, a fixed salt for the SVG's identifiers,
matplotlib's own style and bundled DejaVu font whatever the user's settings. Text in the SVG is drawn as paths, so that
it looks the same where that font is not installed; the numbers to copy are in the tables.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.reporting.results import Key, Results, gather
from samequantity.scoring.measures import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.0
"""Inches: the text width of a two-column page, so that the labels keep their size in print."""

PANEL_HEIGHT = 1.8
PNG_DPI = 200

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
    """How the bars of a layer are drawn: they differ in lightness and in hatch, so that no colour is needed."""

    label: str
    fill: str
    hatch: str
    offset: float


BAR_WIDTH = 0.36
EDGE = "#1b2a38"
INTERVAL_LOOK: Mapping[str, Any] = {"ecolor": "black", "elinewidth": 1.4, "capsize": 3, "capthick": 1.4}
LOOKS: Mapping[Layer, Look] = {
    Layer.STRICT: Look(label="strict", fill="#dbe9f4", hatch="////", offset=-BAR_WIDTH / 2),
    Layer.AUDITED: Look(label="audited", fill="#5596c4", hatch="", offset=BAR_WIDTH / 2),
}


def figures(scores: pl.DataFrame, intervals: pl.DataFrame, *, systems: Sequence[str] | None = None) -> dict[str, bytes]:
    """Every figure as the bytes of two files, `<name>.svg` and `<name>.png`, keyed by file name, sorted.

    The frames and `systems` are as for `samequantity.stages.tables.tables`; systems without results have no panel.

    Raises TableError when there is no result at all, or when the two frames do not fit each other.
    """
    results = gather(scores, intervals, systems)
    if not results.systems:
        raise TableError(
            "scores: no system has a result, so there is nothing to draw. Run score for one system at least"
        )
    return _drawn(results)


def _drawn(results: Results) -> dict[str, bytes]:
    import matplotlib.style

    with matplotlib.style.context(["default", dict(SETTINGS)]):
        figure = _correctness(results)
        return {
            "correctness.png": _bytes(figure, "png", {"Software": None}),
            "correctness.svg": _bytes(figure, "svg", {"Date": None, "Creator": None}),
        }


def _bytes(figure: "Figure", kind: str, metadata: Mapping[str, None]) -> bytes:
    written = io.BytesIO()
    figure.savefig(written, format=kind, dpi=PNG_DPI, metadata=dict(metadata))
    return written.getvalue()


def _correctness(results: Results) -> "Figure":
    """One panel a system, one pair of bars a family, with 95 % Wilson intervals and the number of views under it."""
    from matplotlib.figure import Figure

    panels = len(results.systems)
    figure = Figure(figsize=(WIDTH, PANEL_HEIGHT * panels + 0.7), layout="constrained")
    axes = figure.subplots(panels, 1, squeeze=False)[:, 0]
    for panel, system in zip(axes, results.systems, strict=True):
        _draw_panel(panel, results, system)
    axes[0].errorbar([], [], yerr=[], fmt="none", label="95 % Wilson interval", **INTERVAL_LOOK)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(handles), frameon=False, fontsize=10)
    figure.supylabel("correct / eligible bases", fontsize=10)
    return figure


def _draw_panel(panel: "Axes", results: Results, system: str) -> None:
    for layer, look in LOOKS.items():
        keys = [Key(system=system, layer=layer, measure=Measure.VIEW_CORRECTNESS, family=family) for family in Family]
        places = [place for place, key in enumerate(keys) if key in results.intervals]
        shown = [results.intervals[keys[place]] for place in places]
        rates = [_rate(results, keys[place]) for place in places]
        panel.bar(
            [place + look.offset for place in places],
            rates,
            BAR_WIDTH,
            label=look.label,
            color=look.fill,
            edgecolor=EDGE,
            hatch=look.hatch,
            linewidth=0.8,
            yerr=[
                [max(0.0, rate - row["low"]) for rate, row in zip(rates, shown, strict=True)],
                [max(0.0, row["high"] - rate) for rate, row in zip(rates, shown, strict=True)],
            ],
            error_kw=dict(INTERVAL_LOOK),
        )
    panel.set_xticks(range(len(Family)), [_family_label(results, system, family) for family in Family])
    panel.tick_params(axis="x", length=0)
    panel.set_xlim(-0.6, len(Family) - 0.4)
    panel.set_ylim(0, 1.04)
    panel.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".50", ".75", "1"])
    panel.grid(axis="y", color="#cccccc", linewidth=0.6)
    panel.set_axisbelow(True)
    # A dollar sign in a user's name would start a formula.
    panel.set_title(system, loc="left", fontsize=11, fontweight="bold", parse_math=False)


def _rate(results: Results, key: Key) -> float:
    row = results.scores[key]
    return float(row["numerator"] / row["denominator"])


def _family_label(results: Results, system: str, family: Family) -> str:
    """The family with its number of views; both layers judge the same views."""
    key = Key(system=system, layer=Layer.STRICT, measure=Measure.VIEW_CORRECTNESS, family=family)
    views = results.scores[key]["denominator"]
    return f"{family}\nn = {views:,}" if views else f"{family}\nno view"
