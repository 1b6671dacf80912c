"""Vocabularies for tiny models: bytes and an architecture's own control tokens, or a real one's beginning."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gguf import TokenType

Architecture = Literal["llama", "qwen2", "qwen35", "gpt-oss", "mistral4"]

END = "<|im_end|>"

_CHATML = {END: TokenType.CONTROL, "<|im_start|>": TokenType.CONTROL, "<|bos|>": TokenType.CONTROL}
_THINK = {"<think>": TokenType.USER_DEFINED, "</think>": TokenType.USER_DEFINED}
_HARMONY = ("return", "startoftext", "start", "end", "message", "channel", "constrain", "call", "endoftext")
_MISTRAL = ("INST", "SYSTEM_PROMPT", "MODEL_SETTINGS", "THINK")

SPECIAL: dict[Architecture, dict[str, TokenType]] = {
    "llama": _CHATML,
    "qwen2": _CHATML,
    "qwen35": {**_CHATML, **_THINK},
    "gpt-oss": {f"<|{name}|>": TokenType.CONTROL for name in _HARMONY},
    "mistral4": {
        "</s>": TokenType.CONTROL,
        "<s>": TokenType.CONTROL,
        **{f"[{slash}{name}]": TokenType.CONTROL for name in _MISTRAL for slash in ("", "/")},
    },
}
"""Each architecture's tokens besides text; the first ends a turn."""

_BEGIN: dict[Architecture, str] = {"gpt-oss": "<|startoftext|>", "mistral4": "<s>"}
_PRE: dict[Architecture, str] = {"qwen35": "qwen35", "gpt-oss": "gpt-4o", "mistral4": "tekken"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyVocabulary:
    """Tokens with their types, in the order of their numbers, and what joins them."""

    tokens: list[str]
    types: list[int]
    merges: list[str]
    pre: str
    """What llama.cpp calls the way in which text is cut before it is merged."""
    begin: str
    end: str


def byte_tokens() -> list[str]:
    """The 256 tokens of a byte-level vocabulary: printable bytes as themselves, the others from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def built_in(architecture: Architecture, script: Sequence[str]) -> TinyVocabulary:
    """Bytes, the architecture's special tokens, and a token for each piece of the script."""
    assert len(set(script)) == len(script), "each piece of a script has one successor, so they must be distinct"
    ordinary = [*byte_tokens(), "qz"]
    special = SPECIAL[architecture]
    taken = {*ordinary, *special}  # a token that occurs twice makes llama.cpp abort
    pieces = [piece for piece in script if piece not in taken]
    types = [TokenType.NORMAL] * len(ordinary) + [*special.values()] + [TokenType.USER_DEFINED] * len(pieces)
    end = next(iter(special))
    return TinyVocabulary(
        tokens=[*ordinary, *special, *pieces],
        types=[int(kind) for kind in types],
        merges=["q z"],  # llama.cpp wants one at least
        pre=_PRE.get(architecture, "qwen2"),
        begin=_BEGIN.get(architecture, "<|bos|>"),
        end=end,
    )


def cut_from(source: Path, *, merges: int) -> TinyVocabulary:
    """A real byte-level vocabulary with its first merges only: bytes, what those merges make, special tokens."""
    facts = dict(_metadata(source.read_bytes()))
    tokens, types = facts["tokenizer.ggml.tokens"], facts["tokenizer.ggml.token_type"]
    kept = facts["tokenizer.ggml.merges"][:merges]
    text = {*byte_tokens(), *(merge.replace(" ", "") for merge in kept)}
    special = {TokenType.CONTROL, TokenType.USER_DEFINED}
    pairs = [(token, kind) for token, kind in zip(tokens, types, strict=True) if token in text or kind in special]
    return TinyVocabulary(
        tokens=[token for token, _ in pairs],
        types=[kind for _, kind in pairs],
        merges=kept,
        pre=facts["tokenizer.ggml.pre"],
        begin=tokens[facts["tokenizer.ggml.bos_token_id"]],
        end=END,
    )


_TEXT, _LIST = 8, 9
_NUMBERS = dict(enumerate(["<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?", "", "", "<Q", "<q", "<d"]))


def _metadata(data: bytes) -> Iterator[tuple[str, Any]]:
    """What a GGUF file says before its tensors. The `gguf` package takes seconds for a real vocabulary."""
    at = 24  # magic, version, number of tensors, number of entries

    def number(form: str) -> Any:
        nonlocal at
        (value,) = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return value

    def value(kind: int) -> Any:
        nonlocal at
        if kind == _LIST:
            of, count = number("<I"), number("<Q")
            return [value(of) for _ in range(count)]
        if kind != _TEXT:
            return number(_NUMBERS[kind])
        size = number("<Q")
        at += size
        return data[at - size : at].decode()

    for _ in range(struct.unpack_from("<Q", data, 16)[0]):
        name = value(_TEXT)
        yield name, value(number("<I"))
