"""URDF text, element by element."""

LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
UNIT = {"ixx": 1, "ixy": 0, "ixz": 0, "iyy": 1, "iyz": 0, "izz": 1}


def robot(*parts):
    """A description of these elements."""
    return "<robot name='r'>\n" + "\n".join(parts) + "\n</robot>"


def link(name, mass=None, origin="", inertia=UNIT):
    """A link, with an inertia if it has a mass."""
    if mass is None:
        return f'<link name="{name}"/>'
    entries = " ".join(f'{key}="{value}"' for key, value in inertia.items())
    return f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/><inertia {entries}/></inertial></link>'


def joint(name, parent, child, kind="continuous", inside=""):
    """A joint, with limits where its kind needs them."""
    limit = LIMIT if kind in ("revolute", "prismatic") and "<limit" not in inside else ""
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f"{limit}{inside}</joint>")


ONE_JOINT = robot(link("a"), link("b", 1), joint("j", "a", "b"))
