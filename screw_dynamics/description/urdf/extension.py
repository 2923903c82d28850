"""The elements of <screw_dynamics> in a <robot>, for data that URDF cannot express, with the schema of each."""
from collections.abc import Mapping

from lxml import etree

from screw_dynamics.forces import KINDS
from screw_dynamics.model import constraints
from screw_dynamics.model.drive import Drive

from . import records
from .error import Notes
from .schema import NUMBER, POSITIVE, VECTOR, Numbers, Schema, copied, copied_named, name_form, one_of, tag_of

EXTENSION = "screw_dynamics"
CONSTRAINTS = "loop_joint", "distance", "gear"
FORCES: Mapping[str, type] = {records.tag(kind): kind for kind in KINDS.values()}       # force elements

# Constraints, specific to this package, except Isaac Sim's <loop_joint>, a child of <robot>.
_END = Schema(required={"link": name_form}, optional={"xyz": VECTOR, "rpy": VECTOR}, strict=True)
_POINT = Schema(required={"link": name_form}, optional={"xyz": VECTOR}, strict=True)
_LOOP_JOINT = Schema(required={"name": name_form, "type": one_of(constraints.KINDS)}, optional={"pitch": NUMBER},
                     elements={"link1": _END, "link2": _END, "axis": Schema(required={"xyz": VECTOR}, strict=True)},
                     needed=("link1", "link2"), strict=True)
FORMS: Mapping[str, Schema] = {
    "loop_joint": _LOOP_JOINT,
    "distance": Schema(required={"name": name_form, "length": POSITIVE}, elements={"link1": _POINT, "link2": _POINT},
                       needed=("link1", "link2"), strict=True),
    "gear": Schema(required={"name": name_form}, optional={"offset": NUMBER}, needed=("joint",), many=("joint",),
                   elements={"joint": Schema(required={"name": name_form, "ratio": NUMBER}, strict=True)}, strict=True),
    "armature": Schema(required={"joint": name_form, "value": POSITIVE}, strict=True),
    "inertia": Schema(required={"value": Numbers(10)}, needed=("link",), many=("link",), elements={
        "link": Schema(required={"name": name_form}, strict=True)}, strict=True),
    "drive": records.schema_of(Drive, keyed=True),
    **{tag: records.schema_of(kind) for tag, kind in FORCES.items()},
}
_WHOLE = Schema(elements=dict(FORMS), many=tuple(FORMS), strict=True)


def own_elements(root: etree._Element, notes: Notes) -> list[etree._Element]:
    """Return validated copies, in order, of the <screw_dynamics> elements and the <robot>'s own <loop_joint>s."""
    found: list[etree._Element] = []
    for element in root:
        if tag_of(element) == "loop_joint":
            found.append(copied_named(element, _LOOP_JOINT, "", notes))
        elif tag_of(element) == EXTENSION:
            found += copied(element, _WHOLE, f"<{EXTENSION}>", "robot", notes)
    return found
