"""Impulses of contacts, of stops, dry friction and servos, and of closed loops, as one problem for each island.

A contact is three rows of J: the velocity of the first collider's point less that of the second's, along two tangents
and the normal. As in ../impulses.py, the directions of loops are projected out of all columns of Y = D^-1/2 L^-1 J^T;
Y^T Y of the result is the Delassus operator. Moreau's rule: the normal velocity at the end of a step of length h, times
h, is at least minus the gap: a falling body lands within its step.

Remaining penetration, also at the start, is corrected by a second problem on displacements, which does not change
velocities and adds no energy."""
from collections.abc import Callable
from types import ModuleType

import numpy as np

from screw_dynamics.algorithms.columns import clear
from screw_dynamics.compiled import tiles
from screw_dynamics.compiled.tiles import gather
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

from ..cones.tables import LOST, Cones
from ..cones.tables import cones as cones_in
from ..dynamics import LEAST, put_constraint_targets, put_rates
from ..ends import set_in_motion
from ..impulses import ADDED, LOWER, UPPER, joints_that_may_act
from ..min_norm import Problem, combine, orthogonalize
from ..tables import ConstraintTables
from .columns import (
    clear_others,
    clear_spans,
    combine_all,
    put_contact_targets,
    put_forces,
    put_operator,
    put_sizes,
    put_spans,
    turning,
)
from .islands import CONTACTS, COORDINATES, JOINTS, PASSIVE, choose_part, ends_of, find_islands, find_parts, hold_others
from .motion import put_motion, relative
from .problem import TOUCHING, hold_joints, penetrates, put_bounds, put_friction, solve, store_impulses
from .reports import begin_report, note_unsolved, put_report
from .restitution import after_impacts, strike
from .search import find, keep_near
from .servos import (
    bound_servos,
    put_servo_targets,
    record_servo_impulses,
    servos_that_act,
    soften_servos,
    weaken_servos,
)
from .tables import ContactTables, contact_problem, contacts_from


def loop_projection(by: ModuleType) -> Callable:
    """Return two kernels for constraints: one fills their columns of Y; the other projects their directions out of all
    columns, and returns the number of directions."""
    add_constraints = by.add_constraints

    @noinline
    def project_loops_out(links, body, given, problem, largest, most):
        set_in_motion(links, body)
        put_rates(links, body, given, given.h)
        put_constraint_targets(given, problem)
        return orthogonalize(problem, 0, 0, given.m, LEAST * largest, most)[0]
    return add_constraints, project_loops_out


@kernel
def add_nothing(links: Link, body: tuple, given: ConstraintTables, Y: np.ndarray) -> None:
    """Add no rows, for a robot without constraints."""


@kernel
def project_nothing_out(links: Link, body: tuple, given: ConstraintTables, problem: Problem, largest: Scalar,
                        most: Scalar) -> int:
    """Project out nothing."""
    return 0


def of_contacts(by: ModuleType, loops: bool) -> Callable:
    """Return the kernel `add_impulses_to` for robots with contacts, and with constraints if `loops`."""
    factorize, add_half, add_opposite, finish, add_joints = (by.factorize, by.add_half, by.add_opposite, by.finish,
                                                             by.add_joints)
    add_constraints, project_loops_out = loop_projection(by) if loops else (add_nothing, project_nothing_out)
    along_paths = by.ALONG_PATHS

    @kernel
    def add_rows(links: Link, body: tuple, contacts: ContactTables, k: int, row: int, count: int, Y: np.ndarray,
                 first: int) -> None:
        """Add the rows of contact k, those of F from `row` on, to Y, whose contact rows begin at `first`."""
        geometry, pair, column = contacts.geometry, contacts.contact.pair[k], first + row
        i, j = geometry.collider.body[geometry.pair.first[pair]], geometry.collider.body[geometry.pair.second[pair]]
        add_opposite(links, body, i, j, contacts.kept.a[k], contacts.kept.b[k], contacts.F[:, row:row + count],
                     Y[:, column:column + count])

    @kernel
    def fill_columns(links: Link, body: tuple, given: ConstraintTables, contacts: ContactTables, of: np.ndarray,
                     coordinates: np.ndarray, whole: bool, cones: Cones, Y: np.ndarray) -> None:
        """Set Y to D^-1/2 L^-1 J^T for the rows of constraints, joints and contacts."""
        count, first = len(cones.mu), given.m + len(of)
        put_spans(links, body, contacts, of, coordinates, cones, whole)
        if whole:
            tiles.clear(Y)
        else:
            clear_spans(contacts, coordinates, len(of), cones, Y, given.m)
        add_constraints(links, body, given, Y)
        add_joints(links, body, of, Y, given.m)
        put_forces(contacts, count)
        spins, row = len(cones.spin_of), 0
        for b in range(count + spins + len(cones.roll_of)):
            k, rows = b, 3
            if b >= count + spins:
                k, rows = int(cones.roll_of[b - count - spins]), 2
            elif b >= count:
                k, rows = int(cones.spin_of[b - count]), 1
            add_rows(links, body, contacts, k, row, rows, Y, first)
            row += rows
        finish(body, Y)

    @kernel
    def add_impulses_of(links: Link, body: tuple, given: ConstraintTables, contacts: ContactTables, calls: np.ndarray,
                        acts: np.ndarray, of: np.ndarray, passive: int, coordinates: np.ndarray, numbers: np.ndarray,
                        which: int, parts: int, whole: bool, largest: Scalar, most: Scalar, h: Scalar, share: float,
                        qd: np.ndarray) -> bool:
        """Solve for the impulses of an island, in part `which` of `parts`: of joints `of`, of which those after the
        first `passive` are of servos, and of contacts with these numbers in the report. Add Y times impulses to z.
        Return True if they also displace bodies."""
        m, u, count, struck = given.m, len(of), len(numbers), False
        held, servos, velocity, displacement = of[:passive], of[passive:], contacts.z[0], contacts.z[1]
        spins, rolls = turning(contacts, count)
        cones = cones_in(h, u, count, contacts.cones, 0, spins, rolls)
        for k in range(len(cones.found)):
            cones.found[k] = null(h)
        problem = contact_problem(contacts, h, len(qd), m, len(cones.x))
        put_friction(contacts, cones)
        fill_columns(links, body, given, contacts, of, coordinates, whole, cones, problem.Y)
        for j in range(passive):
            problem.b[0, m + j] = -qd[links.coordinate[held[j]]]
        put_servo_targets(links, acts, servos, qd, problem, m + passive)
        put_contact_targets(body, contacts, problem, m + u, h, cones)
        clear_others(contacts, problem, m + u, cones)
        put_bounds(links, held, acts, cones)
        if m > 0:
            put_sizes(problem, m, cones)
            combine(problem, project_loops_out(links, body, given, problem, largest, most))
            for k in range(len(qd)):
                velocity[k] += problem.x[k]
        put_operator(contacts, problem, m, cones)
        soften_servos(cones, passive, u)
        if count > 0 and contacts.settings.rebounds[0] != 0:
            bound_servos(links, acts, servos, passive, False, cones)
            hold_others(contacts, which, parts, cones)
            struck = strike(contacts, problem, m, calls, h, share, cones)
            if struck:
                record_servo_impulses(links, acts, of, passive, problem.b[0, m:])
        bound_servos(links, acts, servos, passive, True, cones)
        hold_others(contacts, which, parts, cones)
        solve(contacts, cones, calls, False)
        if weaken_servos(links, acts, servos, passive, cones):
            hold_others(contacts, which, parts, cones)
            solve(contacts, cones, calls, False)
        record_servo_impulses(links, acts, of, passive, cones.x)
        store_impulses(contacts, cones)
        combine_all(contacts, coordinates, problem, m, u, cones.x, velocity)
        if struck:
            combine_all(contacts, coordinates, problem, m, u, problem.b[0, m:], velocity)
            after_impacts(contacts, problem.b[0, m:], share, cones)
        put_report(contacts, h, cones, numbers)
        corrects = count > 0 and penetrates(contacts, cones, u, h, share, struck, count)
        if corrects:
            hold_joints(links, held, acts, cones)
            hold_others(contacts, which, parts, cones)
            solve(contacts, cones, calls, False)
            lost = cones.found[LOST]
            note_unsolved(contacts, where(h * lost > TOUCHING, lost, null(h)))
            combine_all(contacts, coordinates, problem, m, u, cones.x, displacement)
        if struck:
            combine_all(contacts, coordinates, problem, m, u, cones.first, displacement)
        return corrects or struck

    @kernel
    def add_impulses_to(links: Link, body: tuple, given: ConstraintTables, contacts: ContactTables, calls: np.ndarray,
                        acts: np.ndarray, factors: bool, most: Scalar, h: Scalar, share: float, begin: np.ndarray,
                        qd: np.ndarray, moved: np.ndarray) -> None:
        """Change qd (n) by impulses, from velocities `begin` at the start of a step of length h, for located bodies,
        with stored M^-1 if `factors`. Change `moved` (n) by the velocities that correct penetrations in it. share:
        weight of the velocities at the end in the displacement of the step; those at the start have the rest."""
        count = find(body, contacts, calls)
        of, m = contacts.bodies, given.m
        u = passive = len(joints_that_may_act(links, acts[LOWER], acts[UPPER], of))
        if count + passive > 0:
            u += len(servos_that_act(links, acts, contacts, of[passive:]))
        if count > 0:
            if share < 1.0 or contacts.settings.rebounds[0] != 0:
                put_motion(links, body, begin)
                for k in range(count):
                    contacts.kept.before[k] = relative(body, contacts, k).z
            put_motion(links, body, qd)
            count = keep_near(body, contacts, h, count)
        begin_report(contacts, count)
        if len(qd) == 0 or u + count + m == 0:
            return
        largest, displaced = null(h), False
        if not factors:
            gather(links.coordinate, qd, body.qd)
            clear(body.tau)
            gather(links.coordinate, acts[ADDED], body.added)
            largest = factorize(links, body, given)
        for k in range(len(qd)):
            contacts.z[0, k] = contacts.z[1, k] = null(h)
        whole = not along_paths or m + contacts.settings.turning[0] > 0
        for island in range(find_islands(links, contacts, of[:u], passive, count, whole)):
            first, last = ends_of(contacts, island, CONTACTS)
            own, numbers = contacts_from(contacts, h, first), contacts.reported[first:last]
            first, last = ends_of(contacts, island, JOINTS)
            joints = contacts.joints[first:last]
            first, last = ends_of(contacts, island, COORDINATES)
            coordinates, parts = contacts.coordinates[first:last], 1
            if not whole:
                parts = find_parts(links, own, joints, coordinates, len(numbers))
            for which in range(parts):
                choose_part(own, which, parts, len(numbers))
                displaced |= add_impulses_of(
                    links, body, given, own, calls, acts, joints, contacts.ends[island, PASSIVE], coordinates, numbers,
                    which, parts, whole, largest, most, h, share, qd)
        add_half(links, body, given, contacts.z[0], qd)
        if displaced:
            add_half(links, body, given, contacts.z[1], moved)
    return add_impulses_to
