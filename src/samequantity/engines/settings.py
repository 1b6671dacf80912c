"""What every engine is told: how it samples, and how a model marks what it thinks aloud."""

from dataclasses import dataclass, fields
from enum import StrEnum

from samequantity.domain.exchange import Request, Sampling
from samequantity.errors import SettingsError


class ReasoningFormat(StrEnum):
    """How a model marks what it thinks aloud."""

    NONE = "none"
    THINK = "think"
    BRACKET_THINK = "bracket_think"
    HARMONY = "harmony"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingSettings:
    """How tokens are chosen and how many at most, in every engine's settings."""

    max_tokens: int
    """Cap of an answer in tokens, the end token included."""
    temperature: float
    top_k: int
    top_p: float
    seed: int

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise SettingsError(f"max_tokens must be positive, not {self.max_tokens}")
        try:
            self.sampling()
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def sampling(self) -> Sampling:
        """How tokens are chosen, unless a request says otherwise. ValueError when the values have no meaning."""
        return Sampling(temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, seed=self.seed)

    def request(self, prompt: str) -> Request:
        """The request that asks `prompt` with these settings."""
        return Request(prompt=prompt, max_tokens=self.max_tokens, sampling=self.sampling())


DECODING = frozenset(field.name for field in fields(DecodingSettings))
"""The settings that each request brings along, so that an engine's identity does not hold them."""
