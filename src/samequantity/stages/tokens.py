"""Stage tokens: how a model's vocabulary cuts every prompt, and every quantity in it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Protocol

import polars as pl

from samequantity.domain.benchmark import Benchmark
from samequantity.domain.units import REGISTRY
from samequantity.domain.wording import Wording
from samequantity.errors import ModelError, TableError
from samequantity.messages import counted, some
from samequantity.scoring.columns import TOKENS
from samequantity.stages.writing import WrittenView, written_views

VIEW_COLUMNS = pl.Schema(dict.fromkeys(("view_id", "prompt"), pl.String()))
"""What is read of the views."""

PROMPTS = pl.Schema(
    {
        **dict.fromkeys(("system", "view_id", "prompt_sha256"), pl.String()),
        "prompt_tokens": pl.Int64(),
        "ids": pl.List(pl.Int32()),
    }
)
"""One row a view: the tokens of the whole rendered prompt, those of the chat template included."""

_WORD_BEFORE, _WORD_AFTER = re.compile(r"\S*\s?\Z"), re.compile(r"\s?\S*")


class Cut(Protocol):
    """A rendered prompt, in bytes, and its tokens."""

    @property
    def data(self) -> bytes:
        """The rendered prompt in UTF-8."""
        ...

    @property
    def sha256(self) -> str:
        """Its SHA-256, as the responses have it."""
        ...

    @property
    def ids(self) -> Sequence[int]:
        """The number of each token."""
        ...

    @property
    def pieces(self) -> Sequence[bytes]:
        """What each token says."""
        ...

    def between(self, start: int, end: int, /) -> range:
        """Which tokens share at least one byte with those from `start` up to `end`."""
        ...


class Cutter(Protocol):
    """What this stage needs of a tokenizer."""

    def cut(self, message: str, /) -> Cut:
        """The prompt that asks one user message, in tokens."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMap:
    """Of each quantity of each view (`TOKENS`), and of each prompt (`PROMPTS`), in the order of the views."""

    quantities: pl.DataFrame
    prompts: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quantity:
    """One quantity token: the number as written, its unit after it if it has one, and where it begins in the prompt."""

    parameter: str
    number: str
    unit: str | None
    start: int

    @property
    def text(self) -> str:
        return self.number if self.unit is None else f"{self.number} {self.unit}"


def tokens(
    bases: pl.DataFrame, views: pl.DataFrame, benchmark: Benchmark, wording: Wording, cutter: Cutter, *, system: str
) -> TokenMap:
    """Cut every prompt of `views`, which needs `VIEW_COLUMNS`, and find its quantities in the tokens.

    Where they stand in a prompt is known from what it was made of: `bases` (`writing.BASE_COLUMNS`), benchmark and
    wording. Raises TableError for a view that is there twice, or whose prompt is not the one that these three give, and
    ModelError where the chat template writes a quantity in another way.
    """
    if twice := views.filter(views["view_id"].is_duplicated())["view_id"].unique(maintain_order=True).to_list():
        raise TableError(f"views: {counted(twice, 'view')} more than once: {some(twice)}")
    written = {str(view.id): view for view in written_views(bases, benchmark, wording)}
    _refuse_others(views, written)
    quantities: list[dict[str, object]] = []
    prompts: list[dict[str, object]] = []
    for name in views["view_id"]:
        view = written[name]
        cut = cutter.cut(view.prompt)
        whole: dict[str, object] = {
            "system": system,
            "view_id": name,
            "prompt_sha256": cut.sha256,
            "prompt_tokens": len(cut.ids),
        }
        prompts.append(whole | {"ids": cut.ids})
        quantities += [whole | row for row in _rows(view, cut)]
    return TokenMap(quantities=_frame(quantities, TOKENS), prompts=_frame(prompts, PROMPTS))


def _frame(rows: Sequence[Mapping[str, object]], schema: pl.Schema) -> pl.DataFrame:
    return pl.DataFrame([[row[name] for name in schema] for row in rows], schema=schema, orient="row")


def _refuse_others(views: pl.DataFrame, written: Mapping[str, WrittenView]) -> None:
    pairs = views.select(*VIEW_COLUMNS).iter_rows()
    others = [str(name) for name, prompt in pairs if name not in written or written[name].prompt != prompt]
    if others:
        raise TableError(
            f"views: {counted(others, 'view')} of {len(views)} with another prompt than bases, benchmark and wording"
            f" give: {some(others)}. Pass what the views were made of, or make them anew: samequantity render"
        )


def _rows(view: WrittenView, cut: Cut) -> Iterator[dict[str, object]]:
    """A row for each quantity, in the order of the text."""
    found = list(_quantities(view))
    for quantity, start in zip(found, _starts(view, found, cut.data), strict=True):
        number, whole = (cut.between(start, start + len(text.encode())) for text in (quantity.number, quantity.text))
        yield {
            "base_id": view.base.id,
            "template": view.base.template.value,
            "family": view.family.value,
            "parameter": quantity.parameter,
            "rewritten": quantity.parameter in view.rewritten,
            "quantity": quantity.number,
            "unit": quantity.unit,
            "tokens": len(number),
            "tokens_with_unit": len(whole),
            "pieces": [shown(cut.pieces[place]) for place in number],
            "ids": [cut.ids[place] for place in number],
        }


def _quantities(view: WrittenView) -> Iterator[_Quantity]:
    at = 0
    for words, parameter, _, _ in Formatter().parse(view.skeleton.text):
        at += len(words)
        if parameter is not None:
            text = view.tokens[parameter]
            number, _, last = text.rpartition(" ")
            unit = last if last in REGISTRY else None
            yield _Quantity(parameter=parameter, number=text if unit is None else number, unit=unit, start=at)
            at += len(text)


def _starts(view: WrittenView, quantities: Sequence[_Quantity], data: bytes) -> Iterator[int]:
    """The byte at which each quantity begins in the rendered prompt, the first time that the template writes it.

    Where the template does not hold the message as it is, each is looked for after the one before it, with the word
    before and the word after it: a number alone might be one of the template's own.
    """
    message = data.find(view.prompt.encode())
    at = 0
    for quantity in quantities:
        before, rest = view.prompt[: quantity.start], view.prompt[quantity.start + len(quantity.text) :]
        if message >= 0:
            yield message + len(before.encode())
            continue
        lead, tail = (found[0] if found else "" for found in (_WORD_BEFORE.search(before), _WORD_AFTER.match(rest)))
        place = data.find(f"{lead}{quantity.text}{tail}".encode(), at)
        if place < 0:
            raise ModelError(
                f"{view.id}: the chat template writes the message so that {quantity.text!r} is not found in the prompt."
                " Set chat_template to one that leaves the user's message as it is"
            )
        at = place + len(lead.encode())
        yield at


def shown(piece: bytes) -> str:
    r"""A token's bytes as text from which they can be told: those that are no whole character as \xNN, \ as \\.

    >>> print(shown(" ×".encode()), shown("×".encode()[:1]), shown(b"\\xc3"))
     × \xc3 \\xc3
    """
    return piece.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
