"""Tiny models and settings for tests: `from fixtures_gguf import settings`, or the fixtures by their names."""

import sys
from pathlib import Path
from typing import Any

import pytest

from samequantity.engines.llama.probe import ModelFacts, read_head
from samequantity.engines.llama.settings import LlamaSettings
from samequantity.engines.settings_reading import settings_of
from tiny_gguf import TinyModel

SETTINGS: dict[str, Any] = {
    "engine": "llama.cpp",
    "backend": "cpu",
    "gpu_layers": 0,
    "context": 512,
    "batch": 64,
    "ubatch": 64,
    "flash_attention": False,
    "parallel": 1,
    "threads": 1,
    "prefix_cache": False,
    "chat_template": None,
    "template_kwargs": {},
    "strftime_now": "2026-07-25",
    "prompt_holds": [],
    "reasoning_format": "none",
    "max_tokens": 24,
    "temperature": 0,
    "top_k": 1,
    "top_p": 1,
    "seed": 20260725,
}

ANSWER = "FINAL: 6.25 liters"


def settings(**changes: Any) -> LlamaSettings:
    """Greedy settings for a tiny model, with changes."""
    return settings_of(LlamaSettings, {**SETTINGS, **changes}, where="the test's settings")


def shipped(name: str) -> Path:
    """A file that comes with llama.cpp's sources and that the set-up keeps, such as `templates/Qwen3.5-4B.jinja`."""
    path = Path(sys.prefix, "share", "llama.cpp", name)
    if not path.is_file():
        pytest.fail(f"{path} is missing: envs/llama-cpp.sh keeps it when it builds llama.cpp. Run: make setup")
    return path


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the heads of model files, all known to be sound, read by the test's process: another costs 0.2 s each."""

    def head(model: Path, *, run: bool) -> ModelFacts | None:
        assert not run
        return read_head(str(model))

    monkeypatch.setattr("samequantity.engines.llama.engine.probe", head)


@pytest.fixture(scope="session")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights."""
    return TinyModel().write(tmp_path_factory.mktemp("models") / "random.gguf")


@pytest.fixture(scope="session")
def scripted_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that answers everything with `ANSWER`."""
    script = ("FINAL:", " 6.25", " liters")
    return TinyModel(script=script).write(tmp_path_factory.mktemp("models") / "scripted.gguf")
