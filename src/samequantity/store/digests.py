"""Digests: of a file's bytes, and of a table's content whatever file it lies in."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from samequantity.errors import TableError

if TYPE_CHECKING:
    from _hashlib import HASH

    import polars as pl
    import pyarrow as pa


def canonical_json(value: object) -> bytes:
    """JSON with sorted keys, no blanks, no NaN, in ASCII: equal values give equal bytes.

    ASCII keeps half of a surrogate pair writable, and U+2028 ends no line for other tools.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def json_digest(value: object) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def schema_of(frame: "pl.DataFrame") -> list[list[str]]:
    """Name and type of each column, in order, as a manifest holds them."""
    return [[field.name, str(field.type)] for field in _arrow(frame)]


def content_digest(frame: "pl.DataFrame") -> str:
    """SHA-256 over schema and rows: the same for any compression, row groups, chunks or version of the writer.

    Column by column: number of rows, places of the nulls, then lengths and bytes (text, lists) or little-endian values
    (numbers), with nulls written as empty or zero. A dictionary of texts is text. TableError for a column of a type
    that no table of a study holds.
    """
    digest = hashlib.sha256(canonical_json(schema_of(frame)))
    for column in frame:
        _feed(digest, column, column.name)
    return digest.hexdigest()


def _arrow(frame: "pl.DataFrame") -> "pa.Schema":
    """The frame's columns as Arrow has them, with one physical type for each logical one."""
    import pyarrow as pa

    return pa.schema([(field.name, _plain(field.type)) for field in frame.clear().to_arrow().schema])


def _plain(kind: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa

    if pa.types.is_string(kind) or pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
        return pa.large_string()
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.large_list(pa.field("item", _plain(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _plain(field.type)) for field in kind])
    return kind


def _feed(digest: "HASH", values: "pl.Series", name: str) -> None:
    """Add a column; with polars' own means, since pyarrow imports all of pandas to turn an array into numbers."""
    import numpy as np
    import polars as pl

    kind = values.dtype
    digest.update(len(values).to_bytes(8, "little"))
    digest.update(np.packbits(values.is_null().to_numpy()).tobytes())
    if isinstance(kind, pl.String | pl.Categorical | pl.Enum):
        filled = values.cast(pl.String).fill_null("")
        digest.update(filled.str.len_bytes().to_numpy().astype("<i8").tobytes())
        digest.update("".join(filled).encode())
    elif isinstance(kind, pl.List):
        digest.update(values.list.len().fill_null(0).to_numpy().astype("<i8").tobytes())
        _feed(digest, values.filter(values.list.len() > 0).explode(), name)
    elif isinstance(kind, pl.Struct):
        for field in kind.fields:
            _feed(digest, values.struct.field(field.name), name)
    elif isinstance(kind, pl.Boolean):
        digest.update(np.packbits(values.fill_null(False).to_numpy()).tobytes())
    elif kind.is_integer() or kind.is_float():
        numbers = values.fill_null(0).to_numpy()
        digest.update(numbers.astype(numbers.dtype.newbyteorder("<")).tobytes())
    elif not isinstance(kind, pl.Null):
        raise TableError(f"column {name} has type {kind}, which no table of a study holds")
