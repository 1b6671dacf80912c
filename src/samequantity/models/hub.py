"""The model hub as a source, through huggingface_hub.

HF_HOME, HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE are honoured, since huggingface_hub reads them. A file that is in
the hub's own cache is used from there. Else it is downloaded into the workspace, where a download that was cut off,
even by a killed process, goes on: `hf_hub_download` gives each process a file of its own and starts again.
"""

import hashlib
import multiprocessing
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial as partial_of
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from samequantity.errors import IntegrityError
from samequantity.models.pins import FilePin, HubPin, Sha256
from samequantity.models.progress import Meter, Reporter
from samequantity.models.sources import (
    SECONDS_TO_REACH,
    Obtained,
    SourceKind,
    SourceUnavailable,
    link,
    require_space,
)
from samequantity.store.digests import file_digest

if TYPE_CHECKING:
    from huggingface_hub import HfFileMetadata

Result = TypeVar("Result")

PARTIAL_PREFIX = "hub-"
"""A file of the workspace with this prefix is the beginning of a download, worth keeping for the next attempt."""

_SHA256_ETAG = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """One file of the hub at a pinned commit."""

    pin: HubPin

    @property
    def kind(self) -> SourceKind:
        return SourceKind.HUB

    def describe(self) -> str:
        return f"the model hub ({self.pin.repository} at {self.pin.revision[:12]})"

    def obtain(self, file: FilePin, workspace: Path, reporter: Reporter) -> Obtained:
        from huggingface_hub import constants, try_to_load_from_cache

        cached = try_to_load_from_cache(self.pin.repository, self.pin.file, revision=self.pin.revision)
        if isinstance(cached, str):
            return link(Path(cached), workspace)
        if constants.is_offline_mode():
            raise SourceUnavailable("HF_HUB_OFFLINE is set and the hub's cache does not hold the file")
        found = self._look()
        self._refuse_another_file(file, found)
        partial = workspace / f"{PARTIAL_PREFIX}{hashlib.sha256(repr(self.pin).encode()).hexdigest()[:16]}"
        size = found.size or file.size
        require_space(workspace, max(0, (size or 0) - _size(partial)))
        with reporter.meter(file.name, size) as meter:
            self._download(partial, size, meter)
        return Obtained(path=partial, size=_size(partial), sha256=Sha256(file_digest(partial)), origin=self.describe())

    def _look(self) -> "HfFileMetadata":
        """What the hub says about the file; SourceUnavailable when it says nothing in time."""
        from httpx2 import HTTPError, InvalidURL
        from huggingface_hub import get_hf_file_metadata, hf_hub_url
        from huggingface_hub.errors import GatedRepoError, HfHubHTTPError

        url = hf_hub_url(self.pin.repository, self.pin.file, revision=self.pin.revision)
        try:
            return within(SECONDS_TO_REACH, lambda: get_hf_file_metadata(url, timeout=SECONDS_TO_REACH))
        except GatedRepoError as error:
            raise SourceUnavailable(
                "the repository is gated: accept its terms on its page and set HF_TOKEN to your token"
            ) from error
        except HfHubHTTPError as error:
            raise SourceUnavailable(_first_line(error)) from error
        except TimeoutError as error:
            raise SourceUnavailable("no answer within 5 s", unreachable=True) from error
        except (HTTPError, InvalidURL, OSError) as error:
            raise SourceUnavailable(f"no connection ({_first_line(error)})", unreachable=True) from error

    def _refuse_another_file(self, file: FilePin, found: "HfFileMetadata") -> None:
        """Raise IntegrityError, before gigabytes are downloaded, when the hub itself names another digest or size."""
        # Large files have their SHA-256 for an ETag; a small one has a git hash, which says nothing here.
        digest = found.etag if found.etag is not None and _SHA256_ETAG.fullmatch(found.etag) else None
        if (digest is not None and file.sha256 not in (None, digest)) or (
            found.size is not None and file.size not in (None, found.size)
        ):
            raise IntegrityError(
                f"{file.name}: {self.describe()} offers {self.pin.file} with SHA-256 {digest or 'unknown'} "
                f"({found.size} bytes); wanted {file.sha256} ({file.size} bytes). Nothing was downloaded. "
                f"Correct the hub's revision or the file's digest in the models file, or take the hub out of it."
            )

    def _download(self, partial: Path, size: int | None, meter: Meter) -> None:
        """Add what is missing to the partial file."""
        from httpx2 import HTTPError
        from huggingface_hub import get_token, hf_hub_url
        from huggingface_hub.file_download import http_get

        if size is None or _size(partial) > size:
            partial.unlink(missing_ok=True)
        partial.touch()
        token = get_token()
        with partial.open("r+b") as out:
            start = out.seek(0, os.SEEK_END)
            meter.at(start)
            try:
                http_get(
                    hf_hub_url(self.pin.repository, self.pin.file, revision=self.pin.revision),
                    out,
                    resume_size=start,
                    # Both redirects and retries keep to these; a token goes to the hub's own host only.
                    headers={"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})},
                    expected_size=size,
                    tqdm_class=cast("Any", partial_of(_FeedingBar, meter)),
                )
            except (HTTPError, OSError, ValueError) as error:
                raise SourceUnavailable(
                    f"the download broke off after {_size(partial) / 1e6:.0f} MB ({_first_line(error)}); "
                    f"the next fetch goes on from there"
                ) from error
            out.flush()
            os.fsync(out.fileno())


def within(seconds: float, function: Callable[[], Result]) -> Result:
    """The function's result, or TimeoutError when it takes longer.

    A time limit of a socket does not cover the resolution of names, which can hang for minutes, so the function runs
    in a daemon thread, and one that hangs is left behind.
    """
    pool = ThreadPool(processes=1)
    outcome = pool.apply_async(function)
    pool.close()
    try:
        return outcome.get(timeout=seconds)
    except multiprocessing.TimeoutError as error:
        raise TimeoutError(f"no result within {seconds} s") from error


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


def _first_line(error: Exception) -> str:
    """What an error of another library says, on one line of bounded length."""
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
