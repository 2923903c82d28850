"""A Panda behind springs: rollouts beside the rigid one's, and batches beside MuJoCo's.

python -m benchmarks.drives, from the root of the repository. MuJoCo has the motors as joints of light bodies on what
carries them, with the same inertia as armature, and the springs as fixed tendons. Steps are 0.2 ms of semi-implicit
Euler in both, on one thread; positions after them agree, or there is no time."""
import argparse
import math
import time

import mujoco
import mujoco.rollout
import numpy as np

import screw_dynamics as sd

from . import machine, robots
from .contacts import in_turns

INERTIA, STIFFNESS, DT = 0.5, 1e4, 2e-4     # kg m^2 and N m/rad of each joint; s
STEPS, TURNS = 2000, 21
BATCH, BATCH_STEPS, BATCH_TURNS = 4096, 25, 9
LIGHT, ALIKE = 1e-6, 1e-5                   # kg of a motor's body; rad
INTEGRATORS = "semi_implicit_euler", "rk4", "implicit_midpoint", "sdirk2"
SLOWER, FASTER = 2.5, 10.0                  # wanted: at most, than the rigid robot; at least, than MuJoCo


def elastic_in_mujoco(urdf):
    """MuJoCo's model of the robot with motors and springs."""
    spec = mujoco.MjSpec.from_string(urdf.replace("</robot>", """<mujoco><compiler fusestatic="true"
        discardvisual="true" strippath="true"/></mujoco></robot>"""))
    for body in spec.bodies:
        if body.mass < 1e-9:
            body.explicitinertial, body.fullinertia = False, [math.nan] * 6
    for joint in list(spec.joints):
        link = joint.parent
        motor = link.parent.add_body(name=f"{joint.name}_motor", pos=link.pos, quat=link.quat, mass=LIGHT,
                                     inertia=[LIGHT * 1e-3] * 3, explicitinertial=True)
        motor.add_joint(name=f"{joint.name}_motor", type=mujoco.mjtJoint.mjJNT_HINGE, axis=joint.axis, armature=INERTIA)
        joint.damping, joint.frictionloss = 0.0 * joint.damping, 0.0
        joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
        spring = spec.add_tendon(name=f"{joint.name}_spring", stiffness=np.array([STIFFNESS, 0.0, 0.0]))
        spring.wrap_joint(joint.name, 1.0)
        spring.wrap_joint(f"{joint.name}_motor", -1.0)
    model = spec.compile()
    model.opt.timestep = DT
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return model


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drives", description="Drives.")
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that it works, not how fast")
    quick = parser.parse_args().quick
    print(", ".join(f"{fact} {value}" for fact, value in machine.describe().items()), flush=True)
    urdf = robots.real("Panda").urdf
    rigid = sd.Robot.from_urdf(urdf)
    soft = rigid.with_drives(dict.fromkeys(rigid.joint_names, sd.Drive(INERTIA, stiffness=STIFFNESS)))
    q, n = np.clip(np.zeros(rigid.n), rigid.model.lower, rigid.model.upper), rigid.n
    for integrator in INTEGRATORS:
        taken = in_turns({
            "rigid": lambda integrator=integrator: rigid.rollout(q, 0.0 * q, None, DT, STEPS, integrator, limits=False),
            "soft": lambda integrator=integrator: soft.rollout(np.r_[q, q], np.zeros(2 * n), None, DT, STEPS,
                                                               integrator, limits=False)},
            3 if quick else TURNS, time.thread_time)
        ratio = taken["soft"] / taken["rigid"]
        print(f"Panda, {integrator:20} {1e6 * taken['rigid'] / STEPS:6.2f} us a step rigid, "
              f"{1e6 * taken['soft'] / STEPS:6.2f} behind springs: {ratio:.2f} times, at most {SLOWER:g} wanted"
              f"{'' if ratio <= SLOWER else ': MISSED'}", flush=True)
    batches(soft, elastic_in_mujoco(urdf), np.r_[q, q], 3 if quick else BATCH_TURNS)


def batches(soft, model, q, turns):
    """Print how many times as long MuJoCo takes for a batch, on one thread."""
    rng = np.random.default_rng(0)
    q, qd = q + 0.01 * rng.normal(size=(BATCH, soft.n)), 0.1 * rng.normal(size=(BATCH, soft.n))
    at = [model.joint(name).qposadr[0] for name in soft.joint_names]
    initial = np.zeros((BATCH, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    initial[:, 1 + np.array(at)], initial[:, 1 + model.nq + np.array(at)] = q, qd
    pool, data = mujoco.rollout.Rollout(nthread=0), [mujoco.MjData(model)]
    found = {}
    taken = in_turns({
        "ours": lambda: found.update(ours=soft.rollout(q, qd, None, DT, BATCH_STEPS, every=BATCH_STEPS, limits=False,
                                                       threads=1)[1][:, -1]),
        "theirs": lambda: found.update(theirs=pool.rollout(model, data, initial, nstep=BATCH_STEPS)[0][:, -1])},
        turns, time.perf_counter)
    apart = np.abs(found["theirs"][:, 1 + np.array(at)] - found["ours"]).max()
    assert apart < ALIKE, f"results are {apart:g} rad apart"
    ratio = taken["theirs"] / taken["ours"]
    ours, theirs = (1e9 * taken[who] / (BATCH * BATCH_STEPS) for who in ("ours", "theirs"))
    print(f"batches of {BATCH}: {ours:.0f} ns a step, MuJoCo {theirs:.0f}: {ratio:.1f} times, at least {FASTER:g} "
          f"wanted{'' if ratio >= FASTER else ': MISSED'}; {apart:.1e} rad apart")


if __name__ == "__main__":
    main()
