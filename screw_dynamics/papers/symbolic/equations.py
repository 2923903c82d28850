"""Symbolic equations of motion, from the same kernels as numerical ones."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import sympy

from screw_dynamics import robot as facade
from screw_dynamics.algorithms.coriolis_matrix import CORIOLIS_MATRIX
from screw_dynamics.algorithms.energy import KINETIC_ENERGY, POTENTIAL_ENERGY
from screw_dynamics.algorithms.gravity import GRAVITY_TORQUE
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS
from screw_dynamics.algorithms.jacobian import JACOBIAN, JACOBIAN_DERIVATIVE
from screw_dynamics.algorithms.kinematics import FORWARD_KINEMATICS
from screw_dynamics.algorithms.mass_matrix import MASS_MATRIX
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.compiled.algorithm import Target
from screw_dynamics.model.group_joints import PoseSource
from screw_dynamics.model.links import Frame, Link, Placed
from screw_dynamics.model.model import Model
from screw_dynamics.numbers.values import numbers
from screw_dynamics.utils.checks import flag, known_link, number, one_of
from screw_dynamics.utils.lazy import lazy

from ..configuration_rates import quaternions, rates
from . import parameters as given
from . import printing
from .arguments import checked_bodies, gravity_vector, link_of, parallel_families, state_symbols
from .exact import TOLERANCE
from .polynomials import Polynomials
from .scalar import Expressions, Scalar, each_number


def equations_of_motion(robot: facade.Robot | Model | Sequence[Placed], gravity: Any = None,
                        parameters: Mapping[str, Mapping[str, Any]] | None = None, *,
                        coordinates: str | sympy.Symbol | Iterable[str | sympy.Symbol] | None = None,
                        velocities: str | sympy.Symbol | Iterable[str | sympy.Symbol] | None = None,
                        simplify: bool | Callable[[sympy.Expr], sympy.Expr] = True, exact: bool = True,
                        tolerance: float = TOLERANCE) -> "EquationsOfMotion":
    """Return the symbolic equations of motion M(q) q'' + C(q, q') q' + g(q) = tau of a robot, an EquationsOfMotion.

    robot: a Robot, a Model, or a list of Placed bodies (screw_dynamics.model), the world first, with SymPy numbers and
    names of symbols. gravity: three numbers, expressions or names of symbols in m/s^2, resolved in the root frame, or
    one for the magnitude of gravity in the robot's direction. By default it is the Robot's own, for a Model (0, 0,
    -9.81).

    parameters: {link: {quantity: value}} replaces numbers of the model. Values are numbers, SymPy expressions and names
    of symbols. Quantities of a moving link: "mass"; "com" (3,); "inertia" about the center of mass, (3, 3), its six
    entries xx, xy, xz, yy, yz, zz or its three principal ones; "screw" (6,), the joint screw in the link's frame, and
    "armature", except for Lie-group joints. Quantities of any link: "origin" (3,) and "orientation" (3, 3) in the frame
    of its parent body, at q = 0. Links that are fixed to a link are included in its mass, com and inertia.

    coordinates: nq names or symbols, or one name that is numbered, "q" for q_1, q_2 ...; by default q_ and the joint's
    name, and for Lie-group joints that of the number: q_ball_qx, q_base_x. velocities: n, likewise; by default qd_1 for
    q_1, and v_ball_rx for Lie-group joints (v_1, v_2 ... if coordinates are numbered). Accelerations are named qdd_1,
    vd_1. Symbols of quaternions denote unit ones unless simplify is False.

    exact: True to replace floats within `tolerance` (times the largest of their vector or matrix) of a simple fraction,
    or of the root of one, by that; False to replace only integers. simplify: True expands and collects terms, by rules
    that terminate soon for robots of a few joints; False leaves the formulas nested as in the recursion, for larger
    robots; a function, such as sympy.trigsimp, is applied to each collected entry."""
    if number("tolerance", tolerance, 0.0) >= 1.0:
        raise ValueError(f"tolerance {tolerance!r} must be in [0, 1)")
    exact = flag("exact", exact)
    if not (isinstance(simplify, bool) or callable(simplify)):
        raise ValueError(f"simplify {simplify!r} must be True, False or a function")
    expressions = Expressions(tolerance)
    links, frames, pose_sources, joints = _read(robot, gravity, parameters, expressions, exact)
    q, qd, qdd = state_symbols(coordinates, velocities, joints)
    values = [x.x for row in (*links, *frames.values(), *pose_sources) for x in numbers(row) if isinstance(x, Scalar)]
    symbols = set().union(*(x.free_symbols for x in values))
    if clash := symbols & {*q, *qd, *qdd}:
        raise ValueError(f"{min(map(str, clash))!r} names a parameter as well as a coordinate")
    if not simplify:
        return EquationsOfMotion(q, qd, qdd, symbols, Mechanism(links, frames, pose_sources, joints), expressions)
    polynomials = Polynomials(values, q, (*qd, *qdd), parallel_families(links, pose_sources, q), quaternions(q, joints),
                              tolerance, exact)

    def lifted(row):
        return each_number(lambda x: polynomials.scalar(x.x), row)
    mechanism = Mechanism(list(map(lifted, links)), {name: lifted(frame) for name, frame in frames.items()},
                          list(map(lifted, pose_sources)), joints)
    return EquationsOfMotion(q, qd, qdd, symbols, mechanism, polynomials, simplify if callable(simplify) else None)


class Mechanism(NamedTuple):
    """Data of a robot for kernels, all numbers Scalars of one algebra, and (name, kind) of its joints."""

    links: list[Link]
    frames: Mapping[str, Frame]
    pose_sources: list[PoseSource]                 # empty without Lie-group joints
    joints: list[tuple[str, str]]


def _read(robot, gravity, parameters, algebra, exact):
    """Return the Mechanism of a robot, with expressions."""
    def number(what, x):
        return given.entry(what, x, algebra.tolerance, exact)
    if isinstance(robot, (facade.Robot, Model)):
        model = getattr(robot, "model", robot)
        read = given.Numbers(algebra, given.check(model, parameters, number), exact)
        joints = list(zip(model.joint_names, model.joint_kinds, strict=True))
        usual = getattr(robot, "gravity", facade.GRAVITY)
        bodies = given.bodies(model, gravity_vector(gravity, usual, number), read)
        frames = dict(zip(model.frames, given.frames(model, read), strict=True))
        pose_sources = given.pose_sources(model, bodies, read)
    else:
        bodies, frames, pose_sources = checked_bodies(robot), {}, []
        if gravity is not None or parameters is not None:
            raise ValueError("gravity and parameters must be None with a list of Placed bodies, which contains both, "
                             "gravity as X = (0, -g) of the world")
        joints = [(str(k + 1), "") for k in range(1 + max((body.coordinate for body in bodies[1:]), default=-1))]
        bodies = [each_number(lambda x: algebra.scalar(number("a body's number", x)), body) for body in bodies]
    return Mechanism(list(map(link_of, bodies)), frames, pose_sources, joints)


class EquationsOfMotion:
    """M(q) q'' + C(q, q') q' + g(q) = tau in SymPy symbols. Each result is computed at its first use.

    q, qd, qdd: columns of symbols; parameters: the other symbols, by name. Matrices are immutable. C is that of the
    Christoffel symbols, [MD] (83), (85). Frames and representations are those of Robot's methods. For Lie-group joints
    qd are the velocities of docs/group_joints.md, qdd their rates, C as there, and q' is `q_rates`."""

    def __init__(self, q: Sequence[sympy.Symbol], qd: Sequence[sympy.Symbol], qdd: Sequence[sympy.Symbol],
                 parameters: Iterable[sympy.Symbol], mechanism: Mechanism, algebra: Expressions | Polynomials,
                 finish: Callable[[sympy.Expr], sympy.Expr] | None = None) -> None:
        self._mechanism, self._algebra, self._finish = mechanism, algebra, finish
        self._state = q, qd, qdd
        self.q, self.qd, self.qdd = (sympy.ImmutableMatrix(len(x), 1, x) for x in (q, qd, qdd))
        self.parameters = tuple(sorted(parameters, key=str))
        self._fixed = True

    def __setattr__(self, name, value):
        if hasattr(self, "_fixed"):
            raise AttributeError(f"equations of motion are immutable: {name} cannot be set")
        object.__setattr__(self, name, value)

    def __repr__(self):
        names = ", ".join(map(str, self.parameters))
        return f"<EquationsOfMotion of {', '.join(map(str, self.q))}{' with ' + names if names else ''}>"

    @property
    def n(self) -> int:
        """The number of velocities."""
        return len(self.qd)

    # --------------------------------------------------------------------------------------------- dynamics
    @lazy
    def M(self) -> sympy.ImmutableMatrix:
        """The mass matrix (n, n); [MD] (81)."""
        return self._evaluate(MASS_MATRIX, 1)

    @lazy
    def C(self) -> sympy.ImmutableMatrix:
        """The Coriolis matrix (n, n), for which M' - 2 C is skew-symmetric."""
        return self._evaluate(CORIOLIS_MATRIX, 2)

    @lazy
    def g(self) -> sympy.ImmutableMatrix:
        """The efforts of gravity (n, 1)."""
        return self._evaluate(GRAVITY_TORQUE, 1)

    @lazy
    def tau(self) -> sympy.ImmutableMatrix:
        """The efforts (n, 1) of the motion, by the recursive Newton-Euler algorithm; [MD] (66), (67)."""
        return self._evaluate(INVERSE_DYNAMICS, 3)

    @lazy
    def kinetic_energy(self) -> sympy.Expr:
        """The kinetic energy T, J."""
        return self._evaluate(KINETIC_ENERGY, 2)[0]

    @lazy
    def potential_energy(self) -> sympy.Expr:
        """The potential energy U, J; it is 0 for a mass at the root frame's origin."""
        return self._evaluate(POTENTIAL_ENERGY, 1)[0]

    # --------------------------------------------------------------------------------------------- kinematics
    @lazy
    def q_rates(self) -> sympy.ImmutableMatrix:
        """The rates q' (nq, 1): qd, or for Lie-group joints the rates of their numbers from R' = R w~ and p' = R v."""
        q, qd = self._scalars(2)
        return self._written(np.array(rates(q, qd, self._mechanism.joints), dtype=object))

    def forward_kinematics(self, link: str, reference: str | None = None) -> sympy.ImmutableMatrix:
        """Return the pose (4, 4) of a link in the frame of a reference link, by default the root; [MK] (8)."""
        return self._evaluate(FORWARD_KINEMATICS, 1, self._target(link, reference))

    def jacobian(self, link: str, representation: str = "body", reference: str | None = None) -> sympy.ImmutableMatrix:
        """Return the Jacobian (6, n) of a link, angular rows first; [MK] (16), (28), (40), (50)."""
        return self._evaluate(JACOBIAN, 1, self._target(link, reference, representation))

    def jacobian_derivative(self, link: str, representation: str = "body",
                            reference: str | None = None) -> sympy.ImmutableMatrix:
        """Return the time derivative (6, n) of the Jacobian; [MD] (5), (16), (25)."""
        return self._evaluate(JACOBIAN_DERIVATIVE, 2, self._target(link, reference, representation))

    # --------------------------------------------------------------------------------------------- print
    def text(self, results: str | Iterable[str] = ("M", "C", "g"), digits: int = 15) -> str:
        """Return the nonzero entries of these results, of "M", "C", "g", "tau" and "q_rates", as text, with `digits`
        digits of floats."""
        return printing.text(self, _results(results), digits)

    def latex(self, results: str | Iterable[str] = ("M", "C", "g"), digits: int = 15) -> str:
        """Return the nonzero entries of these results as a LaTeX align* environment; results and digits as in text."""
        return printing.latex(self, _results(results), digits)

    def python(self, name: str = "inverse_dynamics", results: str | Iterable[str] = "tau", module: str = "math") -> str:
        """Return the source of a Python function with a given name, which requires only the module, "math" or "numpy".

        results: "M", "C", "g", "tau", "q_rates" or several. The function's arguments are those of q, qd and qdd on
        which the results depend, then all parameters in their order. It returns lists, of lists for a matrix, or arrays
        with "numpy"; a tuple of them for several results. Common subexpressions are computed once."""
        one_of("module", module, printing.PRINTERS)
        given.symbol(name, "the function's name")
        return printing.python(self, name, _results(results), module, several=not isinstance(results, str))

    def function(self, results: str | Iterable[str] = "tau", module: str = "math",
                 name: str = "inverse_dynamics") -> Callable:
        """Return the function with the source of `python`."""
        namespace: dict[str, Any] = {}
        exec(compile(self.python(name, results, module), f"<{name}>", "exec"), namespace)
        return namespace[name]

    # --------------------------------------------------------------------------------------------- evaluation
    def _evaluate(self, entry, inputs, target=None):
        links, frames, pose_sources, _ = self._mechanism
        entry = entry.on_groups if pose_sources else entry
        return self._written(entry.plain(links, *self._scalars(inputs), frames=list(frames.values()), target=target,
                                         pose_sources=pose_sources))

    def _scalars(self, inputs):
        return [list(map(self._algebra.scalar, x)) for x in self._state[:inputs]]

    def _written(self, out):
        """Return the matrix from an array of numbers and Scalars."""
        written = {}                                            # equal entries, as of symmetric matrices, are one
        for x in map(self._algebra.element, out.flat):
            if x not in written:
                y = self._algebra.expression(x)
                written[x] = self._finish(y) if self._finish else y
        shape = out.shape if out.ndim == 2 else (len(out), 1)
        return sympy.ImmutableMatrix(*shape, [written[self._algebra.element(x)] for x in out.flat])

    def _target(self, link, reference, representation="body"):
        names = list(self._mechanism.frames)
        frame = names.index(known_link(link, names))
        seen_from = 0 if reference is None else names.index(known_link(reference, names))
        kind = REPRESENTATIONS.index(one_of("representation", representation, REPRESENTATIONS))
        return Target(frame, seen_from, kind)


def _results(results):
    results = (results,) if isinstance(results, str) else tuple(results)
    return tuple(one_of("result", name, printing.INPUTS) for name in results)
