"""The scripted engine answers as it is told, within the cap."""

import json
from pathlib import Path
from typing import Any

import pytest

import small_study
from fixtures_gguf import settings
from samequantity.engines.opening import engine_identity, open_engine
from samequantity.engines.scripted import ScriptedEngine, ScriptedSettings
from samequantity.engines.settings_reading import settings_of
from samequantity.errors import ModelError, SettingsError


def scripted(**changes: Any) -> ScriptedSettings:
    """Settings of a script, with changes."""
    return settings_of(ScriptedSettings, {**small_study.SETTINGS, **changes}, where="the test's settings")


def test_a_mapping_and_a_function_answer() -> None:
    request = settings().request("2+2?")

    assert ScriptedEngine({"2+2?": "4"}).complete(request).text == "4"
    assert ScriptedEngine(lambda prompt: prompt[::-1]).complete(request).text == "?2+2"


def test_an_answer_beyond_the_cap_is_cut() -> None:
    completion = ScriptedEngine({"q": "a b c"}).complete(settings(max_tokens=2).request("q"))

    assert (completion.text, completion.finish_reason, completion.completion_tokens) == ("a b", "length", 2)


def test_a_prompt_without_an_answer_is_an_error() -> None:
    with pytest.raises(ModelError, match="no answer to 'q'"):
        ScriptedEngine({}).complete(settings().request("q"))


def test_a_script_is_opened_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"q": "<think>x</think>a"}))
    chosen = scripted(reasoning_format="think")

    with open_engine(chosen, script, "digest") as engine:
        assert engine.complete(chosen.request("q")).text == "a"
        assert engine.identity() == engine_identity(chosen, script, "digest")


@pytest.mark.parametrize("content", ["[]", "{", '{"q": 1}'])
def test_a_file_that_is_no_script_is_an_error(tmp_path: Path, content: str) -> None:
    script = tmp_path / "script.json"
    script.write_text(content)

    with pytest.raises(ModelError, match=r"script\.json"):
        open_engine(scripted(), script, "digest")


def test_a_script_takes_no_setting_of_a_model() -> None:
    with pytest.raises(SettingsError, match=r"unknown setting 'context'\. Allowed: .*engine, reasoning_format\."):
        scripted(context=1024)
