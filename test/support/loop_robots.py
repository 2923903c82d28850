"""A four-bar with a motor, as a URDF with a closed loop."""
from support.urdf_text import joint, link, robot

Y = '<axis xyz="0 1 0"/>'
ARM = {"ixx": 0.02, "ixy": 0, "ixz": 0, "iyy": 0.02, "iyz": 0, "izz": 0.01}
LOOP = ('<screw_dynamics><loop_joint name="D" type="revolute"><link1 link="rocker" xyz="0 0 -0.5"/>'
        f'<link2 link="ground" xyz="0.8 0 0"/>{Y}</loop_joint></screw_dynamics>')
MOTOR = '<limit lower="-0.6" upper="0.5" effort="30" velocity="4"/>'


def four_bar(inside=""):
    """Closed at q = 0; a motor turns the crank within limits. inside: further elements of each joint."""
    return robot(link("ground"), *(link(name, mass, f'<origin xyz="{com}"/>', ARM) for name, mass, com in (
        ("crank", 1, "0 0 0.15"), ("coupler", 2, "0.4 0 0.1"), ("rocker", 1.5, "0 0 -0.25"))),
        joint("A", "ground", "crank", "revolute", Y + MOTOR + inside),
        joint("B", "crank", "coupler", inside=f'<origin xyz="0 0 0.3"/>{Y}{inside}'),
        joint("C", "coupler", "rocker", inside=f'<origin xyz="0.8 0 0.2"/>{Y}{inside}'), LOOP)


def four_bar_cut_at_c(turned=False):
    """The same mechanism as a tree with the rocker on the ground, and the loop closed between coupler and rocker, or
    the other way round."""
    ends = [("coupler", "0.8 0 0.2"), ("rocker", "0 0 0.5")]
    (link1, at1), (link2, at2) = reversed(ends) if turned else ends
    loop = (f'<screw_dynamics><loop_joint name="C" type="revolute"><link1 link="{link1}" xyz="{at1}"/>'
            f'<link2 link="{link2}" xyz="{at2}"/>{Y}</loop_joint></screw_dynamics>')
    links = [link(name, mass, f'<origin xyz="{com}"/>', ARM) for name, mass, com in (
        ("crank", 1, "0 0 0.15"), ("coupler", 2, "0.4 0 0.1"), ("rocker", 1.5, "0 0 0.25"))]
    return robot(link("ground"), *links, joint("A", "ground", "crank", "revolute", Y + MOTOR),
                 joint("B", "crank", "coupler", inside=f'<origin xyz="0 0 0.3"/>{Y}'),
                 joint("D", "ground", "rocker", inside=f'<origin xyz="0.8 0 0"/>{Y}'), loop)


def standing_four_bar():
    """The first, whose frame is a plate of 4 kg that may lie on the ground, 0.05 m high."""
    plate = link("frame", 4, '<origin xyz="0.4 0 0"/>', {"ixx": 0.1, "ixy": 0, "ixz": 0, "iyy": 0.1, "iyz": 0,
                                                          "izz": 0.1})
    shape = '<collision><origin xyz="0.4 0 -0.025"/><geometry><box size="1 0.4 0.05"/></geometry></collision></link>'
    text = four_bar().replace('"ground"', '"frame"')
    return text.replace(link("frame"), plate.replace("</link>", shape))
