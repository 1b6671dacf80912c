"""A chat template renders as its authors meant it, and can do nothing else."""

from typing import Any

import pytest

from samequantity.engines.chat import ChatTemplate
from samequantity.errors import ModelError


def render(text: str, message: str = "2+2?", **kwargs: Any) -> str:
    begin, end = "<s>", "</s>"
    template = ChatTemplate(text=text, bos_token=begin, eos_token=end, kwargs=kwargs, date="2026-07-25")
    return template.compiled()(message)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ bos_token }}{{ messages[0].role }}|{{ messages[0]['content'] }}{{ eos_token }}", "<s>user|2+2?</s>"),
        ("{% if add_generation_prompt %}A{% endif %}", "A"),
        ("{% if true %}\nx\n{% endif %}\ny", "x\ny"),  # line ends after blocks are trimmed
        ("  {% if true %}x{% endif %}", "x"),  # and blanks before them
        ("{{ strftime_now('%d %b %Y') }}", "25 Jul 2026"),
        ("{{ {'b': 'é<', 'a': 1} | tojson }}", '{"b": "é<", "a": 1}'),
        ("{% for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}", "01"),
        ("{% generation %}x{% endgeneration %}", "x"),
        ("{% if tools is none and documents is none %}x{% endif %}", "x"),
        ("{{ messages | length }}\n", "1"),  # one line end at the end of the template is not part of it
    ],
)
def test_the_environment_is_the_one_that_authors_write_for(text: str, expected: str) -> None:
    assert expected == render(text)


def test_the_template_gets_the_systems_arguments() -> None:
    text = "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}{{ reasoning_effort }}"

    assert render(text, enable_thinking=False, reasoning_effort="low") == "<think></think>low"
    assert render(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "{{ raise_exception('roles must alternate') }}",
        "{% if %}",
        "{{ ''.__class__.__mro__ }}",
        "{% set _ = messages.append(1) %}",
        "{{ messages[0].content + 1 }}",
        "{{ nothing.at.all }}",
        "{{ 1 // 0 }}",
    ],
)
def test_a_template_that_fails_or_reaches_out_is_a_message(text: str) -> None:
    with pytest.raises(ModelError, match="chat template"):
        render(text)


def test_the_digest_is_that_of_the_text() -> None:
    def digest(text: str, date: str) -> str:
        return ChatTemplate(text=text, bos_token=text, eos_token=text, kwargs={}, date=date).digest

    assert digest("x", "2026-07-25") == digest("x", "2026-07-26") != digest("y", "2026-07-25")
