"""Every architecture that the systems need, loaded and run by the real library from files that are very small."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fixtures_gguf import ANSWER, settings, shipped
from samequantity.domain.answers import Question, judge
from samequantity.domain.exchange import Completion, FinishReason
from samequantity.domain.units import LITERS
from samequantity.domain.verdicts import Status
from samequantity.engines.llama.vocabulary import Vocabulary
from samequantity.engines.opening import open_engine
from tiny.templates import HARMONY, INSTRUCTIONS, TEMPLATES, THINKING
from tiny_gguf import Architecture, TinyModel, tiny

pytestmark = pytest.mark.usefixtures("read_here")

PROMPTS = ["A jug holds 3/4 liters.", "A tank of 40 liters is 37.5% full.", "A jug holds 12 liters."]
PIECES = ("FINAL:", " 6.25", " liters")
FORMS: dict[Architecture, str] = {"qwen35": "think", "gpt-oss": "harmony", "mistral4": "bracket_think"}
CONTROLS: dict[Architecture, dict[str, Any]] = {
    "qwen35": {"enable_thinking": True},
    "gpt-oss": {"reasoning_effort": "low"},
    "mistral4": {"reasoning_effort": "high"},
}
THINKING_PROMPT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n<think>\n"
ENDS: dict[Architecture, str] = {
    "llama": "<|im_end|>",
    "qwen2": "<|im_end|>",
    "qwen35": "<|im_end|>",
    "gpt-oss": "<|return|>",
    "mistral4": "</s>",
}


def ask(model: TinyModel, path: Path, *caps: int, **changes: Any) -> list[Completion]:
    """What the model answers within each cap, reasoning marked as its architecture does."""
    architecture = model.architecture
    form = {"reasoning_format": FORMS.get(architecture, "none"), "template_kwargs": CONTROLS.get(architecture, {})}
    chosen = settings(**{**form, **changes})
    with open_engine(chosen, model.write(path / "tiny.gguf"), "digest") as engine:
        return [engine.complete(settings(max_tokens=cap).request("2+2?")) for cap in caps or (chosen.max_tokens,)]


def verdict(completion: Completion) -> Status:
    question = Question(unit=LITERS, expected=Fraction("6.25"))
    return judge(completion.text, completion.finish_reason, question).status


@pytest.mark.parametrize("architecture", TEMPLATES)
def test_a_random_model_loads_and_answers_the_same_again(tmp_path: Path, architecture: Architecture) -> None:
    model = tiny(architecture).write(tmp_path / "random.gguf")
    chosen = settings()
    answers = []
    for _ in range(2):
        with open_engine(chosen, model, "digest") as engine:
            answers.append([engine.complete(chosen.request(prompt)).raw for prompt in PROMPTS])

    assert answers[0] == answers[1]
    assert len(PROMPTS) == len(set(answers[0])), "each prompt gets an answer of its own"


@pytest.mark.parametrize("architecture", TEMPLATES)
def test_a_scripted_model_says_its_script_and_ends_its_turn(tmp_path: Path, architecture: Architecture) -> None:
    (said,) = ask(tiny(architecture, script=PIECES), tmp_path, reasoning_format="none")

    assert said.raw == ANSWER + ENDS[architecture]
    assert (said.text, said.reasoning, said.finish_reason) == (ANSWER, "", FinishReason.STOP)
    assert verdict(said) is Status.CORRECT


# The second message of harmony is one piece, since a chain says each piece once.
REASONED: dict[Architecture, tuple[str, ...]] = {
    "qwen35": ("<think>", "FINAL: 9 L", "</think>", ANSWER),
    "gpt-oss": (
        *("<|channel|>", "analysis", "<|message|>", "FINAL: 9 L", "<|end|>"),
        *("<|start|>assistant<|channel|>final<|message|>", ANSWER),
    ),
    "mistral4": ("[THINK]", "FINAL: 9 L", "[/THINK]", ANSWER),
}


@pytest.mark.parametrize("architecture", REASONED)
def test_reasoning_is_kept_from_the_parser_complete_or_cut(tmp_path: Path, architecture: Architecture) -> None:
    """A final line that was only thought is none, wherever the response was cut."""
    script = REASONED[architecture]
    whole = len(script) + 1
    answers = ask(tiny(architecture, script=script), tmp_path, *range(1, whole + 1))

    *cut, said = answers
    assert (said.text, said.reasoning) == (ANSWER, "FINAL: 9 L")
    assert said.raw == "".join(script) + ENDS[architecture]
    assert verdict(said) is Status.CORRECT
    assert {FinishReason.LENGTH} == {completion.finish_reason for completion in cut}
    assert {Status.TRUNCATION_ERROR} == {verdict(completion) for completion in cut}
    assert {""} == {completion.text for completion in cut[:-1] if "FINAL: 9 L" in completion.raw}
    assert "FINAL: 9 L" == cut[-2].reasoning


OPENED: list[tuple[Architecture, str]] = [
    ("qwen35", THINKING),  # told to think, it opens the block as the real one does
    ("mistral4", INSTRUCTIONS + "[THINK]"),
]


@pytest.mark.parametrize(("architecture", "template"), OPENED)
def test_a_block_that_the_template_opens_is_reasoning(
    tmp_path: Path, architecture: Architecture, template: str
) -> None:
    end = {"qwen35": "</think>", "mistral4": "[/THINK]"}[architecture]
    model = tiny(architecture, script=("FINAL: 9 L", end, ANSWER), template=template)
    cut, said = ask(model, tmp_path, 1, 4)

    assert (cut.text, cut.reasoning, verdict(cut)) == ("", "FINAL: 9 L", Status.TRUNCATION_ERROR)
    assert (said.text, said.reasoning, verdict(said)) == (ANSWER, "FINAL: 9 L", Status.CORRECT)


def test_after_an_empty_thought_in_the_prompt_all_is_answer(tmp_path: Path) -> None:
    model = tiny("qwen35", script=PIECES)
    quiet = {"template_kwargs": {"enable_thinking": False}, "prompt_holds": ["<think>\n\n</think>\n\n"]}
    cut, said = ask(model, tmp_path, 2, 4, **quiet)

    assert (cut.text, cut.reasoning, verdict(cut)) == ("FINAL: 6.25", "", Status.TRUNCATION_ERROR)
    assert (said.text, said.reasoning, verdict(said)) == (ANSWER, "", Status.CORRECT)


def test_a_call_of_a_tool_ends_the_turn_without_an_answer(tmp_path: Path) -> None:
    """The model had finished, so it is no truncation: it did not do as told."""
    script = ("<|channel|>", "commentary to=functions.f ", "<|constrain|>", "json", "<|message|>", "{}", "<|call|>")
    (said,) = ask(tiny("gpt-oss", script=script, ends=False), tmp_path)

    assert said.raw == "".join(script)
    assert (said.text, said.reasoning, said.finish_reason) == ("", "{}", FinishReason.STOP)
    assert verdict(said) is Status.FORMAT_ERROR


def test_the_end_of_a_message_does_not_end_harmonys_turn(tmp_path: Path) -> None:
    (said,) = ask(tiny("gpt-oss", script=("a", "<|end|>", "b"), template=HARMONY), tmp_path)

    assert said.raw == "a<|end|>b<|return|>"


def pieces_of(path: Path, text: str) -> list[str]:
    """How the vocabulary of a file cuts a text; no weights are needed for it."""
    import llama_cpp.llama_cpp as lib

    parameters = lib.llama_model_default_params()
    parameters.vocab_only = True
    model = lib.llama_model_load_from_file(str(path).encode(), parameters)
    vocabulary = Vocabulary(model)
    pieces = [vocabulary.text([token]) for token in vocabulary.rendered(text).tokens]
    lib.llama_model_free(model)
    return pieces


def test_a_model_with_the_beginning_of_qwens_real_vocabulary_cuts_quantities_as_qwen_does(tmp_path: Path) -> None:
    """Merges enough for these words and no more, so that the file is quickly made."""
    whole = shipped("vocabularies/ggml-vocab-qwen35.gguf")
    model = tiny("qwen35", vocabulary=whole, merges=1000).write(tmp_path / "real.gguf")
    text = "<|im_start|>user\n0.75 L, 3/4 L, -1234567 and 7.5e3 of the 37%<|im_end|>\n\n"

    assert pieces_of(whole, text) == pieces_of(model, text)
    assert [*("<|im_start|>", "user", "\n"), *"0.75", " L", ",", " ", *"3/4", " L"] == pieces_of(model, text)[:14]
    chosen = settings()
    with open_engine(chosen, model, "digest") as engine:
        prompt_tokens = engine.complete(chosen.request("0.75 L")).prompt_tokens

    assert prompt_tokens == len(pieces_of(model, THINKING_PROMPT.format("0.75 L")))
