"""A leg with two closed loops, from a URDF: how it moves, what its motors must do, and a jump.

python examples/closed_loop_leg.py

The leg is as that of a walking bird, urdf/closed_loop_leg.urdf: five motors, eight joints, and two rods whose other
ends the element <screw_dynamics> closes. docs/closed_loops.md explains both."""
import warnings
from pathlib import Path

import numpy as np

import screw_dynamics as sd
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, LoopJoint

URDF = Path(__file__).parents[1] / "urdf" / "closed_loop_leg.urdf"
MOTORS = "hip_roll", "hip_yaw", "hip_pitch", "knee", "crank"


def crouched(leg):
    """A configuration with the knee bent and the sole level, and both loops closed."""
    q = leg.robot.neutral()
    for joint, angle in {"hip_pitch": -0.3, "knee": 0.4}.items():
        q[leg.robot.q_slices[joint]] = angle
    return leg.project(q, held=("floating_base", "hip_pitch", "knee"))


def main():
    leg = ClosedLoopRobot.from_urdf(URDF, floating_base=True)
    robot, rest = leg.robot, np.zeros(leg.robot.n)
    print(leg)
    q = crouched(leg)
    free = leg.mobility(q)
    print(f"in the air: {free.degrees} degrees of freedom, {free.redundant} redundant constraints in {free.redundancy}")
    print(f"with locked motors: {leg.mobility(q, locked=MOTORS).degrees}, those of the trunk")

    # On the ground: its sole is a constraint more.
    standing = ClosedLoopRobot(robot, [LoopJoint("ground", "fixed", "foot")], q)
    print(f"on the ground: {standing.mobility(q).degrees} degrees of freedom for {len(MOTORS)} motors")
    efforts = standing.inverse_dynamics(q, rest, rest, actuated=MOTORS)
    sole = standing.robot.forward_kinematics(q, "foot")[:3, :3] @ efforts.wrenches["ground"][3:]
    print(f"to stand: {', '.join(f'{m} {efforts.tau[robot.v_slices[m]][0]:.2f} N m' for m in MOTORS)}")
    print(f"the ground carries {sole[2]:.2f} N, the leg weighs {9.81 * weight(robot):.2f} N")

    # The leg leaves the ground with its knee turning: neither gravity nor the rods change its energy.
    up = rest.copy()
    up[robot.v_slices["knee"]], up[robot.v_slices["floating_base"].start + 5] = 6.0, 2.0
    motion = leg.rollout(q, leg.project_velocity(q, up), dt=1e-3, steps=200, integrator="rk4")
    print(f"in 0.2 s of flight: energy {motion.energy[0]:.6f} J changes by {np.ptp(motion.energy):.1e} J, loops open "
          f"by at most {motion.residual.max():.1e}")
    return leg, standing, efforts, motion


def weight(robot):
    """The mass of all links, kg."""
    return sum(M[5, 5] for M in robot.model.inertias) + robot.model.root_inertia[5, 5]


if __name__ == "__main__":
    warnings.simplefilter("error", sd.UrdfWarning)
    main()
