"""Armature of a URDF's joints: <armature> in <screw_dynamics>, or rotor inertia and gear ratio of a <transmission>."""
from collections.abc import Collection, Iterator, Mapping, Sequence

from lxml import etree

from .description import Joint
from .error import UNEXPANDED, fault, quote
from .schema import LARGEST_NUMBER, Numbers

# Element names in the <actuator> or <joint> of a <transmission>: ROS's, and Drake's.
ROTOR, GEAR = ("rotorInertia", "rotor_inertia"), ("mechanicalReduction", "gear_ratio")
FORMS = dict.fromkeys(ROTOR, Numbers(least=0.0)) | dict.fromkeys(GEAR, Numbers())


def with_armature(joints: Mapping[str, Joint], root: etree._Element, own: Sequence[etree._Element],
                  others: Collection[str] = ()) -> dict[str, Joint]:
    """Return the joints with the armature given in a <robot>.

    `own`: its validated <armature> elements, which take precedence over transmissions. others: names of motor
    coordinates, which have armature but are not joints of a URDF. Raises UrdfError for a joint that does not exist, has
    several degrees of freedom or is given two values, and for a value that is not a number or out of range."""
    found, given = dict(joints), set()
    driven: dict[str, float] = {}
    for joint, value, line in _of_transmissions(root):
        if driven.setdefault(joint, value) != value:
            raise fault(f"armature: transmissions give joint {quote(joint)} {driven[joint]:g} and {value:g}", line)
        found[joint] = _one(joints, joint, line)._replace(armature=value)
    for element in own:
        name, line = element.get("joint"), element.sourceline
        if name in given:
            raise fault(f"armature: joint {quote(name)} is given twice", line)
        given.add(name)
        if name in others and name not in joints:
            continue
        found[name] = _one(joints, name, line)._replace(armature=float(element.get("value")))
    return found


def _one(joints, name, line) -> Joint:
    """Return a joint. Raises UrdfError if it cannot have armature."""
    if name not in joints:
        raise fault(f"armature: joint {quote(name)} does not exist", line)
    if joints[name].axis is None:
        raise fault(f"armature: joint {quote(name)} is {joints[name].kind}, only joints of one degree of freedom have "
                    "armature",
                    line)
    return joints[name]


def _of_transmissions(root) -> Iterator[tuple[str, float, int]]:
    """Yield (joint, rotor inertia times squared reduction, line) of transmissions with a rotor inertia.

    Only transmissions with one joint and one actuator count."""
    for transmission in (element for element in root if _name(element) == "transmission"):
        parts = {kind: [x for x in transmission if _name(x) == kind] for kind in ("joint", "actuator")}
        values = [x for part in (*parts["joint"], *parts["actuator"]) for x in part]
        rotors, gears = ([x for x in values if _name(x) in names] for names in (ROTOR, GEAR))
        if len(parts["joint"]) == len(parts["actuator"]) == 1 and len(rotors) == 1:
            joint, line = parts["joint"][0].get("name", ""), rotors[0].sourceline
            armature = _number(rotors[0]) * (_number(gears[0]) if gears else 1.0)**2
            if armature > LARGEST_NUMBER:
                raise fault(f"armature: {armature:g} of joint {quote(joint)} is out of range", line)
            yield joint, armature, line


def _name(element):
    """Return the name of an element without its prefix; None for a comment."""
    return element.tag.rpartition("}")[2].rpartition(":")[2] if isinstance(element.tag, str) else None


def _number(element) -> float:
    """Return the nonnegative number in an element's text or its attribute `value`."""
    text = element.get("value", element.text or "")
    wrong = UNEXPANDED if "${" in text or "$(" in text else FORMS[_name(element)](text)
    if wrong:
        raise fault(f"<{_name(element)}>: {quote(text.strip())} {wrong}", element.sourceline)
    return float(text)
