"""A chat template renders as its authors meant it, and can do nothing else."""

from typing import Any

import pytest

from samequantity.engines.llama.chat import ChatTemplate
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
        "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
        "{% for _ in [1] %}" * 30 + "{% endfor %}" * 30,
        "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
        "{{ 5 | dictsort }}",
        "{{ 1" + "1" * 5000 + " }}",
    ],
)
def test_a_template_that_fails_or_reaches_out_is_a_message(text: str) -> None:
    with pytest.raises(ModelError, match="chat template"):
        render(text)


def test_the_digest_is_that_of_the_text() -> None:
    def digest(text: str, date: str) -> str:
        return ChatTemplate(text=text, bos_token=text, eos_token=text, kwargs={}, date=date).digest

    assert digest("x", "2026-07-25") == digest("x", "2026-07-26") != digest("y", "2026-07-25")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{{ 'x' * 3000000000 }}", "goes beyond"),
        ("{{ 3000000000 * 'x' }}", "goes beyond"),
        ("{{ [1] * 3000000000 }}", "goes beyond"),
        ("{{ 9 ** (9 ** 9) }}", "goes beyond"),
        ("{% set s = namespace(t='xx') %}{% for _ in range(60) %}{% set s.t = s.t + s.t %}{% endfor %}", "goes beyond"),
        ("{% set s = namespace(n=9) %}{% for _ in range(60) %}{% set s.n = s.n * s.n %}{% endfor %}", "goes beyond"),
        ("{% for _ in range(100000) %}{{ 'x' * 1000 }}{% endfor %}", "its prompt goes beyond"),
        ("{% for _ in range(100000000) %}x{% endfor %}", "Range too big"),
        ("{{ raise_exception('x' * 1000000) }}", "cannot be rendered: x+\\. Check"),
    ],
)
def test_what_a_template_makes_without_end_is_a_short_message(text: str, what: str) -> None:
    with pytest.raises(ModelError, match=what) as caught:
        render(text)

    assert len(str(caught.value)) < 700


def test_operators_do_what_they_do_elsewhere() -> None:
    assert "======" == render("{{ '=' * 6 }}")
    assert "a2+2? [1, 2] 3 0.5" == render("{{ 'a' + messages[0].content }} {{ [1] + [2] }} {{ 1 + 2 }} {{ 2 ** -1 }}")
    assert "8 6 2.5 ab" == render("{{ 2 ** 3 }} {{ 2 * 3 }} {{ 2 * 1.25 }} {{ 'a' ~ 'b' }}")


def test_no_memory_left_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_memory(_: object) -> str:
        raise MemoryError

    monkeypatch.setattr("samequantity.engines.llama.chat._joined", without_memory)
    with pytest.raises(ModelError, match="cannot be rendered: MemoryError"):
        render("x")


def template(text: str) -> ChatTemplate:
    return ChatTemplate(text=text, bos_token="", eos_token="", kwargs={}, date="2026-07-25")


PARTS = "{% for part in messages[0].content %}{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}"


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("my-template.jinja", "must be a template's TEXT, not its path: 'my-template.jinja'"),
        ("", "Set chat_template to the text of one that does"),
        (PARTS, "or look for a list of parts"),
        ("{{ messages[0].content | upper }}", "may change texts"),
    ],
)
def test_a_template_that_drops_the_message_is_refused_by_its_digest(text: str, cure: str) -> None:
    with pytest.raises(ModelError, match=r"does not put the user's message into the prompt") as caught:
        template(text).check()

    assert f"SHA-256 {template(text).digest[:12]}" in str(caught.value)
    assert cure in str(caught.value)


def test_a_template_may_trim_the_message() -> None:
    template("{{ messages[0].content | trim }}").check()
    template("").refuse_without("\n2+2? ", "<s>2+2?</s>")
    with pytest.raises(ModelError, match="does not put"):
        template("").refuse_without("2 + 2?", "<s>2+2?</s>")
