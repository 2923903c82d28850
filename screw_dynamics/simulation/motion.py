"""What moves a robot in a rollout: forward dynamics with friction, a controller, and position stops."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.friction import resistance
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.lanes import extract, insert, places
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, null, outlined, over

BLOCK = 1e12        # kg m^2 or kg: armature of a joint at its stop, far more than any robot's inertia


class Motion(NamedTuple):
    """The robot and its actuation in a rollout.

    links and body: the tables of an algorithm of forward dynamics; joints (4, n): damping, friction, lower and upper
    stop; tau (n): the efforts; controller(t, q, qd, tau): sets them if `controlled`; numbers (3, n): its arguments."""

    links: object
    body: object
    joints: object
    tau: object
    controller: object
    controlled: object
    numbers: object


class Stages(NamedTuple):
    """Memory of a step: rates of change of q and qd at each stage (stages, n), and the state of one stage (n)."""

    dq: object
    dv: object
    q: object
    v: object


@kernel
def control(motion: Motion, t: Scalar, q: list, qd: list) -> None:
    """Let the controller set the efforts of each state."""
    here, rate, effort = motion.numbers[0], motion.numbers[1], motion.numbers[2]
    for place in range(places(q[0])):
        for k in range(len(q)):
            here[k], rate[k], effort[k] = extract(q[k], place), extract(qd[k], place), 0.0
        motion.controller(extract(t, place), here, rate, effort)
        for k in range(len(q)):
            motion.tau[k] = insert(motion.tau[k], place, effort[k])


@kernel
def accelerate(algorithm: Callable, motion: Motion, t: Scalar, q: list, qd: list, h: Scalar,
               qdd: list) -> None:
    """qdd from (M + h D) qdd = tau - D qd - C qd - g, D qd the effort of friction; with h > 0, at qd + h qdd."""
    links, body, joints, tau = motion.links, motion.body, motion.joints, motion.tau
    if motion.controlled:
        control(motion, t, q, qd)
    for i in range(1, len(body.q)):
        k = links.coordinate[i]
        d = resistance(joints[0, k], joints[1, k], qd[k])
        body.q[i], body.qd[i] = q[k], qd[k]
        body.tau[i] = tau[k] - d * qd[k]
        body.armature[i] = h * d
    for k in range(len(qdd)):
        qdd[k] = null(qdd[k])
    algorithm(links, body, qdd)


@kernel
def has_stops(joints: np.ndarray) -> bool:
    """True if any joint has a position stop."""
    for k in range(joints.shape[1]):
        if joints[2, k] > -np.inf or joints[3, k] < np.inf:
            return True
    return False


@outlined
def solve(algorithm: Callable, links: Link, body: NamedTuple, qdd: list) -> None:
    """qdd from the inputs in `body`; not inlined, as calls are rare and each would be compiled again."""
    for k in range(len(qdd)):
        qdd[k] = null(qdd[k])
    algorithm(links, body, qdd)


@outlined
def stop_at_limits(algorithm: Callable, motion: Motion, q: list, qd: list, stages: Stages) -> None:
    """Position stops: a joint beyond its limit is set back to it, and its velocity outwards to 0.

    The impulse of a stop acts on all joints, or energy would be added: (M + D) dqd = -D qd with D large enough at a
    blocked joint to hold it. Forward dynamics solves this, as the difference of two results, in which gravity cancels.
    An impulse at one stop may drive another joint against its own, hence the iterations."""
    links, body, joints = motion.links, motion.body, motion.joints
    held, free, D = stages.dv[0], stages.dv[1], stages.dq[0]
    for _ in range(len(q)):
        any_blocked = False
        for k in range(len(q)):
            low, high, none = joints[2, k], joints[3, k], null(q[k])
            q[k] = where(q[k] < low, over(low, q[k]), where(q[k] > high, over(high, q[k]), q[k]))
            D[k] = where(qd[k] < 0.0, where(q[k] <= low, over(BLOCK, q[k]), none),
                         where(qd[k] > 0.0, where(q[k] >= high, over(BLOCK, q[k]), none), none))
            any_blocked = any_blocked or some(D[k] > 0.0)
        if not any_blocked:
            return
        for i in range(1, len(body.q)):
            k = links.coordinate[i]
            body.q[i], body.qd[i], body.armature[i], body.tau[i] = q[k], null(q[k]), D[k], null(q[k])
        solve(algorithm, links, body, free)
        for i in range(1, len(body.q)):
            k = links.coordinate[i]
            body.tau[i] = -D[k] * qd[k]
        solve(algorithm, links, body, held)
        for k in range(len(q)):
            qd[k] = where(D[k] > 0.0, null(q[k]), qd[k] + (held[k] - free[k]))
