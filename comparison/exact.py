"""The plain mode on numbers of 50 digits: a reference without rounding error."""
import mpmath

from screw_dynamics.numbers.scalars import atan2, sincos, sqrt
from screw_dynamics.numbers.values import map_numbers

DIGITS = 50

sincos.register(mpmath.mpf, lambda x: (mpmath.sin(x), mpmath.cos(x)))
sqrt.register(mpmath.mpf, mpmath.sqrt)
atan2.register(mpmath.mpf, mpmath.atan2)


def exact(entry, read, *inputs):
    """What the algorithm of a CompiledAlgorithm computes for Rows and inputs of floats, each taken for the number that
    it is."""
    with mpmath.workdps(DIGITS):
        links, frames = ([map_numbers(mpmath.mpf, row) for row in rows] for rows in (read.links, read.frames))
        return entry.plain(links, *([mpmath.mpf(float(x)) for x in numbers] for numbers in inputs), frames=frames,
                           target=read.target)
