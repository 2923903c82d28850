"""Dynamics of a robot in a rollout: forward dynamics, friction, springs and other forces, a controller, position stops.

Forward dynamics, forces and the controller are compiled apart, and called at addresses: an integrator is compiled once
for all robots, forces and controllers."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.space import PLACE, place_in_q
from screw_dynamics.compiled.native import at, attempt, call
from screw_dynamics.compiled.workspace import interrupt_at
from screw_dynamics.constraints.impulses import ADDED, LOWER, STICKS, UPPER
from screw_dynamics.constraints.projection import NEEDED, NOTHING, PUSHED
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null, over

# The first among the addresses of compiled functions; at ELEMENTS are the numbers of the elements of force, and
# RESTORE says what PROJECT brings back after a step; DETECT and SOLVE are those of contacts, which PROJECT calls, and
# FACTORS is 1 where FORWARD leaves M^-1 in the workspace for them.
FORWARD, CONTROLLER, MOMENTA, FORCES, ELEMENTS, PROJECT, RESTORE, DETECT, SOLVE, FACTORS = range(10)
SPRING, REST, LEAST, MOST = range(PLACE + 1, PLACE + 5)     # rows of joints


class Plant(NamedTuple):
    """The robot and its actuation in a rollout.

    space: None, or Groups where joints are on groups. memory: address of the workspace, in whose INTERRUPT is what a
    failing controller raised; calls: addresses of compiled functions, see FORWARD; joints (11, n): damping, friction,
    lower and upper stop, stiffness and rest of the springs, and limits that do not act, see steps.py; vectors (n): tau,
    the efforts, and memory for the inputs of forward dynamics and of the controller, whose time is the first entry of
    t; terms (3, n): memory for what elements of force add up to. begin (n): the velocities where a step starts, slip
    (n) their signs, by which dry friction resists in it, dry (n) its efforts, start (nq) the configuration there; acts
    (ACTS, n): memory. span (2): the length of the step, and 1 where its impulses have acted already; moved (n): the
    velocities of its displacement, where they are not those at its end."""

    space: Any
    memory: int
    calls: Any
    joints: Any
    tau: Any
    net: Any
    added: Any
    q: Any
    qd: Any
    t: Any
    terms: Any
    begin: Any
    slip: Any
    dry: Any
    start: Any
    acts: Any
    span: Any
    moved: Any


class Stages(NamedTuple):
    """Memory of a step: rates of change of u, the displacement from q, and of qd at each stage (stages, at least n); of
    one stage the state, q (nq) and v (n), and u (n)."""

    dq: object
    dv: object
    q: object
    v: object
    u: object


@kernel
def control(plant: Plant, t: Scalar, q: list, qd: list) -> None:
    """Let the controller set the efforts from copies of the state."""
    for k in range(len(q)):
        plant.q[k] = q[k]
    for k in range(len(qd)):
        plant.qd[k], plant.tau[k] = qd[k], null(qd[k])
    plant.t[0] = over(t, qd[0])
    attempt(plant.calls[CONTROLLER], (plant.memory, at(plant.calls), at(plant.t), at(plant.q), at(plant.qd),
                              at(plant.tau)), interrupt_at(plant.memory).failure)


@kernel
def solve(plant: Plant, q: list, qd: list, tau: list, added: list, qdd: list) -> None:
    """qdd from (M + added) qdd = tau - C qd - g."""
    call(plant.calls[FORWARD], (plant.memory, 0, at(q), at(qd), at(tau), at(added), at(q), at(qdd)))


@kernel
def momenta(plant: Plant, q: list, qd: list, out: np.ndarray) -> None:
    """out (3, n) becomes p = M qd, dT/dq and g."""
    call(plant.calls[MOMENTA], (plant.memory, 0, at(q), at(qd), at(q), at(q), at(q), at(out)))


@kernel
def renew(plant: Plant, t: Scalar, q: list, qd: list) -> None:
    """Let the controller, if there is one, set the efforts."""
    if len(qd) > 0 and plant.calls[CONTROLLER] != 0:
        control(plant, t, q, qd)


@kernel
def stretch(plant: Plant, q: list, k: int) -> Scalar:
    """Return the displacement of a joint from where its spring is at rest; 0 for the velocity of a Lie-group joint."""
    m = place_in_q(plant.space, plant.joints, k)
    return q[m] - plant.joints[REST, k] if m >= 0 else null(q[0])


@kernel
def add_forces(plant: Plant, t: Scalar, q: list, qd: list, ahead: Scalar) -> None:
    """Set plant.terms to the efforts of force elements, their stiffness and their damping; forces/kernels.py."""
    plant.t[0] = over(t, qd[0])
    attempt(plant.calls[FORCES], (plant.memory, plant.calls[ELEMENTS], at(plant.t), ahead, at(q), at(qd),
                                   at(plant.terms)), interrupt_at(plant.memory).failure)


@kernel
def load(plant: Plant, t: Scalar, q: list, qd: list, h: Scalar, ahead: Scalar) -> None:
    """Set plant.net to tau - D qd - K (q + ahead qd - rest) less dry friction, and plant.added to h D + h^2 K: what
    these lose if qd grows by h qdd, and q by h times that."""
    joints = plant.joints
    renew(plant, t, q, qd)
    for k in range(len(qd)):
        d, K = joints[0, k], joints[SPRING, k]
        plant.net[k] = (plant.tau[k] - d * qd[k] - joints[1, k] * plant.slip[k]
                         - K * (stretch(plant, q, k) + ahead * qd[k]))
        plant.added[k] = h * d + (h * h) * K
    if len(qd) > 0 and plant.calls[FORCES] != 0:
        add_forces(plant, t, q, qd, ahead)
        for k in range(len(qd)):
            plant.net[k] += plant.terms[0, k]
            plant.added[k] += h * plant.terms[2, k] + (h * h) * plant.terms[1, k]


@kernel
def accelerate(plant: Plant, t: Scalar, q: list, qd: list, h: Scalar, qdd: list) -> None:
    """qdd from (M + h D + h^2 K) qdd = tau - D qd - K (q + h qd - rest) - C qd - g less dry friction, D the damping
    and K the stiffness of springs: with h > 0 both at the end of a step, qd + h qdd and q + h (qd + h qdd)."""
    load(plant, t, q, qd, h, h)
    solve(plant, q, qd, plant.net, plant.added, qdd)


@kernel
def any_bounds(joints: np.ndarray, least: int, most: int) -> bool:
    """True if any joint has a bound in these rows."""
    for k in range(joints.shape[1]):
        if joints[least, k] > -np.inf or joints[most, k] < np.inf:
            return True
    return False


@kernel
def beyond(plant: Plant, q: list) -> Any:
    """Return True where any joint is beyond a limit that does not act."""
    found = null(q[0]) > 1.0
    for k in range(plant.joints.shape[1]):
        m = place_in_q(plant.space, plant.joints, k)
        if m >= 0:
            found = found | (q[m] < plant.joints[LEAST, k]) | (q[m] > plant.joints[MOST, k])
    return found


@kernel
def begin_step(plant: Plant, q: list, qd: list) -> None:
    """Keep what the end of a step asks of its start."""
    for k in range(len(qd)):
        none = null(qd[k])
        plant.begin[k] = qd[k]
        plant.slip[k] = where(qd[k] > 0.0, none + 1.0, where(qd[k] < 0.0, none - 1.0, none))
        plant.dry[k], plant.acts[STICKS, k], plant.acts[ADDED, k] = none + plant.joints[1, k], none, none
    for k in range(len(q)):
        plant.start[k] = q[k]
    if len(qd) > 0:
        plant.span[1] = null(qd[0])


@noinline
def put_bounds(plant: Plant, h: Scalar, q: list, qd: list, turning: bool) -> bool:
    """Set plant.acts for a step of length h, at a configuration within the stops. Returns whether any joint needs an
    impulse.

    A stop pushes inwards. Dry friction has resisted the slip at the start of the step with its effort f; its impulse in
    the whole step is within [-h f, h f], and so what is left of it within that, less that of the step. turning: it is
    that of the share of the step after a joint turned round, at constant acceleration: exact to order 2."""
    joints, acts, needed = plant.joints, plant.acts, False
    for k in range(len(qd)):
        m, none, v = place_in_q(plant.space, joints, k), null(qd[k]), qd[k]
        friction = h * plant.dry[k]
        if turning:
            turned = v * plant.begin[k] < 0.0
            friction *= where(turned, v / where(turned, v - plant.begin[k], none + 1.0), none + 1.0)
        lower, upper = (plant.slip[k] - 1.0) * friction, (plant.slip[k] + 1.0) * friction
        acts[STICKS, k] = where((friction > 0.0) & (plant.slip[k] == 0.0), none + 1.0, acts[STICKS, k])
        if m >= 0:
            lower = where(q[m] >= joints[3, k], none - np.inf, lower)
            upper = where(q[m] <= joints[2, k], none + np.inf, upper)
            acts[STICKS, k] = where((q[m] >= joints[3, k]) | (q[m] <= joints[2, k]), none, acts[STICKS, k])
        acts[LOWER, k], acts[UPPER, k] = lower, upper
        needed = needed or some((v < 0.0) & (upper > 0.0) | (v > 0.0) & (lower < 0.0))
    return needed


@noinline
def push(plant: Plant, h: Scalar, q: list, qd: list) -> list:
    """The impulses of a step of length h on the velocities qd, at its start q: Moreau's rule, for steps whose
    displacement is that of the velocities at their end. No friction is left for the end then. Returns the velocities of
    the displacement, which corrects penetrations of contacts, too."""
    if plant.calls[PROJECT] == 0:
        return qd
    for k in range(len(qd)):
        plant.acts[ADDED, k] = plant.added[k]
    if put_bounds(plant, h, q, qd, False) or plant.calls[DETECT] != 0:
        project(plant, PUSHED, h, q, qd)
    for k in range(len(qd)):
        plant.dry[k] = plant.acts[ADDED, k] = null(qd[k])
        if plant.calls[DETECT] == 0:
            plant.moved[k] = qd[k]
    plant.span[1] = null(qd[0]) + 1.0
    return plant.moved


@noinline
def end_step(plant: Plant, h: Scalar, q: list, qd: list) -> None:
    """The end of a step of length h: joints beyond their stops are set back to them, and impulses act.

    A joint that friction holds is where the step began: it does not creep."""
    joints = plant.joints
    for k in range(len(qd)):
        m, low, high = place_in_q(plant.space, joints, k), joints[2, k], joints[3, k]
        if m >= 0:
            q[m] = where(q[m] < low, over(low, q[m]), where(q[m] > high, over(high, q[m]), q[m]))
    restore = plant.calls[RESTORE]
    over_ = plant.calls[DETECT] != 0 and restore == NOTHING and not some(plant.span[1] == 0.0)     # contacts have acted
    if put_bounds(plant, h, q, qd, True) or (restore > NEEDED and not over_):
        project(plant, restore, h, q, qd)


@kernel
def project(plant: Plant, what: int, h: Scalar, q: list, qd: list) -> None:
    """Bring the state back to the constraints of the robot, with what acts on its joints, in a step of length h."""
    if len(qd) > 0:
        plant.span[0] = over(h, qd[0])
        call(plant.calls[PROJECT], (plant.memory, what, at(plant.calls[DETECT:]), at(plant.acts), at(plant.start),
                                    at(plant.begin), at(plant.span), at(q), at(qd), at(plant.moved)))
