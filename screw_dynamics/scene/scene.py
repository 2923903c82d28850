"""Scene: robots, bodies and the ground, which touch."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.contact.shapes import Box, Capsule, ConvexHull, Cylinder, HeightField, Plane, Shape, Sphere
from screw_dynamics.model import checks as poses
from screw_dynamics.robot import Robot
from screw_dynamics.robot.evaluation import Forces, Threads
from screw_dynamics.simulation.integrators import FIXED_STEPS

from .placeholder import join
from .touching import Contacts, Residuals, Solid, Touching


class SceneMotion(NamedTuple):
    """A motion of a scene: times (k,), configurations (..., k, nq) and velocities (..., k, n); the contacts and the
    residuals of the step that ends at each time but the first, (..., k - 1, ...); None where they are not recorded."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    contacts: Contacts | None
    residuals: Residuals | None


class SceneStep(NamedTuple):
    """The state at the end of a step, and the contacts and residuals in it."""

    q: np.ndarray
    qd: np.ndarray
    contacts: Contacts
    residuals: Residuals


class Distances(NamedTuple):
    """Of each pair of scene.pairs (..., pairs): its least gap in m, the two nearest points (..., pairs, 3) on the first
    and on the second, and the derivative (..., pairs, n) of the gap along the joint twists."""

    gap: np.ndarray
    first: np.ndarray
    second: np.ndarray
    gradient: np.ndarray


class Material(NamedTuple):
    """Coefficients of friction and restitution of a surface, and of torsional and rolling friction, m."""

    friction: float
    restitution: float = 0.0
    torsion: float = 0.0
    rolling: float = 0.0


class Object(NamedTuple):
    """What stands in a scene: its shapes with their poses (4, 4) in its frame, its mass, or None if it is fixed, its
    pose in the world, its material, and the velocity of its surface."""

    name: str
    shapes: tuple[tuple[Shape, np.ndarray], ...]
    mass: float | None
    pose: np.ndarray
    material: Material
    belt: tuple[float, float, float]


class Scene:
    """A robot, bodies and the ground, which touch with friction: contacts that stick, slide, roll and rebound.

    robot: its links touch with the shapes given by `shapes` {link: shape, or (shape, pose (4, 4) in the link), or a list
    of these}. ground: the plane z = 0. friction, restitution, torsion and rolling: of all
    surfaces without their own; two surfaces have the geometric mean of their frictions, and the larger restitution.

    Objects are added by add_box and others, then q is the robot's configuration and x y z and quaternion x y z w of each
    free body, in the order in which they were added. `robot` is that of everything, with all its methods. max_contacts:
    at once; margin: gaps in m up to which contacts are looked for; slow: approach in m/s below which nothing rebounds."""

    def __init__(self, robot: Robot, *, ground: bool = False, friction: float = 0.8, restitution: float = 0.0,
                 torsion: float = 0.0, rolling: float = 0.0, shapes: Mapping[str, Any] | None = None,
                 max_contacts: int | None = None, margin: float = 0.02, slow: float = 0.01):
        self._alone, self._objects, self._made = robot, {}, None
        self.material = _material("scene", friction, restitution, torsion, rolling)
        self._options = max_contacts, checks.positive("margin", margin), checks.positive("slow", slow)
        self._shapes = [Solid(f"{link}", link, shape, pose) for link, given in (shapes or {}).items()
                        for shape, pose in _placed(given)]
        for solid in self._shapes:
            checks.known_link(solid.link, robot.link_names)
        if checks.flag("ground", ground):
            self.add_plane("ground")

    # --------------------------------------------------------------------------------------------- what is in it
    def add_box(self, name: str, size: ArrayLike, mass: float | None = None, pose: ArrayLike | None = None,
                **options: Any) -> None:
        """Add a box of edges x y z in m; fixed without mass. pose (4, 4): of its centre. options: friction, restitution,
        torsion, rolling, and belt (3,), the velocity of its surface in m/s, in its frame."""
        self.add(name, Box(size), mass, pose, **options)

    def add_sphere(self, name: str, radius: float, mass: float | None = None, pose: ArrayLike | None = None,
                   **options: Any) -> None:
        """Add a sphere; arguments as of add_box."""
        self.add(name, Sphere(radius), mass, pose, **options)

    def add_cylinder(self, name: str, radius: float, length: float, mass: float | None = None,
                     pose: ArrayLike | None = None, **options: Any) -> None:
        """Add a cylinder along its z axis; arguments as of add_box."""
        self.add(name, Cylinder(radius, length), mass, pose, **options)

    def add_capsule(self, name: str, radius: float, length: float, mass: float | None = None,
                    pose: ArrayLike | None = None, **options: Any) -> None:
        """Add a capsule, whose cylinder along z has this length; arguments as of add_box."""
        self.add(name, Capsule(radius, length), mass, pose, **options)

    def add_mesh(self, name: str, points: ArrayLike, mass: float | None = None, pose: ArrayLike | None = None,
                 **options: Any) -> None:
        """Add the convex hull of points (N, 3); arguments as of add_box."""
        self.add(name, ConvexHull(points), mass, pose, **options)

    def add_plane(self, name: str, pose: ArrayLike | None = None, **options: Any) -> None:
        """Add what is below the x-y plane of its frame; fixed. options as of add_box."""
        self.add(name, Plane(), None, pose, **options)

    def add_heightfield(self, name: str, heights: ArrayLike, size: ArrayLike, pose: ArrayLike | None = None,
                        **options: Any) -> None:
        """Add a ground of heights (rows, columns) over a rectangle of size x y, centred; fixed. options as of add_box.
        """
        self.add(name, HeightField(heights, size), None, pose, **options)

    def add(self, name: str, shape: Any, mass: float | None = None, pose: ArrayLike | None = None, *,
            friction: float | None = None, restitution: float | None = None, torsion: float | None = None,
            rolling: float | None = None, belt: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Add an object of a shape, or of several [(shape, pose in it)]; arguments as of add_box."""
        if name in self._objects or name in self._alone.link_names or name in self._alone.joint_names:
            raise ValueError(f"object {name!r}: the name is taken")
        C = np.eye(4) if pose is None else poses.pose(f"object '{name}'", pose)
        given = (friction, restitution, torsion, rolling)
        material = _material(f"object '{name}'", *(mine if x is None else x for x, mine in zip(
            given, self.material, strict=True)))
        mass = None if mass is None else checks.positive(f"object '{name}': mass", mass)
        belt = tuple(checks.vector(f"object '{name}': belt", belt, 3).tolist())
        self._objects[name] = Object(name, tuple(_placed(shape)), mass, C, material, belt)
        self._made = None

    # --------------------------------------------------------------------------------------------- as one robot
    @property
    def robot(self) -> Robot:
        """The robot of all that is in the scene: the joints of the robot, and a free joint for each free body."""
        return self._touching.robot

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The names of what may touch, link or object, by pairs."""
        solids = self._touching.solids
        return tuple((solids[pair.first].name, solids[pair.second].name) for pair in self._touching.pairs)

    @property
    def _touching(self) -> Touching:
        if self._made is None:
            self._made = self._compile()
        return self._made

    def _compile(self):
        alone = self._alone
        free = [each for each in self._objects.values() if each.mass is not None]
        bodies = [(each.name, _inertia(each)) for each in free]
        robot = Robot(join(alone.model, bodies), alone.gravity) if bodies else alone
        solids, materials = list(self._shapes), [self.material] * len(self._shapes)
        for each in self._objects.values():
            link, C = (alone.model.root, each.pose) if each.mass is None else (each.name, np.eye(4))
            solids += [Solid(each.name, link, shape, C @ pose, each.belt) for shape, pose in each.shapes]
            materials += [each.material] * len(each.shapes)
        bodies = [robot.tables.frames[robot.tables.names[solid.link]].body for solid in solids]
        pairs = [(i, j) for i in range(len(solids)) for j in range(i) if bodies[i] != bodies[j]
                 and not self._ignored(robot, bodies[i], bodies[j])]
        both = [_combined(materials[i], materials[j]) for i, j in pairs]
        most, margin, slow = self._options
        return Touching(robot, solids, pairs, both, most, margin, slow)

    def _ignored(self, robot, i, j):
        """Whether a joint connects two bodies of the robot."""
        parent = [link.parent for link in robot.tables.links]
        return min(i, j) > 0 and (parent[i] == j or parent[j] == i)

    @property
    def nq(self) -> int:
        """The number of numbers in q."""
        return self.robot.nq

    @property
    def n(self) -> int:
        """The number of velocities."""
        return self.robot.n

    @property
    def q_slices(self) -> Mapping[str, slice]:
        """Where in q the numbers of each joint are, and of each free body, by its name."""
        return self.robot.q_slices

    @property
    def v_slices(self) -> Mapping[str, slice]:
        """Where the velocities of each joint and of each free body are."""
        return self.robot.v_slices

    def neutral(self) -> np.ndarray:
        """The configuration (nq,) in which the robot is neutral and each free body where it was added."""
        q = self.robot.neutral()
        for each in self._objects.values():
            if each.mass is not None:
                q[self.q_slices[each.name]] = _coordinates(each.pose)
        return q

    def integrate(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """As of Robot."""
        return self.robot.integrate(q, v)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """As of Robot."""
        return self.robot.difference(q0, q1)

    # --------------------------------------------------------------------------------------------- queries
    def contacts(self, q: ArrayLike, threads: Threads = None) -> Contacts:
        """The Contacts within the margin at configurations q (..., nq), without forces."""
        return self._touching.touches(checks.finite_numbers("q", q, self.nq), threads=threads)

    def distances(self, q: ArrayLike) -> Distances:
        """The Distances of all pairs at configurations q (..., nq)."""
        robot, q = self.robot, checks.finite_numbers("q", q, self.nq)
        found, lead = self._touching.touches(q, far=True), q.shape[:-1]
        count = len(self._touching.pairs)
        gap, first, second = np.full((*lead, count), np.inf), *(np.full((*lead, count, 3), np.nan) for _ in range(2))
        gradient = np.zeros((*lead, count, self.n))
        for k, pair in enumerate(self._touching.pairs):
            mine = np.where(found.pair == k, found.gap, np.inf)
            if not mine.shape[-1]:
                continue
            at = mine.argmin(axis=-1)[..., None]
            gap[..., k] = np.take_along_axis(mine, at, axis=-1)[..., 0]
            p, n = (np.take_along_axis(x, at[..., None], axis=-2)[..., 0, :] for x in (found.point, found.normal))
            half = 0.5 * gap[..., k, None] * n
            first[..., k, :], second[..., k, :] = p + half, p - half
            for sign, solid in ((1.0, pair.first), (-1.0, pair.second)):
                link = self._touching.solids[solid].link
                C, J = robot.forward_kinematics(q, link), robot.jacobian(q, link, "hybrid")
                arm = p - C[..., :3, 3]
                gradient[..., k, :] += sign * (np.einsum("...i,...ij->...j", n, J[..., 3:, :])
                                               + np.einsum("...i,...ij->...j", np.cross(arm, n), J[..., :3, :]))
        return Distances(gap, first, second, gradient)

    # --------------------------------------------------------------------------------------------- motion
    def rollout(self, q0: ArrayLike, qd0: ArrayLike | None = None, effort: ArrayLike | Callable | None = None,
                dt: float = 1e-3, steps: int = 1000, integrator: str = "semi_implicit_euler", *,
                friction: bool = False, limits: bool | None = None, every: int = 1, forces: Forces = None,
                contacts: int | bool = True, threads: Threads = None) -> SceneMotion:
        """Simulate; q0 (..., nq), qd0 (..., n), at rest by default, and other arguments as of Robot.rollout, friction
        and limits of joints among them. integrator: one of steps of fixed length. contacts: how many are recorded at
        each sample, by default all, or False. ValueError, with the time, where more touch than max_contacts."""
        checks.one_of("integrator", integrator, FIXED_STEPS)
        touching = self._touching
        most = touching.most if contacts is True else checks.whole("contacts", int(contacts), 0)
        qd0 = np.zeros(self.n) if qd0 is None else qd0
        found = touching.rollouts.samples(q0, qd0, effort, dt, steps, integrator, friction, limits, every,
                                          threads=threads, forces=forces, reported=touching.reported(most))
        touching.warn(found, dt, integrator)
        recorded = None if contacts is False else touching.contacts(found.report)
        return SceneMotion(found.t, found.q, found.qd, recorded, touching.residuals(found.report))

    def step(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | None = None, dt: float = 1e-3,
             integrator: str = "semi_implicit_euler", **options: Any) -> SceneStep:
        """The state a time dt later, under efforts tau; arguments as of `rollout`."""
        motion = self.rollout(q, qd, tau, dt, 1, integrator, **options)
        return SceneStep(motion.q[..., -1, :], motion.qd[..., -1, :], *(
            type(x)(*(y[..., 0, :] if x is motion.contacts and y.ndim and i < 2 else y[..., 0, :, :] if
                      x is motion.contacts else y[..., 0] for i, y in enumerate(x)))
            for x in (motion.contacts, motion.residuals)))


def _material(name, friction, restitution, torsion, rolling):
    values = [checks.number(f"{name}: {what}", x) for what, x in (
        ("friction", friction), ("restitution", restitution), ("torsion", torsion), ("rolling", rolling))]
    for what, x in zip(Material._fields, values, strict=True):
        if x < 0.0 or (what == "restitution" and x > 1.0):
            raise ValueError(f"{name}: {what} {x:g} must be {'from 0 to 1' if what == 'restitution' else '>= 0'}")
    return Material(*values)


def _combined(a, b):
    """The material of two surfaces."""
    return Material(float(np.sqrt(a.friction * b.friction)), max(a.restitution, b.restitution),
                    max(a.torsion, b.torsion), max(a.rolling, b.rolling))


def _placed(given):
    """Shapes with poses, from one shape, or (shape, pose), or several of these."""
    if isinstance(given, Shape):
        return [(given, np.eye(4))]
    if isinstance(given, Sequence) and len(given) == 2 and isinstance(given[0], Shape) and not isinstance(
            given[1], (Shape, tuple)):
        return [(given[0], poses.pose("shape", given[1]))]
    return [each for some in given for each in _placed(some)]


def _inertia(each):
    """(6, 6) about the origin of its frame; several shapes share the mass by their volumes."""
    from screw_dynamics.screws import arrays
    total, whole = np.zeros((6, 6)), sum(shape.volume for shape, _ in each.shapes)
    for shape, pose in each.shapes:
        A = arrays.Ad_matrix(arrays.inverse_pose(pose))
        total += A.T @ shape.inertia(each.mass * shape.volume / whole) @ A
    return total


def _coordinates(pose):
    from scipy.spatial.transform import Rotation
    return np.concatenate([pose[:3, 3], Rotation.from_matrix(pose[:3, :3]).as_quat()])
