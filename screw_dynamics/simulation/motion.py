"""What moves a robot in a rollout: forward dynamics with friction, a controller, and position stops.

Forward dynamics and the controller are compiled apart, and called at addresses: an integrator is compiled once for all
robots and controllers."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.friction import resistance
from screw_dynamics.compiled.native import at, attempt, call
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, null, outlined, over

from .space import place_in_q

BLOCK = 1e12        # kg m^2 or kg: armature of a joint at its stop, far more than any robot's inertia


class Motion(NamedTuple):
    """The robot and its actuation in a rollout.

    space: None, or Groups where joints are on groups. memory: address of the workspace; calls: addresses of compiled
    functions, of forward dynamics and of the controller first; joints (6, n): damping, friction, lower and upper stop,
    see steps.py; watch: what a failing controller is stored in; vectors (n): tau, the efforts, and memory for the
    inputs of forward dynamics and of the controller, whose time is the first entry of t."""

    space: Any
    memory: int
    calls: Any
    joints: Any
    watch: Any
    tau: Any
    net: Any
    armature: Any
    q: Any
    qd: Any
    t: Any


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
    attempt(motion.calls[1], (motion.memory, at(motion.calls), at(motion.t), at(motion.q), at(motion.qd),
                              at(motion.tau)), motion.watch)


@kernel
def solve(motion: Motion, q: list, qd: list, tau: list, armature: list, qdd: list) -> None:
    """qdd from (M + armature) qdd = tau - C qd - g."""
    call(motion.calls[0], (motion.memory, 0, at(q), at(qd), at(tau), at(armature), at(qdd)))


@kernel
def accelerate(motion: Motion, t: Scalar, q: list, qd: list, h: Scalar, qdd: list) -> None:
    """qdd from (M + h D) qdd = tau - D qd - C qd - g, D qd the effort of friction; with h > 0, at qd + h qdd."""
    joints, tau = motion.joints, motion.tau
    if len(qd) > 0 and motion.calls[1] != 0:
        control(motion, t, q, qd)
    for k in range(len(qd)):
        d = resistance(joints[0, k], joints[1, k], qd[k])
        motion.net[k] = tau[k] - d * qd[k]
        motion.armature[k] = h * d
    solve(motion, q, qd, motion.net, motion.armature, qdd)


@kernel
def has_stops(joints: np.ndarray) -> bool:
    """True if any joint has a position stop."""
    for k in range(joints.shape[1]):
        if joints[2, k] > -np.inf or joints[3, k] < np.inf:
            return True
    return False


@outlined
def stop_at_limits(motion: Motion, q: list, qd: list, stages: Stages) -> None:
    """Position stops: a joint beyond its limit is set back to it, and its velocity outwards to 0.

    The impulse of a stop acts on all joints, or energy would be added: (M + D) dqd = -D qd with D large enough at a
    blocked joint to hold it. Forward dynamics solves this, as the difference of two results, in which gravity cancels.
    An impulse at one stop may drive another joint against its own, hence the iterations."""
    joints, D, rest, push = motion.joints, motion.armature, motion.qd, motion.net
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
