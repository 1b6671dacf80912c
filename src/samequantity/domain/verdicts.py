"""The vocabulary of outcomes: what one response is worth."""

from enum import StrEnum


class Status(StrEnum):
    """Outcome of one response; the first that applies, in this order (PROTOCOL, strict parser)."""

    TRUNCATION_ERROR = "truncation_error"
    FORMAT_ERROR = "format_error"
    PARSE_ERROR = "parse_error"
    UNIT_ERROR = "unit_error"
    VALUE_ERROR = "value_error"
    CORRECT = "correct"

    @property
    def has_value(self) -> bool:
        """Whether the canonicalizer is defined on a response with this outcome."""
        return self in (Status.VALUE_ERROR, Status.CORRECT)


class Layer(StrEnum):
    """Which canonicalizer a result rests on."""

    STRICT = "strict"
    AUDITED = "audited"
