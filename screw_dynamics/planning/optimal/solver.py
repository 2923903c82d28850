"""Solver for trajectory optimization: differential dynamic programming in an augmented Lagrangian, for many
problems."""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.constraints.projection import BOTH
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.rollout.feedback import Motion
from screw_dynamics.rollout.recursions.entries import costates_of
from screw_dynamics.utils import checks

from . import ddp
from .dynamics import Dynamics, dynamics
from .limits import effort_bounds, limits_of_model, limits_of_motors
from .motion import OptimalMotion
from .objective import Objective
from .phases import Steps
from .terms import Cost, Limit, bound, gradient, listed

CONVERGED, EXHAUSTED, STUCK = "converged", "all iterations are done", "no change of the motion makes it better"
INFEASIBLE = "limits cannot be kept, or not to this tolerance"
PENALTY, GROWTH, HIGHEST = 10.0, 10.0, 1e8          # penalties of scaled limits
LOOSE = 1e-2            # tolerance of the cost for the minimization before multipliers are known
CLOSED = 1e-9           # smaller gaps are rounding errors
LEAST = 1e-6            # costs below do not differ from this one, for weights of 1


class Solver:
    """A solver for trajectory optimization by differential dynamic programming, iteration by iteration.

    Parameters
    ----------
    robot : Robot, ClosedLoopRobot or Scene
        Robot to move.
    terms : sequence of Cost and Limit
        Costs, one at least, and limits of quantities of screw_dynamics.planning.optimal. A single term is allowed.
    q0 : array_like (..., nq)
        Initial configurations. Leading axes are independent problems.
    qd0 : array_like (..., n), optional
        Initial velocities. By default they are 0.
    dt : float, optional
        Length of a step, s.
    steps : int, optional
        Number N of steps.
    driven : sequence of str, optional
        Names of the actuated joints. By default all that neither float nor are moved by the spring or the winding of a
        drive.
    effort_limits : bool or tuple of array_like, optional
        True for the effort limits of the model, and torque-speed lines at the beginning of steps; False for none; or
        the pair (lower, upper), each (n,) or one number.
    limits : bool, optional
        True to keep the model's limits of positions and velocities, too.
    integrator : {"semi_implicit_euler", "rk4"}, optional
        Integrator of the steps, as in Robot.step.
    friction : bool, optional
        True to apply joint friction, as in Robot.step.
    stops : bool, optional
        True to let joints stop at position limits, as ``limits`` of Robot.step.
    forces : sequence of force elements, optional
        Force elements of screw_dynamics.forces, as in Robot.step.
    phases : sequence of tuple of int and robot, optional
        Pairs of the first step of a phase and its robot, of the same joints.
    guess : OptimalMotion, array_like (..., N, n) or tuple of array_like, optional
        Motion; efforts tau; or (q, qd, tau) at nodes, which need not be consistent. By default efforts that hold the
        robot at q0.
    tolerance : float, optional
        Relative tolerance: the search has converged if another iteration would decrease the cost by less.
    limit_tolerance : float, optional
        Tolerance of limits and of their multipliers, relative to the scale of a limit.
    threads : int, optional
        Number of threads.
    projection : {"configurations and velocities", "velocities", None}, optional
        Part of the state that is projected after each step of a ClosedLoopRobot, as in its simulate.

    Raises
    ------
    ValueError
        If an argument is wrong, there is no Cost, or the motion of the guess is not finite.

    See Also
    --------
    optimize_motion : Optimize a motion in one call, with the same arguments.

    Notes
    -----
    ``solve`` iterates until convergence, and ``step`` is for model predictive control. Results are kept between
    calls: ``step`` begins with the result of the call before, shifted in time.
    """

    def __init__(self, robot: Any, terms: Sequence[Cost | Limit], q0: ArrayLike, qd0: ArrayLike | None = None, *,
                 dt: float = 0.01, steps: int = 100, driven: Sequence[str] | None = None,
                 effort_limits: bool | tuple[ArrayLike, ArrayLike] = True, limits: bool = True,
                 integrator: str = "semi_implicit_euler", friction: bool = False, stops: bool = False,
                 forces: Any = None, phases: Sequence[tuple[int, Any]] = (), guess: Any = None,
                 tolerance: float = 1e-8, limit_tolerance: float = 1e-6, threads: int | None = None,
                 projection: str | None = BOTH):
        N = self.N = checks.count("steps", steps, 1)
        self.dynamics: Dynamics = dynamics(robot, Steps(dt, integrator, friction, stops, forces, threads, projection),
                                           driven, N, phases)
        robot = self.dynamics.robot
        self.names = velocity_names(robot.model)
        self.tolerance, self.limit_tolerance = (checks.positive("tolerance", tolerance),
                                                checks.positive("limit_tolerance", limit_tolerance))
        q0, qd0 = checks.broadcast({"q0": checks.finite_numbers("q0", q0, robot.nq),
                                    "qd0": checks.finite_numbers("qd0", np.zeros(robot.n) if qd0 is None else qd0,
                                                                 robot.n)})
        if q0.size == 0:
            raise ValueError(f"q0 has shape {q0.shape}: the batch is empty, at least one problem is required")
        self.lead = q0.shape[:-1]
        self.bounds = ddp.Bounds(*(x.reshape(1, 1, -1) for x in effort_bounds(effort_limits, robot.model,
                                                                              self.dynamics.driven)))
        self._start = [np.ascontiguousarray(x.reshape(-1, x.shape[-1])) for x in (robot.normalize(q0), qd0)]
        found = [bound(term, robot, self.dynamics.driven, N, self.dynamics.h)
                 for term in (*listed(terms), *(limits_of_model(robot) if checks.flag("limits", limits) else ()),
                              *limits_of_motors(effort_limits, robot, self.dynamics.driven))]
        weights = [term.weight for term in found if term.weight is not None]
        if not weights:
            raise ValueError("terms must contain a Cost")
        self._least = LEAST * min(1.0, np.concatenate(weights).max())
        self.objective = Objective(found, self.dynamics, self.lead, N, PENALTY)
        self.at = self._begin(guess)
        self.history: list[np.ndarray] = [self._shaped(self.at.value.copy())]
        self.iterations = np.zeros(len(self.at.cost), dtype=int)
        self.stopped = np.full(len(self.at.cost), EXHAUSTED, dtype=object)

    def __copy__(self) -> Solver:
        return deepcopy(self)           # iterations write to its arrays

    # --------------------------------------------------------------------------------------------- arguments
    def _begin(self, guess):
        """Return the Iterate of a guess: None, an OptimalMotion, (q, qd, tau), or tau."""
        robot, driven, N, P = self.dynamics.robot, self.dynamics.driven, self.N, len(self._start[0])
        q = np.repeat(self._start[0][:, None], N + 1, axis=1)
        qd = np.repeat(self._start[1][:, None], N + 1, axis=1)
        states = isinstance(guess, OptimalMotion) or isinstance(guess, tuple) and len(guess) == 3
        if guess is None:
            u = np.repeat(self.dynamics.holding(self._start[0])[:, None], N, axis=1)
        elif states:
            given = guess[1:4] if isinstance(guess, OptimalMotion) else guess
            sizes = (N + 1, robot.nq), (N + 1, robot.n), (N, robot.n)
            q, qd, u = (self._each(f"guess {name}", x, *size).copy()
                        for name, x, size in zip(("q", "qd", "tau"), given, sizes, strict=True))
            q, u = np.ascontiguousarray(robot.normalize(q)), u[..., driven]
            q[:, 0], qd[:, 0] = self._start
        else:
            u = self._each("guess", guess, N, robot.n)[..., driven]
        motion, gaps = Motion(q, qd, np.clip(np.ascontiguousarray(u), *self.bounds)), np.zeros((P, N + 1, 2 * robot.n))
        if states:
            gaps = self.dynamics.gaps(motion)
        else:
            motion = self.dynamics.follow(motion, *self.bounds)
        return self._finite("guess: the motion that it begins with", motion, gaps)

    def _each(self, name, x, *shape):
        """Return finite numbers for each problem, (P, *shape)."""
        x, whole = checks.finite_numbers(name, x, *shape), (*self.lead, *shape)
        if x.ndim > len(whole) or any(a not in (1, b) for a, b in zip(x.shape[::-1], whole[::-1], strict=False)):
            raise ValueError(f"{name} has shape {x.shape}, but must have {shape} or {whole}")
        return np.broadcast_to(x, whole).reshape(-1, *shape)

    def _finite(self, name, motion, gaps):
        """Return the Iterate of motions. Raises ValueError if they or their terms are not finite."""
        if not all(np.isfinite(x).all() for x in (*motion, gaps)):
            raise ValueError(f"{name} is not finite; give a better guess, or a smaller dt")
        found = ddp.begin(self.dynamics, self.objective, motion, gaps)
        if not np.isfinite(found.value).all():
            what = [term.named("") for term in self.objective.terms
                    if not np.isfinite(self.objective.values(term, motion).r).all()] or ["its cost"]
            raise ValueError(f"{name} is finite, but these terms are not: "
                             f"{', '.join(dict.fromkeys(map(str.strip, what)))}")
        return found

    # --------------------------------------------------------------------------------------------- iterations
    def solve(self, iterations: int = 100, progress: bool | Callable[[int, np.ndarray], None] = False) -> OptimalMotion:
        """Iterate until all motions have converged or stopped.

        Parameters
        ----------
        iterations : int, optional
            Largest number of iterations of each motion.
        progress : bool or callable, optional
            True to print a line for each iteration, or a function of its number and the costs (...,).

        Returns
        -------
        OptimalMotion
            Resulting motions.

        Raises
        ------
        ValueError
            If an argument is wrong.
        """
        iterations = checks.whole("iterations", iterations, 1)
        tell = told(progress)
        left = np.arange(len(self.at.cost))
        done, worst = np.zeros(len(left), dtype=int), np.full(len(left), np.inf)
        exact = np.full(len(left), LOOSE if self.objective.limits else self.tolerance)
        self.at.shift[self.stopped == STUCK], self.stopped[:] = 0.0, EXHAUSTED
        self.at.value[:] = self.objective.take(self.at.motion, left).value      # multipliers may have changed
        while len(left):
            outcome = self._iterate(left)
            done[left] += 1
            tell(int(done.max()), self._shaped(self.at.cost))
            for k in left[self._minimal(left, outcome, exact[left])]:
                self._round(k, worst, exact)
            left = left[(self.stopped[left] == EXHAUSTED) & (done[left] < iterations)]
        return self.motion()

    def step(self, q: ArrayLike, qd: ArrayLike, iterations: int = 1, moved: int = 0) -> OptimalMotion:
        """Iterate from measured states, beginning with the motion of the call before.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.
        iterations : int, optional
            Number of iterations.
        moved : int, optional
            Number of steps by which the motion before is shifted.

        Returns
        -------
        OptimalMotion
            Resulting motions. Their stationarity is not computed, and NaN.

        Raises
        ------
        ValueError
            If no motion from these states is finite: the motion before is kept then. If an argument is wrong, or if
            there are phases, which cannot be shifted, and ``moved`` is not 0.

        Notes
        -----
        If the motion is shifted, targets that are functions of time are evaluated later by as much, and the last effort
        is repeated. Feedback leads the motion from there to the states. Multipliers of limits are updated once in a
        step: a limit that begins to bind is exceeded for some steps.
        """
        moved = checks.whole("moved", moved, 0)
        if moved > self.N:
            raise ValueError(f"moved must be <= {self.N}, the number of steps, not {moved}")
        if moved and len(self.dynamics.phases) > 1:
            raise ValueError("moved: not supported with phases, whose first steps are fixed")
        iterations = checks.whole("iterations", iterations, 1)
        robot, kept = self.dynamics.robot, (self.dynamics.start, self.objective.y)
        begin = robot.normalize(self._each("q", q, robot.nq)), self._each("qd", qd, robot.n)
        motion = Motion(*(_later(x, moved) for x in self.at.motion))
        K, side = _later(self.at.K, moved), _later(self.at.side, moved)
        self.dynamics.start += moved * self.dynamics.h
        self.objective.y = [_later(y, moved) if isinstance(limit.some, slice) else y            # others stay
                            for y, limit in zip(kept[1], self.objective.limits, strict=True)]
        try:
            followed = self.dynamics.follow(motion, *self.bounds, K=K, part=0.0, begin=begin)
            self.at = self._finite("q, qd: the motion from there", followed, np.zeros_like(self.at.gaps))
        except BaseException:
            self.dynamics.start, self.objective.y = kept
            raise
        self.at.side[...] = side
        self.stopped[:], self.iterations[:] = EXHAUSTED, 0
        self.history = [self._shaped(self.at.value.copy())]
        every = np.arange(len(self.at.cost))
        for _ in range(iterations):
            self._iterate(every)
        self.objective.update_multipliers(self.at.motion, every)
        return self.motion(False)

    def _iterate(self, which):
        """Iterate the motions `which`, and return the Outcome."""
        outcome = ddp.iterate(self.dynamics, self.objective, self.bounds, self.at, which)
        self.iterations[which] += 1
        self.history.append(self._shaped(self.at.value.copy()))
        return outcome

    def _minimal(self, which, outcome, exact):
        """Return a mask of the motions `which` that another iteration would improve by less than a share `exact` of
        their cost, or than its rounding errors. Motions that cannot be improved further are marked as STUCK."""
        (expected, part, held), exact = outcome, np.maximum(exact, ddp.ROUNDING)
        closed = np.abs(self.at.gaps[which]).max(axis=(-2, -1)) <= CLOSED
        size = self._least + np.abs(self.at.value[which])
        minimal = closed & (np.abs(expected) <= exact * size)
        stuck = ~minimal & (part == 0.0) & (self.at.shift[which] >= ddp.SHIFTS[2])
        if (held := held & minimal).any():          # a change under a shift is small anywhere
            whole = ddp.expected_alone(self.dynamics, self.objective, self.bounds, self.at, which[held])
            minimal[held] = np.abs(whole) <= exact[held] * size[held]
            stuck |= held & ~minimal & (np.abs(expected) <= self.tolerance * size)
        self.stopped[which[stuck]] = STUCK
        return minimal

    def _round(self, k, worst, exact):
        """Finish a minimization: the motion has converged, or the multipliers of limits are updated, and the next
        minimization is more exact."""
        one = np.array([k])
        motion = Motion(*(x[one] for x in self.at.motion))
        violation = float(self.objective.unsettled(motion, one)[0])
        if violation <= self.limit_tolerance and exact[k] <= self.tolerance:
            self.stopped[k] = CONVERGED
            return
        exact[k] = max(0.1 * exact[k], self.tolerance)
        self.objective.update_multipliers(motion, one)
        if violation > max(0.25 * worst[k], self.limit_tolerance):
            self.objective.penalty[k] *= GROWTH
            if self.objective.penalty[k] > HIGHEST:
                self.stopped[k] = INFEASIBLE
        worst[k] = min(worst[k], violation)
        self.at.value[one] = self.objective.take(motion, one).value

    # --------------------------------------------------------------------------------------------- results
    def motion(self, certified: bool = True) -> OptimalMotion:
        """Return the motion so far.

        Parameters
        ----------
        certified : bool, optional
            True to compute the stationarity, which takes as long as half an iteration. It is NaN otherwise.

        Returns
        -------
        OptimalMotion
            Motions after the last iteration.
        """
        d, robot, at = self.dynamics, self.dynamics.robot, self.at
        n, P = robot.n, len(at.cost)
        gains = np.zeros((P, self.N, n, 2 * n))
        gains[:, :, d.driven] = at.K[..., :2 * n]
        binding = self.objective.binding(at.motion, 1e3 * self.limit_tolerance)
        for j, k in enumerate(d.driven):
            u = at.motion.u[..., j]
            held = np.zeros((P, self.N + 1), dtype=bool)
            held[:, :-1] = (u <= self.bounds.lower[..., j]) | (u >= self.bounds.upper[..., j])
            if held.any():
                name = f"Effort {self.names[k]}"
                binding[name] = held | binding.get(name, False)         # of a Limit, too
        stopped = self.stopped.reshape(self.lead) if self.lead else self.stopped[0]
        shaped = self._shaped
        return OptimalMotion(d.times(np.arange(self.N + 1)), shaped(at.motion.q.copy()),
                             shaped(at.motion.qd.copy()), shaped(d.efforts(at.motion.u).copy()), shaped(gains),
                             shaped(at.cost.copy()), {name: shaped(x) for name, x in binding.items()}, stopped,
                             shaped(self.stopped == CONVERGED), shaped(self.iterations.copy()),
                             shaped(self._stationarity() if certified else np.full(P, np.nan)),
                             shaped(np.abs(at.gaps).max(axis=(-2, -1))),
                             shaped(self.objective.violation(at.motion)), [*self.history])

    def _stationarity(self):
        """Return the largest derivative of the cost and its multipliers by efforts that can move against it within
        bounds."""
        return ddp.in_parts(self._stationarity_of, np.arange(len(self.at.cost)), self.dynamics.threads)[0]

    def _stationarity_of(self, which):
        """Return the stationarity of the motions `which`, as a tuple of one array."""
        motion, n, m = Motion(*(x[which] for x in self.at.motion)), self.dynamics.robot.n, len(self.dynamics.driven)
        values = self.objective.take(motion, which, True).values
        _, S, _, g = self.objective.derivatives(values, which, self.objective.sides(values, which))
        by = costates_of(self.dynamics.derivatives(motion), gradient(S, g, 2 * n + m))[:, :-1, 2 * n:2 * n + m]
        free = np.where(by > 0.0, motion.u > self.bounds.lower, motion.u < self.bounds.upper)
        return (np.abs(by * free).max(axis=(-2, -1)),)

    def _shaped(self, x):
        """Return an array (P, ...) over the leading axes of the initial states."""
        found = x.reshape((*self.lead, *x.shape[1:]))
        return found if found.ndim else found[()]


def _later(x, moved):
    """Return numbers (P, k, ...) of k nodes, shifted by `moved`; the last ones are repeated."""
    return x.take(np.minimum(np.arange(x.shape[1]) + moved, x.shape[1] - 1), axis=1)


def told(progress: bool | Callable[[int, Any], None]) -> Callable[[int, Any], None]:
    """Return the callback for the number of each iteration and its costs. Raises ValueError if progress is neither a
    bool nor a function."""
    if not (isinstance(progress, bool) or callable(progress)):
        raise ValueError(f"progress must be True, False or a function, not {checks.described(progress)}")
    return _printed if progress is True else progress or (lambda number, costs: None)


def _printed(number, costs):
    low, high = np.min(costs), np.max(costs)
    highest = f" to {high:.8g}" if high > low else ""
    print(f"iteration {number}: cost {low:.8g}{highest}", file=sys.stderr, flush=True)


def optimize_motion(robot: Any, terms: Sequence[Cost | Limit], q0: ArrayLike, qd0: ArrayLike | None = None, *,
                    dt: float = 0.01, steps: int = 100, driven: Sequence[str] | None = None,
                    effort_limits: bool | tuple[ArrayLike, ArrayLike] = True, limits: bool = True,
                    integrator: str = "semi_implicit_euler", friction: bool = False, stops: bool = False,
                    forces: Any = None, phases: Sequence[tuple[int, Any]] = (), guess: Any = None,
                    tolerance: float = 1e-8, limit_tolerance: float = 1e-6,
                    iterations: int = 100, progress: bool | Callable[[int, np.ndarray], None] = False,
                    threads: int | None = None, projection: str | None = BOTH) -> OptimalMotion:
    """Find the motion of N steps with the least cost, by differential dynamic programming.

    Parameters
    ----------
    robot : Robot, ClosedLoopRobot or Scene
        Robot to move.
    terms : sequence of Cost and Limit
        Costs, one at least, and limits of quantities of screw_dynamics.planning.optimal. A single term is allowed.
    q0 : array_like (..., nq)
        Initial configurations. Leading axes are independent problems.
    qd0 : array_like (..., n), optional
        Initial velocities. By default they are 0.
    dt : float, optional
        Length of a step, s.
    steps : int, optional
        Number N of steps.
    driven : sequence of str, optional
        Names of the actuated joints. By default all that neither float nor are moved by the spring or the winding of a
        drive.
    effort_limits : bool or tuple of array_like, optional
        True for the effort limits of the model, and torque-speed lines at the beginning of steps; False for none; or
        the pair (lower, upper), each (n,) or one number.
    limits : bool, optional
        True to keep the model's limits of positions and velocities, too.
    integrator : {"semi_implicit_euler", "rk4"}, optional
        Integrator of the steps, as in Robot.step.
    friction : bool, optional
        True to apply joint friction, as in Robot.step.
    stops : bool, optional
        True to let joints stop at position limits, as ``limits`` of Robot.step.
    forces : sequence of force elements, optional
        Force elements of screw_dynamics.forces, as in Robot.step.
    phases : sequence of tuple of int and robot, optional
        Pairs of the first step of a phase and its robot, of the same joints.
    guess : OptimalMotion, array_like (..., N, n) or tuple of array_like, optional
        Motion; efforts tau; or (q, qd, tau) at nodes, which need not be consistent. By default efforts that hold the
        robot at q0.
    tolerance : float, optional
        Relative tolerance: the search has converged if another iteration would decrease the cost by less.
    limit_tolerance : float, optional
        Tolerance of limits and of their multipliers, relative to the scale of a limit.
    iterations : int, optional
        Largest number of iterations of each motion.
    progress : bool or callable, optional
        True to print a line for each iteration, or a function of its number and the costs (...,).
    threads : int, optional
        Number of threads.
    projection : {"configurations and velocities", "velocities", None}, optional
        Part of the state that is projected after each step of a ClosedLoopRobot, as in its simulate.

    Returns
    -------
    OptimalMotion
        Motion for each of the leading axes of q0 and qd0.

    Raises
    ------
    ValueError
        If an argument is wrong, there is no Cost, or the motion of the guess is not finite.

    See Also
    --------
    Solver : Iterate step by step, with the same arguments.
    collocate_motion : Optimize a motion on a spline.

    Notes
    -----
    The method is feasibility-driven differential dynamic programming. Efforts of the actuated joints stay within
    ``effort_limits``.

    Phases are, for example, for a floating robot whose feet are held by a sequence of contact constraints. Every
    phase begins with an impulse. Scenes detect contacts themselves, and their derivatives are in the modes of these
    contacts.

    With the projection None loops open by about dt^2 per step, and derivatives take less time. The projection has
    an effect on a ClosedLoopRobot only.
    """
    return Solver(robot, terms, q0, qd0, dt=dt, steps=steps, driven=driven, effort_limits=effort_limits, limits=limits,
                  integrator=integrator, friction=friction, stops=stops, forces=forces, phases=phases, guess=guess,
                  tolerance=tolerance, limit_tolerance=limit_tolerance, threads=threads,
                  projection=projection).solve(iterations, progress)
