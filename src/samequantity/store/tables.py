"""Tables on disk: Parquet or JSON Lines by suffix, read with the columns that a stage needs, written whole."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samequantity.errors import TableError
from samequantity.store.files import appearing, write_whole

if TYPE_CHECKING:
    import polars as pl

JSON_LINES = frozenset({".jsonl", ".ndjson"})
PARQUET = ".parquet"
FORMATS = JSON_LINES | {PARQUET}
SYSTEM = "system"
"""A column that is read wherever it is there, since responses from elsewhere may lack it."""


def read_table(path: Path, columns: "Mapping[str, pl.DataType] | None" = None) -> "pl.DataFrame":
    """The rows of a table; with `columns` only these, which must be there with these types (nulls allowed), and SYSTEM.

    TableError names the file and what is missing, of another type, or unreadable, with the line for JSON Lines.
    """
    frame = _read_json_lines(path, columns) if _is_json_lines(path) else _read_parquet(path, columns)
    return chosen(frame, columns, path)


def column_names(path: Path) -> list[str]:
    """The columns that a table has, those of any line for JSON Lines; TableError when it cannot be read."""
    if _is_json_lines(path):
        return list(dict.fromkeys(name for row in _rows(path) for name in row.values))
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            return list(file.schema_arrow.names)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        raise TableError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from error


def _is_json_lines(path: Path) -> bool:
    """Whether a file is JSON Lines, and not Parquet; TableError when it is neither, or not there."""
    if not path.is_file():
        raise TableError(f"{path}: {'a folder, not a table' if path.is_dir() else 'no such table'}")
    if path.suffix not in FORMATS:
        raise TableError(f"{path}: a table is {' or '.join(sorted(FORMATS))}")
    return path.suffix in JSON_LINES


def chosen(frame: "pl.DataFrame", columns: "Mapping[str, pl.DataType] | None", path: Path) -> "pl.DataFrame":
    """Of a table that was read these columns, with these types, and SYSTEM; errors as for `read_table`."""
    return frame if columns is None else _typed(frame.select(_wanted(columns, frame.columns, path)), columns, path)


def write_table(frame: "pl.DataFrame", path: Path) -> None:
    """Write Parquet or JSON Lines by suffix; the file appears whole or not at all."""
    if path.suffix in JSON_LINES:
        write_whole(path, json_lines(frame))
    elif path.suffix == PARQUET:
        import pyarrow.parquet as pq

        with appearing(path) as temporary:
            pq.write_table(frame.to_arrow(), temporary, compression="zstd")
    else:
        raise TableError(f"{path}: a table is written as {' or '.join(sorted(FORMATS))}")


def json_lines(frame: "pl.DataFrame") -> bytes:
    """One JSON object a row, columns in their order, text as it is."""
    rows = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in frame.iter_rows(named=True))
    return "".join(f"{row}\n" for row in rows).encode()


def _read_parquet(path: Path, columns: "Mapping[str, pl.DataType] | None") -> "pl.DataFrame":
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # ParquetFile, not read_table: the latter adds columns for folders that are named like `key=value`.
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            wanted = None if columns is None else _wanted(columns, names, path)
            return pl.DataFrame(pl.from_arrow(file.read(columns=wanted)))
    except (pa.ArrowException, pl.exceptions.PolarsError, UnicodeDecodeError, OSError) as error:
        raise TableError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from error


def _read_json_lines(path: Path, columns: "Mapping[str, pl.DataType] | None") -> "pl.DataFrame":
    import polars as pl

    rows = list(_rows(path))
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    if columns is None:
        try:
            return pl.DataFrame([row.values for row in rows], infer_schema_length=None)
        except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
            raise TableError(f"{path}: a column has values of several types ({str(error).splitlines()[0]})") from error
    schema = {name: columns.get(name, pl.String()) for name in _wanted(columns, names, path)}
    for row in rows:
        for name, kind in schema.items():
            if not _fits(row.values.get(name), kind):
                found = json.dumps(row.values[name])[:40]
                raise TableError(f"{path}, line {row.line}: column {name} is {found}, wanted is {kind}")
    return pl.DataFrame([[row.values.get(name) for name in schema] for row in rows], schema=schema, orient="row")


def _wanted(columns: "Mapping[str, pl.DataType]", names: list[str], path: Path) -> list[str]:
    """The columns to read, of those that the file has."""
    if missing := [name for name in columns if name not in names]:
        raise TableError(f"{path}: missing column {', '.join(missing)}; it has {', '.join(names) or 'none'}")
    return list(dict.fromkeys([*columns, *([SYSTEM] if SYSTEM in names else [])]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    line: int
    values: dict[str, Any]


def _rows(path: Path) -> Iterator[_Row]:
    """The JSON objects of a file. A text with half of a surrogate pair, which no table can hold, gets U+FFFD there."""
    # Programs of some systems begin a file with a byte order mark; `utf-8-sig` reads it with or without.
    with path.open(encoding="utf-8-sig", newline="\n") as stream:
        number = 0
        try:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield _Row(line=number, values=_object(line))
        except UnicodeDecodeError as error:
            raise TableError(f"{path}: not UTF-8 ({error.reason})") from error
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else error
            raise TableError(f"{path}, line {number}: not a JSON object ({reason})") from error


def _object(line: str) -> dict[str, Any]:
    """A line's object; ValueError for anything else, and for a name that stands twice."""
    value = json.loads(line, object_pairs_hook=_unrepeated)
    if not isinstance(value, dict):
        raise ValueError(f"found {type(value).__name__}")
    return {name: _encodable(inner) for name, inner in value.items()}


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = {_encodable(name): value for name, value in pairs}
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands twice")
    return values


def _encodable(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {name: _encodable(item) for name, item in value.items()}
    return value


def _fits(value: Any, kind: Any) -> bool:
    """Whether a JSON value belongs into a column of this type as it is; null always does."""
    import polars as pl

    if value is None:
        return True
    if isinstance(kind, pl.List):
        return isinstance(value, list) and all(_fits(item, kind.inner) for item in value)
    if isinstance(kind, pl.Struct):
        fields = {field.name: field.dtype for field in kind.fields}
        return (
            isinstance(value, dict)
            and value.keys() <= fields.keys()
            and all(_fits(item, fields[name]) for name, item in value.items())
        )
    if isinstance(value, bool) or kind == pl.Boolean():
        return isinstance(value, bool) and kind == pl.Boolean()
    if isinstance(value, int):
        return bool(kind.is_numeric()) and -(2**63) <= value < 2**63
    return isinstance(value, str) if kind == pl.String() else isinstance(value, float) and kind.is_float()


def _typed(frame: "pl.DataFrame", columns: "Mapping[str, pl.DataType]", path: Path) -> "pl.DataFrame":
    import polars as pl

    casts = []
    system = {SYSTEM: pl.String()} if SYSTEM in frame.columns else {}
    for name, wanted in {**system, **columns}.items():
        found = frame.schema[name]
        if found == wanted:
            continue
        if found != pl.Null() and not (found.is_integer() and wanted.is_integer()) and found != pl.Categorical:
            raise TableError(f"{path}: column {name} is {found}, wanted is {wanted}")
        casts.append(pl.col(name).cast(wanted))
    try:
        return frame.with_columns(casts)
    except pl.exceptions.PolarsError as error:
        raise TableError(f"{path}: {str(error).splitlines()[0]}") from error
