"""How vocabularies cut quantities: the tokens of a number in each family, beside the same number's canonical form."""

from collections.abc import Sequence

import polars as pl

from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.reporting import captions
from samequantity.reporting.layouts.entries import COUNT, NUMBER, SHARE, TEXT, refuse_unfit
from samequantity.reporting.results import Results, Row, Strata
from samequantity.reporting.tabular import Heading, Table, assembled, rate_text
from samequantity.scoring.columns import TOKENS

CUT, BLANK = "|", "·"
"""What an example has between two tokens, and in the place of a blank."""

_PLACE = ("system", "view_id", "parameter")
_CURE = "Make the table again: samequantity tokens"


def tokens(frame: pl.DataFrame, results: Results, strata: Strata) -> Table:
    """The concatenated results of `tokens`, in any row order: one row a system and family, and template if asked for.

    Counted are the quantities that the family rewrites, and the same parameters of the same bases in the canonical
    view. Raises TableError when columns or values are missing, a row is repeated, a quantity has no canonical form, or
    a system is not of the study.
    """
    _refuse(frame, results)
    rows = _counted(_paired(frame), results, strata)
    return assembled(
        name=f"tokens{strata.suffix}",
        caption=captions.tokens(results, set(frame["system"]), strata),
        place=["system", *strata.columns, "family"],
        results=["Tokens per quantity", "In canonical form", Heading(text="For example")],
        rows=[[*(row[column] for column in ("system", *strata.columns, "family")), *_cells(row)] for row in rows],
        data=rows,
        schema=SHARE
        | {"fewest": COUNT, "most": COUNT, "numerator_with_unit": COUNT, "example": TEXT}
        | {"canonical_numerator": COUNT, "canonical_estimate": NUMBER, "canonical_fewest": COUNT}
        | {"canonical_most": COUNT, "canonical_numerator_with_unit": COUNT, "canonical_example": TEXT},
    )


def _refuse(frame: pl.DataFrame, results: Results) -> None:
    refuse_unfit(
        frame, results, name="tokens", command="tokens", columns=TOKENS.names(), nullable={"unit"}, place=_PLACE
    )
    if strange := sorted(set(frame["family"]) - set(Family)):
        raise TableError(f"tokens: {', '.join(strange)} is no view family. {_CURE}")


def _paired(frame: pl.DataFrame) -> pl.DataFrame:
    """The rewritten quantities, sorted, each with its canonical form."""
    shown = frame.with_columns(example=pl.col("pieces").list.join(CUT).str.replace_all(" ", BLANK, literal=True))
    key, counts = ("system", "base_id", "parameter"), ("tokens", "tokens_with_unit", "example")
    canonical = shown.filter(pl.col("family") == Family.CANONICAL).select(
        *key, *(pl.col(name).alias(f"canonical_{name}") for name in counts)
    )
    rewritten = shown.filter("rewritten").sort(_PLACE)
    paired = rewritten.join(canonical, on=key, how="left", maintain_order="left")
    if lone := paired.filter(pl.col("canonical_tokens").is_null())["view_id"].to_list():
        raise TableError(f"tokens: {len(lone)} quantities have no canonical form, for instance of {lone[0]}. {_CURE}")
    return paired


def _counted(paired: pl.DataFrame, results: Results, strata: Strata) -> Sequence[Row]:
    """Sums and extremes by place: systems as the study shows them, then templates, then families in their order."""
    place = ("system", *strata.columns, "family")
    rows = paired.group_by(place, maintain_order=True).agg(
        pl.len().alias("denominator"), *_sums(""), *_sums("canonical_")
    )
    found = rows.with_columns(
        (pl.col(f"{form}numerator") / pl.col("denominator")).alias(f"{form}estimate") for form in ("", "canonical_")
    )
    study = (*results.systems, *results.absent)
    return sorted(
        found.rows(named=True),
        key=lambda row: (study.index(row["system"]), row.get("template") or "", list(Family).index(row["family"])),
    )


def _sums(form: str) -> list[pl.Expr]:
    """The columns of one form of the quantities: `canonical_`, or none for the family's own."""
    each = pl.col(f"{form}tokens")
    return [
        each.sum().alias(f"{form}numerator"),
        each.min().alias(f"{form}fewest"),
        each.max().alias(f"{form}most"),
        pl.col(f"{form}tokens_with_unit").sum().alias(f"{form}numerator_with_unit"),
        pl.col(f"{form}example").first(),
    ]


def _cells(row: Row) -> list[str]:
    """Both forms as sum/n = mean (fewest–most), and how the first quantity is cut in each."""
    counts = (
        f"{rate_text(row[f'{form}numerator'], row['denominator'])} ({row[f'{form}fewest']}–{row[f'{form}most']})"
        for form in ("", "canonical_")
    )
    return [*counts, f"{row['canonical_example']} → {row['example']}"]
