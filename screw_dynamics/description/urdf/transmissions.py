"""The transmissions of a URDF: in <ros2_control> (ROS 2) or in <robot> (ROS 1)."""
from collections.abc import Iterator, Mapping

import numpy as np

from screw_dynamics.model.transmission import Transmission

from .error import UNEXPANDED, UrdfError, fault, quote
from .file import opened
from .schema import Numbers
from .source import Source, path_of, read_source
from .xml import parse_xml

# names of the values in ROS 2 and ROS 1
REDUCTION, OFFSET = ("mechanical_reduction", "mechanicalReduction"), ("offset",)
FINITE = Numbers()


def _simple(of_actuators, of_joints):
    """Return the matrix from joints to actuators for one actuator and one joint."""
    return [[of_actuators[0] * of_joints[0]]]


def _differential(of_actuators, of_joints):
    """Return the matrix for two actuators whose sum moves the first joint and whose difference the second."""
    (a, b), (m, n) = of_actuators, of_joints
    return [[a * m, a * n], [b * m, -b * n]]


def _four_bar_linkage(of_actuators, of_joints):
    """Return the matrix for two actuators: the first one's effort acts on the first joint, the second one's on both."""
    (a, b), (m, n) = of_actuators, of_joints
    return [[a * m, 0.0], [b, b * n]]


KINDS = {"SimpleTransmission": (1, _simple), "DifferentialTransmission": (2, _differential),
         "FourBarLinkageTransmission": (2, _four_bar_linkage)}


def transmissions(source: Source, xacro_args: Mapping[str, str] | None = None) -> tuple[Transmission, ...]:
    """Read the transmissions of a URDF.

    Parameters
    ----------
    source : str, path, bytes or file object
        Path, XML text, or open file; also xacro.
    xacro_args : dict of str to str, optional
        Arguments of the xacro file.

    Returns
    -------
    tuple of Transmission
        Simple, differential and four-bar transmissions of transmission_interface, in <ros2_control> or, in the older
        form, in <robot>. Joints and actuators are in the order of their roles.

    Raises
    ------
    UrdfError
        If a value is missing, 0 or not a number, a type is unknown, or two transmissions have the same name. The
        message names the line, the transmission and the value.

    Notes
    -----
    Positions are those of transmission_interface. Efforts follow from virtual work: for a four-bar linkage they differ
    from those of transmission_interface. The reduction of a simple transmission is the joint's in ROS 2, and the
    actuator's in ROS 1.
    """
    path = path_of(source)
    try:
        robot = _in_no_namespace(parse_xml(read_source(opened(source, xacro_args))))
        return tuple(_each_once(robot))
    except UrdfError as error:
        if path is None:
            raise
        raise UrdfError(f"{path}: {error}") from None


def _in_no_namespace(robot):
    """Return the tree without the default namespace, if any, in its tags."""
    for element in robot.iter():
        if element.prefix is None and isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
    return robot


def _each_once(robot) -> Iterator[Transmission]:
    lines: dict[str, int] = {}
    for element, *how in _elements(robot):
        found = _read(element, *how)
        if found.name in lines:
            raise fault(f"transmission {quote(found.name)} is defined twice, first in line {lines[found.name]}",
                        element.sourceline)
        lines[found.name] = element.sourceline
        yield found


def _elements(robot) -> Iterator[tuple]:
    """Yield <transmission> elements, the name of their type's element, and True for ROS 2."""
    for control in robot.iterfind("ros2_control"):
        yield from ((element, "plugin", True) for element in control.iterfind("transmission"))
    yield from ((element, "type", False) for element in robot.iterfind("transmission"))


def _read(element, word, ros2) -> Transmission:
    name = element.get("name", "")
    what = f"transmission {quote(name)}"
    kind = (element.findtext(word) or "").strip()
    count, matrix_of = KINDS.get(kind.rpartition("/")[2], (0, None))
    if matrix_of is None:
        raise fault(f"{what}: its {word} {quote(kind)} is none of {', '.join(KINDS)}", element.sourceline)
    joints, actuators = (_ordered(element, part, count, what) for part in ("joint", "actuator"))
    reductions = [[_number(part, REDUCTION, 1.0, what) for part in parts] for parts in (actuators, joints)]
    if count == 1:
        reductions[0 if ros2 else 1] = [1.0]
    for part, value in zip((*actuators, *joints), (*reductions[0], *reductions[1]), strict=True):
        if value == 0.0:
            raise fault(f"{what}: the reduction of {part.tag} {quote(part.get('name'))} is 0", part.sourceline)
    try:
        return Transmission(name, tuple(part.get("name", "") for part in joints),
                            tuple(part.get("name", "") for part in actuators), np.array(matrix_of(*reductions)),
                            np.array([_number(part, OFFSET, 0.0, what) for part in joints]))
    except ValueError as error:
        raise fault(str(error), element.sourceline) from None


def _ordered(element, tag, count, what):
    """Return the joints or actuators of a transmission in the order of their roles <tag>1, <tag>2."""
    parts = element.findall(tag)
    if len(parts) != count:
        raise fault(f"{what} must have {count} <{tag}>, not {len(parts)}", element.sourceline)
    for part in parts:
        if not part.get("name"):
            raise fault(f"{what}: a <{tag}> has no name", part.sourceline)
    if count == 1:
        return parts
    roles = [(part.get("role") or part.findtext("role") or "").strip() for part in parts]
    expected = [f"{tag}{k}" for k in range(1, count + 1)]
    if sorted(roles) != expected:
        raise fault(f"{what}: the roles of its <{tag}> are {', '.join(map(quote, roles))}, must be "
                    f"{' and '.join(expected)}", element.sourceline)
    return [parts[roles.index(role)] for role in expected]


def _number(part, names, default, what) -> float:
    """Return the number in the first child element with one of these names, or the default."""
    for name in names:
        if (found := part.find(name)) is not None:
            text = (found.text or "").strip()
            if wrong := UNEXPANDED if "${" in text or "$(" in text else FINITE(text):
                raise fault(f"{what}: <{name}> of {part.tag} {quote(part.get('name'))}: {quote(text)} {wrong}",
                            found.sourceline)
            return float(text)
    return default
