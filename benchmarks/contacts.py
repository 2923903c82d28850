"""Robots that touch: time and accuracy of a step, beside MuJoCo's, and the contact problem by Pinocchio's ADMM.

python -m benchmarks.contacts, from the root of the repository. A box of 1 kg on a slope of 20 degrees, ANYmal on four
feet, Talos on two soles, with friction 0.8 and steps of 1 ms; the same servos in both. Times are those of this process
alone, on one core, of many steps in one call, taken in turns. MuJoCo runs as it is by default, and stiff: elliptic
cones, contacts as stiff as its step allows. Boxes apart on the ground, and stacks of boxes, as users call rollout, and
without a report of contacts. Accuracy is what ContactBench asks (Le Lidec et al., arXiv 2304.06372), of
the last steps of a second, from forces, velocities after the step and gaps before it, in the same way for all:

complementarity   the largest f_n (v_n + max(gap, 0) / h), W
cone              the largest |f_t| - mu f_n, N
dissipation       the largest f_t . v_t + mu f_n |v_t|, W: 0 where a contact sticks, or friction opposes the sliding
penetration       the deepest, um
creep             the mean |v_t| of contacts that press, um/s
sunk              how far the base is below where it was put, mm: its servos give, too"""
import argparse
import statistics
import time
from copy import copy
from typing import NamedTuple

import mujoco
import mujoco.rollout
import numpy as np
from scipy.spatial.transform import Rotation

from . import machine
from .contact_admm import admm
from .contact_scenes import DT, FRICTION, SCENES, boxes

STEPS, TURNS = 2000, 21
SECOND, SEEN = 1000, 100        # steps of the motion whose accuracy is seen, and the last of them that are
BATCH, BATCH_STEPS, BATCH_TURNS = 4096, 25, 5
COUNTS = {"apart": (1, 5, 10, 20, 40, 80, 200, 1000), "stacked": (5, 10, 20)}
OURS, UNREPORTED, THEIRS, STIFF = "screw_dynamics", "contacts=False", "MuJoCo", "MuJoCo, stiff"
TARGETS = {"box": 2.0, "ANYmal": 1.0, "Talos": 1.0}     # times MuJoCo's step, at most
IN_BATCHES = {"box": 8.0, "ANYmal": 8.0}                # times faster than MuJoCo, at least


class Accuracy(NamedTuple):
    """What the docstring of this file says."""

    complementarity: float
    cone: float
    dissipation: float
    penetration: float
    creep: float
    sunk: float


def criteria(force, velocity, gap):
    """The first five of an Accuracy, of contacts: forces and velocities (..., 3), normal last, and gaps (...)."""
    f, v, fn, vn = force[..., :2], velocity[..., :2], force[..., 2], velocity[..., 2]
    return (np.abs(fn * (vn + np.maximum(gap, 0.0) / DT)).max(),
            max(0.0, (np.linalg.norm(f, axis=-1) - FRICTION * fn).max()),
            np.abs((f * v).sum(axis=-1) + FRICTION * fn * np.linalg.norm(v, axis=-1)).max(),
            max(0.0, -1e6 * gap.min()), 1e6 * np.linalg.norm(v[fn > 0.0], axis=-1).mean())


# ------------------------------------------------------------------------------------------------- ours
def our_accuracy(case):
    """Of the last SEEN steps of a second."""
    scene = case.scene
    motion = scene.rollout(case.q, None, case.servos, DT, SECOND)
    q = motion.q[-SEEN - 1:-1]
    qd = at_start(q, motion.q[-SEEN:], motion.qd[-SEEN:])
    touches = type(motion.contacts)(*(x[-SEEN:] for x in motion.contacts))
    force, velocity = np.zeros((*touches.gap.shape, 3)), np.zeros((*touches.gap.shape, 3))
    for k, pair in enumerate(scene.contact_model.pairs):
        here = touches.pair == k
        if not here.any():
            continue
        v = np.zeros((*here.shape, 3))
        for sign, collider in ((1.0, pair.first), (-1.0, pair.second)):
            link = scene.contact_model.colliders[collider].link
            twist = np.einsum("kij,kj->ki", scene.robot.jacobian(q, link, "hybrid"), qd)
            arm = touches.point - scene.robot.forward_kinematics(q, link)[:, None, :3, 3]
            v += sign * (twist[:, None, 3:] + np.cross(twist[:, None, :3], arm))
        for out, x in ((velocity, v), (force, touches.force)):
            out[here] = in_axes(x, touches.normal)[here]
    there = touches.pair >= 0
    return Accuracy(*criteria(force[there], velocity[there], touches.gap[there]),
                    1e3 * (case.q[2] - motion.q[-1, 2]))


def at_start(q, after, qd):
    """Velocities qd after steps from q to `after`, of the free base in the axes of q, where contacts are solved and
    Jacobians taken: in those at the end what sticks seems to creep, as its base turns."""
    R = Rotation.from_quat(q[:, 3:7]).inv() * Rotation.from_quat(after[:, 3:7])
    return np.hstack([R.apply(qd[:, :3]), R.apply(qd[:, 3:6]), qd[:, 6:]])


def in_axes(x, n):
    """The components (..., 3) of vectors x (..., 3) along two directions across n (..., 3), and along n."""
    t = np.cross(n, np.where(np.abs(n[..., :1]) < 0.9, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    t = t / np.linalg.norm(t, axis=-1, keepdims=True)
    return np.stack([(x * axis).sum(axis=-1) for axis in (t, np.cross(n, t), n)], axis=-1)


def our_turn(case):
    """A function that makes STEPS steps from where it stands."""
    q, qd = settled(case)
    return lambda: case.scene.rollout(q, qd, case.servos, DT, STEPS, every=STEPS, contacts=False)


def settled(case):
    """The state after half a second."""
    motion = case.scene.rollout(case.q, None, case.servos, DT, 500, every=500, contacts=False)
    return motion.q[-1], motion.qd[-1]


# ------------------------------------------------------------------------------------------------- MuJoCo's
def stiff(model):
    """The model with elliptic cones, little slip, and contacts with a time constant of two steps, its least."""
    other = copy(model)
    other.opt.cone, other.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
    other.geom_solref[:] = 2.0 * DT, 1.0
    return other


def started(case, model):
    """Its data, at rest where the case begins."""
    data = mujoco.MjData(model)
    data.qpos[:3], data.qpos[7:] = case.q[:3], case.q[7:]
    x, y, z, w = case.q[3:7]
    data.qpos[3:7] = w, x, y, z
    data.ctrl[:] = case.q[7:7 + model.nu]
    return data


def their_accuracy(case, model):
    """Of the last SEEN steps of a second."""
    data, force, velocity, gap = started(case, model), [], [], []
    mujoco.mj_step(model, data, SECOND - SEEN)
    f, J = np.zeros(6), np.zeros((3, model.nv))
    for _ in range(SEEN):
        mujoco.mj_step(model, data)         # kinematics and contacts are those where the step began
        for k, contact in enumerate(data.contact):
            mujoco.mj_contactForce(model, data, k, f)
            v = np.zeros(3)
            for sign, geom in ((1.0, contact.geom[1]), (-1.0, contact.geom[0])):
                mujoco.mj_jac(model, data, J, None, contact.pos, model.geom_bodyid[geom])
                v += sign * J @ data.qvel
            v = contact.frame.reshape(3, 3) @ v
            force.append(f[[1, 2, 0]])
            velocity.append(v[[1, 2, 0]])
            gap.append(contact.dist)
    return Accuracy(*criteria(np.array(force), np.array(velocity), np.array(gap)),
                    1e3 * (case.q[2] - data.qpos[2]))


def their_turn(case, model):
    """A function that makes STEPS steps from where it stands."""
    data = started(case, model)
    mujoco.mj_step(model, data, 500)
    return lambda: mujoco.mj_step(model, data, STEPS)


# ------------------------------------------------------------------------------------------------- side by side
def in_turns(calls, turns, clock):
    """The medians of so many turns of each call, in seconds; the first, which warms up, does not count."""
    taken = {name: [] for name in calls}
    for _ in range(turns + 1):
        for name, call in calls.items():
            begin = clock()
            call()
            taken[name].append(clock() - begin)
    return {name: statistics.median(seconds[1:]) for name, seconds in taken.items()}


def compared(name, turns):
    """{who: (us a step, Accuracy)} of a scene, and the Case."""
    case = SCENES[name]()
    models = {THEIRS: case.model, STIFF: stiff(case.model)}
    seconds = in_turns({OURS: our_turn(case), **{who: their_turn(case, model) for who, model in models.items()}},
                       turns, time.thread_time)
    found = {OURS: our_accuracy(case), **{who: their_accuracy(case, model) for who, model in models.items()}}
    return {who: (1e6 * seconds[who] / STEPS, found[who]) for who in seconds}, case


def batches(case, turns, threads, disturbance):
    """{who: ns a step of each of BATCH states} on so many threads, of states that stand, with random velocities of
    this deviation."""
    q, qd = settled(case)
    rng = np.random.default_rng(0)
    q, qd = np.tile(q, (BATCH, 1)), qd + rng.normal(scale=disturbance, size=(BATCH, case.scene.n))
    model, size = case.model, mujoco.mj_stateSize(case.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    initial = np.zeros((BATCH, size))
    initial[:, 1:1 + model.nq], initial[:, 1 + model.nq:1 + model.nq + model.nv] = q, qd
    initial[:, [4, 5, 6, 7]] = q[:, [6, 3, 4, 5]]
    control = np.tile(case.q[7:7 + model.nu], (BATCH, BATCH_STEPS, 1))
    pool, data = mujoco.rollout.Rollout(nthread=threads if threads > 1 else 0), [
        mujoco.MjData(model) for _ in range(threads)]
    calls = {OURS: lambda: case.scene.rollout(q, qd, case.servos, DT, BATCH_STEPS, every=BATCH_STEPS, contacts=False,
                                              threads=threads),
             THEIRS: lambda: pool.rollout(model, data, initial, control, nstep=BATCH_STEPS)}
    seconds = in_turns(calls, turns, time.perf_counter)
    return {who: 1e9 * x / (BATCH * BATCH_STEPS) for who, x in seconds.items()}


def of_boxes(count, stacked, turns):
    """{who: us a step} of boxes at rest."""
    scene, model = boxes(count, stacked)
    steps, data, q = max(20, STEPS // (2 * count)), mujoco.MjData(model), scene.neutral()
    mujoco.mj_step(model, data, 500)
    q = scene.rollout(q, steps=500, every=500, contacts=False).q[-1]
    seconds = in_turns({OURS: lambda: scene.rollout(q, dt=DT, steps=steps),
                        UNREPORTED: lambda: scene.rollout(q, dt=DT, steps=steps, every=steps, contacts=False),
                        THEIRS: lambda: mujoco.mj_step(model, data, steps)}, turns, time.thread_time)
    return {who: 1e6 * x / steps for who, x in seconds.items()}


def rows(name, found):
    """Lines of the table of a scene."""
    for who, (us, accuracy) in found.items():
        yield f"{name:22}{who:16}{us:8.2f} {1e6 / us:9.0f}  " + " ".join(f"{x:10.2g}" for x in accuracy)


def met(what, value, target, least=False):
    """A line about a target."""
    good = value >= target if least else value <= target
    return f"{what}: {value:.2f}, {'at least' if least else 'at most'} {target:g} wanted{'' if good else ': MISSED'}"


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contacts", description="Robots that touch.")
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that it works, not how fast")
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SCENES), help="only these")
    options = parser.parse_args()
    facts, lines = machine.describe(), []
    print(", ".join(f"{fact} {value}" for fact, value in facts.items()), flush=True)
    print(f"{'':22}{'':16}{'us/step':>8} {'steps/s':>9}  " + " ".join(f"{x[:10]:>10}" for x in Accuracy._fields))
    for name in options.scenes:
        found, case = compared(name, 3 if options.quick else TURNS)
        print("\n".join(rows(case.name, found)), flush=True)
        lines.append(met(f"{case.name}, a step, times MuJoCo's", found[OURS][0] / found[THEIRS][0], TARGETS[name]))
        for line in admm(case):
            print(f"{'':22}{line}", flush=True)
        for threads in [k for k in (1, 2) if k <= machine.cores() and name in IN_BATCHES]:
            for state, disturbance in (("at rest", 0.0), ("disturbed by 1 cm/s", 0.01)):
                ns = batches(case, 1 if options.quick else BATCH_TURNS, threads, disturbance)
                what = f"{BATCH} {state} on {threads} thread{'s' * (threads > 1)}"
                print(f"{'':22}{what}: " + ", ".join(f"{who} {x:.0f} ns" for who, x in ns.items()), flush=True)
                lines.append(met(f"{case.name}, {what}, times faster", ns[THEIRS] / ns[OURS], IN_BATCHES[name],
                                 least=True))
    print(f"\n{'boxes, us/step':22}{OURS:>16}{UNREPORTED:>16}{THEIRS:>16}")
    for how, counts in COUNTS.items():
        for count in counts[:2] if options.quick else counts:
            found = of_boxes(count, how == "stacked", 3 if options.quick else TURNS)
            print(f"{f'{count} {how}':22}" + "".join(f"{x:16.1f}" for x in found.values()), flush=True)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
