"""Scene files in YAML: robots, ground, materials and objects; docs/contacts.md documents the schema.

Requires the optional dependency PyYAML (pip install pyyaml). Unknown keys, wrong types and non-finite values are
rejected, with file, element and value."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from screw_dynamics.collision.hulls import simplified
from screw_dynamics.collision.materials import Combination, Material
from screw_dynamics.collision.shapes import Box, Capsule, ConvexHull, Cylinder, HeightField, Plane, Shape, Sphere
from screw_dynamics.description.urdf.collisions import VERTICES
from screw_dynamics.description.urdf.description import pose as pose_of_angles
from screw_dynamics.description.urdf.meshes import meshes_of
from screw_dynamics.model import checks as poses
from screw_dynamics.screws.arrays import rotation_matrix
from screw_dynamics.utils import checks
from screw_dynamics.utils.atomic_write import write_atomically

from .file_elements import Element, a_list, a_text, array, numbers, one_of, two_links, vector
from .objects import SceneObject, coordinates_of
from .yaml_text import dumped, parsed

GRAVITY = (0.0, 0.0, -9.81)
SHAPES: Mapping[str, tuple[type[Shape], tuple[str, ...]]] = {
    "box": (Box, ("size",)), "sphere": (Sphere, ("radius",)), "capsule": (Capsule, ("radius", "length")),
    "cylinder": (Cylinder, ("radius", "length")), "plane": (Plane, ()), "convex_hull": (ConvexHull, ("points",)),
    "height_field": (HeightField, ("heights", "size"))}
COEFFICIENTS = Material._fields


@dataclass(frozen=True, eq=False)
class RobotInScene:
    """A robot of a scene file: path or address of its URDF; pose (4, 4) of its root; prefix of its names; True if its
    root link floats; base link; SRDF; {link: Material}; disabled pairs of links."""

    urdf: str
    pose: np.ndarray = field(default_factory=lambda: np.eye(4))
    prefix: str = ""
    floating_base: bool = False
    base_link: str | None = None
    srdf: str | None = None
    materials: Mapping[str, Material] = field(default_factory=dict)
    disable: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class SceneFile:
    """The content of a scene file. material: default of all surfaces; gravity (3,) in m/s^2."""

    robots: tuple[RobotInScene, ...] = ()
    objects: tuple[SceneObject, ...] = ()
    ground: bool = False
    gravity: tuple[float, float, float] = GRAVITY
    material: Material = Material()
    combination: Combination = Combination()


# ------------------------------------------------------------------------------------------------- reading
def read_scene(source: str | os.PathLike, folder: str | os.PathLike | None = None) -> SceneFile:
    """Return the SceneFile of a path, or of YAML text, which contains a line break. folder: base of relative paths, by
    default that of the file, or the working directory for text. Raises ValueError naming file, element and value."""
    text, path = source, None
    if not isinstance(source, str) or "\n" not in source:
        path = Path(source)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise ValueError(f"scene file {path}: {getattr(error, 'strerror', None) or error}") from None
    where = "scene" if path is None else f"scene file {path}"
    base = Path(folder) if folder is not None else Path.cwd() if path is None else Path(os.path.abspath(path)).parent
    try:
        return _scene(Element("", parsed(text), base))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _scene(given: Element) -> SceneFile:
    of_scene = _coefficients(given, Material())
    materials = {name: _material(f"materials: {name}", value, {}, given.folder, of_scene)
                 for name, value in given.mappings("materials").items()}
    rules = Element("combination", given.mappings("combination"), given.folder)
    combination = Combination(*(rules.take(key, a_text, default) for key, default in Combination()._asdict().items()))
    rules.end()
    found = SceneFile(
        tuple(_robot(each, materials, of_scene) for each in given.elements("robots")),
        tuple(_object(each, materials) for each in given.elements("objects")),
        given.take("ground", checks.flag, False),
        tuple(given.take("gravity", vector(3), np.array(GRAVITY)).tolist()), of_scene, combination.checked("scene"))
    given.end()
    _check_names(found)
    return found


def _check_names(found: SceneFile) -> None:
    seen = {"ground"} if found.ground else set()
    for each in found.objects:
        if each.name in seen:
            raise ValueError(f"objects: {each.name!r} exists twice")
        seen.add(each.name)
    prefixes = [robot.prefix for robot in found.robots]
    for prefix in prefixes:
        if prefixes.count(prefix) > 1:
            raise ValueError(f"robots: prefix {prefix!r} is that of two robots: each needs its own")


def _robot(given: Element, materials: Mapping[str, Material], of_scene: Material) -> RobotInScene:
    urdf = given.file("urdf")
    if urdf is None:
        raise ValueError(f"{given.where}: urdf is missing")
    found = RobotInScene(
        urdf, _pose(given), given.take("prefix", a_text, ""), given.take("floating_base", checks.flag, False),
        given.take("base_link", a_text), given.file("srdf"),
        {link: _material(f"{given.where}: materials: {link}", value, materials, given.folder, of_scene)
         for link, value in given.mappings("materials").items()},
        tuple(two_links(f"{given.where}: disable[{k}]", each)
              for k, each in enumerate(given.take("disable", a_list, []))))
    given.end()
    return found


def _object(given: Element, materials: Mapping[str, Material]) -> SceneObject:
    name = given.take("name", a_text)
    if name is None:
        raise ValueError(f"{given.where}: name is missing")
    if given.has("shapes"):
        shapes = [_shape(each, placed=True) for each in given.elements("shapes")]
        if not shapes:
            raise ValueError(f"{given.where}: shapes must not be empty")
    else:
        shapes = [_shape(given, placed=False)]
    named = given.take("material", _known_material(materials))
    own = {key: given.take(key, checks.number) for key in COEFFICIENTS}
    if named is not None:
        own = {key: getattr(named, key) if value is None else value for key, value in own.items()}
    try:
        found = SceneObject(name, shapes, given.take("mass", checks.positive), _pose(given), **own,
                            belt=given.take("belt", vector(3), np.zeros(3)),
                            inertia=given.take("inertia", array(6, 6)))
    except ValueError as error:
        text = str(error)
        raise ValueError(text if text.startswith(given.where) else f"{given.where}: {text}") from None
    given.end()
    return found


def _shape(given: Element, placed: bool) -> tuple[Shape, np.ndarray]:
    """Return a shape and its pose in its object; placed: the mapping may contain a pose, and nothing besides the
    shape."""
    kind = given.take("shape", one_of((*SHAPES, "mesh")))
    if kind is None:
        raise ValueError(f"{given.where}: shape is missing; it must be one of {', '.join((*SHAPES, 'mesh'))}")
    if kind == "mesh":
        shape = _mesh(given)
    else:
        make, names = SHAPES[kind]
        values = [given.take(name, numbers) for name in names]
        for name, value in zip(names, values, strict=True):
            if value is None:
                raise ValueError(f"{given.where}: {name} of the {kind} is missing")
        shape = poses.named(given.where, make, *values)
    if not placed:
        return shape, np.eye(4)
    pose = _pose(given)
    given.end()
    return shape, pose


def _mesh(given: Element) -> Shape:
    file = given.file("file")
    if file is None:
        raise ValueError(f"{given.where}: file of the mesh is missing")
    scale = given.take("scale", vector(3), np.ones(3))
    try:
        return ConvexHull(simplified(np.concatenate([mesh.vertices for mesh in meshes_of(file)]) * scale, VERTICES))
    except ValueError as error:
        raise ValueError(f"{given.where}: file {file}: {error}") from None


def _pose(given: Element) -> np.ndarray:
    C = np.eye(4)
    rpy, quaternion = given.take("rpy", vector(3)), given.take("quaternion", vector(4))
    if rpy is not None and quaternion is not None:
        raise ValueError(f"{given.where}: rpy and quaternion are both given; one is enough")
    if rpy is not None:
        C = pose_of_angles(_Angles(rpy))
    if quaternion is not None:
        largest = np.abs(quaternion).max()
        if not largest > 0.0:
            raise ValueError(f"{given.at('quaternion')} 0 0 0 0 has no direction")
        C[:3, :3] = rotation_matrix(quaternion / largest)   # avoids overflow of its square
    C[:3, 3] = given.take("xyz", vector(3), np.zeros(3))
    return C


class _Angles:
    """Roll, pitch and yaw, as in a URDF <origin>."""

    xyz = None

    def __init__(self, rpy):
        self.rpy = rpy.tolist()


def _coefficients(given: Element, default: Material) -> Material:
    values = [given.take(key, checks.number) for key in COEFFICIENTS]
    return default.but(*values).checked(given.where or "scene")


def _material(where: str, value: Any, materials: Mapping[str, Material], folder: Path, default: Material) -> Material:
    """Return a material by its name, or from a mapping of coefficients; `default` provides missing ones."""
    if isinstance(value, str):
        return _known_material(materials)(where, value)
    given = Element(where, value, folder)
    found = _coefficients(given, default)
    given.end()
    return found


def _known_material(materials: Mapping[str, Material]) -> Callable[[str, Any], Material]:
    def found(where, x):
        if a_text(where, x) not in materials:
            raise ValueError(f"{where} {x!r} does not exist; materials are {', '.join(materials) or 'none'}")
        return materials[x]
    return found


# ------------------------------------------------------------------------------------------------- writing
def write_scene(scene: SceneFile, path: str | os.PathLike | None = None) -> str:
    """Return the YAML text of a SceneFile, which `read_scene` reads back unchanged; write it to a file if a path is
    given. Meshes are written as the points of their hulls, files by absolute paths."""
    data: dict[str, Any] = {"gravity": list(scene.gravity), "ground": scene.ground, **scene.material._asdict(),
                            "combination": scene.combination._asdict()}
    if scene.robots:
        data["robots"] = [_robot_data(robot) for robot in scene.robots]
    if scene.objects:
        data["objects"] = [_object_data(each) for each in scene.objects]
    text = dumped(data)
    if path is not None:
        write_atomically(path, text)
    return text


def _robot_data(robot):
    data = {"urdf": os.path.abspath(robot.urdf) if "://" not in robot.urdf else robot.urdf, **_pose_data(robot.pose),
            "prefix": robot.prefix, "floating_base": robot.floating_base}
    if robot.base_link is not None:
        data["base_link"] = robot.base_link
    if robot.srdf is not None:
        data["srdf"] = robot.srdf
    if robot.materials:
        data["materials"] = {link: material._asdict() for link, material in robot.materials.items()}
    if robot.disable:
        data["disable"] = [list(pair) for pair in robot.disable]
    return data


def _object_data(each):
    alone = len(each.shapes) == 1 and np.array_equal(each.shapes[0][1], np.eye(4))
    shapes = _shape_data(each.shapes[0][0]) if alone else {
        "shapes": [{**_shape_data(shape), **_pose_data(pose)} for shape, pose in each.shapes]}
    mass = {} if each.mass is None else {"mass": each.mass}
    if each.free and not each.of_one_density:
        mass["inertia"] = each.inertia.tolist()
    own = {key: value for key in COEFFICIENTS if (value := getattr(each, key)) is not None}
    belt = {"belt": each.belt.tolist()} if each.belt.any() else {}
    return {"name": each.name, **shapes, **_pose_data(each.pose), **mass, **own, **belt}


def _shape_data(shape):
    return {"shape": shape.kind, **{name: np.asarray(getattr(shape, name)).tolist() for name in SHAPES[shape.kind][1]}}


def _pose_data(pose):
    x = coordinates_of(np.asarray(pose)).tolist()
    data = {"xyz": x[:3]} if any(x[:3]) else {}
    return data if np.array_equal(pose[:3, :3], np.eye(3)) else {**data, "quaternion": x[3:]}
