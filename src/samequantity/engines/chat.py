"""From one user message to the text that the model reads: the model's chat template, rendered in a sandbox."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from samequantity.errors import ModelError

if TYPE_CHECKING:
    from jinja2 import Template


_SAMPLE = "A jug holds 3/4 liters. How many liters do two such jugs hold?"
_EFFORTS = ("none", "minimal", "low", "medium", "high")


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
        """ModelError for a template that cannot be rendered or that one of its arguments leaves unmoved.

        A control without effect must not pass in silence: a system told not to think would think as ever. It may
        state what the template does anyway, so it counts as heard if leaving it out, or giving another value of its
        type, changes the prompt or makes the template refuse.
        """
        template = self._template()
        given = self._rendered(template, _SAMPLE, self.kwargs)
        for name, value in self.kwargs.items():
            rest = {other: kept for other, kept in self.kwargs.items() if other != name}
            changed = [rest, *({**self.kwargs, name: another} for another in _others(value))]
            if not any(self._differs(template, given, kwargs) for kwargs in changed):
                raise ModelError(
                    f"The chat template (SHA-256 {self.digest[:12]}…) is indifferent to {name}: it renders the same"
                    f" prompt with {value!r}, with another value and without. Correct the name or the value in"
                    " template_kwargs, or remove it, or set chat_template to a template that knows it."
                )

    def _template(self) -> "Template":
        from jinja2 import TemplateError

        try:
            template: Template = _environment(self.date).from_string(self.text)
        except TemplateError as error:
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
            return template.render(given)
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            # A template is a program from elsewhere; these are what its expressions can raise.
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


def _message(what: str, error: Exception) -> str:
    return (
        f"The chat template {what}: {error}. Check template_kwargs, or set chat_template to a template that"
        " the model's authors publish."
    )


def _environment(today: str) -> Any:
    from jinja2 import TemplateError, nodes
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """`{% generation %}` marks the assistant's part for training; to us it is only what it encloses."""

        tags = {"generation"}  # noqa: RUF012 - jinja2 declares it as a set on the class

        def parse(self, parser: Any) -> list[nodes.Node]:
            next(parser.stream)
            body: list[nodes.Node] = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return body

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    def strftime_now(form: str) -> str:
        return datetime.fromisoformat(today).strftime(form)

    def tojson(value: object, indent: int | None = None, **options: Any) -> str:
        return json.dumps(value, ensure_ascii=options.pop("ensure_ascii", False), indent=indent, **options)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = strftime_now
    return environment
