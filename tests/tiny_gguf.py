"""Model files of some hundred kilobytes that llama.cpp loads and runs in milliseconds.

A random one answers nonsense, always the same. A scripted one is a chain: after the last token of a prompt in the
ChatML form it emits the given pieces and ends its turn (or begins again), whatever was asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from gguf import GGUFWriter, TokenType

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

END = "<|im_end|>"

_CONTROL = (END, "<|im_start|>", "<|bos|>")
_HEADS, _KEY_VALUE_HEADS, _WIDTH, _HIDDEN, _BLOCKS = 2, 1, 64, 64, 2
_CHAIN_WEIGHT = 20.0

Weights = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyModel:
    """What a tiny model file holds."""

    architecture: Literal["llama", "qwen2"] = "llama"
    script: tuple[str, ...] = ()
    """Distinct pieces, one token each; empty for random weights."""
    ends: bool = True
    """Whether the script ends the turn; else it begins again."""
    template: str | None = CHATML
    wants_bos: bool = False
    context: int = 2048
    seed: int = 0

    def write(self, path: Path) -> Path:
        """Write the file and return its path."""
        tokens, types = _vocabulary(self.script)
        width = -(-len(tokens) // _WIDTH) * _WIDTH if self.script else _WIDTH
        weights = _weights(self, len(tokens), width)
        if self.script:
            _make_chain(weights, [tokens.index(piece) for piece in self.script], tokens, ends=self.ends)
        writer = GGUFWriter(path, self.architecture)
        self._describe(writer, tokens, types, width)
        for name, values in weights.items():
            writer.add_tensor(name, values)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    def _describe(self, writer: GGUFWriter, tokens: list[str], types: list[int], width: int) -> None:
        writer.add_name("tiny")
        writer.add_context_length(self.context)
        writer.add_embedding_length(width)
        writer.add_block_count(_BLOCKS)
        writer.add_feed_forward_length(_HIDDEN)
        writer.add_head_count(_HEADS)
        writer.add_head_count_kv(_KEY_VALUE_HEADS)
        writer.add_rope_dimension_count(width // _HEADS)
        writer.add_rope_freq_base(10000.0)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_vocab_size(len(tokens))
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("qwen2")
        writer.add_token_list(tokens)
        writer.add_token_types(types)
        writer.add_token_merges(["q z"])  # llama.cpp wants one at least
        writer.add_eos_token_id(tokens.index(END))
        writer.add_bos_token_id(tokens.index("<|bos|>"))
        writer.add_add_bos_token(self.wants_bos)
        if self.template is not None:
            writer.add_chat_template(self.template)


def byte_tokens() -> list[str]:
    """The 256 tokens of a byte-level vocabulary: printable bytes as themselves, the others from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def _vocabulary(script: Sequence[str]) -> tuple[list[str], list[int]]:
    assert len(set(script)) == len(script), "each piece of a script has one successor, so they must be distinct"
    ordinary = [*byte_tokens(), "qz"]
    taken = {*ordinary, *_CONTROL}  # a token that occurs twice makes llama.cpp abort
    pieces = [piece for piece in script if piece not in taken]
    types = [TokenType.NORMAL] * len(ordinary) + [TokenType.CONTROL] * len(_CONTROL)
    return [*ordinary, *_CONTROL, *pieces], [*map(int, types), *[int(TokenType.USER_DEFINED)] * len(pieces)]


def _weights(model: TinyModel, vocabulary: int, width: int) -> dict[str, Weights]:
    random = np.random.default_rng(model.seed)

    def normal(*shape: int) -> Weights:
        values: Weights = random.standard_normal(shape, dtype=np.float32) / np.float32(np.sqrt(shape[-1]))
        return values

    def ones(size: int) -> Weights:
        return np.ones(size, np.float32)

    weights = {
        "token_embd.weight": normal(vocabulary, width) * np.float32(np.sqrt(width)),
        "output.weight": normal(vocabulary, width) * np.float32(3),
        "output_norm.weight": ones(width),
    }
    keys = width // _HEADS * _KEY_VALUE_HEADS
    for block in range(_BLOCKS):
        at = f"blk.{block}"
        for name, size in (("attn_q", width), ("attn_k", keys), ("attn_v", keys)):
            weights[f"{at}.{name}.weight"] = normal(size, width)
            if model.architecture == "qwen2":
                weights[f"{at}.{name}.bias"] = normal(size)
        weights |= {
            f"{at}.attn_output.weight": normal(width, width),
            f"{at}.attn_norm.weight": ones(width),
            f"{at}.ffn_norm.weight": ones(width),
            f"{at}.ffn_gate.weight": normal(_HIDDEN, width),
            f"{at}.ffn_up.weight": normal(_HIDDEN, width),
            f"{at}.ffn_down.weight": normal(width, _HIDDEN),
        }
    return weights


def _make_chain(weights: dict[str, Weights], pieces: list[int], tokens: list[str], *, ends: bool) -> None:
    """Let every token be a direction of its own, silence the blocks, and let each piece point to the next."""
    for name, values in weights.items():
        if name.endswith(("attn_output.weight", "ffn_down.weight")):
            values[:] = 0
    width = weights["token_embd.weight"].shape[1]
    weights["token_embd.weight"] = np.eye(len(tokens), width, dtype=np.float32)
    output = np.zeros((len(tokens), width), np.float32)
    line_end = byte_tokens()[ord("\n")]
    after = tokens.index(END) if ends else pieces[0]
    for here, there in zip([tokens.index(line_end), *pieces], [*pieces, after], strict=True):
        output[there, here] = _CHAIN_WEIGHT
    weights["output.weight"] = output
