"""Figure `correctness`: how often each family of views is answered correctly, with Wilson intervals."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.reporting.drawings.pages import WIDTH, wrapped
from samequantity.reporting.drawings.style import EDGE, GRID, LAYERS
from samequantity.reporting.results import Key, Results
from samequantity.scoring.measures import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_HEIGHT, LOWEST_PANEL = 1.8, 1.3
PAGE_HEIGHT = 8.9
"""Inches; panels are as high as this many allow, within their bounds."""
BAR_WIDTH = 0.36
OFFSETS: Mapping[Layer, float] = {Layer.STRICT: -BAR_WIDTH / 2, Layer.AUDITED: BAR_WIDTH / 2}
INTERVAL_LOOK: Mapping[str, Any] = {"ecolor": "black", "elinewidth": 1.4, "capsize": 3, "capthick": 1.4}


def correctness(results: Results) -> "Figure":
    """One panel a system, one pair of bars a family, with 95 % Wilson intervals and the number of views under it."""
    from matplotlib.figure import Figure

    panels = len(results.systems)
    height = min(PANEL_HEIGHT, max(LOWEST_PANEL, (PAGE_HEIGHT - 0.7) / panels))
    figure = Figure(figsize=(WIDTH, height * panels + 0.7), layout="constrained")
    axes = figure.subplots(panels, 1, squeeze=False)[:, 0]
    for panel, system in zip(axes, results.systems, strict=True):
        _draw_panel(panel, results, system)
    axes[0].errorbar([], [], yerr=[], fmt="none", label="95 % Wilson interval", **INTERVAL_LOOK)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(handles), frameon=False, fontsize=10)
    figure.supylabel("correct / eligible bases", fontsize=10)
    return figure


def _draw_panel(panel: "Axes", results: Results, system: str) -> None:
    for layer, look in LAYERS.items():
        keys = [Key(system=system, layer=layer, measure=Measure.VIEW_CORRECTNESS, family=family) for family in Family]
        places = [place for place, key in enumerate(keys) if key in results.intervals]
        shown = [results.intervals[keys[place]] for place in places]
        rates = [_rate(results, keys[place]) for place in places]
        panel.bar(
            [place + OFFSETS[layer] for place in places],
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
    panel.grid(axis="y", color=GRID, linewidth=0.6)
    panel.set_axisbelow(True)
    # A dollar sign in a user's name would start a formula.
    title = wrapped(system, WIDTH - 1, 11, bold=True)
    panel.set_title(title, loc="left", fontsize=11, fontweight="bold", parse_math=False)


def _rate(results: Results, key: Key) -> float:
    row = results.scores[key]
    return float(row["numerator"] / row["denominator"])


def _family_label(results: Results, system: str, family: Family) -> str:
    """The family with its number of views; both layers judge the same views."""
    key = Key(system=system, layer=Layer.STRICT, measure=Measure.VIEW_CORRECTNESS, family=family)
    views = results.scores[key]["denominator"]
    return f"{family}\nn = {views:,}" if views else f"{family}\nno view"
