"""The contents of a URDF by link and joint, and the model that results from reading them."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from screw_dynamics.model import inertial_parameters
from screw_dynamics.model.group_joints import GROUPS
from screw_dynamics.model.mimic import SHARES
from screw_dynamics.model.model import Model
from screw_dynamics.screws import arrays

from .armature import with_armature
from .description import Joint, Link, describe
from .error import Notes
from .exact_inertia import agree, bodies
from .extension import own_elements
from .own_parts import OwnParts, applied, coordinates_of_drives, in_use, own_parts
from .schema import needed_part
from .xml import parse_xml

FRICTION = "damping", "friction"
LIMITS = {"lower": "lower", "upper": "upper", "velocity": "velocity_limit", "effort": "effort_limit"}


class SourceDescription(NamedTuple):
    """The links, joints and other parts of a URDF."""

    links: Mapping[str, Link]
    joints: Mapping[str, Joint]
    parts: OwnParts

    def own(self, link: str) -> np.ndarray:
        """Return the inertia (6, 6) of a link about its origin."""
        it = self.links[link]
        return inertial_parameters.formed(arrays.inertia_matrix(it.mass, it.com, it.rotational))

    def fixed(self, model: Model, links: tuple[str, ...]) -> list[np.ndarray]:
        """Return the inertias (6, 6), in the body's frame, of all links of a body except the first."""
        return [inertial_parameters.moved(model.frames[link][1], self.own(link)) for link in links[1:]]

    def inertia(self, model: Model, links: tuple[str, ...]) -> np.ndarray:
        """Return the inertia (6, 6) of a body, summed as in read_urdf."""
        M = self.own(links[0])
        for each in self.fixed(model, links):
            M = M + each
        return M

    def parameters(self, model: Model, links: tuple[str, ...]) -> np.ndarray:
        """Return the inertial parameters (10,) of a body without a rotor, as in read_urdf."""
        summed = inertial_parameters.of_matrix(self.inertia(model, links))
        exact = self.parts.inertias.get((links[0], frozenset(links)))
        return exact if exact is not None and agree(exact, summed) else summed

    def shared(self, model: Model, joint: str, name: str) -> float:
        """Return damping, friction or armature of a joint, including the shares of joints that mimic it."""
        found = getattr(self.joints[joint], name)
        for follower, (leader, multiplier, _) in model.mimics.items():
            if leader == joint:
                found += SHARES[name](multiplier) * getattr(self.joints[follower], name)
        return found

    def model(self, base: Model) -> Model:
        """Return the model that results from reading the URDF, for the joints and links of `base` (without drives)."""
        inertias, root_inertia = base.inertias.copy(), base.root_inertia
        for body, links in bodies(base).items():
            M = self.inertia(base, links) if links[0] in self.links else np.zeros((6, 6))
            if body < 0:
                root_inertia = M
            else:
                inertias[body] = M
        numbers = {name: getattr(base, name).copy() for name in (*SHARES, *LIMITS.values())}
        for joint, k in base.v_slices.items():
            given = self.joints.get(joint, Joint(joint, 0, "", "", "", np.eye(4)))
            single = base.kind_of(joint) not in GROUPS
            for name in SHARES:
                numbers[name][k] = self.shared(base, joint, name) if single and joint in self.joints else 0.0
            for name, field in LIMITS.items():
                numbers[field][k] = getattr(given.limits, name)
        found = replace(base, inertias=inertias, root_inertia=root_inertia, **numbers)
        return applied(found, self.in_use(base))

    def in_use(self, base: Model) -> OwnParts:
        """Return the OwnParts on the joints and links of a model."""
        return in_use(self.parts, {*base.v_slices, *base.mimics}, base.frames, Notes())


def source_description(text: str) -> SourceDescription:
    """Return the contents of a URDF text. Raises UrdfError if it is invalid."""
    notes = Notes()
    root = parse_xml(text)
    links, joints = describe(needed_part(root, notes), notes)
    own = own_elements(root, notes)
    joints = with_armature(joints, root, [x for x in own if x.tag == "armature"], coordinates_of_drives(own))
    return SourceDescription(links, joints, own_parts(own, links, joints))
