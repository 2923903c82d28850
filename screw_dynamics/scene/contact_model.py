"""A robot with contacts of its links and attached objects: tables for compiled code, rollouts, and contact reports."""
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.collision.colliders import Attached, kind_of, pack, rows
from screw_dynamics.collision.narrow_phase import are_simple, kinds_of, pair_rows
from screw_dynamics.collision.shapes import Shape
from screw_dynamics.compiled.calls import Workspaces
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.compiled.workspace import Tables
from screw_dynamics.constraints import tables
from screw_dynamics.constraints.contacts import tables as contact_tables
from screw_dynamics.constraints.contacts.calls import ACCELERATION, detection_address
from screw_dynamics.constraints.contacts.tables import EXCESS, OF_CONTACT, RESIDUALS, UNSOLVED, Settings
from screw_dynamics.constraints.contacts.touches import entry_of_touches
from screw_dynamics.constraints.projection import CONFIGURATIONS, NOTHING
from screw_dynamics.model.checks import named
from screw_dynamics.model.configuration_space import normalized
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.robot import Robot
from screw_dynamics.rollout.divergence import warn_of_divergence
from screw_dynamics.rollout.limit_violations import begins_beyond, warn_of_limits
from screw_dynamics.rollout.rollout import Rollouts, Samples
from screw_dynamics.rollout.step_settings import head_of
from screw_dynamics.screws.arrays import pose, pose_matrix
from screw_dynamics.screws.se3 import compose
from screw_dynamics.utils import checks
from screw_dynamics.utils.lazy import lazy, remade

KEY, GAP, VECTORS = 0, 1, slice(2, 11)      # layout of a contact in a report; the vectors are point, normal and force
_NO_VECTORS = np.outer((np.nan, np.nan, 0.0), np.ones(3))
empty = np.empty


class Contacts(NamedTuple):
    """Contacts in k rows (..., k). pair: index into scene.pairs, or -1 for an unused row. gap: m, negative if
    penetrating. point, normal (..., k, 3): the unit normal points from the second to the first of the pair. force (...,
    k, 3): on the first, N. In the root link's frame."""

    pair: np.ndarray
    gap: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    force: np.ndarray


class Residuals(NamedTuple):
    """Residuals of the contact conditions, for the impulses of a step in m/s, (...) each: complementarity, cone and
    dissipation, as defined by constraints/cones/residuals.py. unsolved: the largest of these residuals over all
    previous steps in which the solver did not converge, including impacts and corrections of penetrations, or 0."""

    complementarity: np.ndarray
    cone: np.ndarray
    dissipation: np.ndarray
    unsolved: np.ndarray


class ContactWarning(RuntimeWarning):
    """A warning that the contact solver did not converge in some step of a rollout."""


class Collider(NamedTuple):
    """A shape on a link, at a pose (4, 4) in the link. belt (3,): velocity of its surface in m/s, in the shape's
    frame."""

    name: str
    link: str
    shape: Shape
    pose: np.ndarray
    belt: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Room(NamedTuple):
    """Memory for a number of contacts: workspaces, their rollouts, and for single steps, by integrator, unused tuples
    of entry point, settings, workspace and report."""

    most: int
    workspaces: Workspaces
    rollouts: Rollouts
    steps: dict[str, list]


class ContactModel:
    """Colliders on the links of a robot, and pairs of them (i, j) with (friction, restitution, torsion, rolling).

    max_contacts: at once. margin: largest gap in m of the contact search. constraints: closed loops of the robot,
    closed_loops.Constraints. most: current capacity for contacts; `grow` increases it."""

    def __init__(self, robot: Robot, colliders: Sequence[Collider], pairs: Sequence[tuple[int, int]],
                 materials: Sequence[tuple[float, float, float, float]], max_contacts: int | None = None,
                 margin: float = 0.02, slow: float = 0.01, constraints: Any = None):
        self.robot, self.colliders = robot, tuple(colliders)
        for collider in colliders:
            named(collider.name, kind_of, collider.shape)
        self._rows, self._data = rows([self._attached(collider) for collider in colliders])
        kinds = {(self._rows[i].kind, self._rows[j].kind): (i, j) for i, j in reversed(pairs)}  # the first of each
        for i, j in kinds.values():
            named(" and ".join(map(_with_shape, (colliders[i], colliders[j]))), pair_rows, self._rows, [(i, j)])
        self.pairs = [pair._replace(mu=mu, restitution=e, torsion=torsion, rolling=rolling) for pair, (
            mu, e, torsion, rolling) in zip(pair_rows(self._rows, pairs), materials, strict=True)]
        points = sum(pair.points for pair in self.pairs)
        self.max_contacts, self.margin = MAX_CONTACTS if max_contacts is None else max_contacts, margin
        self.simple = are_simple(kinds_of(self._rows, self.pairs))
        self._pair_of = np.repeat(np.arange(len(self.pairs)), [pair.points for pair in self.pairs])
        self.constraints, self.slow = constraints, slow
        self.most = min(points, FIRST, self.max_contacts)
        R = pose_matrix(robot.tables.frames[robot.tables.names[robot.model.root]].C)[:3, :3]
        self._to_root = None if (R == np.eye(3)).all() else R           # from axes whose z is opposite to gravity
        self._no_effort, self._has_limits = np.zeros(robot.n), np.isfinite((robot.model.lower, robot.model.upper)).any()

    @lazy
    def _geometry(self):
        return pack(self._rows, self.pairs, self._data)

    # Read once a call: another thread may replace it.
    @remade
    def _room(self):
        return self._room_for(self.most)

    @remade
    def _far(self):
        return Workspaces(self._tables(len(self._pair_of), FARTHEST))

    @property
    def rollouts(self) -> Rollouts:
        """Rollouts of the robot with contacts."""
        return self._room.rollouts

    def _room_for(self, most):
        workspaces = Workspaces(self._tables(most, self.margin))
        robot, constraints, entries = self.robot, self.constraints, self.robot._rollouts.entries
        if constraints:
            entries = entries._replace(acceleration=constraints.acceleration)
        elif not robot.model.shares_coordinates:
            entries = entries._replace(acceleration=ACCELERATION.of(robot.model.structure))
        return Room(most, workspaces, Rollouts(
            robot, entries, workspaces, CONFIGURATIONS if constraints else NOTHING,
            "contacts and loops" if constraints else "contacts", self.simple), {})

    def grow(self, most: int, missed: float) -> bool:
        """Increase the capacity beyond `most` contacts, which were `missed` too few. Return False if max_contacts is
        reached. Results do not depend on the capacity."""
        if most >= self.max_contacts:
            return False
        self.have_room(max(2 * most, most + int(missed)))
        return True

    def have_room(self, most: int | None = None) -> None:
        """Ensure capacity for `most` contacts, at most the number that pairs can have. None: for all, for callers that
        read no reports."""
        points = min(len(self._pair_of), self.max_contacts)
        if (most := points if most is None else min(most, points)) > self.most:     # else another thread has done it
            self._room = self._room_for(most)
            self.most = most

    @property
    def given(self) -> tuple[list, list, np.ndarray]:
        """The rows of colliders and of pairs, and the data of their shapes, for the kernels of collision/."""
        return self._rows, self.pairs, self._data

    def _attached(self, collider):
        frame = self.robot.tables.frames[self.robot.tables.names[collider.link]]
        return Attached(collider.shape, frame.body, pose_matrix(compose(frame.C, pose(collider.pose))), collider.belt)

    def tables_with(self, servos: int) -> Tables:
        """Return the robot's tables with those of contacts, with memory for the rows of `servos` servos."""
        return self._tables(self.most, self.margin, servos)

    def _tables(self, most, margin, servos=0):
        """Return the robot's tables with those of contacts."""
        robot, m = self.robot, self.constraints.m if self.constraints else 0
        loops = self.constraints.in_workspaces.tables if self.constraints else tables.pack([], [], [])
        rebounds = any(pair.restitution > 0.0 for pair in self.pairs)
        turning = int(any(pair.torsion > 0.0 or pair.rolling > 0.0 for pair in self.pairs))
        points = max((pair.points for pair in self.pairs), default=0)
        settings = Settings(most, margin, self.slow, int(rebounds), turning, servos)
        given = contact_tables.pack(settings, self._geometry)
        return robot.tables._replace(tables=np.concatenate([loops, given]), work=contact_tables.contact_work(
            robot.n, m, settings, len(self.colliders), len(self.pairs), points))

    def configurations(self, q: ArrayLike) -> np.ndarray:
        """Return validated configurations (..., nq). Raises ValueError for a number that is not finite, and for a zero
        quaternion."""
        found = checks.finite_numbers("q", q, self.robot.nq)
        normalized(self.robot.model, found)
        return found

    def touches(self, q: np.ndarray, far: bool = False, threads: int | None = None) -> Contacts:
        """Return the Contacts at configurations q (..., nq), without forces. far: all points of all pairs."""
        lead, entry = q.shape[:-1], entry_of_touches(q.ndim > 1)
        states = np.ascontiguousarray(q, dtype=float).reshape(prod(lead), 1, q.shape[-1])
        detect, size = np.zeros(1, dtype=np.int64), max(WIDTH, -(-len(states) // (4 * WIDTH)) * WIDTH)
        if not PLAIN:
            detect[0] = detection_address(bool(lead), self.simple)
        while True:
            most, pool, *_ = (len(self._pair_of), self._far) if far else self._room
            reports = np.empty((len(states), 1, contact_tables.report_numbers(most)))

            def work(starts, pool=pool, reports=reports):
                with pool.borrowed() as memory:
                    for start in starts:
                        entry(memory, detect, states[start:start + size], reports[start:start + size])
            on_threads(work, range(0, len(states), size), thread_count(threads))
            if (missed := reports[..., RESIDUALS].max(initial=0.0)) == 0.0:
                return self.contacts(reports[:, 0].reshape(*lead, reports.shape[-1]))
            if not self.grow(most, missed):
                raise ValueError(f"max_contacts {most} must be larger by at least {missed:g}")

    def samples(self, q0: ArrayLike, qd0: ArrayLike, effort: Any, dt: float, *given: Any, contacts: int | None = None,
                watch: Callable | None = None, **options: Any) -> Samples:
        """Return the Samples of Rollouts.samples, with reports of all contacts, or of the first `contacts`. If the
        capacity is exceeded, the rollout is repeated with a larger one. Raises ValueError, with the time, for more than
        max_contacts, and for dt < LEAST_STEP. watch(q): as for Rollouts.samples, without the report."""
        if checks.positive("dt", dt) < LEAST_STEP:
            raise ValueError(f"dt {dt:g} must be at least {LEAST_STEP:g} s: a gap divided by a shorter step overflows")
        while True:
            (most, _, rollouts, _), reports = self._room, []
            numbers = contact_tables.report_numbers(most if contacts is None else min(contacts, most))

            def watched(q, report, reports=reports):
                report[...] = 0.0
                reports.append(report)
                return watch(q) if watch else nullcontext()
            try:
                found = rollouts.samples(q0, qd0, effort, dt, *given, reported=numbers, watch=watched, **options)
            except Exception:                       # not due to the motion if the capacity was exceeded
                if reports and (missed := reports[0][..., RESIDUALS].max(initial=0.0)) > 0.0 and self.grow(
                        most, missed):
                    continue
                raise
            missed = found.report[..., RESIDUALS]
            if not (missed > 0.0).any():
                return found
            if not self.grow(most, missed.max()):
                at = tuple(np.argwhere(missed > 0.0)[0])
                raise ValueError(f"max_contacts {most} must be larger by at least {missed[at]:g} at t = "
                                 f"{found.t[at[-1] + 1]:g} s")

    def step(self, q: np.ndarray, qd: np.ndarray, effort: np.ndarray | None, dt: float, integrator: str
             ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return the state (q, qd) after a step of one state, and its report, bit-identical to `samples`. Return None
        if `samples` must be used: before `prepare_step`, for arguments that need conversion, and for warnings."""
        free = self._room.steps.get(integrator)
        if not free or not isinstance(dt, float) or not LEAST_STEP <= dt < np.inf:
            return None
        try:
            one, settings, memory, report = parts = free.pop()
        except IndexError:                              # another thread was faster
            return None
        here, rate = empty(self.robot.nq), empty(self.robot.n)
        try:
            done = one(memory, settings, q, qd, self._no_effort if effort is None else effort, None, here, rate, dt)
            found = report.copy()
        finally:
            free.append(parts)
        if done != 1 or found[RESIDUALS] > 0.0 or found[UNSOLVED] > 0.0 or (
                self._has_limits and begins_beyond(self.robot.model, q[None])):
            return None
        return here, rate, found

    def prepare_step(self, integrator: str) -> None:
        """Prepare the memory of `step` for an integrator. `samples` must have run with it."""
        most, _, rollouts, steps = self._room
        if not (free := steps.setdefault(integrator, [])):
            one, settings, pool = rollouts.step_entry(integrator, False, None)
            head, report = head_of(settings), np.empty(contact_tables.report_numbers(most))
            head.reported, head.report = len(report), report.ctypes.data
            free.append((one, settings, pool.take(), report))

    def residuals(self, report: np.ndarray) -> Residuals:
        """Return the Residuals of reports (..., numbers)."""
        return Residuals(*(report[..., k] for k in (*range(RESIDUALS), UNSOLVED)))

    def warn(self, found: Samples, dt: float, integrator: str, effort: Any, steps: int) -> None:
        """Warn if a rollout diverged, left limits, or if the solver did not converge."""
        if found.diverged:
            warn_of_divergence(self.robot._rollouts, found.t, found.q, found.qd, dt, integrator, effort, steps,
                               False)
        if found.left:
            warn_of_limits(self.robot.model, "the rollout", found.q, t=found.t)
        unsolved = found.report[..., UNSOLVED]                      # (..., samples)
        if len(since := np.flatnonzero((unsolved > 0.0).any(axis=tuple(range(unsolved.ndim - 1))))):
            warnings.warn(f"contacts: the solver did not converge by t = {found.t[1 + since[0]]:g} s; the largest "
                          f"residual is {unsolved.max():.2g} m/s, and residuals.unsolved has that of each state",
                          ContactWarning, stacklevel=3)

    def least_gaps(self, q: np.ndarray) -> np.ndarray:
        """Return the least gap in m (..., pairs) of each pair at configurations q (..., nq)."""
        found, least = self.touches(q, far=True), np.full((*q.shape[:-1], len(self.pairs)), np.inf)
        for k in range(len(self.pairs)):
            least[..., k] = np.where(found.pair == k, found.gap, np.inf).min(axis=-1, initial=np.inf)
        return least

    def contacts(self, report: np.ndarray, most: int | None = None) -> Contacts:
        """Return the Contacts of reports (..., numbers), the first `most` of them, in axes of the root link."""
        slots = (report.shape[-1] - RESIDUALS - EXCESS) // OF_CONTACT
        found = report[..., RESIDUALS + EXCESS:].reshape(*report.shape[:-1], slots, OF_CONTACT)
        there = found[..., KEY] >= 0.0
        if there.ndim > 1 and (there[..., 1:] & ~there[..., :-1]).any():    # rows used only by other states of a batch
            order = np.argsort(~there, axis=-1, kind="stable")
            found = np.take_along_axis(found, order[..., None], axis=-2)
        found = found[..., :most, :]
        pair, gap, missing = found[..., KEY].astype(int), found[..., GAP].copy(), found[..., KEY] < 0.0
        vectors = found[..., VECTORS].reshape(*missing.shape, 3, 3).copy()
        if self._to_root is not None:
            vectors = vectors @ self._to_root
        if pair.size:
            pair = self._pair_of[pair]
        pair[missing], gap[missing], vectors[missing] = -1, np.nan, _NO_VECTORS
        return Contacts(pair, gap, vectors[..., 0, :], vectors[..., 1, :], vectors[..., 2, :])


def _with_shape(collider):
    """Return the name of a collider and its kind, for messages."""
    return f"{collider.name} ({collider.shape.kind.replace('_', ' ')})"


FIRST = 64              # initial capacity for contacts
MAX_CONTACTS = 8192     # at once, by default; docs/contacts.md documents their memory
LEAST_STEP = 1e-100     # s: squared velocities of margin / dt stay finite
FARTHEST = 1e8          # m: largest gap for distances
