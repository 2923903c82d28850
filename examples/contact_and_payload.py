"""What measured efforts say beyond the model: python examples/contact_and_payload.py panda.urdf

A simulated arm is pushed at its tip, and the momentum observer finds the push; then it carries a load that the model
does not know, and the load is identified from a slow motion and from a lively one."""
import sys

import numpy as np

import screw_dynamics as sd
from screw_dynamics.model.inertial_parameters import NAMES

TIP = "panda_hand"
HOME = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])      # rad
PUSH = np.array([0.0, 0.0, 0.0, 10.0, -5.0, 0.0])           # N m and N, in the frame of the tip
MASS, COM = 1.2, np.array([0.0, 0.02, 0.08])                # kg, m


def find_push(robot):
    """Print the wrench that the observer finds while a controller holds a pushed arm; simulated at 1 kHz."""
    observer = sd.estimation.MomentumObserver(robot, gain=50.0)
    q, qd = HOME, np.zeros(robot.n)
    for k in range(500):
        effort = robot.inverse_dynamics(q, qd, 100.0 * (HOME - q) - 20.0 * qd) + robot.friction_torque(qd)   # measured
        external = observer.update(k * 1e-3, q, qd, effort)
        q, qd = robot.step(q, qd, effort + robot.external_torque(q, {TIP: PUSH}), 1e-3, "rk4", friction=True)
    found = sd.estimation.contact_wrench(robot, q, external, TIP)
    print("wrench at the tip, N m and N:", np.round(found.wrench, 2), "condition", round(found.condition, 1))


def find_load(robot, frequency, rng):
    """Print what is found of a load from 20 s of sines of every joint, with noisy efforts."""
    carrying = robot.with_payload(TIP, MASS, COM, np.diag([0.004, 0.003, 0.002]))
    t = np.arange(0.0, 20.0, 2e-3)
    rate = 2.0 * np.pi * frequency * np.linspace(0.7, 1.3, robot.n)
    phase = t[:, None] * rate + np.arange(robot.n)
    q, qd, qdd = HOME + 0.4 * np.sin(phase), 0.4 * rate * np.cos(phase), -0.4 * rate**2 * np.sin(phase)
    measured = carrying.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd) + 0.1 * rng.standard_normal(q.shape)
    found = sd.estimation.identify_payload(robot, TIP, t, q, measured)
    print(f"load from a motion of {frequency} Hz: {found.mass:.3f} kg at {np.round(found.com, 3)} m")
    for name, value, deviation in zip(NAMES, found.parameters, found.standard_deviations, strict=True):
        print(f"  {name:5} " + (f"{value:8.4f} +- {deviation:.4f}" if np.isfinite(deviation) else "not observable"))


def main(urdf):
    """Find a push, and a load."""
    robot = sd.Robot.from_urdf(urdf, tip_link=TIP)
    find_push(robot)
    for frequency in (0.03, 0.3):
        find_load(robot, frequency, np.random.default_rng(1))


if __name__ == "__main__":
    main(sys.argv[1])
