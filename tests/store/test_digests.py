"""A content digest is about schema and rows, and about nothing else."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samequantity.errors import TableError
from samequantity.store.digests import canonical_json, content_digest, file_digest, json_digest, schema_of
from samequantity.store.tables import read_table, write_table

ROWS: list[dict[str, Any]] = [
    {"view": "a-0001/unit", "n": 3, "p": 0.25, "ok": True, "tags": ["x", "yz"], "part": {"name": "a", "k": 1}},
    {"view": "", "n": None, "p": None, "ok": None, "tags": [], "part": {"name": None, "k": None}},
    {"view": None, "n": 0, "p": 0.0, "ok": False, "tags": None, "part": None},
    {"view": "1.494 × 10^4\u2028\0", "n": -1, "p": -1.5, "ok": True, "tags": [None, ""], "part": {"name": "", "k": 0}},
]
SCHEMA = pl.Schema(
    {
        "view": pl.String(),
        "n": pl.Int64(),
        "p": pl.Float64(),
        "ok": pl.Boolean(),
        "tags": pl.List(pl.String()),
        "part": pl.Struct({"name": pl.String(), "k": pl.Int64()}),
    }
)
TABLE = pl.DataFrame(ROWS, schema=SCHEMA)
DIGEST = content_digest(TABLE)

CHANGES: dict[str, dict[str, Any]] = {
    "a text": {"view": "a-0001/unit "},
    "an empty text is no null": {"view": None},
    "a number": {"n": 4},
    "a number and a null": {"n": None},
    "the last bit of a float": {"p": 0.25 + 2**-54},
    "a truth value": {"ok": False},
    "an item of a list": {"tags": ["x", "yy"]},
    "where the items of a list end": {"tags": ["xy", "z"]},
    "one item fewer": {"tags": ["xyz"]},
    "an empty list": {"tags": []},
    "a null for a list": {"tags": None},
    "a null in a list": {"tags": ["x", None]},
    "a field of a struct": {"part": {"name": "a", "k": 2}},
    "a null in a struct": {"part": {"name": "a", "k": None}},
    "a null for a struct": {"part": None},
}


def test_the_digest_of_a_fixed_table_never_changes() -> None:
    """A change here gives every object of every store a new key: raise manifests.FORMAT with it."""
    assert "c48dc497269e76b2ae8eb8c093000f7a734ef8f1bb50b08b13fe902b66637d0a" == DIGEST


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_the_writers_options_do_not_count(compression: str, rows: int, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    for dictionary, version, page in ((True, "2.6", "1.0"), (False, "1.0", "2.0")):
        pq.write_table(
            TABLE.to_arrow(),
            path,
            compression=compression,
            row_group_size=rows,
            use_dictionary=dictionary,
            version=version,
            data_page_version=page,
        )

        assert DIGEST == content_digest(read_table(path))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_the_physical_type_of_text_does_not_count(kind: pa.DataType, tmp_path: Path) -> None:
    texts = ["stop", None, "", "stop"]
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"text": pa.array(texts, kind)}), path)

    assert content_digest(pl.DataFrame({"text": texts})) == content_digest(read_table(path))


@pytest.mark.parametrize("kind", [pl.Categorical(), pl.Enum(["length", "", "stop"])], ids=["categorical", "enum"])
def test_a_dictionary_of_texts_is_text(kind: pl.DataType) -> None:
    texts = ["stop", None, "", "stop"]

    assert content_digest(pl.DataFrame({"text": texts})) == content_digest(
        pl.DataFrame({"text": texts}, {"text": kind})
    )


def test_a_dictionary_encoded_file_is_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"text": pa.array(["stop", None, "stop"]).dictionary_encode()}), path)

    assert content_digest(pl.DataFrame({"text": ["stop", None, "stop"]})) == content_digest(read_table(path))


def test_chunks_do_not_count() -> None:
    pieces = [TABLE.slice(start, 1) for start in range(len(TABLE))]
    chunked = pl.concat(pieces, rechunk=False)

    assert chunked.n_chunks() == len(TABLE)
    assert DIGEST == content_digest(chunked)
    assert DIGEST == content_digest(pl.concat([TABLE, TABLE]).slice(len(TABLE)))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_cell_counts(change: dict[str, Any]) -> None:
    assert DIGEST != content_digest(pl.DataFrame([{**ROWS[0], **change}, *ROWS[1:]], schema=SCHEMA))


def test_the_changes_differ_from_each_other() -> None:
    tables = [pl.DataFrame([{**ROWS[0], **change}, *ROWS[1:]], schema=SCHEMA) for change in CHANGES.values()]

    assert len(CHANGES) == len({content_digest(table) for table in tables})


def test_nulls_are_neither_empty_nor_zero() -> None:
    columns: list[tuple[pl.DataType, list[Any]]] = [
        (pl.String(), ["", None]),
        (pl.Int64(), [0, None]),
        (pl.Float64(), [0.0, None]),
        (pl.Boolean(), [False, None]),
        (pl.List(pl.String()), [[], [None], [""], None]),
        (pl.Struct({"k": pl.Int64()}), [{"k": 0}, {"k": None}, None]),
    ]
    for kind, values in columns:
        digests = {content_digest(pl.DataFrame({"x": [value]}, {"x": kind})) for value in values}
        assert len(values) == len(digests), kind


def test_names_types_and_orders_count() -> None:
    others = [
        TABLE.rename({"n": "m"}),
        TABLE.select(reversed(TABLE.columns)),
        TABLE.reverse(),
        TABLE.head(3),
        pl.concat([TABLE, TABLE]),
        TABLE.drop("ok"),
        TABLE.with_columns(pl.col("n").cast(pl.Int32)),
        TABLE.with_columns(pl.col("n").cast(pl.Float64)),
        TABLE.with_columns(pl.col("n").cast(pl.String)),
        TABLE.with_columns(part=pl.col("part").struct.rename_fields(["name", "j"])),
    ]

    assert len(others) + 1 == len({DIGEST, *map(content_digest, others)})


def test_text_cannot_move_to_the_next_row() -> None:
    assert content_digest(pl.DataFrame({"x": ["ab", "c"]})) != content_digest(pl.DataFrame({"x": ["a", "bc"]}))
    assert content_digest(pl.DataFrame({"x": [["a"], ["b", "c"]]})) != content_digest(
        pl.DataFrame({"x": [["a", "b"], ["c"]]})
    )


def test_tables_without_rows_differ_by_their_columns() -> None:
    empty = [TABLE.clear(), TABLE.clear().drop("ok"), pl.DataFrame(), pl.DataFrame(schema={"view": pl.Int64()})]

    assert len(empty) == len({content_digest(table) for table in empty})
    assert content_digest(TABLE.clear()) == content_digest(pl.DataFrame(schema=SCHEMA))


cells = st.fixed_dictionaries(
    {
        "text": st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
        "number": st.none() | st.integers(-(2**63), 2**63 - 1),
        "list": st.none() | st.lists(st.none() | st.text("ab", max_size=2), max_size=2),
    }
)


@given(first=st.lists(cells, max_size=4), second=st.lists(cells, max_size=4))
def test_digests_are_equal_exactly_when_tables_are(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    schema = {"text": pl.String(), "number": pl.Int64(), "list": pl.List(pl.String())}
    one, other = pl.DataFrame(first, schema=schema), pl.DataFrame(second, schema=schema)

    assert (first == second) is (content_digest(one) == content_digest(other))
    assert content_digest(one) == content_digest(pl.DataFrame(first, schema=schema))


def test_a_column_of_another_kind_is_named() -> None:
    with pytest.raises(TableError, match=r"column when has type Datetime.*no table of a study"):
        content_digest(pl.DataFrame({"when": [0]}).cast({"when": pl.Datetime}))


def test_written_and_read_back_it_is_the_same_table(tmp_path: Path) -> None:
    write_table(TABLE, tmp_path / "table.parquet")

    assert DIGEST == content_digest(read_table(tmp_path / "table.parquet"))


def test_a_schema_is_names_and_types_in_order() -> None:
    assert [["n", "int64"], ["tags", "large_list<item: large_string>"]] == schema_of(TABLE.select("n", "tags"))


def test_canonical_json_is_one_text_a_value() -> None:
    assert b'{"a":[1,0.5,null,true],"b":"\\u00d7"}' == canonical_json({"b": "×", "a": (1, 0.5, None, True)})
    assert json_digest({"a": 1, "b": 2}) == json_digest({"b": 2, "a": 1})
    assert json_digest({"a": 1}) != json_digest({"a": "1"})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Fraction(1, 2), {1}, b"x"])
def test_what_json_has_no_form_for_has_no_digest(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical_json(value)


def test_a_files_digest_is_its_sha256(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")

    assert file_digest(tmp_path / "file") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
