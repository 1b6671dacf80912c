"""What the tables say above their numbers, in PROTOCOL's words, with the reading limits that belong to each."""

from collections.abc import Iterable, Iterator

from samequantity.domain.rewriting import AUDIT_VERSION, MAGNITUDE_LIMIT
from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.reporting.results import Key, Results
from samequantity.reporting.tabular import ABSENT, count_text
from samequantity.scoring.measures import Measure

STRICT = "Strict: strict-parser compatibility, that is, the answer is correct as written."
AUDITED = f"Audited: the strict parser after the fixed rewrite {AUDIT_VERSION} of every strict failure."
LAYERS = f"{STRICT} {AUDITED}"
LAYER = {Layer.STRICT: STRICT, Layer.AUDITED: AUDITED}

FIXED = "The choices are protocol-fixed, not preregistered."
WILSON = "Two-sided 95 % Wilson intervals in brackets; they cover items, not templates or checkpoints."
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
MARK = "Mark *: a gap that exceeds 3 points with a Holm-adjusted p below .05, descriptive and not H1."
H1 = "H1: some strict family gap of at least 3 points with a Holm-adjusted p below .05."
H2 = "H2: a strict orbit gap of at least 3 points."
ORBITS = (
    "Correct: every view of the base is correct. Invariant: every value is defined and all are equal. "
    "Consistent-wrong: invariant and not the expected value. Orbit gap: canonical − orbit correctness in percentage "
    "points."
)
DROPS = (
    "Value errors: a parseable value that is wrong. Magnitude drops: those with value × 10^k = expected for an integer "
    f"0 < |k| ≤ {MAGNITUDE_LIMIT}, counted by |k|."
)
LENGTH = "Length-finished: responses that ended at the generation cap."
COUNTED_BASES = "Counts of bases and, in parentheses, rates over all bases of the row."
COUNTED_VIEWS = "Counts of views and, in parentheses, rates over all views of the row."


def _split(by_template: bool, by_size: bool = False) -> str:
    """By what a table is stratified, as the end of its title."""
    strata = [name for name, is_split in (("template", by_template), ("orbit size", by_size)) if is_split]
    return f" by {' and '.join(strata)}" if strata else ""


def correctness(results: Results, *, by_template: bool) -> str:
    """Caption of correctness."""
    title = f"Value correctness by view family{' and template' if by_template else ''}: correct / eligible bases."
    return caption([title, LAYERS, RECOVERED, WILSON], results)


def gaps(results: Results, layer: Layer, *, by_template: bool) -> str:
    """Caption of the family gaps of a layer; the pooled ones have tests and a warning that pooling mixes templates."""
    title = f"{layer.capitalize()} family gaps{_split(by_template)}."
    parts = [title, GAPS, LAYER[layer], bootstrap_note(results)]
    if by_template:
        return caption([*parts, STRATA], results)
    tests = [TEST, _holm_note(results, layer), HOLM]
    last = [MARK, EXACT] if layer is Layer.AUDITED else [H1, EXACT, *_decisions(results)]
    return caption([*parts, *tests, *last, MIXTURE], results)


def orbits(results: Results, *, by_template: bool, by_size: bool) -> str:
    """Caption of the orbit tables; H2 stands with the orbits of all templates and sizes."""
    parts = [f"Orbit metrics{_split(by_template, by_size)}.", COUNTED_BASES, ORBITS, LAYERS, _sizes(results), WILSON]
    parts += [bootstrap_note(results), *([] if by_template or by_size else [H2, EXACT]), HOLM]
    return caption([*parts, *([] if by_template else [MIXTURE])], results)


def hypotheses(results: Results) -> str:
    """Caption of H1 and H2."""
    return caption(["Hypotheses on strict-parser compatibility.", H1, H2, EXACT, HOLM, MIXTURE], results)


def scientific(results: Results, *, by_template: bool) -> str:
    """Caption of the scientific-notation table."""
    drops = f"Magnitude errors: residual wrong values with value × 10^k = expected, 0 < |k| ≤ {MAGNITUDE_LIMIT}."
    finished = "Without them: audited correctness over the other responses."
    title = f"Scientific notation{_split(by_template)}."
    limits = [LENGTH, finished, CAP, *_not_given(results)]
    return caption([title, COUNTED_VIEWS, LAYERS, RECOVERED, drops, *limits, WILSON], results)


def unit_view(results: Results) -> str:
    """Caption of the unit view."""
    title = "Unit view by template: correctness in both layers, and what the audited value errors are."
    return caption([title, COUNTED_VIEWS, LAYERS, DROPS, WILSON], results)


def magnitude_drops(results: Results, *, by_template: bool) -> str:
    """Caption of the magnitude drops."""
    title = f"Magnitude drops by view family{' and template' if by_template else ''}, audited."
    return caption([title, AUDITED, DROPS], results)


def completion_tokens(results: Results, *, by_template: bool) -> str:
    """Caption of the completion tokens."""
    title = f"Completion tokens by view family{' and template' if by_template else ''}: median [Q1, Q3]."
    quartiles = "Inclusive quartiles over the n responses whose number of tokens is known."
    return caption([title, quartiles, LENGTH, TOKENS, *_not_given(results), *_without_tokens(results)], results)


def failures(results: Results, *, by_template: bool) -> str:
    """Caption of the failure codes."""
    title = f"Correct views and failure codes by view family{' and template' if by_template else ''}."
    codes = "The last five columns are the failure codes. A view counts under the first code that applies."
    return caption([title, codes, LAYERS], results)


def final_lines(results: Results, *, by_template: bool) -> str:
    """Caption of the multiplicity counts."""
    title = f"Multiplicity by view family{' and template' if by_template else ''}: responses by number of FINAL lines."
    rule = "The last line is parsed; a truncated response is not scanned and has none."
    return caption([title, rule, LAYERS], results)


def rewrites(results: Results, *, by_template: bool) -> str:
    """Caption of the audit's rewrites."""
    title = f"Rewrites used by the audit by view family{' and template' if by_template else ''}."
    uses = (
        "Strict failures in whose judged line the rewrite changed something and, in parentheses, those of them that "
        "were recovered; one line may need several."
    )
    return caption([title, uses, AUDITED, RECOVERED], results)


def caption(parts: Iterable[str], results: Results) -> str:
    """The parts of a caption, then what all captions say, and what is missing from the table, if anything."""
    return " ".join([*parts, FIXED, *_absences(results)])


def bootstrap_note(results: Results) -> str:
    """How the intervals of the gaps were made, with the draws that had to be dropped."""
    made = [row for row in results.intervals.values() if row["draws"] is not None]
    draws = " or ".join(count_text(number) for number in sorted({row["draws"] for row in made})) or "no"
    dropped = [row["dropped_draws"] for row in made if row["dropped_draws"]]
    note = f"95 % intervals of gaps in brackets: {draws} base-clustered bootstrap draws, percentiles."
    if not dropped:
        return note
    return f"{note} Draws without a base in the denominator were dropped: up to {count_text(max(dropped))} of one gap."


def _holm_note(results: Results, layer: Layer) -> str:
    """Over how many tests Holm's adjustment went, by system, shortened where all agree."""
    tests = {
        key.system: row["holm_tests"]
        for key in results.keys(layer, Measure.FAMILY_GAP)
        if (row := results.scores[key])["p_holm"] is not None
    }
    numbers = sorted(set(tests.values()))
    if len(numbers) == 1:
        said = f"{numbers[0]} family tests of one layer and system"
    else:
        listed = "; ".join(f"{system}: {number}" for system, number in tests.items())
        said = f"the family tests of one layer and system ({listed or 'none'})"
    return f"Holm adjustment over {said}."


def _decisions(results: Results) -> Iterator[str]:
    """In which systems H1 is supported, with the number of families that support it among those tested."""
    for decision, words in ((True, "is supported in"), (False, "is not supported in"), (None, "was not tested in")):
        found = [
            f"{system} ({row['numerator']} of {row['denominator']})"
            for system in results.systems
            if (row := results.scores[Key(system=system, layer=Layer.STRICT, measure=Measure.H1)])["supported"]
            is decision
        ]
        if found:
            yield f"H1 {words} {', '.join(found)}."


def _sizes(results: Results) -> str:
    sizes = sorted({key.orbit_size for key in results.scores if key.orbit_size is not None})
    held = f"from {sizes[0]} to {sizes[-1]} views" if len(sizes) > 1 else f"{sizes[0] if sizes else 'no'} view(s)"
    return f"Orbits hold {held}, and an every-view statistic falls with size."


def _not_given(results: Results) -> Iterator[str]:
    """Which systems' responses were not given to score, so that what they themselves say is not known."""
    given = _told(results, Measure.LENGTH_FINISHED)
    if without := [system for system in results.systems if system not in given]:
        yield f"{ABSENT}: not known: no responses were given to score ({', '.join(without)})."


def _without_tokens(results: Results) -> Iterator[str]:
    """Which systems' responses were given and say of no response of some view family how many tokens it has."""
    given, counted = _told(results, Measure.LENGTH_FINISHED), _told(results, Measure.COMPLETION_TOKENS)
    families = {
        system: {key.family for key in results.keys(Layer.STRICT, Measure.VIEW_CORRECTNESS) if key.system == system}
        for system in given
    }
    if without := [system for system, asked in families.items() if asked - counted.get(system, set())]:
        yield f"{ABSENT}: not known: the responses do not say how many tokens they have ({', '.join(without)})."


def _told(results: Results, measure: Measure) -> dict[str, set[Family | None]]:
    """The families of which a system's responses say something, by system in the order to show them."""
    told = (key for key in results.scores if key.measure is measure)
    found: dict[str, set[Family | None]] = {}
    for key in sorted(told, key=lambda key: results.systems.index(key.system)):
        found.setdefault(key.system, set()).add(key.family)
    return found


def _absences(results: Results) -> Iterator[str]:
    for system, bases in results.dropped_bases():
        yield f"{system}: {count_text(bases)} bases without an answer to each view are left out."
    families = sorted(results.absent_families())
    if families:
        yield f"Absent: {'; '.join(families)}."
    if results.absent:
        yield f"Without results: {', '.join(results.absent)}."
