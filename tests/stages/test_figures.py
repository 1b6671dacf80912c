"""The main figure shows each rate with its interval, in bytes that depend on the results alone."""

import struct
from xml.etree import ElementTree as ET

import matplotlib as mpl
import polars as pl
import pytest
from matplotlib.container import BarContainer

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.reporting.results import gather
from samequantity.stages import figures as module
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.figures import LOOKS, figures
from samequantity.stages.score import score
from studies import OK, pairs, random_orbits, study

pytestmark = pytest.mark.usefixtures("quick_holm")

FEW = pairs(Family.UNIT, both=6, canonical_only=3, transformed_only=0, neither=1)


def results(*systems: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    studies = [study(FEW, system) for system in systems]
    return (
        pl.concat([score(*one.tables) for one in studies]),
        pl.concat([bootstrap(*one.tables, seed=1, draws=20) for one in studies]),
    )


def test_both_forms_are_there_and_well_formed() -> None:
    found = figures(*results("toy"))

    assert list(found) == ["correctness.png", "correctness.svg"]
    assert ET.fromstring(found["correctness.svg"]).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own bytes
    assert found["correctness.png"].startswith(b"\x89PNG")
    width, _ = struct.unpack(">II", found["correctness.png"][16:24])
    assert width == 1400


def test_bytes_are_the_same_again_whatever_the_users_matplotlib_settings() -> None:
    first = figures(*results("toy"))

    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "none", "savefig.dpi": 20}):
        assert figures(*results("toy")) == first


def test_bytes_carry_no_date_and_no_version() -> None:
    found = figures(*results("toy"))

    assert b"dc:date" not in found["correctness.svg"]
    assert b"Matplotlib" not in found["correctness.svg"].replace(b"Created with matplotlib", b"")
    assert b"Software" not in found["correctness.png"]


def test_row_order_does_not_matter() -> None:
    scores, intervals = results("toy", "other")
    mixed = (table.sample(fraction=1, shuffle=True, seed=3) for table in (scores, intervals))

    assert figures(*mixed) == figures(scores, intervals)


def test_bars_and_whiskers_are_the_rates_and_the_wilson_intervals() -> None:
    scores, intervals = results("toy")
    panel = module._correctness(gather(scores, intervals)).axes[0]
    heights = {
        layer: [patch.get_height() for patch in container.patches]
        for layer, container in zip(
            LOOKS, [bars for bars in panel.containers if isinstance(bars, BarContainer)], strict=True
        )
    }
    whiskers = [
        bars.errorbar.lines[2][0] for bars in panel.containers if isinstance(bars, BarContainer) and bars.errorbar
    ]
    segments = [[(low[1], high[1]) for low, high in lines.get_segments()] for lines in whiskers]

    assert heights == {Layer.STRICT: [0.9, 0.6], Layer.AUDITED: [0.9, 0.6]}
    rates = intervals.filter((pl.col("measure") == "view_correctness") & pl.col("template").is_null())
    expected = rates.filter(pl.col("layer") == "strict").select("low", "high").rows()
    assert segments[0] == [pytest.approx(ends) for ends in expected]


def test_each_family_says_its_number_of_views_and_each_panel_its_system() -> None:
    figure = module._correctness(gather(*results("$x$", "b"), ["b", "$x$", "gone"]))
    first, second = figure.axes

    assert (first.get_title(loc="left"), second.get_title(loc="left")) == ("b", "$x$")
    assert [label.get_text() for label in first.get_xticklabels()] == [
        "canonical\nn = 10",
        "fraction\nno view",
        "scientific\nno view",
        "percent\nno view",
        "words\nno view",
        "unit\nn = 10",
    ]


def test_layers_differ_without_colour() -> None:
    from matplotlib.colors import to_rgb

    strict, audited = (
        sum(weight * part for weight, part in zip((0.299, 0.587, 0.114), to_rgb(LOOKS[layer].fill), strict=True))
        for layer in Layer
    )

    assert strict - audited > 0.3
    assert LOOKS[Layer.STRICT].hatch != LOOKS[Layer.AUDITED].hatch


def test_rates_of_nought_and_one_are_drawn() -> None:
    one = study({"a-0001": {Family.CANONICAL: OK}}, "toy")

    assert figures(score(*one.tables), bootstrap(*one.tables, seed=1, draws=5))


def test_other_answers_give_another_figure() -> None:
    other = study(random_orbits(1, 30), "toy")

    assert figures(score(*other.tables), bootstrap(*other.tables, seed=1, draws=20)) != figures(*results("toy"))


def test_nothing_to_draw_is_an_error() -> None:
    scores, intervals = results("toy")
    with pytest.raises(TableError, match="no system has a result"):
        figures(scores.clear(), intervals.clear(), systems=["gone"])
