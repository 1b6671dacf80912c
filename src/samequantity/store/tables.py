"""Tables on disk: Parquet or JSON Lines by suffix, read with the columns that a stage needs, written whole."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samequantity.errors import TableError
from samequantity.store.files import appearing, write_whole

if TYPE_CHECKING:
    import polars as pl

JSON_LINES = frozenset({".jsonl", ".ndjson"})
PARQUET = ".parquet"


def read_table(path: Path, columns: "Mapping[str, pl.DataType] | None" = None) -> "pl.DataFrame":
    """The rows of a table; with `columns`, these must be there with these types (nulls allowed), others are kept.

    TableError names the file and what is missing, of another type, or unreadable, with the line for JSON Lines.
    """
    if not path.exists():
        raise TableError(f"{path}: no such table")
    if path.suffix in JSON_LINES:
        frame = _read_json_lines(path, columns)
    elif path.suffix == PARQUET:
        frame = _read_parquet(path)
    else:
        raise TableError(f"{path}: a table is {PARQUET} or {' or '.join(sorted(JSON_LINES))}")
    return frame if columns is None else _typed(frame, columns, path)


def write_table(frame: "pl.DataFrame", path: Path) -> None:
    """Write Parquet or JSON Lines by suffix; the file appears whole or not at all."""
    if path.suffix in JSON_LINES:
        write_whole(path, json_lines(frame))
    elif path.suffix == PARQUET:
        import pyarrow.parquet as pq

        with appearing(path) as temporary:
            pq.write_table(frame.to_arrow(), temporary, compression="zstd")
    else:
        raise TableError(f"{path}: a table is written as {PARQUET} or {' or '.join(sorted(JSON_LINES))}")


def json_lines(frame: "pl.DataFrame") -> bytes:
    """One JSON object a row, columns in their order, text as it is."""
    rows = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in frame.iter_rows(named=True))
    return "".join(f"{row}\n" for row in rows).encode()


def _read_parquet(path: Path) -> "pl.DataFrame":
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # ParquetFile, not read_table: the latter adds columns for folders that are named like `key=value`.
        with pq.ParquetFile(path) as file:
            return pl.DataFrame(pl.from_arrow(file.read()))
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from error


def _read_json_lines(path: Path, columns: "Mapping[str, pl.DataType] | None") -> "pl.DataFrame":
    import polars as pl

    rows = list(_objects(path))
    if columns is None:
        return pl.DataFrame(rows, infer_schema_length=None)
    wanted = [name for name in columns if any(name in row for row in rows)]
    optional = ["system"] if "system" not in columns and any("system" in row for row in rows) else []
    schema: dict[str, Any] = {**{name: columns[name] for name in wanted}, **dict.fromkeys(optional, pl.String())}
    try:
        return pl.DataFrame([[row.get(name) for name in schema] for row in rows], schema=schema, orient="row")
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise TableError(f"{path}: a column has values of another type than {schema}: {error}") from error


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file. A text with half of a surrogate pair, which no table can hold, gets U+FFFD there."""
    with path.open(encoding="utf-8", newline="\n") as stream:
        try:
            for number, line in enumerate(stream, start=1):
                if not line.strip():
                    continue
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise TableError(f"{path}, line {number}: not a JSON object")
                yield {key: _encodable(value) for key, value in row.items()}
        except json.JSONDecodeError as error:
            raise TableError(f"{path}, line {number}: not JSON ({error.msg})") from error
        except UnicodeDecodeError as error:
            raise TableError(f"{path}: not UTF-8 ({error.reason})") from error


def _encodable(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _typed(frame: "pl.DataFrame", columns: "Mapping[str, pl.DataType]", path: Path) -> "pl.DataFrame":
    import polars as pl

    if missing := [name for name in columns if name not in frame.columns]:
        raise TableError(f"{path}: missing column {', '.join(missing)}; it has {', '.join(frame.columns) or 'none'}")
    casts = []
    for name, wanted in columns.items():
        found = frame.schema[name]
        if found == wanted:
            continue
        if found != pl.Null() and not (found.is_integer() and wanted.is_integer()) and found != pl.Categorical:
            raise TableError(f"{path}: column {name} is {found}, wanted is {wanted}")
        casts.append(pl.col(name).cast(wanted))
    return frame.with_columns(casts)
