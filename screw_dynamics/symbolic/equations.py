"""Equations of motion in symbols, from the same kernels that compute them in numbers."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import Any

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
from screw_dynamics.checks import coordinates_alone, known_link, one_of
from screw_dynamics.compiled.entry import Target
from screw_dynamics.model.links import Frame, Link, Placed
from screw_dynamics.model.model import Model
from screw_dynamics.numbers.values import numbers

from . import parameters as given
from . import printing
from .arguments import checked_bodies, coordinate_symbols, gravity_vector, link_of, parallel_families
from .exact import TOLERANCE
from .polynomials import Polynomials
from .scalar import Expressions, Scalar, each_number


def equations_of_motion(robot: facade.Robot | Model | Sequence[Placed], gravity: Any = None,
                        parameters: Mapping[str, Mapping[str, Any]] | None = None, *,
                        coordinates: str | sympy.Symbol | Iterable[str | sympy.Symbol] | None = None,
                        simplify: bool | Callable[[sympy.Expr], sympy.Expr] = True, exact: bool = True,
                        tolerance: float = TOLERANCE) -> "EquationsOfMotion":
    """The equations of motion M(q) q'' + C(q, q') q' + g(q) = tau of a robot as formulas: an EquationsOfMotion.

    robot: a Robot, a Model, or a list of Placed bodies (screw_dynamics.model), the world first, whose numbers are
    SymPy's and names of symbols. gravity: three numbers, expressions or names of symbols in m/s^2, resolved in the root
    frame; or one such for gravity of that size in the direction that the robot has it; unless given, a Robot's own,
    for a Model (0, 0, -9.81).

    parameters: {link: {quantity: value}} replaces numbers of the model; a value is made of numbers, SymPy expressions
    and names of symbols. Of a link that moves: "mass"; "com" (3,); "inertia" about the centre of mass, (3, 3), its six
    entries xx, xy, xz, yy, yz, zz or its three principal ones; "screw" (6,), the joint's in the link's frame. Of any
    link: "origin" (3,) and "orientation" (3, 3) in the frame of the body that carries it, at q = 0. What is fixed to a
    link is part of its mass, com and inertia.

    coordinates: n names or symbols, or one name from which they are numbered, "q" for q_1, q_2 ...; unless given, q_
    and the joint's name. Rates and accelerations are called qd_1, qdd_1 and so on.

    exact: floats within `tolerance` (times the largest of their vector or matrix) of a simple fraction, or of the root
    of one, become that; False takes only integers for exact. simplify: True expands and collects terms, by rules that
    end soon for robots of a few joints; False leaves the formulas nested as the recursion builds them, for larger ones;
    a function, such as sympy.trigsimp, is applied to each collected entry."""
    if isinstance(robot, (facade.Robot, Model)):
        coordinates_alone("equations_of_motion", robot.model if isinstance(robot, facade.Robot) else robot)
    if not (isinstance(tolerance, Real) and 0.0 <= tolerance < 1.0):
        raise ValueError(f"tolerance {tolerance!r} must be in [0, 1)")
    if not (simplify in (True, False) or callable(simplify)):
        raise ValueError(f"simplify {simplify!r} must be True, False or a function")
    expressions = Expressions(tolerance)
    links, frames, joints = _read(robot, gravity, parameters, expressions, exact)
    q, qd, qdd = coordinate_symbols(coordinates, joints)
    values = [x.x for row in (*links, *frames.values()) for x in numbers(row) if isinstance(x, Scalar)]
    symbols = set().union(*(x.free_symbols for x in values))
    if clash := symbols & {*q, *qd, *qdd}:
        raise ValueError(f"{min(map(str, clash))!r} names a parameter as well as a coordinate")
    if not simplify:
        return EquationsOfMotion(q, qd, qdd, symbols, links, frames, expressions)
    polynomials = Polynomials(values, q, (*qd, *qdd), parallel_families(links, q), tolerance, exact)
    links = [each_number(lambda x: polynomials.scalar(x.x), link) for link in links]
    frames = {name: each_number(lambda x: polynomials.scalar(x.x), frame) for name, frame in frames.items()}
    return EquationsOfMotion(q, qd, qdd, symbols, links, frames, polynomials, simplify if callable(simplify) else None)


def _read(robot, gravity, parameters, algebra, exact):
    """Links, frames {name: Frame} and the names of joints, all numbers Scalars of expressions."""
    def number(what, x):
        return given.entry(what, x, algebra.tolerance, exact)
    if isinstance(robot, (facade.Robot, Model)):
        model = getattr(robot, "model", robot)
        read, joints = given.Numbers(algebra, given.check(model, parameters, number), exact), model.joint_names
        usual = getattr(robot, "gravity", facade.GRAVITY)
        bodies = given.bodies(model, gravity_vector(gravity, usual, number), read)
        frames = dict(zip(model.frames, given.frames(model, read), strict=True))
    else:
        bodies, frames = checked_bodies(robot), {}
        if gravity is not None or parameters is not None:
            raise ValueError("a list of Placed bodies holds its parameters, and gravity as the world's X = (0, -g)")
        joints = [str(k + 1) for k in range(1 + max((body.coordinate for body in bodies[1:]), default=-1))]
        bodies = [each_number(lambda x: algebra.scalar(number("a body's number", x)), body) for body in bodies]
    return list(map(link_of, bodies)), frames, joints


class EquationsOfMotion:
    """M(q) q'' + C(q, q') q' + g(q) = tau in SymPy's symbols; each result is computed at its first use.

    q, qd, qdd: columns of symbols; parameters: the other symbols, by name. Matrices are immutable. C is that of the
    Christoffel symbols, [MD] (83), (85). Frames and representations are those of Robot's methods."""

    def __init__(self, q: Sequence[sympy.Symbol], qd: Sequence[sympy.Symbol], qdd: Sequence[sympy.Symbol],
                 parameters: Iterable[sympy.Symbol], links: Sequence[Link], frames: Mapping[str, Frame],
                 algebra: Expressions | Polynomials, finish: Callable[[sympy.Expr], sympy.Expr] | None = None) -> None:
        self._links, self._frames, self._algebra, self._finish = links, frames, algebra, finish
        self._state = q, qd, qdd
        self.q, self.qd, self.qdd = (sympy.ImmutableMatrix(len(q), 1, x) for x in (q, qd, qdd))
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
        """The number of coordinates."""
        return len(self.q)

    # --------------------------------------------------------------------------------------------- dynamics
    @cached_property
    def M(self) -> sympy.ImmutableMatrix:
        """The mass matrix (n, n); [MD] (81)."""
        return self._evaluate(MASS_MATRIX, 1)

    @cached_property
    def C(self) -> sympy.ImmutableMatrix:
        """The Coriolis matrix (n, n): M' - 2 C is skew."""
        return self._evaluate(CORIOLIS_MATRIX, 2)

    @cached_property
    def g(self) -> sympy.ImmutableMatrix:
        """The efforts of gravity (n, 1)."""
        return self._evaluate(GRAVITY_TORQUE, 1)

    @cached_property
    def tau(self) -> sympy.ImmutableMatrix:
        """The efforts (n, 1) that the motion takes, by the recursive Newton-Euler algorithm; [MD] (66), (67)."""
        return self._evaluate(INVERSE_DYNAMICS, 3)

    @cached_property
    def kinetic_energy(self) -> sympy.Expr:
        """T, J."""
        return self._evaluate(KINETIC_ENERGY, 2)[0]

    @cached_property
    def potential_energy(self) -> sympy.Expr:
        """U, J; 0 where a mass lies at the root frame's origin."""
        return self._evaluate(POTENTIAL_ENERGY, 1)[0]

    # --------------------------------------------------------------------------------------------- kinematics
    def forward_kinematics(self, link: str, reference: str | None = None) -> sympy.ImmutableMatrix:
        """The pose (4, 4) of a link in the frame of a reference link, the root unless named; [MK] (8)."""
        return self._evaluate(FORWARD_KINEMATICS, 1, self._target(link, reference))

    def jacobian(self, link: str, representation: str = "body", reference: str | None = None) -> sympy.ImmutableMatrix:
        """The Jacobian (6, n) of a link, angular rows first; [MK] (16), (28), (40), (50)."""
        return self._evaluate(JACOBIAN, 1, self._target(link, reference, representation))

    def jacobian_derivative(self, link: str, representation: str = "body",
                            reference: str | None = None) -> sympy.ImmutableMatrix:
        """The time derivative (6, n) of the Jacobian; [MD] (5), (16), (25)."""
        return self._evaluate(JACOBIAN_DERIVATIVE, 2, self._target(link, reference, representation))

    # --------------------------------------------------------------------------------------------- print
    def text(self, results: str | Iterable[str] = ("M", "C", "g"), digits: int = 15) -> str:
        """The entries of these results, of "M", "C", "g" and "tau", that are not 0, as text; floats to so many
        digits."""
        return printing.text(self, _results(results), digits)

    def latex(self, results: str | Iterable[str] = ("M", "C", "g"), digits: int = 15) -> str:
        """The same as an align* environment of LaTeX."""
        return printing.latex(self, _results(results), digits)

    def python(self, name: str = "inverse_dynamics", results: str | Iterable[str] = "tau", module: str = "math") -> str:
        """The source of a Python function of a name, which needs nothing but the module, "math" or "numpy".

        results: "M", "C", "g", "tau" or several. Its arguments are those of q, qd and qdd that they are functions of,
        then all parameters in their order; it returns lists, of lists for a matrix, or arrays with "numpy"; a tuple of
        them for several results. Common subexpressions are computed once."""
        one_of("module", module, printing.PRINTERS)
        given.symbol(name, "the function's name")
        return printing.python(self, name, _results(results), module, several=not isinstance(results, str))

    def function(self, results: str | Iterable[str] = "tau", module: str = "math",
                 name: str = "inverse_dynamics") -> Callable:
        """The function whose source `python` gives."""
        namespace: dict[str, Any] = {}
        exec(compile(self.python(name, results, module), f"<{name}>", "exec"), namespace)
        return namespace[name]

    # --------------------------------------------------------------------------------------------- evaluation
    def _evaluate(self, entry, inputs, target=None):
        state = [list(map(self._algebra.scalar, x)) for x in self._state[:inputs]]
        out = entry.plain(self._links, *state, frames=list(self._frames.values()), target=target)
        written = {}                                            # equal entries, as in a symmetric matrix, are one
        for x in map(self._algebra.element, out.flat):
            if x not in written:
                y = self._algebra.expression(x)
                written[x] = self._finish(y) if self._finish else y
        shape = out.shape if out.ndim == 2 else (len(out), 1)
        return sympy.ImmutableMatrix(*shape, [written[self._algebra.element(x)] for x in out.flat])

    def _target(self, link, reference, representation="body"):
        names = list(self._frames)
        frame = names.index(known_link(link, names))
        seen_from = 0 if reference is None else names.index(known_link(reference, names))
        kind = REPRESENTATIONS.index(one_of("representation", representation, REPRESENTATIONS))
        return Target(frame, seen_from, kind)


def _results(results):
    results = (results,) if isinstance(results, str) else tuple(results)
    return tuple(one_of("result", name, printing.INPUTS) for name in results)
