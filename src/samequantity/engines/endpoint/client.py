"""Talks to a server: one request with its attempts, its time limit and its key; what comes back is rid of the key."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from samequantity.engines.endpoint.key import Key
from samequantity.engines.endpoint.settings import EndpointSettings
from samequantity.errors import ModelError

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import Response
    from tenacity import RetryCallState

T = TypeVar("T")

CONNECT_SECONDS = 30.0
_PASSING = frozenset({408, 429})
_NEVER = 501
"""The one 5xx that does not pass: the server does not have what is asked for."""
_SHOWN = 300
"""Characters of a server's own words in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds between two attempts: they double from `first` to `longest`, and a random part of `first` comes on top.

    A server that says how long to wait is obeyed up to `told`.
    """

    first: float = 1.0
    longest: float = 60.0
    told: float = 300.0
    sleep: Callable[[float], None] = time.sleep


class RefusalError(Exception):
    """An answer that another attempt would not change: its status, and what the server says of it, on one line."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"status {status}: {said}")
        self.status: Final = status
        self.said: Final = said


class _PassingError(Exception):
    """A failure that may be over at the next attempt, and how long the server asks to wait."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait: Final = wait


class NoAnswerError(ValueError):
    """JSON that lacks what is needed, and what that is."""


class Client:
    """A connection to one server, for several threads at once. Close it at the end."""

    def __init__(self, settings: EndpointSettings, patience: Patience) -> None:
        from httpx2 import Client as Connections
        from httpx2 import InvalidURL, Limits, Timeout

        self._settings = settings
        self._patience = patience
        self._url = settings.url.rstrip("/")
        self.key = Key.from_environment(settings.api_key)
        if self.key.hidden(kept := json.dumps(settings.key_settings()) + settings.url) != kept:
            raise ModelError(f"The key in {settings.api_key} stands in the settings of the model, too. Take it out.")
        try:
            self._connections = Connections(
                headers=self.key.headers,
                verify=_certificates(),
                timeout=Timeout(settings.timeout, connect=min(settings.timeout, CONNECT_SECONDS)),
                limits=Limits(max_connections=settings.in_flight),
                # The key would go along, to wherever the server says.
                follow_redirects=False,
                # No proxy stands between us and this machine, whatever the environment says.
                mounts={"all://127.0.0.1": None, "all://localhost": None, "all://[::1]": None},
            )
        except (InvalidURL, ValueError) as error:  # a proxy of the environment that is no address
            raise ModelError(f"{self._url}: no connection can be set up ({type(error).__name__}).") from error

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    def ask(self, path: str, body: dict[str, Any] | None, read: Callable[[Any, float], T]) -> T:
        """What `read` makes of the JSON that the server sends for `body`, or for a GET without one, and its seconds.

        `read` raises NoAnswerError for JSON that is no answer. Asks again after failures that may pass: status 408, 429
        and 5xx, broken connections, time limits, and a 200 without an answer in it. Raises RefusalError for any other
        status, and ModelError when all attempts failed.
        """
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        attempts = Retrying(
            sleep=self._patience.sleep,
            stop=stop_after_attempt(self._settings.attempts),
            wait=self._pause,
            retry=retry_if_exception_type(_PassingError),
            reraise=True,
        )
        try:
            answer: T = attempts(self._once, path, body, read)
        except _PassingError as error:
            raise ModelError(
                f"{self._url}{path}: no answer in {self._settings.attempts} attempts; the last one: {error}. Is the"
                " server up and its address right? The same command goes on from here; raise timeout or attempts for"
                " a slow one."
            ) from error
        return answer

    def _pause(self, state: "RetryCallState") -> float:
        """Seconds to the next attempt: our own, or the server's if it wants more."""
        from tenacity import wait_exponential_jitter

        patience = self._patience
        ours = wait_exponential_jitter(initial=patience.first, max=patience.longest, jitter=patience.first)(state)
        failure = state.outcome.exception() if state.outcome else None
        return max(ours, min(failure.wait, patience.told)) if isinstance(failure, _PassingError) else ours

    def _once(self, path: str, body: dict[str, Any] | None, read: Callable[[Any, float], T]) -> T:
        started = time.perf_counter()
        response, text = self._received(path, body)
        status = response.status_code
        if status in _PASSING or (status >= 500 and status != _NEVER):
            raise _PassingError(
                f"status {status}: {self._words(text)}", _wanted_wait(response.headers.get("Retry-After"))
            )
        if response.is_redirect:
            raise RefusalError(status, self._words(response.headers.get("Location", "")))
        if status != 200:
            raise RefusalError(status, self._words(text))
        try:
            return read(self._parsed(text), time.perf_counter() - started)
        except (ValueError, RecursionError) as error:
            reason = error if isinstance(error, NoAnswerError) else "no JSON"
            raise _PassingError(f"status 200, but {reason}: {self._words(text)}") from error

    def _received(self, path: str, body: dict[str, Any] | None) -> "tuple[Response, str]":
        """A whole response within the time limit, and its text without the key."""
        from httpx2 import InvalidURL, RequestError

        deadline = time.monotonic() + self._settings.timeout
        content = None if body is None else json.dumps(body).encode()
        method, headers = ("GET", {}) if body is None else ("POST", {"Content-Type": "application/json"})
        data = bytearray()
        try:
            with self._connections.stream(method, self._url + path, content=content, headers=headers) as response:
                for chunk in response.iter_bytes():
                    data += chunk
                    # A server that sends a blank now and then would never be too late for a single read.
                    if time.monotonic() > deadline:
                        raise _PassingError(f"not whole within {self._settings.timeout:g} s")
        except (RequestError, InvalidURL) as error:
            raise _PassingError(f"{type(error).__name__} {self._words(str(error))}".strip()) from error
        return response, self.key.hidden(data.decode("utf-8", "replace"))

    def _parsed(self, text: str) -> Any:
        def refuse(constant: str) -> None:
            raise ValueError(f"{constant} is no JSON")

        # Again without the key: JSON has more than one way to write a character.
        return self.key.cleaned(json.loads(text, parse_constant=refuse))

    def _words(self, text: str) -> str:
        """The server's own words, on one line: an error's message, or how the text begins."""
        try:
            parsed = self._parsed(text)
        except (ValueError, RecursionError):
            parsed = None
        match parsed:
            case {"error": {"message": str(said)}} | {"error": str(said)} | {"message": str(said)}:
                pass
            case {"detail": str(said)}:
                pass
            case None:
                said = text
            case _:
                said = json.dumps(parsed, ensure_ascii=False)
        line = " ".join(self.key.hidden(said).split())
        return line[:_SHOWN] or "(nothing)"


@cache
def _certificates() -> "SSLContext":
    """The certificates that are trusted, read once a process: that takes longer than many a request."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


def _wanted_wait(header: str | None) -> float:
    """Seconds that a Retry-After header asks for, in numbers or as a date; 0 when it says nothing intelligible."""
    if header is None:
        return 0.0
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", header):
        return float(header)
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):  # TypeError: a date without a zone
        return 0.0
