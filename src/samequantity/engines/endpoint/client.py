"""Talks to a server: one request with its attempts, its time limit and its key; what comes back is rid of the key."""

import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from samequantity.engines.endpoint.connections import open_connections, unusable_proxy
from samequantity.engines.endpoint.key import Key
from samequantity.engines.endpoint.settings import EndpointSettings
from samequantity.engines.endpoint.waiting import Patience, wanted_wait
from samequantity.engines.endpoint.words import SHOWN, shown
from samequantity.errors import ModelError

if TYPE_CHECKING:
    from httpx2 import Response
    from tenacity import RetryCallState

T = TypeVar("T")

_PASSING = frozenset({408, 429})
_NEVER = 501
"""The one 5xx that does not pass: the server does not have what is asked for."""

_SHOWN_WAITING = 120
"""Characters of a failure in the line that says how long is waited."""


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
        self._settings = settings
        self._patience = patience
        self._url = settings.url.rstrip("/")
        self._interrupted = threading.Event()
        self.key = Key.from_environment(settings.api_key)
        if self.key.echoed(json.dumps(settings.key_settings()) + settings.url):
            raise ModelError(f"The key in {settings.api_key} stands in the settings of the model, too. Take it out.")
        self._connections = open_connections(settings, self.key.headers)

    def interrupt(self) -> None:
        """End each wait for another attempt with a ModelError, now and for good; a request in flight goes on."""
        self._interrupted.set()

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
            sleep=self._sleep,
            before_sleep=lambda state: self._announce(self._url + path, state),
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

    def _announce(self, address: str, state: "RetryCallState") -> None:
        """Say what failed, how long is waited, and which attempt comes then."""
        failure = state.outcome.exception() if state.outcome else None
        if state.next_action is None or self._interrupted.is_set():
            return
        self._patience.notice(
            f"{address}: {shown(str(failure), _SHOWN_WAITING)}; waiting {state.next_action.sleep:.0f} s"
            f" (attempt {state.attempt_number + 1} of {self._settings.attempts})"
        )

    def _sleep(self, seconds: float) -> None:
        if not self._interrupted.is_set():
            self._patience.sleep(self._interrupted, seconds)
        if self._interrupted.is_set():
            raise ModelError(f"{self._url}: stopped while waiting for another attempt.")

    def _pause(self, state: "RetryCallState") -> float:
        """Seconds to the next attempt: our own, or the server's if it wants more."""
        from tenacity import wait_exponential_jitter

        patience = self._patience
        ours = wait_exponential_jitter(initial=patience.first, max=patience.longest, jitter=patience.first)(state)
        failure = state.outcome.exception() if state.outcome else None
        return max(ours, min(failure.wait, patience.told)) if isinstance(failure, _PassingError) else ours

    def _once(self, path: str, body: dict[str, Any] | None, read: Callable[[Any, float], T]) -> T:
        started = time.perf_counter()
        response, data = self._received(path, body)
        status = response.status_code
        if status in _PASSING or (status >= 500 and status != _NEVER):
            raise _PassingError(
                f"status {status}: {self._words(data)}", wanted_wait(response.headers.get("Retry-After"))
            )
        if response.is_redirect:
            raise RefusalError(status, self._shown(response.headers.get("Location", "")))
        if status != 200:
            raise RefusalError(status, self._words(data))
        try:
            return read(self._parsed(data), time.perf_counter() - started)
        except (ValueError, RecursionError) as error:
            reason = error if isinstance(error, NoAnswerError) else "it is no JSON"
            raise _PassingError(f"status 200, but not the JSON we need ({reason}): {self._words(data)}") from error

    def _received(self, path: str, body: dict[str, Any] | None) -> "tuple[Response, bytes]":
        """A whole response within the time limit, and its body."""
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
            raise _PassingError(f"{type(error).__name__} {self._shown(str(error))}".strip()) from error
        except UnicodeError as error:  # the name of a proxy's host: the server's own was looked at with the settings
            raise unusable_proxy(self._settings) from error
        return response, bytes(data)

    def _parsed(self, data: bytes) -> Any:
        """JSON without the key. ValueError for what is none, and NoAnswerError for what may mean one thing or another.

        Bytes that are not UTF-8 are not guessed at, and of two fields with one name neither is.
        """

        def refuse(constant: str) -> None:
            raise ValueError(f"{constant} is no JSON")

        def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            if len(fields := dict(pairs)) != len(pairs):
                raise NoAnswerError("a field stands in it twice")
            return fields

        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NoAnswerError("it is not in UTF-8") from error
        return self.key.cleaned(json.loads(text, parse_constant=refuse, object_pairs_hook=once))

    def _words(self, data: bytes) -> str:
        """The server's own words for a message: an error's message, or how the text begins."""
        try:
            parsed = self._parsed(data)
        except (ValueError, RecursionError):
            parsed = None
        match parsed:
            case {"error": {"message": str(said)}} | {"error": str(said)} | {"message": str(said)}:
                pass
            case {"detail": str(said)}:
                pass
            case None:
                said = data.decode("utf-8", "replace")
            case _:
                said = json.dumps(parsed, ensure_ascii=False)
        return self._shown(said) or "(nothing)"

    def _shown(self, text: str) -> str:
        """A text that came from elsewhere, as a message may hold it."""
        # The key first: what is cut off of it can no longer be found.
        return shown(self.key.hidden(text), SHOWN)
