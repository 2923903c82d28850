"""A model's numbers as SymPy numbers, with symbols for those that the caller names."""
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import sympy

from screw_dynamics.model import group_joints
from screw_dynamics.model.group_joints import PoseSource
from screw_dynamics.model.links import Frame, Placed
from screw_dynamics.model.model import Model
from screw_dynamics.numbers.values import zero
from screw_dynamics.robot import Robot
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.se3 import Pose, Twist, identity
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Symmetric3, Vec3, cross

from .exact import simple
from .scalar import Expressions, Scalar, each_number

UPPER = np.triu_indices(3)
PLACEMENT = {"origin": (3,), "orientation": (3, 3)}
BODY = {"mass": (), "com": (3,), "inertia": (3, 3), "armature": (), "screw": (6,), **PLACEMENT}


def symbol(name: str, what: str = "a symbol's name") -> sympy.Symbol:
    """Return the SymPy symbol of a name that is a valid Python identifier."""
    if not (isinstance(name, str) and re.fullmatch(r"[^\W\d]\w*", name)):
        raise ValueError(f"{what} must contain only letters, digits and _, not {name!r}")
    return sympy.Symbol(name)


def entry(what: str, x: Any, tolerance: float, fractions: bool) -> sympy.Expr:
    """Return a parameter: a number, an expression, or the name of a symbol."""
    if isinstance(x, str):
        return symbol(x, what)
    if isinstance(x, Real) and not isinstance(x, sympy.Basic) and np.isfinite(x):
        return simple([x], tolerance, fractions)[0]
    if not isinstance(x, sympy.Expr) or x.has(sympy.nan, sympy.oo, sympy.zoo):
        raise ValueError(f"{what} {x!r} must be a finite number, an expression or the name of a symbol")
    return x


def _array(what, shape, x, number):
    """Return numbers, expressions and names in the shape of a quantity. An inertia may be 3 principal or 6 upper
    entries."""
    x = x.tolist() if isinstance(x, sympy.MatrixBase) else x
    a = np.array(x, dtype=object)
    if what.endswith("inertia") and a.shape in ((3,), (6,)):
        a, given = np.zeros((3, 3), dtype=object), a
        a[UPPER if len(given) == 6 else (range(3), range(3))] = given
        a.T[UPPER] = a[UPPER]
    if a.shape != shape:
        raise ValueError(f"{what} has shape {a.shape}, not {shape}")
    entries = np.empty(shape, dtype=object)
    entries.flat[:] = [number(what, value) for value in a.flat]
    if what.endswith("inertia") and (entries != entries.T).any():
        raise ValueError(f"{what} {a.tolist()} must be symmetric")
    return entries


def check(model: Model, parameters: Mapping[str, Mapping[str, Any]] | None,
          number: Callable[[str, Any], sympy.Expr]) -> dict[str, dict[str, np.ndarray]]:
    """Return the parameters {link: {quantity: value}} as object arrays of expressions, each read by `number`."""
    checked = {}
    for link, quantities in dict(parameters or {}).items():
        moves = link in model.body_names
        known = {} if model.known_link(link) == model.root else BODY if moves else PLACEMENT
        if moves and model.body_joints[model.body_names.index(link)] in model.joint_frames:
            known = {name: shape for name, shape in BODY.items() if name not in ("screw", "armature")}
        for quantity in quantities:
            if quantity not in known:
                kind = "does not move" if link == model.root else "moves" if moves else "is fixed to another"
                raise ValueError(f"parameters of link {link!r}, which {kind}: {quantity!r} must be "
                                 f"{'one of ' + ', '.join(known) if known else 'left out'}")
        checked[link] = {name: _array(f"link {link!r}: {name}", known[name], value, number)
                         for name, value in quantities.items()}
    return checked


def body_parameters(M: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, center of mass (3,), and rotational inertia about it (3, 3) from a (6, 6) inertia."""
    mass, moment = M[5, 5], np.array([M[2, 4], M[0, 5], M[1, 3]])
    d = moment / mass if mass > 0.0 else moment
    return mass, d, M[:3, :3] - mass * (d @ d * np.eye(3) - np.outer(d, d))


class Numbers:
    """Reader of a model's numbers, as scalars of `algebra`. A given parameter of a link replaces its number."""

    def __init__(self, algebra: Expressions, parameters: Mapping[str, Mapping[str, np.ndarray]],
                 fractions: bool) -> None:
        self.algebra, self.parameters, self.fractions = algebra, parameters, fractions

    def lift(self, values: Iterable[Any]) -> list[Scalar]:
        """Return numbers or expressions as scalars of the algebra."""
        return [self.algebra.scalar(x) for x in values]

    def read(self, numbers: Any) -> list[Scalar]:
        """Return floats of one vector or matrix as scalars."""
        return self.lift(simple(np.ravel(numbers).tolist(), self.algebra.tolerance, self.fractions))

    def quantity(self, link: str | None, name: str, numbers: Any) -> list[Scalar]:
        """Return a quantity of a link: the parameter, or by default the model's numbers."""
        given = self.parameters.get(link, {})
        return self.lift(given[name].flat) if name in given else self.read(numbers)

    def twist(self, x: list[Scalar]) -> Twist:
        """Return six scalars as a screw."""
        return Twist(Vec3(*x[:3]), Vec3(*x[3:]))

    def screw(self, link: str, X: np.ndarray) -> Twist:
        """Return the joint screw of a link."""
        if "screw" in self.parameters.get(link, {}):
            return self.twist(self.quantity(link, "screw", None))
        return self.twist(self.read(X[:3]) + self.read(X[3:]))

    def pose(self, link: str | None, C: np.ndarray) -> Pose:
        """Return the pose of a link in its parent body."""
        R, p = self.quantity(link, "orientation", C[:3, :3]), self.quantity(link, "origin", C[:3, 3])
        return Pose(Rotation(Vec3(*R[:3]), Vec3(*R[3:6]), Vec3(*R[6:])), Vec3(*p))

    def inertia(self, link: str | None, M: np.ndarray) -> Inertia:
        """Return the inertia of a body about its origin."""
        numbers = body_parameters(M)
        if self.parameters.get(link, {}).keys() & {"mass", "com", "inertia"}:
            (m,), d, about = map(self.quantity, [link] * 3, ("mass", "com", "inertia"), numbers)
            h = Vec3(*(m * x for x in d))
            steiner = [cross(Vec3(*d), cross(e, h)) for e in _UNITS]
            rows = [Vec3(*about[3 * i:3 * i + 3]) + steiner[i] for i in range(3)]
            return Inertia(m, h, Symmetric3(*rows[0], *rows[1][1:], rows[2].z))
        moment = self.read([M[2, 4], M[0, 5], M[1, 3]])
        return Inertia(*self.read([M[5, 5]]), Vec3(*moment), Symmetric3(*self.read(M[:3, :3][UPPER])))


_UNITS = [Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)]


def bodies(model: Model, gravity: Iterable[sympy.Expr], numbers: Numbers) -> list[Placed]:
    """Return one Placed body for each slot, as Model.placed does for floats; gravity (3,) has expressions."""
    still, here = (each_number(numbers.algebra.scalar, x) for x in (zero(Twist, 0.0), identity(0.0)))
    up = Vec3(*(-x for x in numbers.lift(gravity)))
    rows = [Placed(0, 0, Twist(still.angular, up), numbers.inertia(None, model.root_inertia), here)]
    links = dict(zip(model.body_joints, model.body_names, strict=True))          # the last body of each joint
    for i, (name, parent) in enumerate(zip(model.body_names, model.parents, strict=True)):
        first = i == 0 or model.body_joints[i] != model.body_joints[i - 1]
        X = numbers.screw(name, model.screws_body[i])
        B = numbers.pose(links[model.body_joints[i]] if first else None, model.relative_poses[i])
        armature, = numbers.quantity(name, "armature", model.armature_of_bodies[i:i + 1])
        rows.append(Placed(int(parent) + 1, int(model.coordinates[i]), X, numbers.inertia(name, model.inertias[i]), B,
                           armature))
    return rows


def pose_sources(model: Model, bodies: Sequence[Placed], numbers: Numbers) -> list[PoseSource]:
    """Return one PoseSource for each Placed body, in its own frame; none for a model without Lie-group joints."""
    if not model.on_groups:
        return []
    kinds, starts, frames = model.joints_in_q()
    here = each_number(numbers.algebra.scalar, identity(0.0))
    return group_joints.pose_sources(bodies, [here] * len(bodies), kinds, starts,
                                     [numbers.pose(None, F) for F in frames])


def frames(model: Model, numbers: Numbers) -> list[Frame]:
    """Return one Frame for each link, in its body's own frame."""
    here = each_number(numbers.algebra.scalar, identity(0.0))
    return [Frame(int(body) + 1, here if name in (model.root, *model.body_names) else numbers.pose(name, C))
            for name, (body, C) in model.frames.items()]


def named_parameters(model: Robot | Model, links: Iterable[str] | None = None) -> tuple[dict, dict]:
    """Return symbols for the inertial parameters of a model's bodies, for `equations_of_motion`, and their values.

    Two dictionaries: {link: {"mass", "com", "inertia"}} with m_i, c_ix ... and I_ixx ... for the i-th moving link; and
    {symbol: number}. Zeros of the model stay 0. links: names of links; by default all that move."""
    model = getattr(model, "model", model)
    parameters, values = {}, {}

    def name(text, x, error):
        if abs(x) <= error:
            return sympy.Integer(0)
        values[sympy.Symbol(text)] = float(x)
        return sympy.Symbol(text)

    moving = [link for link in model.body_names if link in model.frames]
    for link in moving if links is None else links:
        if link not in moving:
            raise ValueError(f"link {link!r} does not move; these do: {', '.join(moving)}")
        M, k = model.inertias[model.body_names.index(link)], moving.index(link) + 1
        mass, com, inertia = body_parameters(M)
        small = 1e-14 * np.abs(com).max(), 1e-14 * np.abs(M[:3, :3]).max()
        parameters[link] = {
            "mass": name(f"m_{k}", mass, 0.0),
            "com": tuple(name(f"c_{k}{axis}", x, small[0]) for axis, x in zip("xyz", com, strict=True)),
            "inertia": tuple(name(f"I_{k}{axes}", x, small[1])
                             for axes, x in zip(("xx", "xy", "xz", "yy", "yz", "zz"), inertia[UPPER], strict=True))}
    return parameters, values
