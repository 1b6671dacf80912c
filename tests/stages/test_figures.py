"""The figures show the scores and intervals, legibly, in bytes that depend on the results alone."""

import struct
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import matplotlib as mpl
import matplotlib.style
import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox, BboxBase

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import TRANSFORMATIONS, Family
from samequantity.errors import TableError
from samequantity.reporting.drawings import completion_tokens, correctness, family_gaps, heatmap, magnitude_drops
from samequantity.reporting.drawings.pages import round_ticks, text_width, wrapped
from samequantity.reporting.drawings.style import FAMILIES, LAYERS, SETTINGS, SMALL, luminance, readable_on
from samequantity.reporting.results import Key, Results, gather
from samequantity.scoring.measures import Measure
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.figures import DRAWINGS, figures
from samequantity.stages.score import score
from studies import OK, Orbits, pairs, random_orbits, study, with_details

NAMES = ("completion_tokens", "correctness", "family_gaps", "heatmap", "magnitude_drops")
FORMLESS = ("truncation_error", "format_error", "parse_error", "unit_error")
HOSTILE = ("$x$ costs $5", "an-organisation/a-model-with-a-name-of-sixty-characters-q4_k_m", "W" * 60)

Tables = tuple[pl.DataFrame, pl.DataFrame]


def tables(orbits: Orbits, *, responses: bool = True) -> Tables:
    """Scores and intervals of one system."""
    made = study(orbits)
    scored = score(*made.all_tables) if responses else score(*made.tables)
    return scored, bootstrap(*made.tables, seed=1, draws=20)


@cache
def rich() -> Tables:
    """A system with every kind of outcome, all families, token counts and magnitude drops."""
    return tables(with_details(random_orbits(1, 80), 1))


@cache
def few() -> Tables:
    """Ten bases in two families, nine of them right: too few for any test."""
    return tables(pairs(Family.UNIT, both=6, canonical_only=3, transformed_only=0, neither=1))


@cache
def many() -> Tables:
    """The same ten times over."""
    return tables(pairs(Family.UNIT, both=60, canonical_only=30, transformed_only=0, neither=10))


@cache
def files() -> Mapping[str, bytes]:
    return figures(*rich())


def results_of(*systems: Tables, order: Sequence[str] | None = None) -> Results:
    scores, intervals = (pl.concat(frames) for frames in zip(*systems, strict=True))
    return gather(scores, intervals, order)


def renamed(made: Tables, system: str) -> Tables:
    scores, intervals = (frame.with_columns(pl.lit(system).alias("system")) for frame in made)
    return scores, intervals


def drawn(drawing: Callable[[Results], Figure], results: Results) -> Figure:
    with matplotlib.style.context(dict(SETTINGS)):
        return drawing(results)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in shown(figure)]


def said(figure: Figure) -> str:
    return " ".join(" ".join(texts(figure)).split())


def scored(
    results: Results, layer: Layer | None, measure: Measure, family: Family, category: str | None = None
) -> Fraction:
    row = results.scores[Key(system="toy", layer=layer, measure=measure, family=family, category=category)]
    return Fraction(row["estimate"])


def places(line: Line2D) -> list[float]:
    """Where the markers of a line stand across."""
    return [float(x) for x in np.asarray(line.get_xdata())]


def segments(axes: Axes, **wanted: object) -> list[list[tuple[float, float]]]:
    """The lines of an axes that have these properties, each as its points."""
    return [
        [(float(x), float(y)) for x, y in segment]
        for lines in axes.collections
        if isinstance(lines, LineCollection) and all(mpl.artist.getp(lines, name) == wanted[name] for name in wanted)
        for segment in lines.get_segments()
    ]


# The files


def test_every_figure_is_there_in_both_forms() -> None:
    assert [f"{name}.{form}" for name in NAMES for form in ("png", "svg")] == list(files())
    for name in NAMES:
        svg, png = files()[f"{name}.svg"], files()[f"{name}.png"]
        assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own bytes
        assert png.startswith(b"\x89PNG")
        width, _ = struct.unpack(">II", png[16:24])
        assert width == 1400


def test_bytes_depend_neither_on_the_order_of_rows_nor_on_the_users_matplotlib_settings() -> None:
    mixed = [table.sample(fraction=1, shuffle=True, seed=3) for table in rich()]

    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "none", "savefig.dpi": 20}):
        assert files() == figures(*mixed)


def test_bytes_carry_no_date_no_version_and_no_bitmap() -> None:
    for name in NAMES:
        svg = files()[f"{name}.svg"]
        assert b"dc:date" not in svg
        assert b"Matplotlib" not in svg.replace(b"Created with matplotlib", b"")
        assert b"<image" not in svg
        assert b"Software" not in files()[f"{name}.png"]


def test_nothing_to_draw_is_an_error() -> None:
    scores, intervals = rich()
    with pytest.raises(TableError, match="no system has a result"):
        figures(scores.clear(), intervals.clear(), systems=["gone"])


# What can be read


CASES = [
    *((name, ["toy"]) for name in NAMES),
    *((name, [*HOSTILE, *"abc"]) if name == "family_gaps" else (name, [*HOSTILE]) for name in NAMES),
]
"""The gaps of more than five systems stand in two columns."""


@pytest.mark.parametrize(("name", "systems"), CASES)
def test_all_text_is_large_enough_on_the_page_and_clear_of_other_text(name: str, systems: list[str]) -> None:
    figure = drawn(DRAWINGS[name], results_of(*(renamed(rich(), system) for system in systems)))
    taken = boxes(figure)

    assert min(float(text.get_fontsize()) for text in taken) >= SMALL
    page = Bbox([[0, 0], figure.bbox.size])
    assert [text for text in taken if not _holds(page, taken[text])] == []
    assert [axes for axes in figure.axes if not _holds(page, axes.bbox)] == []
    upright = [text for text in taken if text.get_rotation() == 0]
    assert [pair for pair in combinations(upright, 2) if _collide(taken[pair[0]], taken[pair[1]])] == []


def boxes(figure: Figure) -> dict[Text, Bbox]:
    """The place of each text of a figure in pixels."""
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    figure.draw_without_rendering()
    return {text: text.get_window_extent(renderer) for text in shown(figure)}


def shown(figure: Figure) -> list[Text]:
    """The texts of a figure. Axes that are switched off keep the labels of ticks that are never drawn."""
    found = [text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text().strip()]
    return [text for text in found if text.axes is None or text.axes.axison or text in text.axes.texts]


def _holds(page: Bbox, taken: BboxBase) -> bool:
    return bool(page.x0 <= taken.x0 and page.y0 <= taken.y0 and taken.x1 <= page.x1 and taken.y1 <= page.y1)


def _collide(one: Bbox, other: Bbox) -> bool:
    """Whether two boxes share more than the blank above and below letters."""
    common = Bbox.intersection(one, other)
    return common is not None and common.width > 1 and common.height > 0.35 * min(one.height, other.height)


def test_layers_and_families_differ_without_colour() -> None:
    strict, audited = (LAYERS[layer] for layer in Layer)
    assert _grey(strict.fill) - _grey(audited.fill) > 0.3
    assert strict.hatch != audited.hatch
    assert strict.marker != audited.marker

    greys = [_grey(FAMILIES[family].fill) for family in Family]
    assert min(lighter - darker for lighter, darker in pairwise(greys)) > 0.1
    assert all(
        FAMILIES[one].hatch != FAMILIES[other].hatch for one, other in pairwise(Family) if other.is_transformation
    )


def _grey(colour: str) -> float:
    """What a grey print makes of a colour: 0 for black, 1 for white."""
    return sum(weight * part for weight, part in zip((0.299, 0.587, 0.114), to_rgb(colour), strict=True))


def test_the_heat_maps_lightness_falls_all_the_way_and_its_text_has_contrast() -> None:
    colours = [mpl.colormaps[heatmap.COLOURS](share / 100)[:3] for share in range(101)]
    light = [luminance(colour) for colour in colours]

    assert light == sorted(light, reverse=True)
    assert light[0] - light[-1] > 0.7
    for colour, ground in zip(colours, light, strict=True):
        text = luminance(to_rgb(readable_on(colour)))
        assert (max(text, ground) + 0.05) / (min(text, ground) + 0.05) >= 4.5


@pytest.mark.parametrize("name", [*HOSTILE, "i j " * 20, "", "  blanks   and\nlines ", "Qwen2.5-0.5B"])
def test_a_name_is_wrapped_whole(name: str) -> None:
    lines = wrapped(name, 1.2, SMALL).split("\n")

    assert "".join(name.split()) == "".join("".join(lines).split())
    assert max(text_width(line, SMALL) for line in lines) <= 1.2


@pytest.mark.parametrize("top", [0, 1, 4, 5, 9.5, 99, 100, 101, 12345])
def test_ticks_are_few_and_evenly_spaced_up_to_the_top(top: float) -> None:
    ticks = round_ticks(top)

    assert ticks[0] == 0
    assert top / 2 <= ticks[-1] <= top
    assert len(ticks) <= 5
    assert len({second - first for first, second in pairwise(ticks)}) <= 1


# Correctness


def test_bars_and_whiskers_are_the_rates_and_the_wilson_intervals() -> None:
    scores, intervals = few()
    panel = drawn(correctness.correctness, gather(scores, intervals)).axes[0]
    heights = {
        layer: [patch.get_height() for patch in container.patches]
        for layer, container in zip(
            LAYERS, [bars for bars in panel.containers if isinstance(bars, BarContainer)], strict=True
        )
    }
    whiskers = [
        bars.errorbar.lines[2][0] for bars in panel.containers if isinstance(bars, BarContainer) and bars.errorbar
    ]
    ends = [[(low[1], high[1]) for low, high in lines.get_segments()] for lines in whiskers]

    assert heights == {Layer.STRICT: [0.9, 0.6], Layer.AUDITED: [0.9, 0.6]}
    rates = intervals.filter((pl.col("measure") == "view_correctness") & pl.col("template").is_null())
    expected = rates.filter(pl.col("layer") == "strict").select("low", "high").rows()
    assert ends[0] == [pytest.approx(pair) for pair in expected]


def test_each_family_says_its_number_of_views_and_each_panel_its_system() -> None:
    results = results_of(renamed(few(), "$x$"), renamed(few(), "b"), order=["b", "$x$", "gone"])
    first, second = drawn(correctness.correctness, results).axes

    assert (first.get_title(loc="left"), second.get_title(loc="left")) == ("b", "$x$")
    assert [label.get_text() for label in first.get_xticklabels()] == [
        "canonical\nn = 10",
        "fraction\nno view",
        "scientific\nno view",
        "percent\nno view",
        "words\nno view",
        "unit\nn = 10",
    ]


def test_rates_of_nought_and_one_are_drawn() -> None:
    drawn(correctness.correctness, gather(*tables({"a-0001": {Family.CANONICAL: OK}})))


# Family gaps


def test_the_threshold_line_is_at_three_points() -> None:
    axes = drawn(family_gaps.family_gaps, results_of(rich(), renamed(rich(), "b"))).axes[0]
    lines = segments(axes, label="3 points")

    assert {x for line in lines for x, _ in line} == {3.0}
    assert len(lines) == 2
    assert "3" in [text.get_text() for text in axes.texts if text.get_position()[0] == 3]


def test_markers_are_at_the_estimates_in_percentage_points() -> None:
    results = gather(*rich())
    lines = {line.get_label(): line for line in drawn(family_gaps.family_gaps, results).axes[0].lines}

    for layer, look in LAYERS.items():
        expected = [float(100 * scored(results, layer, Measure.FAMILY_GAP, family)) for family in TRANSFORMATIONS]
        assert expected == pytest.approx(places(lines[look.label]))
        assert lines[look.label].get_marker() == look.marker


def test_lines_through_the_markers_are_the_bootstrap_intervals() -> None:
    scores, intervals = rich()
    drawing = drawn(family_gaps.family_gaps, gather(scores, intervals)).axes[0]
    gaps = intervals.filter((pl.col("measure") == "family_gap") & pl.col("template").is_null())
    found = sorted((low[0], high[0]) for low, high in segments(drawing, linewidth=[1.4]))

    assert [pytest.approx(pair) for pair in sorted((100 * gaps.select("low", "high")).rows())] == found


def test_h1_and_marked_gaps_are_named_where_they_are_and_nowhere_else() -> None:
    significant, other = texts(_gaps(many())), texts(_gaps(few()))

    assert (significant.count("H1"), significant.count("*")) == (1, 1)
    assert (other.count("H1"), other.count("*")) == (0, 0)


def test_each_gap_says_on_how_many_bases_it_rests() -> None:
    assert (texts(_gaps(many())).count("n = 100"), texts(_gaps(many())).count("no view")) == (1, 4)


def test_a_gap_without_an_interval_has_its_marker_alone() -> None:
    scores, intervals = few()
    null = pl.when(pl.col("measure") != "family_gap").then(pl.col("low", "high"))
    axes = drawn(family_gaps.family_gaps, gather(scores, intervals.with_columns(null))).axes[0]

    assert segments(axes, linewidth=[1.4]) == []
    assert [[30.0], [30.0]] == [places(line) for line in axes.lines]


def test_a_study_of_canonical_views_alone_has_no_gap_to_draw() -> None:
    figure = _gaps(tables({"a-0001": {Family.CANONICAL: OK}}))

    assert texts(figure).count("no view") == len(TRANSFORMATIONS)
    assert all(places(line) == [] for line in figure.axes[0].lines)


def _gaps(made: Tables) -> Figure:
    return drawn(family_gaps.family_gaps, gather(*made))


# Heat map


def test_cells_print_and_colour_the_share_without_a_value() -> None:
    results = gather(*rich())
    figure = drawn(heatmap.heatmap, results)

    for axes, layer in zip(figure.axes, Layer, strict=True):
        shares = [sum(scored(results, layer, Measure(code), family) for code in FORMLESS) for family in Family]
        numbers = [text.get_text() for text in axes.texts if text.get_text()[:1] in "01" and "." in text.get_text()]
        assert [f"{float(round(share, 3)):.3f}" for share in shares if share] == numbers
        cells = next(cells for cells in axes.collections if isinstance(cells, PolyCollection))
        fills = [tuple(fill) for fill in np.asarray(cells.get_facecolor())]
        assert [pytest.approx(mpl.colormaps["cividis_r"](float(share))) for share in shares] == fills


def test_a_cell_names_the_most_frequent_code_and_the_columns_their_views() -> None:
    strict, audited = drawn(heatmap.heatmap, gather(*few())).axes
    words = [text.get_text() for text in strict.texts]

    assert words.count("parse") == 2
    assert words.count("0.100") == words.count("0.400") == 1
    assert words.count("no view") == 4
    assert words.count("10") == 2
    assert [text.get_text() for text in audited.texts] == words


def test_where_systems_differ_in_views_a_column_has_the_smallest_and_the_largest_number() -> None:
    results = results_of(renamed(few(), "a"), renamed(many(), "b"))
    words = texts(drawn(heatmap.heatmap, results))

    assert words.count("10–100") == 4


# Magnitude drops


def test_bars_are_the_drops_by_family_and_signed_power() -> None:
    results = results_of(rich(), renamed(few(), "none"), order=["toy", "none"])
    figure = drawn(magnitude_drops.magnitude_drops, results)
    panel, other = figure.axes
    counted = {
        key: row["numerator"]
        for key, row in results.scores.items()
        if key.measure is Measure.MAGNITUDE_DROP and key.template is None and key.category is not None
    }

    assert {key.category for key in counted} == {"-1", "1", "2"}
    for bars in panel.containers:
        assert isinstance(bars, BarContainer)
        family = Family(str(bars.get_label()))
        expected = sorted(number for key, number in counted.items() if key.family is family)
        assert expected == sorted(bar.get_height() for bar in bars.patches)
    places = {text.get_text(): text.get_position()[0] for text in panel.texts if text.get_text() in {"−1", "+1", "+2"}}
    assert list(places) == ["−1", "+1", "+2"]
    assert sorted(places.values()) == list(places.values())
    total = sum(counted.values())
    assert f"{total} magnitude drops among" in said(figure)
    assert [text.get_text() for text in other.texts].count("no magnitude drop") == 1
    assert panel.get_ylim() == other.get_ylim()


def test_without_a_magnitude_drop_the_figure_says_so() -> None:
    figure = drawn(magnitude_drops.magnitude_drops, gather(*tables(random_orbits(1, 40))))

    assert said(figure).startswith("No magnitude drop: after the audit, none of the")
    assert figure.axes == []


@pytest.mark.parametrize(("powers", "turned"), [(1, {0.0}), (6, {0.0, 90.0}), (30, {0.0})])
def test_numbers_of_many_bars_stand_upright_or_are_left_to_the_axis(powers: int, turned: set[float]) -> None:
    """Up to 30 powers of six families."""
    drops = magnitude_drops.Drops(
        counts={(power, family): 1000 for power in range(1, powers + 1) for family in Family}, wrong=10**6
    )
    results = gather(*few())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(magnitude_drops, "_drops", lambda _: {"toy": drops})
        figure = drawn(magnitude_drops.magnitude_drops, results)

    assert turned == {text.get_rotation() for text in figure.axes[0].texts}
    upright = [place for text, place in boxes(figure).items() if text.get_rotation()]
    assert not any(_collide(one, other) for one, other in pairwise(upright))


# Completion tokens


def test_squares_are_the_medians_and_lines_reach_from_quartile_to_quartile() -> None:
    results = gather(*rich())
    axes = drawn(completion_tokens.completion_tokens, results).axes[0]
    expected = [
        [float(scored(results, None, Measure.COMPLETION_TOKENS, family, name)) for family in Family]
        for name in ("q1", "median", "q3")
    ]
    lines = segments(axes, linewidth=[1.6])

    assert expected == [
        [first[0] for first, _ in lines],
        places(axes.lines[0]),
        [second[0] for _, second in lines],
    ]
    assert axes.get_xlim()[0] == 0


def test_length_finished_responses_are_counted_beside() -> None:
    results = gather(*rich())
    figure = drawn(completion_tokens.completion_tokens, results)
    expected = [
        str(row["numerator"])
        for key, row in results.scores.items()
        if key.measure is Measure.LENGTH_FINISHED and key.template is None
    ]

    assert len(expected) == len(Family)
    assert sum(map(int, expected)) > 0
    assert expected == [text.get_text() for text in figure.texts if text.get_text().isdecimal()]


def test_each_system_has_an_axis_of_its_own() -> None:
    longer = rich()[0].with_columns(
        pl.when(pl.col("measure") == "completion_tokens").then(pl.lit("5000")).otherwise("estimate").alias("estimate")
    )
    figure = drawn(completion_tokens.completion_tokens, results_of(rich(), renamed((longer, rich()[1]), "long")))
    ends = sorted(axes.get_xlim()[1] for axes in figure.axes)

    assert ends[0] < 500
    assert ends[1] > 5000
    assert "compare within a system only" in said(figure)


def test_without_responses_the_figure_says_so() -> None:
    figure = drawn(
        completion_tokens.completion_tokens, gather(*tables({"a-0001": {Family.CANONICAL: OK}}, responses=False))
    )

    assert said(figure).startswith("Completion lengths are not known")
    assert figure.axes == []


def test_unrecorded_tokens_and_absent_views_are_told_apart() -> None:
    words = texts(drawn(completion_tokens.completion_tokens, gather(*few())))

    assert (words.count("not recorded"), words.count("no view")) == (2, 4)
