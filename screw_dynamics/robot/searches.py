"""Inverse kinematics of a robot: checks of the arguments of Robot.inverse_kinematics, and calls of the search."""
from __future__ import annotations

from collections.abc import Iterable
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.inverse_kinematics import problems, search
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.compiled.workspace import aligned
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.screws.arrays import pose_matrix
from screw_dynamics.utils import checks
from screw_dynamics.utils.checks.hints import HINTS

PARTS = {"pose": (1.0,) * 6, "position": (0.0, 0.0, 0.0, 1.0, 1.0, 1.0), "orientation": (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)}
LAST = 0.0, 0.0, 0.0, 1.0                                       # last row of a pose
SAMPLES = 100           # random configurations, to weigh positions against angles
KEPT = 32               # number of links, or sets of them, whose starts a robot caches
PIECES = 512, 4096      # least and largest number of problems in a call of the search: between calls Ctrl-C acts
RIGID = 1e-5            # largest deviation of a pose from a rigid displacement, for single precision


def _tuned(steps, patience, settled):
    """Return the options of a search, tuned on arms of six and seven joints: first for the success rate, then for
    time."""
    options = np.zeros(problems.OPTIONS)
    options[[problems.DAMPING, problems.LEAST, problems.LONGEST, problems.FACTOR]] = 0.01, 1e-12, 1.5, 0.8
    options[[problems.PATIENCE, problems.PASSES, problems.STEPS, problems.SETTLED]] = patience, 2, steps, settled
    return options


TUNED, WITH_REST = _tuned(40, 4, inf), _tuned(200, 20, 1e-6)    # a preferred posture takes longer


class InverseKinematicsResult(NamedTuple):
    """Result of inverse kinematics for each problem.

    The best configuration q (..., nq); True if it solves the problem; its largest errors over all links, m and rad;
    and the number of starts. The result of a single problem is true if it is solved: `if found :=
    robot.inverse_kinematics(...)`."""

    q: np.ndarray
    success: np.ndarray
    position_error: np.ndarray
    orientation_error: np.ndarray
    attempts: np.ndarray

    def __bool__(self) -> bool:
        return bool(self.success)


class Goals(NamedTuple):
    """Links (k) and their reference links (k); constrained rows of their errors (k, 6); poses (..., k, 4, 4)."""

    links: tuple[str, ...]
    references: tuple[str | None, ...]
    rows: np.ndarray
    poses: np.ndarray


def goals(pose: ArrayLike, link: Any, parts: Any, reference: Any) -> Goals:
    """Return the goals from the arguments of Robot.inverse_kinematics. Raises ValueError if these are wrong."""
    if are_points(pose, parts):
        pose = _poses_at(pose)
    if isinstance(link, str):
        links: tuple[str, ...] = (link,)
        references: tuple[str | None, ...] = (reference,)
        parts = [parts]
        if np.shape(pose) == (3,):
            raise ValueError("pose of shape (3,) is a point, which requires parts='position'")
        poses = checks.finite_numbers("pose", pose, 4, 4)[..., None, :, :]
    else:
        links = tuple(link) if isinstance(link, Iterable) else (link,)
        if not links:
            raise ValueError("link: no names; one or more links must be given")
        poses = checks.finite_numbers("pose", pose, len(links), 4, 4)
        references = (reference,) * len(links) if reference is None or isinstance(reference, str) else tuple(reference)
        each = not isinstance(parts, str) and any(isinstance(x, str) or np.ndim(x) for x in parts)
        parts = list(parts) if each else [parts] * len(links)
    for name, given in ("reference", references), ("parts", parts):
        if len(given) != len(links):
            raise ValueError(f"{name} has {len(given)} entries, but must have one for each of {len(links)} links")
    return Goals(links, references, np.array([_rows(part) for part in parts]), poses)


def are_points(pose: ArrayLike, parts: Any) -> bool:
    """Return True if goals are points (..., 3), which is allowed if all parts are positions."""
    each = [parts] if isinstance(parts, str) else parts if isinstance(parts, Iterable) else ()
    return all(isinstance(part, str) and part == "position" for part in each) and np.shape(pose)[-1:] == (3,)


def _poses_at(point: ArrayLike) -> np.ndarray:
    """Return poses (..., 4, 4) at points (..., 3), m."""
    p = checks.finite_numbers("pose", point, 3)
    return pose_matrix((np.eye(3), p))


def _rows(part):
    """Return the rows (6,) of a part, 1.0 or 0.0 each."""
    if isinstance(part, str):
        return PARTS[checks.one_of("parts", part, PARTS)]
    rows = checks.real_numbers("parts", part, 6)
    if rows.shape != (6,) or not rows.any() or not np.isin(rows, (0, 1)).all():
        raise ValueError(f"parts must be {', '.join(map(repr, PARTS))} or six of 0 and 1, angular rows first, not "
                         f"{checks.described(part)}")
    return rows.astype(float)


class Prepared(NamedTuple):
    """Data that searches for the same links share, as in problems.Search: tasks, moves, columns, q_indices and slots;
    velocities (a) that move; joints with and without limits; starts; and the weight of a meter, in rad."""

    tasks: np.ndarray
    moves: np.ndarray
    columns: np.ndarray
    q_indices: np.ndarray
    slots: np.ndarray
    velocities: np.ndarray
    joints: dict[bool, np.ndarray]
    starts: np.ndarray
    meter: float


class Searches:
    """The searches of one robot, and their shared data."""

    def __init__(self, robot: Any):
        self._robot, self._model, self._neutral = robot, robot.model, robot.neutral()
        self._prepared: dict = {}

    def solve(self, pose: ArrayLike, link: Any, q0: ArrayLike | None, parts: Any, reference: Any,
              q_rest: ArrayLike | None, rest_weight: ArrayLike, joints: Iterable[str] | None, limits: bool,
              position_tolerance: float, orientation_tolerance: float, attempts: int, seed: int,
              threads: int | None) -> InverseKinematicsResult:
        """Solve inverse kinematics; Robot.inverse_kinematics documents arguments and result."""
        model, given = self._model, goals(pose, link, parts, reference)
        attempts = checks.count("attempts", attempts, 1)
        prepared = self._prepare(given, joints, checks.whole("seed", seed, 0), max(SAMPLES, attempts))
        limits = checks.flag("limits", limits, HINTS["with_limits"])
        table, options, rest = self._objective(prepared, q_rest, rest_weight, limits)
        start = rest if q0 is None else checks.finite_numbers("q0", q0, model.nq)
        options[problems.ANGLE] = checks.positive("orientation_tolerance", orientation_tolerance)
        options[problems.DISTANCE] = checks.positive("position_tolerance", position_tolerance)
        options[problems.METER], options[problems.ATTEMPTS] = prepared.meter, attempts
        options[problems.GIVEN] = start is not None
        first = self._neutral if start is None else start
        lead = _lead(np.shape(pose), given.poses, first)
        count = prod(lead)
        q, found = np.empty((*lead, model.nq)), np.empty((*lead, problems.FOUND))
        weights = given.rows * np.array((1.0, 1.0, 1.0, *(prepared.meter,) * 3))
        self._run((*prepared[:2], weights, *prepared[2:5], table, options), _rows_of(given.poses[..., :3, :], lead, 3),
                  _rows_of(first, lead, 1), prepared.starts, q.reshape(count, model.nq),
                  found.reshape(count, problems.FOUND), 1 if threads is None and count == 1 else thread_count(threads))
        solved, angle, distance, starts, off = np.moveaxis(found, -1, 0)
        for x in off, np.abs(given.poses[..., 3, :] - LAST):
            if (x > RIGID).any():                                   # NaN is not
                raise ValueError("pose must be a rigid displacement [[R, p], [0 0 0 1]], R^T R = 1 and det R = 1, but "
                                 f"is off by {np.nanmax(x):.3g}")
        return InverseKinematicsResult(q, solved == 1.0, distance[()], angle[()], starts.astype(int)[()])

    def _run(self, fixed, targets, q0, starts, q, found, threads):
        """Fill q and found of a Search for all problems."""
        (count, nq), lanes = q.shape, len(q) > 1
        run = search.entry_point(lanes, self._model.on_groups)
        sizes = problems.Sizes(fixed[2].size, len(fixed[4]), nq, targets.shape[1])
        size = problems.memory_size(sizes) * (WIDTH if lanes else 1)
        piece = min(max(-(-count // (4 * threads)), PIECES[0]), PIECES[1])

        def work(pieces):
            memory, own = self._robot._on_lanes.take(), aligned(size)
            try:
                for first in pieces:
                    part = slice(first, first + piece)
                    run(memory, own, *fixed, targets[part], q0[part], starts, q[part], found[part])
            finally:
                self._robot._on_lanes.give_back(memory)
        on_threads(work, range(0, count, piece), max(1, min(threads, -(-count // piece))))

    def _objective(self, prepared, q_rest, rest_weight, limits):
        """Return joints and options of a Search, with the preference for q_rest, and q_rest as an array or None."""
        if q_rest is None:
            if np.ndim(rest_weight) or checks.number("rest_weight", rest_weight) != 1.0:
                raise ValueError("rest_weight requires q_rest")
            return prepared.joints[limits], TUNED.copy(), None
        rest, joints = checks.vector("q_rest", q_rest, self._model.nq), prepared.joints[limits].copy()
        joints[problems.REST] = rest[prepared.q_indices]
        joints[problems.GAIN] = self._weights(rest_weight)[prepared.velocities]
        return joints, WITH_REST.copy(), rest

    def _weights(self, rest_weight):
        """Return one weight for each velocity (n,)."""
        weights = checks.each("rest_weight", rest_weight, self._model.n)
        if not ((weights >= 0.0) & (weights <= 1.0)).all():
            raise ValueError(f"rest_weight must be in [0, 1], not {checks.described(rest_weight)}")
        return weights

    # --------------------------------------------------------------------------------------------- preparation
    def _prepare(self, given, joints, seed, count):
        """Return the Prepared of searches for these links, which is cached."""
        mask = None
        if joints is not None:
            mask = tuple(checks.joint_mask("joints", joints, self._model.v_slices, self._model.n).tolist())
        key = given.links, given.references, mask, seed, count
        found = self._prepared.get(key)
        if found is None:
            if len(self._prepared) >= KEPT:
                self._prepared.clear()                              # another thread may be here too
            found = self._prepared[key] = self._new(*key)
        return found

    def _new(self, links, references, mask, seed, count):
        model, robot = self._model, self._robot
        tasks = np.array([robot._target(*pair, "body")[:2] for pair in zip(links, references, strict=True)])
        allowed = model.q_indices >= 0
        movers = self._movers(tasks, links, allowed if mask is None else allowed & mask)
        slots = np.array(sorted(set().union(*movers)))
        velocities, columns = np.unique(model.coordinates[slots - 1]), np.full(model.n, -1)
        columns[velocities] = np.arange(len(velocities))
        q_indices = model.q_indices[velocities]
        moves = [np.isin(velocities, model.coordinates[np.array([*found]) - 1]) for found in movers]
        free = np.zeros((problems.JOINTS, len(q_indices)))
        limited = free.copy()
        limited[:2], free[:2] = (model.lower[velocities], model.upper[velocities]), ((-inf,), (inf,))
        for table in limited, free:
            table[problems.TURN] = [self._turn(*x) for x in zip(velocities, *table[:2], strict=True)]
        q = np.broadcast_to(self._neutral, (count, model.nq)).copy()
        q[:, q_indices] = robot.random_configuration(count, seed)[:, q_indices]
        positions = [robot.forward_kinematics(q, *pair)[:, :3, 3] for pair in zip(links, references, strict=True)]
        spread = max(np.sqrt(x.var(axis=0).sum()) for x in positions)
        return Prepared(tasks, np.array(moves, dtype=int), columns, q_indices, slots, velocities,
                        {True: limited, False: free}, q[:, q_indices].copy(), 1.0 / spread if spread > 1e-9 else 1.0)

    def _movers(self, tasks, links, allowed):
        """Return the slots whose joints move the frame of each task. Raises ValueError if no joint moves a link."""
        moving = []
        for task, link in zip(tasks, links, strict=True):
            ways = [set(self._way(self._robot.tables.frames[frame].body)) for frame in task]
            found = {i for i in ways[0] ^ ways[1] if allowed[self._model.coordinates[i - 1]]}
            if not found:
                raise ValueError(f"link {link!r}: no joint of one degree of freedom that is free to move changes its "
                                 "pose in the reference frame")
            moving.append(found)
        return moving

    def _way(self, slot):
        """Yield the slots on the path from a body to the root."""
        while slot > 0:
            yield slot
            slot = self._model.parents[slot - 1] + 1

    def _turn(self, velocity, lower, upper):
        """Return a full turn of a revolute joint with a larger range; 0 for other joints, and for joints with
        mimics."""
        bodies = np.flatnonzero(self._model.coordinates == velocity)
        w, v = np.split(self._model.screws_body[bodies[0]], 2)
        turn = 2.0 * np.pi / np.linalg.norm(w) if w.any() else inf
        return turn if len(bodies) == 1 and w @ v == 0.0 and upper - lower > turn else 0.0


def _lead(shape, poses, q0):
    """Return the common leading axes of poses (..., k, 4, 4), given with a `shape`, and configurations (..., nq)."""
    if q0.ndim == 1:
        return poses.shape[:-3]
    return checks.common_lead((q0.shape[:-1], poses.shape[:-3]), {"pose": shape, "q0": q0.shape})


def _rows_of(x, lead, axes):
    """Return an array (..., *axes) broadcast over leading axes, as contiguous float64 rows."""
    shape = x.shape[x.ndim - axes:]
    if x.shape != (*lead, *shape):
        x = np.broadcast_to(x, (*lead, *shape))
    return np.ascontiguousarray(x, dtype=float).reshape(prod(lead), prod(shape))
