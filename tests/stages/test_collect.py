"""Tables of systems and of shards are put together whole, or not at all."""

import polars as pl
import pytest

from samequantity.errors import TableError
from samequantity.stages.collect import collect, merge

VIEWS = pl.DataFrame({"view_id": [f"a-{number:04}/canonical" for number in range(1, 8)]})


def scores(system: str, *values: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"system": [system] * len(values), "value": list(values)}, schema_overrides={"value": pl.Int64()}
    )


def shard(*places: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "system": "toy",
            "view_id": [VIEWS["view_id"][place] for place in places],
            "order": list(places),
            "text": [f"text {place}" for place in places],
        }
    )


def test_systems_are_stacked_in_the_order_given() -> None:
    found = collect([scores("z", 2, 1), scores("a", 3)])

    assert [("z", 2), ("z", 1), ("a", 3)] == found.rows()
    assert scores("z", 2, 1).equals(collect([scores("z", 2, 1)]))


def test_a_system_in_two_tables_is_an_error_that_names_it() -> None:
    with pytest.raises(TableError, match="system toy comes in two of the tables"):
        collect([scores("toy", 1), scores("other", 1), scores("toy", 2)])


def test_a_pair_of_systems_in_two_tables_is_an_error_and_one_system_in_several_pairs_is_none() -> None:
    pairs = [scores("a", 1).with_columns(reference=pl.lit(name)) for name in ("b", "c")]

    assert [("a", 1, "b"), ("a", 1, "c")] == collect(pairs).rows()
    with pytest.raises(TableError, match="system a − c comes in two of the tables"):
        collect([*pairs, pairs[1]])


@pytest.mark.parametrize(
    "other", [scores("b", 1).rename({"value": "worth"}), scores("b", 1).cast({"value": pl.Float64()})]
)
def test_tables_of_other_columns_are_an_error(other: pl.DataFrame) -> None:
    with pytest.raises(TableError, match="the tables differ in their columns"):
        collect([scores("a", 1), other])


def test_a_column_without_a_value_in_one_table_has_the_type_of_the_others() -> None:
    """As JSON Lines give it, where nothing says what an absent value would have been."""
    empty = pl.DataFrame({"system": ["b"], "value": [None]})

    assert [("a", 1), ("b", None)] == collect([scores("a", 1), empty]).rows()
    assert [("b", None), ("a", 1)] == collect([empty, scores("a", 1)]).rows()


@pytest.mark.parametrize("parts", [[(0, 3, 6), (1, 4), (2, 5)], [(2, 5), (0, 3, 6), (1, 4)], [(0, 1, 2, 3, 4, 5, 6)]])
def test_shards_are_merged_in_request_order(parts: list[tuple[int, ...]]) -> None:
    assert shard(*range(7)).equals(merge([shard(*places) for places in parts], VIEWS))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            [(0, 1, 2), (3, 4, 5)],
            r"1 view missing \(a-0007/canonical\), 0 unknown \(-\), 0 more than once \(-\), 6 resp",
        ),
        (
            [(0, 1, 2, 3), (3, 4, 5, 6)],
            r"0 views missing \(-\), 0 unknown \(-\), 1 more than once \(a-0004/canonical\)",
        ),
        ([(0, 1, 2, 3), (0, 1, 2, 3)], r"3 views missing .*, 4 more than once .*, 8 responses in all"),
        ([()], r"7 views missing \(a-0001/canonical, .*, …\)"),
    ],
)
def test_shards_that_do_not_make_up_the_views_are_an_error(parts: list[tuple[int, ...]], message: str) -> None:
    frames = [
        shard(*places).cast({"order": pl.Int64(), "view_id": pl.String(), "text": pl.String()}) for places in parts
    ]
    with pytest.raises(TableError, match=message):
        merge(frames, VIEWS)


def test_a_shard_of_other_views_or_in_another_order_is_an_error() -> None:
    with pytest.raises(TableError, match=r"0 views missing .*, 1 unknown \(a-0007/canonical\)"):
        merge([shard(*range(7))], VIEWS.head(6))
    with pytest.raises(TableError, match="7 responses in all, in another order"):
        merge([shard(*range(7))], VIEWS.reverse())
