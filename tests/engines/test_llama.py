"""llama.cpp, with real model files that are very small."""

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from fixtures_gguf import ANSWER, settings
from samequantity.cli.systems import ModelFiles, System
from samequantity.domain.exchange import FinishReason
from samequantity.engines.llama.engine import LlamaEngine
from samequantity.engines.opening import engine_identity, open_engine
from samequantity.errors import ModelError
from tiny_gguf import CHATML, END, TinyModel

pytestmark = pytest.mark.usefixtures("read_here")

PROMPTS = ["A jug holds 3/4 liters.", "A tank of 40 liters is 37.5% full.", "A jug holds 12 liters.", "Ωμέγα × 10^4"]


def answers(model: Path, prompts: list[str] = PROMPTS, **changes: Any) -> list[str]:
    chosen = settings(**changes)
    with open_engine(chosen, model, "digest") as engine:
        return [engine.complete(chosen.request(prompt)).raw for prompt in prompts]


def test_a_scripted_model_says_its_script_and_stops(scripted_model: Path) -> None:
    chosen = settings()
    with open_engine(chosen, scripted_model, "digest") as engine:
        completion = engine.complete(chosen.request("2+2?"))

    rendered = "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n"
    assert completion.text == ANSWER
    assert completion.raw == ANSWER + END
    assert completion.finish_reason is FinishReason.STOP
    assert completion.raw_finish_reason == "eog"
    assert completion.prompt_sha256 == hashlib.sha256(rendered.encode()).hexdigest()
    assert completion.prompt_tokens == len("user\n2+2?\nassistant\n") + 3
    assert completion.completion_tokens == len(["FINAL:", " 6.25", " liters", END])


@pytest.mark.parametrize(("cap", "reason"), [(3, "length"), (4, "stop")])
def test_the_end_token_counts_towards_the_cap(scripted_model: Path, cap: int, reason: str) -> None:
    chosen = settings(max_tokens=cap)
    with open_engine(chosen, scripted_model, "digest") as engine:
        completion = engine.complete(chosen.request("2+2?"))

    assert (reason, cap, ANSWER) == (completion.finish_reason, completion.completion_tokens, completion.text)


def test_a_model_without_end_is_cut(tmp_path: Path) -> None:
    model = TinyModel(script=("ab", "cd"), ends=False).write(tmp_path / "endless.gguf")

    assert answers(model, ["x"], max_tokens=3) == ["ab" + "cd" + "ab"]


def test_thinking_is_kept_apart(tmp_path: Path) -> None:
    model = TinyModel(script=("<think>", "hm", "</think>", ANSWER)).write(tmp_path / "thinking.gguf")
    chosen = settings(reasoning_format="think")
    with open_engine(chosen, model, "digest") as engine:
        completion = engine.complete(chosen.request("2+2?"))

    assert (completion.text, completion.reasoning) == (ANSWER, "hm")
    assert completion.raw == f"<think>hm</think>{ANSWER}{END}"


def test_a_block_that_the_template_opens_is_thinking(tmp_path: Path) -> None:
    template = CHATML + "{{ '<think>\n' }}"
    model = TinyModel(script=("hm", "</think>", ANSWER), template=template).write(tmp_path / "opened.gguf")
    chosen = settings(reasoning_format="think")
    with open_engine(chosen, model, "digest") as engine:
        completion = engine.complete(chosen.request("2+2?"))
        cut = engine.complete(settings(max_tokens=1).request("2+2?"))

    assert (completion.text, completion.reasoning) == (ANSWER, "hm")
    assert (cut.text, cut.reasoning) == ("", "hm")


def test_long_pieces_and_broken_utf8_survive(tmp_path: Path) -> None:
    long = "milliliters " * 40
    model = TinyModel(script=(long, "ÿ", "Ω")).write(tmp_path / "long.gguf")  # ÿ stands for the byte FF

    assert [f"{long}\ufffdΩ{END}"] == answers(model, ["x"])


def test_two_runs_and_any_order_give_the_same_text(random_model: Path) -> None:
    first = answers(random_model)

    assert first == answers(random_model)
    assert first == answers(random_model, PROMPTS[::-1])[::-1]
    assert first == answers(random_model, threads=2)
    assert len(PROMPTS) == len(set(first)), (
        "each prompt gets an answer of its own, so that the comparison says something"
    )


def test_sampling_depends_on_the_seed_alone(random_model: Path) -> None:
    hot: dict[str, Any] = {"temperature": 1.5, "top_k": 0, "top_p": 0.95}

    assert answers(random_model, **hot, seed=5) == answers(random_model, PROMPTS[::-1], **hot, seed=5)[::-1]
    assert answers(random_model, **hot, seed=5) != answers(random_model, **hot, seed=6)
    assert answers(random_model) == answers(random_model, **{**hot, "top_k": 1}, seed=5), "one candidate is greedy"


def test_a_kept_prefix_is_an_option_that_works(random_model: Path) -> None:
    twice = [PROMPTS[0], PROMPTS[2], PROMPTS[0]]
    with_cache = answers(random_model, twice, prefix_cache=True)

    assert with_cache[0] == answers(random_model, twice[:1])[0]
    assert all(with_cache)


def test_other_architectures_and_batch_sizes_run(tmp_path: Path) -> None:
    model = TinyModel(architecture="qwen2", script=("FINAL:", " 6.25", " liters")).write(tmp_path / "qwen2.gguf")

    for changes in ({"batch": 8, "ubatch": 4}, {"flash_attention": True}):
        assert answers(model, ["x" * 50], **changes) == [ANSWER + END]


@pytest.mark.parametrize("wants", [True, False])
@pytest.mark.parametrize("writes", [True, False])
def test_the_beginning_token_occurs_at_most_once(tmp_path: Path, wants: bool, writes: bool) -> None:
    template = ("{{ bos_token }}" if writes else "") + CHATML
    model = TinyModel(script=("x",), template=template, wants_bos=wants).write(tmp_path / "bos.gguf")
    chosen = settings()
    with open_engine(chosen, model, "digest") as engine:
        completion = engine.complete(chosen.request("2+2?"))

    assert completion.prompt_tokens == len("user\n2+2?\nassistant\n") + 3 + (wants or writes)


def test_the_identity_is_known_before_the_model_is_loaded(scripted_model: Path) -> None:
    chosen = settings(template_kwargs={"thinks": False}, chat_template=CHATML + "{{ thinks }}")
    with open_engine(chosen, scripted_model, "digest") as engine:
        identity = engine.identity()

    assert identity == engine_identity(chosen, scripted_model, "digest")
    assert json.loads(json.dumps(identity)) == identity
    assert identity["model_digest"] == "digest"
    assert hashlib.sha256((CHATML + "{{ thinks }}").encode()).hexdigest() == identity["template_digest"]
    assert identity["template_kwargs"] == {"thinks": False}
    assert {"0.3.36": "0c1e57098bba"}[str(identity["llama_cpp_python"])] == identity["llama_cpp_commit"]
    assert not {"threads", "seed", "temperature"} & identity.keys()


def test_a_template_of_ones_own_changes_prompt_and_identity(scripted_model: Path) -> None:
    plain, own = settings(), settings(chat_template="{{ messages[0].content + '\n' }}")
    with open_engine(plain, scripted_model, "d") as one, open_engine(own, scripted_model, "d") as other:
        assert hashlib.sha256(b"2+2?\n").hexdigest() == other.prepare(own.request("2+2?"))
        assert one.identity()["template_digest"] != other.identity()["template_digest"]


def test_a_model_without_a_template_is_an_error_unless_one_is_given(tmp_path: Path) -> None:
    model = TinyModel(script=("x",), template=None).write(tmp_path / "bare.gguf")

    with pytest.raises(ModelError, match=r"bare\.gguf: the file has no chat template"):
        open_engine(settings(), model, "digest")
    assert [f"x{END}"] == answers(model, ["2+2?"], chat_template=CHATML)


def test_a_prompt_that_does_not_fit_is_refused_before_it_is_asked(scripted_model: Path) -> None:
    chosen = settings(context=256)
    with open_engine(chosen, scripted_model, "digest") as engine:
        room = 256 - chosen.max_tokens - len("user\n\nassistant\n") - 3
        assert engine.complete(chosen.request("x" * room)).text == ANSWER
        for ask in (engine.prepare, engine.complete):
            with pytest.raises(ModelError, match=r"257 or more"):
                ask(chosen.request("x" * (room + 1)))


def test_a_closed_engine_is_closed(scripted_model: Path) -> None:
    engine = open_engine(settings(), scripted_model, "digest")
    engine.close()
    engine.close()

    with pytest.raises(ValueError, match="closed"):
        engine.complete(settings().request("2+2?"))


def test_llama_cpps_log_stays_off_the_terminal(scripted_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert answers(scripted_model, ["2+2?"]) == [ANSWER + END]
    assert tuple(capfd.readouterr()) == ("", "")


def test_a_prompt_without_the_message_is_refused_before_the_weights_are_loaded(
    scripted_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("loaded")

    monkeypatch.setattr("samequantity.engines.llama.loading.Handles.load", refuse)
    chosen = settings(chat_template="{% for part in messages[0].content %}{{ part.text }}{% endfor %}")

    with pytest.raises(ModelError, match=r"scripted\.gguf: The chat template .* does not put the user's message"):
        open_engine(chosen, scripted_model, "digest")
    with pytest.raises(ModelError, match="does not put the user's message"):
        engine_identity(chosen, scripted_model, "digest")


def test_a_message_that_the_template_changes_is_refused_before_it_is_asked(scripted_model: Path) -> None:
    chosen = settings(chat_template="{{ messages[0].content | replace('×', 'x') }}")
    with open_engine(chosen, scripted_model, "digest") as engine:
        assert engine.prepare(chosen.request(" 2+2? "))
        for ask in (engine.prepare, engine.complete):
            with pytest.raises(ModelError, match=r"does not put the user's message .* Of the message '2 × 10"):
                ask(chosen.request("2 × 10^4?"))


def test_more_threads_than_cores_are_told(
    scripted_model: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Those of a command to its log, hence to the terminal and to the file of `--log`."""
    monkeypatch.setattr("samequantity.engines.llama.library.usable_cores", lambda: 1)
    told: list[str] = []
    for threads in (1, 2):
        with LlamaEngine(settings(threads=threads), scripted_model, "digest", notice=told.append):
            pass
    assert len(told) == 1
    assert "2 threads on 1 usable core " in told[0]
    files = ModelFiles(path=scripted_model, digest="digest", pinned=True)
    with caplog.at_level("INFO"), System(name="tiny", settings=settings(threads=2), files=files).opened():
        assert [("samequantity", logging.INFO, told[0])] == caplog.record_tuples


def test_no_count_of_cores_is_too_large(scripted_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samequantity.engines.llama.library.usable_cores", lambda: 1024)
    with open_engine(settings(threads=None), scripted_model, "digest") as engine:
        assert engine.host_facts()["threads"] == 512


def test_a_model_that_ends_its_turn_while_thinking_was_not_cut_off(tmp_path: Path) -> None:
    model = TinyModel(script=("<think>", ANSWER)).write(tmp_path / "thinking.gguf")
    chosen = settings(reasoning_format="think")
    with open_engine(chosen, model, "digest") as engine:
        ended = engine.complete(chosen.request("2+2?"))
        cut = engine.complete(settings(max_tokens=2).request("2+2?"))

    assert [(FinishReason.STOP, "eog"), (FinishReason.LENGTH, "limit")] == [
        (completion.finish_reason, completion.raw_finish_reason) for completion in (ended, cut)
    ]
    assert {("", ANSWER)} == {(completion.text, completion.reasoning) for completion in (ended, cut)}
