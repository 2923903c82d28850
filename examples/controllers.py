"""Controllers that use the robot's dynamics, compiled into rollouts: python examples/controllers.py panda.urdf

Each runs in plain Python too, with the Robot itself: controller(robot, 0.0, q, qd, tau)."""
import sys

import numpy as np

import screw_dynamics as sd

TIP = "panda_hand"
GOAL = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])      # rad
POINT = np.array([0.4, 0.2, 0.5])                           # m, for the tip


def pd_with_gravity_compensation(robot, t, q, qd, tau):
    """Springs and dampers in the joints, and the efforts that carry the weight."""
    tau[:] = 40.0 * (GOAL - q) - 8.0 * qd + robot.gravity_torque(q)


def computed_torque(robot, t, q, qd, tau):
    """The efforts that make every joint a critically damped oscillator about the goal."""
    tau[:] = robot.inverse_dynamics(q, qd, 100.0 * (GOAL - q) - 20.0 * qd)


def impedance(robot, t, q, qd, tau):
    """A spring and a damper that pull the tip to a point; the joints are damped a little."""
    J = robot.jacobian(q, TIP, "hybrid")[3:]
    x = robot.forward_kinematics(q, TIP)[:3, 3]
    force = 200.0 * (POINT - x) - 40.0 * (J @ qd)
    tau[:] = J.T @ force - 1.0 * qd + robot.gravity_torque(q)


def main(urdf, steps=3000, dt=1e-3):
    """Simulate 64 initial states under each controller; print the largest distances from their goals at the end."""
    robot = sd.Robot.from_urdf(urdf, tip_link=TIP)
    q0 = GOAL + 0.2 * np.random.default_rng(1).uniform(-1, 1, (64, robot.n))
    for controller in (pd_with_gravity_compensation, computed_torque, impedance):
        t, q, qd = robot.rollout(q0, np.zeros(robot.n), controller, dt=dt, steps=steps, every=steps)
        joints = abs(q[:, -1] - GOAL).max()
        tip = np.linalg.norm(robot.forward_kinematics(q[:, -1], TIP)[:, :3, 3] - POINT, axis=-1).max()
        error = f"tip {tip:.1e} m" if controller is impedance else f"joints {joints:.1e} rad"
        print(f"{controller.__name__:30}{t[-1]:.1f} s: {error} from the goal")


if __name__ == "__main__":
    main(sys.argv[1])
