"""Robots of the comparison: chains and trees whose screws and frames are as general, or as special, as their kind says,
of revolute joints, of prismatic ones or of both in turn, on a fixed or on a floating base."""
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.compiled.algorithm import Target
from screw_dynamics.model.group_joints import PoseSource
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.robot import GRAVITY
from screw_dynamics.screws import arrays
from screw_dynamics.screws.arrays import tilde
from screw_dynamics.screws.joint import joint

GENERAL, ALIGNED, DENAVIT_HARTENBERG = KINDS = "general", "aligned", "Denavit-Hartenberg"
REVOLUTE, PRISMATIC, ALTERNATING = JOINTS = "revolute", "prismatic", "alternating"

# kg, kg m and kg m^2 about the origin, all different. Their sums and quotients have no rounding error, so that what an
# aligned joint takes out of the last body's inertia leaves zeros and not remainders, whose number would be chance.
MASS, MOMENT = 3.0, np.array([11.0, 7.0, 5.0]) / 64.0
ROTATIONAL = np.array([[19.0, -3.0, 5.0], [-3.0, 23.0, 2.5], [5.0, 2.5, 16.0]]) / 64.0


def robot(kind: str, parents: Sequence[int], joints: str = REVOLUTE, floating: bool = False) -> sd.Model:
    """The model of a tree whose numbers are random but for the zeros and ones of their kind; parents: of body i, the
    first of which is 1, the body before it, 0 being the root link.

    general: axes anywhere in the body frames, which lie anywhere in each other. aligned: each axis is the z axis of its
    body frame. Denavit-Hartenberg: besides, the frame of a body's first child is a turn about x and shifts along this x
    and along its own z away from the body's, as in Craig's convention, which serves one child of a body; those of the
    others are as in aligned, and those of the root's children shifted by any vector, so that what a line through the
    root frame's x axis would leave zero is not zero or a rounding error by chance. joints: one of JOINTS, that of
    alternating ones by the body's index. Inertias are general. floating: the root link moves freely in the world."""
    rng, builder = np.random.default_rng(len(parents)), sd.ModelBuilder("world" if floating else "link 0")
    inertia = np.block([[ROTATIONAL, tilde(MOMENT)], [-tilde(MOMENT), MASS * np.eye(3)]])
    if floating:
        builder.add_group_joint("free", "base", "link 0", "world", inertia=inertia)
    for i, parent in enumerate(parents, 1):
        angle, placement = rng.uniform(0.3, 1.2), np.eye(4)
        vector, shift, (axis, point) = rng.uniform(0.3, 0.9, 3), rng.uniform(0.1, 0.4, 3), rng.uniform(0.3, 0.9, (2, 3))
        by_convention = kind == DENAVIT_HARTENBERG and (parent == 0 or parent not in parents[:i - 1])
        R = Rotation.from_rotvec([angle, 0.0, 0.0] if by_convention else vector)
        placement[:3, :3] = R.as_matrix()
        placement[:3, 3] = R.apply([shift[0], 0.0, shift[2]]) if by_convention and parent > 0 else shift
        if kind != GENERAL:
            axis, point = np.eye(3)[2], np.zeros(3)
        axis = axis / np.linalg.norm(axis)
        slides = joints == PRISMATIC or joints == ALTERNATING and i % 2 == 0
        screw = np.r_[np.zeros(3), axis] if slides else np.r_[axis, np.cross(point, axis)]
        builder.add_joint(f"joint {i}", f"link {i}", f"link {parent}", screw, placement, inertia)
    return builder.build()


def chain(kind: str, n: int, joints: str = REVOLUTE, floating: bool = False) -> sd.Model:
    """The `robot` of n joints one after the other."""
    return robot(kind, range(n), joints, floating)


def tree(arms: int, bodies: int, fingers: int = 0, further: int = 0) -> list[int]:
    """The parents of a tree of so many arms of so many bodies, each with so many fingers of further bodies."""
    parents = []

    def grow(parent, count):
        for _ in range(count):
            parents.append(parent)
            parent = len(parents)
        return parent
    for _ in range(arms):
        hand = grow(0, bodies)
        for _ in range(fingers):
            grow(hand, further)
    return parents


class Shape(NamedTuple):
    """What operations on a tree depend on: its bodies, the root's children, bodies without a child, and pairs of which
    one body carries the other or is the other, which is the sum of the bodies' depths; those pairs (i, j) among them
    for which body j is not the first child of its parent, other than the root; and the sum of squares of depths."""

    n: int
    r: int
    e: int
    S: int
    G: int
    P: int


def shape(parents: Sequence[int]) -> Shape:
    """The Shape of a tree. Of a chain r = e = 1, S = n (n + 1) / 2, G = 0 and P = n (n + 1) (2 n + 1) / 6."""
    depths, others = [0], [0]           # of each body, and how many further children are among it and those before it
    for i, parent in enumerate(parents):
        depths.append(depths[parent] + 1)
        others.append(others[parent] + (parent > 0 and parent in parents[:i]))
    ends = sum(body not in parents for body in range(1, len(depths)))
    return Shape(len(parents), list(parents).count(0), ends, sum(depths), sum(others), sum(d * d for d in depths))


class Rows(NamedTuple):
    """What a kernel reads of a model: links and frames, the target of twists: in the frame of the root link, and, with
    a floating base, sources of poses."""

    links: list[Link]
    frames: list[Frame]
    target: Target
    pose_sources: list[PoseSource] = []


def rows(model: sd.Model) -> Rows:
    """The Rows of a model as Robot takes them: the bodies seen in frames on their joints' axes."""
    root = list(model.frames).index(model.root)
    return Rows(model.links(GRAVITY), model.frame_rows(GRAVITY), Target(0, root), model.pose_sources(GRAVITY))


def rows_as_given(model: sd.Model) -> Rows:
    """The Rows of a model on a fixed base with the bodies in their own frames, in which a screw may be any."""
    links = model.links(GRAVITY)[:1]
    for i, parent in enumerate(model.parents):
        X, B = arrays.twist(model.screws_body[i]), arrays.pose(model.relative_poses[i])
        M = arrays.inertia(model.inertias[i])
        links.append(Link(int(parent) + 1, int(model.coordinates[i]), X, M, joint(B, X)))
    frames = [Frame(int(body) + 1, arrays.pose(C)) for body, C in model.frames.values()]
    return Rows(links, frames, rows(model).target)
