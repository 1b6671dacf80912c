"""One question to a model and what came back: the words that engines, the journal and the inference stage share."""

import hashlib
import json
import math
import string
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

MAX_SEED = 2**32 - 2
"""llama.cpp keeps a seed in 32 bits and reads the largest one as "choose one yourself"."""


class FinishReason(StrEnum):
    """Why a response ended, in one vocabulary for all engines. Only `stop` means that the model had finished."""

    STOP = "stop"
    LENGTH = "length"
    OTHER = "other"


_LOWER = {ord(letter): letter.lower() for letter in string.ascii_uppercase}

_SYNONYMS = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "eog": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "eos_token": FinishReason.STOP,
    "end_of_text": FinishReason.STOP,
    "complete": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "limit": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
}
"""What the documentation of an interface calls the end of the model's own turn, or the cap. Not `stop_sequence` or
`word`: there a text of the caller's was met, wherever the model had got to; nor `finished`, which some say of a request
that was cut off."""


def finish_reason(raw: str | None) -> FinishReason:
    """What the word means by which whoever made a response says why it ended, in whatever case that is written.

    An unknown or absent one never means `stop`. This is for recording a response; in a table of responses only the
    literal `stop` is one (Q30).

    >>> finish_reason("max_tokens"), finish_reason("content_filter"), finish_reason(None)
    (<FinishReason.LENGTH: 'length'>, <FinishReason.OTHER: 'other'>, <FinishReason.OTHER: 'other'>)
    >>> finish_reason("STOP"), finish_reason("Eos_Token"), finish_reason("STOP_SEQUENCE")
    (<FinishReason.STOP: 'stop'>, <FinishReason.STOP: 'stop'>, <FinishReason.OTHER: 'other'>)
    """
    return FinishReason.OTHER if raw is None else _SYNONYMS.get(folded(raw), FinishReason.OTHER)


def folded(word: str) -> str:
    """A word with its ASCII letters in lower case, and no others (as Q28 folds a tag's)."""
    return word.translate(_LOWER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the next token is chosen: temperature 0 is greedy, whatever the rest says; `top_k` 0 and `top_p` 1 are off.

    There is nothing else: no penalty, no min-p, no typical sampling. Raises ValueError on values without a meaning.
    """

    temperature: float
    top_k: int
    top_p: float
    seed: int

    def __post_init__(self) -> None:
        # 0 and 0.0 are one temperature, and so must be one digest.
        object.__setattr__(self, "temperature", float(self.temperature))
        object.__setattr__(self, "top_p", float(self.top_p))
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ValueError(f"temperature must be 0 (greedy) or more, not {self.temperature}")
        if self.top_k < 0:
            raise ValueError(f"top_k must be 0 (off) or more, not {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1 (off), not {self.top_p}")
        if not 1 <= self.seed <= MAX_SEED:
            raise ValueError(f"seed must be from 1 to {MAX_SEED} (0 would be replaced by the engine), not {self.seed}")

    @property
    def greedy(self) -> bool:
        """Whether the most probable token is always taken."""
        return self.temperature == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One user message, without a system message of ours, and how it is to be answered.

    `max_tokens` caps what is generated, the end token included. Raises ValueError when it is not positive.
    """

    prompt: str
    max_tokens: int
    sampling: Sampling

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be positive, not {self.max_tokens}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What one request brought.

    `text` is the final channel without control tokens, `reasoning` what the model thought aloud ("" for nothing),
    `raw` everything that was generated, control tokens included; of a server's answer, which has no control tokens,
    the whole message as canonical JSON. `prompt_sha256` is that of the rendered prompt; a server renders it itself and
    does not show it, so there it is that of the message as sent. `completion_tokens` counts every generated token, the
    end token included, so it never exceeds `max_tokens`; a server counts as it does, and None stands for a server that
    does not count. `seconds` is the time the answer took and `system_fingerprint` what a server calls the model and
    set-up that answered ("" for nothing); neither ever enters a hashed table.
    """

    text: str
    reasoning: str
    raw: str
    finish_reason: FinishReason
    raw_finish_reason: str
    prompt_sha256: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    system_fingerprint: str = ""
    """With a default, as no other field: journals from before it was kept stay readable."""


def request_digest(request: Request, *, engine: Mapping[str, object], prompt_sha256: str, repeat: int) -> str:
    """SHA-256 of all that decides an answer: engine and model, sampling, rendered prompt, cap and repeat index.

    The view is not in it: two equal questions are one. `engine` must be JSON-able.
    """
    facts = {
        "engine": dict(engine),
        "sampling": asdict(request.sampling),
        "max_tokens": request.max_tokens,
        "prompt_sha256": prompt_sha256,
        "repeat": repeat,
    }
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
