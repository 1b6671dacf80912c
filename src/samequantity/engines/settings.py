"""An engine's settings: closed and without defaults, since llama-cpp-python takes a misspelt option in silence."""

import difflib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from enum import StrEnum
from typing import Any, Literal, Self, get_args, get_type_hints

from samequantity.domain.exchange import Request, Sampling
from samequantity.errors import SettingsError

EngineName = Literal["llama.cpp", "scripted"]
Backend = Literal["cpu", "cuda", "metal"]

ENGINE_REVISION = 1
"""Raised when a change of our own code changes what a model answers: it stands in every request's hash, the code does
not, so that a refactoring asks nothing again."""

ALL_LAYERS = -1
"""`gpu_layers`: the whole model on the GPU."""

_TEMPLATE_NAMES = frozenset(
    {"messages", "add_generation_prompt", "bos_token", "eos_token", "tools", "documents", "raise_exception"}
)


class ReasoningFormat(StrEnum):
    """How a model marks what it thinks aloud."""

    NONE = "none"
    THINK = "think"
    BRACKET_THINK = "bracket_think"
    HARMONY = "harmony"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """Everything that an engine is told. All of it decides the answer, except `threads`.

    No sampler exists beyond the four settings here: penalties, min-p and typical sampling are off because they are
    never built. The cache of keys and values is always f16.
    """

    engine: EngineName
    backend: Backend
    gpu_layers: int
    """Layers on the GPU, -1 for all; 0 with the backend cpu."""
    context: int
    """Tokens of prompt and answer together."""
    batch: int
    """Prompt tokens handed over in one call."""
    ubatch: int
    """Prompt tokens computed at once; at most `batch`."""
    flash_attention: bool
    parallel: int
    """Sequences decoded together; more than 1 changes answers and is not offered."""
    threads: int | None
    """Threads of the CPU; None for every core that this process may use. Does not change answers: in no key."""
    prefix_cache: bool
    """Keep what two prompts begin with in common. Faster, and may change answers; False forgets before each prompt."""
    chat_template: str | None
    """The text of a template that replaces the model's own; None for the model's own."""
    template_kwargs: dict[str, Any]
    """What the template is given besides the message, for instance `enable_thinking: false`."""
    strftime_now: str
    """The date, as YYYY-MM-DD, that a template is told when it asks for today's."""
    reasoning_format: ReasoningFormat
    max_tokens: int
    temperature: float
    top_k: int
    top_p: float
    seed: int

    def __post_init__(self) -> None:
        self._check_sizes()
        self._check_template()
        if self.backend == "cpu" and self.gpu_layers != 0:
            raise SettingsError(f"gpu_layers must be 0 with the backend cpu, not {self.gpu_layers}")
        if self.backend != "cpu" and self.gpu_layers != ALL_LAYERS and self.gpu_layers < 1:
            raise SettingsError(
                f"gpu_layers must be -1 (all) or positive with the backend {self.backend}, not {self.gpu_layers}"
            )
        try:
            self.sampling()
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def _check_sizes(self) -> None:
        for name in ("context", "batch", "ubatch", "max_tokens"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} must be positive, not {getattr(self, name)}")
        if self.threads is not None and self.threads < 1:
            raise SettingsError(f"threads must be positive, or null for every core, not {self.threads}")
        if self.parallel != 1:
            raise SettingsError(f"parallel must be 1, not {self.parallel}: sequences decoded together change answers")
        if self.ubatch > self.batch:
            raise SettingsError(f"ubatch ({self.ubatch}) must not exceed batch ({self.batch})")
        if self.context <= self.max_tokens:
            raise SettingsError(f"context ({self.context}) must exceed max_tokens ({self.max_tokens})")

    def _check_template(self) -> None:
        if taken := sorted(_TEMPLATE_NAMES & self.template_kwargs.keys()):
            raise SettingsError(f"template_kwargs must not set {', '.join(taken)}: the engine sets them itself")
        try:
            json.dumps(self.template_kwargs, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise SettingsError(f"template_kwargs must be what JSON can hold: {error}") from error
        try:
            date.fromisoformat(self.strftime_now)
        except ValueError as error:
            raise SettingsError(f"strftime_now must be a date such as 2026-07-25, not {self.strftime_now!r}") from error

    @classmethod
    def from_mapping(cls, raw: Mapping[str, object], *, where: str) -> Self:
        """The settings in a plain mapping that has exactly our keys.

        `where` names the place, for instance "config/systems.yaml, system smol"; every message begins with it.
        Raises SettingsError for an unknown or a missing key, a wrong type or a value without a meaning.
        """
        allowed = [field.name for field in fields(cls)]
        for key in raw:
            if key not in allowed:
                near = difflib.get_close_matches(str(key), allowed, n=1)
                hint = f" Did you mean {near[0]}?" if near else ""
                raise SettingsError(f"{where}: unknown setting {key!r}.{hint} Allowed: {', '.join(allowed)}.")
        if missing := [name for name in allowed if name not in raw]:
            raise SettingsError(f"{where}: missing setting {', '.join(missing)}. Needed: {', '.join(allowed)}.")
        hints = get_type_hints(cls)
        values = {name: _typed(where, name, raw[name], hints[name]) for name in allowed}
        try:
            return cls(**values)
        except SettingsError as error:
            raise SettingsError(f"{where}: {error}") from error

    def sampling(self) -> Sampling:
        """How tokens are chosen, unless a request says otherwise. ValueError when the values have no meaning."""
        return Sampling(temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, seed=self.seed)

    def request(self, prompt: str) -> Request:
        """The request that asks `prompt` with these settings."""
        return Request(prompt=prompt, max_tokens=self.max_tokens, sampling=self.sampling())

    def key_settings(self) -> dict[str, Any]:
        """What enters the stage key: all settings but `threads`; a chat template of one's own as its SHA-256."""
        settings = asdict(self) | {"reasoning_format": self.reasoning_format.value}
        del settings["threads"]
        if self.chat_template is not None:
            settings["chat_template"] = hashlib.sha256(self.chat_template.encode()).hexdigest()
        return settings

    def engine_facts(self) -> dict[str, Any]:
        """The part of the key that an engine's identity holds: not the sampling, which each request brings along."""
        elsewhere = {"chat_template", "max_tokens", "temperature", "top_k", "top_p", "seed"}
        facts = {name: value for name, value in self.key_settings().items() if name not in elsewhere}
        return {"engine_revision": ENGINE_REVISION, **facts}


def _typed(where: str, name: str, value: object, hint: Any) -> Any:
    """`value` as the field `name` wants it, nothing converted but an integer to a float and a word to its Enum."""
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        choices = [member.value for member in hint]
        if value in choices:
            return hint(value)
        raise SettingsError(f"{where}: {name} must be one of {', '.join(choices)}, not {value!r}")
    if choices := list(get_args(hint)) if all(isinstance(choice, str) for choice in get_args(hint)) else []:
        if value in choices:
            return value
        raise SettingsError(f"{where}: {name} must be one of {', '.join(choices)}, not {value!r}")
    if hint == dict[str, Any]:
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return dict(value)
        raise SettingsError(f"{where}: {name} must be a mapping, not {value!r}")
    if hint is float and type(value) is int:
        return float(value)
    expected = get_args(hint) or (hint,)
    if type(value) in expected:  # exact: True is no integer here
        return value
    wanted = " or ".join("null" if kind is type(None) else kind.__name__ for kind in expected)
    raise SettingsError(f"{where}: {name} must be {wanted}, not {value!r}")
