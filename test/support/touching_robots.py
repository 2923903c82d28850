"""Robots that touch something: a gripper on a lift, a base on two wheels and a caster, and scenes around them."""

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Sphere
from support.polyhedra import at

INERTIA = '<inertial><mass value="{m}"/><inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>'


def _link(name, mass=0.0, inertia=1e-3):
    return f'<link name="{name}">{INERTIA.format(m=mass, i=inertia) if mass else ""}</link>'


def _joint(name, kind, parent, child, xyz="0 0 0", axis="0 0 1", limit='effort="500" velocity="10"'):
    limits = f'<axis xyz="{axis}"/><limit lower="-2" upper="2" {limit}/>' if kind != "fixed" else ""
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}"/>{limits}</joint>')


GRIPPER = "".join([
    '<robot name="gripper">', _link("world"), _link("carriage", 2.0), _link("hand", 0.5), _link("left", 0.2),
    _link("right", 0.2), _joint("lift", "prismatic", "world", "carriage", "0 0 0.5"),
    _joint("wrist", "fixed", "carriage", "hand", "0 0 -0.1"),
    _joint("left_finger", "prismatic", "hand", "left", "0 0.1 -0.1", "0 1 0"),
    _joint("right_finger", "prismatic", "hand", "right", "0 -0.1 -0.1", "0 1 0"), "</robot>"])
FINGERS = {"left": Sphere(0.02), "right": Sphere(0.02)}


def with_collisions(urdf):
    """The same where the fingers are spheres that touch."""
    shape = '<collision><geometry><sphere radius="0.02"/></geometry></collision></link>'
    for finger in FINGERS:
        start = urdf.index(f'<link name="{finger}">')
        end = urdf.index("</link>", start)
        urdf = urdf[:end] + shape + urdf[end + len("</link>"):]
    return urdf


def gripper():
    """A robot whose joints are lift, left_finger and right_finger."""
    return sd.Robot.from_urdf(GRIPPER)


def gripper_scene(robot=None, **options):
    """The gripper above the ground, with a ball of 0.3 kg between its fingers, 0.3 m above the ground."""
    scene = sd.Scene(robot or gripper(), ground=True, shapes=FINGERS, **{"friction": 0.8, **options})
    scene.add_sphere("ball", 0.05, 0.3, at(z=0.3))
    return scene


def press_scene(robot=None, **options):
    """The same robot with a ball of radius 0.05 under its hand, and nothing else but the ground."""
    return sd.Scene(robot or gripper(), ground=True, shapes={"hand": Sphere(0.05)}, **options)


def _ball(radius):
    return f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'


def _solid(name, mass, inertia, radius=None, at="0 0 0"):
    shape = "" if radius is None else _ball(radius)
    return (f'<link name="{name}"><inertial><origin xyz="{at}"/><mass value="{mass}"/><inertia ixx="{inertia}" '
            f'iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>{shape}</link>')


WHEELS, RADIUS, SEPARATION = ("left_wheel", "right_wheel"), 0.1, 0.4
CAR = "".join([       # its base link is 0.1 m above the ground; it stands on two wheels and a ball in front
    '<robot name="car">', _solid("base", 5.0, 0.1), _solid("left", 0.5, 5e-3, RADIUS),
    _solid("right", 0.5, 5e-3, RADIUS), _solid("caster", 0.1, 1e-4, 0.05), *(
        f'<joint name="{wheel}" type="continuous"><parent link="base"/><child link="{side}"/>'
        f'<origin xyz="-0.05 {y} 0"/><axis xyz="0 1 0"/></joint>'
        for wheel, side, y in zip(WHEELS, ("left", "right"), (0.2, -0.2), strict=True)),
    '<joint name="mount" type="fixed"><parent link="base"/><child link="caster"/><origin xyz="0.2 0 -0.05"/></joint>',
    "</robot>"])
STANDING = (0.0, 0.0, RADIUS, 0.0, 0.0, 0.0, 1.0)

LEG, FOOT = 0.3, 0.02
HIPS = {"front_left": (0.25, 0.15), "front_right": (0.25, -0.15), "rear_left": (-0.25, 0.15),
        "rear_right": (-0.25, -0.15)}


def quadruped():
    """A body of 10 kg on four legs of 1 kg of a hip and a knee each, with balls as feet."""
    joint = ('<joint name="{leg}_{name}" type="revolute"><parent link="{parent}"/><child link="{leg}_{child}"/>'
             '<origin xyz="{at}"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="80" velocity="20"/></joint>')
    parts = ['<robot name="quadruped">', _solid("body", 10.0, 0.3)]
    for leg, (x, y) in HIPS.items():
        parts += [_solid(f"{leg}_thigh", 0.6, 5e-3, at=f"0 0 {-LEG / 2}"), joint.format(
            leg=leg, name="hip", parent="body", child="thigh", at=f"{x} {y} 0")]
        parts += [_solid(f"{leg}_shank", 0.3, 2e-3, at=f"0 0 {-LEG / 2}"), joint.format(
            leg=leg, name="knee", parent=f"{leg}_thigh", child="shank", at=f"0 0 {-LEG}")]
        parts += [_solid(f"{leg}_foot", 0.1, 1e-4, FOOT), f'<joint name="{leg}_ankle" type="fixed"><parent link='
                  f'"{leg}_shank"/><child link="{leg}_foot"/><origin xyz="0 0 {-LEG}"/></joint>']
    return "".join([*parts, "</robot>"])


def row_of_boxes(count, **options):
    """Boxes side by side on the ground, of which each has four contacts."""
    scene = sd.Scene(sd.Robot(sd.ModelBuilder("world").build()), ground=True, **options)
    for k in range(count):
        scene.add_box(f"box{k}", (0.2, 0.2, 0.2), 1.0 + k, at(x=0.5 * k, z=0.1))
    return scene
