"""What the model hub says about a repository: its commit, and the sizes and digests of its files.

The user's token (HF_TOKEN, or the one that `hf auth login` kept) goes into requests to the hub and nowhere else: no
message and no file has it.
"""

import multiprocessing
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.pool import ThreadPool
from typing import TypeVar

from samequantity.errors import SettingsError
from samequantity.models.fetching.sources import SECONDS_TO_REACH, SourceUnavailable
from samequantity.models.pinning.source_pins import COMMIT_PATTERN, SHA256_PATTERN, Sha256, shortened

Result = TypeVar("Result")

_TOKEN = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file as the hub describes it; no digest is given for one that the hub keeps outside its large-file storage."""

    size: int | None
    sha256: Sha256 | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A repository at one commit."""

    repository: str
    commit: str
    files: Mapping[str, HubFile]


def hub_is_offline() -> bool:
    """Whether HF_HUB_OFFLINE is set."""
    from huggingface_hub import constants

    return constants.is_offline_mode()


def ask_repository(repository: str, commit: str | None) -> Snapshot:
    """The repository at a commit, or (None) at the current one; SourceUnavailable when the hub does not say."""
    from huggingface_hub import HfApi

    found = ask(
        lambda: HfApi().model_info(repository, revision=commit, files_metadata=True, timeout=SECONDS_TO_REACH),
    )
    if not isinstance(found.sha, str) or not COMMIT_PATTERN.fullmatch(found.sha):
        raise SourceUnavailable(f"the hub names no commit of {repository}")
    return Snapshot(
        repository=repository,
        commit=found.sha,
        files={
            file.rfilename: _described(
                f"{file.rfilename} of {repository}", file.size, None if file.lfs is None else file.lfs.sha256
            )
            for file in found.siblings or ()
        },
    )


def _described(file: str, size: object, sha256: object) -> HubFile:
    """A file as the hub describes it; SourceUnavailable for a description that cannot be one."""
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 0):
        raise SourceUnavailable(f"what the hub says cannot be used: {shortened(size)} for the size of {file}")
    if sha256 is not None and (not isinstance(sha256, str) or not SHA256_PATTERN.fullmatch(sha256)):
        raise SourceUnavailable(f"what the hub says cannot be used: {shortened(sha256)} for the SHA-256 of {file}")
    return HubFile(size=size, sha256=None if sha256 is None else Sha256(sha256))


def ask(question: Callable[[], Result]) -> Result:
    """The hub's answer to a question put through huggingface_hub; SourceUnavailable when there is none."""
    from httpx2 import HTTPError, InvalidURL
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError

    user_token()
    try:
        return within(SECONDS_TO_REACH, question)
    except GatedRepoError as error:
        raise SourceUnavailable(
            "the repository is gated: accept its terms on its page and set HF_TOKEN to your token, "
            "or log in with `hf auth login`"
        ) from error
    except HfHubHTTPError as error:
        raise SourceUnavailable(first_line(error)) from error
    except TimeoutError as error:
        raise SourceUnavailable("no answer within 5 s", unreachable=True) from error
    except (HTTPError, InvalidURL, OSError) as error:
        raise SourceUnavailable(f"no connection ({first_line(error)})", unreachable=True) from error
    except ImportError as error:
        if "socks" not in str(error).lower():
            raise
        raise SourceUnavailable(
            "the environment names a SOCKS proxy (ALL_PROXY or another), and the package that speaks to one is not "
            "installed: pip install socksio, or unset that variable",
            unreachable=True,
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:  # a page of a proxy, a setting that cannot be
        raise SourceUnavailable(f"no answer that can be read ({first_line(error)})") from error


def user_token() -> str | None:
    """The token that requests to the hub have, if any.

    Raises SettingsError for one that cannot be sent, before a library puts it into a message.
    """
    from huggingface_hub import constants, get_token

    token = None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
    if token is not None and not _TOKEN.fullmatch(token):
        raise SettingsError(
            "the token for the model hub has characters that no token has. Set HF_TOKEN again, or log in again with "
            "`hf auth login`."
        )
    return token


def first_line(error: Exception) -> str:
    """What an error of another library says, on one line of bounded length and without the token."""
    lines = str(error).strip().splitlines()
    said = lines[0][:200] if lines else type(error).__name__
    said = "".join(character if character.isprintable() else "?" for character in said)
    return said.replace(user_token() or "\0", "(the token)")


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
