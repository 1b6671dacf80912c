"""Filling empty values of a YAML text."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from samequantity.closed import load_yaml
from samequantity.errors import SettingsError
from samequantity.models.pinning.scalars import fill_nulls, written

DIGEST = "ab" * 32
TEXT = """\
# a comment: null
a:   { b: null, 'c' : ~,d: } # null
"list":
  - x: Null   # here
    'y':
    z: "null"
  -   - null
"""


def test_only_the_empty_scalars_change() -> None:
    values = {
        ("a", "b"): 12,
        ("a", "c"): DIGEST,
        ("a", "d"): "x",
        ("list", 0, "x"): 3,
        ("list", 0, "y"): "commit",
        ("list", 1, 0): 4,
    }

    assert f"""\
# a comment: null
a:   {{ b: 12, 'c' : {DIGEST},d: x }} # null
"list":
  - x: 3   # here
    'y': commit
    z: "null"
  -   - 4
""" == fill_nulls(TEXT, values)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_and_a_byte_order_mark_stay(newline: str) -> None:
    before = f"\ufeff# é 𝄞{newline}a:{newline}  b: null{newline}  c: 1{newline}"

    assert before.replace("null", "2") == fill_nulls(before, {("a", "b"): 2})


def test_what_looks_like_a_number_is_quoted() -> None:
    assert f'a: "{"1" * 40}"' == fill_nulls("a: null", {("a",): "1" * 40})


texts = st.text(alphabet="ab1~:#-?,. {}[]'\"&*!|>%é𝄞", max_size=5)
leaves = st.none() | st.integers() | texts | st.booleans()
trees = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))


def nulls(tree: object, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(tree, dict):
        return [found for key, value in tree.items() for found in nulls(value, (*place, key))]
    if isinstance(tree, list):
        return [found for index, value in enumerate(tree) for found in nulls(value, (*place, index))]
    return [place] if tree is None else []


@settings(max_examples=60, deadline=None)
@given(tree=st.dictionaries(texts, trees, max_size=4), style=st.sampled_from([True, False, None]))
def test_every_null_of_any_document_can_be_filled_and_nothing_else_changes(
    tree: dict[str, object], style: bool
) -> None:
    text = yaml.safe_dump(tree, default_flow_style=style, allow_unicode=True)
    places = nulls(tree)
    filled = fill_nulls(text, dict.fromkeys(places, DIGEST))

    assert [] == nulls(load_yaml(filled))
    assert text == filled if not places else text.count("\n") == filled.count("\n")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: 1", ("a",)),
        ("a: 'null'", ("a",)),
        ("a: ''", ("a",)),
        ("b: null", ("a",)),
        ("a: [null]", ("a", 1)),
        ("a: null", ("a", "b")),
        ("", ("a",)),
        ("x: &x {a: null}\ny: *x", ("y", "a")),
        ("x: &x {a: null}\ny: {<<: *x}", ("y", "a")),
        ("{a}", ("a",)),
    ],
)
def test_a_place_that_is_not_there_or_not_empty_or_shared_is_refused(text: str, place: tuple[str | int, ...]) -> None:
    with pytest.raises(SettingsError, match=r"nothing empty stands there|leads elsewhere"):
        fill_nulls(text, {place: 1})


def test_a_place_is_written_as_in_the_other_messages() -> None:
    assert "models.tiny.files[0].bytes" == written(("models", "tiny", "files", 0, "bytes"))
