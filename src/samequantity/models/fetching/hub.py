"""The model hub as a source, through huggingface_hub.

HF_HOME, HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE are honoured, since huggingface_hub reads them. A file that is in
the hub's own cache is used from there. Else it is downloaded into the workspace, where a download that was cut off,
even by a killed process, goes on: `hf_hub_download` gives each process a file of its own and starts again.
"""

import hashlib
import os
import time
from dataclasses import dataclass, replace
from functools import partial as partial_of
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from samequantity.errors import IntegrityError
from samequantity.models.fetching.hub_api import ask, first_line, user_token
from samequantity.models.fetching.progress import Meter, Reporter
from samequantity.models.fetching.sources import (
    SECONDS_TO_REACH,
    Obtained,
    SourceKind,
    SourceUnavailable,
    link,
    require_space,
)
from samequantity.models.folder.records import HubOrigin
from samequantity.models.folder.verification import wanted
from samequantity.models.pinning.pins import FilePin
from samequantity.models.pinning.source_pins import SHA256_PATTERN, HubPin, Sha256
from samequantity.models.sizes import exact_size, size_text
from samequantity.store.digests import file_digest

SECONDS_BEFORE_GOING_ON = 1.0

PARTIAL_PREFIX = "hub-"
"""A file of the workspace with this prefix is the beginning of a download, worth keeping for the next attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """One file of the hub at a commit; without one (`revision: null`) the source can be described and no more."""

    pin: HubPin
    offline: bool

    @property
    def kind(self) -> SourceKind:
        return SourceKind.HUB

    @property
    def origin(self) -> HubOrigin:
        """The file at its commit, which whoever obtains it has settled: nothing is taken from a moving branch."""
        if self.pin.revision is None:
            raise ValueError(f"{self.pin.repository}: the commit is not settled")
        return HubOrigin(repository=self.pin.repository, commit=self.pin.revision, file=self.pin.file)

    def describe(self) -> str:
        at = "its current commit" if self.pin.revision is None else self.pin.revision[:12]
        return f"the model hub ({self.pin.repository} at {at})"

    def room(self, file: FilePin, workspace: Path) -> int | None:
        if self._cached() is not None:
            return 0
        return None if self.offline else max(0, (file.size or 0) - _size(self._partial(workspace)))

    def obtain(self, file: FilePin, workspace: Path, reporter: Reporter) -> Obtained:
        from huggingface_hub import get_hf_file_metadata

        cached = self._cached()
        if cached is not None:
            linked = replace(link(cached, workspace), hub=self.origin)
            # The cache calls a large file by its SHA-256.
            self._refuse_damaged(file, _sha256_or_none(cached.resolve().name), linked)
            return linked
        if self.offline:
            raise SourceUnavailable("offline, and the hub's cache does not hold the file")
        found = ask(lambda: get_hf_file_metadata(self._url, timeout=SECONDS_TO_REACH))
        # Large files have their SHA-256 for an ETag; a small one has a git hash, which says nothing here.
        announced = _sha256_or_none(found.etag)
        self._refuse_another_file(file, announced, found.size)
        partial, size = self._partial(workspace), found.size or file.size
        self._drop_others(partial)
        require_space(workspace.parent, max(0, (size or 0) - _size(partial)), [file.name])
        with reporter.meter(file.name, size) as meter:
            self._download(partial, size, meter)
        obtained = Obtained(
            path=partial,
            size=_size(partial),
            sha256=Sha256(file_digest(partial)),
            origin=self.describe(),
            hub=self.origin,
        )
        self._refuse_damaged(file, announced, obtained)
        return obtained

    @property
    def _url(self) -> str:
        from huggingface_hub import hf_hub_url

        return hf_hub_url(self.pin.repository, self.pin.file, revision=self.origin.commit)

    def _cached(self) -> Path | None:
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(self.pin.repository, self.pin.file, revision=self.origin.commit)
        return Path(cached) if isinstance(cached, str) else None

    def _partial(self, workspace: Path) -> Path:
        return workspace / f"{PARTIAL_PREFIX}{hashlib.sha256(repr(self.pin).encode()).hexdigest()[:16]}"

    def _drop_others(self, partial: Path) -> None:
        """Remove the beginnings of another commit's file, or another repository's: they are not worth their room."""
        for other in partial.parent.glob(f"{PARTIAL_PREFIX}*"):
            if other != partial:
                other.unlink()

    def _refuse_another_file(self, file: FilePin, announced: Sha256 | None, size: int | None) -> None:
        """Raise IntegrityError, before gigabytes are downloaded, when the hub itself names another digest or size."""
        if (announced is not None and file.sha256 not in (None, announced)) or (
            size is not None and file.size not in (None, size)
        ):
            raise IntegrityError(
                f"{file.name}: {self.describe()} offers {self.pin.file} with SHA-256 {announced or 'unknown'} "
                f"({exact_size(size)}); wanted {wanted(file)}. Nothing was downloaded. "
                f"Correct the hub's revision or the file's digest in the models file, or take the hub out of it; where "
                f"no digest is pinned, the wanted one is that of {file.name}.sha256, beside the file."
            )

    def _refuse_damaged(self, file: FilePin, announced: Sha256 | None, obtained: Obtained) -> None:
        """Raise IntegrityError for a file that no digest is pinned of and that is not what the hub calls it."""
        if file.sha256 is None and announced not in (None, obtained.sha256):
            obtained.path.unlink()
            raise IntegrityError(
                f"{file.name}: {self.describe()} calls {self.pin.file} SHA-256 {announced}, and what {obtained.origin} "
                f"has is SHA-256 {obtained.sha256}. It is not used; delete it there if it lies on this machine, and "
                f"fetch again."
            )

    def _download(self, partial: Path, size: int | None, meter: Meter) -> None:
        """Add what is missing to the partial file; a connection that breaks is taken up again while bytes come."""
        from httpx2 import HTTPError

        if size is None or _size(partial) > size:
            partial.unlink(missing_ok=True)
        partial.touch()
        with partial.open("r+b") as out:
            while True:
                start = out.seek(0, os.SEEK_END)
                meter.at(start)
                try:
                    self._request_rest(out, start, size, meter)
                    break
                except (HTTPError, OSError, ValueError) as error:
                    out.flush()
                    if not start < _size(partial) < (size or 0):
                        raise SourceUnavailable(
                            f"the download broke off after {size_text(_size(partial))} ({first_line(error)}); "
                            f"the next fetch goes on from there"
                        ) from error
                time.sleep(SECONDS_BEFORE_GOING_ON)
            out.flush()
            os.fsync(out.fileno())

    def _request_rest(self, out: BinaryIO, start: int, size: int | None, meter: Meter) -> None:
        from huggingface_hub.file_download import http_get

        token = user_token()
        http_get(
            self._url,
            out,
            resume_size=start,
            # Both redirects and retries keep to these; the token in them goes to the hub's own host only.
            headers={"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})},
            expected_size=size,
            tqdm_class=cast("Any", partial_of(_FeedingBar, meter)),
        )


def _sha256_or_none(text: str | None) -> Sha256 | None:
    return Sha256(text) if text is not None and SHA256_PATTERN.fullmatch(text) else None


class _FeedingBar:
    """What huggingface_hub takes for a progress bar: it shows nothing and passes each step on to our meter."""

    def __init__(self, meter: Meter, *, initial: int = 0, **_looks: object) -> None:
        self._meter = meter
        self._position = initial

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Nothing to close."""

    def update(self, n: int = 1) -> None:
        self._position += n
        self._meter.at(self._position)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
