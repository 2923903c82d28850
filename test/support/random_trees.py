"""Random trees of links, described once, built by our ModelBuilder here and by Pinocchio in pinocchio_oracle.py."""
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from support import matrices

KINDS = ("revolute", "prismatic", "helical")
GROUPS = ("spherical", "planar", "free")


class Part(NamedTuple):
    """A link and what joins it to its parent: a joint about or along an axis, or nothing that moves."""

    link: str
    parent: str
    kind: str
    axis: np.ndarray            # (3,) in the joint frame, whose origin it goes through
    pitch: float                # m/rad
    joint_frame: np.ndarray     # (4, 4) the pose of the joint frame in the link: the link's origin is off the axis
    placement: np.ndarray       # (4, 4) the pose of the link in the parent at q = 0
    mass: float
    com: np.ndarray
    rotational: np.ndarray      # (3, 3) about the center of mass
    mimic: sd.Mimic | None = None
    of: str = ""                # the name of its joint, if it is not that below

    @property
    def joint(self):
        """The name of its joint."""
        return self.of or f"joint of {self.link}"

    @property
    def screw(self):
        """The joint's unit screw in the link frame."""
        e, still = self.axis, np.zeros(3)
        X = {"revolute": np.r_[e, still], "helical": np.r_[e, self.pitch * e], "prismatic": np.r_[still, e]}[self.kind]
        return matrices.Ad(self.joint_frame) @ X

    @property
    def inertia(self):
        """The (6, 6) inertia about the link's origin."""
        return sd.inertia_matrix(self.mass, self.com, self.rotational)


def random_pose(rng):
    """A homogeneous matrix, some decimeters away."""
    C = np.eye(4)
    C[:3, :3], C[:3, 3] = Rotation.from_rotvec(rng.normal(size=3)).as_matrix(), rng.normal(size=3) * 0.3
    return C


def random_body(rng):
    """Mass, center of mass and rotational inertia of five heavy points: a body that could exist."""
    points, masses = rng.normal(size=(5, 3)) * 0.2, rng.uniform(0.1, 1.0, 5)
    com = masses @ points / masses.sum()
    arms = [matrices.skew(p - com) for p in points]
    return masses.sum(), com, sum(-m * arm @ arm for m, arm in zip(masses, arms, strict=True))


def random_tree(rng, joints, mimics=0, of=KINDS):
    """The parts of a branching tree with so many joints of these kinds, some links fixed in between, and mimic
    joints."""
    parts, kinds = [], []
    while len(kinds) < joints:
        kind = "fixed" if rng.random() < 0.25 else of[len(kinds) % len(of)]
        parents = ["root", *(part.link for part in parts)][-4:]
        axis = rng.normal(size=3)
        parts.append(Part(f"link {len(parts)}", parents[rng.integers(len(parents))], kind, axis / np.linalg.norm(axis),
                          rng.uniform(-0.3, 0.3), random_pose(rng), random_pose(rng), *random_body(rng)))
        kinds += [kind] if kind != "fixed" else []
    moving = [i for i, part in enumerate(parts) if part.kind in KINDS]
    mimics = min(mimics, len(moving) // 2)
    for follower, leader in rng.permutation(moving)[:2 * mimics].reshape(mimics, 2):
        mimic = sd.Mimic(parts[leader].joint, rng.uniform(-2, 2), rng.uniform(-1, 1))
        parts[follower] = parts[follower]._replace(mimic=mimic)
    return parts


def rerooted(parts, link):
    """The parts of the same tree below another link, which floats. For parts of which the first floats on `root`, and
    no other hangs there; of the joints on the way, the velocities are those of the child against the parent as before,
    turned about."""
    known, on_the_way = {part.link: part for part in parts}, []
    body = known[link]
    found = [body._replace(parent="root", kind="free", joint_frame=np.eye(4), placement=np.eye(4), of=parts[0].joint)]
    while link != parts[0].link:
        on_the_way.append(link)
        link = known[link].parent
    for child in on_the_way:                # C = P exp(X q): C^-1 = P^-1 exp(-Ad_P X q), and P F g^-1 F^-1 for a group
        part, parent = known[child], known[known[child].parent]
        found.append(parent._replace(
            parent=child, kind=part.kind, axis=-part.axis, pitch=part.pitch, mimic=part.mimic, of=part.joint,
            joint_frame=part.placement @ part.joint_frame, placement=np.linalg.inv(part.placement)))
    return found + [part for part in parts[1:] if part.link not in on_the_way]


def builder_of(parts, **joint_options):
    """Our ModelBuilder with the parts; the options go to every joint."""
    builder = sd.ModelBuilder("root")
    for part in parts:
        if part.kind == "fixed":
            builder.add_fixed(part.link, part.parent, part.placement, part.inertia)
        elif part.kind in GROUPS:
            builder.add_group_joint(part.kind, part.joint, part.link, part.parent, part.placement, part.inertia,
                                    frame=part.joint_frame, **joint_options)
        else:
            builder.add_joint(part.joint, part.link, part.parent, part.screw, part.placement, part.inertia,
                              mimic=part.mimic, **joint_options)
    return builder


def model_of(parts, **joint_options):
    """Our Model of the parts."""
    return builder_of(parts, **joint_options).build()


def in_motion(seed, joints, mimics=0):
    """A robot of a random tree, its parts, and a state (3, n): coordinates, rates, and accelerations or efforts."""
    rng = np.random.default_rng(seed)
    parts = random_tree(rng, joints, mimics)
    robot = sd.Robot(model_of(parts), gravity=rng.uniform(-10, 10, 3))
    return robot, parts, rng.uniform(-2, 2, (3, robot.n))
