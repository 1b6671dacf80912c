"""A server on this machine with OpenAI's chat interface that misbehaves as a test wants, and settings to ask it."""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from samequantity.domain.exchange import Completion, Request, Sampling
from samequantity.engines.endpoint.engine import EndpointEngine
from samequantity.engines.endpoint.settings import EndpointSettings
from samequantity.engines.endpoint.waiting import Patience
from samequantity.engines.settings_reading import settings_of
from samequantity.errors import ModelError

MODEL = "tiny"
PROMPT = "A jug holds 7.5 × 10^3 liters. FINAL: <number> liters"
ENDPOINT: dict[str, Any] = {
    "engine": "openai",
    "url": "http://127.0.0.1:1/v1",
    "model": MODEL,
    "api_key": None,
    "in_flight": 1,
    "timeout": 5,
    "attempts": 4,
    "token_cap": "max_tokens",
    "omit": [],
    "extra": {},
    "reasoning_format": "none",
    "max_tokens": 24,
    "temperature": 0,
    "top_k": 1,
    "top_p": 1,
    "seed": 7,
}


def endpoint_settings(url: str = ENDPOINT["url"], **changes: Any) -> EndpointSettings:
    """Greedy settings for a server, with changes."""
    return settings_of(EndpointSettings, {**ENDPOINT, "url": url, **changes}, where="the test's settings")


def at_once(waits: list[float] | None = None) -> Patience:
    """No waiting and no word of it; the seconds that would have been waited go into `waits`."""
    kept = [] if waits is None else waits
    return Patience(sleep=lambda _, seconds: kept.append(seconds), notice=lambda _: None)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One response of the server."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before it begins."""
    dribble: float = 0.0
    """Seconds between two bytes."""
    broken: bool = False
    """Only half of the body comes, then the connection ends."""


def said(
    content: Any = "FINAL: 6.25 liters",
    reason: Any = "stop",
    *,
    message: dict[str, Any] | None = None,
    **changes: Any,
) -> Reply:
    """A chat completion as it should be, with changes of its top fields or of its message."""
    response = {
        "id": "chatcmpl-1",
        "created": 1,
        "choices": [
            {
                "index": 0,
                "finish_reason": reason,
                "message": {"role": "assistant", "content": content, **(message or {})},
            }
        ],
        "usage": {"prompt_tokens": 25, "completion_tokens": 4, "total_tokens": 29},
        "system_fingerprint": "fp_one",
    }
    return Reply(body=json.dumps(response | changes).encode())


def refusal(status: int, message: str = "no", **headers: str) -> Reply:
    """An error as the interface has it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body=json.dumps({"error": {"message": message}}).encode(), headers=named)


def listing(*names: str, **fields: Any) -> Reply:
    """A list of models."""
    models = [{"id": name, "object": "model", "created": time.time_ns(), **fields} for name in names]
    return Reply(body=json.dumps({"object": "list", "data": models}).encode())


Behaviour = Reply | Callable[["Asked"], Reply]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as the server saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][0]["content"])


@dataclass
class FakeEndpoint:
    """What the server does: `plan` reply by reply, then `usual` for ever; and what it saw."""

    usual: Behaviour = field(default_factory=said)
    plan: deque[Behaviour] = field(default_factory=deque)
    models: Behaviour = field(default_factory=lambda: listing(MODEL))
    asked: list[Asked] = field(default_factory=list)
    most: int = 0
    """Chat requests at once, at most."""
    port: int = 0
    _present: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[Asked]:
        return [request for request in self.asked if request.path.endswith("/chat/completions")]

    def will(self, *replies: Behaviour) -> None:
        """What to reply to the next chat requests."""
        self.plan.extend(replies)

    def reply(self, request: Asked) -> Reply:
        """What to send now, when its delay is over."""
        with self._lock:
            self.asked.append(request)
            if not request.body:
                behaviour = self.models
            else:
                behaviour = self.plan.popleft() if self.plan else self.usual
                self._present += 1
                self.most = max(self.most, self._present)
        try:
            reply = behaviour(request) if callable(behaviour) else behaviour
            time.sleep(reply.delay)
            return reply
        finally:
            with self._lock:
                self._present -= bool(request.body)


@contextmanager
def serving(fake: FakeEndpoint | None = None) -> Iterator[FakeEndpoint]:
    """The server, at `fake.url`, until the end of the block."""
    fake = fake or FakeEndpoint()
    server = _Server(("127.0.0.1", 0), _handler(fake))
    fake.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client that gave up leaves a thread that is still replying

    def handle_error(self, *_arguments: object) -> None:
        """Say nothing when a client goes away."""


def _handler(fake: FakeEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each reply waits 40 ms for its acknowledgement

        def log_message(self, *_arguments: object) -> None:
            """Say nothing on the test's error stream."""

        def do_GET(self) -> None:
            size = int(self.headers["Content-Length"] or 0)
            body = json.loads(self.rfile.read(size)) if size else {}
            reply = fake.reply(Asked(path=self.path, headers=dict(self.headers), body=body))
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            sent = reply.body[: len(reply.body) // 2] if reply.broken else reply.body
            for part in (bytes([byte]) for byte in sent) if reply.dribble else (sent,):
                self.wfile.write(part)
                time.sleep(reply.dribble)
            self.close_connection = reply.broken

        def do_POST(self) -> None:
            self.do_GET()

    return Handler


@pytest.fixture
def server() -> Iterator[FakeEndpoint]:
    """A server that answers as it should until it is told otherwise."""
    with serving() as fake:
        yield fake


def request(prompt: str = PROMPT, **sampling: Any) -> Request:
    chosen = {"temperature": 0.0, "top_k": 1, "top_p": 1.0, "seed": 7, **sampling}
    return Request(prompt=prompt, max_tokens=24, sampling=Sampling(**chosen))


def engine(server: FakeEndpoint, *, patience: Patience | None = None, **changes: Any) -> EndpointEngine:
    """An engine for the server, which waits for nothing and says nothing."""
    return EndpointEngine(
        endpoint_settings(server.url, **changes), patience=patience or at_once(), notice=lambda _: None
    )


def answer(server: FakeEndpoint, **changes: Any) -> Completion:
    """What the engine makes of the server's next answer."""
    with engine(server, **changes) as opened:
        return opened.complete(request())


def failure(server: FakeEndpoint, **changes: Any) -> str:
    """The message of the ModelError that the server's next answer comes to."""
    with pytest.raises(ModelError) as failed:
        answer(server, **changes)
    return str(failed.value)
