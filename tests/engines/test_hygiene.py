"""No answer depends on what was asked before, and no model file can end this process."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import TokenType

import tiny_gguf
from fixtures_gguf import settings
from samequantity.engines.llama.probe import probe, read_head
from samequantity.engines.llama.settings import LlamaSettings
from samequantity.engines.opening import open_engine
from samequantity.errors import ModelError
from tiny.vocabulary import SPECIAL
from tiny.weights import SLIDING_WINDOW
from tiny_gguf import Architecture, TinyModel, tiny

SHORT, OTHER = "A jug holds 12 liters.", "Ωμέγα × 10^4"
LONG = "A tank of 40 liters is 37.5% full. How much does it lack? " * 5
HOT = {"temperature": 1.5, "top_k": 0, "top_p": 0.95}

STATEFUL: list[Architecture] = ["qwen35", "gpt-oss", "mistral4"]


@pytest.fixture(scope="module", params=STATEFUL)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of an architecture whose memory is more than a table of keys and values."""
    architecture: Architecture = request.param
    return tiny(architecture).write(tmp_path_factory.mktemp("models") / f"{architecture}.gguf")


def asked(model: Path, *questions: tuple[str, LlamaSettings], **changes: Any) -> list[str]:
    """What one engine answers to the questions in their order."""
    with open_engine(settings(context=1024, **changes), model, "digest") as engine:
        return [engine.complete(chosen.request(prompt)).raw for prompt, chosen in questions]


@pytest.mark.usefixtures("read_here")
def test_an_answer_is_the_same_whatever_came_before(model: Path) -> None:
    """A longer prompt (beyond gpt-oss's window), a shorter, a sampled one, one cut at once, the same again."""
    plain, hot, cut = settings(), settings(**HOT), settings(max_tokens=1)
    assert len(LONG) > 2 * SLIDING_WINDOW
    first = {prompt: asked(model, (prompt, plain))[0] for prompt in (SHORT, LONG)}

    before = [(LONG, plain), (OTHER, plain), (OTHER, hot), (LONG, cut), (SHORT, plain)]
    mixed = [question for earlier in before for question in (earlier, (SHORT, plain), (LONG, plain))]
    answers = asked(model, *mixed)

    assert first[SHORT] != first[LONG]
    assert {first[SHORT]} == set(answers[1::3])
    assert {first[LONG]} == set(answers[2::3])


@pytest.mark.usefixtures("read_here")
def test_memory_that_is_not_cleared_would_show(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above says something: without the reset, the earlier prompt is seen in the answer."""
    plain = settings()
    (alone,) = asked(model, (SHORT, plain))
    monkeypatch.setattr("llama_cpp.llama_cpp.llama_memory_clear", lambda *_: None)

    assert alone != asked(model, (OTHER, plain), (SHORT, plain))[1]


@pytest.mark.usefixtures("read_here")
def test_a_kept_prefix_never_carries_a_state_that_cannot_go_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hybrid model refuses to forget only the end, so it forgets all, and prefix_cache changes nothing."""
    import llama_cpp.llama_cpp as lib

    model = tiny("qwen35").write(tmp_path / "hybrid.gguf")
    plain = settings()
    questions = [(LONG, plain), (SHORT, plain), (SHORT + " And more?", plain), (SHORT, settings(**HOT)), (SHORT, plain)]
    expected = asked(model, *questions)
    refused: list[bool] = []
    remove = lib.llama_memory_seq_rm
    monkeypatch.setattr(lib, "llama_memory_seq_rm", lambda *at: refused.append(not remove(*at)) or not refused[-1])

    assert expected == asked(model, *questions, prefix_cache=True)
    assert [True] * 4 == refused


@pytest.mark.parametrize("architecture", ["gpt-oss", "mistral4"])
def test_a_kept_prefix_is_kept_by_the_others(tmp_path: Path, architecture: Architecture) -> None:
    """Beyond the sliding window too; whether the answer is that of a fresh context is not promised."""
    import llama_cpp.llama_cpp as lib

    model = tiny(architecture).write(tmp_path / "kept.gguf")
    chosen = settings(context=1024, prefix_cache=True)
    with open_engine(chosen, model, "digest") as engine:
        engine.complete(chosen.request(LONG))
        kept = engine._keep_prefix(engine._prompt(chosen.request(LONG + "?")).tokens)  # type: ignore[attr-defined]
        held = lib.llama_memory_seq_pos_max(lib.llama_get_memory(engine._handles.context), 0)  # type: ignore[attr-defined]

    assert kept > len(LONG) > SLIDING_WINDOW
    assert held == kept - 1


@pytest.mark.parametrize("damage", ["empty", "cut head", "cut weights", "noise", "no model"])
def test_a_broken_file_is_a_message_that_names_it(tmp_path: Path, scripted_model: Path, damage: str) -> None:
    whole = scripted_model.read_bytes()
    path = tmp_path / "broken.gguf"
    path.write_bytes(
        {
            "empty": b"",
            "cut head": whole[:1000],
            "cut weights": whole[:-1000],
            "noise": whole[:4] + bytes(range(256)) * 40,
            "no model": b"PK\x03\x04" + whole[4:],
        }[damage]
    )

    with pytest.raises(ModelError, match=r"broken\.gguf: llama\.cpp cannot read it"):
        open_engine(settings(), path, "digest")


def test_a_file_that_makes_llama_cpp_abort_leaves_this_process_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that occurs twice ends the process that reads it; here only the child's."""
    monkeypatch.setitem(SPECIAL["llama"], "a", TokenType.CONTROL)
    model = TinyModel().write(tmp_path / "twice.gguf")

    with pytest.raises(
        ModelError, match=r"twice\.gguf: llama\.cpp cannot read it as a GGUF model \(it died of SIGABRT"
    ):
        probe(model)


def test_an_absent_file_is_a_message(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.gguf: no such model file"):
        open_engine(settings(), tmp_path / "nowhere.gguf", "digest")


# Each has a head that is read without complaint.
UNSOUND = [
    pytest.param(TinyModel(lies={"llama.block_count": 0}), "it died of SIGABRT", id="no blocks"),
    pytest.param(
        tiny("qwen35", lies={"qwen35.full_attention_interval": 0}), "it died of SIGFPE", id="division by zero"
    ),
    pytest.param(TinyModel(lies={"llama.block_count": 3}), "it refuses the file", id="absent tensors"),
]


@pytest.mark.parametrize(("model", "ending"), UNSOUND)
def test_a_file_that_nothing_vouches_for_is_run_elsewhere_first(tmp_path: Path, model: TinyModel, ending: str) -> None:
    path = model.write(tmp_path / "unsound.gguf")

    assert read_head(str(path)) is not None
    with pytest.raises(ModelError, match=rf"unsound\.gguf: llama\.cpp cannot read it as a GGUF model \({ending}"):
        open_engine(settings(), path, "digest", trusted=False)


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spoilt(*arguments: Any, **options: Any) -> dict[str, Any]:
        weights = whole(*arguments, **options)
        weights["blk.1.ffn_up.weight"][3, 3] = np.nan
        return weights

    whole = tiny_gguf.random_weights
    monkeypatch.setattr(tiny_gguf, "random_weights", spoilt)
    path = TinyModel().write(tmp_path / "spoilt.gguf")

    with pytest.raises(ModelError, match=r"spoilt\.gguf: .* \(it refuses the file\)(?s:.*)weights"):
        probe(path, run=True)


@pytest.mark.usefixtures("read_here")
def test_a_pinned_file_that_does_not_fit_its_head_is_a_message_too(tmp_path: Path) -> None:
    path = TinyModel(lies={"llama.block_count": 3}).write(tmp_path / "other.gguf")

    with pytest.raises(ModelError, match=r"other\.gguf: llama\.cpp cannot load it\.(?s:.*)blk\.2\.attn_norm"):
        open_engine(settings(), path, "digest")


def test_a_sound_file_that_nothing_vouches_for_is_asked(scripted_model: Path) -> None:
    chosen = settings()
    with open_engine(chosen, scripted_model, "digest", trusted=False) as engine:
        assert engine.complete(chosen.request("2+2?")).text
