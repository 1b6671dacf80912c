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
        from jinja2 import TemplateError

        try:
            template = _environment(self.date).from_string(self.text)
        except TemplateError as error:
            raise ModelError(_message("does not compile", error)) from error

        def render(message: str) -> str:
            return self._rendered(template, message)

        return render

    def _rendered(self, template: "Template", message: str) -> str:
        from jinja2 import TemplateError

        given: dict[str, Any] = {
            **self.kwargs,
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
