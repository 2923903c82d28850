"""Direct collocation of a motion on a spline: checks of the arguments, and the result."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.planning.optimal.dynamics import driven_velocities
from screw_dynamics.planning.optimal.limits import effort_bounds, limits_of_model, limits_of_motors
from screw_dynamics.planning.optimal.motion import OptimalMotion
from screw_dynamics.planning.optimal.quantities import CustomQuantity, Effort, Nodes
from screw_dynamics.planning.optimal.solver import told
from screw_dynamics.planning.optimal.terms import ALL, Cost, Limit, bound, listed
from screw_dynamics.utils import checks

from . import interior
from .interior import Found
from .motion import CollocatedMotion
from .program import Ends, Program
from .spline import ORDERS, Spline

BETWEEN = 10            # points of each interval, at which errors between nodes are computed
SOLVERS = "interior_point", "ipopt"


def collocate_motion(robot: Any, terms: Sequence[Cost | Limit], q0: ArrayLike | None = None,
                     qd0: ArrayLike | None = None, q1: ArrayLike | None = None, qd1: ArrayLike | None = None, *,
                     duration: float | tuple[float, float], periodic: bool | ArrayLike = False, intervals: int = 20,
                     degree: int = 5, smoothness: int | None = None, driven: Sequence[str] | None = None,
                     effort_limits: bool | tuple[ArrayLike, ArrayLike] = True, limits: bool = True,
                     friction: bool = False, forces: Any = None, guess: Any = None,
                     solver: str | Callable[..., Found] = "interior_point",
                     tolerance: float = 1e-8, limit_tolerance: float = 1e-8, iterations: int = 500,
                     progress: bool | Callable[[int, float], None] = False,
                     threads: int | None = None) -> CollocatedMotion:
    """Find the motion of a Robot on a spline with the least cost, by direct collocation.

    Parameters
    ----------
    robot : Robot
        Robot to move, whose joints have one degree of freedom each.
    terms : sequence of Cost and Limit
        Costs, one at least, and limits of quantities of screw_dynamics.planning.optimal, at the nodes 0 ... N of the
        spline. A single term is allowed.
    q0, qd0, q1, qd1 : float or array_like (n,), optional
        Positions and velocities at the beginning and at the end, one number for all joints or one each. An end whose q0
        or q1 is None is free, and so is each joint whose entry is NaN. Velocities are 0 by default, and free where all
        positions are free or the motion is periodic.
    duration : float or tuple of float
        Duration in s, or (least, largest) for a free duration.
    periodic : bool or array_like (n,), optional
        True if the motion is periodic, with all derivatives that are continuous on the spline. An array is the
        displacement after which it is periodic.
    intervals : int, optional
        Number of intervals of the spline.
    degree : int, optional
        Degree of the spline, 3 or more.
    smoothness : int, optional
        Number of continuous derivatives, degree - 1 by default. With 1 this is orthogonal collocation, whose efforts
        may jump at knots.
    driven : sequence of str, optional
        Names of the actuated joints, as in optimize_motion. The others have no effort.
    effort_limits : bool or tuple of array_like, optional
        True for the effort limits of the model, and of torque over speed; False for none; or the pair (lower, upper),
        each (n,) or one number.
    limits : bool, optional
        True to keep the model's limits of positions and velocities, too.
    friction : bool, optional
        True to apply the damping of the model.
    forces : sequence of force elements, optional
        Force elements of screw_dynamics.forces.
    guess : OptimalMotion, CollocatedMotion or array_like (k, n), optional
        Motion, or configurations at equally spaced times. By default a straight line from q0 to q1.
    solver : {"interior_point", "ipopt"} or callable, optional
        "interior_point" uses SciPy's dense factorizations, for some hundred unknowns. "ipopt" uses CasADi, an extra,
        for more. A function has the same arguments as these solvers, a Program first.
    tolerance : float, optional
        Tolerance of the scaled optimality conditions.
    limit_tolerance : float, optional
        Share of the scale of a limit by which it may be exceeded.
    iterations : int, optional
        Largest number of iterations.
    progress : bool or callable, optional
        True to print a line for each iteration, or a function of its number and the cost.
    threads : int, optional
        Number of threads.

    Returns
    -------
    CollocatedMotion
        Motion. It has converged if the optimality conditions and the limits hold to these tolerances.

    Raises
    ------
    ValueError
        If an argument is wrong, there is no Cost, joints have dry friction and ``friction`` is True, the duration is
        free and a term or a force depends on time, or cost or limits of the guess are not finite.

    See Also
    --------
    optimize_motion : Optimize a motion by differential dynamic programming.

    Notes
    -----
    Efforts are computed by inverse dynamics. Each interval has as many nodes as the degree, a knot and Gauss points,
    and all nodes have efforts. Running costs are integrals by quadrature at the nodes.
    """
    robot = _taken(robot)
    spline = _spline(degree, smoothness, intervals)
    ends = _ends(robot, (q0, q1), (qd0, qd1), periodic, duration)
    where, N = driven_velocities(robot, driven), len(spline.s) - 1
    if not callable(solver):
        checks.one_of("solver", solver, SOLVERS)
    tolerance, limit_tolerance = (checks.positive("tolerance", tolerance),
                                  checks.positive("limit_tolerance", limit_tolerance))
    terms = listed(terms)
    if not any(isinstance(term, Cost) for term in terms):
        raise ValueError("terms must contain a Cost")
    terms += limits_of_model(robot) if checks.flag("limits", limits) else ()
    lower, upper = effort_bounds(effort_limits, robot.model, where)
    if np.isfinite(lower).any() or np.isfinite(upper).any():
        terms.append(Limit(Effort(), lower, upper))
    terms += limits_of_motors(effort_limits, robot, where)
    found = [(term, bound(term, robot, where, N, 1.0, spline.smoothness)) for term in terms]
    _check_times(found, ends)
    tell = told(progress)
    program = Program(robot, spline, found, ends, where, _forces(robot, forces, friction), threads)
    x = _begin(program, guess)
    _check_stretching(program, x)
    if not np.isfinite([program.cost(x), *program.constraints(x)]).all():
        raise ValueError("guess: its cost or limits are not finite")
    solved = _solver(solver)(program, x, tolerance, limit_tolerance, checks.whole("iterations", iterations, 1), tell)
    return _motion(program, terms, solved, limit_tolerance)


def _solver(given):
    """Return the function of a solver."""
    if given == "ipopt":
        from .ipopt import solve
        return solve
    return given if callable(given) else interior.solve


# ------------------------------------------------------------------------------------------------- arguments
def _taken(robot):
    """Return the robot. Raises ValueError if it is not a Robot whose joints have one degree of freedom each."""
    if not hasattr(robot, "inverse_dynamics_second_derivatives") or hasattr(robot, "constraints"):
        raise ValueError(f"robot must be a Robot, not {checks.described(robot)}: optimize_motion takes robots with "
                         "constraints, and scenes")
    checks.coordinates_alone("collocate_motion", robot.model)
    return robot


def _spline(degree, smoothness, intervals):
    """Return the Spline of the arguments."""
    degree, intervals = checks.count("degree", degree, 3), checks.count("intervals", intervals, 1)
    smoothness = degree - 1 if smoothness is None else checks.whole("smoothness", smoothness, 1)
    if smoothness >= degree:
        raise ValueError(f"smoothness must be 1 ... {degree - 1} for degree {degree}, not {smoothness}")
    return Spline(degree, smoothness, intervals)


def _ends(robot, q, qd, periodic, duration):
    """Return the Ends of the arguments."""
    n = robot.n
    states, periodic = np.full((2, 2, n), np.nan), bool(periodic) if isinstance(periodic, np.bool_) else periodic
    for end in (0, 1):
        if q[end] is not None:
            states[0, end] = checks.each(f"q{end}", q[end], n)
            if periodic is False and not np.isnan(states[0, end]).all():        # a periodic motion does not rest
                states[1, end] = 0.0
        if qd[end] is not None:
            states[1, end] = checks.each(f"qd{end}", qd[end], n)
    if np.isinf(states).any():
        raise ValueError("q0, qd0, q1 and qd1 must be finite, or NaN where they are free")
    period = None
    if periodic is not False:
        period = np.zeros(n) if periodic is True else checks.finite_numbers("periodic", checks.each(
            "periodic", periodic, n))
        if q[1] is not None or qd[1] is not None:
            raise ValueError("periodic: the end follows from the beginning, so that q1 and qd1 must be None")
    if np.ndim(duration) == 0:
        least = largest = checks.positive("duration", duration)
    else:
        least, largest = (checks.positive("duration", x) for x in checks.vector("duration", duration, 2))
        if least > largest:
            raise ValueError(f"duration must be (least, largest), not {least:g} and {largest:g}")
    return Ends(*states, period, (least, largest))


def _check_times(terms, ends):
    """Raise ValueError if a term depends on time and the duration is free."""
    if ends.duration[0] < ends.duration[1]:
        for term, _ in terms:
            for name, x in vars(term.quantity).items():
                if callable(x) and name != "function":
                    raise ValueError(f"{type(term.quantity).__name__}.{name} is a function of time, which a free "
                                     "duration does not allow: give one duration")


def _check_stretching(program, x):
    """Raise ValueError if functions of time and state by users (forces, quantities) change with time alone, near a
    guess, and the duration is free. Derivatives by the duration omit that dependence."""
    if not program.free:
        return
    at, rng = program.state(x), np.random.default_rng(0)
    q, qd, times = (*(z + rng.normal(size=z.shape) for z in at.z[:2]), at.t / at.T)
    ends = [T * times for T in program.ends.duration]
    if program.forces and not np.array_equal(*(program.forces.efforts(q, qd, t) for t in ends), equal_nan=True):
        raise ValueError("forces: one depends on time, which a free duration does not allow: give one duration")
    for term in program.terms:
        if isinstance(term.quantity, CustomQuantity):
            nodes = at.nodes(term)._replace(q=q[term.some], qd=qd[term.some])
            if not np.array_equal(*(term.quantity.at(program.robot, nodes._replace(t=t[term.some]), False).r
                                    for t in ends), equal_nan=True):
                raise ValueError(f"CustomQuantity {', '.join(term.labels)} depends on time, which a free duration does "
                                 "not allow: give one duration")


def _forces(robot, forces, friction):
    """Return the sum of force elements, or None."""
    if checks.flag("friction", friction) and (dry := np.flatnonzero(robot.model.friction)).size:
        joint = next(name for name, at in robot.model.v_slices.items() if at.start == dry[0])
        raise ValueError(f"friction: joint {joint!r} has dry friction of {robot.model.friction[dry[0]]:g}, which is "
                         "not smooth; forces.Friction is")
    return robot._rollouts.smooth(forces, friction)


def _begin(program, guess):
    """Return the unknowns of a guess."""
    spline, ends, n = program.spline, program.ends, program.robot.n
    T = float(np.sqrt(ends.duration[0] * min(ends.duration[1], 1e3 * ends.duration[0])))
    if guess is None:
        first, last = (np.where(np.isnan(ends.q[k]), np.where(np.isnan(ends.q[1 - k]), 0.0, ends.q[1 - k]), ends.q[k])
                       for k in (0, 1))
        last = last if ends.period is None else first + ends.period
        s = np.linspace(0.0, 1.0, 5 * spline.K)
        q = first + (s**3 * (10.0 - 15.0 * s + 6.0 * s**2))[:, None] * (last - first)
    else:
        if isinstance(guess, CollocatedMotion | OptimalMotion):
            q, s, last = guess.q, guess.t - guess.t[0], guess.t[-1] - guess.t[0]
            T, s = float(np.clip(last, *ends.duration)), s / last
        else:
            q = checks.finite_numbers("guess", guess, n)
            s = np.linspace(0.0, 1.0, len(q)) if q.ndim == 2 else None
        if q.ndim != 2 or len(q) < 2 or q.shape[1] != n:
            raise ValueError(f"guess must be configurations (k, {n}), two or more, or one motion, not of shape "
                             f"{q.shape}")
    c = spline.through(s, q)
    return np.append(c.ravel(), T) if program.free else c.ravel()


# ------------------------------------------------------------------------------------------------- results
def _motion(program, terms, found, limit_tolerance):
    """Return the CollocatedMotion of the unknowns."""
    x, (c, T) = found.x, program.split(found.x)
    at, spline = program.state(x), program.spline
    lagrangian = program.gradient(x) + program.jacobian(x).T @ found.multipliers
    tau = at.tau.copy()
    tau[:, program.passive] = 0.0
    between, residual = _between(program, terms, c, T)
    return CollocatedMotion(
        T * spline.s, *at.z[:3], tau, T, program.cost(x), _binding(program, found, limit_tolerance), found.stopped,
        found.stopped == interior.CONVERGED, found.iterations, float(np.abs(lagrangian).max()),
        interior.violation(program, x), between, residual, found.history, program, x)


def _binding(program, found, limit_tolerance):
    """Return masks of the nodes at which limits bind, by the names of their numbers."""
    binding: dict[str, np.ndarray] = {}
    first, r = len(program.lower) - sum(program.state(found.x).values[k].r.size for k in program.limits), \
        program.constraints(found.x)
    for k in program.limits:
        term, size = program.terms[k], program.state(found.x).values[k].r.size
        some, first = slice(first, first + size), first + size
        room = 1e3 * limit_tolerance
        near = (r[some] <= program.lower[some] + room) | (r[some] >= program.upper[some] - room)
        near = (near & (np.abs(found.multipliers[some]) > 0.0)).reshape(len(term.which), -1)
        for j, label in enumerate(term.labels):
            if near[:, j].any():
                where = binding.setdefault(f"{type(term.quantity).__name__} {label}",
                                           np.zeros(len(program.spline.s), dtype=bool))
                where[term.which] |= near[:, j]
    return binding


def _between(program, terms, c, T):
    """Return the largest scaled violation of path limits between nodes, and the largest effort of unactuated joints
    there."""
    spline, count = program.spline, BETWEEN * program.spline.intervals
    s, on = (np.arange(count) + 0.5) / count, program.spline.on(c)
    z = np.stack([on(s, nu=order) / T**order for order in range(ORDERS)])
    tau, worst = program.efforts(z, T * s), 0.0
    nodes = Nodes(T * s, z[0], z[1], tau[:, program.driven], np.abs(s[:, None] - spline.s).argmin(axis=1),
                  program.driven, program.threads, z[2], z[3])
    for given, term in zip(terms, program.terms, strict=True):
        if term.weight is None and given.at == ALL:
            r = term.quantity.at(program.robot, nodes, False).r
            worst = max(worst, float((np.abs(r - np.clip(r, term.lower, term.upper)) / term.scale).max()))
    residual = np.abs(tau[:, program.passive]).max(initial=0.0)
    return worst, float(residual)
