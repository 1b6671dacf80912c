"""Opens the engine that the settings name, or says what it would be without loading a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from samequantity.engines.base import Engine, Facts, Notice, tell
from samequantity.engines.endpoint.settings import EndpointSettings
from samequantity.engines.llama.settings import LlamaSettings
from samequantity.engines.scripted import ScriptedEngine, ScriptedSettings
from samequantity.engines.settings_reading import settings_of
from samequantity.errors import SettingsError

Settings = LlamaSettings | ScriptedSettings | EndpointSettings
"""Of any engine. Those of a server need no model file, those of the others do."""

_KINDS: Final[dict[str, type[LlamaSettings] | type[ScriptedSettings] | type[EndpointSettings]]] = {
    "llama.cpp": LlamaSettings,
    "scripted": ScriptedSettings,
    "openai": EndpointSettings,
}


def read_settings(raw: Mapping[str, object], *, where: str) -> Settings:
    """The settings of the engine that `engine` names. SettingsError, naming the place `where`, for any other."""
    if "engine" not in raw:
        raise SettingsError(f"{where}: missing setting engine. It is one of {', '.join(_KINDS)}.")
    name = raw["engine"]
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise SettingsError(f"{where}: engine must be one of {', '.join(_KINDS)}, not {name!r}")
    return settings_of(kind, raw, where=where)


def open_engine(
    settings: Settings,
    model: Path | None,
    model_digest: str | None,
    *,
    trusted: bool = True,
    notice: Notice = tell,
) -> Engine:
    """The engine, its model loaded; use it as a context manager.

    `model` is the model's file, the first one of a split model, or a scripted engine's JSON file. `model_digest`
    stands for the bytes of all its files, verified by the caller. Both are None for a server. A file that no pin
    vouches for is not `trusted`: a process of its own runs it first. What the user should know though nothing fails
    goes through `notice`, line by line. Raises ModelError, and SettingsError when there is a model file for a server or
    none for another engine.
    """
    if isinstance(settings, EndpointSettings):
        _refuse_file(model)
        from samequantity.engines.endpoint.engine import EndpointEngine

        return EndpointEngine(settings, notice=notice)
    model, model_digest = _file(settings, model, model_digest)
    if isinstance(settings, ScriptedSettings):
        return ScriptedEngine.from_file(model, digest=model_digest, reasoning_format=settings.reasoning_format)
    from samequantity.engines.llama.engine import LlamaEngine

    return LlamaEngine(settings, model, model_digest, trusted=trusted, notice=notice)


def engine_identity(settings: Settings, model: Path | None, model_digest: str | None) -> Facts:
    """What `open_engine(…).identity()` would be: for a stage key.

    Known from a model file's head alone; a server is asked for its models. Raises what `open_engine` raises.
    """
    if isinstance(settings, EndpointSettings):
        _refuse_file(model)
        from samequantity.engines.endpoint.engine import EndpointEngine

        with EndpointEngine(settings, notice=lambda _: None) as server:
            return server.identity()
    if isinstance(settings, ScriptedSettings):
        with open_engine(settings, model, model_digest) as engine:
            return engine.identity()
    from samequantity.engines.llama.engine import identity_of
    from samequantity.engines.llama.probe import probe
    from samequantity.engines.llama.prompts import template_of

    model, model_digest = _file(settings, model, model_digest)
    return identity_of(settings, template_of(settings, probe(model), model), model_digest)


def _file(settings: LlamaSettings | ScriptedSettings, model: Path | None, model_digest: str | None) -> tuple[Path, str]:
    if model is None or model_digest is None:
        raise SettingsError(f"engine {settings.engine} needs a model: name a pinned one or a file of your own")
    return model, model_digest


def _refuse_file(model: Path | None) -> None:
    if model is not None:
        raise SettingsError(f"engine openai asks a server and takes no model file ({model}): set the system's to null")
