"""The places that a pin names for a file: a local path, a file of the model hub, packages of the index."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NewType

from samequantity.errors import SettingsError

Sha256 = NewType("Sha256", str)
"""A SHA-256 digest as 64 lower-case hexadecimal digits."""

SHA256_PATTERN = re.compile(r"[0-9a-f]{64}")
COMMIT_PATTERN = re.compile(r"[0-9a-f]{40}")

_LONGEST_NAME = 255  # bytes of a name on the common file systems
_LONGEST_SHOWN = 200

_REPOSITORY = re.compile(
    r"""
    (?! .* (?: -- | \.\. ) )  (?! .* \.git $ )           # the hub takes no name with these
    (?: [A-Za-z0-9_] (?: [A-Za-z0-9._-]{0,94} [A-Za-z0-9_] )? / )?
        [A-Za-z0-9_] (?: [A-Za-z0-9._-]{0,94} [A-Za-z0-9_] )?
    """,
    re.VERBOSE,
)
_REQUIREMENT = re.compile(
    r"""
    [A-Za-z0-9] [A-Za-z0-9._-]{0,199}     # the package's name
    ==                                    # one version and no other
    [A-Za-z0-9] [A-Za-z0-9.!+_-]{0,99}
    """,
    re.VERBOSE,
)


def require(pattern: re.Pattern[str], value: str, what: str) -> None:
    """Raise SettingsError for a value that is not what it should be."""
    if not pattern.fullmatch(value):
        raise SettingsError(f"{shortened(value)} is not {what}.")


def require_commit(value: str) -> None:
    """Raise SettingsError for a value that is no commit."""
    require(COMMIT_PATTERN, value, "a commit (40 lower-case hexadecimal digits)")


def require_sha256(value: str) -> None:
    """Raise SettingsError for a value that is no SHA-256."""
    require(SHA256_PATTERN, value, "a SHA-256 (64 lower-case hexadecimal digits)")


def require_hub_file(value: str) -> None:
    """Raise SettingsError for a value that is not the path of a file inside a repository of the hub.

    It is printable, its parts are parted by `/` alone, and it leads nowhere else, since the hub's cache and the address
    of a download are made of it.
    """
    parts = value.split("/")
    if (
        not value.isprintable()  # which half of a surrogate pair is not
        or "\\" in value
        or not all(part not in ("", ".", "..") and len(part.encode()) <= _LONGEST_NAME for part in parts)
    ):
        raise SettingsError(
            f"{shortened(value)} is not a file of a repository, as weights.gguf or folder/weights.gguf is."
        )


def shortened(value: object) -> str:
    """A value from elsewhere as a message shows it: on one line, and not for pages."""
    shown = repr(value)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPin:
    """A file that the user already has; None (the default in the models file) means that there is none."""

    path: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubPin:
    """One file of a repository of the model hub at one commit; None is the commit that the first fetch finds there."""

    repository: str
    revision: str | None
    file: str

    def __post_init__(self) -> None:
        require(_REPOSITORY, self.repository, "a repository of the model hub, as owner/name is")
        require_hub_file(self.file)
        if self.revision is not None:
            require_commit(self.revision)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagePin:
    """A wheel of the package index, by its own digest, and the member of it that holds a piece of the file."""

    requirement: str
    sha256: Sha256
    member: str

    def __post_init__(self) -> None:
        require(_REQUIREMENT, self.requirement, "a requirement of the form name==version")
        require_sha256(self.sha256)

    @property
    def name(self) -> str:
        """The package's name without the version."""
        return self.requirement.partition("==")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagesPin:
    """The wheels that carry the file in pieces, in the order in which the pieces are put together."""

    packages: tuple[PackagePin, ...]


SourcePin = PathPin | HubPin | PackagesPin
