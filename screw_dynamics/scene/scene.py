"""Scene: robots, bodies and ground with contacts."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import fields
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.collision.materials import Combination, Material
from screw_dynamics.collision.on_links import CollisionShape
from screw_dynamics.collision.shapes import Box, Capsule, ConvexHull, Cylinder, HeightField, Plane, Sphere
from screw_dynamics.description.urdf.source import Source
from screw_dynamics.model.builder import ModelBuilder
from screw_dynamics.model.joining import join
from screw_dynamics.robot import Robot
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.robot.evaluation import Forces, Threads, Wrenches
from screw_dynamics.rollout.integrators import FIXED_STEPS, INTEGRATORS, WITH_CONSTRAINTS
from screw_dynamics.rollout.rollout_arguments import STEPS, steps_of, with_external
from screw_dynamics.utils import checks
from screw_dynamics.utils.checks.hints import WithHints, in_part
from screw_dynamics.utils.lazy import remade

from .contact_model import Collider, ContactModel, Contacts
from .derivatives import SceneLinearization
from .file import read_scene
from .mjcf import read_mjcf_scene
from .objects import SceneObject, on_links, with_materials
from .planning import ScenePlanning
from .progress import watching
from .results import SceneMotion, SceneStep
from .robots import Robots, closed, collisions, constraints_of, mechanisms, mounted, of_robot, trees
from .self_collision import self_collision

Shapes = Mapping[str, Any] | Sequence[CollisionShape] | None


class Scene(SceneLinearization, ScenePlanning, metaclass=WithHints, hints=in_part(Robot, "scene.robot") | {
        "add_ball": "here it is scene.add_sphere(name, radius)"}):
    """Robots, bodies and the ground, with frictional contacts.

    Parameters
    ----------
    robot : Robot, ClosedLoopRobot or dict of str to these, optional
        A robot, or several by prefix, such as "left/", which comes before the names of their links and joints. Several
        are fixed to one world at `poses`. The loops of a ClosedLoopRobot stay closed. By default none, only objects.
    ground : bool, optional
        Add the plane z = 0.
    friction, restitution, torsion, rolling : float, optional
        Default coefficients of all surfaces, as in contact.materials.Material; torsion and rolling in m.
    shapes : dict of str to shape, or sequence of CollisionShape, optional
        Collision shapes of links: CollisionShapes, or {link: shape}, where a shape may also be (shape, pose (4, 4) in
        the
        link), or several of these. By default, the collision shapes of the URDF that a robot was read from.
    materials : dict of str to Material or float, optional
        Material of each named link, or its friction.
    self_collisions : bool, optional
        Enable contacts between links of robots, for the pairs selected by scene.self_collision.
    srdf : str, path, file or dict of str to these, optional
        SRDF that disables pairs, a path or text, or one for each {prefix: path}. It turns `self_collisions` on.
    poses : dict of str to array_like (4, 4), optional
        Pose in the world of each robot that has a prefix.
    disable : iterable of (str, str), optional
        Pairs of links, or of objects, that do not touch.
    combination : Combination, optional
        Rules for the coefficients between two surfaces, contact.materials.Combination.
    max_contacts : int, optional
        Largest number of contacts at once, by default 8192.
    margin : float, optional
        Largest gap in m of the contact search.
    slow : float, optional
        Approach velocity in m/s below which contacts do not rebound.

    Raises
    ------
    ValueError
        If `combination` is not a Combination, or another argument has a wrong type or value.

    Notes
    -----
    Contacts stick, slide, roll and rebound. Objects are added by add_box and similar methods. A configuration q
    contains
    the coordinates of the robots, followed by x y z and the quaternion x y z w of each free body, in the order in which
    they were added. `robot` is one Robot of the whole scene, with all methods of Robot.

    Without an SRDF, self_collisions omits pairs that touch in the neutral configuration, in none of 1000 samples, or in
    95 % of them. `left_out` contains these pairs, and the reasons.
    """

    def __init__(self, robot: Robots | None = None, *, ground: bool = False, friction: float = 0.8,
                 restitution: float = 0.0, torsion: float = 0.0, rolling: float = 0.0, shapes: Shapes = None,
                 materials: Mapping[str, Any] | None = None, self_collisions: bool = False,
                 srdf: Source | Mapping[str, Source] | None = None, poses: Mapping[str, ArrayLike] | None = None,
                 disable: Iterable[tuple[str, str]] = (), combination: Combination | None = None,
                 max_contacts: int | None = None, margin: float = 0.02, slow: float = 0.01):
        robot = Robot(ModelBuilder("world").build()) if robot is None else robot
        self._loops, robot = mechanisms(robot), trees(robot)
        self._robots = mounted(robot, poses or {})
        self._prefixes = ("",) if isinstance(robot, Robot) else tuple(robot)
        self.material = Material(friction, restitution, torsion, rolling).checked("scene")
        if not isinstance(combination, Combination | None):
            raise ValueError("combination must be a contact.materials.Combination, not "
                             f"{checks.described(combination)}")
        self.combination = (combination or Combination()).checked("scene")
        self._objects: dict[str, SceneObject] = {}
        self._options = (None if max_contacts is None else checks.count("max_contacts", max_contacts, 1),
                         checks.positive("margin", margin), checks.positive("slow", slow))
        links = self._robots.link_names
        found = collisions(robot) if shapes is None else on_links(shapes, links)
        self._shapes = with_materials(found, materials or {}, links)
        self._disabled = _pairs(disable)
        self._self_pairs, self._left_out = (self._find_self_pairs(srdf) if checks.flag(
            "self_collisions", self_collisions) or srdf is not None else ({}, {}))
        if checks.flag("ground", ground):
            self.add_plane("ground")

    @classmethod
    def from_file(cls, source: str | os.PathLike, **options: Any) -> Scene:
        """Read a scene from a YAML file, or from its text.

        Parameters
        ----------
        source : str or path
            Path of the file, or its text; docs/contacts.md documents the format.
        **options
            Arguments of Scene, which take precedence over the file.

        Returns
        -------
        Scene
            Scene with the robots and objects of the file.

        Raises
        ------
        ValueError
            If the file is invalid. The message names file, element and value.
        """
        given = read_scene(source)
        robots = {each.prefix: Robot.from_urdf(each.urdf, each.base_link, gravity=given.gravity,
                                               floating_base=each.floating_base) for each in given.robots}
        shapes = [shape for each in given.robots for shape in of_robot(each, robots[each.prefix])]
        disable = [(each.prefix + a, each.prefix + b) for each in given.robots for a, b in each.disable]
        srdf = {each.prefix: each.srdf for each in given.robots if each.srdf is not None}
        poses = {each.prefix: each.pose for each in given.robots}
        scene = cls(robots or Robot(ModelBuilder("world").build(), given.gravity), **{
            **given.material._asdict(), "ground": given.ground, "combination": given.combination, "shapes": shapes,
            "poses": poses, "disable": disable, "srdf": srdf or None, **options})
        for each in given.objects:
            scene.add_object(each)
        return scene

    @classmethod
    def from_mjcf(cls, source: Any, **options: Any) -> Scene:
        """Read a scene from a model of MuJoCo.

        Parameters
        ----------
        source : str, path, MjSpec or MjModel
            Model: a path, text, MjSpec or MjModel.
        **options
            Arguments of Scene, except `shapes`, `self_collisions` and `srdf`, which the model determines.

        Returns
        -------
        Scene
            Scene with the bodies, geoms and pairs of the model, as rigid bodies.

        Raises
        ------
        ValueError
            If `shapes`, `self_collisions` or `srdf` is given.

        Warns
        -----
        MjcfWarning
            If something is omitted. The warning names it.

        Notes
        -----
        For links with a material from `materials` or `change`, the coefficients of pairs are those of `combination`,
        not the
        model's.
        """
        for what in ("shapes", "self_collisions", "srdf"):
            if what in options:
                raise ValueError(f"{what} {checks.described(options[what])} must not be given: a MuJoCo model has "
                                 "its own collision pairs; disable= excludes pairs")
        given = read_mjcf_scene(source)
        scene = cls(Robot(given.model, given.gravity), shapes=given.shapes, **options)
        scene._self_pairs = dict(zip(given.pairs, given.materials, strict=True))
        scene._combine(options.get("materials") or ())
        return scene

    # --------------------------------------------------------------------------------------------- objects
    def add_box(self, name: str, size: ArrayLike, mass: float | None = None, pose: ArrayLike | None = None,
                **options: Any) -> None:
        """Add a box.

        Parameters
        ----------
        name : str
            Name of the object.
        size : array_like (3,)
            Edges x y z in m.
        mass : float, optional
            Mass in kg. Without it, the box is fixed.
        pose : array_like (4, 4), optional
            Pose of its center in the world; the initial pose of a free body.
        **options
            Other fields of SceneObject: friction, restitution, torsion, rolling, and belt (3,), the velocity of its
            surface in m/s, in its frame.
        """
        self.add(name, Box(size), mass, pose, **options)

    def add_sphere(self, name: str, radius: float, mass: float | None = None, pose: ArrayLike | None = None,
                   **options: Any) -> None:
        """Add a sphere.

        Parameters
        ----------
        name : str
            Name of the object.
        radius : float
            Radius in m.
        mass : float, optional
            Mass in kg. Without it, the sphere is fixed.
        pose : array_like (4, 4), optional
            Pose of its center in the world; the initial pose of a free body.
        **options
            Other fields of SceneObject, as in add_box.
        """
        self.add(name, Sphere(radius), mass, pose, **options)

    def add_cylinder(self, name: str, radius: float, length: float, mass: float | None = None,
                     pose: ArrayLike | None = None, **options: Any) -> None:
        """Add a cylinder along its z axis.

        Parameters
        ----------
        name : str
            Name of the object.
        radius, length : float
            Radius and length in m.
        mass : float, optional
            Mass in kg. Without it, the cylinder is fixed.
        pose : array_like (4, 4), optional
            Pose of its center in the world; the initial pose of a free body.
        **options
            Other fields of SceneObject, as in add_box.
        """
        self.add(name, Cylinder(radius, length), mass, pose, **options)

    def add_capsule(self, name: str, radius: float, length: float, mass: float | None = None,
                    pose: ArrayLike | None = None, **options: Any) -> None:
        """Add a capsule along its z axis.

        Parameters
        ----------
        name : str
            Name of the object.
        radius, length : float
            Radius, and length of its cylinder along z, in m.
        mass : float, optional
            Mass in kg. Without it, the capsule is fixed.
        pose : array_like (4, 4), optional
            Pose of its center in the world; the initial pose of a free body.
        **options
            Other fields of SceneObject, as in add_box.
        """
        self.add(name, Capsule(radius, length), mass, pose, **options)

    def add_mesh(self, name: str, points: ArrayLike, mass: float | None = None, pose: ArrayLike | None = None,
                 **options: Any) -> None:
        """Add the convex hull of points.

        Parameters
        ----------
        name : str
            Name of the object.
        points : array_like (N, 3)
            Points in m, in its frame.
        mass : float, optional
            Mass in kg. Without it, the hull is fixed.
        pose : array_like (4, 4), optional
            Pose of its frame in the world; the initial pose of a free body.
        **options
            Other fields of SceneObject, as in add_box.
        """
        self.add(name, ConvexHull(points), mass, pose, **options)

    def add_plane(self, name: str, pose: ArrayLike | None = None, **options: Any) -> None:
        """Add a fixed half-space below the x-y plane of its frame.

        Parameters
        ----------
        name : str
            Name of the object.
        pose : array_like (4, 4), optional
            Pose of its frame in the world.
        **options
            Other fields of SceneObject, as in add_box.
        """
        self.add(name, Plane(), None, pose, **options)

    def add_heightfield(self, name: str, heights: ArrayLike, size: ArrayLike, pose: ArrayLike | None = None,
                        **options: Any) -> None:
        """Add a fixed height field over a rectangle.

        Parameters
        ----------
        name : str
            Name of the object.
        heights : array_like (rows, columns)
            Heights in m above the x-y plane of its frame; columns along x, rows along y.
        size : array_like (2,)
            Size x y of the rectangle in m, centered.
        pose : array_like (4, 4), optional
            Pose of its frame in the world.
        **options
            Other fields of SceneObject, as in add_box.
        """
        self.add(name, HeightField(heights, size), None, pose, **options)

    def add(self, name: str, shape: Any, mass: float | None = None, pose: ArrayLike | None = None,
            **options: Any) -> None:
        """Add an object of one or several shapes.

        Parameters
        ----------
        name : str
            Name of the object.
        shape : shape or sequence of (shape, pose)
            Shape, or several [(shape, pose (4, 4) in the object's frame)], rigidly connected.
        mass : float, optional
            Mass in kg. Without it, the object is fixed, unless it has an inertia.
        pose : array_like (4, 4), optional
            Pose of its frame in the world; the initial pose of a free body.
        **options
            Other fields of SceneObject.
        """
        known = [field.name for field in fields(SceneObject)][2:]
        for option in options:
            if option not in known:
                raise TypeError(f"object {checks.described(name)} has no {option!r}: its options are "
                                f"{', '.join(known)}; the pose is a matrix (4, 4)")
        self.add_object(SceneObject(name, shape, mass, pose, **options))

    def add_object(self, given: SceneObject) -> None:
        """Add a SceneObject.

        Parameters
        ----------
        given : SceneObject
            Object to add.

        Raises
        ------
        ValueError
            If it is not a SceneObject, or if its name is that of an object, a link or a joint.
        """
        if not isinstance(given, SceneObject):
            raise ValueError(f"a SceneObject is expected, not {checks.described(given)}: add takes its fields")
        if given.name in (*self._objects, *self._robots.link_names, *self._robots.joint_names):
            raise ValueError(f"object {given.name!r}: the name is taken")
        self._objects[given.name] = given
        Scene.contact_model.forget(self)

    def remove(self, name: str) -> None:
        """Remove an object.

        Parameters
        ----------
        name : str
            Name of the object.
        """
        checks.one_of("object", name, self._objects)
        del self._objects[name]
        self._disabled = [pair for pair in self._disabled if name not in pair]
        Scene.contact_model.forget(self)

    def change(self, name: str, **fields: Any) -> None:
        """Change fields of an object, or the material of a link.

        Parameters
        ----------
        name : str
            Name of the object, or of the link.
        **fields
            New fields of an object, as in SceneObject.but: pose, friction, mass and others; or new coefficients of a
            link's
            material: friction, restitution, torsion, rolling.

        Raises
        ------
        ValueError
            If no object or link with collision shapes has this name.
        """
        if name not in self._objects and name not in {shape.link for shape in self._shapes}:
            raise ValueError(f"{name!r} is not a link or object with a shape; the scene has "
                             f"{', '.join(dict.fromkeys([*self._objects, *(shape.link for shape in self._shapes)]))}")
        if name in self._objects:
            self._objects[name] = self._objects[name].but(**fields)
        else:
            self._shapes = [shape if shape.link != name else shape._replace(
                material=(shape.material or self.material).but(**fields).checked(f"material of link {name!r}"))
                for shape in self._shapes]
            self._combine((name,))
        Scene.contact_model.forget(self)

    def _combine(self, links):
        """Set the coefficients of pairs of these links by the combination of their materials."""
        self._self_pairs = {pair: None if any(self._shapes[i].link in links for i in pair) else between
                            for pair, between in self._self_pairs.items()}

    def keep_apart(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Disable contacts of more pairs of links, or of objects.

        Parameters
        ----------
        pairs : iterable of (str, str)
            Names of links or objects that do not touch.
        """
        self._disabled = [*self._disabled, *_pairs(pairs)]
        Scene.contact_model.forget(self)

    def copy(self, robot: Robot | ClosedLoopRobot | None = None) -> Scene:
        """Return an independent copy of the scene.

        Parameters
        ----------
        robot : Robot or ClosedLoopRobot, optional
            Another robot with the same links; its closed loops replace those of the scene.

        Returns
        -------
        Scene
            Copy, with `robot` if it is given.
        """
        other = copy(self)
        if robot is not None:
            other._loops, other._robots = mechanisms(robot), trees(robot)
            for shape in other._shapes:
                checks.known_link(shape.link, other._robots.link_names)
        return other

    @property
    def robots(self) -> Robot:
        """The robots without objects, as one Robot."""
        return self._robots

    @property
    def objects(self) -> Mapping[str, SceneObject]:
        """The objects that were added: {name: SceneObject}."""
        return MappingProxyType(self._objects)

    # --------------------------------------------------------------------------------------------- combined robot
    @property
    def robot(self) -> Robot:
        """The robot of the scene: the joints of all robots, and a free joint for each free body."""
        return self.contact_model.robot

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The names of the links or objects of each pair that may touch."""
        colliders = self.contact_model.colliders
        return tuple((colliders[pair.first].name, colliders[pair.second].name) for pair in self.contact_model.pairs)

    @property
    def left_out(self) -> Mapping[tuple[str, str], str]:
        """The pairs of links that self_collisions or srdf omits, each with the reason, such as "touch in the neutral
        configuration"; empty without both."""
        return MappingProxyType(self._left_out)

    @remade
    def contact_model(self) -> ContactModel:
        """The ContactModel of the scene for compiled code, for packages with their own kernels."""
        return self._compile()

    def _compile(self):
        alone, free = self._robots, [each for each in self._objects.values() if each.free]
        for name in frozenset().union(*self._disabled) - {*alone.link_names, *self._objects}:
            raise ValueError(f"disable: {name!r} is neither a link nor an object of the scene")
        robot = Robot(join(alone.model, bodies=[each.body for each in free]), alone.gravity) if free else alone
        shapes = [*self._shapes, *(shape for each in self._objects.values() for shape in each.on(
            each.name if each.free else alone.model.root, self.material))]
        belts = [(0.0, 0.0, 0.0)] * len(self._shapes) + [
            pose[:3, :3].T @ each.belt for each in self._objects.values() for _, pose in each.shapes]
        names = [*(shape.link for shape in self._shapes), *(shape.name for shape in shapes[len(self._shapes):])]
        colliders = [Collider(name, shape.link, shape.shape, shape.pose, tuple(belt))
                     for name, shape, belt in zip(names, shapes, belts, strict=True)]
        materials, of_robots = [shape.material or self.material for shape in shapes], len(self._shapes)
        pairs = {pair: between or self.combination.of(*(materials[i] for i in pair))
                 for pair, between in self._self_pairs.items()
                 if frozenset(names[i] for i in pair) not in self._disabled}
        for i in range(of_robots, len(colliders)):
            for j in range(i):
                if self._may_touch(robot, colliders[j], colliders[i]):
                    pairs[j, i] = self.combination.of(materials[j], materials[i])
        return ContactModel(robot, colliders, list(pairs), list(pairs.values()), *self._options,
                        constraints_of(robot, self._loops))

    def _find_self_pairs(self, srdf):
        """Return the pairs of robot shapes that may touch, {(i, j): None}, and the reasons for omitted pairs."""
        robot, shapes = self._robots, self._shapes
        colliders = [Collider(shape.link, shape.link, shape.shape, shape.pose) for shape in shapes]

        def gaps(q, pairs):
            contact_model = ContactModel(robot, colliders, pairs, [self.material] * len(pairs))
            return contact_model.least_gaps(q)
        disable = [tuple(pair) for pair in self._disabled if pair <= set(robot.link_names)]
        found = self_collision(robot.model, shapes, gaps, srdf=srdf, prefixes=self._prefixes, disable=disable)
        return dict.fromkeys(found.pairs), found.left_out

    def _may_touch(self, robot, a, b):
        """Return True if two colliders, one of them of an object, are on different bodies and not disabled."""
        i, j = (robot.tables.frames[robot.tables.names[collider.link]].body for collider in (a, b))
        return i != j and frozenset((a.name, b.name)) not in self._disabled

    @property
    def nq(self) -> int:
        """The length of q."""
        return self.robot.nq

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the joints, and of the free bodies, in the order of q."""
        return self.robot.joint_names

    @property
    def n(self) -> int:
        """The number of velocities."""
        return self.robot.n

    @property
    def q_slices(self) -> Mapping[str, slice]:
        """The slice of q of each joint, and of each free body, by its name."""
        return self.robot.q_slices

    @property
    def v_slices(self) -> Mapping[str, slice]:
        """The slice of the velocities of each joint, and of each free body, by its name."""
        return self.robot.v_slices

    def neutral(self) -> np.ndarray:
        """Return the neutral configuration.

        Returns
        -------
        ndarray (nq,)
            Neutral configuration of the robot, with closed loops, and the initial pose of each free body.
        """
        q = closed(self.robot, self._loops, self.robot.neutral())
        for each in self._objects.values():
            if each.free:
                q[self.q_slices[each.name]] = each.coordinates
        return q

    def integrate(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return the configuration after motion with a velocity; see Robot.integrate.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        v : array_like (..., n)
            Velocities, constant over unit time.

        Returns
        -------
        ndarray (..., nq)
            Configurations after unit time.
        """
        return self.robot.integrate(q, v)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """Return the velocity from one configuration to another; see Robot.difference.

        Parameters
        ----------
        q0, q1 : array_like (..., nq)
            Configurations at the start and at the end.

        Returns
        -------
        ndarray (..., n)
            Velocities v with integrate(q0, v) = q1.
        """
        return self.robot.difference(q0, q1)

    def __repr__(self) -> str:
        objects = ", ".join(f"{name}{'' if each.free else ' (fixed)'}" for name, each in self._objects.items())
        return f"Scene({self._robots!r}, objects: {objects or 'none'}, {self.n} velocities)"

    # --------------------------------------------------------------------------------------------- queries
    def contacts(self, q: ArrayLike, *, threads: Threads = None) -> Contacts:
        """Find the contacts within the margin, without forces.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        threads : int, optional
            Number of threads for a batch.

        Returns
        -------
        Contacts
            Contacts at the configurations. Forces are not computed.
        """
        return self.contact_model.touches(self.contact_model.configurations(q), threads=threads)

    # --------------------------------------------------------------------------------------------- motion
    def rollout(self, q0: ArrayLike, qd0: ArrayLike | None = None, effort: ArrayLike | Callable | None = None,
                dt: float = 1e-3, steps: int = STEPS, integrator: str = "semi_implicit_euler", *,
                duration: float | None = None, friction: bool = False, limits: bool | None = None, every: int = 1,
                forces: Forces = None, external: Wrenches | None = None, contacts: int | bool = True,
                progress: bool | Callable[[float], None] = False, threads: Threads = None) -> SceneMotion:
        """Simulate the scene.

        Parameters
        ----------
        q0 : array_like (..., nq)
            Initial configurations.
        qd0 : array_like (..., n), optional
            Initial velocities, by default at rest.
        effort : array_like or callable, optional
            Efforts (..., n), constant, or (..., steps, n), one for each interval dt; or a controller, as in
            Robot.rollout.
        dt : float, optional
            Length of a step in s.
        steps : int, optional
            Number of steps.
        integrator : str, optional
            Integrator of fixed steps, as in Robot.rollout. A scene with closed loops does not support "variational".
        duration : float, optional
            Duration in s, a multiple of dt, in place of `steps`.
        friction : bool, optional
            The model's damping and Coulomb friction act at the joints.
        limits : bool, optional
            Stop joints at their position limits. By default a LimitsWarning names joints beyond them; False ignores
            them.
        every : int, optional
            Steps per sample.
        forces : sequence of Element, optional
            Elements of screw_dynamics.forces, docs/forces.md.
        external : dict of str to array_like (6,), optional
            Constant wrench on each named link, torque and force, resolved in the link's frame.
        contacts : int or bool, optional
            Number of contacts that are recorded at each sample: all by default, none with False.
        progress : bool or callable, optional
            With True, a line in the terminal shows the progress. A function is called twice a second with the fraction
            of
            the samples that are computed.
        threads : int, optional
            Number of threads for a batch.

        Returns
        -------
        SceneMotion
            Times, configurations, velocities, contacts and residuals.

        Raises
        ------
        ValueError
            If the integrator is adaptive, if the scene has no movable body, or if there are more contacts than
            `max_contacts`, with the time.
        """
        if checks.one_of("integrator", integrator, INTEGRATORS) not in FIXED_STEPS:
            raise ValueError(f"integrator {integrator!r} adapts its steps to an error estimate, which impacts make "
                             f"useless: with contacts use one of {', '.join(FIXED_STEPS)}")
        contact_model = self.contact_model
        if contact_model.constraints is not None:
            checks.one_of("integrator of a scene with closed loops", integrator,
                          [name for name in FIXED_STEPS if name in WITH_CONSTRAINTS])
        if self.n == 0:
            raise ValueError("nothing in the scene moves: it has no joints and no free bodies")
        most = None if contacts is True else 0 if contacts is False else checks.count("contacts", contacts, 0)
        steps, forces = steps_of(duration, dt, steps), with_external(forces, external)
        found = contact_model.samples(q0, qd0, effort, dt, steps, integrator, friction, limits, every, threads=threads,
                                 forces=forces, contacts=None if most and np.ndim(q0) > 1 else most,
                                 watch=watching(progress))
        contact_model.warn(found, dt, integrator, effort, steps)
        recorded = None if contacts is False else contact_model.contacts(found.report, most)
        return SceneMotion(found.t, found.q, found.qd, recorded, contact_model.residuals(found.report))

    def view(self, motion: SceneMotion | None = None, *, q: ArrayLike | None = None, urdf: str | None = None,
             host: str = "127.0.0.1", port: int = 8080, speed: float = 1.0) -> Any:
        """Open a web page with the scene, its contacts as dots, and their forces as arrows.

        Parameters
        ----------
        motion : SceneMotion, optional
            Motion to play, as `rollout` returns it.
        q : array_like (nq,), optional
            Configuration that is shown without a motion.
        urdf : str, optional
            URDF with the visual shapes of the robot, by default the source of a single robot.
        host : str, optional
            Address of the server, as in sd.view.
        port : int, optional
            First port that is tried, as in sd.view.
        speed : float, optional
            Playback speed: seconds of the motion in a second.

        Returns
        -------
        View
            The page. ``scene.view().wait()`` in a script serves it until Ctrl-C.
        """
        from .view import view
        return view(self, motion, q=q, urdf=self._robots.source if urdf is None else urdf, host=host, port=port,
                    speed=speed)

    def plot(self, motion: SceneMotion, tau: ArrayLike | None = None, path: str | os.PathLike | None = None) -> Any:
        """Plot a motion with matplotlib, as Robot.plot does.

        Parameters
        ----------
        motion : SceneMotion
            Motion, as `rollout` returns it.
        tau : array_like (..., samples, n), optional
            Efforts, N m or N; also (n,), or one fewer than samples, one for each interval.
        path : str or path-like, optional
            File to write: PNG, PDF or SVG, by its extension. The figure is closed afterwards.

        Returns
        -------
        matplotlib.figure.Figure
            Positions, velocities and efforts of each joint and free body, and the energy.
        """
        return self.robot.plot(motion.t, motion.q, motion.qd, tau, path)

    def step(self, q: ArrayLike, qd: ArrayLike, effort: ArrayLike | None = None, dt: float = 1e-3,
             integrator: str = "semi_implicit_euler", **options: Any) -> SceneStep:
        """Simulate one step.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.
        effort : array_like (..., n), optional
            Efforts.
        dt : float, optional
            Length of the step in s.
        integrator : str, optional
            Integrator, as in `rollout`.
        **options
            Other arguments of `rollout`.

        Returns
        -------
        SceneStep
            State after the step, and its contacts and residuals.
        """
        contact_model = self.contact_model
        try:
            found = None if options else contact_model.step(q, qd, effort, dt, integrator)
        except (TypeError, ValueError):
            found = None                            # an argument needs conversion, or is rejected below
        if found is not None:
            q, qd, report = found
            return SceneStep(q, qd, contact_model.contacts(report), contact_model.residuals(report))
        motion = self.rollout(q, qd, effort, dt, 1, integrator, **options)
        samples = motion.q.ndim - 2
        if not options and samples == 0:
            contact_model.prepare_step(integrator)
        return SceneStep(motion.q[..., -1, :], motion.qd[..., -1, :], *(
            None if found is None else type(found)(*(x.take(0, axis=samples) for x in found))
            for found in (motion.contacts, motion.residuals)))


def _pairs(given):
    """Return validated pairs of names."""
    pairs = [pair if isinstance(pair, str) else tuple(pair) for pair in given]
    for pair in pairs:
        if isinstance(pair, str) or not all(isinstance(x, str) for x in pair) or len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(f"disable must be pairs of names, not {checks.described(pair)}")
    return [frozenset(pair) for pair in pairs]
