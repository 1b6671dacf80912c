"""What the tables say above their numbers, with the reading limits that belong to each, and what each of them lacks."""

from collections.abc import Iterable, Iterator, Sequence, Set

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.reporting import sentences as say
from samequantity.reporting.compared import pair_name
from samequantity.reporting.results import POOLED, Key, Results, Row, Strata
from samequantity.reporting.tabular import ABSENT, count_text
from samequantity.scoring.measures import Measure


def correctness(results: Results, strata: Strata) -> str:
    """Caption of correctness."""
    title = f"Value correctness{strata.phrase('view family')}: correct / eligible bases."
    return caption([title, say.LAYERS, say.RECOVERED, say.WILSON], results)


def gaps(results: Results, layer: Layer, strata: Strata) -> str:
    """Caption of the family gaps of a layer; the pooled ones have tests and a warning that pooling mixes templates."""
    title = f"{layer.capitalize()} family gaps{strata.phrase()}."
    note = gap_note(results, results.keys(layer, Measure.FAMILY_GAP, strata))
    parts = [title, say.GAPS, say.LAYER[layer], note]
    if strata.by_template:
        return caption([*parts, say.STRATA], results)
    tests = [say.TEST, _holm_note(results, layer), say.HOLM]
    last = [say.MARK, say.EXACT] if layer is Layer.AUDITED else [say.H1, say.EXACT, *_decisions(results)]
    return caption([*parts, *tests, *last, say.MIXTURE], results)


def orbits(results: Results, strata: Strata) -> str:
    """Caption of the orbit tables; H2 stands with the orbits of all templates and sizes."""
    parts = [f"Orbit metrics{strata.phrase()}.", say.COUNTED_BASES, say.ORBITS, say.LAYERS, _sizes(results), say.WILSON]
    gaps = [key for layer in Layer for key in results.keys(layer, Measure.ORBIT_GAP, strata)]
    parts += [gap_note(results, gaps), *([say.H2, say.EXACT] if strata == POOLED else []), say.HOLM]
    return caption([*parts, *([] if strata.by_template else [say.MIXTURE])], results)


def hypotheses(results: Results) -> str:
    """Caption of H1 and H2."""
    return caption(
        ["Hypotheses on strict-parser compatibility.", say.H1, say.H2, say.EXACT, say.HOLM, say.MIXTURE], results
    )


def scientific(results: Results, strata: Strata) -> str:
    """Caption of the scientific-notation table."""
    finished = "Without them: audited correctness over the other responses."
    title = f"Scientific notation{strata.phrase()}."
    limits = [say.LENGTH, finished, say.CAP, *_not_given(results)]
    return caption([title, say.COUNTED_VIEWS, say.LAYERS, say.RECOVERED, say.DROPS, *limits, say.WILSON], results)


def unit_view(results: Results) -> str:
    """Caption of the unit view."""
    title = "Unit view by template: correctness in both layers, and what the audited value errors are."
    return caption([title, say.COUNTED_VIEWS, say.LAYERS, say.ERRORS, say.DROPS, say.WILSON], results)


def magnitude_drops(results: Results, strata: Strata) -> str:
    """Caption of the magnitude drops."""
    title = f"Magnitude drops{strata.phrase('view family')}, audited."
    return caption([title, say.AUDITED, say.ERRORS, say.DROPS], results)


def completion_tokens(results: Results, strata: Strata) -> str:
    """Caption of the completion tokens."""
    title = f"Completion tokens{strata.phrase('view family')}: median [Q1, Q3]."
    quartiles = "Inclusive quartiles over the n responses whose number of tokens is known."
    return caption([title, quartiles, say.LENGTH, say.TOKENS, *_not_given(results), *_without_tokens(results)], results)


def failures(results: Results, strata: Strata) -> str:
    """Caption of the failure codes."""
    title = f"Correct views and failure codes{strata.phrase('view family')}."
    codes = "The last five columns are the failure codes. A view counts under the first code that applies."
    return caption([title, codes, say.LAYERS], results)


def final_lines(results: Results, strata: Strata) -> str:
    """Caption of the multiplicity counts."""
    title = f"Multiplicity{strata.phrase('view family')}: responses by number of FINAL lines."
    rule = "The last line is parsed; a truncated response is not scanned and has none."
    return caption([title, rule, say.LAYERS], results)


def rewrites(results: Results, strata: Strata) -> str:
    """Caption of the audit's rewrites."""
    title = f"Rewrites used by the audit{strata.phrase('view family')}."
    uses = (
        "Strict failures in whose judged line the rewrite changed something and, in parentheses, those of them that "
        "were recovered; one line may need several."
    )
    return caption([title, uses, say.AUDITED, say.RECOVERED], results)


def caption(parts: Iterable[str], results: Results) -> str:
    """The parts of a caption, then what all captions say, and what is missing from the table, if anything."""
    return " ".join([*parts, say.FIXED, *_absences(results)])


def comparisons(compared: Sequence[Row], strata: Strata) -> str:
    """Caption of the comparisons of two systems, from their ordered rows; the pooled ones have tests."""
    by = strata.phrase()
    title = f"Paired comparison of two systems on the same prompts: system − reference{by and f',{by}'}."
    parts = [title, say.COMPARED, say.LAYERS, say.ORBITS, say.draws_note(compared, "difference", say.PAIRED)]
    if strata.by_template:
        parts += [say.STRATA]
    else:
        tests = {pair_name(row): row["holm_tests"] for row in compared if row["holm_tests"] is not None}
        adjusted = say.holm_note(tests, "view families of one layer and comparison")
        parts += [say.PAIRED_TEST, adjusted, say.UNADJUSTED, say.DETECTABLE, say.MIXTURE, say.BESIDE]
    return " ".join([*parts, say.FIXED, *_absences_of_pairs(compared)])


def repeat_check(results: Results, repeated: Set[str]) -> str:
    """Caption of the repeat check; `repeated` are the systems that it has."""
    title = "Repeat check: prompts that were asked again, and how many of the two responses are identical."
    parts = [title, say.IDENTICAL, say.SAME_ANSWER, say.AUDITED, say.FIXED]
    if without := [system for system in results.systems if system not in repeated]:
        parts.append(f"Not asked again: {', '.join(without)}.")
    return " ".join(parts)


def repeat_differences() -> str:
    """Caption of the pairs of responses that differ."""
    title = "Repeat check: every pair of responses to one prompt that differ."
    shown = "A long text is cut to its FINAL line or to where the two begin to differ; the data files hold it whole."
    return " ".join([title, say.IDENTICAL, say.SAME_ANSWER, shown, say.AUDITED, say.FIXED])


def tokens(results: Results, cut: Set[str], strata: Strata) -> str:
    """Caption of the tokens per quantity; `cut` are the systems whose vocabulary was at hand."""
    title = f"Tokens per quantity{strata.phrase('view family')}: sum / quantities = mean (fewest–most)."
    parts = [title, say.CUT, say.CUT_EXAMPLE, say.CUT_LIMIT, say.TOKENS, say.FIXED]
    if without := [system for system in (*results.systems, *results.absent) if system not in cut]:
        parts.append(f"Without a vocabulary at hand: {', '.join(without)}.")
    return " ".join(parts)


def gap_note(results: Results, gaps: Iterable[Key]) -> str:
    """How the intervals of these gaps were made."""
    return say.draws_note([results.intervals[gap] for gap in gaps], "gap")


def _holm_note(results: Results, layer: Layer) -> str:
    tests = {
        key.system: row["holm_tests"]
        for key in results.keys(layer, Measure.FAMILY_GAP)
        if (row := results.scores[key])["p_holm"] is not None
    }
    return say.holm_note(tests, "family tests of one layer and system")


def _decisions(results: Results) -> Iterator[str]:
    """In which systems say.H1 is supported, with the number of families that support it among those tested."""
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
    for system, bases in results.dropped_bases.items():
        if bases:
            yield f"{system}: {count_text(bases)} bases without an answer to each view are left out."
    families = sorted(f"{key.system}, {key.family}: {reason}" for key, reason in results.absent_families.items())
    if families:
        yield f"Absent: {'; '.join(families)}."
    if results.absent:
        yield f"Without results: {', '.join(results.absent)}."


def _absences_of_pairs(compared: Sequence[Row]) -> Iterator[str]:
    for pair, bases in {pair_name(row): row["dropped_bases"] for row in compared}.items():
        if bases:
            yield f"{pair}: {count_text(bases)} bases without an answer of both systems to each view are left out."
    families = [
        f"{pair_name(row)}, {row['family']}: {row['absent']}"
        for row in compared
        if row["absent"] is not None and (row["measure"], row["layer"]) == (Measure.VIEW_CORRECTNESS, Layer.STRICT)
    ]
    if families:
        yield f"Absent: {'; '.join(families)}."
