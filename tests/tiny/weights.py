"""Hyper-parameters and weights of tiny models, in the shapes that llama.cpp wants of each architecture."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from gguf import GGUFWriter

from tiny.vocabulary import Architecture

Weights = npt.NDArray[np.float32]

WIDTH, SLIDING_WINDOW = 64, 128
_HEADS, _KEY_VALUE_HEADS, _HEAD, _HIDDEN = 2, 1, 32, 64
_EXPERTS, _EXPERTS_USED, _EXPERT_HIDDEN = 4, 2, 32
# Qwen3.5: every fourth block attends, the others keep a state.
_STATE, _STATE_GROUPS, _STATE_HEADS, _KERNEL, _ATTENTION_EVERY = 32, 1, 2, 4, 4
# Multi-head latent attention: ranks of queries and of keys and values, parts of a head with and without position.
_QUERY_RANK, _KEY_RANK, _WITH_POSITION, _WITHOUT, _VALUE = 32, 32, 16, 16, 32
_CHAIN_WEIGHT = 20.0
_DECAY = np.float32(-0.05)
"""A state that fades faster forgets the prompt before the answer."""

_INTO_THE_STREAM = ("attn_output", "ffn_down", "ffn_down_exps", "ffn_down_shexp", "ssm_out")


def blocks(architecture: Architecture) -> int:
    """The number of blocks: enough for one of each kind."""
    return _ATTENTION_EVERY if architecture == "qwen35" else 2


def describe(writer: GGUFWriter, architecture: Architecture, width: int) -> None:
    """Write the hyper-parameters that `weights` follows."""
    writer.add_embedding_length(width)
    writer.add_block_count(blocks(architecture))
    writer.add_feed_forward_length(_HIDDEN)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_KEY_VALUE_HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    if architecture in {"llama", "qwen2"}:
        writer.add_rope_dimension_count(width // _HEADS)
    elif architecture == "mistral4":
        writer.add_leading_dense_block_count(0)
        writer.add_q_lora_rank(_QUERY_RANK)
        writer.add_kv_lora_rank(_KEY_RANK)
        writer.add_key_length(_KEY_RANK + _WITH_POSITION)
        writer.add_value_length(_KEY_RANK)
        writer.add_key_length_mla(_WITHOUT + _WITH_POSITION)
        writer.add_value_length_mla(_VALUE)
        writer.add_rope_dimension_count(_WITH_POSITION)
        writer.add_expert_shared_count(1)
        writer.add_expert_weights_scale(1.0)
        writer.add_expert_weights_norm(True)
    else:
        writer.add_key_length(_HEAD)
        writer.add_value_length(_HEAD)
        writer.add_rope_dimension_count(_HEAD)
    if architecture in {"gpt-oss", "mistral4"}:
        writer.add_expert_count(_EXPERTS)
        writer.add_expert_used_count(_EXPERTS_USED)
        writer.add_expert_feed_forward_length(_EXPERT_HIDDEN)
    if architecture == "gpt-oss":
        writer.add_sliding_window(SLIDING_WINDOW)
    if architecture == "qwen35":
        writer.add_ssm_conv_kernel(_KERNEL)
        writer.add_ssm_inner_size(_STATE * _STATE_HEADS)
        writer.add_ssm_state_size(_STATE)
        writer.add_ssm_time_step_rank(_STATE_HEADS)
        writer.add_ssm_group_count(_STATE_GROUPS)
        writer.add_full_attention_interval(_ATTENTION_EVERY)
        writer.add_rope_dimension_sections([8, 8, 0, 0])


class _Draw:
    """Random weights from one seed, in the order in which they are asked for."""

    def __init__(self, seed: int, width: int) -> None:
        self._random = np.random.default_rng(seed)
        self._width = width

    def normal(self, *shape: int) -> Weights:
        values: Weights = self._random.standard_normal(shape, dtype=np.float32) / np.float32(np.sqrt(shape[-1]))
        return values

    def attention(self, at: str, head: int, *, queries: int = 1, bias: bool) -> dict[str, Weights]:
        """Queries (with a gate of their size, if `queries` is 2), keys, values, and the way back into the stream."""
        weights = {}
        for name, heads in (("q", queries * _HEADS), ("k", _KEY_VALUE_HEADS), ("v", _KEY_VALUE_HEADS)):
            weights[f"{at}.attn_{name}.weight"] = self.normal(heads * head, self._width)
            if bias:
                weights[f"{at}.attn_{name}.bias"] = self.normal(heads * head)
        return weights | {f"{at}.attn_output.weight": self.normal(self._width, _HEADS * head)}

    def network(self, at: str, kind: str = "", hidden: int = _HIDDEN, count: Sequence[int] = ()) -> dict[str, Weights]:
        """A gated network of the name's `kind`, or `count` of them."""
        return {
            f"{at}.ffn_gate{kind}.weight": self.normal(*count, hidden, self._width),
            f"{at}.ffn_up{kind}.weight": self.normal(*count, hidden, self._width),
            f"{at}.ffn_down{kind}.weight": self.normal(*count, self._width, hidden),
        }

    def experts(self, at: str) -> dict[str, Weights]:
        """The experts and what chooses among them."""
        return {
            f"{at}.ffn_gate_inp.weight": self.normal(_EXPERTS, self._width),
            **self.network(at, "_exps", _EXPERT_HIDDEN, (_EXPERTS,)),
        }


def random_weights(architecture: Architecture, *, seed: int, vocabulary: int, width: int) -> dict[str, Weights]:
    """Every tensor of a model, by its name."""
    draw = _Draw(seed, width)
    weights = {
        "token_embd.weight": draw.normal(vocabulary, width) * np.float32(np.sqrt(width)),
        "output.weight": draw.normal(vocabulary, width) * np.float32(3),
        "output_norm.weight": _ones(width),
    }
    make = {"qwen35": _hybrid, "gpt-oss": _gpt_oss, "mistral4": _latent}.get(architecture)
    for block in range(blocks(architecture)):
        at = f"blk.{block}"
        weights[f"{at}.attn_norm.weight"] = _ones(width)
        if make is not None:
            weights |= make(draw, at, block, width)
            continue
        weights |= draw.attention(at, width // _HEADS, bias=architecture == "qwen2")
        weights |= {f"{at}.ffn_norm.weight": _ones(width), **draw.network(at)}
    return weights


def _hybrid(draw: _Draw, at: str, block: int, width: int) -> dict[str, Weights]:
    weights = {f"{at}.post_attention_norm.weight": _ones(width), **draw.network(at)}
    if (block + 1) % _ATTENTION_EVERY == 0:
        norms = {f"{at}.attn_{name}_norm.weight": _ones(_HEAD) for name in "qk"}
        return weights | norms | draw.attention(at, _HEAD, queries=2, bias=False)
    values = _STATE * _STATE_HEADS
    mixed = 2 * _STATE * _STATE_GROUPS + values
    return weights | {
        f"{at}.attn_qkv.weight": draw.normal(mixed, width),
        f"{at}.attn_gate.weight": draw.normal(values, width),
        f"{at}.ssm_conv1d.weight": draw.normal(mixed, _KERNEL),
        f"{at}.ssm_dt.bias": _zeros(_STATE_HEADS),
        f"{at}.ssm_a": _DECAY * _ones(_STATE_HEADS),
        f"{at}.ssm_beta.weight": draw.normal(_STATE_HEADS, width),
        f"{at}.ssm_alpha.weight": draw.normal(_STATE_HEADS, width),
        f"{at}.ssm_norm.weight": _ones(_STATE),
        f"{at}.ssm_out.weight": draw.normal(width, values),
    }


def _gpt_oss(draw: _Draw, at: str, _block: int, width: int) -> dict[str, Weights]:
    biases = {
        "attn_output.bias": (width,),
        "attn_sinks.weight": (_HEADS,),
        "ffn_gate_inp.bias": (_EXPERTS,),
        "ffn_gate_exps.bias": (_EXPERTS, _EXPERT_HIDDEN),
        "ffn_up_exps.bias": (_EXPERTS, _EXPERT_HIDDEN),
        "ffn_down_exps.bias": (_EXPERTS, width),
    }
    return {
        **draw.attention(at, _HEAD, bias=True),
        **draw.experts(at),
        f"{at}.post_attention_norm.weight": _ones(width),
        **{f"{at}.{name}": _zeros(*shape) for name, shape in biases.items()},
    }


def _latent(draw: _Draw, at: str, _block: int, width: int) -> dict[str, Weights]:
    return {
        f"{at}.attn_q_a_norm.weight": _ones(_QUERY_RANK),
        f"{at}.attn_kv_a_norm.weight": _ones(_KEY_RANK),
        f"{at}.attn_q_a.weight": draw.normal(_QUERY_RANK, width),
        f"{at}.attn_q_b.weight": draw.normal(_HEADS * (_WITHOUT + _WITH_POSITION), _QUERY_RANK),
        f"{at}.attn_kv_a_mqa.weight": draw.normal(_KEY_RANK + _WITH_POSITION, width),
        f"{at}.attn_k_b.weight": draw.normal(_HEADS, _KEY_RANK, _WITHOUT),
        f"{at}.attn_v_b.weight": draw.normal(_HEADS, _VALUE, _KEY_RANK),
        f"{at}.attn_output.weight": draw.normal(width, _HEADS * _VALUE),
        f"{at}.ffn_norm.weight": _ones(width),
        **draw.experts(at),
        **draw.network(at, "_shexp", _EXPERT_HIDDEN),
    }


def make_chain(weights: dict[str, Weights], pieces: Sequence[int], end: int | None) -> None:
    """Let every token be a direction of its own, silence the blocks, and let each piece point to the next.

    Any token that is no piece points to the first, so that the chain begins after whatever a prompt ends with; the
    last piece points to the token `end`, or begins again.
    """
    for name, values in weights.items():
        if name.split(".")[-2] in _INTO_THE_STREAM:
            values[:] = 0
    tokens, width = weights["token_embd.weight"].shape
    weights["token_embd.weight"] = np.eye(tokens, width, dtype=np.float32)
    output = _zeros(tokens, width)
    output[pieces[0], :tokens] = _CHAIN_WEIGHT
    output[:, list(pieces)] = 0
    for here, there in zip(pieces, [*pieces[1:], pieces[0] if end is None else end], strict=True):
        output[there, here] = _CHAIN_WEIGHT
    weights["output.weight"] = output


def _ones(*shape: int) -> Weights:
    return np.ones(shape, np.float32)


def _zeros(*shape: int) -> Weights:
    return np.zeros(shape, np.float32)
