"""Opens the engine that the settings name, or says what it would be without loading a model."""

from collections.abc import Mapping
from pathlib import Path

from samequantity.engines.base import Engine, Facts
from samequantity.engines.reading import settings_of
from samequantity.engines.settings import EngineSettings


def read_settings(raw: Mapping[str, object], *, where: str) -> EngineSettings:
    """The settings of the engine that `engine` names. SettingsError, naming the place `where`, for any other."""
    return settings_of(EngineSettings, raw, where=where)


def open_engine(settings: EngineSettings, model: Path, model_digest: str) -> Engine:
    """The engine, its model loaded; use it as a context manager.

    `model` is the model's file, the first one of a split model, or a scripted engine's JSON file. `model_digest`
    stands for the bytes of all its files, verified by the caller. Raises ModelError.
    """
    if settings.engine == "scripted":
        from samequantity.engines.scripted import ScriptedEngine

        return ScriptedEngine.from_file(model, digest=model_digest, reasoning_format=settings.reasoning_format)
    from samequantity.engines.llama import LlamaEngine

    return LlamaEngine(settings, model, model_digest)


def engine_identity(settings: EngineSettings, model: Path, model_digest: str) -> Facts:
    """What `open_engine(…).identity()` would be, from the model's head alone: for a stage key. Raises ModelError."""
    if settings.engine == "scripted":
        with open_engine(settings, model, model_digest) as engine:
            return engine.identity()
    from samequantity.engines.llama import identity_of, template_of
    from samequantity.engines.probe import probe

    return identity_of(settings, template_of(settings, probe(model), model), model_digest)
