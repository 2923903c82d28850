"""The scenes of contacts.py, as we and MuJoCo have them: a box on a slope, ANYmal on four feet, Talos on two."""
import itertools
import math
from typing import NamedTuple

import mujoco
import numpy as np

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Box, Sphere

from . import robots

DT = 1e-3               # s
FRICTION = 0.8
SLOPE = math.radians(20)
EDGE = 0.2              # m, of the box
SWING = 30.0            # rad/s
NO_MASS = 1e-5          # kg
FEET = "LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"
RADIUS = 0.03           # m, of a foot
STANCE = {"HAA": 0.0, "HFE": 0.4, "KFE": -0.8}         # rad, mirrored behind
SOLES = "left_sole_link", "right_sole_link"
SOLE = 0.2, 0.13, 0.02      # m, edges; above the link's origin
BENT = {"leg_left_3_joint": -0.4, "leg_left_4_joint": 0.8, "leg_left_5_joint": -0.4,
        "leg_right_3_joint": -0.4, "leg_right_4_joint": 0.8, "leg_right_5_joint": -0.4}      # rad


class Case(NamedTuple):
    """A scene and its like in MuJoCo, q to begin with at rest; kp and kd of the servos that hold q, or None."""

    name: str
    scene: sd.Scene
    model: mujoco.MjModel
    q: np.ndarray
    kp: np.ndarray | None
    kd: np.ndarray | None

    @property
    def servos(self):
        """The controller of ours, or None."""
        if self.kp is None:
            return None
        goal, kp, kd = self.q[7:], self.kp, self.kd

        def servo(robot, t, q, qd, tau):
            for k in range(len(goal)):
                tau[6 + k] = kp[k] * (goal[k] - q[7 + k]) - kd[k] * qd[6 + k]
        return servo


def slope():
    """A box of 1 kg on a slope of 20 degrees, where it sticks; x of the slope is downhill."""
    c, s = math.cos(SLOPE), math.sin(SLOPE)
    C = np.eye(4)
    C[:3, :3] = [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]
    scene = sd.Scene(friction=FRICTION)
    scene.add_plane("slope", C)
    on_it = C.copy()
    on_it[:3, 3] = 0.5 * EDGE * C[:3, 2]
    scene.add_box("box", (EDGE,) * 3, mass=1.0, pose=on_it)
    half, quaternion = 0.5 * EDGE, f"{math.cos(SLOPE / 2)} 0 {math.sin(SLOPE / 2)} 0"
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="{DT}"/><worldbody>
        <geom type="plane" size="5 5 1" quat="{quaternion}" friction="{FRICTION} 0 0"/>
        <body name="box" pos="{half * s} 0 {half * c}" quat="{quaternion}"><freejoint/>
        <geom type="box" size="{half} {half} {half}" mass="1" friction="{FRICTION} 0 0"/></body>
        </worldbody></mujoco>""")
    return Case("box on a slope", scene, model, scene.neutral(), None, None)


def standing(name, urdf, pose, shapes, gains):
    """A robot with a floating base that stands with its lowest shape on the ground, held by servos of (kp, kd) =
    gains(joint, its inertia)."""
    robot = sd.Robot.from_urdf(urdf, floating_base=True)
    scene = sd.Scene(robot, ground=True, friction=FRICTION, shapes=shapes, disable=itertools.combinations(shapes, 2))
    q = robot.neutral()
    for joint, angle in pose.items():
        q[robot.q_slices[joint]] = angle
    q[2] -= scene.distances(q).gap.min()
    root = robots.root_link(urdf)
    spec = mujoco.MjSpec.from_string(urdf.replace("</robot>", f"""<link name="w"/><joint name="base" type="floating">
        <parent link="w"/><child link="{root}"/></joint>
        <mujoco><compiler fusestatic="true" discardvisual="true" strippath="true"/></mujoco></robot>"""))
    for body in spec.bodies:
        if body.mass < NO_MASS:             # what MuJoCo refuses, with the inertia that goes with it, as of no body
            body.explicitinertial, body.fullinertia = False, [math.nan] * 6
    ground = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1])
    ground.friction = [FRICTION, 0.0, 0.0]
    for link, given in shapes.items():
        shape, C = given if isinstance(given, tuple) else (given, np.eye(4))
        ball = isinstance(shape, Sphere)
        spec.body(link).add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE if ball else mujoco.mjtGeom.mjGEOM_BOX, pos=C[:3, 3], mass=0.0,
            size=[shape.radius, 0.0, 0.0] if ball else 0.5 * np.asarray(shape.size), friction=[FRICTION, 0.0, 0.0],
            contype=1, conaffinity=0)
    names = [joint.name for joint in spec.joints if joint.name != "base"]
    assert names == [x for x in robot.joint_names if robot.q_slices[x].start >= 7], "joints are in another order"
    inertia = robot.mass_matrix(q).diagonal()[6:]
    kp, kd = np.array([gains(*joint) for joint in zip(names, inertia, strict=True)]).T.copy()
    for k, joint in enumerate(names):
        actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        actuator.gainprm[0], actuator.biasprm[1], actuator.biasprm[2] = kp[k], -kp[k], -kd[k]
    model = spec.compile()
    model.opt.timestep = DT
    return Case(name, scene, model, q, kp, kd)


def anymal():
    """ANYmal on spheres, held by servos of 300 Nm/rad."""
    pose = {f"{leg}_{joint}": angle * (-1.0 if leg[1] == "H" else 1.0)
            for leg in ("LF", "RF", "LH", "RH") for joint, angle in STANCE.items()}
    return standing("ANYmal on four feet", robots.real("ANYmal", floating=True).urdf, pose,
                    {foot: Sphere(RADIUS) for foot in FEET}, lambda joint, inertia: (300.0, 8.0))


def talos():
    """Talos on two soles, eight contacts, its legs and torso held by servos of 4000 and 8000 Nm/rad, others by such as
    swing at 5 Hz."""
    C = np.eye(4)
    C[2, 3] = 0.5 * SOLE[2]

    def gains(joint, inertia):
        if joint.startswith(("leg", "torso")):
            return (4000.0, 30.0) if joint[-7:] in ("5_joint", "6_joint") else (8000.0, 80.0)
        return SWING**2 * inertia, 2.0 * SWING * inertia
    return standing("Talos on two soles", robots.real("Talos", floating=True).urdf, BENT,
                    {sole: (Box(SOLE), C) for sole in SOLES}, gains)


def boxes(count, stacked):
    """So many boxes of 1 kg, apart on the ground or one above the other: our scene, and MuJoCo's model."""
    scene, half, bodies = sd.Scene(ground=True, friction=FRICTION), 0.5 * EDGE, []
    for k in range(count):
        C = np.eye(4)
        C[:3, 3] = (0.0, 0.0, half + EDGE * k) if stacked else (2.0 * EDGE * k, 0.0, half)
        scene.add_box(f"box{k}", (EDGE,) * 3, mass=1.0, pose=C)
        bodies.append(f"""<body pos="{C[0, 3]} 0 {C[2, 3]}"><freejoint/>
            <geom type="box" size="{half} {half} {half}" mass="1" friction="{FRICTION} 0 0"/></body>""")
    return scene, mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="{DT}"/><size memory="1G"/><worldbody>
        <geom type="plane" size="50 5 1" friction="{FRICTION} 0 0"/>{"".join(bodies)}</worldbody></mujoco>""")


SCENES = {"box": slope, "ANYmal": anymal, "Talos": talos}
