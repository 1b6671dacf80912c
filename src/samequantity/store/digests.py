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
    return [[field.name, str(field.type)] for field in _arrow(frame).schema]


def content_digest(frame: "pl.DataFrame") -> str:
    """SHA-256 over schema and rows: the same for any compression, row groups, chunks or version of the writer.

    Column by column: number of rows, places of the nulls, then lengths and bytes (text, lists) or little-endian values
    (numbers), with nulls written as empty or zero. A dictionary of texts is text. TableError for a column of a type
    that no table of a study holds.
    """
    table = _arrow(frame)
    digest = hashlib.sha256(canonical_json([[field.name, str(field.type)] for field in table.schema]))
    for field, column in zip(table.schema, table.columns, strict=True):
        _feed(digest, column.combine_chunks(), field.name)
    return digest.hexdigest()


def _arrow(frame: "pl.DataFrame") -> "pa.Table":
    """The frame as Arrow with one physical type for each logical one."""
    import pyarrow as pa

    table = frame.to_arrow()
    return table.cast(pa.schema([(field.name, _plain(field.type)) for field in table.schema]))


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


def _feed(digest: "HASH", array: "pa.Array", name: str) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    digest.update(len(array).to_bytes(8, "little"))
    digest.update(np.packbits(pc.is_null(array).to_numpy(zero_copy_only=False)).tobytes())
    if pa.types.is_large_string(kind):
        filled = pc.fill_null(array, "")
        digest.update(pc.binary_length(filled).to_numpy(zero_copy_only=False).astype("<i8").tobytes())
        for text in filled:
            digest.update(text.as_buffer())
    elif pa.types.is_large_list(kind):
        lengths = pc.fill_null(pc.list_value_length(array), 0)
        digest.update(lengths.to_numpy(zero_copy_only=False).astype("<i8").tobytes())
        _feed(digest, array.flatten(), name)
    elif pa.types.is_struct(kind):
        for field in array.flatten():
            _feed(digest, field, name)
    elif pa.types.is_boolean(kind):
        digest.update(np.packbits(pc.fill_null(array, False).to_numpy(zero_copy_only=False)).tobytes())
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = pc.fill_null(array, 0).to_numpy(zero_copy_only=False)
        digest.update(values.astype(values.dtype.newbyteorder("<")).tobytes())
    elif not pa.types.is_null(kind):
        raise TableError(f"column {name} has type {kind}, which no table of a study holds")
