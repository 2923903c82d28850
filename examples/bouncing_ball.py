"""A ball bounces: python examples/bouncing_ball.py

It falls from 1 m on a floor with a restitution of 0.8: after each impact it rises to 0.64 times the height before."""
import numpy as np

import screw_dynamics as sd

HEIGHT, RADIUS, RESTITUTION = 1.0, 0.05, 0.8        # m


def drop(bounces=5, dt=1e-3):
    """The heights (bounces + 1,) in m to which it rises, the first that from which it falls."""
    scene = sd.Scene(ground=True, restitution=RESTITUTION)
    pose = np.eye(4)
    pose[2, 3] = RADIUS + HEIGHT
    scene.add_sphere("ball", RADIUS, mass=0.2, pose=pose)
    fall = np.sqrt(2.0 * HEIGHT / 9.81)
    seconds = fall * (1.0 + 2.0 * sum(RESTITUTION**k for k in range(1, bounces + 1)))
    motion = scene.rollout(scene.neutral(), dt=dt, steps=int(seconds / dt), integrator="rk4")
    z, v = motion.q[:, 2] - RADIUS, motion.qd[:, 5]         # it does not turn
    hit = np.flatnonzero((v[:-1] < 0.0) & (v[1:] > 0.0)) + 1
    rises = [z[k] + v[k]**2 / (2.0 * 9.81) for k in hit]    # where it would turn round
    return np.array([HEIGHT, *rises])[:bounces + 1]


def main():
    """Print the heights."""
    heights = drop()
    print("the ball rises to", ", ".join(f"{h:.4f}" for h in heights[1:]), "m;",
          "each is", ", ".join(f"{r:.5f}" for r in heights[1:] / heights[:-1]), "of the one before,",
          f"{RESTITUTION**2:.2f} expected")
    return heights


if __name__ == "__main__":
    main()
