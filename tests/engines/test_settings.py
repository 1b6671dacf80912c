"""Settings are closed: whatever is not meant is refused by name."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fixtures_gguf import SETTINGS, settings
from samequantity.domain.exchange import MAX_SEED
from samequantity.engines.llama.settings import LlamaSettings
from samequantity.engines.opening import read_settings
from samequantity.engines.settings_reading import settings_of
from samequantity.errors import SettingsError


def test_a_misspelt_setting_is_refused_with_the_right_spelling() -> None:
    with pytest.raises(
        SettingsError, match=r"^systems\.yaml, smol: unknown setting 'flash_atention' \(did you mean fl"
    ):
        settings_of(LlamaSettings, {**SETTINGS, "flash_atention": True}, where="systems.yaml, smol")


@pytest.mark.parametrize("name", SETTINGS)
def test_no_setting_has_a_default(name: str) -> None:
    with pytest.raises(SettingsError, match=f"missing setting {name}"):
        settings_of(LlamaSettings, {key: value for key, value in SETTINGS.items() if key != name}, where="here")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"engine": "vllm"}, "engine must be one of llama.cpp, not 'vllm'"),
        ({"backend": "gpu"}, "backend must be one of cpu, cuda, metal"),
        ({"backend": ["cpu"]}, "backend must be one of"),
        ({"reasoning_format": "xml"}, "reasoning_format must be one of none, think, bracket_think, harmony"),
        ({"context": "512"}, "context must be int"),
        ({"context": True}, "context must be int"),
        ({"context": 24}, r"context \(24\) must exceed max_tokens \(24\)"),
        ({"batch": 0}, "batch must be positive"),
        ({"ubatch": 65}, r"ubatch \(65\) must not exceed batch \(64\)"),
        ({"parallel": 2}, "parallel must be 1"),
        ({"threads": 0}, "threads must be from 1 to 512, or null for every core, not 0"),
        ({"threads": 513}, "threads must be from 1 to 512"),
        ({"threads": 1_000_000}, "threads must be from 1 to 512"),
        ({"context": 10**9}, "context must be at most 16777216 tokens, not 1000000000"),
        ({"batch": 2**33}, "batch must be at most 16777216 tokens"),
        ({"chat_template": "my-template.jinja"}, "chat_template must be the template's text, not a path .*'my-templ"),
        ({"chat_template": "templates/{{ a }}.jinja\n"}, "chat_template must be the template's text"),
        ({"chat_template": __file__}, "chat_template must be the template's text"),
        ({"chat_template": ""}, "chat_template must be the template's text"),
        ({"threads": "all"}, "threads must be int or null"),
        ({"flash_attention": 1}, "flash_attention must be bool"),
        ({"gpu_layers": 4}, "gpu_layers must be 0 with the backend cpu"),
        ({"backend": "cuda"}, r"gpu_layers must be -1 \(all\) or positive with the backend cuda"),
        ({"seed": 0}, "seed must be from 1"),
        ({"seed": MAX_SEED + 1}, "seed must be from 1"),
        ({"temperature": -0.5}, "temperature must be 0"),
        ({"temperature": float("nan")}, "temperature must be 0"),
        ({"top_k": -1}, "top_k must be 0"),
        ({"top_p": 0}, "top_p must be above 0"),
        ({"strftime_now": "today"}, "strftime_now must be a date such as .*, not 'today'"),
        ({"prompt_holds": "<think>"}, "prompt_holds must be a list of texts, not '<think>'"),
        ({"prompt_holds": [1]}, "prompt_holds must be a list of texts"),
        ({"template_kwargs": []}, "template_kwargs must be a mapping"),
        ({"template_kwargs": {"messages": []}}, "template_kwargs must not set messages"),
        ({"template_kwargs": {"strftime_now": "July"}}, "template_kwargs must not set strftime_now"),
        ({"template_kwargs": {"when": object()}}, "not JSON serializable"),
    ],
)
def test_a_value_without_a_meaning_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=f"^the test's settings: .*{message}"):
        settings(**changes)


def test_the_key_holds_every_setting_that_decides_an_answer() -> None:
    assert SETTINGS.keys() - {"threads", "prompt_holds"} == settings().key_settings().keys()
    assert settings(threads=1).key_settings() == settings(threads=2).key_settings()


def test_the_demos_engine_is_what_its_recorded_responses_were_asked_of() -> None:
    """These facts are in the digest of every request: another name or value here, and no kept answer is found again."""
    systems = yaml.safe_load((Path(__file__).parents[2] / "config" / "systems.yaml").read_text(encoding="utf-8"))
    demo = read_settings(systems["catalogue"]["qwen2.5-coder-0.5b-q4"]["settings"], where="the demo's settings")

    assert isinstance(demo, LlamaSettings)
    assert demo.engine_facts() == {
        "engine_revision": 1,
        "engine": "llama.cpp",
        "backend": "cpu",
        "gpu_layers": 0,
        "context": 1024,
        "batch": 512,
        "ubatch": 512,
        "flash_attention": False,
        "parallel": 1,
        "prefix_cache": False,
        "template_kwargs": {},
        "strftime_now": "2026-07-25",
        "reasoning_format": "none",
    }


def test_a_template_of_ones_own_is_in_the_key_by_its_digest() -> None:
    one, other = (settings(chat_template=text).key_settings()["chat_template"] for text in ("{{ a }}", "{{ b }}"))

    assert one != other
    assert len(one) == 64


def test_greedy_is_temperature_zero() -> None:
    assert settings(temperature=0).sampling().greedy
    assert not settings(temperature=0.7).sampling().greedy
