"""Exact numbers and the ways in which they are written. No float anywhere.

>>> terminating("0.75"), as_decimal(Fraction(3, 4)), as_scientific(14940)
(Fraction(3, 4), '0.75', '1.494 × 10^4')
"""

import re
from fractions import Fraction

# Plain digits only: Fraction() itself would also read blanks, underscores, exponents and other scripts' digits.
_PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def terminating(text: str) -> Fraction:
    """Read a plain decimal such as `0.75` or `12`; ValueError for anything else."""
    if not _PLAIN.fullmatch(text):
        raise ValueError(f"{text!r} is not a plain decimal")
    return Fraction(text)


def decimal_places(value: Fraction) -> int | None:
    """Digits after the point that write `value` exactly; None when no number of digits does."""
    rest, places = value.denominator, {2: 0, 5: 0}
    for prime in places:
        while rest % prime == 0:
            rest //= prime
            places[prime] += 1
    return max(places.values()) if rest == 1 else None


def as_decimal(value: Fraction) -> str:
    """Plain digits, no grouping, no trailing zeros; ValueError when no finite decimal is equal to `value`."""
    places = decimal_places(value)
    if places is None:
        raise ValueError(f"{value} has no finite decimal")
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def as_fraction(value: Fraction) -> str:
    """Improper `a/b` in lowest terms; ValueError for an integer, which has no such form."""
    if value.denominator == 1:
        raise ValueError(f"{value} is an integer")
    return f"{value.numerator}/{value.denominator}"


def as_scientific(value: Fraction | int) -> str:
    """`m × 10^k` with 1 ≤ m < 10, exactly equal to the positive integer `value`; ValueError for any other number."""
    exact = Fraction(value)
    if exact.denominator != 1 or exact <= 0:
        raise ValueError(f"{exact} is not a positive integer")
    exponent = len(str(exact.numerator)) - 1
    return f"{as_decimal(exact / 10**exponent)} × 10^{exponent}"


_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def as_words(value: Fraction) -> str:
    """The lower-case English word of an integer from 0 to 12; ValueError outside."""
    if value.denominator != 1 or not 0 <= value < len(_WORDS):
        raise ValueError(f"{value} has no word here: integers from 0 to {len(_WORDS) - 1} have")
    return _WORDS[value.numerator]


def power_of_ten_between(value: Fraction, wanted: Fraction, limit: int) -> int | None:
    """The integer k, 0 < |k| ≤ `limit`, with value × 10^k = wanted exactly; None when there is none."""
    if 0 in (value, wanted) or value == wanted:
        return None
    for size in range(1, limit + 1):
        if value * 10**size == wanted:
            return size
        if value == wanted * 10**size:
            return -size
    return None
