"""A tower of ten blocks stands: python examples/tower.py [seconds]

Blocks of 0.1 m and 1 kg rest on each other. Nothing creeps and nothing sinks, however long one waits."""
import sys

import numpy as np

import screw_dynamics as sd

BLOCKS, EDGE, MASS = 10, 0.1, 1.0       # m, kg


def tower(blocks=BLOCKS, **options):
    """The scene."""
    scene = sd.Scene(ground=True, max_contacts=128, **options)
    for k in range(blocks):
        pose = np.eye(4)
        pose[2, 3] = (k + 0.5) * EDGE
        scene.add_box(f"block_{k}", (EDGE,) * 3, mass=MASS, pose=pose)
    return scene


def stand(seconds=2.0, dt=1e-3):
    """How far the blocks get from where they were put, in m, and what the lowest carries at the end, in N."""
    scene = tower()
    q = scene.neutral()
    motion = scene.rollout(q, dt=dt, steps=round(seconds / dt), every=round(min(seconds, 0.1) / dt))
    moved = np.abs(motion.q - q).max()
    ground = [k for k, pair in enumerate(scene.pairs) if "ground" in pair]
    carried = motion.contacts.force[-1][np.isin(motion.contacts.pair[-1], ground)]
    return moved, abs(carried[:, 2].sum())


def main(seconds=2.0):
    """Print what the tower does."""
    moved, carried = stand(seconds)
    print(f"in {seconds:g} s no block gets farther than {moved:.1e} m from where it was put; the lowest carries "
          f"{carried:.9f} N, the weight is {BLOCKS * MASS * 9.81:.9f} N")
    return moved, carried


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
