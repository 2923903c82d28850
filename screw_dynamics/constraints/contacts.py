"""Impulses of contacts, of stops and dry friction, and of closed loops, as one problem a step.

A contact is three rows of J: the velocity of the first solid's point less that of the second's, along two tangents
and the normal. On Y = D^-1/2 L^-1 J^T, as in impulses.py, the directions of loops are taken out of all columns, and
Y^T Y of what is left is the Delassus operator. Moreau's rule: the normal velocity at the end of a step of length h,
times h, may be as low as minus the gap, so that what falls lands within its step.

What is penetrated all the same, or was at the start, is corrected by a second problem, on displacements: velocities do
not know of it, and no energy is added."""
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from screw_dynamics.algorithms.columns import clear
from screw_dynamics.algorithms.space import put_vector, vector_at
from screw_dynamics.compiled.across import at_once, put, taken
from screw_dynamics.compiled.native import at, call
from screw_dynamics.compiled.tiles import gather
from screw_dynamics.contact.detection import list_touches, locate
from screw_dynamics.contact.solids import FAR
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import absolute, some, sqrt, where
from screw_dynamics.numbers.tables import extends
from screw_dynamics.numbers.values import INLINE, Scalar, kernel, null, outlined, zero
from screw_dynamics.screws.se3 import Pose, Wrench
from screw_dynamics.screws.vectors import Vec3, cross

from .cone_tables import COMPLEMENTARITY, CONE, DISSIPATION, Cones
from .cone_tables import cones as cones_in
from .contact_solver import solve_contacts_at, solve_impacts_at
from .contact_tables import FOUND, LAST, MISSED, OF_CONTACT, REPORTED, RESIDUALS, ContactTables, contact_problem
from .dynamics import LEAST, ask, put_rates
from .ends import set_in_motion
from .impulses import ADDED, LOWER, UPPER, joints_that_may_act
from .kinematics import clear_matrix, put_wrench
from .shortest import Problem, combine, measure, orthogonalize
from .tables import ConstraintTables

OF_STEPS = "q", "qd", "tau", "added"         # inputs of recursions in a step
WAVES = 20                  # of impacts in a step, of contacts that close after others: what is left is for the next
TOUCHING = 1e-12            # m: a penetration that is less is rounding


@cache
def with_motion(Table: type) -> type:
    """A table that has, besides its own columns, of each body the pose in the world, and in some motion its angular
    velocity and the velocity of its origin."""
    return extends(Table)(NamedTuple(f"{Table.__name__}InMotion", [("C", Pose), ("turn", Vec3), ("slide", Vec3)]))


@kernel
def put_poses(links: Link, body: Any) -> None:
    """Fill the column C, from R and r."""
    body.C[0] = Pose(body.R[0], zero(Vec3, body.q[0]))
    for i in range(1, len(links.parent)):
        body.C[i] = Pose(body.R[i], body.C[links.parent[i]].p + body.r[i])


@kernel
def put_motion(links: Link, body: Any, qd: np.ndarray) -> None:
    """Fill the columns turn and slide for velocities qd (n)."""
    turn, slide, parent = body.turn, body.slide, links.parent
    turn[0], slide[0] = zero(Vec3, body.q[0]), zero(Vec3, body.q[0])
    for i in range(1, len(parent)):
        rate = qd[links.coordinate[i]]
        turn[i] = turn[parent[i]] + rate * body.J[i].angular
        slide[i] = slide[parent[i]] + cross(turn[parent[i]], body.r[i]) + rate * body.J[i].linear


@kernel
def tangent(n: Vec3) -> Vec3:
    """A unit vector perpendicular to the unit vector n, the same for the same n: from the axis n is farthest from."""
    x, y, z = absolute(n.x), absolute(n.y), absolute(n.z)
    along_x, along_y = (x <= y) & (x <= z), (y < x) & (y <= z)
    none, one = null(n.x), null(n.x) + 1.0
    e = Vec3(where(along_x, one, none), where(along_y, one, none), where(along_x | along_y, none, one))
    t = e - (e @ n) * n
    return (1.0 / sqrt(t @ t)) * t


@kernel
def relative(body: Any, given: ContactTables, k: int) -> Vec3:
    """The velocity of contact k along t, s and the normal, in the motion of the columns turn and slide, with belts."""
    geometry, pair = given.geometry, given.contact.pair[k]
    first, second = geometry.pair.first[pair], geometry.pair.second[pair]
    i, j = geometry.solid.body[first], geometry.solid.body[second]
    belts = (geometry.place.C[first].R @ geometry.solid.belt[first]
             - geometry.place.C[second].R @ geometry.solid.belt[second])
    v = (body.slide[i] + cross(body.turn[i], given.kept.a[k])
         - body.slide[j] - cross(body.turn[j], given.kept.b[k]) + belts)
    return Vec3(v @ given.kept.t[k], v @ given.kept.s[k], v @ given.contact.n[k])


@kernel
def forget(given: ContactTables) -> None:
    """Begin without impulses of a step before, and with an empty report."""
    given.counts[LAST] = given.counts[REPORTED] = 0.0
    for k in range(len(given.report)):
        given.report[k] = null(given.report[0])
    for k in range(given.settings.most[0]):
        given.report[RESIDUALS + 1 + OF_CONTACT * k] = null(given.report[0]) - 1.0


def find_touches(given: ContactTables, calls: np.ndarray) -> None:
    """Fill the contacts with gaps of less than the margin in some place, and count them."""
    given.counts[FOUND], given.counts[MISSED] = list_touches(given.geometry, given.settings.margin[0], given.contact,
                                                       given.settings.most[0])


@kernel
def solve(given: ContactTables, cones: Cones, calls: np.ndarray, impacts: bool) -> None:
    """Solve for the impulses, or for those of impacts."""
    if impacts:
        solve_impacts_at(calls[1], cones, given.settings.slow[0])
    else:
        solve_contacts_at(calls[1], cones)


@overload(find_touches, jit_options=INLINE)
def _find_touches(given, calls):
    return lambda given, calls: call(calls[0], (at(given.memory),))


@kernel
def find(body: Any, given: ContactTables, calls: np.ndarray) -> int:
    """Fill the contacts, and their frames. Returns their number."""
    contact, kept, geometry = given.contact, given.kept, given.geometry
    locate(geometry, body.C)
    find_touches(given, calls)
    count, missed = int(given.counts[FOUND]), given.counts[MISSED]
    most = given.report[RESIDUALS]                              # of all steps: samples may be far apart
    given.report[RESIDUALS] = where(most > missed, most, null(most) + missed)
    for k in range(count):
        pair = contact.pair[k]
        i, j = geometry.solid.body[geometry.pair.first[pair]], geometry.solid.body[geometry.pair.second[pair]]
        kept.t[k] = tangent(contact.n[k])
        kept.s[k] = cross(contact.n[k], kept.t[k])
        kept.a[k], kept.b[k] = contact.p[k] - body.C[i].p, contact.p[k] - body.C[j].p
        kept.x[k] = kept.y[k] = zero(Vec3, body.q[0])
        kept.before[k] = null(body.q[0])
    return count


@kernel
def recall(given: ContactTables, count: int) -> None:
    """Begin with the impulses that the same contacts had in the step before; both are in the order of their keys."""
    j, last = 0, int(given.counts[LAST])
    for k in range(count):
        while j < last and given.before.key[j] < given.contact.key[k]:
            j += 1
        if j < last and given.before.key[j] == given.contact.key[k]:
            given.kept.x[k], given.kept.y[k] = given.before.x[j], given.before.y[j]


@kernel
def remember(given: ContactTables, count: int) -> None:
    """Keep the impulses for the next step."""
    for k in range(count):
        given.before.key[k] = given.contact.key[k]
        given.before.x[k], given.before.y[k] = given.kept.x[k], given.kept.y[k]
    given.counts[LAST] = float(count)


@kernel
def keep_near(body: Any, given: ContactTables, h: Scalar, count: int) -> int:
    """Leave out contacts that do not close to within half the margin in a step of length h, in no place; those that do
    so in other places are FAR. Returns how many are kept."""
    slack = 0.5 * given.settings.margin[0]
    contact, kept, near = given.contact, given.kept, 0
    for k in range(count):
        c = relative(body, given, k)
        counts = contact.gap[k] + h * where(c.z < 0.0, c.z, null(c.z)) < slack
        if some(counts):
            contact.gap[near] = where(counts, contact.gap[k], null(c.z) + FAR)
            contact.p[near], contact.n[near] = contact.p[k], contact.n[k]
            contact.pair[near], contact.key[near] = contact.pair[k], contact.key[k]
            kept.t[near], kept.s[near], kept.a[near], kept.b[near] = kept.t[k], kept.s[k], kept.a[k], kept.b[k]
            kept.before[near] = kept.before[k]
            near += 1
    return near


@kernel
def put_forces(given: ContactTables, count: int) -> None:
    """F becomes unit forces along t, s and the normal of each contact, then unit torques of torsional friction about
    normals, and of rolling friction about t and s."""
    F, none = given.F, zero(Vec3, given.F[0, 0])
    for k in range(count):
        put_wrench(F, 3 * k, Wrench(none, given.kept.t[k]))
        put_wrench(F, 3 * k + 1, Wrench(none, given.kept.s[k]))
        put_wrench(F, 3 * k + 2, Wrench(none, given.contact.n[k]))
    row = 3 * count
    for k in range(count):
        if given.geometry.pair.torsion[given.contact.pair[k]] > 0.0:
            put_wrench(F, row, Wrench(given.contact.n[k], none))
            row += 1
    for k in range(count):
        if given.geometry.pair.rolling[given.contact.pair[k]] > 0.0:
            put_wrench(F, row, Wrench(given.kept.t[k], none))
            put_wrench(F, row + 1, Wrench(given.kept.s[k], none))
            row += 2


@kernel
def turning(given: ContactTables, count: int) -> tuple[int, int]:
    """How many of the contacts have torsional, and how many rolling friction."""
    spins = rolls = 0
    if given.settings.turning[0] != 0:
        for k in range(count):
            spins += given.geometry.pair.torsion[given.contact.pair[k]] > 0.0
            rolls += given.geometry.pair.rolling[given.contact.pair[k]] > 0.0
    return spins, rolls


@kernel
def relative_turn(body: Any, given: ContactTables, k: int) -> Vec3:
    """The angular velocity of contact k about the normal, t and s."""
    geometry, pair = given.geometry, given.contact.pair[k]
    w = (body.turn[geometry.solid.body[geometry.pair.first[pair]]]
         - body.turn[geometry.solid.body[geometry.pair.second[pair]]])
    return Vec3(w @ given.contact.n[k], w @ given.kept.t[k], w @ given.kept.s[k])


@kernel
def ask_contacts(body: Any, given: ContactTables, problem: Problem, first: int, h: Scalar, cones: Cones) -> None:
    """Ask the columns of contacts for products that take their velocities away, but for what gaps allow."""
    count = len(cones.mu)
    for k in range(count):
        c = relative(body, given, k)
        problem.b[0, first + 3 * k], problem.b[0, first + 3 * k + 1] = -c.x, -c.y
        problem.b[0, first + 3 * k + 2] = -(c.z + opening(given, k) / h)
    row = first + 3 * count
    for k in range(len(cones.spin_of)):
        problem.b[0, row] = -relative_turn(body, given, int(cones.spin_of[k])).x
        row += 1
    for k in range(len(cones.roll_of)):
        w = relative_turn(body, given, int(cones.roll_of[k]))
        problem.b[0, row], problem.b[0, row + 1] = -w.y, -w.z
        row += 2


@kernel
def clear_others(given: ContactTables, problem: Problem, first: int, cones: Cones) -> None:
    """Clear the columns from `first` on of contacts that have no part in it in some places: their rows are 0 there, and
    the solution of a state is the same to the last bit whatever the other places hold."""
    for k in range(len(cones.mu)):
        counts = given.contact.gap[k] < given.settings.margin[0]
        if some(given.contact.gap[k] >= given.settings.margin[0]):
            clear_columns(problem, first + 3 * k, 3, counts)
    row = first + 3 * len(cones.mu)
    for k in range(len(cones.spin_of)):
        clear_columns(problem, row, 1, given.contact.gap[int(cones.spin_of[k])] < given.settings.margin[0])
        row += 1
    for k in range(len(cones.roll_of)):
        clear_columns(problem, row, 2, given.contact.gap[int(cones.roll_of[k])] < given.settings.margin[0])
        row += 2


@outlined
def clear_columns(problem: Problem, first: int, count: int, kept: Any) -> None:
    """Set columns to 0, and what is asked of them, but where they are kept."""
    Y, b, none = problem.Y, problem.b, null(problem.b[0, 0])
    for j in range(first, first + count):
        b[0, j] = where(kept, b[0, j], none)
        for i in range(len(Y)):
            Y[i, j] = where(kept, Y[i, j], none)


@outlined
def put_operator(problem: Problem, first: int, cones: Cones) -> None:
    """Fill G = Y^T Y of the columns from `first` on, and c, what the products lack."""
    Y, N = problem.Y, len(cones.c)
    columns = Y[:, first:]
    for i in range(N):
        cones.c[i] = -problem.b[0, first + i]
        for j in range(i - i % at_once(columns), N, at_once(columns)):
            g = null(taken(columns, 0, j))
            for k in range(len(Y)):
                g += columns[k, i] * taken(columns, k, j)
            put(cones.G, i, j, g)
    for i in range(N):
        for j in range(i):
            cones.G[i, j] = cones.G[j, i]


@kernel
def put_cones(links: Link, of: np.ndarray, acts: np.ndarray, given: ContactTables, squares: np.ndarray, cones: Cones
              ) -> None:
    """Fill inverse inertias that count, bounds, and the impulses to begin with."""
    u = len(of)
    for i in range(len(cones.size)):
        cones.size[i] = squares[i]
    for j in range(u):
        k = links.coordinate[of[j]]
        cones.lower[j], cones.upper[j] = acts[LOWER, k], acts[UPPER, k]
    put_impulses(given, cones)


@kernel
def put_impulses(given: ContactTables, cones: Cones) -> None:
    """Begin with impulses of contacts that are kept, and none of joints."""
    row = len(cones.lower)
    for j in range(row):
        cones.x[j] = null(cones.x[j])
    for k in range(len(cones.mu)):
        put_vector(cones.x, row, given.kept.x[k])
        row += 3
    for k in range(len(cones.spin_of)):
        cones.x[row] = given.kept.y[int(cones.spin_of[k])].x
        row += 1
    for k in range(len(cones.roll_of)):
        y = given.kept.y[int(cones.roll_of[k])]
        cones.x[row], cones.x[row + 1] = y.y, y.z
        row += 2


@kernel
def opening(given: ContactTables, k: int) -> Scalar:
    """The gap of contact k, 0 where it is closed."""
    gap = given.contact.gap[k]
    return where((gap > 0.0) & (gap < FAR), gap, null(gap))


@kernel
def before_impacts(given: ContactTables, problem: Problem, first: int, h: Scalar, share: float, cones: Cones) -> None:
    """Let normal velocities in c be those with which contacts close in the step, or else those at its begin, and keep
    when that is. No impulses of impacts: problem.b from `first` on. share: as of add_impulses_to; for 1 bodies move
    through the step as at its end, else with constant acceleration."""
    for i in range(len(cones.c)):
        problem.b[0, first + i] = null(h)
    for k in range(len(cones.mu)):
        n, gap, before = len(cones.lower) + 3 * k + 2, opening(given, k), given.kept.before[k]
        none = null(gap)
        end = cones.c[n] - gap / h
        v, a = before, (end - before) / h
        if share == 1.0:
            v, a = end, none
        square = v * v - 2.0 * a * gap
        speed = sqrt(where(square > 0.0, square, none)) - v         # gap + v t + a t^2 / 2 = 0 at t = 2 gap / speed
        reaches = (square >= 0.0) & (speed > 0.0)
        closes = where(gap > 0.0, where(reaches, 2.0 * gap / where(reaches, h * speed, none + 1.0), none + 2.0), none)
        velocity = where(closes <= 1.0, before + closes * (end - before), before)
        given.kept.closes[k], given.kept.differs[k] = closes, cones.c[n] - velocity
        cones.c[n] = velocity


@kernel
def approach(given: ContactTables, h: Scalar, reach: Scalar, cones: Cones) -> tuple[Scalar, Scalar]:
    """Let contacts be active that close in the step: as they move, or after the last impact, at the time `reach`.
    Returns 1 where some rebound, and the time of the last of these."""
    any_of, last = null(h), reach
    for k in range(len(cones.mu)):
        gap, v, time = opening(given, k), cones.c[len(cones.lower) + 3 * k + 2], given.kept.closes[k]
        one = null(gap) + 1.0
        near = given.contact.gap[k] < given.settings.margin[0]
        closing = near & ((time <= 1.0) | (gap + (1.0 - reach) * h * v < 0.0))
        cones.active[k] = where(closing, one, null(one))
        rebounds = closing & (v < -given.settings.slow[0]) & (cones.restitution[k] > 0.0)
        after = reach + gap / where(rebounds, -h * v, one)
        time = where(rebounds & (time > 1.0), where(after < 1.0, after, one), time)
        given.kept.closes[k] = time
        last = where(rebounds & (time > last), time, last)
        any_of = where(rebounds, one, any_of)
    for k in range(len(cones.mu)):                              # what others push is not struck before them
        time, v = given.kept.closes[k], cones.c[len(cones.lower) + 3 * k + 2]
        given.kept.closes[k] = where((time < last) & (v >= -given.settings.slow[0]), last, time)
    return any_of, last


@kernel
def strike(given: ContactTables, problem: Problem, first: int, calls: np.ndarray, h: Scalar, share: float,
           cones: Cones) -> bool:
    """Impacts with restitution: their impulses become problem.b from `first` on, and c and bounds what they leave to be
    solved. Returns whether there are any.

    A contact takes part that closes within the step, with the velocity which it has then; one that is closed, with that
    at the begin, for what gravity does in a step is no approach."""
    before_impacts(given, problem, first, h, share, cones)
    reach, struck, impulses = null(h), False, problem.b[0, first:]
    for _ in range(WAVES):
        any_of, reach = approach(given, h, reach, cones)
        if not some(any_of > 0.0):
            break
        struck = True
        solve(given, cones, calls, True)
        for i in range(len(cones.c)):
            impulses[i] += where(any_of > 0.0, cones.x[i], null(h))
            cones.c[i] = where(any_of > 0.0, cones.v[i], cones.c[i])
    for k in range(len(cones.mu)):
        cones.c[len(cones.lower) + 3 * k + 2] += given.kept.differs[k]
        near = given.contact.gap[k] < given.settings.margin[0]
        cones.active[k] = where(near, null(h) + 1.0, null(h))
    for j in range(len(cones.lower)):
        cones.lower[j], cones.upper[j] = cones.lower[j] - impulses[j], cones.upper[j] - impulses[j]
    put_impulses(given, cones)
    return struck


@kernel
def after_impacts(given: ContactTables, impulses: np.ndarray, share: float, cones: Cones) -> None:
    """Add the impulses of impacts to those of the contacts, and put into cones.first what the displacement in the step
    has of them beyond `share`: an impulse counts from when it acts."""
    u = len(cones.lower)
    for i in range(len(cones.first)):
        cones.first[i] = null(impulses[i])
    for k in range(len(cones.mu)):
        i = u + 3 * k
        x, time = vector_at(impulses, i), given.kept.closes[k]
        given.kept.x[k] = given.kept.x[k] + x
        put_vector(cones.first, i, where(time < 1.0, 1.0 - share - time, null(time) - share) * x)


@kernel
def put_friction(given: ContactTables, cones: Cones) -> None:
    """Fill where contacts act, coefficients of friction, and which contacts have torsional and rolling friction."""
    pair, none, spins, rolls = given.geometry.pair, null(given.report[0]), 0, 0
    for k in range(len(cones.mu)):
        which = given.contact.pair[k]
        cones.mu[k], cones.restitution[k] = none + pair.mu[which], none + pair.restitution[which]
        cones.active[k] = where(given.contact.gap[k] < given.settings.margin[0], none + 1.0, none)
        if len(cones.spin_of) > 0 and pair.torsion[which] > 0.0:
            cones.spin_of[spins], cones.spin_mu[spins] = float(k), none + pair.torsion[which]
            spins += 1
        if len(cones.roll_of) > 0 and pair.rolling[which] > 0.0:
            cones.roll_of[rolls], cones.roll_mu[rolls] = float(k), none + pair.rolling[which]
            rolls += 1


@kernel
def take_impulses(given: ContactTables, cones: Cones) -> None:
    """Keep the impulses of the contacts."""
    x, kept, row = cones.x, given.kept, len(cones.lower)
    for k in range(len(cones.mu)):
        kept.x[k], kept.y[k] = vector_at(x, row), zero(Vec3, x[row])
        row += 3
    for k in range(len(cones.spin_of)):
        of = int(cones.spin_of[k])
        kept.y[of] = Vec3(x[row], kept.y[of].y, kept.y[of].z)
        row += 1
    for k in range(len(cones.roll_of)):
        of = int(cones.roll_of[k])
        kept.y[of] = Vec3(kept.y[of].x, x[row], x[row + 1])
        row += 2


@kernel
def combine_all(problem: Problem, first: int, x: np.ndarray) -> None:
    """Add Y x, of the columns from `first` on, to problem.x."""
    Y = problem.Y
    for i in range(len(Y)):
        for j in range(len(x)):
            problem.x[i] += Y[i, first + j] * x[j]


@kernel
def penetrates(given: ContactTables, cones: Cones, u: int, h: Scalar, share: float, struck: bool, count: int
               ) -> bool:
    """Set c to the gaps at the end of a step, of displacements `share` h times the mean of the velocities before and
    after it, over h, with those of cones.first if `struck`, and to 0 for tangents and joints. Returns whether some gap
    is below 0 there."""
    below = null(h)
    for j in range(len(cones.c)):
        cones.c[j] = null(h)
    for k in range(count):
        gap, i = given.contact.gap[k], u + 3 * k
        v = cones.v[i + 2] - opening(given, k) / h
        end = gap + h * (share * v + (1.0 - share) * given.kept.before[k])
        if struck:
            for j in range(len(cones.first)):
                end += h * (cones.G[i + 2, j] * cones.first[j])
        counts = gap < given.settings.margin[0]
        cones.c[i + 2] = where(counts, end / h, null(h))
        below = where(counts & (end < -TOUCHING), null(h) + 1.0, below)
    for k in range(count):                                  # rounding is not corrected, whatever other places do
        i = u + 3 * k + 2
        cones.c[i] = where((below > 0.0) | (cones.c[i] > 0.0), cones.c[i], null(h))
    return some(below > 0.0)


@kernel
def hold_joints(links: Link, of: np.ndarray, acts: np.ndarray, cones: Cones) -> None:
    """Let stops hold, but no friction, and begin without impulses."""
    for j in range(len(of)):
        k, none = links.coordinate[of[j]], null(cones.c[0])
        cones.lower[j] = where(acts[LOWER, k] > -np.inf, none, acts[LOWER, k])
        cones.upper[j] = where(acts[UPPER, k] < np.inf, none, acts[UPPER, k])
    for i in range(len(cones.x)):
        cones.x[i] = null(cones.x[i])


@kernel
def put_touch(given: ContactTables, k: int, force: Vec3) -> None:
    """Write contact k and its force to the report."""
    report, contact, p, n, i = given.report, given.contact, given.contact.p[k], given.contact.n[k], OF_CONTACT * k
    i += RESIDUALS + 1
    none = null(report[0])
    report[i] = where(contact.gap[k] < given.settings.margin[0], none + float(contact.key[k]), none - 1.0)
    report[i + 1] = contact.gap[k]
    report[i + 2], report[i + 3], report[i + 4] = p.x, p.y, p.z
    report[i + 5], report[i + 6], report[i + 7] = n.x, n.y, n.z
    report[i + 8], report[i + 9], report[i + 10] = force.x, force.y, force.z


@kernel
def put_report(given: ContactTables, h: Scalar, cones: Cones, count: int) -> None:
    """Write residuals, and the contacts with their forces, in axes of the world."""
    report, kept = given.report, given.kept
    report[0], report[1], report[2] = cones.found[COMPLEMENTARITY], cones.found[CONE], cones.found[DISSIPATION]
    for k in range(count):
        x = kept.x[k]
        put_touch(given, k, (1.0 / h) * (x.x * kept.t[k] + x.y * kept.s[k] + x.z * given.contact.n[k]))
    for k in range(count, int(given.counts[REPORTED])):
        report[RESIDUALS + 1 + OF_CONTACT * k] = null(h) - 1.0
    given.counts[REPORTED] = float(count)


def taking_loops_out(by: ModuleType) -> Callable:
    """A kernel that fills the rows of constraints, and takes their directions out of all columns. Returns the number of
    directions."""
    add_constraints = by.add_constraints

    @outlined
    def take_loops_out(links, body, given, problem, largest, most):
        set_in_motion(links, body)
        put_rates(links, body, given, given.h)
        ask(given, problem)
        return orthogonalize(problem, 0, 0, given.m, LEAST * largest, most)[0]
    return add_constraints, take_loops_out


@kernel
def add_nothing(links: Link, body: tuple, given: ConstraintTables, Y: np.ndarray) -> None:
    """Add no rows, of a robot that keeps no constraints."""


@kernel
def take_nothing_out(links: Link, body: tuple, given: ConstraintTables, problem: Problem, largest: Scalar, most: Scalar
                     ) -> int:
    """Take no directions out."""
    return 0


def of_contacts(by: ModuleType, loops: bool) -> Callable:
    """The kernel `add_impulses_to` for robots that touch, and keep constraints if `loops`."""
    factorize, add_half, add_opposite, finish, add_joints = (by.factorize, by.add_half, by.add_opposite, by.finish,
                                                             by.add_joints)
    add_constraints, take_loops_out = taking_loops_out(by) if loops else (add_nothing, take_nothing_out)

    @kernel
    def add_rows(links: Link, body: tuple, touching: ContactTables, k: int, row: int, count: int, Y: np.ndarray,
                 first: int) -> None:
        """Add rows of contact k, those of F from a row on, to Y, whose rows of contacts begin at `first`."""
        geometry, pair, column = touching.geometry, touching.contact.pair[k], first + row
        i, j = geometry.solid.body[geometry.pair.first[pair]], geometry.solid.body[geometry.pair.second[pair]]
        add_opposite(links, body, i, j, touching.kept.a[k], touching.kept.b[k], touching.F[:, row:row + count],
                     Y[:, column:column + count])

    @kernel
    def fill_columns(links: Link, body: tuple, given: ConstraintTables, touching: ContactTables, of: np.ndarray,
                     cones: Cones, Y: np.ndarray) -> None:
        """Y becomes D^-1/2 L^-1 J^T for the rows of constraints, joints and contacts."""
        count, first = len(cones.mu), given.m + len(of)
        clear_matrix(Y)
        add_constraints(links, body, given, Y)
        add_joints(links, body, of, Y, given.m)
        put_forces(touching, count)
        spins, row = len(cones.spin_of), 0
        for b in range(count + spins + len(cones.roll_of)):
            k, rows = b, 3
            if b >= count + spins:
                k, rows = int(cones.roll_of[b - count - spins]), 2
            elif b >= count:
                k, rows = int(cones.spin_of[b - count]), 1
            add_rows(links, body, touching, k, row, rows, Y, first)
            row += rows
        finish(body, Y)

    @kernel
    def add_impulses_to(links: Link, body: tuple, given: ConstraintTables, touching: ContactTables, calls: np.ndarray,
                        acts: np.ndarray, factors: bool, most: Scalar, h: Scalar, share: float, begin: np.ndarray,
                        qd: np.ndarray, moved: np.ndarray) -> None:
        """Change qd (n), from velocities `begin` at the start of a step of length h, by impulses, for bodies in their
        places, with M^-1 if `factors`; and `moved` (n) by the velocities that correct penetrations in it. share: of the
        displacement in the step that the velocities at its end have; those at its start have the rest."""
        count = find(body, touching, calls)
        of, m = joints_that_may_act(links, acts, np.empty(len(qd), dtype=np.int64)), given.m
        u, struck = len(of), False
        if count > 0:
            if share < 1.0 or touching.settings.rebounds[0] != 0:
                put_motion(links, body, begin)
                for k in range(count):
                    touching.kept.before[k] = relative(body, touching, k).z
            put_motion(links, body, qd)
            count = keep_near(body, touching, h, count)
        recall(touching, count)
        spins, rolls = turning(touching, count)
        cones = cones_in(qd[0], u, count, touching.memory, touching.cones, spins, rolls)
        problem = contact_problem(touching, qd[0], len(qd), m, len(cones.x))
        if u + count + m > 0:
            put_friction(touching, cones)
            largest = null(h)
            if not factors:
                gather(links.coordinate, qd, body.qd)
                clear(body.tau)
                gather(links.coordinate, acts[ADDED], body.added)
                largest = factorize(links, body, given)
            fill_columns(links, body, given, touching, of, cones, problem.Y)
            for j in range(u):
                problem.b[0, m + j] = -qd[links.coordinate[of[j]]]
            ask_contacts(body, touching, problem, m + u, h, cones)
            clear_others(touching, problem, m + u, cones)
            measure(problem)
            put_cones(links, of, acts, touching, problem.squares[0, m:], cones)
            combine(problem, take_loops_out(links, body, given, problem, largest, most))
            put_operator(problem, m, cones)
            if count > 0 and touching.settings.rebounds[0] != 0:
                struck = strike(touching, problem, m, calls, h, share, cones)
            solve(touching, cones, calls, False)
            take_impulses(touching, cones)
            combine_all(problem, m, cones.x)
            if struck:
                combine_all(problem, m, problem.b[0, m:])
            add_half(links, body, given, problem.x, qd)
        else:
            for k in (COMPLEMENTARITY, CONE, DISSIPATION):
                cones.found[k] = null(h)
        remember(touching, count)
        if struck:
            after_impacts(touching, problem.b[0, m:], share, cones)
        put_report(touching, h, cones, count)
        corrects = count > 0 and penetrates(touching, cones, u, h, share, struck, count)
        if corrects:
            hold_joints(links, of, acts, cones)
            solve(touching, cones, calls, False)
        if corrects or struck:
            for i in range(len(problem.x)):
                problem.x[i] = null(h)
            if corrects:
                combine_all(problem, m, cones.x)
            if struck:
                combine_all(problem, m, cones.first)
            add_half(links, body, given, problem.x, moved)
    return add_impulses_to
