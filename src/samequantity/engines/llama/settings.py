"""What llama.cpp in this process is told; what of it decides an answer stands in every key."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Literal

from samequantity.engines.settings import DECODING, DecodingSettings, ReasoningFormat
from samequantity.errors import SettingsError

Backend = Literal["cpu", "cuda", "metal"]

ENGINE_REVISION = 1
"""Raised when a change of our own code changes what a model answers: it stands in every request's hash, the code does
not, so that a refactoring asks nothing again."""

ALL_LAYERS = -1
"""`gpu_layers`: the whole model on the GPU."""

MAX_THREADS = 512
"""llama.cpp's own bound (GGML_MAX_N_THREADS); far beyond it, it ends the process."""

MAX_CONTEXT = 2**24
"""Tokens: above what any published model was trained for, ten millions. A typing error shall not cost minutes."""

_TEMPLATE_NAMES = frozenset(
    {
        *("messages", "add_generation_prompt", "bos_token", "eos_token", "tools", "documents"),
        *("raise_exception", "strftime_now"),
    }
)
"""What `ChatTemplate` gives every template: an argument of the same name would be lost, or hide a function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaSettings(DecodingSettings):
    """Everything that llama.cpp is told. All of it decides the answer, except `threads` and `prompt_holds`.

    No sampler exists beyond the four settings here: penalties, min-p and typical sampling are off because they are
    never built. The cache of keys and values is always f16.
    """

    engine: Literal["llama.cpp"]
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
    prompt_holds: tuple[str, ...]
    """Texts that every rendered prompt must hold, such as an empty think block. A check: in no key."""
    reasoning_format: ReasoningFormat

    def __post_init__(self) -> None:
        DecodingSettings.__post_init__(self)
        self._check_sizes()
        self._check_template()
        if self.backend == "cpu" and self.gpu_layers != 0:
            raise SettingsError(f"gpu_layers must be 0 with the backend cpu, not {self.gpu_layers}")
        if self.backend != "cpu" and self.gpu_layers != ALL_LAYERS and self.gpu_layers < 1:
            raise SettingsError(
                f"gpu_layers must be -1 (all) or positive with the backend {self.backend}, not {self.gpu_layers}"
            )

    def _check_sizes(self) -> None:
        for name in ("context", "batch", "ubatch"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} must be positive, not {getattr(self, name)}")
            if getattr(self, name) > MAX_CONTEXT:
                raise SettingsError(f"{name} must be at most {MAX_CONTEXT} tokens, not {getattr(self, name)}")
        if self.threads is not None and not 1 <= self.threads <= MAX_THREADS:
            raise SettingsError(f"threads must be from 1 to {MAX_THREADS}, or null for every core, not {self.threads}")
        if self.parallel != 1:
            raise SettingsError(f"parallel must be 1, not {self.parallel}: sequences decoded together change answers")
        if self.ubatch > self.batch:
            raise SettingsError(f"ubatch ({self.ubatch}) must not exceed batch ({self.batch})")
        if self.context <= self.max_tokens:
            raise SettingsError(f"context ({self.context}) must exceed max_tokens ({self.max_tokens})")

    def _check_template(self) -> None:
        if (text := self.chat_template) is not None and _names_a_file(text):
            raise SettingsError(
                f"chat_template must be the template's text, not a path or anything else that holds no message:"
                f" {text[:80]!r}. In YAML the text of a file goes under `chat_template: |`, indented"
            )
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

    def key_settings(self) -> dict[str, Any]:
        """What enters the stage key: what decides an answer; a chat template of one's own as its SHA-256."""
        settings = asdict(self) | {"reasoning_format": self.reasoning_format.value}
        for name in ("threads", "prompt_holds"):
            del settings[name]
        if self.chat_template is not None:
            settings["chat_template"] = hashlib.sha256(self.chat_template.encode()).hexdigest()
        return settings

    def engine_facts(self) -> dict[str, Any]:
        """The part of the key that an engine's identity holds: not the sampling, which each request brings along."""
        elsewhere = DECODING | {"chat_template"}
        facts = {name: value for name, value in self.key_settings().items() if name not in elsewhere}
        return {"engine_revision": ENGINE_REVISION, **facts}


def _names_a_file(text: str) -> bool:
    """Whether a text cannot be a template that puts a message in: it has no brace, or is a path to one."""
    return "{" not in text or (len(text.splitlines()) == 1 and text.rstrip().endswith((".jinja", ".jinja2", ".j2")))
