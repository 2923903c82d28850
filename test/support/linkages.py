"""Mechanisms with closed loops: bodies and joints in their places, and which joints are cut to leave a tree.

The same mechanism as a ClosedLoopRobot, as a MultibodySystem in absolute coordinates, and as a model of Pinocchio."""
from typing import NamedTuple

import mujoco
import numpy as np
import pinocchio as pin
from lxml import etree

import screw_dynamics as sd
from screw_dynamics.papers.absolute_coordinates import Body, Joint, MultibodySystem
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, Distance, LoopJoint
from screw_dynamics.screws.groups import se3

SCREWS = {"revolute": (0, 0, 1, 0, 0, 0), "prismatic": (0, 0, 0, 0, 0, 1)}


class Part(NamedTuple):
    """A body: its pose in the construction frame, its inertia (6, 6) about its origin."""

    pose: np.ndarray
    inertia: np.ndarray


class Pair(NamedTuple):
    """A joint of a body on another, "ground" or a body, with its frame in the construction frame."""

    name: str
    kind: str
    body: str
    on: str
    frame: np.ndarray


class Linkage(NamedTuple):
    """Parts by names, and pairs."""

    parts: dict[str, Part]
    pairs: list[Pair]

    def pose(self, name):
        return self.parts[name].pose if name in self.parts else np.eye(4)

    def tree(self, cut):
        """The pairs that are not cut, from the ground outwards, each as (pair, child, parent)."""
        reached, left, found = {"ground"}, [pair for pair in self.pairs if pair.name not in cut], []
        while left:
            pair = next(pair for pair in left if {pair.body, pair.on} & reached)
            left.remove(pair)
            child, parent = (pair.body, pair.on) if pair.on in reached else (pair.on, pair.body)
            assert child not in reached, f"{pair.name} closes a loop: cut it"
            reached.add(child)
            found.append((pair, child, parent))
        return found

    def loops(self, cut):
        """The cut pairs as LoopJoints."""
        return [LoopJoint(pair.name, pair.kind, pair.body, None if pair.on == "ground" else pair.on,
                          np.linalg.inv(self.pose(pair.body)) @ pair.frame,
                          np.linalg.inv(self.pose(pair.on)) @ pair.frame) for pair in self.pairs if pair.name in cut]

    def closed(self, cut, gravity=(0.0, 0.0, -9.81), others=()):
        """The ClosedLoopRobot with these joints cut."""
        builder = sd.ModelBuilder("ground")
        for pair, child, parent in self.tree(cut):
            placement = np.linalg.inv(self.pose(parent)) @ self.pose(child)
            frame = np.linalg.inv(self.pose(child)) @ pair.frame
            if pair.kind in SCREWS:
                builder.add_joint(pair.name, child, parent, se3.Ad(frame, np.array(SCREWS[pair.kind], dtype=float)),
                                  placement, self.parts[child].inertia)
            else:
                builder.add_group_joint(pair.kind, pair.name, child, parent, placement, self.parts[child].inertia,
                                        frame=frame)
        return ClosedLoopRobot(sd.Robot(builder.build(), gravity), [*self.loops(cut), *others])

    def pinocchio(self, cut, gravity=(0.0, 0.0, -9.81)):
        """Pinocchio's accelerations of a closed state, as a function of q, qd and tau; every cut joint is held as a
        spherical one, which does for the loops of planar mechanisms too."""
        model, placed = pin.Model(), {"ground": (0, np.eye(4))}
        model.gravity.linear = np.array(gravity)
        make = {"revolute": pin.JointModelRZ, "prismatic": pin.JointModelPZ, "spherical": pin.JointModelSpherical}
        for pair, child, parent in self.tree(cut):
            joint, at = placed[parent]
            joint = model.addJoint(joint, make[pair.kind](), pin.SE3(np.linalg.inv(at) @ pair.frame), pair.name)
            placed[child] = joint, pair.frame
            to_joint = pin.SE3(np.linalg.inv(pair.frame) @ self.pose(child))
            model.appendBodyToJoint(joint, _inertia(self.parts[child].inertia), to_joint)
        loops = pin.StdVec_RigidConstraintModel()
        for pair in self.pairs:
            if pair.name in cut:
                (i, at_i), (j, at_j) = placed[pair.body], placed[pair.on]
                loops.append(pin.RigidConstraintModel(
                    pin.ContactType.CONTACT_3D, model, i, pin.SE3(np.linalg.inv(at_i) @ pair.frame), j,
                    pin.SE3(np.linalg.inv(at_j) @ pair.frame), pin.LOCAL))
        data, states = model.createData(), pin.StdVec_RigidConstraintData()
        for loop in loops:
            states.append(loop.createData())
        pin.initConstraintDynamics(model, data, loops, states)
        settings = pin.ProximalSettings(1e-14, 1e-10, 100)

        def accelerations(q, qd, tau):
            return pin.constraintDynamics(model, data, q, qd, tau, loops, states, settings).copy()
        return accelerations

    def mujoco(self, cut, gravity=(0.0, 0.0, -9.81)):
        """MuJoCo's model; every cut joint is held as a spherical one, as stiff as MuJoCo makes it."""
        root = etree.Element("mujoco")
        etree.SubElement(root, "option", gravity=_text(gravity))
        elements, equality = {"ground": etree.SubElement(root, "worldbody")}, etree.SubElement(root, "equality")
        for pair, child, parent in self.tree(cut):
            placement, at = (np.linalg.inv(self.pose(x)) @ y for x, y in ((parent, self.pose(child)),
                                                                          (child, pair.frame)))
            body = etree.SubElement(elements[parent], "body", name=child, pos=_text(placement[:3, 3]),
                                    xyaxes=_text(placement[:3, :2].T))
            inertia = _inertia(self.parts[child].inertia)
            J = inertia.inertia
            etree.SubElement(body, "inertial", pos=_text(inertia.lever), mass=repr(inertia.mass), fullinertia=_text(
                (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])))
            kind = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}[pair.kind]
            etree.SubElement(body, "joint", type=kind, pos=_text(at[:3, 3]), axis=_text(at[:3, 2]))
            elements[child] = body
        for pair in self.pairs:
            if pair.name in cut:
                at, on = np.linalg.inv(self.pose(pair.body)) @ pair.frame, pair.on.replace("ground", "world")
                etree.SubElement(equality, "connect", body1=pair.body, body2=on, anchor=_text(at[:3, 3]),
                                 solimp="0.9999 0.9999 0.001 0.5 2")
        return mujoco.MjModel.from_xml_string(etree.tostring(root, encoding="unicode"))

    def absolute(self, twists, gravity=(0.0, 0.0, -9.81)):
        """The MultibodySystem with body-fixed twists {body: (6,)}."""
        bodies = [Body(name, part.inertia, part.pose, twists[name]) for name, part in self.parts.items()]
        joints = [Joint(pair.name, pair.kind, pair.body, np.linalg.inv(self.pose(pair.body)) @ pair.frame,
                        None if pair.on == "ground" else pair.on) for pair in self.pairs]
        return MultibodySystem(bodies, joints, gravity=gravity)


def _text(numbers):
    return " ".join(repr(float(x)) for x in np.ravel(numbers))


def _inertia(M):
    """Pinocchio's of a matrix (6, 6), angular first."""
    mass, com = M[3, 3], np.array((M[2, 4], M[0, 5], M[1, 3])) / M[3, 3]
    tilde = np.cross(np.eye(3), com)
    return pin.Inertia(mass, com, M[:3, :3] + mass * tilde @ tilde)


def frame(z, origin):
    """A pose (4, 4) with its z axis along z."""
    z = np.array(z, dtype=float) / np.linalg.norm(z)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    C = np.eye(4)
    C[:3, 0], C[:3, 1], C[:3, 2], C[:3, 3] = x / np.linalg.norm(x), np.cross(z, x / np.linalg.norm(x)), z, origin
    return C


def rod(a, b, mass):
    """A Part with its frame at a and its z axis towards b, of this mass along the way, and of some thickness."""
    length = np.linalg.norm(np.subtract(b, a))
    J = mass * length ** 2 / 12.0
    return Part(frame(np.subtract(b, a), a),
                sd.inertia_matrix(mass, (0.0, 0.0, length / 2), np.diag((J, J, 0.01 * mass * length ** 2))))


def four_bar(tilt=0.0):
    """A planar four-bar in the x-z plane, of revolute joints A, B, C, D; turned about x by `tilt`."""
    T = se3.exp(np.array((tilt, 0.0, 0.0, 0.0, 0.0, 0.0)))
    A, B, C, D = (T[:3, :3] @ p for p in np.array(((0, 0, 0), (0.1, 0, 0.3), (0.9, 0, 0.5), (0.8, 0, 0))))
    y = T[:3, 1]
    return Linkage({"crank": rod(A, B, 1.0), "coupler": rod(B, C, 2.0), "rocker": rod(C, D, 1.5)},
                   [Pair("A", "revolute", "crank", "ground", frame(y, A)),
                    Pair("B", "revolute", "coupler", "crank", frame(y, B)),
                    Pair("C", "revolute", "rocker", "coupler", frame(y, C)),
                    Pair("D", "revolute", "rocker", "ground", frame(y, D))])


def stewart():
    """A Stewart platform: six legs, each of two turns, a slide and a spherical joint at the platform."""
    parts, pairs = {}, []
    for k in range(6):
        at, up = np.radians(60.0 * (k // 2 * 2) + (15.0, -15.0)[k % 2]), np.radians(60.0 * k - 30.0 * (-1) ** k + 15.0)
        a = np.array((np.cos(at), np.sin(at), 0.0))
        b = np.array((0.5 * np.cos(up), 0.5 * np.sin(up), 1.0 + 0.05 * np.sin(up)))
        middle, along = (a + b) / 2, b - a
        first = np.cross(along, (0.0, 0.0, 1.0))
        second = np.cross(along, first)
        parts |= {f"cross_{k}": Part(frame(first, a), sd.inertia_matrix(0.2, (0, 0, 0), 1e-3 * np.eye(3))),
                  f"lower_{k}": rod(a, middle, 2.0), f"upper_{k}": rod(middle, b, 1.0)}
        pairs += [Pair(f"first_{k}", "revolute", f"cross_{k}", "ground", frame(first, a)),
                  Pair(f"second_{k}", "revolute", f"lower_{k}", f"cross_{k}", frame(second, a)),
                  Pair(f"leg_{k}", "prismatic", f"upper_{k}", f"lower_{k}", frame(along, middle)),
                  Pair(f"ball_{k}", "spherical", "platform", f"upper_{k}", frame((0, 0, 1), b))]
    parts["platform"] = Part(frame((0, 0, 1), (0, 0, 1.0)),
                             sd.inertia_matrix(10.0, (0.02, 0, 0.1), np.diag((0.6, 0.7, 1.2))))
    return Linkage(parts, pairs)


def delta():
    """A delta robot with massless rods: three upper arms, a free platform, two distances each; closed in neutral()."""
    builder, rods = sd.ModelBuilder("ground"), []
    platform = sd.inertia_matrix(0.5, (0, 0, 0), 1e-3 * np.eye(3))
    for k in range(3):
        R = se3.exp(np.array((0, 0, 2 * np.pi / 3 * k, 0, 0, 0)))
        shoulder, elbow, wrist = (R[:3, :3] @ p for p in np.array(((0.2, 0, 0), (0.4, 0, -0.1), (0.05, 0, -0.5))))
        part = rod(shoulder, elbow, 0.3)
        builder.add_joint(f"motor_{k}", f"arm_{k}", "ground", se3.Ad(np.linalg.inv(part.pose), np.r_[
            R[:3, 1], np.cross(shoulder, R[:3, 1])]), part.pose, part.inertia)
        across = 0.05 * R[:3, 1]
        for side in (-1, 1):
            to_arm = np.linalg.inv(part.pose)
            rods.append(Distance(f"rod_{k}{'ab'[side > 0]}", "platform", f"arm_{k}",
                                 wrist + side * across + (0, 0, 0.5),
                                 to_arm[:3, :3] @ (elbow + side * across) + to_arm[:3, 3]))
    builder.add_group_joint("free", "platform_joint", "platform", "ground", se3.exp(np.array((0, 0, 0, 0, 0, -0.5))),
                            platform)
    return ClosedLoopRobot(sd.Robot(builder.build()), rods)


def bennett(stretched=1.0, size=1.0):
    """Bennett's linkage of four skew revolute joints, which moves since sin(alpha) / a is the same for all bars; with
    the last bar stretched it does not even close. size: length of the first bar, m."""
    def along(a, alpha):
        return se3.exp(np.array((0, 0, 0, size * a, 0, 0))) @ se3.exp(np.array((alpha, 0, 0, 0, 0, 0)))
    b = np.sin(1.1) / np.sin(0.6)
    A, B, builder = along(1.0, 0.6), along(b, 1.1), sd.ModelBuilder("ground")
    inertia = sd.inertia_matrix(1.0, (0.3, 0.1, 0.2), 0.2 * np.eye(3))
    for joint, link, parent, placement in (("J1", "one", "ground", None), ("J2", "two", "one", A),
                                           ("J3", "three", "two", B)):
        builder.add_joint(joint, link, parent, SCREWS["revolute"], placement, inertia)
    last = LoopJoint("J4", "revolute", "three", frame=A, frame_on=np.linalg.inv(along(stretched * b, 1.1)))
    return ClosedLoopRobot(sd.Robot(builder.build()), [last])
