"""Dynamics of a robot in a rollout: forward dynamics, friction, springs and other forces, controller, position stops.

Forward dynamics, forces and the controller are compiled separately and called at addresses: an integrator is compiled
once for all robots, forces and controllers."""
from collections import namedtuple
from typing import Annotated, Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.space import place_in_q
from screw_dynamics.compiled.native import at, attempt, call
from screw_dynamics.compiled.workspace import interrupt_at
from screw_dynamics.constraints.impulses import ACTS, ADDED, LOWER, STICKS, UPPER
from screw_dynamics.constraints.projection import NEEDED, NOTHING, PUSHED
from screw_dynamics.forces.laws import TERMS
from screw_dynamics.numbers.memory import Shared
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null, over

# First indices among the addresses of compiled functions. ELEMENTS: numbers of the force elements. RESTORE: the
# quantities that PROJECT projects after a step. DETECT and SOLVE: contact functions, called by PROJECT. FACTORS: 1 if
# FORWARD leaves M^-1 in the workspace for them.
FORWARD, CONTROLLER, MOMENTA, FORCES, ELEMENTS, PROJECT, RESTORE, DETECT, SOLVE, FACTORS = range(10)


class JointSettings(NamedTuple):
    """Settings of each velocity: damping, friction and limits that a step applies; damping and friction of the model;
    index of its coordinate in q, or -1; stiffness and rest position of its spring; limits that are only monitored."""

    damping: Annotated[np.ndarray, Shared, "n"]
    friction: Annotated[np.ndarray, Shared, "n"]
    lower: Annotated[np.ndarray, Shared, "n"]
    upper: Annotated[np.ndarray, Shared, "n"]
    model_damping: Annotated[np.ndarray, Shared, "n"]
    model_friction: Annotated[np.ndarray, Shared, "n"]
    place: Annotated[np.ndarray, Shared, "n"]
    stiffness: Annotated[np.ndarray, Shared, "n"]
    rest: Annotated[np.ndarray, Shared, "n"]
    least: Annotated[np.ndarray, Shared, "n"]
    most: Annotated[np.ndarray, Shared, "n"]


# Numbers of velocities, of entries of q, and of stages, at least four for implicit steps.
Sizes = namedtuple("Sizes", "n nq stages")


class StepData(NamedTuple):
    """The robot, the forces on it, and the memory of a step.

    space: None, or Groups if there are Lie-group joints. memory: address of the workspace, whose INTERRUPT stores the
    error of a failing controller. calls: addresses of compiled functions, see FORWARD. joints: JointSettings, or a
    tuple with the fields that a step reads. tau: efforts. net, added: inputs of forward dynamics. q, qd, t: inputs of
    the controller, t as first entry. terms: sum of force elements. begin: velocities at the start of the step; slip:
    their signs, which dry friction resists; dry: efforts of dry friction; start: configuration at the start. acts: see
    constraints/impulses.py. span: length of the step, and 1 where its impulses are applied already. moved: velocities
    of the displacement, where they differ from those at the end."""

    space: Any
    memory: int
    calls: Any
    joints: Any
    tau: Annotated[np.ndarray, "n"]
    net: Annotated[np.ndarray, "n"]
    added: Annotated[np.ndarray, "n"]
    q: Annotated[np.ndarray, "nq"]
    qd: Annotated[np.ndarray, "n"]
    t: Annotated[np.ndarray, "nq"]
    terms: Annotated[np.ndarray, TERMS, "n"]
    begin: Annotated[np.ndarray, "n"]
    slip: Annotated[np.ndarray, "n"]
    dry: Annotated[np.ndarray, "n"]
    start: Annotated[np.ndarray, "nq"]
    acts: Annotated[np.ndarray, ACTS, "n"]
    span: Annotated[np.ndarray, 2]
    moved: Annotated[np.ndarray, "n"]


class Stages(NamedTuple):
    """The state (configuration x and velocities) and the memory of the stages: rates of change of the displacement u
    from x and of the velocities at each stage; state q, v and displacement u of one stage."""

    x: Annotated[np.ndarray, "nq"]
    velocity: Annotated[np.ndarray, "n"]
    dq: Annotated[np.ndarray, "stages", "nq"]
    dv: Annotated[np.ndarray, "stages", "nq"]
    q: Annotated[np.ndarray, "nq"]
    v: Annotated[np.ndarray, "n"]
    u: Annotated[np.ndarray, "n"]


@kernel
def control(data: StepData, t: Scalar, q: list, qd: list) -> None:
    """Call the controller on copies of the state. It sets data.tau."""
    for k in range(len(q)):
        data.q[k] = q[k]
    for k in range(len(qd)):
        data.qd[k], data.tau[k] = qd[k], null(qd[k])
    data.t[0] = over(t, qd[0])
    attempt(data.calls[CONTROLLER], (data.memory, at(data.calls), at(data.t), at(data.q), at(data.qd), at(data.tau)),
            interrupt_at(data.memory).failure)


@kernel
def solve(data: StepData, q: list, qd: list, tau: list, added: list, qdd: list) -> None:
    """Set qdd to the solution of (M + added) qdd = tau - C qd - g."""
    call(data.calls[FORWARD], (data.memory, 0, at(q), at(qd), at(tau), at(added), at(q), at(qdd)))


@kernel
def momenta(data: StepData, q: list, qd: list, out: np.ndarray) -> None:
    """Set out (3, n) to the momenta p = M qd, dT/dq and the gravity torque g."""
    call(data.calls[MOMENTA], (data.memory, 0, at(q), at(qd), at(q), at(q), at(q), at(out)))


@kernel
def evaluate_controller(data: StepData, t: Scalar, q: list, qd: list) -> None:
    """Set data.tau by the controller, if any."""
    if len(qd) > 0 and data.calls[CONTROLLER] != 0:
        control(data, t, q, qd)


@kernel
def stretch(data: StepData, q: list, k: int) -> Scalar:
    """Return the deflection of the spring of a joint; 0 for a velocity of a Lie-group joint."""
    m = place_in_q(data.space, data.joints, k)
    return q[m] - data.joints.rest[k] if m >= 0 else null(q[0])


@kernel
def add_forces(data: StepData, t: Scalar, q: list, qd: list, ahead: Scalar) -> None:
    """Set data.terms to the efforts of force elements, their stiffness and their damping; see forces/kernels.py."""
    data.t[0] = over(t, qd[0])
    attempt(data.calls[FORCES], (data.memory, data.calls[ELEMENTS], at(data.t), ahead, at(q), at(qd), at(data.terms)),
            interrupt_at(data.memory).failure)


@kernel
def load(data: StepData, t: Scalar, q: list, qd: list, h: Scalar, ahead: Scalar) -> None:
    """Set data.net to tau - D qd - K (q + ahead qd - rest) less dry friction, and data.added to h D + h^2 K: the
    decrease of net if qd grows by h qdd, and q by h times that."""
    joints = data.joints
    evaluate_controller(data, t, q, qd)
    for k in range(len(qd)):
        d, K = joints.damping[k], joints.stiffness[k]
        data.net[k] = (data.tau[k] - d * qd[k] - joints.friction[k] * data.slip[k]
                       - K * (stretch(data, q, k) + ahead * qd[k]))
        data.added[k] = h * d + (h * h) * K
    if len(qd) > 0 and data.calls[FORCES] != 0:
        add_forces(data, t, q, qd, ahead)
        for k in range(len(qd)):
            data.net[k] += data.terms[0, k]
            data.added[k] += h * data.terms[2, k] + (h * h) * data.terms[1, k]


@kernel
def accelerate(data: StepData, t: Scalar, q: list, qd: list, h: Scalar, qdd: list) -> None:
    """Set qdd to the solution of (M + h D + h^2 K) qdd = tau - D qd - K (q + h qd - rest) - C qd - g less dry friction,
    with damping D and spring stiffness K. With h > 0 both act at the end of a step, at qd + h qdd and q + h (qd + h
    qdd)."""
    load(data, t, q, qd, h, h)
    solve(data, q, qd, data.net, data.added, qdd)


@kernel
def any_limits(joints: JointSettings) -> bool:
    """Return True if any joint has a limit that does not act."""
    for k in range(len(joints.least)):
        if joints.least[k] > -np.inf or joints.most[k] < np.inf:
            return True
    return False


@kernel
def beyond(data: StepData, q: list) -> Any:
    """Return the mask of lanes on which a joint is beyond a limit that does not act."""
    found = null(q[0]) > 1.0
    for k in range(len(data.joints.least)):
        m = place_in_q(data.space, data.joints, k)
        if m >= 0:
            found = found | (q[m] < data.joints.least[k]) | (q[m] > data.joints.most[k])
    return found


@kernel
def begin_step(data: StepData, q: list, qd: list) -> None:
    """Store the state at the start of a step, the sign of each velocity, and the bounds of dry friction."""
    for k in range(len(qd)):
        none = null(qd[k])
        data.begin[k] = qd[k]
        data.slip[k] = where(qd[k] > 0.0, none + 1.0, where(qd[k] < 0.0, none - 1.0, none))
        data.dry[k], data.acts[STICKS, k], data.acts[ADDED, k] = none + data.joints.friction[k], none, none
    for k in range(len(q)):
        data.start[k] = q[k]
    if len(qd) > 0:
        data.span[1] = null(qd[0])


@noinline
def put_bounds(data: StepData, h: Scalar, q: list, qd: list, turning: bool) -> bool:
    """Set data.acts, the bounds of impulses in a step of length h, at a configuration within the stops. Return True if
    any joint needs an impulse.

    A stop pushes inward. Dry friction already resisted the slip at the start of the step with its effort f. Its impulse
    in the whole step is within [-h f, h f]; the remainder is within these bounds less the impulse already applied.
    turning: the bounds are those of the fraction of the step after a joint turned round, at constant acceleration;
    exact to order 2."""
    joints, acts, needed = data.joints, data.acts, False
    for k in range(len(qd)):
        m, none, v = place_in_q(data.space, joints, k), null(qd[k]), qd[k]
        friction = h * data.dry[k]
        if turning:
            turned = v * data.begin[k] < 0.0
            friction *= where(turned, v / where(turned, v - data.begin[k], none + 1.0), none + 1.0)
        lower, upper = (data.slip[k] - 1.0) * friction, (data.slip[k] + 1.0) * friction
        acts[STICKS, k] = where((friction > 0.0) & (data.slip[k] == 0.0), none + 1.0, acts[STICKS, k])
        if m >= 0:
            lower = where(q[m] >= joints.upper[k], none - np.inf, lower)
            upper = where(q[m] <= joints.lower[k], none + np.inf, upper)
            acts[STICKS, k] = where((q[m] >= joints.upper[k]) | (q[m] <= joints.lower[k]), none, acts[STICKS, k])
        acts[LOWER, k], acts[UPPER, k] = lower, upper
        needed = needed or some((v < 0.0) & (upper > 0.0) | (v > 0.0) & (lower < 0.0))
    return needed


@noinline
def push(data: StepData, h: Scalar, q: list, qd: list) -> list:
    """Apply the impulses of a step of length h to the velocities qd at its start q, by Moreau's rule, for steps whose
    displacement uses the velocities at their end. Return the velocities of the displacement, which also correct
    penetrations of contacts. No friction remains for the end of the step."""
    if data.calls[PROJECT] == 0:
        return qd
    for k in range(len(qd)):
        data.acts[ADDED, k] = data.added[k]
    if put_bounds(data, h, q, qd, False) or data.calls[DETECT] != 0:
        project(data, PUSHED, h, q, qd)
    for k in range(len(qd)):
        data.dry[k] = data.acts[ADDED, k] = null(qd[k])
        if data.calls[DETECT] == 0:
            data.moved[k] = qd[k]
    data.span[1] = null(qd[0]) + 1.0
    return data.moved


@noinline
def end_step(data: StepData, h: Scalar, q: list, qd: list) -> None:
    """End a step of length h: move joints beyond their stops back to them, and apply impulses.

    A joint held by friction ends where the step began: it does not creep."""
    joints = data.joints
    for k in range(len(qd)):
        m, low, high = place_in_q(data.space, joints, k), joints.lower[k], joints.upper[k]
        if m >= 0:
            q[m] = where(q[m] < low, over(low, q[m]), where(q[m] > high, over(high, q[m]), q[m]))
    restore = data.calls[RESTORE]
    over_ = data.calls[DETECT] != 0 and restore == NOTHING and not some(data.span[1] == 0.0)  # contact impulses applied
    if put_bounds(data, h, q, qd, True) or (restore > NEEDED and not over_):
        project(data, restore, h, q, qd)


@kernel
def project(data: StepData, what: int, h: Scalar, q: list, qd: list) -> None:
    """Project the state onto the constraints, with the impulses of stops, friction and contacts of a step of length
    h."""
    if len(qd) > 0:
        data.span[0] = over(h, qd[0])
        call(data.calls[PROJECT], (data.memory, what, at(data.calls[DETECT:]), at(data.acts), at(data.start),
                                   at(data.begin), at(data.span), at(q), at(qd), at(data.moved)))
