"""The real chat templates, rendered as the systems ask for them, and controls that a template does not know."""

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from fixtures_gguf import settings, shipped
from samequantity.engines.llama.chat import ChatTemplate
from samequantity.engines.opening import engine_identity, open_engine
from samequantity.errors import ModelError
from tiny.templates import CHATML, TEMPLATES
from tiny_gguf import Architecture, tiny

MESSAGE = "A jug holds 3/4 liters. How many liters do two such jugs hold?\nEnd with one line: FINAL: <number> <unit>"
QWEN = "Qwen3.5-4B"
GPT_OSS = "openai-gpt-oss-120b"
MISTRAL = "Mistral-Small-3.2-24B-Instruct-2506"
MINISTRAL = "mistralai-Ministral-3-14B-Reasoning-2512"

EMPTY_THOUGHT = "<think>\n\n</think>\n\n"


def source(name: str) -> str:
    return shipped(f"templates/{name}.jinja").read_text(encoding="utf-8")


def written(text: str, kwargs: dict[str, Any]) -> ChatTemplate:
    begin, end = "<s>", "</s>"
    return ChatTemplate(text=text, bos_token=begin, eos_token=end, kwargs=kwargs, date="2026-07-25")


def template(name: str, **kwargs: Any) -> ChatTemplate:
    return written(source(name), kwargs)


def rendered(name: str, **kwargs: Any) -> str:
    return template(name, **kwargs).compiled()(MESSAGE)


def test_a_file_that_the_setup_keeps_fails_with_the_cure_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.prefix", "/nowhere")

    with pytest.raises(pytest.fail.Exception, match=r"share/llama\.cpp/templates/x is missing.*make setup"):
        shipped("templates/x")


# template, its SHA-256, its arguments, the SHA-256 of the rendered prompt
PINNED = [
    (
        QWEN,
        "a4aee8afcf2e0711942cf848899be66016f8d14a889ff9ede07bca099c28f715",
        {"enable_thinking": False},
        "a43b074996f1779ef7377684eed11655c2fe31ba89aa450848f1e77ca881e14b",
    ),
    (
        QWEN,
        "a4aee8afcf2e0711942cf848899be66016f8d14a889ff9ede07bca099c28f715",
        {"enable_thinking": True},
        "10bf69a8ce9afebbd97223d4ece1b31e5baa412f3347083871ed09ffb9653cc8",
    ),
    (
        GPT_OSS,
        "a4c9919cbbd4acdd51ccffe22da049264b1b73e59055fa58811a99efbd7c8146",
        {"reasoning_effort": "low"},
        "ee6f936ad1f5eb96a1ddabfed3b335d53afa754a52271edd783357351898cab5",
    ),
    (
        GPT_OSS,
        "a4c9919cbbd4acdd51ccffe22da049264b1b73e59055fa58811a99efbd7c8146",
        {"reasoning_effort": "high"},
        "3deb5a010d4d6ffbf61d0a85fec93553ecfdba321ab88cb75aaeb508c5676d71",
    ),
    (
        MISTRAL,
        "5b8f31f11198696548d544dbe424a3c1ef244d00a475f4e1bffb351fda085608",
        {},
        "0281a78c18273f6b1d4cb68c159807af9e8874c2ccfa5ee11b8551b5b76860a1",
    ),
    (
        MINISTRAL,
        "39f03c383413f531fd302c06c7e982ad98c83f0657a8339ae25478ccb81fdcda",
        {},
        "a23bcd4872a3f04d4ef4e09a27582f4f97be4a5c64189423f6fe3224544617ce",
    ),
]


@pytest.mark.parametrize(("name", "digest", "kwargs", "prompt"), PINNED)
def test_a_real_template_and_its_prompt_are_the_pinned_ones(
    name: str, digest: str, kwargs: dict[str, Any], prompt: str
) -> None:
    real = template(name, **kwargs)
    real.check()

    assert digest == real.digest
    assert prompt == hashlib.sha256(real.compiled()(MESSAGE).encode()).hexdigest()


def test_qwen_without_thinking_is_given_an_empty_thought() -> None:
    quiet = rendered(QWEN, enable_thinking=False)

    assert f"<|im_start|>user\n{MESSAGE}<|im_end|>\n<|im_start|>assistant\n{EMPTY_THOUGHT}" == quiet
    assert quiet.removesuffix("\n</think>\n\n") == rendered(QWEN, enable_thinking=True)
    assert rendered(QWEN) == rendered(QWEN, enable_thinking=True), "what it does unless told otherwise"


def test_gpt_oss_is_told_the_effort_and_the_fixed_date_and_no_other() -> None:
    prompt = rendered(GPT_OSS, reasoning_effort="low")

    assert "Reasoning: low\n" in prompt
    assert ["2026-07-25"] == re.findall(r"\d{4}-\d{2}-\d{2}", prompt)
    assert prompt.endswith(f"<|start|>user<|message|>{MESSAGE}<|end|><|start|>assistant")
    assert "Reasoning: medium\n" in rendered(GPT_OSS), "what it does unless told otherwise"


def test_mistrals_nearest_template_is_told_the_fixed_date() -> None:
    """The template of Mistral Small 4 is not among those that ship; its predecessor's knows no reasoning."""
    prompt = rendered(MISTRAL)

    assert "The current date is 2026-07-25." in prompt
    assert prompt.startswith("<s>[SYSTEM_PROMPT]")
    assert prompt.endswith(f"[/SYSTEM_PROMPT][INST]{MESSAGE}[/INST]")


@pytest.mark.parametrize(
    ("name", "kwargs", "control"),
    [
        (MISTRAL, {"reasoning_effort": "none"}, "reasoning_effort"),
        (MINISTRAL, {"reasoning_effort": "none"}, "reasoning_effort"),
        (QWEN, {"reasoning_effort": "low"}, "reasoning_effort"),
        (QWEN, {"enable_thinking": "false"}, "enable_thinking"),  # a text is not the truth value that it asks for
        (QWEN, {"enable_thinking": False, "thinking": False}, "thinking"),
        (GPT_OSS, {"enable_thinking": False}, "enable_thinking"),
        (GPT_OSS, {"reasoning_effort": "low", "reasoning_efort": "low"}, "reasoning_efort"),
    ],
)
def test_a_control_that_a_real_template_does_not_know_is_an_error(
    name: str, kwargs: dict[str, Any], control: str
) -> None:
    asked = template(name, **kwargs)

    with pytest.raises(ModelError, match=rf"{asked.digest[:12]}.* is indifferent to {control}: .*template_kwargs"):
        asked.check()


@pytest.mark.parametrize(
    ("text", "kwargs"),
    [
        ("{{ effort | default('low') }}", {"effort": "low"}),  # the default, stated: another value would be heard
        ("{% if effort == 'high' %}x{% endif %}", {"effort": "none"}),
        ("{% if thinks %}x{% endif %}", {"thinks": False}),
        ("{% if thinks is none %}x{% endif %}", {"thinks": None}),
        ("{{ budget or 512 }}", {"budget": 512}),
        ("{% for rule in rules or [] %}{{ rule }}{% endfor %}", {"rules": []}),
        ("{{ (facts or {}) | tojson }}", {"facts": {}}),
        ("{% if not effort %}{{ raise_exception('how much?') }}{% endif %}", {"effort": "low"}),
        ("{% if effort not in ['none', 'full'] %}{{ raise_exception('?') }}{% endif %}", {"effort": "none"}),
        ("{{ one }}{{ other }}", {"one": 1, "other": "x"}),
    ],
)
def test_a_control_that_is_heard_in_any_way_is_none(text: str, kwargs: dict[str, Any]) -> None:
    written("{{ messages[0].content }}" + text, kwargs).check()


@pytest.mark.parametrize("value", [True, "low", 3, 0, 0.5, [], ["x"], {}, {"x": 1}, None])
def test_a_control_that_is_not_heard_is_an_error_whatever_its_type(value: object) -> None:
    kwargs = {"thinks": True, "control": value}
    text = "{{ messages[0].content }}{% if thinks %}x{% endif %}"

    with pytest.raises(ModelError, match="is indifferent to control: "):
        written(text, kwargs).check()


def test_a_control_without_effect_is_found_before_the_model_is_loaded(scripted_model: Path) -> None:
    chosen = settings(template_kwargs={"enable_thinking": False})

    for ask in (open_engine, engine_identity):
        with pytest.raises(ModelError, match=r"scripted\.gguf: .* indifferent to enable_thinking: .*template_kwargs"):
            ask(chosen, scripted_model, "digest")


def test_a_prompt_that_lacks_a_text_that_it_must_hold_is_not_asked(scripted_model: Path) -> None:
    held = settings(prompt_holds=["<|im_start|>assistant\n", "2+2"])
    with open_engine(held, scripted_model, "digest") as engine:
        assert engine.complete(held.request("2+2?")).text
        for ask in (engine.prepare, engine.complete):
            with pytest.raises(ModelError, match=r"prompt lacks '2\+2', which prompt_holds demands.*assistant"):
                ask(held.request("3+3?"))


def test_a_template_that_changed_does_not_go_unnoticed(tmp_path: Path) -> None:
    """The empty thought is demanded; a template with another control renders none."""
    model = tiny("qwen35", script=("x",), template=CHATML + "{{ '<think>' if enable_thinking }}").write(
        tmp_path / "changed.gguf"
    )
    chosen = settings(template_kwargs={"enable_thinking": False}, prompt_holds=[EMPTY_THOUGHT])
    with open_engine(chosen, model, "digest") as engine, pytest.raises(ModelError, match="prompt lacks '<think>"):
        engine.prepare(chosen.request("2+2?"))


REAL: list[tuple[Architecture, str, dict[str, Any], bool, int]] = [
    ("qwen35", QWEN, {"enable_thinking": False}, False, 0),
    ("qwen35", QWEN, {"enable_thinking": False}, True, 1),
    ("gpt-oss", GPT_OSS, {"reasoning_effort": "low"}, False, 0),
    ("mistral4", MISTRAL, {}, True, 1),
]


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize(("architecture", "name", "kwargs", "wants", "expected"), REAL)
def test_the_beginning_token_stands_once_at_most_in_a_real_prompt(
    tmp_path: Path, architecture: Architecture, name: str, kwargs: dict[str, Any], wants: bool, expected: int
) -> None:
    """Whether the template writes it, the vocabulary wants it, or both; and a real template's marks are one token."""
    model = tiny(architecture, template=source(name), wants_bos=wants).write(tmp_path / "real.gguf")
    chosen = settings(template_kwargs=kwargs, context=4096)
    with open_engine(chosen, model, "digest") as engine:
        prompt = engine._prompt(chosen.request(MESSAGE))  # type: ignore[attr-defined]
        vocabulary = engine._vocabulary  # type: ignore[attr-defined]
        pieces = [vocabulary.text([token]) for token in prompt.tokens]

    begin = {"qwen35": "<|bos|>", "gpt-oss": "<|startoftext|>", "mistral4": "<s>"}[architecture]
    marks = {"qwen35": "<|im_start|>", "gpt-oss": "<|message|>", "mistral4": "[INST]"}[architecture]
    assert expected == pieces.count(begin)
    assert "".join(pieces).removeprefix(begin) == prompt.text.removeprefix(begin)
    assert pieces.count(marks) == prompt.text.count(marks) > 0


@pytest.mark.parametrize("architecture", TEMPLATES)
def test_the_templates_of_the_tiny_models_have_their_architectures_controls(architecture: Architecture) -> None:
    kwargs: dict[Architecture, dict[str, Any]] = {
        "qwen35": {"enable_thinking": False},
        "gpt-oss": {"reasoning_effort": "low"},
        "mistral4": {"reasoning_effort": "none"},
    }
    written(TEMPLATES[architecture], kwargs.get(architecture, {})).check()
