"""The sentences of captions, in PROTOCOL's words and with the numbers that scores are made with."""

from collections.abc import Iterable, Mapping

from samequantity.domain.rewriting import AUDIT_VERSION, MAGNITUDE_LIMIT
from samequantity.domain.verdicts import Layer
from samequantity.reporting.results import Row
from samequantity.reporting.tabular import ABSENT, count_text
from samequantity.scoring.statistics import ALPHA, CONFIDENCE, POWER, THRESHOLD_POINTS

COVERAGE = f"{round(100 * CONFIDENCE)} %"
PRACTICAL = f"{THRESHOLD_POINTS} points"
LEVEL = str(ALPHA).lstrip("0")
SIGNIFICANT = f"Holm-adjusted p below {LEVEL}"

STRICT = "Strict: strict-parser compatibility, that is, the answer is correct as written."
AUDITED = f"Audited: the strict parser after the fixed rewrite {AUDIT_VERSION} of every strict failure."
LAYERS = f"{STRICT} {AUDITED}"
LAYER = {Layer.STRICT: STRICT, Layer.AUDITED: AUDITED}

FIXED = "The choices are protocol-fixed, not preregistered."
WILSON = f"Two-sided {COVERAGE} Wilson intervals in brackets; they cover items, not templates or checkpoints."
MIXTURE = "A pooled gap describes its template mixture, not a cause."
HOLM = "Holm covers neither systems nor orbit summaries nor strata."
STRATA = "Strata have no tests of their own: Holm does not cover them."
RECOVERED = (
    "Recovered: strict failed and audited is correct; it shows the value in the transcript, not how it was computed."
)
TOKENS = "Token counts compare within a system only."
CAP = "Leaving out length-finished records does not predict a higher cap."
EXACT = "Compared exactly, as integers."

GAPS = (
    "n: paired bases of the family; C, T: bases correct in the canonical and in the transformed view; gap: (C − T)/n "
    "in percentage points; c/t: bases correct in the canonical view only / in the transformed view only."
)
TEST = "p: exact two-sided McNemar test."
MARK = f"Mark *: a gap that exceeds {PRACTICAL} with a {SIGNIFICANT}, descriptive and not H1."
H1 = f"H1: some strict family gap of at least {PRACTICAL} with a {SIGNIFICANT}."
H2 = f"H2: a strict orbit gap of at least {PRACTICAL}."
ORBITS = (
    "Correct: every view of the base is correct. Invariant: every value is defined and all are equal. "
    "Consistent-wrong: invariant and not the expected value. Orbit gap: canonical − orbit correctness in percentage "
    "points."
)
ERRORS = "Value errors: a parseable value that is wrong."
DROPS = f"Magnitude drops: wrong values with value × 10^k = expected for an integer 0 < |k| ≤ {MAGNITUDE_LIMIT}."
LENGTH = "Length-finished: responses that ended at the generation cap."
COUNTED_BASES = "Counts of bases and, in parentheses, rates over all bases of the row."
COUNTED_VIEWS = "Counts of views and, in parentheses, rates over all views of the row."

COMPARED = (
    "Difference: in percentage points, of the rates or, where the measure is a gap, of the gaps. "
    "Only/only: bases that count for the system alone / for the reference alone."
)
PAIRED = (
    "percentiles; a draw takes both systems' answers to a base along, so that they stay paired. Wilson intervals, "
    "which know no pairs, are not used."
)
PAIRED_TEST = "p: exact two-sided McNemar test of the discordant pairs."
UNADJUSTED = f"{HOLM} The p of orbit measures are not adjusted, nor is one comparison for another."
DETECTABLE = (
    "Detectable: the minimum detectable effect, that is, the smallest difference in points that the exact McNemar test "
    f"finds with {round(100 * POWER)} % power at α = {LEVEL}, before Holm's adjustment and given as "
    f"many discordant pairs as were observed; {ABSENT} with fewer than six, since no result reaches α then."
)
BESIDE = f"The data files hold the failure codes and the recovered answers besides. {RECOVERED}"


IDENTICAL = (
    "Byte-identical: the texts, without reasoning, are equal byte for byte. Reasoning-identical: so is what was "
    "thought aloud, be it nothing."
)
SAME_ANSWER = (
    "Answer-identical: the audited value is the same; or neither response has one, for the same reason. "
    "Again: whose the second response is."
)

CUT = (
    "Quantities: the numbers that the family rewrites; in canonical form: the same parameters of the same bases. "
    "Counted are the tokens that hold a byte of the number as written, its percent sign included and its unit not; a "
    "blank before it counts only where it shares a token with it."
)
CUT_EXAMPLE = "For example: the first such quantity, cut at |, with · for a blank."
CUT_LIMIT = "What a vocabulary does to a text is described, and no result explained."


def draws_note(rows: Iterable[Row], what: str, how: str = "percentiles.") -> str:
    """How the bootstrap intervals of gaps or differences were made, with the draws that had to be dropped.

    Rows without draws do not count; `what` names in the singular what they are about.
    """
    made = [row for row in rows if row["draws"] is not None]
    draws = " or ".join(count_text(number) for number in sorted({row["draws"] for row in made})) or "no"
    note = f"{COVERAGE} intervals of {what}s in brackets: {draws} base-clustered bootstrap draws, {how}"
    most = max((row["dropped_draws"] for row in made), default=0)
    if not most:
        return note
    return f"{note} Draws without a base in the denominator were dropped: up to {count_text(most)} of one {what}."


def holm_note(tests: Mapping[str, int], what: str) -> str:
    """Over how many tests Holm's adjustment went, by system or comparison, shortened where all agree."""
    numbers = set(tests.values())
    if len(numbers) == 1:
        return f"Holm adjustment over {numbers.pop()} {what}."
    listed = "; ".join(f"{name}: {number}" for name, number in tests.items())
    return f"Holm adjustment over the {what} ({listed or 'none'})."
