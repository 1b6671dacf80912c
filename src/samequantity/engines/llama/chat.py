"""From one user message to the text that the model reads: the model's chat template, rendered in a sandbox."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from samequantity.errors import ModelError

if TYPE_CHECKING:
    from jinja2 import Template


_SAMPLE = "A jug holds 3/4 liters. How many liters do two such jugs hold?"
_EFFORTS = ("none", "minimal", "low", "medium", "high")

_MOST = 2**24
"""Characters of a prompt, items of a list or bits of a number that a template may make: far above any prompt."""

_SHOWN = 400
"""Characters of an error that a template words itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTemplate:
    """A template's text with what it is given besides the message."""

    text: str
    bos_token: str
    eos_token: str
    kwargs: Mapping[str, Any]
    date: str
    """YYYY-MM-DD: today, as far as the template can know."""

    @property
    def digest(self) -> str:
        """SHA-256 of the template's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def compiled(self) -> Callable[[str], str]:
        """A function from the user's message to the rendered prompt, ready for the model's answer to follow.

        The environment is the one that template authors write for: blocks trimmed, `raise_exception`, `strftime_now`,
        `tojson` that leaves characters as they are, `break` and `continue`, `generation` blocks; `tools` and
        `documents` are none. Raises ModelError when the template does not compile or refuses the message.
        """
        template = self._template()

        def render(message: str) -> str:
            return self._rendered(template, message, self.kwargs)

        return render

    def check(self) -> None:
        """ModelError for a template that cannot be rendered, drops the message, or is indifferent to an argument.

        A control without effect must not pass in silence: a system told not to think would think as ever. It may
        state what the template does anyway, so it counts as heard if leaving it out, or giving another value of its
        type, changes the prompt or makes the template refuse.
        """
        template = self._template()
        given = self._rendered(template, _SAMPLE, self.kwargs)
        self.refuse_without(_SAMPLE, given)
        for name, value in self.kwargs.items():
            rest = {other: kept for other, kept in self.kwargs.items() if other != name}
            changed = [rest, *({**self.kwargs, name: another} for another in _others(value))]
            if not any(self._differs(template, given, kwargs) for kwargs in changed):
                raise ModelError(
                    f"The chat template (SHA-256 {self.digest[:12]}…) is indifferent to {name}: it renders the same"
                    f" prompt with {value!r}, with another value and without. Correct the name or the value in"
                    " template_kwargs, or remove it, or set chat_template to a template that knows it."
                )

    def refuse_without(self, message: str, prompt: str) -> None:
        """ModelError when a rendered prompt lacks the user's message, the blanks around which a template may cut.

        A template of a model that reads images may look for parts of a message and pass over a plain text; a path that
        was given for a template renders as itself.
        """
        if message.strip() in prompt:
            return
        raise ModelError(
            f"The chat template (SHA-256 {self.digest[:12]}…) does not put the user's message into the prompt as it"
            f" stands. {_cure(self.text)} Of the message {message[:80]!r} it makes a prompt that ends {prompt[-160:]!r}"
        )

    def _template(self) -> "Template":
        from jinja2 import TemplateError

        try:
            template: Template = _environment(self.date).from_string(self.text)
        except (TemplateError, SyntaxError, *_RAISED) as error:
            # Jinja writes Python, which may be nested too deep for its compiler.
            raise ModelError(_message("does not compile", error)) from error
        return template

    def _differs(self, template: "Template", given: str, kwargs: Mapping[str, Any]) -> bool:
        try:
            return self._rendered(template, _SAMPLE, kwargs) != given
        except ModelError:
            return True

    def _rendered(self, template: "Template", message: str, kwargs: Mapping[str, Any]) -> str:
        from jinja2 import TemplateError

        given: dict[str, Any] = {
            **kwargs,
            "messages": [{"role": "user", "content": message}],
            "add_generation_prompt": True,
            "bos_token": self.bos_token,
            "eos_token": self.eos_token,
            "tools": None,
            "documents": None,
        }
        try:
            return _joined(template.generate(given))
        except (TemplateError, *_RAISED) as error:
            raise ModelError(_message("cannot be rendered", error)) from error


def _others(value: object) -> list[object]:
    """Other values of the same type: what a control might say instead. Of texts, the levels of effort in use."""
    match value:
        case bool():
            return [not value]
        case str():
            return [word for word in (*_EFFORTS, f"not {value}") if word != value]
        case int() | float():
            return [value + 1, 0] if value else [1]
        case list():
            return [[], ["other"]]
        case dict():
            return [{}, {"other": "other"}]
        case _:
            return [True, "other"]


_RAISED = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError),
    *(RuntimeError, MemoryError),  # the first for a macro that calls itself: RecursionError is one
)
"""A template is a program from elsewhere; these are what its expressions and filters can raise."""


def _joined(pieces: Iterable[str]) -> str:
    """What a template puts out, piece by piece; ValueError as soon as it is beyond any prompt."""
    kept: list[str] = []
    size = 0
    for piece in pieces:
        kept.append(piece)
        size += len(piece)
        if size > _MOST:
            raise ValueError(f"its prompt goes beyond {_MOST} characters")
    return "".join(kept)


def _grown(operator: str, left: Any, right: Any) -> int:
    """The size of what an operator makes of texts, lists and whole numbers, as far as it can grow without end."""
    many, both = (str, bytes, list, tuple), (left, right)
    if all(isinstance(value, int) for value in both):
        return int({"*": left.bit_length() + right.bit_length(), "**": left.bit_length() * right}.get(operator, 0))
    if operator == "*" and isinstance(left, many) and isinstance(right, int):
        return len(left) * right
    if operator == "*" and isinstance(right, many) and isinstance(left, int):
        return len(right) * left
    return len(left) + len(right) if operator == "+" and all(isinstance(value, many) for value in both) else 0


def _cure(text: str) -> str:
    if "{" not in text and len(text.splitlines()) == 1:
        return f"chat_template must be a template's TEXT, not its path: {text[:80]!r} is the same for every message."
    return "Set chat_template to the text of one that does; this may change texts, or look for a list of parts."


def _message(what: str, error: Exception) -> str:
    said = " ".join(str(error).split())[:_SHOWN] or type(error).__name__
    return (
        f"The chat template {what}: {said}. Check template_kwargs, or set chat_template to a template that"
        " the model's authors publish."
    )


def _environment(today: str) -> Any:
    from jinja2 import TemplateError, nodes
    from jinja2.exceptions import SecurityError
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """`{% generation %}` marks the assistant's part for training; to us it is only what it encloses."""

        tags = {"generation"}  # noqa: RUF012 - jinja2 declares it as a set on the class

        def parse(self, parser: Any) -> list[nodes.Node]:
            next(parser.stream)
            body: list[nodes.Node] = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return body

    class Sandbox(ImmutableSandboxedEnvironment):
        """The sandbox, in which an operator makes nothing without end. `~` and filters are beyond its reach."""

        intercepted_binops = frozenset({"*", "**", "+"})

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if _grown(operator, left, right) > _MOST:
                raise SecurityError(f"what {operator} makes there goes beyond {_MOST} characters")
            return super().call_binop(context, operator, left, right)

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    def strftime_now(form: str) -> str:
        return datetime.fromisoformat(today).strftime(form)

    def tojson(value: object, indent: int | None = None, **options: Any) -> str:
        return json.dumps(value, ensure_ascii=options.pop("ensure_ascii", False), indent=indent, **options)

    environment = Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation])
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = strftime_now
    return environment
