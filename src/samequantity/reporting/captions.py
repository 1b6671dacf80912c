"""What the tables say above their numbers, in PROTOCOL's words, with the reading limits that belong to each."""

from collections.abc import Iterable

from samequantity.domain.rewriting import AUDIT_VERSION
from samequantity.reporting.results import Results
from samequantity.reporting.tabular import count_text, escaped

LAYERS = (
    "Strict: strict-parser compatibility, that is, the answer is correct as written. "
    f"Audited: the strict parser after the fixed rewrite {AUDIT_VERSION} of every strict failure."
)
FIXED = "The choices are protocol-fixed, not preregistered."
WILSON = "Two-sided 95 % Wilson intervals in brackets; they cover items, not templates or checkpoints."
MIXTURE = "A pooled gap describes its template mixture, not a cause."
HOLM = "Holm covers neither systems nor orbit summaries nor strata."
STRATA = "Strata have no tests of their own: Holm does not cover them."
RECOVERED = (
    "Recovered: strict failed and audited is correct; it shows the value in the transcript, not how it was computed."
)
ORBIT_SIZE = "Orbits hold from 1 to 4 views, and an every-view statistic falls with size."

CORRECTNESS = "Correctness by view family: correct answers / eligible bases."
CORRECTNESS_BY_TEMPLATE = "Correctness by view family and template: correct answers / eligible bases."
GAPS = (
    "Family gaps on the family's n paired bases. C, T: bases correct in the canonical and in the transformed view; "
    "gap: (C − T)/n in percentage points; c/t: bases correct in the canonical view only / in the transformed view only."
)
TEST = "p: exact two-sided McNemar test."
MARKS = (
    "Mark: * an audited gap that exceeds 3 points with a Holm-adjusted p below .05, descriptive and not H1; "
    "H1 a strict gap of at least 3 points with a Holm-adjusted p below .05."
)
ORBITS = (
    "Orbits. Correct: every view of the base is correct. Invariant: every value is defined and all are equal. "
    "Consistent-wrong: invariant and not the expected value. Orbit gap: canonical − orbit correctness in percentage "
    "points."
)
OUTCOMES = "Outcomes by view family: correct views and failure codes; a view counts under the first code that applies."
HYPOTHESES = (
    "Hypotheses on strict-parser compatibility. H1: some family gap of at least 3 points with a Holm-adjusted p below "
    ".05. H2: an orbit gap of at least 3 points. Compared exactly."
)


def correctness(results: Results, *, by_template: bool) -> str:
    """Caption of the correctness tables."""
    first = CORRECTNESS_BY_TEMPLATE if by_template else CORRECTNESS
    return _caption([first, LAYERS, RECOVERED, WILSON], results)


def family_gaps(results: Results, *, by_template: bool) -> str:
    """Caption of the family gaps; the pooled ones have tests and a warning that pooling mixes templates."""
    intervals = _bootstrap_note(results)
    if by_template:
        return _caption([GAPS, LAYERS, intervals, STRATA], results)
    return _caption([GAPS, TEST, LAYERS, intervals, _holm_note(results), MARKS, MIXTURE], results)


def orbits(results: Results) -> str:
    """Caption of the orbit tables."""
    return _caption([ORBITS, LAYERS, ORBIT_SIZE, WILSON, _bootstrap_note(results), HOLM], results)


def outcomes(results: Results) -> str:
    """Caption of the outcome counts."""
    return _caption([OUTCOMES, LAYERS], results)


def hypotheses(results: Results) -> str:
    """Caption of H1 and H2."""
    return _caption([HYPOTHESES, HOLM], results)


def _caption(parts: Iterable[str], results: Results) -> str:
    """The parts of a caption, then what is missing from the table, if anything."""
    return " ".join([*parts, FIXED, *_absences(results)])


def _bootstrap_note(results: Results) -> str:
    """How the intervals of the gaps were made, with the draws that had to be dropped."""
    made = [row for row in results.intervals.values() if row["draws"] is not None]
    draws = " or ".join(count_text(number) for number in sorted({row["draws"] for row in made}))
    dropped = [row["dropped_draws"] for row in made if row["dropped_draws"]]
    note = f"95 % intervals of gaps in brackets: {draws} base-clustered bootstrap draws, percentiles."
    if not dropped:
        return note
    return f"{note} Draws without a base in the denominator were dropped: up to {count_text(max(dropped))} of one gap."


def _holm_note(results: Results) -> str:
    """Over how many tests Holm's adjustment went, by system and layer, shortened where all agree."""
    tests = {
        f"{escaped(key.system)} {key.layer}": row["holm_tests"]
        for key, row in results.scores.items()
        if row["p_holm"] is not None
    }
    numbers = sorted(set(tests.values()))
    if len(numbers) == 1:
        said = f"{numbers[0]} family tests of one layer and system"
    else:
        listed = "; ".join(f"{group}: {number}" for group, number in sorted(tests.items()))
        said = f"the family tests of one layer and system ({listed or 'none'})"
    return f"Holm adjustment over {said}. {HOLM}"


def _absences(results: Results) -> Iterable[str]:
    for system, bases in results.dropped_bases():
        yield f"{escaped(system)}: {count_text(bases)} bases without an answer to each view are left out."
    families = sorted(results.absent_families())
    if families:
        yield f"Absent: {escaped('; '.join(families))}."
    if results.absent:
        yield f"Without results: {', '.join(escaped(system) for system in results.absent)}."
