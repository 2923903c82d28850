"""The parts of a robot in <screw_dynamics> other than constraints, and their application to a model.

They are drives, force elements, armature and exact inertias."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np
from lxml import etree

from screw_dynamics.forces import Element, check_fits
from screw_dynamics.model.drive import Antagonistic, Drive
from screw_dynamics.model.drives import with_drives
from screw_dynamics.model.model import Model

from . import records
from .description import Joint, Link
from .error import Notes, UrdfError, fault, listed, quote
from .exact_inertia import ROUNDING, Body, exact_inertias, with_exact_inertias
from .extension import FORCES


class OwnParts(NamedTuple):
    """The parts of a robot in the <screw_dynamics> of a URDF.

    drives: by joint. armature: by joint with a drive, or by coordinate of a drive. inertias: exact inertial parameters
    by body."""

    drives: Mapping[str, Drive]
    forces: tuple[Element, ...]
    armature: Mapping[str, float]
    inertias: Mapping[tuple[str, Body], np.ndarray]
    used: tuple[bool, ...] = ()         # set by `in_use`: True for each of the original forces that is kept


def own_parts(elements: Sequence[etree._Element], links: Mapping[str, Link], joints: Mapping[str, Joint]) -> OwnParts:
    """Return the OwnParts of validated elements.

    Raises UrdfError if a joint or link does not exist, if a drive is given twice or at a fixed joint, or if a drive or
    a force rejects its values."""
    drives: dict[str, Drive] = {}
    for element in (x for x in elements if x.tag == "drive"):
        joint = element.get("joint")
        if joint in drives:
            raise fault(f"drive of joint {quote(joint)} is given twice", element.sourceline)
        drives[joint] = records.read(element, Drive)
        turning = joint, *dict(drives[joint].coupling)
        _check_names(element, turning, joints, "joint")
        for name in turning:
            if joints[name].kind == "fixed":
                raise fault(f"<drive>: joint {quote(name)} is fixed", element.sourceline)
        _check_names(element, [drives[joint].carrier] if drives[joint].carrier else (), links, "link")
    coordinates = {x.name for joint, drive in drives.items() for x in drive.coordinates(joint)}
    forces = []
    for element in (x for x in elements if x.tag in FORCES):
        forces.append(records.read(element, FORCES[element.tag]))
        _check_names(element, forces[-1].joints, {*joints, *coordinates}, "joint")
        _check_names(element, forces[-1].links, links, "link")
    armature = {x.get("joint"): float(x.get("value")) for x in elements if x.tag == "armature"}
    return OwnParts(drives, tuple(forces), {joint: value for joint, value in armature.items() if joint in drives
                                            or joint in coordinates},
                    exact_inertias([x for x in elements if x.tag == "inertia"], links))


def coordinates_of_drives(elements: Iterable[etree._Element]) -> set[str]:
    """Return the names of the coordinates that <drive> elements add; other elements are ignored."""
    return {x.name for element in elements if element.tag == "drive"
            for x in records.read(element, Drive).coordinates(element.get("joint"))}


def _check_names(element, names, known, what):
    for name in names:
        if name not in known:
            raise fault(f"<{element.tag}>: {what} {quote(name)} does not exist", element.sourceline)


def in_use(parts: OwnParts, joints: Collection[str], links: Collection[str], notes: Notes) -> OwnParts:
    """Return the parts on the given moving joints and links.

    A locked or cut joint loses its drive and its coupling to motors. A motor whose carrier was cut off becomes one
    without carrier."""
    drives, left = {}, set()
    for joint, drive in parts.drives.items():
        turned = {other: factor for other, factor in dict(drive.coupling).items() if other in joints}
        if joint in joints:
            drives[joint] = replace(drive, coupling=turned)
            if drive.carrier is not None and drive.carrier not in links:
                drives[joint] = replace(drives[joint], carrier=None, axis=None)
        elif turned:
            left.add(f"the drive of {joint}")
    known = {x.name for joint, drive in drives.items() for x in drive.coordinates(joint)}.union(joints)
    acts = [known.issuperset(x.joints) and all(link in links for link in x.links) for x in parts.forces]
    left |= {f"{records.tag(type(x))} on {', '.join((*x.joints, *x.links))}"
             for x, used in zip(parts.forces, acts, strict=True) if not used}
    for name in left:
        notes.add("base_link, tip_link or lock leaves out what acts on joints or links that do not move", name)
    return parts._replace(drives=drives, forces=tuple(compress(parts.forces, acts)), used=tuple(acts), armature={
        joint: value for joint, value in parts.armature.items() if joint in known})


def applied(model: Model, parts: OwnParts) -> Model:
    """Return the model with these parts. Raises UrdfError if a part does not fit."""
    try:
        model = with_drives(model, parts.drives) if parts.drives else model
        model = _with_armature(model, parts.armature) if parts.armature else model
        model = with_exact_inertias(model, parts.inertias)
        if parts.forces:
            check_fits(model, parts.forces)
            model = replace(model, forces=parts.forces)
    except UrdfError:
        raise
    except ValueError as error:
        raise UrdfError(str(error)) from None
    return model


def _with_armature(model, armature):
    """Return the model with armature of coordinates; add a warning if it differs from the drives' inertias by more than
    rounding."""
    expected: dict[str, float] = {}
    for joint, drive in model.drives.items():
        if not drive.carrier and not isinstance(drive.stiffness, Antagonistic):     # else not determined by the drive
            expected |= {x.name: x.inertia for x in drive.coordinates(joint)}
            if not (drive.is_elastic or drive.coupling):
                expected[joint] = drive.inertia
    wrong = [name for name, x in armature.items() if name in expected
             and abs(x - expected[name]) > ROUNDING * expected[name]]
    warnings = [f"<armature> in <screw_dynamics> is not what drives say, and counts: {listed(wrong)}"] if wrong else []
    return replace(model.with_armature(armature), warnings=(*model.warnings, *warnings))
