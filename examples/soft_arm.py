"""Feed-forward through springs, over ROS 2: python examples/soft_arm.py panda.urdf [--picture file.png]

simulator_node has a Panda with springs of 10 N m/mrad between motors and joints. dynamics_node answers each of its
states, on ~/motor_feed_forward, with what the motors must do for the links to follow a trajectory; these efforts alone
move the arm, nothing feeds back. Once it knows of the springs, once it takes the same motors for rigid. Time waits for
the answers, lockstep, so that every run gives the same."""
import argparse
import json
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import screw_dynamics as sd
from screw_dynamics.testing import LockstepError, RobotSimulator, isolate
from screw_dynamics_interfaces.srv import FillTrajectoryEfforts

TIP = "panda_hand"
DRIVE = {"rotor_inertia": 5e-5, "ratio": 100.0}         # kg m^2: 0.5 kg m^2 at the joint
STIFFNESS = 10_000.0                                    # N m/rad
START = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
END = START + 0.1 * np.array([0.8, 0.5, -0.4, 0.6, 0.5, 0.4, -0.5])
DURATION, REST, PERIOD = 0.16, 0.24, 1e-3               # s: any faster, and a motor reaches its limit


def run(urdf, robot, known):
    """Times (samples,) and positions of the links (samples, n), when dynamics_node has drives with the numbers
    `known`."""
    def drives(**numbers):
        return [json.dumps({joint: {**DRIVE, **numbers}}) for joint in robot.joint_names]

    simulated = {"tip_link": TIP, "drives": drives(stiffness=STIFFNESS), "dt": 1e-4, "integrator": "rk4"}
    parameters = {"robot_description": urdf, "tip_link": TIP, "drives": drives(**known),
                  "feed_forward_lead": PERIOD / 2}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "dynamics.yaml")            # JSON is YAML
        file.write_text(json.dumps({"/**/screw_dynamics": {"ros__parameters": parameters}}), encoding="utf-8")
        node = [sys.executable, "-m", "screw_dynamics.ros.dynamics.node", "--ros-args", "--params-file", str(file),
                "-r", "~/motor_feed_forward:=joint_commands"]
        start = dict(zip(robot.joint_names, START.tolist(), strict=True))
        with RobotSimulator(urdf, [node], period=PERIOD, parameters=simulated, initial_positions=start) as arm:
            send(arm, JointTrajectory(joint_names=list(robot.joint_names), points=[point(0.0, START),
                                                                                   point(DURATION, END)]))
            recording = arm.advance(DURATION + REST)
            return recording.time, np.column_stack([recording.position(joint) for joint in robot.joint_names])


def point(t, q):
    """A point of a trajectory."""
    return JointTrajectoryPoint(positions=q.tolist(), time_from_start=Duration(nanosec=round(t * 1e9)))


def send(arm, trajectory):
    """Hand a trajectory to dynamics_node, once it has the robot, and wait until it has come."""
    came = []
    arm.node.create_subscription(JointTrajectory, "screw_dynamics/trajectory_with_efforts", came.append, 1)
    publisher, ready = arm.node.create_publisher(JointTrajectory, "screw_dynamics/trajectory", 1), False
    while not came:
        with suppress(LockstepError):       # not ready yet
            arm.call(FillTrajectoryEfforts, "screw_dynamics/fill_trajectory_efforts", trajectory=trajectory)
            if not ready and publisher.get_subscription_count():
                publisher.publish(trajectory)
                ready = True


def main(urdf, picture):
    """Run the arm twice, tell how far its links and its hand are off the trajectory, and draw it."""
    isolate()
    robot = sd.Robot.from_urdf(urdf, tip_link=TIP)
    values = np.zeros((5, 2, robot.n))
    values[0] = START, END
    wanted = sd.smooth_motion.SmoothMotion((0.0, DURATION), values, (4, 4))
    runs = {}
    for name, known in (("with", {"stiffness": STIFFNESS}), ("without", {})):
        t, q = run(Path(urdf).read_text(encoding="utf-8"), robot, known)
        t -= t[0]
        error = q - wanted.sample(t)[0]
        hand = robot.forward_kinematics(q, TIP)[:, :3, 3] - robot.forward_kinematics(wanted.sample(t)[0], TIP)[:, :3, 3]
        runs[name] = t, error, np.linalg.norm(hand, axis=-1)
        print(f"feed-forward {name} springs: links are off by at most {abs(error).max():.1e} rad, the hand by "
              f"{runs[name][2].max():.1e} m, {runs[name][2][t > DURATION].max():.1e} m after the end")
    if picture:
        draw(picture, runs, robot.joint_names)
        print(f"picture: {picture}")


def draw(path, runs, joints):
    """Draw the errors of the links of both runs, and that of the hand."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    from screw_dynamics.rollout.plot import STYLE
    with pyplot.rc_context({**STYLE, "axes.titlelocation": "left", "axes.titleweight": "bold"}):
        figure, axes = pyplot.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharex=True)
        for axis, (name, (t, error, _)) in zip(axes, reversed(runs.items()), strict=False):
            axis.plot(t, 1e6 * error, lw=1.0, label=joints)
            axis.set(title=f"feed-forward {name} springs", xlabel="time, s", ylabel="deviation of joints, µrad")
        figure.legend(axes[0].lines, joints, loc="outside lower center", ncols=len(joints), fontsize=7, frameon=False)
        for name, (t, _, hand) in runs.items():
            axes[2].semilogy(t[1:], 1e3 * hand[1:], label=f"{name} springs")
        axes[2].set(title="hand", xlabel="time, s", ylabel="deviation, mm")
        axes[2].legend(frameon=False)
        for axis in axes:
            axis.axvline(DURATION, color="0.6", ls=":", zorder=0)       # the end of the motion
        figure.savefig(path, dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("urdf", help="that of a Panda, as package example-robot-data has it")
    parser.add_argument("--picture", help="the file of a picture, png, svg or pdf; requires matplotlib")
    arguments = parser.parse_args()
    main(arguments.urdf, arguments.picture)
