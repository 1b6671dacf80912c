"""A server on this machine that plays the model hub, and the host that it sends downloads to."""

import fcntl
import hashlib
import json
import os
import socket
import struct
import termios
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

REVISION = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "somebody/tiny"
WEIGHTS = "weights.gguf"
LATER = "f" * 40
FIRST, SECOND = "big-00001-of-00002.gguf", "big-00002-of-00002.gguf"
SHARDS = {FIRST: b"first" * 1000, SECOND: b"second" * 1000}
MOVED = {FIRST: b"FIRST" * 1000, SECOND: b"SECOND" * 1000}
"""The same two files of a repository at REVISION and at LATER."""


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class FakeHub:
    """A hub with one repository, `somebody/tiny`: files by commit, one commit the current one."""

    commits: dict[str, dict[str, bytes]]
    current: str = REVISION
    announced: dict[str, str] = field(default_factory=dict)
    """Digests that the hub claims instead of the true ones; empty: it names none, as for a small file."""
    nonsense: dict[str, object] = field(default_factory=dict)
    """What the hub says of every file instead of the truth, by the key of its description."""
    breaks: dict[str, list[int]] = field(default_factory=dict)
    """After how many bytes the first downloads of a file break."""
    resets: bool = False
    """Whether a connection that breaks is reset, not closed."""
    gated: bool = False
    elsewhere: bool = False
    """Whether downloads are sent on to another host, as large files are."""
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    """Each download: the file, and the range that was asked for."""
    asked: list[str] = field(default_factory=list)
    """Each question about the repository: its path."""
    sent: dict[str, int] = field(default_factory=dict)
    tokens: list[str | None] = field(default_factory=list)
    tokens_elsewhere: list[str | None] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def content(self) -> bytes:
        return self.commits[REVISION][WEIGHTS]

    @content.setter
    def content(self, content: bytes) -> None:
        self.commits[REVISION][WEIGHTS] = content

    @property
    def ranges(self) -> list[str | None]:
        return [wanted for _, wanted in self.requests]

    @property
    def source(self) -> dict[str, Any]:
        return hub_source(WEIGHTS, REVISION)

    def digest(self, name: str, content: bytes) -> str:
        return self.announced.get(name, sha256(content))


def hub_source(file: str, revision: str | None) -> dict[str, Any]:
    return {"hub": {"repository": REPOSITORY, "revision": revision, "file": file}}


def _await_delivery(connection: socket.socket) -> None:
    """Wait until the other end has all that was sent, which a reset would overtake."""
    waiting = bytearray(4)
    for _ in range(2000):
        fcntl.ioctl(connection, termios.TIOCOUTQ, waiting)
        if not any(waiting):
            return
        time.sleep(0.005)


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_arguments: object) -> None:
            """Say nothing on the test's error stream."""

        def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in ({"Content_Length": str(len(body))} | headers).items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def found(self) -> tuple[str, str, bytes] | None:
            """Commit, name and bytes of the file that is asked for; None, and an answer, when there is none."""
            match self.path.split("/"):
                case ["", "somebody", "tiny", "resolve" | "elsewhere", commit, name] if not hub.gated:
                    content = hub.commits.get(commit, {}).get(name)
                    if content is not None:
                        return commit, name, content
            error = "GatedRepo" if hub.gated else "EntryNotFound"
            self.reply(403 if hub.gated else 404, X_Error_Code=error)
            return None

        def do_HEAD(self) -> None:
            hub.tokens.append(self.headers["Authorization"])
            if (found := self.found()) is None:
                return
            commit, name, content = found
            digest = hub.digest(name, content) or "0" * 40
            headers = {"X_Repo_Commit": commit, "ETag": f'"{digest}"', "Content_Length": str(len(content))}
            if hub.elsewhere:
                headers |= {"X_Linked_ETag": f'"{digest}"', "X_Linked_Size": str(len(content))}
                self.reply(302, Location=self.elsewhere(), **(headers | {"ETag": '"another"', "Content_Length": "0"}))
            else:
                self.reply(200, **headers)

        def do_GET(self) -> None:
            if self.path.startswith("/api/models/"):
                self.describe()
                return
            if (found := self.found()) is None:
                return
            if "/elsewhere/" in self.path:
                hub.tokens_elsewhere.append(self.headers["Authorization"])
            else:
                hub.tokens.append(self.headers["Authorization"])
                if hub.elsewhere:
                    self.reply(302, Location=self.elsewhere())
                    return
            self.serve(*found[1:])

        def elsewhere(self) -> str:
            return f"http://localhost:{hub.port}{self.path.replace('/resolve/', '/elsewhere/')}"

        def describe(self) -> None:
            hub.asked.append(self.path)
            hub.tokens.append(self.headers["Authorization"])
            commit = self.path.partition("?")[0].partition("/revision/")[2] or hub.current
            if not self.path.startswith(f"/api/models/{REPOSITORY}") or commit not in hub.commits:
                self.reply(404, X_Error_Code="RevisionNotFound")
                return
            files = []
            for name, content in hub.commits[commit].items():
                digest = hub.digest(name, content)
                lfs = {"sha256": digest, "size": len(content), "pointerSize": 134} if digest else None
                files.append({"rfilename": name, "size": len(content), "blobId": "0" * 40, "lfs": lfs} | hub.nonsense)
            about = {"id": REPOSITORY, "sha": commit, "siblings": files}
            self.reply(200, json.dumps(about).encode(), Content_Type="application/json")

        def serve(self, name: str, content: bytes) -> None:
            wanted = self.headers["Range"]
            first = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
            hub.requests.append((name, wanted))
            rest = content[first:]
            self.send_response(206 if first else 200)
            self.send_header("Content-Length", str(len(rest)))
            if first:
                self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
            self.end_headers()
            breaks = hub.breaks.get(name)
            until = breaks.pop(0) if breaks else len(rest)
            self.wfile.write(rest[:until])
            hub.sent[name] = hub.sent.get(name, 0) + len(rest[:until])
            self.close_connection = True
            if until < len(rest) and hub.resets:
                _await_delivery(self.connection)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                os.close(self.connection.detach())

    return Handler


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    fake = FakeHub(commits={REVISION: {WEIGHTS: bytes(range(256)) * 400}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    fake.port = server.server_port
    yield fake
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def hub_here(hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """The hub, for this very process: huggingface_hub has read its environment by now, so its constants are set."""
    from huggingface_hub import close_session, constants

    for name in [name for name in os.environ if name.startswith("HF_")]:
        monkeypatch.delenv(name)
    home = tmp_path / "hf"
    changes = {
        "ENDPOINT": hub.url,
        "HUGGINGFACE_CO_URL_TEMPLATE": hub.url + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": str(home / "hub"),
        "HF_TOKEN_PATH": str(home / "token"),
        "AGENT_HARNESSES_PATH": str(home / "harnesses.json"),
        "HF_HUB_OFFLINE": False,
        "HF_HUB_DISABLE_IMPLICIT_TOKEN": False,
    }
    for name, value in changes.items():
        monkeypatch.setattr(constants, name, value)
    monkeypatch.setattr("samequantity.models.fetching.hub.SECONDS_BEFORE_GOING_ON", 0.0)
    yield hub
    close_session()
