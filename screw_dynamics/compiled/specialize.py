"""Straight-line kernels for one robot: an algorithm's operations on numbers that record them (tracing), as Numba
source.

They are compiled as every algorithm is, for one state and on lanes."""
import hashlib
import sys
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.group_joints import PoseSource, numbers_in_q
from screw_dynamics.model.links import Frame, Link, Links
from screw_dynamics.numbers.values import Scalar, kernel, map_numbers

from .algorithm import CompiledAlgorithm, Target
from .inputs import load_configuration, load_input
from .tracing import Operation, TooLong, Trace, Traced, arithmetic_in

LONGEST = 6_000         # lines: about ten seconds of compile time, which grows faster than linearly
NEEDLESS = 2            # traced lines for each line that the result needs, at most
NEGLIGIBLE = 1e-15      # a number of a joint or a frame this close to 0, 1 or -1 is rounded to it
MASSES = "M", "armature"    # of links: these numbers are not rounded


class Inputs(NamedTuple):
    """The columns of a straight-line kernel, as many as the algorithm has inputs. tau: effort, or acceleration."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    added: Scalar


class Pair(NamedTuple):
    """Two numbers of a configuration: with Lie-group joints, q may have more numbers than there are bodies."""

    a: Scalar
    b: Scalar


class Configuration(NamedTuple):
    """The columns of a straight-line kernel for Lie-group joints: those of Inputs, with two numbers of q in each
    row."""

    q: Pair
    qd: Scalar
    tau: Scalar
    added: Scalar


@kernel
def pair(links: Link, memory: np.ndarray, q: Sequence, column: Sequence) -> None:
    """Fill a column of Pairs with the numbers of a configuration."""
    last = len(q) - 1
    for i in range((last + 2) // 2):
        column[i] = Pair(q[2 * i], q[min(2 * i + 1, last)])


load_pairs = load_configuration(pair)


def straight_line(entry: CompiledAlgorithm, links: Links, frames: Sequence[Frame] = (), target: Target | None = None,
                  pose_sources: Sequence[PoseSource] = ()) -> CompiledAlgorithm:
    """Return the CompiledAlgorithm of an algorithm specialized for one model, as `shortest` does; the entry itself if
    `shortest` returns None."""
    return shortest([entry], links, frames, target, pose_sources) or entry


def shortest(entries: Iterable[CompiledAlgorithm], links: Links, frames: Sequence[Frame] = (),
             target: Target | None = None, pose_sources: Sequence[PoseSource] = ()) -> CompiledAlgorithm | None:
    """Return the CompiledAlgorithm, specialized for one model, of the algorithm with the fewest operations among
    several with equal results. The model is given by its links, frames and, with Lie-group joints, sources of poses as
    the model packs them. None if all kernels would be longer than LONGEST, or if one would divide by 0. Targeted
    entries require a target."""
    found = []
    for entry in entries:
        try:
            found.append((traced(entry, links, frames, target, LONGEST, pose_sources), entry))
        except TooLong:
            pass
        except ZeroDivisionError:               # loops return infinities and NaN for accelerations of zero mass
            return None
    if not found:
        return None
    straight, entry = min(found, key=lambda pair: arithmetic_in(pair[0].operations))
    kernel = _kernel(lines_of(straight), entry.targeted)
    Table, load_q = (Configuration, load_pairs) if pose_sources else (Inputs, load_input)
    return CompiledAlgorithm(kernel, Table, " ".join(Table._fields[:entry.inputs]), entry.shape, entry.targeted,
                             f"{entry.name}, specialized", load_q=load_q, suffix="")


class Straight(NamedTuple):
    """Straight-line code of an algorithm for one model: its operations, and its result, an array of numbers."""

    operations: list[Operation]
    result: np.ndarray


def traced(entry: CompiledAlgorithm, links: Links, frames: Sequence[Frame], target: Target | None, longest: float,
           pose_sources: Sequence[PoseSource] = ()) -> Straight:
    """Return the Straight code of the algorithm for this model that its result needs. Raises TooLong if the kernel's
    lines, one for each operation and each number of the result, are more than `longest`."""
    trace, n = Trace(NEEDLESS * longest), 1 + max((link.coordinate for link in links[1:]), default=-1)
    slot = {link.coordinate: i for i, link in enumerate(links) if i > 0}            # a body that the coordinate moves
    inputs = [[trace.input(f"body.{column}[{slot[k]}]") for k in range(n)] for column in Inputs._fields[:entry.inputs]]
    if pose_sources:
        entry = entry.on_groups
        inputs[0] = [trace.input(f"body.q[{k // 2}].{'ab'[k % 2]}") for k in range(numbers_in_q(pose_sources))]
    links, frames, pose_sources = rounded(links), rounded(frames), rounded(pose_sources)
    out = entry.plain(links, *inputs, frames=frames, target=target, pose_sources=pose_sources)
    operations = trace.needed(out.flat)
    if len(operations) + out.size > longest:
        raise TooLong
    return Straight(operations, out)


def script(entry: CompiledAlgorithm, links: Links, frames: Sequence[Frame], target: Target | None,
           longest: float, pose_sources: Sequence[PoseSource] = ()) -> list[str]:
    """Return the lines of the kernel of `traced`."""
    return lines_of(traced(entry, links, frames, target, longest, pose_sources))


def lines_of(straight: Straight) -> list[str]:
    """Return straight-line code as the lines of a kernel: `name = expression`, and at the end `out[index] = name`."""
    operations, out = straight
    return [*map(str, operations), *(f"out[{', '.join(map(str, index))}] = {_over_scalar(out[index])}"
                                     for index in np.ndindex(out.shape))]


def rounded(rows: Sequence[NamedTuple]) -> list[NamedTuple]:
    """Return links, frames or sources of poses in which numbers within NEGLIGIBLE of 0, 1 or -1 are rounded."""
    return [row._replace(**{name: map_numbers(_rounded, part) for name, part in row._asdict().items()
                            if name not in MASSES}) for row in rows]


def _rounded(x):
    nearest = round(x)
    return float(nearest) if nearest in (-1, 0, 1) and abs(x - nearest) < NEGLIGIBLE else x


def _over_scalar(x):
    """Return the source of one number of the result. A constant is cast to the kernel's kind of scalar."""
    return repr(x) if isinstance(x, Traced) else f"null(body.q[0]) + {float(x)!r}"


def _kernel(lines, targeted):
    """Return the kernel of these lines, as CompiledAlgorithm calls it, in a module named by their hash, which is the
    key of the cache."""
    arguments = "links, body, frames, target, out" if targeted else "links, body, out"
    text = "\n    ".join([f"@optimized_alone\ndef algorithm({arguments}):", *(lines or ["pass"])])
    imports = ("from screw_dynamics.numbers.scalars import sincos, sqrt\n"
               "from screw_dynamics.numbers.values import null, optimized_alone")
    text = f"{imports}\n\n\n{text}\n"
    name = "screw_dynamics_straight_line_" + hashlib.sha256(text.encode()).hexdigest()[:32]
    if name not in sys.modules:
        module = ModuleType(name, "A straight-line kernel, generated for one robot.")
        exec(compile(text, f"<{name}>", "exec"), module.__dict__)
        sys.modules[name] = module
    return sys.modules[name].algorithm
