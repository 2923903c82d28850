"""A quadruped stands and is pushed: python examples/quadruped_pushed.py

Servos hold its twelve joints, four feet hold it by friction. A push sideways rocks it, its round feet roll with it, and
it comes back to where it was, for none of them slips. On a floor as slippery as ice the same push moves it."""
from pathlib import Path

import numpy as np

import screw_dynamics as sd

URDF = Path(__file__).parents[1] / "urdf" / "quadruped.urdf"
STIFFNESS, DAMPING = 150.0, 6.0         # N m/rad, N m s/rad
PUSH, BEGIN, END = 20.0, 2.5, 2.7       # N, sideways; s
ICE = 0.05
ANGLES = {"abduction": 0.0, "hip": 0.7, "knee": -1.4}       # rad


def standing(friction=0.7):
    """The scene, and the configuration in which the feet are on the ground."""
    robot = sd.Robot.from_urdf(URDF, floating_base=True)
    scene = sd.Scene(robot, ground=True, friction=friction)
    q = scene.neutral()
    for joint in robot.joint_names:
        if joint != "floating_base":
            q[scene.q_slices[joint]] = ANGLES[joint.partition("_")[2]]
    q[2] -= scene.distances(q).gap.min()
    return scene, q


def controller(goal, push=PUSH, begin=BEGIN, end=END):
    """Servos that hold the joints at goal (12,), and the push on the trunk, which hardly turns, along y."""
    def servo(robot, t, q, qd, tau):
        for k in range(12):
            tau[6 + k] = STIFFNESS * (goal[k] - q[7 + k]) - DAMPING * qd[6 + k]
        tau[4] = np.where((t >= begin) & (t < end), push, 0.0)
    return servo


def pushed(friction=0.7, seconds=5.0, dt=1e-3, every=1):
    """The scene and its motion."""
    scene, q = standing(friction)
    return scene, scene.rollout(q, None, controller(q[7:].copy()), dt=dt, steps=round(seconds / dt), every=every)


def main():
    """Print what happens on a floor and on ice."""
    scene, motion = pushed(every=10)
    before = int(np.searchsorted(motion.t, BEGIN)) - 1
    weight, carried = 9.81 * scene.robot.total_mass, motion.contacts.force[before - 1, :, 2].sum()
    feet = [link for link in scene.robot.link_names if link.endswith("foot")]
    places = np.array([scene.robot.forward_kinematics(motion.q, foot)[:, :2, 3] for foot in feet])
    slipped = 1e6 * np.linalg.norm(places[:, -1] - places[:, before], axis=-1).max()
    sway = 1e3 * (motion.q[:, 1] - motion.q[before, 1])
    _, on_ice = pushed(ICE, every=10)
    slid = 1e3 * (on_ice.q[-1, 1] - on_ice.q[before, 1])
    print(f"it stands with {carried:.4f} N on its feet, and weighs {weight:.4f} N")
    print(f"pushed with {PUSH:g} N for {END - BEGIN:.1f} s it sways {sway.max():.1f} mm, and comes back to within "
          f"{1e3 * abs(sway[-1]):.2g} um, its feet to {slipped:.2g} um; on ice it is {slid:.0f} mm away")
    return {"carried": carried, "weight": weight, "sway": sway.max(), "back": sway[-1], "slipped": slipped,
            "slid": slid}


if __name__ == "__main__":
    main()
