"""Inverse kinematics with clearance: a pose of a link with minimum distances, by sequential quadratic programming.

From a solution of Robot.inverse_kinematics each step v minimizes |J v - r|^2, with r the screw to the target pose,
subject to gap + (d gap/dq) v >= clearance for all close pairs, within joint limits. The clearance rows are soft: a step
exists even if they are infeasible. The solver is that of analysis/differential_inverse_kinematics.py."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.analysis import differential_inverse_kinematics as differential
from screw_dynamics.model import checks as model_checks
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

REACH = 0.3             # m: pairs farther than the clearance plus this are ignored in a step
LONGEST = 0.3           # rad and m: largest change of a joint in a step
SPARE = 1e-6            # m: added to the clearance in steps, since soft rows are violated by some 1e-7
SLOW = 1e-10            # rad and m: a smaller step ends an attempt
SOFT = 8                # daqp's flag of soft rows
DAMPING = 1e-9, 1e-2    # of steps: constant, and times the squared distance from the pose


class AvoidanceResult(NamedTuple):
    """Result of inverse kinematics with clearance.

    q (nq,): best configuration found. success: True if the pose is reached and the clearance kept. Errors of the pose
    in m and rad. gap: least gap in m of the considered pairs. pair: names of the pair closer than the clearance, or
    None. attempts: number of starts."""

    q: np.ndarray
    success: bool
    position_error: float
    orientation_error: float
    gap: float
    pair: tuple[str, str] | None
    attempts: int

    def __bool__(self) -> bool:
        return self.success


class Problem(NamedTuple):
    """A problem of inverse kinematics: pose of a link in the root frame; clearance; indices of the considered pairs;
    movable velocities (n,), 1.0 or 0.0; True if limits act; tolerances of position and orientation."""

    task: differential.FrameTask
    clearance: float
    pairs: np.ndarray
    free: np.ndarray
    limits: bool
    tolerances: tuple[float, float]


def solve(scene: Any, pose: ArrayLike, link: str, q0: ArrayLike | None, clearance: float,
          pairs: Iterable[Sequence[str]] | None, joints: Iterable[str] | None, limits: bool, position_tolerance: float,
          orientation_tolerance: float, attempts: int, steps: int, seed: int) -> AvoidanceResult:
    """Solve Scene.inverse_kinematics."""
    robot = scene.robot
    C, start = model_checks.pose("pose", pose), scene.neutral() if q0 is None else checks.vector("q0", q0, robot.nq)
    checks.one_of("link", link, robot.link_names)
    clearance = checks.number("clearance", clearance)
    tolerances = (checks.positive("position_tolerance", position_tolerance),
                  checks.positive("orientation_tolerance", orientation_tolerance))
    free, joints = _free(robot, joints)
    counted = _counted(scene, start, free, pairs)
    given = Problem(differential.FrameTask(link, C, gain=1.0), clearance, counted, free, checks.flag("limits", limits),
                    tolerances)
    rng = np.random.default_rng(checks.whole("seed", seed, 0))
    best: Any = None
    for attempt in range(1, checks.whole("attempts", attempts, 1) + 1):
        found = robot.inverse_kinematics(C, link, start, joints=joints, limits=limits, position_tolerance=tolerances[0],
                                         orientation_tolerance=tolerances[1], seed=seed + attempt)
        result = _descend(scene, given, found.q, checks.whole("steps", steps, 0), attempt)
        if best is None or _order(result, given) < _order(best, given):
            best = result
        if best.success or not (found.success or attempt > 1):
            break
        start = np.where(_free_mask(robot, free), robot.random_configuration(seed=rng), start)
    return best._replace(attempts=attempt)


def _free(robot: Robot, joints):
    """Return the movable velocities (n,), 1.0 or 0.0, and the names of their joints: no Lie-group joints, as in
    Robot.inverse_kinematics."""
    q_indices = robot.model.q_indices
    single = [name for name, where in robot.v_slices.items() if q_indices[where].min() >= 0]
    if joints is not None:
        joints = list(joints)
        for name in joints:
            checks.one_of("joint", name, robot.joint_names)
        single = [name for name in single if name in joints]
    free = np.zeros(robot.n)
    for name in single:
        free[robot.v_slices[name]] = 1.0
    return free, single


def _free_mask(robot, free):
    """Return the mask (nq,) of the movable entries of q."""
    found = np.zeros(robot.nq, dtype=bool)
    found[robot.model.q_indices[free > 0.0]] = True
    return found


def _counted(scene, q, free, pairs):
    """Return the indices of the named pairs; by default, of pairs whose distance depends on the movable joints."""
    names = scene.pairs
    if pairs is not None:
        wanted = {frozenset(map(str, pair)) for pair in pairs}
        for pair in wanted - {frozenset(pair) for pair in names}:
            raise ValueError(f"pair {tuple(sorted(pair))} is not among the pairs of the scene")
        return np.array([k for k, pair in enumerate(names) if frozenset(pair) in wanted], dtype=int)
    moved = {}
    for collider in scene.contact_model.colliders:
        if collider.link not in moved:
            moved[collider.link] = np.abs(scene.robot.jacobian(q, collider.link, "spatial")).max(axis=0) * free > 0.0
    colliders = scene.contact_model.colliders
    return np.array([k for k, pair in enumerate(scene.contact_model.pairs) if (
        moved[colliders[pair.first].link] != moved[colliders[pair.second].link]).any()], dtype=int)


def _order(result, given):
    """Return the merit of a result, smaller is better: the pose errors beyond the tolerances plus the missing
    clearance."""
    return (max(0.0, result.position_error - given.tolerances[0])
            + max(0.0, result.orientation_error - given.tolerances[1]) + max(0.0, given.clearance - result.gap))


def _state(scene, given, q):
    """Return the result at a configuration, the Jacobian and residual of its task, the gaps and their gradients."""
    J, r = given.task.at(scene.robot, q)
    found = scene.distances(q)
    gap = found.gap[given.pairs]
    errors = float(np.linalg.norm(r[3:])), float(np.linalg.norm(r[:3]))
    nearest = int(gap.argmin()) if len(gap) else -1
    least = float(gap[nearest]) if len(gap) else np.inf
    near = len(gap) > 0 and least < given.clearance
    result = AvoidanceResult(q, errors[0] <= given.tolerances[0] and errors[1] <= given.tolerances[1] and not near,
                             *errors, least, scene.pairs[given.pairs[nearest]] if near else None, 0)
    return result, J * given.free, r, gap, found.gradient[given.pairs] * given.free


def _descend(scene, given, q, steps, attempt):
    """Return the best configuration of an iteration from q."""
    robot, daqp, best = scene.robot, None, None
    for taken in range(steps + 1):
        result, J, r, gap, gradient = _state(scene, given, q)
        if best is None or _order(result, given) < _order(best, given):
            best = result
        if result.success or taken == steps:
            break
        daqp = daqp or differential.solver()
        near = gap < given.clearance + REACH
        lower, upper = differential.bounds(robot, q, 1.0, None, None, given.limits)
        lower, upper = (np.clip(x, -LONGEST, LONGEST) for x in (lower, upper))
        lower, upper = np.minimum(lower, upper) * given.free, np.maximum(lower, upper) * given.free
        H = J.T @ J + (DAMPING[0] + DAMPING[1] * float(r @ r)) * np.eye(robot.n)
        v, _, status, _ = daqp.solve(
            H, -J.T @ r, np.ascontiguousarray(gradient[near]), np.concatenate([upper, np.full(near.sum(), 1e30)]),
            np.concatenate([lower, given.clearance + SPARE - gap[near]]),
            np.concatenate([np.zeros(robot.n), np.full(near.sum(), SOFT)]).astype(np.int32))
        if status < 1 or np.abs(v).max(initial=0.0) < SLOW:
            break
        q = robot.integrate(q, np.clip(v, lower, upper))
    return best
