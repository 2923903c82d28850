"""An arm presses on a table and wipes along it: python examples/press_on_table.py

Hybrid force and position control of an arm of three joints, compiled into the simulation: the tip is pressed down with
10 N while it follows a line. Computed torque takes the arm's inertia away, J^T turns the force into efforts, and the
table gives back what presses on it."""
import numpy as np

import screw_dynamics as sd

UPPER, FORE, TIP = 0.4, 0.35, 0.02      # m: lengths, radius of the tip
FORCE, SPEED = 10.0, 0.1                # N, m/s
FRICTION = 0.3
HIGH = 0.1                              # m, of the table
START = np.array([0.4, -0.1])           # m, where the line begins
DOWN, BEGIN = 8.0, 0.5                  # 1/s, of the approach; s, when it begins to wipe


def arm():
    """A turn about z, two about y, and the tip."""
    builder = sd.ModelBuilder("base")
    inertia = np.diag([4e-3, 4e-3, 4e-4])
    builder.add_screw("turn", "column", "base", axis=(0, 0, 1), mass=2.0, com=(0, 0, 0.2), inertia=inertia)
    builder.add_screw("shoulder", "upper", "column", axis=(0, 1, 0), point=(0, 0, 0.4), mass=1.5,
                      com=(0.5 * UPPER, 0, 0.4), inertia=np.diag([1e-3, 2e-2, 2e-2]))
    pose = np.eye(4)
    pose[:3, 3] = UPPER + FORE, 0.0, 0.4
    builder.add_screw("elbow", "fore", "upper", axis=(0, 1, 0), point=(UPPER, 0, 0.4), pose=pose, mass=1.0,
                      com=(UPPER + 0.4 * FORE, 0, 0.4), inertia=np.diag([8e-4, 1e-2, 1e-2]))
    return sd.Robot(builder.build())


def controller(robot, t, q, qd, tau):
    """Presses down with FORCE, and moves along y at SPEED."""
    J = robot.jacobian(q, "fore", "hybrid")[3:]
    p = robot.forward_kinematics(q, "fore")[:3, 3]
    v = J @ qd
    since = max(t - BEGIN, 0.0)
    s = min(since / 0.2, 1.0)                                       # begins smoothly
    y, vy = START[1] + SPEED * (since - 0.1 * s * (2.0 - s) if since > 0.2 else 0.5 * since * s), SPEED * s
    ay = SPEED / 0.2 if 0.0 < since < 0.2 else 0.0
    a = np.array([400.0 * (START[0] - p[0]) - 40.0 * v[0], ay + 400.0 * (y - p[1]) + 40.0 * (vy - v[1]), -DOWN * v[2]])
    qdd = np.linalg.solve(J, a - robot.jacobian_derivative(q, qd, "fore", "hybrid")[3:] @ qd)
    tau[:] = robot.inverse_dynamics(q, qd, qdd) + J.T @ np.array([0.0, FRICTION * FORCE * vy / SPEED, -FORCE])


def wipe(seconds=2.5, dt=1e-3):
    """The scene and its motion."""
    robot = arm()
    scene = sd.Scene(robot, friction=FRICTION, shapes={"fore": sd.shapes.Sphere(TIP)})
    pose = np.eye(4)
    pose[:3, 3] = 0.5, 0.0, 0.5 * HIGH
    scene.add_box("table", (0.6, 0.8, HIGH), pose=pose)
    q = angles(np.array([*START, HIGH + TIP + 0.005]))
    return scene, scene.rollout(q, None, controller, dt=dt, steps=round(seconds / dt))


def angles(p):
    """The angles at which the tip is at p, elbow up."""
    r, z = np.hypot(p[0], p[1]), p[2] - 0.4
    bend = np.arccos((r * r + z * z - UPPER**2 - FORE**2) / (2.0 * UPPER * FORE))
    above = np.arctan2(FORE * np.sin(bend), UPPER + FORE * np.cos(bend))
    return np.array([np.arctan2(p[1], p[0]), -np.arctan2(z, r) - above, bend])


def main():
    """Print the force, and how well the tip follows its line."""
    scene, motion = wipe()
    force = motion.contacts.force[:, 0]
    moving = motion.t[1:] > BEGIN + 0.5
    tip = scene.robot.forward_kinematics(motion.q, "fore")[:, :3, 3]
    expected = START[1] + SPEED * (motion.t[-1] - BEGIN - 0.1)
    off = force[moving, 2] - FORCE
    print(f"the tip presses with {force[moving, 2].mean():.6f} N, {np.abs(off).max():.1e} N off at most, while it "
          f"wipes {tip[-1, 1] - START[1]:.4f} m, {1e3 * (tip[-1, 1] - expected):.3g} mm off its line; friction is "
          f"{np.hypot(*force[moving, :2].T).mean() / FORCE:.6f} of the force")
    return {"force": force[moving, 2], "off": np.abs(off).max(), "line": abs(tip[-1, 1] - expected),
            "friction": np.hypot(*force[moving, :2].T) / force[moving, 2]}


if __name__ == "__main__":
    main()
