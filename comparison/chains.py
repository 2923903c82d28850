"""Serial robots of revolute joints, whose screws and frames are as general, or as special, as their kind says."""
import numpy as np
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.arrays import tilde

GENERAL, ALIGNED, DENAVIT_HARTENBERG = KINDS = "general", "aligned", "Denavit-Hartenberg"

# kg, kg m and kg m^2 about the origin, all different. Their sums and quotients have no rounding error, so that what an
# aligned joint takes out of the last body's inertia leaves zeros and not remainders, whose number would be chance.
MASS, MOMENT = 3.0, np.array([11.0, 7.0, 5.0]) / 64.0
ROTATIONAL = np.array([[19.0, -3.0, 5.0], [-3.0, 23.0, 2.5], [5.0, 2.5, 16.0]]) / 64.0


def chain(kind, n):
    """The model of a chain of n joints whose numbers are random but for the zeros and ones of their kind.

    general: axes anywhere in the body frames, which lie anywhere in each other. aligned: each axis is the z axis of its
    body frame. Denavit-Hartenberg: besides, each frame is a turn about x and a shift away from its parent's, as in
    Craig's convention. Inertias are general."""
    rng, builder = np.random.default_rng(n), sd.ModelBuilder("link 0")
    inertia = np.block([[ROTATIONAL, tilde(MOMENT)], [-tilde(MOMENT), MASS * np.eye(3)]])
    for i in range(1, n + 1):
        angle, placement = rng.uniform(0.3, 1.2), np.eye(4)
        R = Rotation.from_rotvec(rng.uniform(0.3, 0.9, 3) if kind != DENAVIT_HARTENBERG else [angle, 0.0, 0.0])
        placement[:3, :3], placement[:3, 3] = R.as_matrix(), rng.uniform(0.1, 0.4, 3)
        axis, point = rng.uniform(0.3, 0.9, (2, 3)) if kind == GENERAL else (np.eye(3)[2], np.zeros(3))
        axis = axis / np.linalg.norm(axis)
        builder.add_joint(f"joint {i}", f"link {i}", f"link {i - 1}", np.r_[axis, np.cross(point, axis)], placement,
                          inertia)
    return builder.build()
