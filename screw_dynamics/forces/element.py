"""Base class of force elements: a force law, its location, and its numbers."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from screw_dynamics.model.links import Frame
from screw_dynamics.model.model import Model
from screw_dynamics.utils.checks import described, plain, real

from .laws import Law


class Element:
    """Base class of force elements, which act on a robot besides joint efforts.

    An element is a frozen dataclass of names and numbers. Each is a class in its own file, with a `law` and `rows`,
    the numbers for the law, one row for each location. Mappings are stored as tuples of pairs."""

    law: ClassVar[Law]

    def __post_init__(self):
        for name, x in vars(self).items():          # for elements that are comparable and immutable
            plain(f"{name} of {type(self).__name__}", x)
            if _has_truth(fixed := _fixed(x)):      # True is equal to 1, but may have another meaning
                raise ValueError(f"{name} of {type(self).__name__} is {described(fixed)}, must not be True or False")
            object.__setattr__(self, name, fixed)

    def __str__(self) -> str:
        """Return the element as text for error messages."""
        return described(self)

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return a row of numbers for each location of the element.

        Parameters
        ----------
        robot : Robot
            Model and frames of the robot.

        Returns
        -------
        list of list of float
            For each location, its indices, and the element's numbers there.

        Raises
        ------
        ValueError
            If a field of the element is not valid or does not fit the robot. The message names the field.
        """
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The name of the force law, which identifies its kernels."""
        return type(self).__name__

    @property
    def is_dry(self) -> bool:
        """True if the force has a kink at rest, like Coulomb friction, which some integrators do not support."""
        return False

    @property
    def joints(self) -> tuple[str, ...]:
        """The names of the joints to which the element applies."""
        return tuple(name for field in JOINTS if hasattr(self, field) for name in _named(getattr(self, field)))

    @property
    def links(self) -> tuple[str, ...]:
        """The names of the links to which the element applies."""
        return tuple(getattr(self, field) for field in LINKS if getattr(self, field, None) is not None)

    def mounted(self, prefix: str, root: str, R: np.ndarray) -> Element:
        """Return the element for a robot with prefixed names, whose root link is fixed to another root.

        Parameters
        ----------
        prefix : str
            Prefix of each name of a joint or link.
        root : str
            Name of the robot's own root link, which replaces None. It is prefixed, too.
        R : ndarray (3, 3)
            Rotation matrix of the robot's own root link in the other root.

        Returns
        -------
        Element
            An element with the new names.
        """
        given = {field: getattr(self, field) for field in (*JOINTS, *LINKS) if hasattr(self, field)}
        given |= {field: root for field in given if given[field] is None}
        return replace(self, **{field: prefix + names if isinstance(names, str) else tuple(     # type: ignore[type-var]
            (prefix + name, factor) for name, factor in names) for field, names in given.items()})

    def on_joints(self, names: Mapping[str, str]) -> Element | None:
        """Return the element on other joints.

        Parameters
        ----------
        names : dict of str to str
            New joint names by old names. A joint without an entry stays.

        Returns
        -------
        Element or None
            An element with the new names. None if two of its joints become the same.
        """
        given = {field: getattr(self, field) for field in JOINTS if hasattr(self, field)}
        found = replace(self, **{field: names.get(x, x) if isinstance(x, str) else tuple(       # type: ignore[type-var]
            (names.get(name, name), factor) for name, factor in x) for field, x in given.items()})
        return found if len(set(found.joints)) == len(found.joints) else None

    def in_floats(self) -> Element:
        """Return the element with every number as a float.

        Returns
        -------
        Element
            An element with equal numbers.
        """
        return replace(self, **{name: _floats(x) for name, x in vars(self).items()})      # type: ignore[type-var]

    def finite(self, name: str, at_least: float = -math.inf, more_than: float = -math.inf) -> float:
        """Return one of the element's numbers, checked to be finite and within bounds.

        Parameters
        ----------
        name : str
            Field of the element.
        at_least : float, optional
            Smallest allowed number.
        more_than : float, optional
            Exclusive lower bound.

        Returns
        -------
        float
            Number of the field.

        Raises
        ------
        ValueError
            If the field is not a finite number within the bounds.
        """
        given = getattr(self, name)
        x = real(given)
        if not (math.isfinite(x) and x >= at_least and (x > more_than or more_than == -math.inf)):
            bound = f" > {more_than:g}" * (more_than > -math.inf) or f" >= {at_least:g}" * (at_least > -math.inf)
            raise ValueError(f"{name} of {self} is {described(given)}, must be a finite number{bound}")
        return x

    def array(self, name: str, *shape: int) -> list:
        """Return one of the element's arrays, checked to have finite numbers and a given shape.

        Parameters
        ----------
        name : str
            Field of the element.
        *shape : int
            Length of each axis. ANY accepts any length.

        Returns
        -------
        list
            Nested lists of numbers.

        Raises
        ------
        ValueError
            If the field has another shape, or a number that is not finite.
        """
        given = getattr(self, name)
        found = _array(given, shape)
        if found is None:
            size = "" if shape == (ANY,) else f"{shape[0] if len(shape) == 1 else shape} "
            raise ValueError(f"{name} of {self} is {described(given)}, must be {size}finite numbers")
        return found


ANY = -1
# Fields of elements with names of joints, and of links, where None is the root.
JOINTS, LINKS = ("joint", "motor", "lever", "charge"), ("link", "other")
Joints: TypeAlias = str | Mapping[str, float] | tuple[tuple[str, float], ...]       # of the sum x of a law
# Elements by name whose laws are in every sum: one piece of machine code serves any combination of them.
KINDS: dict[str, type[Element]] = {}


def built_in(kind: type[Element]) -> type[Element]:
    """Register an element of this package that has only names and numbers: its law is in every sum."""
    KINDS[kind.__name__] = kind
    return kind


def _named(joints):
    """Return the joint names in a field of JOINTS."""
    return (joints,) if isinstance(joints, str) else tuple(name for name, _ in joints)


def _array(x, shape):
    """Return nested lists of finite numbers from tuples of this shape; None for anything else."""
    if not shape:
        number = real(x)
        return number if math.isfinite(number) else None
    if not isinstance(x, tuple) or shape[0] not in (ANY, len(x)):
        return None
    found = [_array(row, shape[1:]) for row in x]
    return None if None in found else found


def _fixed(x):
    """Return nested tuples in place of mappings, lists and arrays."""
    if hasattr(x, "tolist") and not isinstance(x, type):
        x = x.tolist()
    if isinstance(x, Mapping):
        return tuple((_fixed(key), _fixed(value)) for key, value in x.items())
    return tuple(map(_fixed, x)) if isinstance(x, (list, tuple)) else x


def _floats(x):
    return tuple(map(_floats, x)) if isinstance(x, tuple) else float(x) if isinstance(x, int) else x


def _has_truth(x):
    return any(map(_has_truth, x)) if isinstance(x, tuple) else isinstance(x, bool)


def elements_of(forces: Any) -> tuple[Element, ...]:
    """Return a list of force elements as a tuple.

    Parameters
    ----------
    forces : list or tuple of Element
        Force elements.

    Returns
    -------
    tuple of Element
        The elements in their order.

    Raises
    ------
    ValueError
        If it is not a list of elements, or if an element is not hashable.
    """
    if not isinstance(forces, (list, tuple)):
        raise ValueError(f"forces must be a list of elements of screw_dynamics.forces, not {described(forces)}")
    for element in forces:
        if not (isinstance(element, Element) and hasattr(type(element), "law")):
            raise ValueError(f"forces must be elements of screw_dynamics.forces, not {described(element)}")
        try:
            hash(element)
        except TypeError:
            raise ValueError(f"{element} must be made of names and numbers") from None
    return tuple(forces)


class Robot(NamedTuple):
    """A robot's data for force elements: its model, and its frames {link: Frame} for kernels."""

    model: Model
    frames: dict[str, Frame]

    def coordinate(self, joint: str, factor: float = 1.0, element: Any = None) -> list[float]:
        """Return velocity index, q index and factor of a single-DoF joint. Raises ValueError for other joints."""
        model = self.model
        if joint not in model.v_slices:
            also = f"; {joint!r} mimics another joint" if joint in model.mimics else ""
            raise ValueError(f"{element}: joint {joint!r} does not exist{also}; the joints are "
                             f"{', '.join(model.joint_names)}")
        velocity = model.v_slices[joint].start
        place = model.q_indices[velocity]
        if place < 0:
            raise ValueError(f"{element}: joint {joint!r} is {model.kind_of(joint)}, not of one degree of freedom")
        return [float(velocity), float(place), float(factor)]

    def sum_of(self, joints: Joints, element: Any = None, less: str | None = None) -> list[float]:
        """Return the number of joints of a sum x, and velocity index, q index and factor of each.

        less: a joint to subtract. Raises ValueError if a joint does not exist or is repeated, or a factor is 0 or not
        finite."""
        pairs = [*joints] if isinstance(joints, tuple) else [(joints, 1.0)]
        if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise ValueError(f"joint of {element} is {described(joints)}, must be a name or {{name: factor}}")
        found = [float(len(pairs) + (less is not None))]
        for joint, given in [*pairs, *([] if less is None else [(less, -1.0)])]:
            factor = real(given)
            if not math.isfinite(factor) or factor == 0.0:
                raise ValueError(f"factor of joint {joint!r} in {element} is {described(given)}, must be a finite "
                                 "number, not 0")
            found += self.coordinate(joint, factor, element)
        if len(set(found[1::3])) < found[0]:
            raise ValueError(f"{element} names a joint twice")
        return found

    def frame(self, link: str, element: Any = None) -> Frame:
        """Return the frame of a link. Raises ValueError if the link does not exist."""
        try:
            return self.frames[self.model.known_link(link)]
        except ValueError as error:
            raise ValueError(f"{element}: {error}") from None
