"""Two systems of a study are compared by a command, and the comparison is kept as every other table is."""

from pathlib import Path

import polars as pl
import pytest

from commands import done, samequantity
from samequantity.scoring.columns import COMPARISONS

pytestmark = pytest.mark.usefixtures("study")

OUT = "results/tiny/comparisons/toy/scripted.parquet"


def arguments(out: str, *, system: str = "toy", reference: str = "scripted") -> list[str]:
    return [
        *("compare", "--views", "results/tiny/views.parquet", "--seed", "1", "--draws", "40"),
        *("--answers", f"results/tiny/answers/{system}.parquet", "--audits", f"results/tiny/audits/{system}.parquet"),
        *("--reference-answers", f"results/tiny/answers/{reference}.parquet"),
        *("--reference-audits", f"results/tiny/audits/{reference}.parquet"),
        *("--out", out, "--store", "results/store"),
    ]


def test_a_comparison_is_made_once_vouched_for_and_collected() -> None:
    assert "compare: " in done(*arguments(OUT)).err
    assert "taken from the store" in done(*arguments(OUT)).err
    done(*arguments("results/tiny/comparisons/scripted/toy.parquet", system="scripted", reference="toy"))
    pairs = [f"results/tiny/comparisons/{pair}.parquet" for pair in ("toy/scripted", "scripted/toy")]
    done("collect", *pairs, "--out", "results/tiny/comparisons.parquet", "--store", "results/store")
    found = pl.read_parquet("results/tiny/comparisons.parquet")

    assert found.schema == COMPARISONS
    assert found.select("system", "reference").unique(maintain_order=True).rows() == [
        ("toy", "scripted"),
        ("scripted", "toy"),
    ]
    assert set(found["draws"].drop_nulls()) == {40}
    assert done("verify", "results/tiny/comparisons").out == "2 files are what their manifests say.\n"
    assert "up to date" in done("status").out.splitlines()[0]
    assert "draws=40" in done("provenance", "results/tiny/comparisons.parquet").out


def test_a_damaged_comparison_names_the_rule_that_makes_it_again() -> None:
    done(*arguments(OUT))
    Path(OUT).write_bytes(b"")

    assert f"--forcerun compare -- {OUT}" in samequantity("verify", OUT).message


def test_a_system_is_not_compared_with_itself() -> None:
    out = OUT.replace("scripted", "toy")
    message = samequantity(*arguments(out, reference="toy")).message

    assert "both tables are of system toy. Pass the answers and audits of two systems" in message
    assert not Path(out).exists()
