"""Projection after each step of an integrator: closed-loop configurations, admissible velocities, and impulses of
stops, brakes and dry friction.

Loops are closed by Gauss-Newton steps, damped by the square of the residual (Levenberg-Marquardt): the minimum-norm
step x with G x + |h| e = -h, with the gradient G of the residual h and slack e, whose weight |h| vanishes with h."""
from collections.abc import Callable
from functools import cache, partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.space import (
    coordinates_alone,
    groups,
    in_axes,
    integrate,
    put_back,
    straight,
    turned,
    without_turning,
)
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import ending, lane, number, per_joint
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.inputs import gather_coordinates
from screw_dynamics.compiled.native import address_of, array_at, at
from screw_dynamics.compiled.samples import load_rows, store_rows
from screw_dynamics.compiled.tiles import gather
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.model.links import Link, Structure
from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.scalars import absolute, some, sqrt, where
from screw_dynamics.numbers.tables import block, taking
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

from . import articulated, mass_matrix, rows
from .contacts.impulses import of_contacts
from .contacts.motion import OF_STEPS, put_origins, with_motion
from .contacts.search import reset_report
from .contacts.tables import contacts_in
from .dynamics import LEAST
from .ends import compute_poses
from .entries import fill_placements
from .impulses import ACTS, LOWER, STICKS, UPPER, of_joints, of_loops_and_joints
from .kinematics import ConstraintKinematics, fill_transpose, put_residuals
from .min_norm import combine, orthogonalize
from .tables import ConstraintTables, constraints_in, damped, pack, work

LONGEST = 0.5           # largest step of the projection, in rad and m alike: the range in which loops are about linear
TOLERANCE, STEPS = 1e-12, 20        # of the projection after a step of an integrator
# Tasks of `project`. For a tree: impulses of joints, after a step if some joint needs one, and within the step. For a
# robot with constraints: rank at the start, and the quantities projected after each step; with NOTHING ranks are those
# at the start.
NEEDED, PUSHED, BEGIN, NOTHING, VELOCITIES, CONFIGURATIONS = range(6)
BOTH = "configurations and velocities"
PROJECTIONS = {BOTH: CONFIGURATIONS, "velocities": VELOCITIES, None: NOTHING}       # by the argument `projection`


class Tree(NamedTuple):
    """A robot in a workspace. fill(links, memory, q, column) fills the column of coordinates or Placements of `body`;
    space: see StepData."""

    links: Link
    body: Any
    given: ConstraintTables
    memory: np.ndarray
    space: Any


@noinline
def close(fill: Callable, tree: Tree, free: np.ndarray, tolerance: float, steps: int, q: np.ndarray,
          scratch: np.ndarray) -> Scalar:
    """Move q (nq) until the constraints hold, in the velocities with free (n) not 0. Return the norm of the remaining
    residual, which exceeds the tolerance if `steps` are too few."""
    links, body, given, memory, space = tree
    problem, n, h = damped(given, q[0]), len(free), given.h
    for taken in range(steps + 1):
        fill(links, memory, q, body.q)
        compute_poses(links, body)
        put_residuals(links, body, given, h)
        square = null(q[0])
        for j in range(given.m):
            square += h[j] * h[j]
        size = sqrt(square)
        wide = size > tolerance
        if taken == steps or not some(wide):
            break
        fill_transpose(links, body, given, rows.gradient, problem.Y)
        for j in range(given.m):
            for k in range(n):
                problem.Y[k, j] *= free[k]
            problem.Y[n + j, j], problem.b[0, j] = size, -h[j]
        count, _ = orthogonalize(problem, 0, 0, given.m, null(size) + LEAST, null(size) + np.inf)
        combine(problem, count)
        step, length = problem.x[:n], null(size)
        for k in range(n):
            length += step[k] * step[k]
        length = sqrt(length)
        share = where(wide, LONGEST / where(length > LONGEST, length, null(size) + LONGEST), null(size))
        integrate(space, q, share, step, scratch)
        for k in range(len(q)):
            q[k] = scratch[k]
    return size


@kernel
def put_stuck_back(space: Any, acts: np.ndarray, start: np.ndarray, q: np.ndarray, qd: np.ndarray,
                   held: np.ndarray) -> None:
    """Reset resting joints that stick to their positions at the start of the step. held (n,): workspace."""
    for k in range(len(qd)):
        none = null(qd[k])
        held[k] = where(qd[k] == 0.0, acts[STICKS, k], none)
    put_back(space, held, start, q)


@kernel
def any_impulses(acts: np.ndarray) -> bool:
    """Return True if the impulse of any joint may be nonzero."""
    for k in range(acts.shape[1]):
        if some((acts[LOWER, k] < 0.0) | (acts[UPPER, k] > 0.0)):
            return True
    return False


def projecting_joints(by: ModuleType) -> Callable:
    """Return the kernel `project` for trees, with M^-1 by the module `by`."""
    add_impulses_to = of_joints(by)

    @kernel
    def project(fill, tree, what, calls, acts, start, begin, span, q, qd, moved, scratch):
        """Apply the impulses of stops, brakes and dry friction at the end of a step."""
        links, body, given, memory, space = tree
        fill(links, memory, q, body.q)
        gather(links.coordinate, qd, body.qd)
        add_impulses_to(links, body, given, acts, null(qd[0]), qd)
        put_stuck_back(space, acts, start, q, qd, given.free)
    return project


def projecting_loops(by: ModuleType) -> Callable:
    """Return the kernel `project` for robots with constraints."""
    add_impulses_to = of_loops_and_joints(by)

    @noinline
    def impulses_at(fill, tree, acts, most, q, qd):
        links, body, given, memory, space = tree
        fill(links, memory, q, body.q)
        gather(links.coordinate, qd, body.qd)
        return add_impulses_to(links, body, given, acts, most, qd)

    @kernel
    def project(fill, tree, what, calls, acts, start, begin, span, q, qd, moved, scratch):
        """Project the state after a step onto the constraints, apply the impulses of stops, brakes and dry friction,
        and store the rank of the constraints for the next step. Velocities become NaN if loops do not close."""
        links, body, given, memory, space = tree
        failed, free, moved = null(q[0]) > 0.0, given.free, any_impulses(acts)
        if what == BEGIN:                                       # only the rank
            for k in range(len(qd)):
                scratch[k] = qd[k]
            given.most[0] = impulses_at(fill, tree, acts, null(q[0]) + np.inf, q, scratch)
            return
        if moved:                                               # find the held joints
            impulses_at(fill, tree, acts, given.most[0], q, qd)
            put_stuck_back(space, acts, start, q, qd, free)
        if what == CONFIGURATIONS:
            for k in range(len(qd)):
                one, stop = null(qd[k]) + 1.0, absolute(acts[LOWER, k]) + absolute(acts[UPPER, k]) == np.inf
                free[k] = where((qd[k] == 0.0) & (stop | (acts[STICKS, k] > 0.0)), null(one), one)
            left = close(fill, tree, free, TOLERANCE, STEPS, q, scratch)
            if moved and some(left > TOLERANCE):                # release the held joints
                for k in range(len(qd)):
                    free[k] = where(left > TOLERANCE, null(qd[k]) + 1.0, free[k])
                left = close(fill, tree, free, TOLERANCE, STEPS, q, scratch)
            failed = left > TOLERANCE
        if what == CONFIGURATIONS or (what == VELOCITIES and not moved):
            most = null(q[0]) + np.inf if what == CONFIGURATIONS else given.most[0]
            rank = impulses_at(fill, tree, acts, most, q, qd)
            if what == CONFIGURATIONS:
                given.most[0] = rank
        for k in range(len(qd)):
            qd[k] = where(failed, null(qd[k]) + np.nan, qd[k])
    return project


@kernel
def _project_nothing(fill, tree, what, calls, acts, start, begin, span, q, qd, moved, scratch):
    """Project nothing."""


def projecting_contacts(by: ModuleType, loops: bool = False) -> Callable:
    """Return the kernel `project` for robots with contacts, and with constraints if `loops`."""
    add_impulses_to, project_loops = of_contacts(by, loops), projecting_loops(by) if loops else _project_nothing

    @kernel
    def project(fill, tree, what, calls, acts, start, begin, span, q, qd, moved, scratch):
        """Apply the impulses of contacts with those of stops, brakes and dry friction, once in a step: at its start if
        displacements use the velocities at its end (PUSHED). Else at its end, with the contacts at its start: contact
        forces are taken as constant in the step, and displace bodies by half of their velocity change.

        Velocities are transformed to the axes at the start: in the moving body axes the velocity of a rolling ball
        would turn into the ground."""
        links, body, given, memory, space = tree
        contacts, none = contacts_in(memory, q[0]), null(q[0])
        if what == BEGIN:
            ws.header(memory).report = (at(contacts.report) - at(memory)) // 8
            reset_report(contacts)
        elif what == PUSHED or not some(span[1] > 0.0):
            share = 1.0 if what == PUSHED else 0.5
            factors = what == PUSHED and calls[2] != 0
            if not factors:
                fill(links, memory, start, body.q)
                compute_poses(links, body)
            put_origins(links, body)
            free, after = given.free, scratch[:len(qd)]
            for k in range(len(qd)):
                moved[k] = none
            if what == PUSHED:
                without_turning(space, span[0], begin, qd, after)
            else:
                in_axes(space, q, start, qd, after)
            for k in range(len(qd)):
                free[k] = after[k]
            add_impulses_to(links, body, given, contacts, calls, acts, factors, given.most[0], span[0], share, begin,
                            after, moved)
            if what == PUSHED:
                for k in range(len(qd)):
                    free[k] = moved[k] + after[k]
                straight(space, span[0], free, moved)
                turned(space, -span[0], free, after, qd)
            else:
                for k in range(len(qd)):
                    moved[k] = span[0] * (moved[k] + 0.5 * (after[k] - free[k]))
                    free[k] = after[k]
                in_axes(space, start, q, moved, qd)
                integrate(space, q, 1.0, qd, scratch)
                for k in range(len(q)):
                    q[k] = scratch[k]
                in_axes(space, start, q, free, qd)
                put_stuck_back(space, acts, start, q, qd, free)
            for k in range(len(qd)):                            # already applied
                acts[LOWER, k] = where(acts[LOWER, k] > -np.inf, none, acts[LOWER, k])
                acts[UPPER, k] = where(acts[UPPER, k] < np.inf, none, acts[UPPER, k])
        if what != PUSHED:
            project_loops(fill, tree, what, calls, acts, start, begin, span, q, qd, moved, scratch)
    return project


# ------------------------------------------------------------------------------------------------- entry points
@kernel
def scratch_in(like: Scalar, memory: np.ndarray) -> np.ndarray:
    """Return memory (nq) that neither integrators nor recursions use."""
    return ws.configuration_on_lanes(memory, like)


@kernel
def tree_in(Table: type, space: Callable, like: Scalar, memory: np.ndarray) -> Tree:
    """Return the Tree in a workspace."""
    return Tree(ws.links_in(memory), ws.body_on_lanes(Table, memory, like),
                constraints_in(memory, like), memory, space(memory))


PROJECTING = {"joints": projecting_joints, "loops": projecting_loops, "contacts": projecting_contacts,
              "contacts and loops": partial(projecting_contacts, loops=True)}


def spec_of_projection(structure: Structure, of: str, lanes: bool) -> KernelSpec:
    """Return the KernelSpec of `project` for calls from compiled code with addresses of: workspace, the quantities to
    be projected, functions compiled by contacts/calls.py, acts (ACTS, n), configuration and velocities at the start of
    the step, its span (2), q and qd, and the displacement of penetrations (n). of: "joints" for trees, "loops" for
    robots with constraints, "contacts", or "contacts and loops"."""
    by = mass_matrix if structure.shares_coordinates else articulated
    Table = taking(by.InverseFactors, OF_STEPS)
    Table = with_motion(Table) if of.startswith("contacts") else Table
    fixed = of == "joints" and lanes and not structure.on_groups        # the only case without Placements
    Table, fill, space = ((Table, gather_coordinates, coordinates_alone) if fixed else
                          (ws.placed(Table), fill_placements, groups))
    project, like = PROJECTING[of](by), lane if lanes else number
    name = f"{of}.project.{by.__name__.rpartition('.')[2]}{ending(lanes, of == 'joints' and structure.on_groups)}"

    @compiled(name)
    def native(where_, what, calls, acts, start, begin, span, q, qd, moved):
        memory = ws.memory_at(where_)
        head = ws.header(memory)
        n, nq = head.coordinates, head.configuration
        project(fill, tree_in(Table, space, like(), memory), what, array_at(0, calls, (3,)),
               array_at(like(), acts, (ACTS, n)),
               array_at(like(), start, (nq,)), array_at(like(), begin, (n,)), array_at(like(), span, (2,)),
               array_at(like(), q, (nq,)), array_at(like(), qd, (n,)), array_at(like(), moved, (n,)),
               scratch_in(like(), memory))
    return KernelSpec(native, ("intp",) * 10)


for _by in (articulated, mass_matrix):
    ws.reserve(with_motion(taking(_by.InverseFactors, OF_STEPS)), per_joint)


@cache
def projection_address(structure: Structure, of: str, lanes: bool) -> int:
    """Return the address of `project`."""
    return address_of(spec_of_projection(structure, of, lanes))


def acts_at_ends(joints: Any) -> bool:
    """Return True if stops or dry friction in the joint settings act at the ends of steps."""
    return bool(joints.friction.any() or np.isfinite((joints.lower, joints.upper)).any())


def with_room(rows: ws.Tables) -> ws.Tables:
    """Return a tree with memory for the impulses on its joints."""
    return rows._replace(tables=pack([], [], []), work=work(rows.n, 0))


def spec_of_closing(lanes: bool) -> KernelSpec:
    """Return the KernelSpec of `close` for calls from Python. Arguments: workspace; configurations (N, 1, nq), changed
    in place; free (n,); tolerance; steps; norms of the remaining residuals (N, 1, 1)."""
    Table, like = ws.placed(ConstraintKinematics), lane if lanes else number

    @compiled(f"loops.close{ending(lanes, False)}", nogil=True)
    def closing_of(memory, configurations, free, tolerance, steps, left):
        tree, scratch = tree_in(Table, groups, like(), memory), scratch_in(like(), memory)
        rows_ = block(like(), (2, len(scratch)), memory, ws.header(memory).result)
        q, size = rows_[0], rows_[1][:1]
        for first in range(0, len(configurations), lane_count(like())):
            load_rows(configurations, first, 0, q)
            size[0] = close(fill_placements, tree, free, tolerance, steps, q, scratch)
            store_rows(configurations, first, 0, q)
            store_rows(left, first, 0, size)
    numbers = ws.numbers_type(3)
    return KernelSpec(closing_of, (ws.numbers_type(1), numbers, ws.read_type(1), "float64", "int64", numbers))


@cache
def closing(lanes: bool) -> Callable:
    """Return the entry point close(memory, configurations, free, tolerance, steps, left)."""
    return function(spec_of_closing(lanes))
