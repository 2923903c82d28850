"""Serial robots of revolute joints, whose screws and frames are as general, or as special, as their kind says."""
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.compiled.entry import Target
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.robot import GRAVITY
from screw_dynamics.screws import arrays
from screw_dynamics.screws.arrays import tilde
from screw_dynamics.screws.joint import joint

GENERAL, ALIGNED, DENAVIT_HARTENBERG = KINDS = "general", "aligned", "Denavit-Hartenberg"

# kg, kg m and kg m^2 about the origin, all different. Their sums and quotients have no rounding error, so that what an
# aligned joint takes out of the last body's inertia leaves zeros and not remainders, whose number would be chance.
MASS, MOMENT = 3.0, np.array([11.0, 7.0, 5.0]) / 64.0
ROTATIONAL = np.array([[19.0, -3.0, 5.0], [-3.0, 23.0, 2.5], [5.0, 2.5, 16.0]]) / 64.0


def chain(kind, n):
    """The model of a chain of n joints whose numbers are random but for the zeros and ones of their kind.

    general: axes anywhere in the body frames, which lie anywhere in each other. aligned: each axis is the z axis of its
    body frame. Denavit-Hartenberg: besides, each frame is a turn about x and shifts along this x and along its own z
    away from its parent's, as in Craig's convention; the first one by any shift, so that what a line through the root
    frame's x axis would leave zero is not zero or a rounding error by chance. Inertias are general."""
    rng, builder = np.random.default_rng(n), sd.ModelBuilder("link 0")
    inertia = np.block([[ROTATIONAL, tilde(MOMENT)], [-tilde(MOMENT), MASS * np.eye(3)]])
    for i in range(1, n + 1):
        angle, placement = rng.uniform(0.3, 1.2), np.eye(4)
        R = Rotation.from_rotvec(rng.uniform(0.3, 0.9, 3) if kind != DENAVIT_HARTENBERG else [angle, 0.0, 0.0])
        placement[:3, :3], shift = R.as_matrix(), rng.uniform(0.1, 0.4, 3)
        shift = R.apply([shift[0], 0.0, shift[2]]) if kind == DENAVIT_HARTENBERG and i > 1 else shift
        placement[:3, 3] = shift
        axis, point = rng.uniform(0.3, 0.9, (2, 3)) if kind == GENERAL else (np.eye(3)[2], np.zeros(3))
        axis = axis / np.linalg.norm(axis)
        builder.add_joint(f"joint {i}", f"link {i}", f"link {i - 1}", np.r_[axis, np.cross(point, axis)], placement,
                          inertia)
    return builder.build()


class Rows(NamedTuple):
    """What a kernel reads of a model: links and frames, and the target of twists: in the frame of the root link."""

    links: list
    frames: list
    target: Target


def rows(model):
    """The Rows of a model as Robot takes them: the bodies seen in frames on their joints' axes."""
    root = list(model.frames).index(model.root)
    return Rows(model.links(GRAVITY), model.frame_rows(GRAVITY), Target(0, root))


def rows_as_given(model):
    """The Rows of a model with the bodies in their own frames, in which a screw may be any."""
    links = model.links(GRAVITY)[:1]
    for i, parent in enumerate(model.parents):
        X, B = arrays.twist(model.screws_body[i]), arrays.pose(model.relative_poses[i])
        M = arrays.inertia(model.inertias[i])
        links.append(Link(int(parent) + 1, int(model.coordinates[i]), X, M, joint(B, X)))
    frames = [Frame(int(body) + 1, arrays.pose(C)) for body, C in model.frames.values()]
    return Rows(links, frames, rows(model).target)
