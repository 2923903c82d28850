"""Objects of a scene besides robots, of one or several shapes, fixed or free."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.collision.materials import Material
from screw_dynamics.collision.on_links import CollisionShape
from screw_dynamics.collision.shapes import LARGEST, Shape
from screw_dynamics.model import checks as poses
from screw_dynamics.model.joining import FreeBody
from screw_dynamics.screws import arrays
from screw_dynamics.screws.arrays import quaternion
from screw_dynamics.utils import checks

NEGLIGIBLE = 1e-13      # relative to the largest moment of inertia: smaller ones are rounding


@dataclass(frozen=True, eq=False)
class SceneObject:
    """An object in a scene: a free body if it has a mass (kg), else fixed to the world.

    shapes: a shape, (shape, pose (4, 4) in the object's frame), or several of these, rigidly connected. The mass has
    uniform density; alternatively inertia (6, 6) is given, about the origin of the object's frame. pose (4, 4): in the
    world; the initial pose of a free body. friction, restitution, torsion and rolling: as in Material; None: the
    scene's. belt (3,): velocity of its surface in m/s, in the object's frame, as of a conveyor.

    Raises ValueError naming the object and the error: no shape, a mass that is not positive, a free plane, an inertia
    without resistance about some axis, a pose or a belt out of range."""

    name: str
    shapes: Any
    mass: float | None = None
    pose: ArrayLike | None = None
    friction: float | None = None
    restitution: float | None = None
    torsion: float | None = None
    rolling: float | None = None
    belt: ArrayLike = (0.0, 0.0, 0.0)
    inertia: ArrayLike | None = None

    def __post_init__(self) -> None:
        poses.new_name("scene object", self.name, ())
        name = f"object {self.name!r}"
        self._set(shapes=placed(name, self.shapes), pose=_kept(poses.pose(name, self.pose)),
                  belt=_kept(checks.vector(f"{name}: belt", self.belt, 3)))
        for what, x, unit in (("position", self.pose[:3, 3], "m"), ("belt", self.belt, "m/s")):
            if np.abs(x).max() > LARGEST:
                raise ValueError(f"{name}: {what} {x.tolist()} must be within {LARGEST:g} {unit}")
        self.material(Material())
        for shape, _ in self.shapes:
            if shape.kind in ("plane", "height_field") and (self.mass, self.inertia) != (None, None):
                raise ValueError(f"{name}: a {shape.kind.replace('_', ' ')} is fixed: it must have no mass")
        if self.inertia is not None:
            self._set(inertia=_kept(poses.inertia(name, self.inertia)))
            _check_turns(name, self.inertia)
            if self.mass is not None and not np.isclose(checks.positive(f"{name}: mass", self.mass),
                                                        self.inertia[5, 5], rtol=1e-9, atol=0.0):
                raise ValueError(f"{name}: mass {self.mass!r} must equal that of its inertia, {self.inertia[5, 5]:g}")
            self._set(mass=checks.positive(f"{name}: mass", self.inertia[5, 5]))
        elif self.mass is not None:
            self._set(mass=checks.positive(f"{name}: mass", self.mass))
            self._set(inertia=_kept(poses.named(name, _inertia, self.shapes, self.mass)))

    def _set(self, **values: Any) -> None:
        for field, value in values.items():
            object.__setattr__(self, field, value)

    @property
    def free(self) -> bool:
        """True if the object moves."""
        return self.mass is not None

    @property
    def of_one_density(self) -> bool:
        """True if the inertia of a free object is that of its shapes with uniform density."""
        try:
            return np.allclose(self.inertia, _inertia(self.shapes, self.mass), rtol=1e-12, atol=1e-12 * self.mass)
        except ValueError:              # an open mesh
            return False

    def but(self, **fields: Any) -> SceneObject:
        """Return the object with other values of its fields. An inertia of uniform density follows the mass and the
        shapes; another inertia stays until it is replaced, with its mass. mass=None: fixed. inertia=None: uniform
        density."""
        if fields.get("inertia") is not None:
            fields = {"mass": None, **fields}                   # mass is part of the inertia
        elif "inertia" in fields or "mass" in fields and fields["mass"] is None or (
                fields.keys() & {"mass", "shapes"} and self.free and self.of_one_density):
            fields = {**fields, "inertia": None}
        return replace(self, **fields)

    @property
    def body(self) -> FreeBody:
        """The object as a body of a model, if it is free; q contains its pose in the world."""
        return FreeBody(self.name, self.inertia)

    @property
    def coordinates(self) -> np.ndarray:
        """The pose of the object as coordinates (7,) of a free joint: x y z, and quaternion x y z w."""
        return coordinates_of(np.asarray(self.pose))

    def material(self, of_scene: Material) -> Material:
        """Return the material of the object, with that of the scene for missing values."""
        given = of_scene.but(self.friction, self.restitution, self.torsion, self.rolling)
        return given.checked(f"object {self.name!r}")

    def on(self, link: str, of_scene: Material) -> list[CollisionShape]:
        """Return the shapes of the object on a link: for a free body at their poses in the body, for a fixed one at
        their poses in the world, on the root."""
        C = np.eye(4) if self.free else np.asarray(self.pose)
        material = self.material(of_scene)
        return [CollisionShape(link, shape, C @ pose, material, self.name) for shape, pose in self.shapes]


def placed(name: str, given: Any) -> tuple[tuple[Shape, np.ndarray], ...]:
    """Return shapes with their poses (4, 4), from a shape, a (shape, pose), or several of these. Raises ValueError,
    naming `name`, for invalid ones."""
    if isinstance(given, Shape):
        return ((given, _kept(np.eye(4))),)
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise ValueError(f"{name}: a shape, a (shape, pose) or several of these are expected, not "
                         f"{checks.described(given)}")
    items = list(given)
    if len(items) == 2 and isinstance(items[0], Shape) and not _has_shape(items[1]):
        return ((items[0], _kept(poses.pose(f"{name}: {items[0].kind}", items[1]))),)
    found = tuple(pair for item in items for pair in placed(name, item))
    if not found:
        raise ValueError(f"{name} has no shape")
    return found


def _has_shape(item):
    return isinstance(item, Shape) or isinstance(item, Sequence) and len(item) > 0 and isinstance(item[0], Shape)


def on_links(shapes: Mapping[str, Any] | Iterable[CollisionShape], links: Iterable[str]) -> list[CollisionShape]:
    """Return the CollisionShapes of {link: shape, (shape, pose), or several of these}; CollisionShapes are returned
    unchanged. Raises ValueError for an unknown link, and for an object that is no shape."""
    known = list(links)
    if not isinstance(shapes, Mapping):
        given = list(shapes)
        for each in given:
            if not isinstance(each, CollisionShape):
                raise ValueError(f"shapes must be {{link: shape}} or CollisionShapes, not {checks.described(each)}")
            checks.known_link(each.link, known)
        return given
    return [CollisionShape(checks.known_link(link, known), shape, pose) for link, given in shapes.items()
            for shape, pose in placed(f"link {link!r}", given)]


def with_materials(shapes: Iterable[CollisionShape], materials: Mapping[str, Material],
                   links: Iterable[str]) -> list[CollisionShape]:
    """Return the shapes with materials replaced by {link: Material or friction}. Raises ValueError for an unknown link,
    and for a link without a shape."""
    shapes = list(shapes)
    if not isinstance(materials, Mapping):
        raise ValueError(f"materials must be {{link: Material}}, not {checks.described(materials)}")
    known, found = list(links), {}
    for link, given in materials.items():
        checks.known_link(link, known)
        if not any(shape.link == link for shape in shapes):
            raise ValueError(f"materials: link {link!r} has no shape that touches; links with one are "
                             f"{', '.join(sorted({shape.link for shape in shapes})) or 'none'}")
        material = given if isinstance(given, Material) else Material(given)
        found[link] = material.checked(f"material of link {link!r}")
    return [each._replace(material=found.get(each.link, each.material)) for each in shapes]


def coordinates_of(pose: np.ndarray) -> np.ndarray:
    """Return the coordinates (7,) in q of a free joint at a pose (4, 4)."""
    return np.concatenate((pose[:3, 3], quaternion(pose[:3, :3])))


def _inertia(shapes, mass):
    """Return the inertia (6, 6) about the origin of the object's frame, with the mass distributed over shapes by
    volume."""
    volumes = [shape.volume for shape, _ in shapes]
    total = np.zeros((6, 6))
    for (shape, pose), volume in zip(shapes, volumes, strict=True):
        to_shape = arrays.Ad_matrix(arrays.inverse_pose(pose))
        total += to_shape.T @ shape.inertia(mass * volume / sum(volumes)) @ to_shape
    return total


def _check_turns(name, inertia):
    """Raise ValueError for a body without inertia about some axis."""
    mass, moment = inertia[5, 5], inertia[:3, 3:]
    about = inertia[:3, :3] + moment @ moment / mass if mass > 0.0 else inertia[:3, :3]
    if mass > 0.0 and not np.linalg.eigvalsh(about)[0] > NEGLIGIBLE * np.abs(inertia[:3, :3]).max():
        raise ValueError(f"{name}: inertia {about.tolist()} about the center of mass must be positive about each axis, "
                         "since a free body rotates")


def _kept(array):
    array.setflags(write=False)
    return array
