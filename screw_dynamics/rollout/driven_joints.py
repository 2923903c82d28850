"""Joint drives: the rows of their table and of a reference, the effort bounds of motors, and the servo rows among the
contact rows."""
from typing import Annotated, Any, NamedTuple

import numpy as np

from screw_dynamics.constraints.impulses import GIVEN, LEAD, SERVO_LOWER, SERVO_UPPER, SHARE
from screw_dynamics.numbers.memory import Shared
from screw_dynamics.numbers.values import kernel

from .step_data import StepData

EFFORT, GRAVITY, SERVO, BRAKE = 0.0, 1.0, 2.0, 3.0      # drive of a joint
# Rows of a reference (REFERENCE, n): position, velocity and acceleration for a servo; effort, which a servo adds.
POSITION, VELOCITY, ACCELERATION, ADDED = range(4)
REFERENCE = 4
PAST = 3
AT_LIMIT = 1.0 - 1e-12       # times a limit: a smaller effort is not clipped


class DrivenJoints(NamedTuple):
    """Settings of each velocity, n numbers a field: friction, position stops, kind of drive and gains of its servo.

    place: index of its coordinate in q, or -1 for Lie-group joints, which have no stops and whose servos track
    velocities. stiffness, rest: of a spring, both 0. limit: of the effort. clipped: 1 if the command is clipped
    already. strength: fraction of the effort that a servo or gravity compensation applies. stall, no_load: ends of the
    torque-speed line. `DrivenJoints(*table)` wraps an array (ROWS, n)."""

    damping: Annotated[np.ndarray, Shared, "n"]
    friction: Annotated[np.ndarray, Shared, "n"]
    lower: Annotated[np.ndarray, Shared, "n"]
    upper: Annotated[np.ndarray, Shared, "n"]
    drive: Annotated[np.ndarray, Shared, "n"]
    position_gain: Annotated[np.ndarray, Shared, "n"]
    place: Annotated[np.ndarray, Shared, "n"]
    stiffness: Annotated[np.ndarray, Shared, "n"]
    rest: Annotated[np.ndarray, Shared, "n"]
    velocity_gain: Annotated[np.ndarray, Shared, "n"]
    limit: Annotated[np.ndarray, Shared, "n"]
    clipped: Annotated[np.ndarray, Shared, "n"]
    strength: Annotated[np.ndarray, Shared, "n"]
    stall: Annotated[np.ndarray, Shared, "n"]
    no_load: Annotated[np.ndarray, Shared, "n"]


ROWS = len(DrivenJoints._fields)


class Work(NamedTuple):
    """Memory of `drive`.

    inputs (INPUTS, n) and results (2, n): of hybrid dynamics. gravity (n): torques. passive (n): efforts of friction
    and force elements. lacking (n): accelerations demanded by servos less those that their efforts cause. bounds (2,
    n): lowest and highest efforts in the step."""

    inputs: np.ndarray
    results: np.ndarray
    gravity: np.ndarray
    passive: np.ndarray
    lacking: np.ndarray
    bounds: np.ndarray


@kernel
def effort_bounds(limit: Any, stall: Any, no_load: Any, qd: Any) -> tuple[Any, Any]:
    """Return the lowest and highest efforts of motors at velocities, numbers or arrays. Bounds are the limit and the
    torque-speed line from stall at rest to 0 at no_load; beyond no_load the effort is 0. inf: no bound."""
    share = qd / no_load                # NaN: infinite speed or no line; fmin ignores it
    return (-np.maximum(np.fmin(limit, stall * (1.0 + share)), 0.0),
            np.maximum(np.fmin(limit, stall * (1.0 - share)), 0.0))


@kernel
def put_bounds(joints: DrivenJoints, qd: np.ndarray, bounds: np.ndarray) -> None:
    """Set the lowest and highest efforts (2, n) of motors at velocities qd (n)."""
    for k in range(len(qd)):
        bounds[0, k], bounds[1, k] = effort_bounds(joints.limit[k], joints.stall[k], joints.no_load[k], qd[k])


@kernel
def put_servos(data: StepData, h: float, tau: np.ndarray, work: Work) -> None:
    """Set data.acts to the servo bounds for efforts tau (n) in a step of length h; see
    constraints/contacts/servos.py."""
    acts, joints = data.acts, data.joints
    for k in range(acts.shape[1]):
        servo = joints.drive[k] == SERVO
        acts[SERVO_LOWER, k] = h * work.bounds[0, k] if servo else 0.0
        acts[SERVO_UPPER, k], acts[GIVEN, k] = h * work.bounds[1, k] if servo else 0.0, h * tau[k]
        acts[LEAD, k], acts[SHARE, k] = h * work.lacking[k], joints.strength[k]


@kernel
def read_servo_efforts(data: StepData, h: float, tau: np.ndarray, beyond: np.ndarray, bounds: np.ndarray) -> None:
    """Set tau (n) to the efforts of servos and brakes solved with the contacts, and beyond (n) where they are
    clipped."""
    acts, joints = data.acts, data.joints
    for k in range(len(tau)):
        if joints.drive[k] < SERVO or acts[GIVEN, k] == h * tau[k]:
            continue
        tau[k] = acts[GIVEN, k] / h
        if joints.drive[k] == SERVO and joints.strength[k] == 1.0:
            within = AT_LIMIT * bounds[0, k] < tau[k] < AT_LIMIT * bounds[1, k]
            beyond[k] = joints.clipped[k] != 0.0 or not within
