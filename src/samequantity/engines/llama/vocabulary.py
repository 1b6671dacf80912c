"""A loaded model's vocabulary: text to tokens and back, without losing a character."""

import ctypes
import hashlib
from dataclasses import dataclass
from typing import Any

from samequantity.errors import ModelError

_PIECE_BYTES = 64
"""A first guess; the buffer grows when a piece is longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A rendered prompt and its tokens, the beginning-of-text token once if the vocabulary wants one."""

    text: str
    tokens: list[int]

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


class Vocabulary:
    """The vocabulary of a loaded model, which must outlive it."""

    def __init__(self, model: Any) -> None:
        import llama_cpp.llama_cpp as lib

        self._vocabulary: Any = lib.llama_model_get_vocab(model)
        wants_bos = lib.llama_vocab_get_add_bos(self._vocabulary)
        bos = lib.llama_vocab_bos(self._vocabulary)
        self._bos = bos if wants_bos and bos >= 0 else None

    def rendered(self, text: str) -> Rendered:
        """The tokens of a rendered prompt: its control tokens are read as such. ModelError when it has none."""
        import llama_cpp.llama_cpp as lib

        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        while True:
            buffer = (lib.llama_token * room)()
            # add_special is off: the template writes the control tokens itself.
            count = lib.llama_tokenize(self._vocabulary, data, len(data), buffer, room, False, True)
            if count >= 0:
                break
            room = -count
        tokens = list(buffer[:count])
        if self._bos is not None and tokens[:1] != [self._bos]:
            tokens = [self._bos, *tokens]
        if not tokens:
            raise ModelError("The chat template renders an empty prompt. Set chat_template to the model's own.")
        return Rendered(text=text, tokens=tokens)

    def text(self, tokens: list[int]) -> str:
        """What the tokens say, control tokens included; bytes that are no UTF-8 become U+FFFD."""
        # Piece by piece: llama.cpp's own joining drops blanks before punctuation for some vocabularies.
        return b"".join(map(self.piece, tokens)).decode("utf-8", "replace")

    def piece(self, token: int) -> bytes:
        """The bytes of one token, which need not be whole characters; a control token's are its name."""
        import llama_cpp.llama_cpp as lib

        room = _PIECE_BYTES
        while True:
            buffer = ctypes.create_string_buffer(room)
            size = lib.llama_token_to_piece(self._vocabulary, token, buffer, room, 0, True)
            if size >= 0:
                return buffer.raw[:size]
            room = -size

    def ends(self, token: int) -> bool:
        """Whether the token ends the model's turn."""
        import llama_cpp.llama_cpp as lib

        return bool(lib.llama_vocab_is_eog(self._vocabulary, token))

    def control_pieces(self, tokens: list[int]) -> frozenset[str]:
        """The control tokens among `tokens`, as they stand in `text`."""
        import llama_cpp.llama_cpp as lib

        # An end token need not be marked as control: some files declare it as an ordinary or a user's token.
        control = {t for t in tokens if lib.llama_vocab_is_control(self._vocabulary, t) or self.ends(t)}
        return frozenset(self.text([token]) for token in control)
