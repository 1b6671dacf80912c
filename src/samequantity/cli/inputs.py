"""What a command reads: tables and configuration files, each with the digest under which it enters a stage's key."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from samequantity.cli.logs import log
from samequantity.errors import SettingsError
from samequantity.store.digests import json_digest
from samequantity.store.study import Made, vouched

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)  # no slots: a table is read once, at the first question
class TableInput:
    """A table that a stage reads, with the columns and types that it needs; None: as they are."""

    path: Path
    columns: "Mapping[str, pl.DataType] | None" = None

    @cached_property
    def digest(self) -> str:
        """Content digest: the manifest's word when the bytes are the ones that it promises, else computed."""
        if self._made is not None:
            return self._made.content
        from samequantity.store.digests import content_digest

        digest = content_digest(self.frame)
        log.info("%s: no manifest beside it, taken as it is", self.path)
        return digest

    @cached_property
    def frame(self) -> "pl.DataFrame":
        """The rows, after they were found to be those that the manifest, if there is one, speaks of."""
        from samequantity.store.tables import PARQUET, chosen, read_table

        if self._made is None or self.path.suffix != PARQUET:
            return read_table(self.path, self.columns)
        from samequantity.store.upkeep import checked_rows

        return chosen(checked_rows(self._made), self.columns, self.path)

    @cached_property
    def _made(self) -> Made | None:
        return vouched(self.path)


@dataclass(frozen=True, kw_only=True)
class ConfigInput:
    """A YAML file that a stage reads; comments and layout do not count."""

    path: Path

    @cached_property
    def digest(self) -> str:
        """Digest of what the file says; SettingsError for a value that JSON has no form for, such as a date."""
        try:
            return json_digest(self.content)
        except (TypeError, ValueError, RecursionError) as error:
            raise SettingsError(
                f"{self.path}: every value must be a text, a number, true, false, null, a list or a mapping with texts"
                f" as keys ({error}); put it in quotes if it is meant as text"
            ) from error

    @cached_property
    def content(self) -> dict[str, Any]:
        """The file's mapping; SettingsError when it cannot be read as one."""
        return read_yaml(self.path)

    def read(self, reader: Callable[[Mapping[str, Any]], T]) -> T:
        """What `reader` makes of the file; its SettingsError names the file too."""
        content = self.content
        try:
            return reader(content)
        except SettingsError as error:
            raise SettingsError(f"{self.path}: {error}") from error


Input = TableInput | ConfigInput


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping, no key twice; SettingsError names the file and the line."""
    import yaml

    from samequantity.closed import load_yaml

    if not path.exists():
        raise SettingsError(f"{path}: no such file")
    try:
        content = load_yaml(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise SettingsError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"{path}: not YAML in UTF-8 ({error})") from error
    if not isinstance(content, dict):
        raise SettingsError(f"{path}: holds no mapping")
    return content
