"""Five systems that no model ever was: scripted answers to the shipped benchmark, planted so that the real parser,
audit and scores have to come out with the paper's published per-system figures (PROTOCOL, section 9).

Nothing here is a result. The names are the paper's systems, the texts are written by this module, and each says so in
its first line. No verdict is typed in either: a plan (planted_plans.py) says how an answer is *written*, and what that
is worth is for the parser and the audit to find.
"""

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache

import polars as pl

import shipped
from planted_plans import (
    CANONICAL,
    CUT,
    HUNDREDFOLD,
    PLAIN,
    PLANS,
    RAISED_TENTH,
    READ,
    SAME,
    TENFOLD,
    TENTH,
    THOUSANDFOLD,
    WRONG,
    Manner,
    Pattern,
    Stratum,
)
from samequantity.domain.exchange import FinishReason
from samequantity.domain.rationals import as_decimal
from samequantity.domain.views import TRANSFORMATIONS, Family
from samequantity.stages.responses import RESPONSES_SCHEMA

SYSTEMS = tuple(PLANS)
"""The systems' names, in the paper's order."""

PREFACE = "Planted by a script, not answered by a model."
"""The first line of every response."""

_AS_ASKED = "FINAL: {decimal} {unit}"
# No answer of the benchmark is negative, and no two views of a base have the same first thought.
_FIRST_THOUGHT = "FINAL: -{place} {unit}\nOr rather:\n"

FORMS: Mapping[Manner, Sequence[str]] = dict.fromkeys(Manner, (_AS_ASKED,)) | {
    PLAIN: (_AS_ASKED, _AS_ASKED, "FINAL: {decimal} {unit}.", _AS_ASKED, _FIRST_THOUGHT + _AS_ASKED),
    READ: (
        "FINAL: {mantissa} × 10^{exponent} {unit}",
        "**FINAL:** {decimal} {unit}",
        "FINAL: {mantissa} x 10{raised} {unit}",
        "`FINAL: {decimal} {unit}`",
        "FINAL: {mantissa}×10^{exponent} {unit}",
        "Final: {decimal} {unit}",
        _FIRST_THOUGHT + "**final:** *{mantissa}* × 10{raised} {unit}",
        "FINAL: **{decimal}** {unit}",
    ),
    WRONG: (
        _AS_ASKED,
        "FINAL: about {decimal} {unit}",
        _AS_ASKED,
        "FINAL: {decimal} kilograms",
        _AS_ASKED,
        "It is {decimal} {unit}.",
    ),
    RAISED_TENTH: ("FINAL: {mantissa} × 10{raised} {unit}",),
}
"""The last lines of an answer; base number i takes form i modulo their number."""

POWERS: Mapping[Manner, int] = {TENTH: -1, RAISED_TENTH: -1, TENFOLD: 1, HUNDREDFOLD: 2, THOUSANDFOLD: 3}
"""value = right value × 10^power; the audit's k is its opposite."""


def views() -> pl.DataFrame:
    """The views that are answered: those of the shipped benchmark."""
    return shipped.views()


@cache
def responses(system: str) -> pl.DataFrame:
    """The scripted responses of one of `SYSTEMS`, a row a view in the order of `views()`; see `RESPONSES_SCHEMA`."""
    plan = PLANS[system]
    manners = _manners(plan.patterns)
    asked = views().select("view_id", "base_id", "family", "prompt", "canonical_unit", "expected")
    rows = []
    for order, (view, base, name, prompt, unit, expected) in enumerate(asked.iter_rows()):
        family, number = Family(name), int(base.rpartition("-")[2])
        manner = manners.get(base, {}).get(family, PLAIN)
        text = f"{PREFACE}\n{_last_lines(manner, family, Fraction(expected), unit, number)}"
        reason = FinishReason.LENGTH if manner is CUT else FinishReason.STOP
        # A little more or less from base to base, around the plan's number.
        spent = plan.tokens.cap if manner is CUT else plan.tokens.of(family) + number % 7 - 3
        digest = hashlib.sha256(prompt.encode()).hexdigest()
        rows.append((system, view, order, digest, text, "", text, reason, reason, len(prompt.split()), spent))
    return pl.DataFrame(rows, schema=RESPONSES_SCHEMA, orient="row")


def _manners(patterns: Sequence[Pattern]) -> dict[str, Mapping[Family, Manner]]:
    """What each base of a pattern has, by base_id; ValueError when a stratum lacks the bases or the view."""
    left = {stratum: list(bases) for stratum, bases in _strata().items()}
    found: dict[str, Mapping[Family, Manner]] = {}
    for pattern in patterns:
        for stratum, wanted in pattern.bases.items():
            absent = pattern.views.keys() - {CANONICAL, *stratum.partition("/")[2].split("+")}
            if absent or wanted > len(left[stratum]):
                raise ValueError(f"{stratum} has {len(left[stratum])} bases left for {pattern}")
            found |= dict.fromkeys(left[stratum][:wanted], pattern.views)
            del left[stratum][:wanted]
    return found


@cache
def _strata() -> dict[Stratum, list[str]]:
    """The base ids of each stratum, sorted."""
    bases = views().group_by("base_id", "template").agg(pl.col("family")).sort("base_id")
    strata: dict[Stratum, list[str]] = {stratum: [] for stratum in Stratum}
    for base, template, families in bases.iter_rows():
        transformed = "+".join(family for family in TRANSFORMATIONS if family in families)
        strata[Stratum(f"{template}/{transformed}")].append(base)
    return strata


def _last_lines(manner: Manner, family: Family, right: Fraction, unit: str, number: int) -> str:
    """The end of an answer: the tag line, or what stands in its place."""
    form = FORMS[manner][number % len(FORMS[manner])]
    place = 1 + list(Family).index(family)
    # Less than nine above a finite decimal is never a power of ten away from it.
    wrong = {SAME: 1, WRONG: 1 + place}.get(manner, 0)
    value = right * Fraction(10) ** POWERS.get(manner, 0) + wrong
    words = {"unit": unit, "place": place}
    if "{decimal}" in form:
        return form.format(decimal=_decimal(value), **words)
    exponent = len(str(int(value))) - 1
    raised = str(exponent).translate(_RAISED)
    return form.format(mantissa=_decimal(value / 10**exponent), exponent=exponent, raised=raised, **words)


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

_decimal = cache(as_decimal)
