"""Base parameters in exact arithmetic: combinations of inertial parameters with rational coefficients.

The regressor is evaluated modulo a prime, with the same kernel, at random rational group elements of the joints: a
rotation has a rational quaternion, an angle the rational tangent of its half. Linear relations between columns that
hold in more rows than there are columns are identities, except with a probability below 1e-100. Their coefficients,
fractions with few digits, are reconstructed from their residues. The rank does not depend on a tolerance."""
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isqrt
from random import Random
from typing import Any

import numpy as np

from screw_dynamics.algorithms.regressor import TORQUE_REGRESSOR, RegressorScrews
from screw_dynamics.model.group_joints import COORDINATE, INNER, PLANAR, SPHERICAL
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.tables import columns, table
from screw_dynamics.numbers.values import map_numbers
from screw_dynamics.robot import Robot
from screw_dynamics.screws.joint import Placement
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.so3 import Rotation, of_quaternion
from screw_dynamics.screws.vectors import Vec3
from screw_dynamics.utils import checks

from .base_parameters import BaseParameters, parameter_names

PRIME = 2**521 - 1
LARGEST = 2**200       # largest numerator and denominator of a fraction that is not accidental
DENOMINATOR = 10**6     # largest denominator of approximated floats: a micrometer or a microradian
SPARE = 8               # additional rows of the regressor, compared to its columns


class Residue:
    """An integer modulo PRIME; arithmetic accepts fractions, and floats by their exact values."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        if isinstance(x, Residue):
            self.x = x.x
        else:
            above, below = (x, 1) if isinstance(x, int) else x.as_integer_ratio()
            self.x = above * pow(below, -1, PRIME) % PRIME if below != 1 else above % PRIME

    @classmethod
    def _of(cls, x):
        found = cls.__new__(cls)
        found.x = x % PRIME
        return found

    def _operation(of):
        def apply(self, other):
            if isinstance(other, tuple):
                return NotImplemented           # a value type, which applies the operation to each number
            return Residue._of(of(self.x, other.x if type(other) is Residue else Residue(other).x))
        return apply

    __add__ = __radd__ = _operation(lambda a, b: a + b)
    __mul__ = __rmul__ = _operation(lambda a, b: a * b)
    __sub__, __rsub__ = _operation(lambda a, b: a - b), _operation(lambda a, b: b - a)

    def __rtruediv__(self, other):
        return Residue(other) * Residue._of(pow(self.x, -1, PRIME))

    def __neg__(self):
        return Residue._of(-self.x)

    def __eq__(self, other):
        return self.x == Residue(other).x

    __hash__ = None


def fraction(x: float) -> Fraction:
    """Return the nearest fraction with a denominator of at most DENOMINATOR."""
    return Fraction(x).limit_denominator(DENOMINATOR)


def rational_pose(C: Pose) -> Pose:
    """Return the pose in Residues, with an exactly orthogonal rotation: that of the nearest rational quaternion."""
    R = np.array(C.R)
    u = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    K = np.empty((4, 4))                                    # the eigenvector of its largest eigenvalue is x y z w
    K[:3, :3], K[3, :3], K[:3, 3], K[3, 3] = R + R.T - np.trace(R) * np.eye(3), u, u, np.trace(R)
    quaternion = np.linalg.eigh(K)[1][:, -1]
    quaternion /= quaternion[np.argmax(np.abs(quaternion))]
    return Pose(_rotation([fraction(x) for x in quaternion]), map_numbers(lambda x: Residue(fraction(x)), C.p))


def _rotation(quaternion: Sequence[Fraction]) -> Rotation:
    """Return the rotation of a quaternion x y z w of fractions, of any length except 0."""
    x, y, z, w = map(Residue, quaternion)
    return of_quaternion(Vec3(x, y, z), w)


def exact_base_parameters(robot: Robot, friction: bool = False, seed: int = 0) -> BaseParameters:
    """Compute the base parameters in exact arithmetic; the matrix has Fractions.

    Parameters
    ----------
    robot : Robot
        Robot. Its lengths are rounded to a micrometer and its directions to a microradian, unless they are fractions
        such as those in most data sheets.
    friction : bool, optional
        If true, add friction and armature, as in ``base_parameters``.
    seed : int, optional
        Seed of the random states.

    Returns
    -------
    BaseParameters
        Base parameters, exact for the rounded robot.

    Raises
    ------
    ValueError
        If the multiplier of a mimic joint is not 1 or -1, or fractions have too many digits.
    """
    names, random = parameter_names(robot, friction), Random(checks.whole("seed", seed, 0))
    states = -(-(len(names) + SPARE) // max(robot.n, 1)) if robot.n else 0
    links, frames, motions = _rational(robot)
    rows = [row for _ in range(states) for row in _rows(robot, links, frames, motions, friction, random)]
    reduced, kept = _reduced(rows, len(names))
    matrix = np.full((len(kept), len(names)), Fraction(0), dtype=object)
    for i, row in enumerate(reduced):
        for j, x in enumerate(row):
            matrix[i, j] = _reconstructed(x)
    return BaseParameters(names, np.array(kept, dtype=int), matrix)


def _rational(robot):
    """Return the Links and Frames in Residues, and the data that determine the pose of each slot but the first."""
    model, gravity = robot.model, robot.gravity
    links, frames = model.links(gravity), model.frame_rows(gravity)[:len(model.parents) + 1]
    (kinds, _, _), places = model.joints_in_q(), model.pose_sources(gravity)
    motions = []
    for i, link in enumerate(links[1:], start=1):
        a, b = fraction(link.X.angular.z), fraction(link.X.linear.z)
        if kinds[i] == COORDINATE:
            if a not in (-1, 0, 1):
                raise ValueError(f"joint {model.body_joints[i - 1]!r}: its multiplier {float(a):g} must be 1 or -1 for "
                                 "exact base parameters")
            E = link.E
            motions.append((rational_pose(Pose(Rotation(*(E.R0 + E.R1)), E.p0)), a, b))
        else:
            motions.append((rational_pose(places[i].left), rational_pose(places[i].right)))
    exact = [link._replace(X=map_numbers(lambda x: Residue(fraction(x)), link.X)) for link in links]
    exact_frames = [Frame(frame.body, rational_pose(frame.C)) for frame in frames]
    return exact, exact_frames, list(zip(kinds[1:], motions, strict=True))


def _rows(robot, links, frames, motions, friction, random):
    """Return the rows of the regressor at a random state, as lists of integers modulo PRIME."""
    n, b = robot.n, len(links) - 1

    def some():
        return Fraction(random.randint(-999, 999), random.randint(1, 99))
    tangent, position, qd, qdd = ([some() for _ in range(n)] for _ in range(4))
    body = table(RegressorScrews, None, b + 1)
    for i, (link, (kind, motion)) in enumerate(zip(links[1:], motions, strict=True), start=1):
        k = link.coordinate
        body.q[i] = Placement(_placed(kind, motion, tangent[k], position[k], some), int(kind == INNER))
        body.qd[i], body.qdd[i] = Residue(qd[k]), Residue(qdd[k])
    body.q[0] = Placement(_placed(INNER, (_HERE, _HERE), 0, 0, some), 0)
    out = np.full((n, 10 * b), 0, dtype=object)
    entry = TORQUE_REGRESSOR.on_groups if robot.model.on_groups else TORQUE_REGRESSOR
    entry.algorithm(columns(Link, links), body, columns(Frame, frames), None, out)
    rows = [[Residue(x).x for x in row] for row in out]
    for j, row in enumerate(rows if friction else ()):
        for k in range(n):
            row += [Residue(x).x if k == j else 0 for x in (qd[j], 1 if qd[j] > 0 else -1, qdd[j])]
    return rows


_HERE = rational_pose(Pose(Rotation(*(Vec3(*row) for row in np.eye(3))), Vec3(0.0, 0.0, 0.0)))


def _placed(kind, motion, tangent, position, some):
    """Return the pose of a body in its parent at a random rational element of its joint's group."""
    if kind == COORDINATE:
        B, a, b = motion
        half = a * tangent                                  # a is 0, 1 or -1
        return B @ Pose(_rotation([0, 0, half, 1]), Vec3(*map(Residue, (0, 0, b * position))))
    if kind == INNER:
        return motion[0]
    turn = [0, 0, some(), 1] if kind == PLANAR else [some(), some(), some(), 1]
    shift = [0 if kind == SPHERICAL else some(), 0 if kind == SPHERICAL else some(),
             0 if kind in (SPHERICAL, PLANAR) else some()]
    return motion[0] @ Pose(_rotation(turn), Vec3(*map(Residue, shift))) @ motion[1]


def _reduced(rows: Iterable[list[int]], width: int) -> tuple[list[list[int]], list[int]]:
    """Return the reduced row echelon form modulo PRIME, without zero rows, and its pivots."""
    rows, pivots = [np.array(row, dtype=object) for row in rows], []
    for column in range(width):
        done = len(pivots)
        pivot = next((i for i in range(done, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        rows[done] = rows[done] * pow(int(rows[done][column]), -1, PRIME) % PRIME
        for i, row in enumerate(rows):
            if i != done and row[column]:
                rows[i] = (row - row[column] * rows[done]) % PRIME
        pivots.append(column)
    return [row.tolist() for row in rows[:len(pivots)]], pivots


def _reconstructed(x: int) -> Fraction:
    """Return the fraction of residue x whose numerator and denominator are below sqrt(PRIME / 2); P. S. Wang (1981)."""
    bound, (a, b), (s, t) = isqrt(PRIME // 2), (PRIME, x), (0, 1)
    while b > bound:
        quotient = a // b
        a, b, s, t = b, a - quotient * b, t, s - quotient * t
    if max(b, abs(t)) > LARGEST:
        raise ValueError("exact base parameters need fractions of more than 60 digits: the poses of the model are not "
                         "simple fractions")
    return Fraction(b, t)
