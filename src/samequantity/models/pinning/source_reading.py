"""Reading the sources of a file out of a models file, each error with the place where it happened."""

from pathlib import Path

from samequantity.closed import closed_mapping, open_mapping, optional_text, sequence, text
from samequantity.errors import SettingsError
from samequantity.models.pinning.source_pins import HubPin, PackagePin, PackagesPin, PathPin, Sha256, SourcePin


def read_source(value: object, where: str) -> SourcePin:
    """The source that stands at `where`; SettingsError for one that cannot be used."""
    item = open_mapping(value, where)
    if len(item) != 1:
        raise SettingsError(f"{where}: one key is wanted, path, hub or packages, not {', '.join(item) or 'none'}.")
    ((kind, content),) = item.items()
    where = f"{where}.{kind}"
    try:
        match kind:
            case "path":
                return PathPin(path=_path(optional_text(content, where)))
            case "hub":
                keys = closed_mapping(content, where, keys=("repository", "revision", "file"))
                return HubPin(
                    repository=text(keys["repository"], f"{where}.repository"),
                    revision=optional_text(keys["revision"], f"{where}.revision"),
                    file=text(keys["file"], f"{where}.file"),
                )
            case "packages":
                packages = sequence(content, where)
                return PackagesPin(packages=tuple(_package(p, f"{where}[{i}]") for i, p in enumerate(packages)))
            case _:
                raise SettingsError(f"{where}: unknown key {kind!r}; the keys here are path, hub, packages.")
    except SettingsError as error:
        raise placed(error, where) from error


def _path(written: str | None) -> Path | None:
    if written is None:
        return None
    if "\0" in written:
        raise SettingsError(f"{written!r} is not a path.")
    try:
        return Path(written).expanduser()
    except RuntimeError as error:
        raise SettingsError(f"{written!r}: nobody knows that home folder. Write the whole path.") from error


def _package(value: object, where: str) -> PackagePin:
    keys = closed_mapping(value, where, keys=("requirement", "sha256", "member"))
    try:
        return PackagePin(
            requirement=text(keys["requirement"], f"{where}.requirement"),
            sha256=Sha256(text(keys["sha256"], f"{where}.sha256")),
            member=text(keys["member"], f"{where}.member"),
        )
    except SettingsError as error:
        raise placed(error, where) from error


def placed(error: SettingsError, where: str) -> SettingsError:
    """The error with the place where it happened, unless it names one already (an inner place is the closer one)."""
    file = where.partition(": ")[0]
    return error if str(error).startswith(f"{file}: ") else SettingsError(f"{where}: {error}")
