"""Writing of drives and forces to the <screw_dynamics> of a URDF; elements with equal values stay unchanged."""
from collections.abc import Mapping, Sequence

from screw_dynamics.forces import Element as Force
from screw_dynamics.model.drive import Drive

from . import records
from .extension import EXTENSION, FORCES
from .lossless import Document, Element
from .own_parts import OwnParts


def extension(document: Document) -> Element:
    """Return the first <screw_dynamics> element, or a new one."""
    return next(iter(document.root.all(EXTENSION)), None) or document.root.add(Element(EXTENSION))


def write_parts(document: Document, described: OwnParts, used: OwnParts, drives: Mapping[str, Drive],
                forces: Sequence[Force]) -> None:
    """Write drives and forces into the <screw_dynamics> elements of a URDF.

    Replaces the elements in use whose values differ; replaces all of them if their order differs. Other elements
    stay."""
    own = [(owner, element) for owner in document.root.all(EXTENSION) for element in owner]
    of_drives = [x for x in own if x[1].tag == "drive" and x[1].attributes["joint"] in used.drives]
    joints = [x.attributes["joint"] for _, x in of_drives]
    _write(document, of_drives, [(joint, used.drives[joint]) for joint in joints], [*drives.items()],
           lambda pair: pair[0], lambda pair: records.written(pair[1], joint=pair[0]))
    of_forces = [x for x in own if x[1].tag in FORCES]
    _write(document, [x for x, acts in zip(of_forces, used.used, strict=True) if acts], used.forces, forces, type,
           records.written)


def _write(document, elements, described, wanted, key, made):
    """Replace the elements with the values `described` by elements with the values `wanted`; equal ones stay."""
    if [*map(key, described)] == [*map(key, wanted)]:
        for (owner, element), before, now in zip(elements, described, wanted, strict=True):
            if before != now:
                owner.put(element, made(now))
        return
    for owner, element in elements:
        owner.remove(element)
    for each in wanted:
        extension(document).add(made(each))
