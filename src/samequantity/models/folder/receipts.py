"""Receipts: which files a fetch or a verification found, without a word about the machine or the time."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from samequantity.models.pinning.pins import ModelName
from samequantity.models.pinning.source_pins import Sha256
from samequantity.store.files import write_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReceipt:
    """A file whose bytes were hashed: its name, its size in bytes, its SHA-256."""

    file: str
    size: int
    sha256: Sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The files of a model, in the order of its pin."""

    model: ModelName
    files: tuple[FileReceipt, ...]

    @property
    def digest(self) -> Sha256:
        """One digest for all shards; see `digest_of_shards`."""
        return digest_of_shards([file.sha256 for file in self.files])

    def to_json(self) -> str:
        """The receipt as JSON, the same bytes for the same files."""
        files = [{"file": file.file, "bytes": file.size, "sha256": file.sha256} for file in self.files]
        return json.dumps({"model": self.model, "files": files}, indent=2) + "\n"


def digest_of_shards(digests: Sequence[Sha256]) -> Sha256:
    """One digest for all shards: the file's own when there is one, else the SHA-256 of the digests' lines."""
    if len(digests) == 1:
        return digests[0]
    lines = "".join(f"{digest}\n" for digest in digests)
    return Sha256(hashlib.sha256(lines.encode("ascii")).hexdigest())


def write_receipt(receipt: Receipt, path: Path) -> None:
    """Write the receipt so that a reader sees the old file or the new one, and nothing in between."""
    write_whole(path, receipt.to_json().encode())
