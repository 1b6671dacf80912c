"""A prompt's tokens are the ones that the engine gives the model, and each stands for its own bytes of the prompt."""

import hashlib
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures_gguf import settings
from samequantity.engines.llama.probe import probe, read_head
from samequantity.engines.llama.tokenizer import CutPrompt, Tokenizer, places_of
from samequantity.engines.opening import open_engine
from samequantity.errors import ModelError
from tiny_gguf import Architecture, TinyModel, tiny

ARCHITECTURES = get_args(Architecture)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


pytestmark = pytest.mark.usefixtures("read_here")


@pytest.fixture(autouse=True)
def _read_heads_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samequantity.engines.llama.tokenizer.probe", lambda model: read_head(str(model)))


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bytes are tokens, but for qz and two pieces that hold the blank before a number."""
    script = (" 6.25", " 3/4 l")
    return TinyModel(script=script).write(tmp_path_factory.mktemp("models") / "pieces.gguf")


def cut(model: Path, message: str, **changes: Any) -> CutPrompt:
    with Tokenizer(settings(**changes), model, "digest") as tokenizer:
        return tokenizer.cut(message)


def said(found: CutPrompt, text: str) -> list[bytes]:
    """The pieces of the tokens that share a byte with a text of the prompt."""
    start = found.data.index(text.encode())
    return [found.pieces[place] for place in found.between(start, start + len(text.encode()))]


def test_a_prompt_is_cut_into_its_bytes_and_what_the_vocabulary_joins(model: Path) -> None:
    found = cut(model, "2 qz 6.25")

    rendered = b"<|im_start|>user\n2 qz 6.25<|im_end|>\n<|im_start|>assistant\n"
    letters = [letter.encode() for letter in "user\n2 "]
    assert rendered == found.data
    assert hashlib.sha256(rendered).hexdigest() == found.sha256
    assert [b"<|im_start|>", *letters, b"qz", b" 6.25", b"<|im_end|>"] == list(found.pieces[:11])
    assert len("user\n2 ") + 2 + len("\nassistant\n") + 3 == len(found.ids)


@pytest.mark.parametrize(
    ("message", "text", "pieces"),
    [
        ("holds 0.75 liters", "0.75", [b"0", b".", b"7", b"5"]),
        ("holds 6.25 liters", "6.25", [b" 6.25"]),
        ("holds 3/4 liters", "3/4", [b" 3/4 l"]),
        ("holds 3/4 liters", "liters", [b" 3/4 l", b"i", b"t", b"e", b"r", b"s"]),
        ("7 × 10^3", "7 × 10", [b"7", b" ", b"\xc3", b"\x97", b" ", b"1", b"0"]),
        ("twelve", "twelve", [letter.encode() for letter in "twelve"]),
    ],
)
def test_the_tokens_of_a_text_are_all_that_share_a_byte_with_it(
    model: Path, message: str, text: str, pieces: list[bytes]
) -> None:
    assert pieces == said(cut(model, message), text)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_engine_gives_the_model_as_many_tokens_of_the_same_prompt(
    architecture: Architecture, tmp_path: Path
) -> None:
    path = tiny(architecture).write(tmp_path / "tiny.gguf")
    chosen = settings(max_tokens=1)
    with open_engine(chosen, path, "digest") as engine:
        completion = engine.complete(chosen.request("A jug holds 7.5 × 10^3 liters."))
    found = cut(path, "A jug holds 7.5 × 10^3 liters.")

    assert (completion.prompt_sha256, completion.prompt_tokens) == (found.sha256, len(found.ids))
    assert found.data == b"".join(found.pieces)


@pytest.mark.parametrize("writes", [True, False])
def test_a_token_that_begins_every_text_stands_for_nothing_unless_the_template_writes_it(
    writes: bool, tmp_path: Path
) -> None:
    path = TinyModel(wants_bos=True).write(tmp_path / "bos.gguf")
    found = cut(path, "6", chat_template=("{{ bos_token }}" if writes else "") + "{{ messages[0].content }}")

    assert [b"<|bos|>", b"6"] == found.pieces
    first = len("<|bos|>") if writes else 0
    assert [range(first), range(first, first + 1)] == found.places
    assert [b"6"] == said(found, "6")


@given(message=TEXT, data=st.data())
def test_places_cover_the_prompt_once_and_between_finds_what_they_share(
    tiny_tokenizer: Tokenizer, message: str, data: st.DataObject
) -> None:
    found = tiny_tokenizer.cut(message)
    start = data.draw(st.integers(0, len(found.data) - 1))
    end = data.draw(st.integers(start + 1, len(found.data)))

    assert [*range(len(found.data))] == [byte for place in found.places for byte in place]
    assert list(found.pieces) == [found.data[place.start : place.stop] for place in found.places]
    shared = [number for number, place in enumerate(found.places) if {*place} & {*range(start, end)}]
    assert shared == [*found.between(start, end)]
    assert found.data[start:end] in b"".join(found.pieces[place] for place in shared)


@pytest.fixture(scope="session")
def tiny_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A vocabulary that stays loaded."""
    path = TinyModel(script=(" 6.25", "ü", "\n\n")).write(tmp_path_factory.mktemp("models") / "open.gguf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("samequantity.engines.llama.tokenizer.probe", lambda model: read_head(str(model)))
        tokenizer = Tokenizer(settings(), path, "digest")
    with tokenizer:
        yield tokenizer


@pytest.mark.parametrize(
    ("pieces", "text", "places"),
    [
        ([b"a", b"b"], b"ab", [range(1), range(1, 2)]),
        ([b"<s>", b"a"], b"a", [range(0), range(1)]),
        ([b"<s>", b" a", b" b"], b"<s>a b", [range(3), range(3, 4), range(4, 6)]),
        ([b"<x>", b" ", b"\n", b"a"], b"<x>\na", [range(3), range(3, 3), range(3, 4), range(4, 5)]),
        ([b"<x>", b"<y>", b"a"], b"<x>\n <y>  a\n", [range(3), range(5, 8), range(10, 11)]),
    ],
)
def test_blanks_that_a_vocabulary_adds_or_swallows_are_nobodys(
    pieces: list[bytes], text: bytes, places: list[range]
) -> None:
    assert places == places_of(pieces, text)


@pytest.mark.parametrize("pieces", [[b"a", b"x"], [b"a"], [b"a", b"b", b"c"], [b"A", b"b"], []])
def test_tokens_of_another_text_are_refused(pieces: list[bytes]) -> None:
    with pytest.raises(ValueError, match="stands for"):
        places_of(pieces, b"ab")


def test_a_vocabulary_that_changes_the_text_is_an_error_that_names_the_model(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("samequantity.engines.llama.vocabulary.Vocabulary.piece", lambda *_: b"?")

    with pytest.raises(
        ModelError, match=r"pieces\.gguf: its tokens do not spell the prompt \(b'\?' stands for b'<\|im"
    ):
        cut(model, "6")


def identity(model: Path, **changes: Any) -> dict[str, object]:
    return Tokenizer(settings(**changes), model, "digest").identity()


def test_the_identity_is_what_decides_tokens_and_nothing_else(model: Path) -> None:
    """So a model that answers on a GPU, or at another temperature, keeps its table."""
    facts = identity(model)

    assert facts == identity(model, threads=2, temperature=0.7, seed=3, max_tokens=5, context=99, batch=8, ubatch=8)
    assert "digest" == facts["model_digest"]
    assert {"template_digest", "template_kwargs", "strftime_now", "llama_cpp_python", "llama_cpp_commit"} < facts.keys()
    for changes in (
        {"strftime_now": "2026-07-26"},
        {"chat_template": "{{ messages[0].content }}"},
        {"chat_template": "{{ a }}{{ messages[0].content }}", "template_kwargs": {"a": 1}},
    ):
        assert facts != identity(model, **changes)


def test_a_broken_file_is_an_error_and_ends_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samequantity.engines.llama.tokenizer.probe", probe)
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(100))

    with pytest.raises(ModelError, match=r"broken\.gguf: llama\.cpp cannot read it as a GGUF model"):
        Tokenizer(settings(), path, "digest")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prompt_holds": ["<think>"]}, "the rendered prompt lacks '<think>', which prompt_holds demands"),
        ({"chat_template": "{{ messages[0].content | replace('×', 'x') }}"}, "does not put the user's message"),
    ],
)
def test_a_prompt_that_the_engine_would_not_ask_is_not_cut(model: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        cut(model, "2 × 10^3", **changes)


def test_without_a_vocabulary_nothing_is_cut(model: Path) -> None:
    tokenizer = Tokenizer(settings(), model, "digest")
    with tokenizer:
        assert tokenizer.cut("6").ids
    tokenizer.close()

    with pytest.raises(ValueError, match="no vocabulary is loaded"):
        tokenizer.cut("6")


def test_a_file_that_was_lost_since_its_head_was_read_is_an_error(tmp_path: Path) -> None:
    path = TinyModel().write(tmp_path / "lost.gguf")
    tokenizer = Tokenizer(settings(), path, "digest")
    path.unlink()

    with pytest.raises(ModelError, match=r"lost\.gguf: llama\.cpp cannot load its vocabulary"), tokenizer:
        pass
