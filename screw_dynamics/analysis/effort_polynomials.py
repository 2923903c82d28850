"""Joint efforts as polynomials: of second degree in the velocities, affine in the accelerations, with coefficients that
are trigonometric polynomials of angles and polynomials of displacements and payloads.

  tau_i = g_i(x) + sum_k M_ik(x) q_k'' + sum_(j >= k) c_ijk(x) q_j' q_k'

The coefficients are traces of the package's recursions of the gravity torque and of the mass matrix, run on numbers
that record their operations. c are Christoffel symbols, from the derivatives of that trace. Both recursions add up
inertias from the leaves, which keeps the degrees low: 1 for gravity, else 2.

Rounding. u = 2^-53. Constants of the model are rational numbers until they meet a variable, and are then rounded once.
NumPy's sine and cosine are assumed to err by less than 4 ulp (its tests allow 1). An operation on numbers of sizes a, b
with errors e, f has an error below e + f + u (a + b) or e b + f a + e f + u a b, to which `sizes_and_errors` adds 1e-6
of itself for its own rounding."""
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.gravity import GRAVITY_TORQUE
from screw_dynamics.algorithms.mass_matrix import MASS_MATRIX
from screw_dynamics.c_code.tracing import TracedRobot
from screw_dynamics.compiled.tracing import INPUT, NAMED, Trace, Traced
from screw_dynamics.numbers.values import map_numbers

ROUNDING = 2.0 ** -53
SINE_ERROR = 4.0 * ROUNDING         # of a number of magnitude at most 1


class Variable(NamedTuple):
    """A variable of polynomials: an input itself, or `rate` times an input, an angle, if rate > 0."""

    input: str
    rate: float


class _Exact(Fraction):
    """A rational number that stays one in operations with floats, which are rational numbers, too."""

    def _operation(name):
        exact = getattr(Fraction, name)

        def apply(self, other):
            found = exact(self, Fraction(other) if isinstance(other, float) else other)
            return _Exact(found) if isinstance(found, Fraction) else found
        return apply

    for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
        locals()[f"__{_name}__"] = _operation(f"__{_name}__")

    def __neg__(self):
        return _Exact(super().__neg__())


class Efforts:
    """The coefficients of all efforts of a robot as one trace.

    loads {link: 10 numbers or names of inputs}: mass, center of mass and inertia xx xy yy xz yz zz about it."""

    def __init__(self, robot: Any, loads: Mapping[str, Sequence[float | str]], moving: bool):
        trace, n = Trace(), robot.n
        loads = {f"payload_{link}": np.array([trace.input(x) if isinstance(x, str) else _Exact(x) for x in row],
                                             dtype=object) for link, row in loads.items()}
        traced = TracedRobot(robot.model, robot.gravity, trace, {})
        traced.links = [map_numbers(_Exact, link) for link in traced.links]
        traced.frames = [map_numbers(_Exact, frame) for frame in traced.frames]
        for name, row in loads.items():
            traced.load(name.partition("_")[2], row)
        q = [trace.input(str(k)) for k in range(n)]
        self.trace, self.pairs = trace, [(j, k) for j in range(n) for k in range(j + 1)]
        self.gravity = traced.run(GRAVITY_TORQUE, q)
        self.mass_matrix = traced.run(MASS_MATRIX, q) if moving else np.zeros((n, n))
        dM = [_derivatives(trace, self.mass_matrix, x) for x in q] if moving else np.zeros((n, n, n))
        self.christoffel = [[(1.0 if j != k else 0.5) * (dM[k][i, j] + dM[j][i, k] - dM[i][j, k])
                             for j, k in self.pairs] for i in range(n)]


def _derivatives(trace, results, by):
    """Return the derivatives of traced numbers by one input."""
    known = {name: Traced(trace, name) for operation in trace.operations for name in operation.names}
    slopes = {by.name: 1.0}
    for names, symbol, operands in trace.needed(results.flat):
        if slopes.keys().isdisjoint(operands):
            continue
        a, b = (known[x] if x in known else float(x) for x in (operands * 2)[:2])
        da, db = (slopes.get(x, 0.0) for x in (operands * 2)[:2])
        if symbol == "sincos":
            sine, cosine = map(known.get, names)
            slopes.update(zip(names, (cosine * da, -(sine * da)), strict=True))
        else:
            slopes[names[0]] = da * b + a * db if symbol == "*" else da + db if symbol == "+" else da - db
    found = [x.sign * slopes.get(x.name, 0.0) if isinstance(x, Traced) else 0.0 for x in results.flat]
    return np.array(found, dtype=object).reshape(results.shape)


class Coefficients:
    """The coefficients that one effort needs: `results`, which are Traced numbers or constants, of variables in order.

    fixed {name of an input: its value}: inputs that are no variables."""

    def __init__(self, trace: Trace, results: Sequence, fixed: Mapping[str, float]):
        operations = trace.needed(results)
        self.results, self._fixed = results, fixed
        self._inputs = {step.names[0]: step.operands[0] for step in operations if step.symbol == INPUT}
        self._angles = _angles(operations, self._inputs)
        kept, steps = {x.name for x in results if isinstance(x, Traced)}, []
        for step in reversed(operations):
            if step.symbol != INPUT and not kept.isdisjoint(step.names):
                operands = set() if step.symbol == "sincos" else set(step.operands)
                steps.append((step, (operands | {*step.names}) - kept))
                kept |= operands
        self._steps, self._constants = steps[::-1], {x for x in kept if not NAMED.fullmatch(x)}
        used = {Variable(self._inputs[x], 0.0) for x in kept if x in self._inputs}
        used |= {self._angles[step.operands[0]] for step, _ in steps if step.symbol == "sincos"}
        self.variables = sorted((x for x in used if x.input not in fixed),
                                key=lambda x: (x.input.isdigit(), x.input.zfill(4), x.rate))
        self.degrees = [self._degree(x) for x in self.variables]

    def _degree(self, variable):
        """Return the largest degree of the results in a variable, from those of sums and products."""
        def step(operation, operands):
            if operation.symbol == "sincos":
                return [int(self._angles[operation.operands[0]] == variable)] * 2
            return [sum(operands) if operation.symbol == "*" else max(operands)]
        lengths = {x: int(Variable(name, 0.0) == variable) for x, name in self._inputs.items()}
        return max(self._results(self._run(step, lengths, lambda text: 0), lambda text: 0), default=0)

    def _run(self, step, inputs, constant, known=(), ahead=False):
        """Return {name: number} of the operations whose operands are known: step(operation, operands) yields the
        numbers of one. Numbers of no further use are dropped, unless `ahead` of operations with unknown operands."""
        known = dict(known) | inputs
        constants = {x: constant(x) for x in self._constants}
        for operation, unused in self._steps:
            if operation.names[0] not in known:
                operands = [constants.get(x, known.get(x)) for x in operation.operands]
                if operation.symbol == "sincos" or all(x is not None for x in operands):
                    known.update(zip(operation.names, step(operation, operands), strict=False))
            if not ahead:
                for x in unused:
                    known.pop(x, None)
        return known

    def _results(self, known, constant):
        return [known[x.name] if isinstance(x, Traced) else constant(repr(float(x))) for x in self.results]

    def sizes_and_errors(self, largest: Mapping[str, float]) -> np.ndarray:
        """Return for each result a bound of its magnitude and of its rounding error, (results, 2).

        largest {name of an input: bound of its magnitude}."""
        def step(operation, operands):
            if operation.symbol == "sincos":
                name, rate = self._angles[operation.operands[0]]
                error = SINE_ERROR + (0.0 if rate == 1.0 else 4.0 * ROUNDING * rate * largest[name])
                return [np.array([1.0 + error, error])] * 2
            (a, e), (b, f) = operands
            size = a * b if operation.symbol == "*" else a + b
            error = e * b + f * a + e * f if operation.symbol == "*" else e + f
            return [np.array([size, error + ROUNDING * size + 2.0 ** -1000])]

        def constant(text):
            return abs(float(text)) * np.array([1.0, ROUNDING])
        inputs = {x: np.array([largest[name], 0.0]) for x, name in self._inputs.items()}
        found = self._results(self._run(step, inputs, constant), constant)
        return np.array(found).reshape(-1, 2) * (1.0 + 1e-6)

    def ahead(self, points: Mapping[Variable, np.ndarray]) -> dict:
        """Return {name: array} of the operations that depend on these points alone, for __call__."""
        return self._at(points, {}, ahead=True)

    def _at(self, points, known, ahead=False):
        """Return {name: array} of operations at points."""
        points = points | {Variable(name, 0.0): np.asarray(x) for name, x in self._fixed.items()}
        lengths = {x: points[name, 0.0] for x, name in self._inputs.items() if (name, 0.0) in points}

        def step(operation, operands):
            a, *b = operands
            if operation.symbol == "sincos":
                angle = self._angles[operation.operands[0]]
                x = points.get(angle)
                if x is None and angle.input in self._fixed:
                    x = np.asarray(angle.rate * self._fixed[angle.input])
                return () if x is None else (np.sin(x), np.cos(x))
            return [a * b[0] if operation.symbol == "*" else a + b[0] if operation.symbol == "+" else a - b[0]]
        return self._run(step, lengths, lambda text: np.asarray(float(text)), known, ahead)

    def __call__(self, points: Mapping[Variable, np.ndarray], known: Mapping = MappingProxyType({})) -> list:
        """Return the results at points, which broadcast, as the results do. known: operations done `ahead`."""
        found = self._results(self._at(points, known), lambda text: np.asarray(float(text)))
        return [-x if isinstance(y, Traced) and y.sign < 0 else x for x, y in zip(found, self.results, strict=True)]


def _angles(operations, inputs):
    """Return {operand of a sine and cosine: its Variable}."""
    by_name, found = {step.names[0]: step for step in operations}, {}
    for step in operations:
        if step.symbol not in (INPUT, "sincos", "+", "-", "*"):
            raise ValueError(f"it takes {step.symbol} of positions; only +, -, *, sine and cosine are supported")
        if step.symbol == "sincos":
            angle = step.operands[0]
            product = by_name[angle].operands if by_name[angle].symbol == "*" else ("1.0", angle)
            names, rates = [x for x in product if x in inputs], [x for x in product if not NAMED.fullmatch(x)]
            if len(names) != 1 or len(rates) != 1:
                raise ValueError("it has the sine of what is no multiple of a position, which is not supported")
            found[angle] = Variable(inputs[names[0]], float(rates[0]))
    return found
