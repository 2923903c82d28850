"""A gripper lifts a box and drops it: python examples/gripper.py

Two fingers press on a box of 1 kg with friction 0.6. With 20 N each they carry it, and it does not slip; with 6 N they
cannot. When they open, it falls."""
from pathlib import Path

import numpy as np

import screw_dynamics as sd

URDF = Path(__file__).parents[1] / "urdf" / "gripper.urdf"
MASS, EDGE, FRICTION = 1.0, 0.08, 0.6       # kg, m
RISE, LIFTED, OPENS = 0.2, 1.5, 2.0         # m; s
CARRIED = 2.4                               # kg, palm and fingers


def scene_of_gripper():
    """The gripper above a box on the ground."""
    scene = sd.Scene(sd.Robot.from_urdf(URDF), ground=True, friction=FRICTION, disable=[("left_finger", "ground"), (
        "right_finger", "ground")])
    pose = np.eye(4)
    pose[2, 3] = 0.5 * EDGE
    scene.add_box("box", (EDGE,) * 3, mass=MASS, pose=pose)
    return scene


def controller(grip):
    """Fingers press with `grip` until OPENS, and open then; the palm rises from 0.5 s until LIFTED."""
    def control(robot, t, q, qd, tau):
        s = min(max((t - 0.5) / (LIFTED - 0.5), 0.0), 1.0)
        at, speed = -0.1 + RISE * s * s * (3.0 - 2.0 * s), 6.0 * RISE * s * (1.0 - s) / (LIFTED - 0.5)
        tau[0] = CARRIED * 9.81 + 4000.0 * (at - q[0]) + 200.0 * (speed - qd[0])
        for k in (1, 2):
            tau[k] = (grip if t < OPENS else -grip) - 20.0 * qd[k]
    return control


def lift(grip, seconds=2.6, dt=1e-3):
    """The scene and its motion."""
    scene = scene_of_gripper()
    assert list(scene.robot.joint_names[:3]) == ["lift", "left", "right"]
    q = scene.neutral()
    q[0] = -0.1
    return scene, scene.rollout(q, None, controller(grip), dt=dt, steps=round(seconds / dt), limits=False)


def main():
    """Print what a firm grip and a loose one do."""
    scene, firm = lift(20.0)
    z = scene.q_slices["box"].start + 2
    held = (firm.t > LIFTED) & (firm.t < OPENS)
    slip = np.ptp((firm.q[:, z] - firm.q[:, 0])[(firm.t > 0.6) & (firm.t < OPENS)])
    height = firm.q[held, z].max() - 0.5 * EDGE
    landed = firm.t[np.flatnonzero((firm.t > OPENS) & (firm.q[:, z] <= 0.5 * EDGE + 1e-6))[0]]
    _, loose = lift(6.0)
    print(f"20 N: the box is lifted by {1e3 * height:.2f} mm and slips {1e6 * slip:.1g} um in the fingers; let go, it "
          f"lands after {landed - OPENS:.3f} s, a free fall takes {np.sqrt(2.0 * height / 9.81):.3f} s")
    print(f"6 N, friction carries {2 * FRICTION * 6.0:.1f} N of {MASS * 9.81:.2f} N: the box is lifted by "
          f"{1e3 * (loose.q[loose.t < OPENS, z].max() - 0.5 * EDGE):.2f} mm")
    return {"height": height, "slip": slip, "fall": landed - OPENS, "expected": np.sqrt(2.0 * height / 9.81),
            "loose": loose.q[loose.t < OPENS, z].max() - 0.5 * EDGE}


if __name__ == "__main__":
    main()
