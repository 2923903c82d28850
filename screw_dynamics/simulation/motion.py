"""What moves a robot in a rollout: forward dynamics, friction, springs and other forces, a controller, position stops.

Forward dynamics, forces and the controller are compiled apart, and called at addresses: an integrator is compiled once
for all robots, forces and controllers."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.friction import resistance
from screw_dynamics.algorithms.space import PLACE, place_in_q
from screw_dynamics.compiled.native import at, attempt, call
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, null, outlined, over

BLOCK = 1e12        # kg m^2 or kg: added inertia of a joint at its stop, far more than any robot's inertia
# The first among the addresses of compiled functions; at ELEMENTS are the numbers of the elements of force.
FORWARD, CONTROLLER, MOMENTA, FORCES, ELEMENTS = range(5)
SPRING, REST, LEAST, MOST = range(PLACE + 1, PLACE + 5)     # rows of joints


class Motion(NamedTuple):
    """The robot and its actuation in a rollout.

    space: None, or Groups where joints are on groups. memory: address of the workspace; calls: addresses of compiled
    functions, see FORWARD; joints (11, n): damping, friction, lower and upper stop, stiffness and rest of the springs,
    and limits that do not act, see steps.py; watch: what a failing controller is stored in; vectors (n): tau, the
    efforts, and memory for the inputs of forward dynamics and of the controller, whose time is the first entry of t;
    terms (3, n): memory for what elements of force add up to."""

    space: Any
    memory: int
    calls: Any
    joints: Any
    watch: Any
    tau: Any
    net: Any
    added: Any
    q: Any
    qd: Any
    t: Any
    terms: Any


class Stages(NamedTuple):
    """Memory of a step: rates of change of u, the displacement from q, and of qd at each stage (stages, at least n); of
    one stage the state, q (nq) and v (n), and u (n)."""

    dq: object
    dv: object
    q: object
    v: object
    u: object


@kernel
def control(motion: Motion, t: Scalar, q: list, qd: list) -> None:
    """Let the controller set the efforts from copies of the state."""
    for k in range(len(q)):
        motion.q[k] = q[k]
    for k in range(len(qd)):
        motion.qd[k], motion.tau[k] = qd[k], null(qd[k])
    motion.t[0] = over(t, qd[0])
    attempt(motion.calls[CONTROLLER], (motion.memory, at(motion.calls), at(motion.t), at(motion.q), at(motion.qd),
                              at(motion.tau)), motion.watch)


@kernel
def solve(motion: Motion, q: list, qd: list, tau: list, added: list, qdd: list) -> None:
    """qdd from (M + added) qdd = tau - C qd - g."""
    call(motion.calls[FORWARD], (motion.memory, 0, at(q), at(qd), at(tau), at(added), at(qdd)))


@kernel
def momenta(motion: Motion, q: list, qd: list, out: np.ndarray) -> None:
    """out (3, n) becomes p = M qd, dT/dq and g."""
    call(motion.calls[MOMENTA], (motion.memory, 0, at(q), at(qd), at(qd), at(qd), at(out)))


@kernel
def renew(motion: Motion, t: Scalar, q: list, qd: list) -> None:
    """Let the controller, if there is one, set the efforts."""
    if len(qd) > 0 and motion.calls[CONTROLLER] != 0:
        control(motion, t, q, qd)


@kernel
def stretch(motion: Motion, q: list, k: int) -> Scalar:
    """How far a joint is from where its spring is at rest; 0 for the velocity of a joint on a group."""
    m = place_in_q(motion.space, motion.joints, k)
    return q[m] - motion.joints[REST, k] if m >= 0 else null(q[0])


@kernel
def add_forces(motion: Motion, t: Scalar, q: list, qd: list, ahead: Scalar) -> None:
    """Set motion.terms to the efforts of force elements, their stiffness and their damping; forces/kernels.py."""
    motion.t[0] = over(t, qd[0])
    attempt(motion.calls[FORCES], (motion.memory, motion.calls[ELEMENTS], at(motion.t), ahead, at(q), at(qd),
                                   at(motion.terms)), motion.watch)


@kernel
def load(motion: Motion, t: Scalar, q: list, qd: list, h: Scalar, ahead: Scalar) -> None:
    """Set motion.net to tau - D qd - K (q + ahead qd - rest), D qd the effort of friction, and motion.added to
    h D + h^2 K: what these lose if qd grows by h qdd, and q by h times that."""
    joints = motion.joints
    renew(motion, t, q, qd)
    for k in range(len(qd)):
        d, K = resistance(joints[0, k], joints[1, k], qd[k]), joints[SPRING, k]
        motion.net[k] = motion.tau[k] - d * qd[k] - K * (stretch(motion, q, k) + ahead * qd[k])
        motion.added[k] = h * d + (h * h) * K
    if len(qd) > 0 and motion.calls[FORCES] != 0:
        add_forces(motion, t, q, qd, ahead)
        for k in range(len(qd)):
            motion.net[k] += motion.terms[0, k]
            motion.added[k] += h * motion.terms[2, k] + (h * h) * motion.terms[1, k]


@kernel
def accelerate(motion: Motion, t: Scalar, q: list, qd: list, h: Scalar, qdd: list) -> None:
    """qdd from (M + h D + h^2 K) qdd = tau - D qd - K (q + h qd - rest) - C qd - g, D qd the effort of friction and K
    the stiffness of springs: with h > 0 both at the end of a step, qd + h qdd and q + h (qd + h qdd)."""
    load(motion, t, q, qd, h, h)
    solve(motion, q, qd, motion.net, motion.added, qdd)


@kernel
def any_bounds(joints: np.ndarray, least: int, most: int) -> bool:
    """True if any joint has a bound in these rows."""
    for k in range(joints.shape[1]):
        if joints[least, k] > -np.inf or joints[most, k] < np.inf:
            return True
    return False


@kernel
def has_stops(joints: np.ndarray) -> bool:
    """True if any joint has a position stop."""
    return any_bounds(joints, 2, 3)


@kernel
def beyond(motion: Motion, q: list) -> Any:
    """Where any joint is beyond a limit that does not act."""
    found = null(q[0]) > 1.0
    for k in range(motion.joints.shape[1]):
        m = place_in_q(motion.space, motion.joints, k)
        if m >= 0:
            found = found | (q[m] < motion.joints[LEAST, k]) | (q[m] > motion.joints[MOST, k])
    return found


@outlined
def stop_at_limits(motion: Motion, q: list, qd: list, stages: Stages) -> None:
    """Position stops: a joint beyond its limit is set back to it, and its velocity outwards to 0.

    The impulse of a stop acts on all joints, or energy would be added: (M + D) dqd = -D qd with D large enough at a
    blocked joint to hold it. Forward dynamics solves this, as the difference of two results, in which gravity cancels.
    An impulse at one stop may drive another joint against its own, hence the iterations."""
    joints, D, rest, push = motion.joints, motion.added, motion.qd, motion.net
    held, free = stages.dv[0], stages.dv[1]
    for _ in range(len(qd)):
        any_blocked = False
        for k in range(len(qd)):
            low, high, none, m = joints[2, k], joints[3, k], null(qd[k]), place_in_q(motion.space, joints, k)
            D[k] = none
            if m >= 0:
                q[m] = where(q[m] < low, over(low, q[m]), where(q[m] > high, over(high, q[m]), q[m]))
                D[k] = where(qd[k] < 0.0, where(q[m] <= low, over(BLOCK, none), none),
                             where(qd[k] > 0.0, where(q[m] >= high, over(BLOCK, none), none), none))
            any_blocked = any_blocked or some(D[k] > 0.0)
        if not any_blocked:
            return
        for k in range(len(qd)):
            rest[k] = push[k] = null(qd[k])
        solve(motion, q, rest, push, D, free)
        for k in range(len(qd)):
            push[k] = -D[k] * qd[k]
        solve(motion, q, rest, push, D, held)
        for k in range(len(qd)):
            qd[k] = where(D[k] > 0.0, null(qd[k]), qd[k] + (held[k] - free[k]))
