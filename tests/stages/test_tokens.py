"""Every quantity of every prompt is found in the tokens, byte for byte; counts are worked out by hand."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shipped
from samequantity.domain.templates import TEMPLATES, TemplateName
from samequantity.engines.llama.tokenizer import CutPrompt, places_of
from samequantity.errors import ModelError, TableError
from samequantity.scoring.columns import TOKENS
from samequantity.stages.generate import SCHEMA
from samequantity.stages.render import render
from samequantity.stages.tokens import PROMPTS, TokenMap, shown, tokens
from samequantity.stages.writing import WrittenView, written_views

HEAD, TAIL = "<user>\n", "\n<assistant>\n"


@dataclass(frozen=True, kw_only=True)
class Cutter:
    """Cuts a rendered prompt into bytes, but for the pieces that it knows."""

    pieces: tuple[str, ...] = ()
    template: Callable[[str], str] = lambda message: f"{HEAD}{message}{TAIL}"

    def cut(self, message: str) -> CutPrompt:
        data = self.template(message).encode()
        return cut_prompt(data, list(self._pieces(data)))

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        at = 0
        while at < len(data):
            known = [piece.encode() for piece in self.pieces if data.startswith(piece.encode(), at)]
            piece = max(known, key=len, default=data[at : at + 1])
            yield piece
            at += len(piece)


def cut_prompt(data: bytes, pieces: Sequence[bytes]) -> CutPrompt:
    """The number of a token is the sum of its bytes, so that a test can tell it."""
    return CutPrompt(
        data=data,
        sha256=hashlib.sha256(data).hexdigest(),
        ids=[sum(piece) for piece in pieces],
        pieces=pieces,
        places=places_of(pieces, data),
    )


def base(template: TemplateName, families: Sequence[str], **values: str) -> dict[str, Any]:
    """A base as generate writes it."""
    known = TEMPLATES[template]
    parameters = [{"name": name, "value": values[name], "unit": unit.name} for name, unit in known.units.items()]
    exact = {name: Fraction(value) for name, value in values.items()}
    answers = {
        TemplateName.COMBINED_VOLUME: lambda: exact["a"] + exact["b"],
        TemplateName.LARGE_VOLUME_ADDITION: lambda: exact["a"] + exact["b"],
        TemplateName.REPEATED_LENGTH: lambda: exact["n"] * exact["a"],
        TemplateName.FRACTION_OF_CAPACITY: lambda: exact["f"] * exact["c"],
    }
    return {
        "base_id": f"{template}-0001",
        "template": template.value,
        "program": str(known.program),
        "parameters": parameters,
        "dimension": known.answer_unit.dimension.value,
        "canonical_unit": known.answer_unit.name,
        "answer": str(answers[template]()),
        "families": ["canonical", *families],
    }


BASES = pl.DataFrame(
    [
        base(TemplateName.COMBINED_VOLUME, ["fraction", "unit"], a="25/4", b="3/4"),
        base(TemplateName.LARGE_VOLUME_ADDITION, ["scientific"], a="7500", b="20000"),
        base(TemplateName.REPEATED_LENGTH, ["words"], n="12", a="3/2"),
        base(TemplateName.FRACTION_OF_CAPACITY, ["fraction", "percent"], f="3/8", c="80"),
    ],
    schema=SCHEMA,
)


@cache
def views() -> pl.DataFrame:
    return render(BASES, shipped.benchmark(), shipped.wording())


def mapped(cutter: Cutter | None = None, asked: pl.DataFrame | None = None) -> TokenMap:
    plan, words = shipped.benchmark(), shipped.wording()
    return tokens(BASES, views() if asked is None else asked, plan, words, cutter or Cutter(), system="toy")


def cells(found: TokenMap, *columns: str) -> list[tuple[Any, ...]]:
    return found.quantities.select("family", "parameter", *columns).rows()


def test_bytes_are_counted_for_every_way_of_writing() -> None:
    """A unit adds its letters and the blank before it: 7 for liters and meters, 12 for milliliters."""
    found = mapped()

    assert [
        ("canonical", "a", False, "6.25", "liters", 4, 11),
        ("canonical", "b", False, "0.75", "liters", 4, 11),
        ("fraction", "a", True, "25/4", "liters", 4, 11),
        ("fraction", "b", True, "3/4", "liters", 3, 10),
        ("unit", "a", True, "6250", "milliliters", 4, 16),
        ("unit", "b", True, "750", "milliliters", 3, 15),
        ("canonical", "a", False, "7500", "liters", 4, 11),
        ("canonical", "b", False, "20000", "liters", 5, 12),
        ("scientific", "a", True, "7.5 × 10^3", "liters", 11, 18),
        ("scientific", "b", True, "2 × 10^4", "liters", 9, 16),
        ("canonical", "n", False, "12", None, 2, 2),
        ("canonical", "a", False, "1.5", "meters", 3, 10),
        ("words", "n", True, "twelve", None, 6, 6),
        ("words", "a", False, "1.5", "meters", 3, 10),
        ("canonical", "c", False, "80", "liters", 2, 9),
        ("canonical", "f", False, "0.375", None, 5, 5),
        ("fraction", "c", False, "80", "liters", 2, 9),
        ("fraction", "f", True, "3/8", None, 3, 3),
        ("percent", "c", False, "80", "liters", 2, 9),
        ("percent", "f", True, "37.5%", None, 5, 5),
    ] == cells(found, "rewritten", "quantity", "unit", "tokens", "tokens_with_unit")
    assert TOKENS == found.quantities.schema
    assert {"toy"} == set(found.quantities["system"])


def test_a_piece_that_is_no_whole_character_is_shown_by_its_byte() -> None:
    (row,) = mapped().quantities.filter(family="scientific", parameter="a").rows(named=True)

    assert ["7", ".", "5", " ", r"\xc3", r"\x97", " ", "1", "0", "^", "3"] == row["pieces"]
    assert [*"7.5 × 10^3".encode()] == row["ids"]
    (row,) = mapped(Cutter(pieces=(" ×",))).quantities.filter(family="scientific", parameter="a").rows(named=True)
    assert ["7", ".", "5", " ×", " ", "1", "0", "^", "3"] == row["pieces"]


@pytest.mark.parametrize(
    ("piece", "text"), [(b"\\", r"\\"), (b"\xc3", r"\xc3"), (rb"\xc3", r"\\xc3"), (b" a\n", " a\n"), (b"\xc3\x97", "×")]
)
def test_a_shown_piece_tells_its_bytes(piece: bytes, text: str) -> None:
    assert text == shown(piece)


@given(pieces=st.lists(st.binary(max_size=6), min_size=2, max_size=2, unique=True))
def test_two_pieces_are_never_shown_alike(pieces: list[bytes]) -> None:
    assert shown(pieces[0]) != shown(pieces[1])


def test_a_token_that_holds_the_blank_or_the_unit_too_counts_once() -> None:
    found = mapped(Cutter(pieces=(" 6.25", "0.75 liters", "% of")))

    assert [("canonical", "a", 1, 8, [" 6.25"]), ("canonical", "b", 1, 1, ["0.75 liters"])] == cells(
        found, "tokens", "tokens_with_unit", "pieces"
    )[:2]
    assert ("percent", "f", 5, 5, ["3", "7", ".", "5", "% of"]) == cells(found, "tokens", "tokens_with_unit", "pieces")[
        -1
    ]


def test_a_prompt_has_one_row_with_all_its_tokens() -> None:
    found = mapped()
    rendered = [f"{HEAD}{prompt}{TAIL}".encode() for prompt in views()["prompt"]]

    assert PROMPTS == found.prompts.schema
    assert views()["view_id"].to_list() == found.prompts["view_id"].to_list()
    assert [[*prompt] for prompt in rendered] == found.prompts["ids"].to_list()
    assert [len(prompt) for prompt in rendered] == found.prompts["prompt_tokens"].to_list()
    assert [hashlib.sha256(prompt).hexdigest() for prompt in rendered] == found.prompts["prompt_sha256"].to_list()
    columns = ("view_id", "prompt_tokens", "prompt_sha256")
    assert found.prompts.select(columns).equals(found.quantities.select(columns).unique(maintain_order=True))


def test_a_view_is_the_same_whatever_other_views_there_are() -> None:
    some = views()[::-2]
    found = mapped(asked=some)

    assert some["view_id"].to_list() == found.prompts["view_id"].to_list()
    assert found.quantities.equals(pl.concat([mapped().quantities.filter(view_id=view) for view in some["view_id"]]))
    assert (0, 0) == (mapped(asked=views().clear()).quantities.height, mapped(asked=views().clear()).prompts.height)


@cache
def written() -> list[WrittenView]:
    return list(written_views(shipped.bases(), shipped.benchmark(), shipped.wording()))


@dataclass(frozen=True, kw_only=True)
class CutAnywhere:
    """Cuts a prompt at places that are given from 0 to 1."""

    at: Sequence[float]

    def cut(self, message: str) -> CutPrompt:
        data = f"{HEAD}{message}{TAIL}".encode()
        ends = sorted({0, len(data), *(int(place * len(data)) for place in self.at)})
        return cut_prompt(data, [data[start:end] for start, end in pairwise(ends)])


@settings(deadline=None, max_examples=50)
@given(data=st.data(), at=st.lists(st.floats(0, 1), max_size=200))
def test_the_tokens_of_a_quantity_are_contiguous_contain_it_and_each_has_a_part_of_it(
    data: st.DataObject, at: Sequence[float]
) -> None:
    """Of any prompt of the benchmark, however it is cut."""
    view = data.draw(st.sampled_from(written()))
    asked = pl.DataFrame({"view_id": [view.id], "prompt": [view.prompt]})
    found = tokens(bases_of(view), asked, shipped.benchmark(), shipped.wording(), CutAnywhere(at=at), system="toy")
    cut = CutAnywhere(at=at).cut(view.prompt)

    rows = found.quantities.rows(named=True)
    assert view.skeleton.slots() == [row["parameter"] for row in rows]
    for row in rows:
        words, _, _ = view.skeleton.text.partition(f"{{{row['parameter']}}}")
        start = len((HEAD + words.format_map(view.tokens)).encode())
        assert view.tokens[row["parameter"]] == row["quantity"] + (f" {row['unit']}" if row["unit"] else "")
        number = range(start, start + len(row["quantity"].encode()))
        shared = [token for token, place in enumerate(cut.places) if {*place} & {*number}]
        assert [*range(shared[0], shared[-1] + 1)] == shared
        assert row["quantity"].encode() in b"".join(cut.pieces[token] for token in shared)
        assert [shown(cut.pieces[token]) for token in shared] == row["pieces"]
        assert [cut.ids[token] for token in shared] == row["ids"]
        assert len(shared) == row["tokens"] <= row["tokens_with_unit"]


def bases_of(view: WrittenView) -> pl.DataFrame:
    return shipped.bases().filter(base_id=view.base.id)


@pytest.mark.parametrize(
    "template",
    [
        lambda message: f"12 of 80, 6.25\n{message.replace(chr(10), '  ').strip()}",
        lambda message: f"Today is 12.07.2026.\n{message.replace('<', '&lt;')}",
        lambda message: "\n".join(f"> {line}" for line in message.splitlines()),
    ],
)
def test_quantities_are_found_in_a_message_that_the_template_changed(template: Callable[[str], str]) -> None:
    columns = ("quantity", "tokens", "tokens_with_unit", "pieces", "ids")

    assert cells(mapped(), *columns) == cells(mapped(Cutter(template=template)), *columns)


def test_a_number_of_the_templates_own_is_not_taken_for_a_quantity() -> None:
    """The pieces tell the two apart: only the message's 12 follows a blank."""
    template = "panels: 12 panels\n{}".format
    found = mapped(Cutter(pieces=("has 12",), template=lambda message: template(message.replace("\n", " "))))

    assert [["has 12"]] == found.quantities.filter(quantity="12")["pieces"].to_list()


@pytest.mark.parametrize("template", [str.upper, lambda message: message.replace(" ", "  "), lambda _: "Hello."])
def test_a_template_that_hides_a_quantity_is_an_error_that_names_the_view(template: Callable[[str], str]) -> None:
    with pytest.raises(ModelError, match=r"combined_volume-0001/canonical: the chat template writes .* '6\.25 liters'"):
        mapped(Cutter(template=template))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda frame: frame.with_columns(prompt=pl.col("prompt") + " "),
            "views: 10 views of 10 with another prompt than bases, benchmark and wording give: combined_volume-",
        ),
        (lambda frame: frame.with_columns(view_id=pl.col("view_id") + "s"), "views: 10 views of 10 with another"),
        (lambda frame: frame.with_columns(prompt=pl.lit(None, pl.String)), "make them anew: samequantity render"),
        (lambda frame: pl.concat([frame, frame[:2]]), "views: 2 views more than once: combined_volume-0001/canonical,"),
    ],
)
def test_views_of_something_else_are_refused(change: Callable[[pl.DataFrame], pl.DataFrame], message: str) -> None:
    with pytest.raises(TableError, match=message):
        mapped(asked=change(views()))
