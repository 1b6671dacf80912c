"""Private pseudorandom streams, the same on every machine and every version of Python."""

from random import Random

_BITS = 53


class Stream:
    """Integers drawn from a stream that its name alone decides.

    Only `Random.random()` on a text seed is promised to stay the same in later versions of Python, so the integers
    are made from its 53 bits here, without rounding.
    """

    def __init__(self, name: str) -> None:
        self._random = Random(name)  # noqa: S311  a benchmark must be repeatable, it holds no secret

    def below(self, bound: int) -> int:
        """An integer from 0 to bound − 1; ValueError unless 0 < bound ≤ 2^32, where the bias stays under 2^-21."""
        if not 0 < bound <= 2**32:
            raise ValueError(f"cannot draw below {bound}")
        bits = int(self._random.random() * 2**_BITS)  # exact: random() is a multiple of 2^-53
        return bits * bound >> _BITS
