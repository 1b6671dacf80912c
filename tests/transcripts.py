"""Texts and numbers for the tests of the two canonicalizers, and the outcome of one in a word."""

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from samequantity.domain.answers import BLANKS, Question, judge
from samequantity.domain.units import LITERS, Unit
from samequantity.domain.verdicts import Status


def words(text: str) -> list[str]:
    """The entries of a table that has none with blanks."""
    return text.split()


def entries(text: str) -> list[str]:
    """The entries of a table, with ` | ` between them."""
    return text.split(" | ")


ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)
"""Any text at all, halves of surrogate pairs included."""

PIECES = [
    *words(
        "FINAL: Final: fINAL: FINAL 12 1 0 1,234 0.5 234 . , / e E e4 + - − – × x X 10 ^ 10^4 x10⁴ ⁴ ⁻ ⁺ ² % * ** `"
    ),
    *words("L liters km/h percent decimal \\times \\cdot ½ ٣ １ \u212a a · ±"),
    *(" × 10^", "kilometers per hour", " ", " ", " ", "\u00a0", "\t", "\u3000", "\u200b", "\ud800"),
    *("\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028"),
]
"""What the grammar, the rewrite and their refusals are made of."""

GRAMMAR = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number as an answer may write it, and its exact value."""

    text: str
    value: Fraction


@st.composite
def numbers(draw: st.DrawFn) -> Number:
    """Numbers of every accepted form, worked out from their digits."""
    sign = draw(st.sampled_from(["", "+", "-"]))
    whole = draw(st.integers(0, 10**12))
    decimals = draw(st.text("0123456789", max_size=8))
    point = f".{decimals}" if decimals else ""
    value = whole + Fraction(int(decimals or "0"), 10 ** len(decimals))
    zeros = "0" * draw(st.integers(0, 3))
    form = draw(st.sampled_from(["plain", "grouped", "fraction", "scientific"]))
    if form == "grouped" and whole:
        text = f"{whole:,}{point}"
    elif form == "fraction":
        below = draw(st.integers(1, 10**9))
        text, value = f"{zeros}{whole}/{zeros}{below}", Fraction(whole, below)
    elif form == "scientific":
        exponent = draw(st.integers(-1000, 1000))
        shown = f"{exponent:+}" if draw(st.booleans()) else str(exponent)
        text = f"{zeros}{whole}{point}{draw(st.sampled_from('eE'))}{shown}"
        value *= Fraction(10) ** exponent
    else:
        text = f"{zeros}{whole}{point}"
    return Number(text=sign + text, value=-value if sign == "-" else value)


def spaced() -> st.SearchStrategy[tuple[str, str, str]]:
    """Blanks before a number (perhaps none), between number and unit, and between the words of a unit."""
    some = st.text(BLANKS, min_size=1, max_size=3)
    return st.tuples(st.text(BLANKS, max_size=3), some, some)


NOWHERE = Fraction(-987654321, 7)
"""An expected value that no case answers, so that a case's own value shows."""

INVISIBLE = ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u180e", "\u202e"]
NO_LINE_END = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


def outcome(text: str, unit: Unit = LITERS) -> Fraction | Status:
    """The value of a whole transcript in the unit asked for, or why there is none."""
    verdict = judge(text, "stop", Question(unit=unit, expected=NOWHERE))
    return verdict.status if verdict.value is None else verdict.value


def final(payload: str, unit: Unit = LITERS) -> Fraction | Status:
    """The outcome of one tag line."""
    return outcome(f"FINAL: {payload}", unit)
