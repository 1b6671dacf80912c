"""An engine that answers from a script: for tests of everything around a model, never for a result."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

from samequantity.domain.exchange import Completion, Request, finish_reason
from samequantity.engines.base import Closing, Facts
from samequantity.engines.channels import split
from samequantity.engines.settings import DecodingSettings, ReasoningFormat
from samequantity.errors import ModelError

Script = Callable[[str], str] | Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedSettings(DecodingSettings):
    """What a script's reader is told. Only `max_tokens` and `reasoning_format` change what it answers."""

    engine: Literal["scripted"]
    reasoning_format: ReasoningFormat

    def key_settings(self) -> dict[str, Any]:
        """What enters the stage key."""
        return asdict(self) | {"reasoning_format": self.reasoning_format.value}


class ScriptedEngine(Closing):
    """Answers each prompt with what a mapping or a function gives for it; a token is a word.

    An answer of more words than `max_tokens` is cut and finishes with `length`. `asked` lists the prompts asked.
    """

    in_flight = 1

    def __init__(
        self, script: Script, *, digest: str = "scripted", reasoning_format: ReasoningFormat = ReasoningFormat.NONE
    ) -> None:
        self._script = script
        self._digest = digest
        self._format = reasoning_format
        self.asked: list[str] = []

    @classmethod
    def from_file(cls, path: Path, *, digest: str, reasoning_format: ReasoningFormat) -> Self:
        """A script in a JSON file: one object, prompt to answer. ModelError when it is something else."""
        try:
            script = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"{path}: not a readable script ({error}). Write one JSON object.") from error
        if not isinstance(script, dict) or not all(isinstance(answer, str) for answer in script.values()):
            raise ModelError(f"{path}: a script is one JSON object, prompt to answer, both text.")
        return cls(script, digest=digest, reasoning_format=reasoning_format)

    def identity(self) -> Facts:
        """See `Engine`."""
        return {"engine": "scripted", "model_digest": self._digest, "reasoning_format": self._format.value}

    def host_facts(self) -> Facts:
        """See `Engine`."""
        return {"threads": 1}

    def prepare(self, request: Request) -> str:
        """See `Engine`; the prompt is rendered as it stands."""
        return hashlib.sha256(request.prompt.encode()).hexdigest()

    def complete(self, request: Request) -> Completion:
        """See `Engine`. ModelError when the script has no answer."""
        self.asked.append(request.prompt)
        raw = self._answer(request.prompt)
        words = raw.split(" ")
        raw_reason = "stop" if len(words) <= request.max_tokens else "length"
        raw = " ".join(words[: request.max_tokens])
        channels = split(raw, self._format)
        return Completion(
            text=channels.text,
            reasoning=channels.reasoning,
            raw=raw,
            finish_reason=finish_reason(raw_reason),
            raw_finish_reason=raw_reason,
            prompt_sha256=self.prepare(request),
            prompt_tokens=len(request.prompt.split()),
            completion_tokens=min(len(words), request.max_tokens),
            seconds=0.0,
        )

    def _answer(self, prompt: str) -> str:
        if callable(self._script):
            return self._script(prompt)
        if prompt not in self._script:
            raise ModelError(f"The script has no answer to {prompt[:80]!r}. Add one.")
        return self._script[prompt]

    def close(self) -> None:
        """See `Engine`."""
