"""Model files of some hundred kilobytes that llama.cpp loads and runs in milliseconds, of each architecture we meet.

A random one answers nonsense, always the same. A scripted one is a chain: after the prompt it emits the given pieces
and ends its turn (or begins again), whatever was asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gguf import GGUFWriter, TokenType

from tiny.templates import CHATML, TEMPLATES
from tiny.vocabulary import END, Architecture, TinyVocabulary, built_in, cut_from
from tiny.weights import WIDTH, Weights, describe, make_chain, random_weights

__all__ = ["CHATML", "END", "Architecture", "TinyModel", "tiny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyModel:
    """What a tiny model file holds."""

    architecture: Architecture = "llama"
    script: tuple[str, ...] = ()
    """Distinct pieces, one token each; empty for random weights."""
    ends: bool = True
    """Whether the script ends the turn; else it begins again."""
    template: str | None = CHATML
    wants_bos: bool = False
    context: int = 2048
    seed: int = 0
    vocabulary: Path | None = None
    """A GGUF file whose vocabulary is used, cut to its first `merges`; None for bytes. Not with a script."""
    merges: int = 1000
    lies: Mapping[str, int] = field(default_factory=dict)
    """Entries of the file's head, such as `llama.attention.head_count`, that say what the weights are not."""

    def write(self, path: Path) -> Path:
        """Write the file and return its path."""
        if self.vocabulary is None:
            words = built_in(self.architecture, self.script)
        else:
            words = cut_from(self.vocabulary, merges=self.merges)
        width = -(-len(words.tokens) // WIDTH) * WIDTH if self.script else WIDTH
        weights = random_weights(self.architecture, seed=self.seed, vocabulary=len(words.tokens), width=width)
        if self.script:
            end = words.tokens.index(words.end) if self.ends else None
            make_chain(weights, [words.tokens.index(piece) for piece in self.script], end)
        else:  # one that ends at once would show little
            weights["output.weight"][[kind == TokenType.CONTROL for kind in words.types]] = 0
        writer = GGUFWriter(path, self.architecture)
        self._describe(writer, words, width)
        for name, value in self.lies.items():
            writer.kv_data[0][name].value = value
        _finish(writer, weights)
        return path

    def _describe(self, writer: GGUFWriter, words: TinyVocabulary, width: int) -> None:
        writer.add_name("tiny")
        writer.add_context_length(self.context)
        writer.add_vocab_size(len(words.tokens))
        describe(writer, self.architecture, width)
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(words.pre)
        writer.add_token_list(words.tokens)
        writer.add_token_types(words.types)
        writer.add_token_merges(words.merges)
        writer.add_eos_token_id(words.tokens.index(words.end))
        writer.add_bos_token_id(words.tokens.index(words.begin))
        writer.add_add_bos_token(self.wants_bos)
        if self.template is not None:
            writer.add_chat_template(self.template)


def tiny(architecture: Architecture, **changes: Any) -> TinyModel:
    """A model of an architecture with a template in the style of its own, and with changes."""
    model = TinyModel(architecture=architecture, template=TEMPLATES[architecture], wants_bos=architecture == "mistral4")
    return replace(model, **changes)


def _finish(writer: GGUFWriter, weights: dict[str, Weights]) -> None:
    for name, values in weights.items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
