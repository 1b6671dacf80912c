"""Tables from anyone's tool are read exactly, or refused with the place and the reason."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from samequantity.errors import SameQuantityError, TableError
from samequantity.store.tables import json_lines, read_table, write_table

COLUMNS: dict[str, pl.DataType] = {"view_id": pl.String(), "text": pl.String(), "tokens": pl.Int64()}
ROW = {"view_id": "v-0001/unit", "text": "FINAL: 1 m", "tokens": 3}


def line(**changes: object) -> str:
    return json.dumps({**ROW, **changes}, ensure_ascii=False) + "\n"


def table(folder: Path, content: str | bytes) -> Path:
    path = folder / "responses.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(folder: Path, content: str | bytes, columns: dict[str, pl.DataType] | None = COLUMNS) -> list[dict[str, Any]]:
    return read_table(table(folder, content), columns).rows(named=True)


# JSON Lines that are read.


def test_lines_are_rows(tmp_path: Path) -> None:
    assert [ROW, {**ROW, "tokens": 4}] == read(tmp_path, line() + line(tokens=4))


@pytest.mark.parametrize(
    "content",
    [
        line().encode("utf-8-sig"),
        line().replace("\n", "\r\n").encode(),
        line().removesuffix("\n").encode(),
        b"\n  \n" + line().encode() + b"\r\n\n",
        line(extra=[1, {"a": None}], other=None).encode(),
        json.dumps(dict(reversed(ROW.items()))).encode(),
        line().replace(", ", ",\r").encode(),
        b" \t" + json.dumps(ROW, indent=None, separators=(" , ", " : ")).encode(),
    ],
    ids=[
        "byte order mark",
        "CRLF",
        "no last line end",
        "blank lines",
        "extra columns",
        "another order",
        "CR between names",
        "blanks",
    ],
)
def test_how_the_file_is_laid_out_does_not_matter(content: bytes, tmp_path: Path) -> None:
    assert [ROW] == read(tmp_path, content)


@pytest.mark.parametrize(
    "text", ["", "a\nb\r\nc", "\0", "\u2028\u2029\x85\x0b\x0c", "1.494 × 10^4", "😀", "\ufeff", '"\\', " "]
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_text_is_read_as_it_was_written(text: str, ascii_only: bool, tmp_path: Path) -> None:
    content = json.dumps({**ROW, "text": text}, ensure_ascii=ascii_only)

    assert [{**ROW, "text": text}] == read(tmp_path, content)


@pytest.mark.parametrize("columns", [COLUMNS, None])
def test_half_a_surrogate_pair_becomes_the_replacement_character(
    columns: dict[str, pl.DataType] | None, tmp_path: Path
) -> None:
    content = '{"view_id": "v", "text": "a\\ud800b\\ude00\\ud83d\\ude00", "tokens": 1, "list": ["\\udfff"]}'

    assert read(tmp_path, content, columns)[0]["text"] == "a\ufffdb\ufffd😀"


def test_a_line_may_be_long(tmp_path: Path) -> None:
    text = "x" * 3_000_000

    assert text == read(tmp_path, line(text=text))[0]["text"]


def test_nulls_and_fields_that_a_row_lacks_are_null(tmp_path: Path) -> None:
    content = line() + line(text=None, tokens=None) + '{"view_id": "w"}\n'
    nulls = {"text": None, "tokens": None}

    assert [ROW, {**ROW, **nulls}, {"view_id": "w", **nulls}] == read(tmp_path, content)
    assert [{"view_id": None, **nulls}] == read(tmp_path, line(view_id=None, **nulls))


def test_system_is_read_where_it_is_there(tmp_path: Path) -> None:
    assert [{**ROW, "system": "smol"}] == read(tmp_path, line(system="smol", other=1))


def test_lists_and_structs_are_read_by_their_type(tmp_path: Path) -> None:
    kind = pl.List(pl.Struct({"name": pl.String(), "value": pl.String()}))
    values: list[Any] = [[], None, [{"name": "a", "value": None}], [None]]
    content = "".join(json.dumps({"parameters": value}) + "\n" for value in values)

    assert values == [row["parameters"] for row in read(tmp_path, content, {"parameters": kind})]


def test_numbers_for_floats_may_be_integers(tmp_path: Path) -> None:
    assert [{"p": 1.0}, {"p": 0.5}] == read(tmp_path, '{"p": 1}\n{"p": 0.5}\n', {"p": pl.Float64()})


# JSON Lines that are refused.

WRONG: dict[str, Any] = {
    "a number for a text": {"text": 5},
    "a truth value for a text": {"text": True},
    "a list for a text": {"text": ["a"]},
    "an object for a text": {"text": {"a": "b"}},
    "a text for a number": {"tokens": "3"},
    "a float for a whole number": {"tokens": 3.0},
    "a truth value for a number": {"tokens": True},
    "a number of more than 64 bits": {"tokens": 2**63},
    "not a number": {"tokens": float("nan")},
    "a number for the system": {"system": 1},
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_another_type_is_refused_with_its_line(change: dict[str, Any], tmp_path: Path) -> None:
    """Nothing is converted in silence."""
    [name] = change

    with pytest.raises(TableError, match=rf"responses\.jsonl, line 3: column {name} is .*, wanted is"):
        read(tmp_path, line() + "\n" + line(**change))


@pytest.mark.parametrize(
    "content",
    [
        '{"view_id": ',
        "[1]",
        "5",
        '"text"',
        "null",
        "view_id,text",
        line().strip() + line(),
        '{"view_id": "a", "view_id": "b", "text": "c", "tokens": 1}',
        '{"view_id": "a", "text": {"x": 1, "x": 2}, "tokens": 1}',
        "[" * 100_000,
        '{"tokens": ' + "1" * 5000 + "}",
        "'view_id'",
        line().replace("\n", " \u2028"),
    ],
    ids=lambda content: content[:20],
)
def test_what_is_no_object_is_refused_with_its_line(content: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"responses\.jsonl, line 2: not a JSON object \(.+\)"):
        read(tmp_path, line() + content)


def test_a_name_that_stands_twice_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="'text' stands twice"):
        read(tmp_path, '{"view_id": "a", "text": "b", "text": "c", "tokens": 1}')


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_another_encoding_is_refused(encoding: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"responses\.jsonl: not UTF-8"):
        read(tmp_path, line(text="é").encode(encoding))


@pytest.mark.parametrize("content", ["", "\n\n", "{}\n"])
def test_an_empty_file_lacks_the_columns(content: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"missing column view_id, text, tokens; it has none"):
        read(tmp_path, content)


def test_a_missing_column_is_named_and_so_are_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"missing column text; it has view_id, tokens, response"):
        read(tmp_path, '{"view_id": "v", "tokens": 1, "response": "FINAL: 1"}')


def test_values_of_several_types_are_refused_where_no_type_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"responses\.jsonl: a column has values of several types"):
        read(tmp_path, '{"a": [1]}\n{"a": "x"}\n', None)


# Parquet.


def parquet(folder: Path, **columns: object) -> Path:
    path = folder / "responses.parquet"
    pq.write_table(pa.table({"view_id": ["v"], "text": ["t"], "tokens": [3], **columns}), path)
    return path


@pytest.mark.parametrize(
    "columns",
    [
        {"text": pa.array(["t"], pa.large_string())},
        {"text": pa.array(["t"], pa.string_view())},
        {"text": pa.array(["t"]).dictionary_encode()},
        {"tokens": pa.array([3], pa.uint8())},
        {"extra": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))},
        {"when": pa.array([1], pa.timestamp("ns", "UTC")), "raw": pa.array([b"x"])},
        {"cost": pa.array([Decimal(1)], pa.decimal256(60, 2))},
    ],
    ids=[
        "large",
        "view",
        "dictionary",
        "small integers",
        "a map beside",
        "times and bytes beside",
        "what polars lacks beside",
    ],
)
def test_other_writers_types_and_columns_are_fine(columns: dict[str, Any], tmp_path: Path) -> None:
    frame = read_table(parquet(tmp_path, **columns), COLUMNS)

    assert COLUMNS == frame.schema
    assert [{"view_id": "v", "text": "t", "tokens": 3}] == frame.rows(named=True)


def test_a_column_of_nulls_is_one_of_any_type(tmp_path: Path) -> None:
    frame = read_table(parquet(tmp_path, text=pa.nulls(1), tokens=pa.nulls(1)), COLUMNS)

    assert COLUMNS == frame.schema
    assert [{"view_id": "v", "text": None, "tokens": None}] == frame.rows(named=True)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"text": pa.array([5])}, "column text is Int64, wanted is String"),
        ({"text": pa.array([True])}, "column text is Boolean, wanted is String"),
        ({"text": pa.array([b"t"])}, "column text is Binary, wanted is String"),
        ({"text": pa.array([["t"]])}, r"column text is List\(String\), wanted is String"),
        ({"tokens": pa.array(["3"])}, "column tokens is String, wanted is Int64"),
        ({"tokens": pa.array([3.0])}, "column tokens is Float64, wanted is Int64"),
        ({"tokens": pa.array([2**63], pa.uint64())}, "tokens"),
        ({"system": pa.array([1])}, "column system is Int64, wanted is String"),
    ],
)
def test_parquet_of_another_type_is_refused(columns: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=rf"responses\.parquet: .*{reason}"):
        read_table(parquet(tmp_path, **columns), COLUMNS)


def test_parquet_without_a_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "responses.parquet"
    pq.write_table(pa.table({"view_id": ["v"], "response": ["t"]}), path)

    with pytest.raises(TableError, match=r"missing column text, tokens; it has view_id, response"):
        read_table(path, COLUMNS)


def test_parquet_with_a_column_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "responses.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["a"])] * 2, ["text", "text"]), path)
    for columns in (None, {"text": pl.String()}):
        with pytest.raises(TableError, match=r"responses\.parquet: not a readable Parquet file"):
            read_table(path, columns)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1xxxxPAR1", b'{"view_id": "v"}\n', b"PAR1" + b"\xff" * 60])
def test_what_is_no_parquet_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "responses.parquet"
    path.write_bytes(content)

    with pytest.raises(TableError, match=r"responses\.parquet: not a readable Parquet file"):
        read_table(path, COLUMNS)


def test_a_flipped_byte_never_ends_in_a_traceback(tmp_path: Path) -> None:
    """Where no manifest stands beside a file, its own checks may or may not notice; what is read is a table."""
    path = parquet(tmp_path)
    content = path.read_bytes()
    refused = 0
    for offset in range(len(content)):
        path.write_bytes(content[:offset] + bytes([content[offset] ^ 0x41]) + content[offset + 1 :])
        try:
            read_table(path, COLUMNS)
        except SameQuantityError:
            refused += 1
    assert refused > len(content) // 4


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    path = parquet(tmp_path)
    content = path.read_bytes()
    for end in range(0, len(content), 97):
        path.write_bytes(content[:end])
        with pytest.raises(TableError, match="not a readable Parquet file"):
            read_table(path, COLUMNS)


def test_a_folder_named_like_a_partition_adds_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "system=other"
    folder.mkdir()

    assert ["view_id", "text", "tokens"] == read_table(parquet(folder)).columns


# Paths, and writing.


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_a_missing_file_and_a_folder_are_no_tables(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"folder.{suffix}").mkdir()
    with pytest.raises(TableError, match=rf"gone\.{suffix}: no such table"):
        read_table(tmp_path / f"gone.{suffix}", COLUMNS)
    with pytest.raises(TableError, match=rf"folder\.{suffix}: a folder, not a table"):
        read_table(tmp_path / f"folder.{suffix}", COLUMNS)


def test_another_suffix_is_refused_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    with pytest.raises(TableError, match=r"table\.csv: .*\.jsonl or \.ndjson or \.parquet"):
        write_table(pl.DataFrame(), path)
    path.touch()
    with pytest.raises(TableError, match=r"table\.csv: .*\.jsonl or \.ndjson or \.parquet"):
        read_table(path)


FRAME = pl.DataFrame(
    {
        "text": ["a\u2028\0😀", "", None],
        "number": [2**63 - 1, -(2**63), None],
        "p": [0.1, 1e-300, None],
        "yes": [True, False, None],
        "list": [["a", None], [], None],
        "struct": [{"a": "x"}, {"a": None}, None],
    }
)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "ndjson"])
def test_what_was_written_is_read_back(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / f"table.{suffix}"
    write_table(FRAME, path)

    assert_frame_equal(FRAME, read_table(path, dict(FRAME.schema)))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_json_lines_give_any_text_back(texts: list[str]) -> None:
    content = json_lines(pl.DataFrame({"text": texts}, {"text": pl.String()}))

    assert texts == [json.loads(row)["text"] for row in content.decode().split("\n")[:-1]]


def test_json_lines_are_compact_and_in_the_columns_order() -> None:
    assert json_lines(pl.DataFrame({"b": ["×"], "a": [1]})).decode() == '{"b":"×","a":1}\n'


def test_a_place_that_cannot_be_written_keeps_its_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises((FileExistsError, NotADirectoryError), match="file"):
        write_table(FRAME, tmp_path / "file" / "table.parquet")
