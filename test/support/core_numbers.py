"""Numbers of the core, printed: compiled in one way and in another, they agree.

    python -m support.core_numbers          from test/"""
import json
import sys

import numpy as np

import screw_dynamics as sd
from support.paths import ROOT

GOAL = np.array([0.3, -0.2])


def controller_of(gain):
    """A controller with operators in place, which runs on lanes."""
    def controller(robot, t, q, qd, tau):
        tau[:] = robot.gravity_torque(q)
        tau += gain * (GOAL - q)
        tau -= 4.0 * qd
    return controller


def failing(t, q, qd, tau):
    """A controller that fails as soon as there is motion."""
    tau[0] = q[int(2.0 + t)]


def numbers() -> dict:
    """Results by name, as lists; of a failure its text. Rollouts have forward dynamics within; of many they call a
    controller on lanes."""
    robot = sd.Robot.from_urdf(str(ROOT / "urdf" / "double_pendulum.urdf"))
    rng = np.random.default_rng(1)
    q, qd, x = rng.uniform(-1.0, 1.0, (3, 11, 2))
    found = {
        "inverse dynamics": robot.inverse_dynamics(q[0], qd[0], x[0]),
        "under gains": [robot.rollout(q, qd, controller_of(gain), steps=50)[1][:, -1] for gain in (20.0, 30.0)],
    }
    try:
        robot.rollout(q, qd, failing, steps=1)
    except Exception as error:
        found["failure"] = f"{type(error).__name__}: {error}".partition("\n")[0]
    return {name: np.asarray(value).tolist() for name, value in found.items()}


if __name__ == "__main__":
    json.dump(numbers(), sys.stdout)
