"""A base with two wheels drives, and slips on ice: python examples/drive.py

Its wheels turn as servos make them. On a floor it rolls as far as they turn; on ice friction gives it no more
acceleration than it has, and the wheels spin."""
from pathlib import Path

import numpy as np

import screw_dynamics as sd

URDF = Path(__file__).parents[1] / "urdf" / "two_wheels.urdf"
RADIUS, TRACK = 0.08, 0.3       # m: of a wheel, between wheels
SPEED, RAMP = 0.8, 0.5          # m/s, reached after so many s
FLOOR, ICE = 0.8, 0.03


def scene_on(friction):
    """The base on a ground; the ball behind slides without friction."""
    robot = sd.Robot.from_urdf(URDF, floating_base=True)
    scene = sd.Scene(robot, ground=True, friction=friction, materials={"ball": 0.0})
    q = scene.neutral()
    q[2] -= scene.distances(q).gap.min()
    return scene, q


def controller(left, right):
    """Servos that turn the wheels so that these share of SPEED is reached at RAMP; both joints are after the base."""
    def servo(robot, t, q, qd, tau):
        goal = SPEED / RADIUS * np.minimum(t / RAMP, 1.0)
        tau[6] = 2.0 * (left * goal - qd[6])
        tau[7] = 2.0 * (right * goal - qd[7])
    return servo


def drive(friction, left=1.0, right=1.0, seconds=1.5, dt=1e-3):
    """The scene and its motion."""
    scene, q = scene_on(friction)
    return scene, scene.rollout(q, None, controller(left, right), dt=dt, steps=round(seconds / dt))


def main():
    """Print how it drives on a floor, how it turns, and how it slips."""
    scene, straight = drive(FLOOR)
    turned, gone = straight.q[-1, 7] - straight.q[0, 7], straight.q[-1, 0] - straight.q[0, 0]
    slip = gone - RADIUS * turned
    scene, slow = drive(ICE)
    wheels = [k for k, pair in enumerate(scene.pairs) if any("wheel" in name for name in pair)]
    load = np.where(np.isin(slow.contacts.pair, wheels), slow.contacts.force[..., 2], 0.0).sum(axis=-1)
    most = ICE * load[:200].mean() / scene.robot.total_mass
    acceleration = (slow.qd[200, 3] - slow.qd[100, 3]) / 0.1
    print(f"on a floor it goes {gone:.6f} m, its wheels turn by {RADIUS * turned:.6f} m: it slips {1e6 * slip:.2g} um")
    print(f"on ice it accelerates by {acceleration:.5f} m/s^2, friction / mass is {most:.5f}; at {slow.t[-1]:g} s it "
          f"drives {slow.qd[-1, 3]:.3f} m/s, its wheels turn at {RADIUS * slow.qd[-1, 6]:.3f} m/s")
    return {"gone": gone, "slip": slip, "acceleration": acceleration, "most": most, "speed": slow.qd[-1, 3],
            "rim": RADIUS * slow.qd[-1, 6]}


if __name__ == "__main__":
    main()
