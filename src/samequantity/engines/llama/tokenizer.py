"""A model's chat template and vocabulary without its weights: which tokens a prompt consists of, and what each says."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from samequantity.engines.base import Facts
from samequantity.engines.llama.library import library_facts, quiet_log
from samequantity.engines.llama.loading import load_vocabulary
from samequantity.engines.llama.probe import probe
from samequantity.engines.llama.prompts import Prompts
from samequantity.engines.llama.settings import LlamaSettings
from samequantity.engines.llama.vocabulary import Vocabulary
from samequantity.errors import ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class CutPrompt:
    """A rendered prompt, in bytes, and its tokens: number, bytes that each says, and place in the prompt.

    A place is as long as what its token says, but for a blank that the vocabulary puts before a text, and for the token
    that begins every text and that no template wrote: that one's is empty.
    """

    data: bytes
    sha256: str
    ids: Sequence[int]
    pieces: Sequence[bytes]
    places: Sequence[range]

    def between(self, start: int, end: int) -> range:
        """Which tokens share at least one byte with those from `start` up to `end`."""
        first = bisect_right(self.places, start, key=lambda place: place.stop)
        return range(first, bisect_left(self.places, end, key=lambda place: place.start))


class Tokenizer:
    """Renders and cuts prompts exactly as `LlamaEngine` does; a context manager, which holds the vocabulary."""

    def __init__(self, settings: LlamaSettings, model: Path, model_digest: str) -> None:
        """Read the head of `model` (the first file of a split one) in a process of its own, which a broken file ends.

        Raises ModelError for a file or a template that cannot be used.
        """
        self._path = model
        self._prompts = Prompts(settings, probe(model), model)
        self._identity: Facts = {
            "model_digest": model_digest,
            "template_digest": self._prompts.template.digest,
            "template_kwargs": settings.template_kwargs,
            "strftime_now": settings.strftime_now,
            **library_facts(),
        }
        self._model: Any = None
        self._vocabulary: Vocabulary | None = None
        self._said: dict[int, bytes] = {}

    def identity(self) -> Facts:
        """What decides the tokens of a prompt: nothing of how an answer is computed or chosen."""
        return dict(self._identity)

    def cut(self, message: str) -> CutPrompt:
        """The tokens of the prompt that asks one user message.

        ModelError when `Prompts` refuses it, and when the tokens do not spell it.
        """
        if self._vocabulary is None:
            raise ValueError("no vocabulary is loaded: a tokenizer is a context manager")
        prompt = self._prompts.prompt(message, self._vocabulary)
        pieces = [self._piece(self._vocabulary, token) for token in prompt.tokens]
        data = prompt.text.encode("utf-8", "replace")  # as the vocabulary reads it
        try:
            places = places_of(pieces, data)
        except ValueError as error:
            raise ModelError(
                f"{self._path}: its tokens do not spell the prompt ({error}), so no quantity can be found in them. The"
                " vocabulary changes a text before it cuts it: make no table of tokens of this system"
            ) from error
        return CutPrompt(data=data, sha256=prompt.digest, ids=prompt.tokens, pieces=pieces, places=places)

    def _piece(self, vocabulary: Vocabulary, token: int) -> bytes:
        if token not in self._said:
            self._said[token] = vocabulary.piece(token)
        return self._said[token]

    def close(self) -> None:
        """Free the vocabulary; a second call does nothing."""
        import llama_cpp.llama_cpp as lib

        if self._model:
            lib.llama_model_free(self._model)
        self._model = self._vocabulary = None

    def __enter__(self) -> Self:
        """Load the vocabulary alone. ModelError when that fails, though the head could be read."""
        self._model = load_vocabulary(str(self._path))
        if not self._model:
            raise ModelError(f"{self._path}: llama.cpp cannot load its vocabulary.\n{quiet_log().tail()}")
        self._vocabulary = Vocabulary(self._model)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def places_of(pieces: Sequence[bytes], data: bytes) -> list[range]:
    """Where each piece stands in the text that was cut into them; ValueError when they are another text's.

    The first is taken for the token that begins every text when it is not the beginning of this one.
    """
    places: list[range] = []
    at = 0
    for piece in pieces:
        place = _place(piece, data, at)
        if place is None:
            if places:
                raise ValueError(f"{piece!r} stands for {data[at : at + 20]!r}")
            place = range(0)
        places.append(place)
        at = place.stop
    if data[at:].strip():
        raise ValueError(f"nothing stands for {data[at : at + 20]!r}")
    return places


def _place(piece: bytes, data: bytes, at: int) -> range | None:
    """Where a piece stands, from `at` on; None when something else does.

    SentencePiece puts a blank before a text, and some control tokens swallow the blanks beside them.
    """
    if data.startswith(piece, at):
        return range(at, at + len(piece))
    after_blanks = len(data) - len(data[at:].lstrip())
    for start in (at, after_blanks):
        for said in (piece, piece.removeprefix(b" ")):
            if data.startswith(said, start):
                return range(start, start + len(said))
    return None
