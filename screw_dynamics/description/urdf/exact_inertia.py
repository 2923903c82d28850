"""Bitwise exact inertial parameters of bodies: elements <inertia> in <screw_dynamics>.

An <inertial> has mass, center of mass, and inertia about it in rotated axes, and a body is a group of links with fixed
joints. Parameters converted to this form and back change in their last digits.
<inertia value="m mx my mz xx xy yy xz yz zz"><link name="..."/>...</inertia> has all digits, for the body of these
links, about the frame of the first link. It applies only if the links' <inertial>s agree with it to machine precision:
users edit the <inertial>s, which every reader supports."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from lxml import etree

from screw_dynamics.model import inertial_parameters
from screw_dynamics.model.model import Model

from .description import Link
from .error import fault, listed, quote

ROUNDING = 1e-9         # tolerance relative to m, m r and m r^2, with the mass m and radius of gyration r
Body = frozenset[str]   # the links of a body

TAG = "inertia"


def exact_inertias(elements: Sequence[etree._Element], links: Mapping[str, Link]) -> dict[tuple[str, Body], np.ndarray]:
    """Return the parameters (10,) of validated elements, by first link and set of links.

    Raises UrdfError for a link that does not exist or is named twice, and for a body that is given twice."""
    found: dict[tuple[str, Body], np.ndarray] = {}
    for element in elements:
        names, line = [link.get("name") for link in element], element.sourceline
        for name in names:
            if name not in links:
                raise fault(f"<{TAG}>: link {quote(name)} does not exist", line)
        body = names[0], frozenset(names)
        if len(body[1]) < len(names):
            raise fault(f"<{TAG}>: a link of {listed(names)} is named twice", line)
        if body in found:
            raise fault(f"<{TAG}>: the body of link {quote(names[0])} is given twice", line)
        found[body] = np.array(element.get("value").split(), dtype=float)
    return found


def bodies(model: Model) -> dict[int, tuple[str, ...]]:
    """Return the links of each body that has links; -1 is the root. The first link's frame is the body's."""
    found: dict[int, tuple[str, ...]] = {}
    for link, (body, _) in model.frames.items():
        found[int(body)] = (*found.get(int(body), ()), link)
    return found


def with_exact_inertias(model: Model, given: Mapping[tuple[str, Body], np.ndarray]) -> Model:
    """Return the model with the given parameters of matching bodies; warn if they differ by more than rounding."""
    if not given:
        return model
    inertias, root, wrong = model.inertias.copy(), model.root_inertia, []
    for body, links in bodies(model).items():
        exact = given.get((links[0], frozenset(links)))
        if exact is None:
            continue
        if not agree(exact, inertial_parameters.of_matrix(root if body < 0 else inertias[body])):
            wrong.append(links[0])
        elif body < 0:
            root = inertial_parameters.matrix(exact)
        else:
            inertias[body] = inertial_parameters.matrix(exact)
    warnings = [f"<{TAG}> in <screw_dynamics> is not what the <inertial>s of its links say, which count: "
                f"{listed(wrong)}"] if wrong else []
    return replace(model, inertias=inertias, root_inertia=root, warnings=(*model.warnings, *warnings))


def agree(a: np.ndarray, b: np.ndarray) -> bool:
    """Return True if parameters (10,) agree to machine precision."""
    mass, second = max(abs(a[0]), abs(b[0])), max(np.abs(a[4:]).max(), np.abs(b[4:]).max())
    size = np.array([mass, *[np.sqrt(mass * second)] * 3, *[second] * 6])
    return bool((np.abs(a - b) <= ROUNDING * size).all())
