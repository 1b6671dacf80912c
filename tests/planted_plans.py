"""What is planted for five systems that no model ever was (planted.py writes their answers): how many answers of each
kind the paper's published per-system figures come from (PROTOCOL, section 9).

A plan says how an answer is *written*, and lists the bases that differ from "every view answered plainly and right".
With c bases that only the canonical view solves, t that only the transformed view solves and n that neither solves, a
family of 1,000 views has 1000 - c - n right ones and a gap of c - t; the orbit gap counts the bases that are right in
the canonical view and wrong in another. What the paper leaves open (the percent cells, most of c, t and n, everything
by template) is invented; two choices are worth knowing:

- Strict scientific .005, audited .996 and 991 recovered belong to one system, since 996 - 5 = 991 and no pair inside
  both ranges is as far apart. It is Mistral's here: then strict orbits come out at .574 by themselves, as
  5 + 2600 - 529 (bases outside large_volume_addition that the audit does not save) - 10 = 2066 of 3600.
- Strict orbits of .785 (2825 to 2827 of 3600) can only be the 4B's or GPT-OSS's: 2600 + strict scientific less a gap
  is at most 2684 for the 9B's Q4, 2746 for its Q8 (fraction gaps) and 2666 for Mistral (unit gap). They are the 4B's
  here: 347 + 2600 - 115 - 6 = 2826.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto

from samequantity.domain.views import Family

CANONICAL, FRACTION, SCIENTIFIC, PERCENT, WORDS, UNIT = Family


class Stratum(StrEnum):
    """The bases of one template that are written in the same families: <template>/<transformation families>."""

    VOLUME = "combined_volume/fraction+unit"  # 200 bases
    DISTANCE = "difference_distance/fraction+unit"  # 200
    LENGTH_FWU = "repeated_length/fraction+words+unit"  # 300
    LENGTH_WU = "repeated_length/words+unit"  # 100
    LENGTH_W = "repeated_length/words"  # 600
    CAPACITY_FP = "fraction_of_capacity/fraction+percent"  # 300
    CAPACITY_P = "fraction_of_capacity/percent"  # 700
    SPEED = "rate_speed/unit"  # 200
    ADDITION = "large_volume_addition/scientific"  # 1,000


VOLUME, DISTANCE, LENGTH_FWU, LENGTH_WU, LENGTH_W, CAPACITY_FP, CAPACITY_P, SPEED, ADDITION = Stratum


class Manner(StrEnum):
    """How an answer is written; `planted.FORMS` has the words."""

    PLAIN = auto()
    """As it was asked for, at times with a period or after a first thought on a FINAL line of its own."""
    READ = auto()
    """The right value in a form that only the audit reads."""
    WRONG = auto()
    """A value of this view alone, now and then without a readable number, with a wrong unit or without the tag."""
    SAME = auto()
    """A wrong value that all views of the base share."""
    TENTH = auto()
    """A power of ten off, as are the next four."""
    RAISED_TENTH = auto()
    """The same in a form that only the audit reads."""
    TENFOLD = auto()
    HUNDREDFOLD = auto()
    THOUSANDFOLD = auto()
    CUT = auto()
    """The right answer, in a response that ran into the cap."""


PLAIN, READ, WRONG, SAME, TENTH, RAISED_TENTH, TENFOLD, HUNDREDFOLD, THOUSANDFOLD, CUT = Manner


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """How the views that are not PLAIN are written, in so many bases of each stratum, the next ones by identifier."""

    views: Mapping[Family, Manner]
    bases: Mapping[Stratum, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of a completion, about: fraction and scientific views, all other views, and the cap."""

    fraction: int
    scientific: int
    others: int
    cap: int = 512

    def of(self, family: Family) -> int:
        return {FRACTION: self.fraction, SCIENTIFIC: self.scientific}.get(family, self.others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that is planted for one system."""

    tokens: Tokens
    patterns: Sequence[Pattern]


QWEN_4B = Plan(
    tokens=Tokens(fraction=131, scientific=188, others=64),
    patterns=(
        # Fraction .915: c 81, t 6, n 4, gap 7.5 points.
        Pattern(views={FRACTION: WRONG}, bases={VOLUME: 15, DISTANCE: 14, LENGTH_FWU: 28, CAPACITY_FP: 20}),
        Pattern(views={FRACTION: WRONG, UNIT: WRONG}, bases={VOLUME: 2, DISTANCE: 2}),
        Pattern(views={CANONICAL: WRONG}, bases={VOLUME: 2, DISTANCE: 1, LENGTH_FWU: 2, CAPACITY_FP: 1}),
        Pattern(views={CANONICAL: WRONG, FRACTION: WRONG}, bases={VOLUME: 1, DISTANCE: 1, LENGTH_FWU: 1}),
        Pattern(views={CANONICAL: SAME, FRACTION: SAME, PERCENT: SAME}, bases={CAPACITY_FP: 1}),
        # Scientific strict 347, audited 985, 638 recovered, 13 length-finished: 985/987 without them; c 15, t 2.
        Pattern(views={SCIENTIFIC: CUT}, bases={ADDITION: 13}),
        Pattern(views={SCIENTIFIC: RAISED_TENTH}, bases={ADDITION: 2}),
        Pattern(views={SCIENTIFIC: READ}, bases={ADDITION: 616}),
        Pattern(views={CANONICAL: READ, SCIENTIFIC: READ}, bases={ADDITION: 20}),
        Pattern(views={CANONICAL: WRONG, SCIENTIFIC: READ}, bases={ADDITION: 2}),
        # Canonical 3600 - 24 = 3576; orbit gap 81 + 15 + 8 + 3 + 1 = 108: 3.0 points. Words .999.
        Pattern(views={PERCENT: WRONG}, bases={CAPACITY_FP: 2, CAPACITY_P: 6}),
        Pattern(views={UNIT: WRONG}, bases={LENGTH_WU: 1, SPEED: 2}),
        Pattern(views={WORDS: WRONG}, bases={LENGTH_W: 1}),
        Pattern(views={CANONICAL: WRONG}, bases={LENGTH_W: 4, CAPACITY_P: 3, SPEED: 2}),
        Pattern(views={CANONICAL: SAME, PERCENT: SAME}, bases={CAPACITY_P: 2}),
        Pattern(views={CANONICAL: WRONG, PERCENT: WRONG}, bases={CAPACITY_P: 1}),
        # Orbits that only the strict parser refuses: 347 + 2600 - 115 - 6 = 2826 stay, .785.
        Pattern(views={FRACTION: READ}, bases={LENGTH_FWU: 3}),
        Pattern(views={WORDS: READ}, bases={LENGTH_W: 2}),
        Pattern(views={UNIT: READ}, bases={SPEED: 1}),
    ),
)

QWEN_9B_Q4 = Plan(
    tokens=Tokens(fraction=118, scientific=203, others=58),
    patterns=(
        # Fraction .928: c 68, t 7, n 4, gap 6.1 points.
        Pattern(views={FRACTION: WRONG}, bases={VOLUME: 12, DISTANCE: 11, LENGTH_FWU: 24, CAPACITY_FP: 16}),
        Pattern(views={FRACTION: WRONG, UNIT: WRONG}, bases={VOLUME: 2, DISTANCE: 1, LENGTH_FWU: 2}),
        Pattern(views={CANONICAL: WRONG}, bases={VOLUME: 2, DISTANCE: 2, LENGTH_FWU: 2, CAPACITY_FP: 1}),
        Pattern(views={CANONICAL: WRONG, FRACTION: WRONG}, bases={VOLUME: 1, DISTANCE: 1}),
        Pattern(views={CANONICAL: SAME, FRACTION: SAME, PERCENT: SAME}, bases={CAPACITY_FP: 2}),
        # Scientific strict 145, audited 902, 85 length-finished: 902/915 without them; c 97, t 1, gap 9.6 points.
        Pattern(views={SCIENTIFIC: CUT}, bases={ADDITION: 84}),
        Pattern(views={CANONICAL: WRONG, SCIENTIFIC: CUT}, bases={ADDITION: 1}),
        Pattern(views={SCIENTIFIC: RAISED_TENTH}, bases={ADDITION: 9}),
        Pattern(views={SCIENTIFIC: WRONG}, bases={ADDITION: 4}),
        Pattern(views={SCIENTIFIC: READ}, bases={ADDITION: 726}),
        Pattern(views={CANONICAL: READ, SCIENTIFIC: READ}, bases={ADDITION: 30}),
        Pattern(views={CANONICAL: WRONG, SCIENTIFIC: READ}, bases={ADDITION: 1}),
        # Canonical 3600 - 28 = 3572; orbit gap 68 + 97 + 15 + 9 + 2 = 191: 5.3 points. Words .998.
        Pattern(views={PERCENT: WRONG}, bases={CAPACITY_FP: 4, CAPACITY_P: 11}),
        Pattern(views={UNIT: WRONG}, bases={LENGTH_FWU: 3, LENGTH_WU: 2, SPEED: 4}),
        Pattern(views={WORDS: WRONG}, bases={LENGTH_W: 2}),
        Pattern(views={CANONICAL: WRONG}, bases={LENGTH_W: 4, CAPACITY_P: 3, SPEED: 2}),
        Pattern(views={CANONICAL: SAME, PERCENT: SAME}, bases={CAPACITY_P: 3}),
        Pattern(views={CANONICAL: WRONG, PERCENT: WRONG}, bases={CAPACITY_P: 3}),
        # Orbits that only the strict parser refuses: 145 + 2600 - 120 - 50 = 2575 stay.
        Pattern(views={FRACTION: READ}, bases={LENGTH_FWU: 20}),
        Pattern(views={WORDS: READ}, bases={LENGTH_W: 10}),
        Pattern(views={UNIT: READ}, bases={SPEED: 5}),
        Pattern(views={PERCENT: READ}, bases={CAPACITY_P: 15}),
    ),
)

QWEN_9B_Q8 = Plan(
    tokens=Tokens(fraction=121, scientific=211, others=57),
    patterns=(
        # Fraction .910: c 85, t 5, n 5, gap 8.0 points.
        Pattern(views={FRACTION: WRONG}, bases={VOLUME: 15, DISTANCE: 14, LENGTH_FWU: 30, CAPACITY_FP: 20}),
        Pattern(views={FRACTION: WRONG, UNIT: WRONG}, bases={VOLUME: 2, DISTANCE: 2, LENGTH_FWU: 2}),
        Pattern(views={CANONICAL: WRONG}, bases={VOLUME: 1, DISTANCE: 2, LENGTH_FWU: 1, CAPACITY_FP: 1}),
        Pattern(views={CANONICAL: WRONG, FRACTION: WRONG}, bases={VOLUME: 1, DISTANCE: 1, LENGTH_FWU: 1}),
        Pattern(views={CANONICAL: SAME, FRACTION: SAME, PERCENT: SAME}, bases={CAPACITY_FP: 2}),
        # Scientific strict 226, audited 886, 110 length-finished: 886/890 without them; c 113, t 0, gap 11.3 points.
        Pattern(views={SCIENTIFIC: CUT}, bases={ADDITION: 109}),
        Pattern(views={CANONICAL: WRONG, SCIENTIFIC: CUT}, bases={ADDITION: 1}),
        Pattern(views={SCIENTIFIC: RAISED_TENTH}, bases={ADDITION: 3}),
        Pattern(views={SCIENTIFIC: WRONG}, bases={ADDITION: 1}),
        Pattern(views={SCIENTIFIC: READ}, bases={ADDITION: 635}),
        Pattern(views={CANONICAL: READ, SCIENTIFIC: READ}, bases={ADDITION: 25}),
        # Canonical 3600 - 24 = 3576; orbit gap 85 + 113 + 12 + 5 + 1 = 216: 6.0 points. Words .999.
        Pattern(views={PERCENT: WRONG}, bases={CAPACITY_FP: 3, CAPACITY_P: 9}),
        Pattern(views={UNIT: WRONG}, bases={LENGTH_FWU: 1, LENGTH_WU: 1, SPEED: 3}),
        Pattern(views={WORDS: WRONG}, bases={LENGTH_W: 1}),
        Pattern(views={CANONICAL: WRONG}, bases={LENGTH_W: 5, CAPACITY_P: 2, SPEED: 1}),
        Pattern(views={CANONICAL: SAME, PERCENT: SAME}, bases={CAPACITY_P: 2}),
        Pattern(views={CANONICAL: WRONG, PERCENT: WRONG}, bases={CAPACITY_P: 3}),
        # Orbits that only the strict parser refuses: 226 + 2600 - 126 - 60 = 2640 stay.
        Pattern(views={FRACTION: READ}, bases={LENGTH_FWU: 25}),
        Pattern(views={WORDS: READ}, bases={LENGTH_W: 10}),
        Pattern(views={UNIT: READ}, bases={SPEED: 5}),
        Pattern(views={PERCENT: READ}, bases={CAPACITY_P: 20}),
    ),
)

GPT_OSS = Plan(
    tokens=Tokens(fraction=97, scientific=71, others=76, cap=2048),
    patterns=(
        # Fraction .995: c 4, t 2, n 1. Two run into the cap, no scientific one does.
        Pattern(views={FRACTION: WRONG}, bases={LENGTH_FWU: 1, CAPACITY_FP: 1}),
        Pattern(views={FRACTION: CUT}, bases={DISTANCE: 1, LENGTH_FWU: 1}),
        Pattern(views={CANONICAL: WRONG}, bases={VOLUME: 1, CAPACITY_FP: 1}),
        Pattern(views={CANONICAL: WRONG, FRACTION: WRONG}, bases={DISTANCE: 1}),
        # Scientific strict 212, audited 990, 778 recovered; c 9, t 3, n 1.
        Pattern(views={SCIENTIFIC: WRONG}, bases={ADDITION: 6}),
        Pattern(views={SCIENTIFIC: RAISED_TENTH}, bases={ADDITION: 3}),
        Pattern(views={CANONICAL: WRONG, SCIENTIFIC: WRONG}, bases={ADDITION: 1}),
        Pattern(views={SCIENTIFIC: READ}, bases={ADDITION: 735}),
        Pattern(views={CANONICAL: READ, SCIENTIFIC: READ}, bases={ADDITION: 40}),
        Pattern(views={CANONICAL: WRONG, SCIENTIFIC: READ}, bases={ADDITION: 3}),
        # Canonical 3600 - 14 = 3586: .996; orbit gap 4 + 9 + 21 + 20 = 54: 1.5 points; orbits .981. Words 1.000.
        Pattern(views={PERCENT: WRONG}, bases={CAPACITY_FP: 6, CAPACITY_P: 15}),
        Pattern(views={UNIT: WRONG}, bases={VOLUME: 4, DISTANCE: 4, LENGTH_FWU: 4, LENGTH_WU: 2, SPEED: 6}),
        Pattern(views={CANONICAL: WRONG}, bases={LENGTH_W: 2, CAPACITY_P: 2, SPEED: 1}),
        Pattern(views={CANONICAL: SAME, PERCENT: SAME}, bases={CAPACITY_P: 1}),
        Pattern(views={CANONICAL: WRONG, PERCENT: WRONG}, bases={CAPACITY_P: 1}),
        # Orbits that only the strict parser refuses: 212 + 2600 - 55 - 150 = 2607 stay.
        Pattern(views={FRACTION: READ}, bases={LENGTH_FWU: 60}),
        Pattern(views={WORDS: READ}, bases={LENGTH_W: 40}),
        Pattern(views={UNIT: READ}, bases={SPEED: 10}),
        Pattern(views={PERCENT: READ}, bases={CAPACITY_P: 40}),
    ),
)

MISTRAL = Plan(
    tokens=Tokens(fraction=142, scientific=66, others=70),
    patterns=(
        # Unit .699: 301 wrong, 265 of them by powers of ten: 96 (56 + 40) by 10, 70 by 10^2, 99 by 10^3.
        Pattern(views={UNIT: TENTH}, bases={VOLUME: 12, DISTANCE: 12, LENGTH_FWU: 18, LENGTH_WU: 4, SPEED: 10}),
        Pattern(views={UNIT: TENFOLD}, bases={VOLUME: 8, DISTANCE: 8, LENGTH_FWU: 12, LENGTH_WU: 2, SPEED: 10}),
        Pattern(views={UNIT: HUNDREDFOLD}, bases={LENGTH_FWU: 45, LENGTH_WU: 25}),
        Pattern(views={UNIT: THOUSANDFOLD}, bases={VOLUME: 35, DISTANCE: 34, SPEED: 30}),
        # The other 36 are 15 + 10 + 8 + 3: c 290, t 9, n 11, gap 28.1 points.
        Pattern(views={UNIT: WRONG}, bases={VOLUME: 1, DISTANCE: 2, LENGTH_FWU: 1, LENGTH_WU: 3, SPEED: 8}),
        Pattern(views={FRACTION: WRONG, UNIT: WRONG}, bases={VOLUME: 2, DISTANCE: 2, LENGTH_FWU: 6}),
        Pattern(views={CANONICAL: WRONG, FRACTION: WRONG, UNIT: WRONG}, bases={VOLUME: 3, DISTANCE: 2, LENGTH_FWU: 3}),
        Pattern(views={CANONICAL: WRONG, UNIT: WRONG}, bases={LENGTH_WU: 1, SPEED: 2}),
        # Fraction .874: c 110, t 10, n 16, gap 10.0 points.
        Pattern(views={FRACTION: WRONG}, bases={VOLUME: 20, DISTANCE: 20, LENGTH_FWU: 30, CAPACITY_FP: 30}),
        Pattern(views={CANONICAL: WRONG, FRACTION: WRONG}, bases={DISTANCE: 1}),
        Pattern(views={CANONICAL: WRONG, FRACTION: WRONG, PERCENT: WRONG}, bases={CAPACITY_FP: 7}),
        Pattern(views={CANONICAL: WRONG}, bases={VOLUME: 2, DISTANCE: 1, LENGTH_FWU: 2, CAPACITY_FP: 5}),
        # Scientific strict 5, audited 996, 991 recovered, none length-finished; c 3, t 14, n 1.
        Pattern(views={SCIENTIFIC: WRONG}, bases={ADDITION: 2}),
        Pattern(views={SCIENTIFIC: RAISED_TENTH}, bases={ADDITION: 1}),
        Pattern(views={CANONICAL: WRONG, SCIENTIFIC: WRONG}, bases={ADDITION: 1}),
        Pattern(views={SCIENTIFIC: READ}, bases={ADDITION: 917}),
        Pattern(views={CANONICAL: READ, SCIENTIFIC: READ}, bases={ADDITION: 60}),
        Pattern(views={CANONICAL: WRONG, SCIENTIFIC: READ}, bases={ADDITION: 14}),
        # Canonical 3600 - 112 = 3488: .969; orbit gap 290 + 110 - 10 (in both) + 3 + 39 + 3 = 435: 12.1 points.
        # Orbits 3053: .848; with the 10 that are wrong alike invariance is .851. Words .997.
        Pattern(views={PERCENT: WRONG}, bases={CAPACITY_FP: 9, CAPACITY_P: 30}),
        Pattern(views={WORDS: WRONG}, bases={LENGTH_W: 3}),
        Pattern(views={CANONICAL: WRONG}, bases={LENGTH_WU: 1, LENGTH_W: 10, CAPACITY_P: 7, SPEED: 2}),
        Pattern(views={CANONICAL: SAME, PERCENT: SAME}, bases={CAPACITY_P: 10}),
        Pattern(views={CANONICAL: WRONG, PERCENT: WRONG}, bases={CAPACITY_P: 38}),
        # Orbits that only the strict parser refuses: 5 + 2600 - 529 - 10 = 2066 stay, .574.
        Pattern(views={WORDS: READ}, bases={LENGTH_W: 10}),
    ),
)

PLANS: Mapping[str, Plan] = {
    "qwen3.5-4b-q4": QWEN_4B,
    "qwen3.5-9b-q4": QWEN_9B_Q4,
    "qwen3.5-9b-q8": QWEN_9B_Q8,
    "gpt-oss-20b": GPT_OSS,
    "mistral-small-4": MISTRAL,
}
"""What is planted for each of the paper's systems, in its order."""
