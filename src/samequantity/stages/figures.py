"""Stage figures: what the scores and intervals say, drawn as SVG and PNG.

The bytes depend on the results and on matplotlib's version alone: no date, a fixed salt for the SVG's identifiers,
matplotlib's own style and bundled DejaVu font whatever the user's settings. Text in the SVG is drawn as paths, so that
it looks the same where that font is not installed; the numbers to copy are in the tables.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from samequantity.errors import TableError
from samequantity.reporting.drawings.completion_tokens import completion_tokens
from samequantity.reporting.drawings.correctness import correctness
from samequantity.reporting.drawings.family_gaps import family_gaps
from samequantity.reporting.drawings.heatmap import heatmap
from samequantity.reporting.drawings.magnitude_drops import magnitude_drops
from samequantity.reporting.drawings.style import SETTINGS
from samequantity.reporting.results import Results, gather

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PNG_DPI = 200

DRAWINGS: Mapping[str, "Callable[[Results], Figure]"] = {
    "completion_tokens": completion_tokens,
    "correctness": correctness,
    "family_gaps": family_gaps,
    "heatmap": heatmap,
    "magnitude_drops": magnitude_drops,
}
"""Every figure by its name."""


def figures(scores: pl.DataFrame, intervals: pl.DataFrame, *, systems: Sequence[str] | None = None) -> dict[str, bytes]:
    """Every figure as the bytes of two files, `<name>.svg` and `<name>.png`, keyed by file name, sorted.

    The frames and `systems` are as for `samequantity.stages.tables.tables`; systems without results are not drawn.

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

    found: dict[str, bytes] = {}
    with matplotlib.style.context(["default", dict(SETTINGS)]):
        for name, drawing in sorted(DRAWINGS.items()):
            figure = drawing(results)
            found |= {f"{name}.png": _png(figure), f"{name}.svg": _svg(figure)}
    return found


def _png(figure: "Figure") -> bytes:
    """By the canvas itself: `Figure.savefig` would draw once more for the layout alone, with the same outcome."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    written = io.BytesIO()
    figure.set_dpi(PNG_DPI)
    # A higher compression takes longer than all the drawing and saves a twentieth of the bytes.
    quick = {"compress_level": 3}
    FigureCanvasAgg(figure).print_png(written, metadata={"Software": None}, pil_kwargs=quick)  # type: ignore[no-untyped-call]
    return written.getvalue()


def _svg(figure: "Figure") -> bytes:
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    written = io.BytesIO()
    FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    return written.getvalue()
