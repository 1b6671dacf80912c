"""How fast the gaps of one system get their intervals, beside scipy.stats.bootstrap on the same ratios.

Both draw whole bases 10,000 times and take percentiles. scipy is tried in two forms, vectorised and in batches that fit
the cache: a call for each ratio, whose numerator and denominator are packed into one whole number, so that only one
array is resampled; and one call for all ratios, so that they are paired as ours are. The answers are planted by a
script (tests/planted.py); what they say does not matter here.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

import planted
from samequantity.domain.verdicts import Layer
from samequantity.scoring.measures import profiles, ratios
from samequantity.scoring.outcomes import outcomes
from samequantity.scoring.resampling import DRAWS, generator_for, resample
from samequantity.scoring.tallies import added, tallies
from samequantity.stages.audit import audit
from samequantity.stages.parse import parse

SEED = 20260725
ROUNDS = 3
SYSTEM = "mistral-small-4"
"""Of the five, the one whose bases are least alike, which costs us most and scipy nothing."""
PACKED = 1 << 20
SETTINGS: dict[str, Any] = {"vectorized": True, "n_resamples": DRAWS, "batch": 100, "method": "percentile"}

Numbers = NDArray[Any]


def main() -> None:
    """Time the three forms in turn and print them."""
    bases = profiles_of(SYSTEM)
    gaps = [
        tally
        for layer in Layer
        for tally in tallies(bases, ratios(layer))
        if tally.denominator and tally.ratio.measure.is_gap
    ]
    numerators = added(bases, gaps, [gap.ratio.numerator for gap in gaps])
    denominators = added(bases, gaps, [gap.ratio.denominator for gap in gaps])

    def ours() -> object:
        return resample(bases, gaps, draws=DRAWS, generator=generator_for("bootstrap", SEED, SYSTEM))

    forms: dict[str, Callable[[], object]] = {
        "samequantity": ours,
        "scipy.stats.bootstrap, a call a ratio": lambda: one_by_one(numerators, denominators),
        "scipy.stats.bootstrap, one call": lambda: all_at_once(numerators, denominators),
    }
    seconds = {name: min(times) for name, times in in_turn(forms).items()}
    print(f"{len(gaps)} gaps of {len(bases):,} bases, {DRAWS:,} draws, best of {ROUNDS} rounds taken in turn:")
    for name, taken in seconds.items():
        print(f"  {name:40} {taken:8.3f} s {taken / seconds['samequantity']:8.1f} ×")


def in_turn(forms: Mapping[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Seconds of each form, one after the other in every round, so that a busy machine slows them all."""
    taken: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(ROUNDS):
        for name, form in forms.items():
            started = time.perf_counter()
            form()
            taken[name].append(time.perf_counter() - started)
    return taken


def profiles_of(system: str) -> pl.DataFrame:
    """The profiles of a planted system's 3,600 bases."""
    views, responses = planted.views(), planted.responses(system)
    answers = parse(views, responses, system)
    return profiles(outcomes(views, answers, audit(views, responses, answers, system)).frame)


def one_by_one(numerators: Numbers, denominators: Numbers) -> list[Any]:
    """Scipy's intervals, a ratio a call."""

    def ratio(packed: Numbers, axis: int) -> Numbers:
        sums = packed.sum(axis=axis)
        bottom = sums % PACKED
        return np.asarray((sums - bottom) / PACKED / np.maximum(bottom, 1))

    return [
        stats.bootstrap((packed,), ratio, **SETTINGS, rng=np.random.default_rng(SEED)).confidence_interval
        for packed in (numerators * PACKED + denominators).T
    ]


def all_at_once(numerators: Numbers, denominators: Numbers) -> Any:
    """Scipy's intervals, resampling the numbers of the bases once for all ratios."""
    added = np.concatenate([numerators, denominators], axis=1)
    distinct, places = np.unique(added, axis=1, return_inverse=True)
    small = distinct.astype(np.int8)

    def every_ratio(drawn: Numbers, axis: int) -> Numbers:
        sums = small[drawn].sum(axis=axis, dtype=np.float32)[..., places.ravel()]
        tops, bottoms = np.split(sums, 2, axis=-1)
        return np.asarray(np.moveaxis(tops / np.maximum(bottoms, 1), -1, 0))

    bases = np.arange(len(numerators))
    return stats.bootstrap((bases,), every_ratio, **(SETTINGS | {"batch": 5}), rng=np.random.default_rng(SEED))


if __name__ == "__main__":
    main()
