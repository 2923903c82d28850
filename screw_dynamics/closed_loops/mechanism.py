"""ClosedLoopRobot: a robot whose coordinates are constrained."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks, mjcf
from screw_dynamics.constraints.projection import BOTH, PROJECTIONS
from screw_dynamics.model.constraints import Constraint
from screw_dynamics.robot import Robot
from screw_dynamics.robot.evaluation import Forces, Threads, Wrenches
from screw_dynamics.robot.robot import GRAVITY
from screw_dynamics.simulation.integrators import WITH_CONSTRAINTS as INTEGRATORS
from screw_dynamics.simulation.rollout import Rollouts
from screw_dynamics.simulation.rollout_arguments import STEPS, steps_of, with_external
from screw_dynamics.urdf import read_urdf
from screw_dynamics.urdf.file import opened
from screw_dynamics.urdf.source import Source, kept

from . import derivatives, dynamics, motion, projection, second_derivatives
from .constraints import Constraints
from .derivatives import LoopAccelerationDerivatives, LoopEffortDerivatives
from .dynamics import LoopAccelerations, LoopEfforts
from .mobility import Mobility, mobility
from .motion import LoopMotion
from .second_derivatives import LoopSecondAccelerationDerivatives, LoopSecondEffortDerivatives


class ClosedLoopRobot:
    """A tree, and constraints on it: those of its model, from a URDF or ModelBuilder, and those given, each a
    LoopJoint, Distance or Gear.

    q (nq,): the configuration, by default neutral, in which joints without frame_on and distances without length are
    closed. Configurations q (..., nq), velocities, accelerations and efforts (..., n) are those of the robot; leading
    axes are a batch. Rows of constraints are in the order given, the model's first, `rows` {name: slice}; m is their
    number. ValueError for a link or joint that does not exist, and for what a constraint cannot have; it names the
    constraint.

    constraints: all of them, with their tables, for simulations. given: all of them as they were given; closed (nq,):
    that configuration."""

    def __init__(self, robot: Robot, constraints: Sequence[Constraint] = (), q: ArrayLike | None = None):
        self.robot, self._arguments = robot, (robot, tuple(constraints), q)
        self.given: tuple[Constraint, ...] = (*robot.model.constraints, *constraints)
        self.closed = robot.neutral() if q is None else checks.vector("q", q, robot.nq)
        self.constraints = Constraints(robot, self.given, self.closed)
        self._rollouts: dict[str | None, Rollouts] = {}         # by projection

    @classmethod
    def from_urdf(cls, source: Source, base_link: str | None = None, tip_link: str | None = None,
                  gravity: ArrayLike = GRAVITY, representation: str | None = None,
                  lock: Mapping[str, ArrayLike] | None = None, floating_base: bool = False,
                  constraints: Sequence[Constraint] = (),
                  xacro_args: Mapping[str, str] | None = None) -> ClosedLoopRobot:
        """Read a URDF with the elements <loop_joint>, <distance> and <gear> of docs/closed_loops.md. constraints:
        further ones; the other arguments, UrdfError and UrdfWarning are those of Robot.from_urdf."""
        source = opened(source, xacro_args)
        model = read_urdf(source, base_link, tip_link, lock, floating_base)
        return cls(Robot(model, gravity, representation, kept(source)), constraints)

    @classmethod
    def from_mjcf(cls, source: Any, gravity: ArrayLike | None = None, representation: str | None = None,
                  constraints: Sequence[Constraint] = (), folder: str | os.PathLike | None = None) -> ClosedLoopRobot:
        """Read a model of MuJoCo with its equalities connect, weld and joint; arguments as of Robot.from_mjcf, and
        further constraints."""
        mj = mjcf.compiled(source, folder)
        gravity = mj.opt.gravity if gravity is None else gravity
        return cls(Robot(mjcf.read_mjcf(mj), gravity, representation), constraints)

    @property
    def m(self) -> int:
        """The number of scalar constraints."""
        return self.constraints.m

    @property
    def rows(self) -> Mapping[str, slice]:
        """{name of the constraint: its rows}."""
        return self.constraints.rows

    def __reduce__(self):
        return ClosedLoopRobot, self._arguments

    def __repr__(self) -> str:
        return f"ClosedLoopRobot({self.robot!r}, {self.m} constraints: {', '.join(self.rows)})"

    # --------------------------------------------------------------------------------------------- kinematics
    def residual(self, q: ArrayLike) -> np.ndarray:
        """(..., m), 0 where the constraints hold: rows of log(D) that the joint does not leave free, D being the pose
        of one joint frame in the other; of distances the error in m; of gears ratios . q - offset."""
        return self.constraints.residual(self._q(q))

    def residuals(self, q: ArrayLike) -> dict[str, float]:
        """{name: the largest absolute value of its residual}."""
        return self.constraints.largest(self.residual(q))

    def jacobian(self, q: ArrayLike) -> np.ndarray:
        """J (..., m, n): J qd, rows of the relative twists in the joint frames, is 0 along admissible velocities."""
        return self.constraints.jacobian(self._q(q))

    def drift(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """J' qd (..., m), what accelerations must make up for: J qdd = -J' qd."""
        return self.constraints.drift(*self._states(q=q, qd=qd))

    def project(self, q: ArrayLike, held: Iterable[str] = (), tolerance: float = 1e-12, steps: int = 100) -> np.ndarray:
        """The configuration (..., nq) in which the constraints hold, near q, with the joints `held` where they are.

        Limits of joints are left aside. ValueError names the constraints that stay open, the norm of the residual being
        above the tolerance, and says if they are inconsistent."""
        return projection.closed(self.constraints, self._q(q), projection.all_but(self.robot, "held", held),
                                 checks.positive("tolerance", tolerance), checks.whole("steps", steps, 0))

    def project_velocity(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """The admissible velocities (..., n) nearest to qd in the metric of the mass matrix: those after an impulse of
        the constraints."""
        return dynamics.admissible_velocities(self.constraints, q, qd)

    def admissible_velocities(self, q: ArrayLike) -> np.ndarray:
        """Orthonormal columns (n, degrees of freedom) that span the admissible velocities at q (nq,)."""
        at = projection.directions(self.jacobian(checks.vector("q", q, self.robot.nq)))
        return at.V[:, ~at.held]

    def mobility(self, q: ArrayLike, locked: Iterable[str] = ()) -> Mobility:
        """The Mobility at a closed configuration q (nq,), with some joints locked: 0 degrees where their motion
        determines that of the mechanism."""
        free = projection.all_but(self.robot, "locked", locked)
        return mobility(self.constraints, checks.vector("q", q, self.robot.nq), free)

    # --------------------------------------------------------------------------------------------- dynamics
    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, external: Wrenches | None = None
                         ) -> LoopAccelerations:
        """Accelerations and constraint wrenches of efforts (..., n); external as in Robot.forward_dynamics.

        q must be closed and qd admissible. Of redundant constraints the multipliers are the shortest."""
        return dynamics.forward_dynamics(self.constraints, q, qd, tau, external)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                         actuated: Iterable[str] | None = None, weights: ArrayLike = 1.0,
                         preferred: ArrayLike = 0.0, external: Wrenches | None = None) -> LoopEfforts:
        """Efforts and constraint wrenches of a motion, in which the joints `actuated` have efforts; None: all.

        With more of these than degrees of freedom the sum of weights (tau - preferred)^2 is least, weights > 0 and
        preferred (n,) or one number. The motion is not checked: qdd has to fulfil J qdd = -J' qd. ValueError where the
        actuated joints cannot cause it."""
        states = self._states(q=q, qd=qd, qdd=qdd)
        return dynamics.inverse_dynamics(self.constraints, *states, *self._actuation(actuated, weights, preferred),
                                         external)

    def forward_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                                     external: Wrenches | None = None) -> LoopAccelerationDerivatives:
        """(dqdd/dq, dqdd/dqd, dqdd/dtau), (..., n, n) each, of the accelerations of forward_dynamics, exact; by q along
        the joint twists. For deviations of q and qd that keep the constraints: see admissible_deviations.

        external as there: wrenches that stay the same in their links' frames. q must be closed, qd admissible, and no
        configuration singular, for the accelerations have no derivatives there."""
        return derivatives.of_forward_dynamics(self.constraints, *self._states(q=q, qd=qd, tau=tau), external)

    def forward_dynamics_second_derivatives(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                                            external: Wrenches | None = None) -> LoopSecondAccelerationDerivatives:
        """The second derivatives of the accelerations of forward_dynamics: d2qdd/dqdq, d2qdd/dqdqd, d2qdd/dqddqd and
        d2qdd/dqdtau, (..., n, n, n) each, exact; by q along the joint twists. Others are zero.

        external, and what states must be, as in forward_dynamics_derivatives. Along a curve of closed states with
        deviations B y + C[y, y] / 2, B of admissible_deviations and C of admissible_curvature, accelerations have the
        second derivative B^T f_xx B + f_x C by y, x being (q, qd). Where no constraint is redundant, derivatives are
        those of the solution for any x."""
        states = self._states(q=q, qd=qd, tau=tau)
        return second_derivatives.of_forward_dynamics(self.constraints, *states, external)

    def inverse_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                                     actuated: Iterable[str] | None = None, weights: ArrayLike = 1.0,
                                     preferred: ArrayLike = 0.0, external: Wrenches | None = None
                                     ) -> LoopEffortDerivatives:
        """(dtau/dq, dtau/dqd, dtau/dqdd), (..., n, n) each, of the efforts of inverse_dynamics, whose arguments these
        are; exact, by q along the joint twists.

        For deviations that keep the constraints. ValueError also where the actuated joints do not determine every
        motion: efforts exist then for this one alone."""
        states = self._states(q=q, qd=qd, qdd=qdd)
        return derivatives.of_inverse_dynamics(self.constraints, *states,
                                               *self._actuation(actuated, weights, preferred), external)

    def inverse_dynamics_second_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                                            actuated: Iterable[str] | None = None, weights: ArrayLike = 1.0,
                                            preferred: ArrayLike = 0.0, external: Wrenches | None = None
                                            ) -> LoopSecondEffortDerivatives:
        """The second derivatives of the efforts of inverse_dynamics, whose arguments these are: d2tau/dqdq,
        d2tau/dqdqd, d2tau/dqddqd and d2tau/dqdqdd, (..., n, n, n) each, exact; by q along the joint twists. Others are
        zero. For curves of closed states, as forward_dynamics_second_derivatives; ValueError as
        inverse_dynamics_derivatives."""
        states = self._states(q=q, qd=qd, qdd=qdd)
        return second_derivatives.of_inverse_dynamics(self.constraints, *states,
                                                      *self._actuation(actuated, weights, preferred), external)

    def admissible_deviations(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """Columns (2n, 2 degrees of freedom) that span the deviations (dq, dqd) of one state, closed and admissible, to
        neighboring ones: J dq = 0 and J dqd + dJ qd = 0."""
        return derivatives.admissible_deviations(self.constraints, checks.vector("q", q, self.robot.nq),
                                                 checks.vector("qd", qd, self.robot.n))

    def admissible_curvature(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """C (2n, p, p) of one state, closed and admissible: with B y + C[y, y] / 2 for (dq, dqd), B (2n, p) being the
        admissible_deviations, integrate(q, dq) and qd + dqd keep the constraints but for terms of the third order in
        y."""
        return second_derivatives.admissible_curvature(self.constraints, checks.vector("q", q, self.robot.nq),
                                                       checks.vector("qd", qd, self.robot.n))

    def energy(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """Kinetic and potential energy (...) in J."""
        return self.robot.kinetic_energy(q, qd) + self.robot.potential_energy(q)

    def rollout(self, q0: ArrayLike, qd0: ArrayLike | None = None, effort: ArrayLike | Callable | None = None,
                dt: float = 1e-3, steps: int = STEPS, integrator: str = "semi_implicit_euler", *,
                duration: float | None = None, projection: str | None = BOTH, friction: bool = False,
                limits: bool | None = None, every: int = 1, rtol: float = 1e-6, atol: float = 1e-9,
                forces: Forces = None, external: Wrenches | None = None, threads: Threads = None) -> LoopMotion:
        """Simulate from closed configurations q0 (..., nq) and admissible velocities qd0 (..., n), by default at rest;
        arguments as of Robot.rollout, but springs and record.

        integrator: any but "variational". projection: what is brought back after each step, "configurations and
        velocities", "velocities" or None. ArithmeticError where that does not succeed: steps are too long."""
        checks.one_of("integrator of a robot with closed loops", integrator, INTEGRATORS)
        checks.one_of("projection", projection, PROJECTIONS)
        steps, forces = steps_of(duration, dt, steps), with_external(forces, external)
        q0, qd0 = self._states(q0=q0, qd0=np.zeros(self.robot.n) if qd0 is None else qd0)
        if effort is not None and not callable(effort):
            checks.finite_numbers("effort", effort, self.robot.n)
        if projection not in self._rollouts:
            self._rollouts[projection] = motion.rollouts(self.constraints, projection)
        return motion.rollout(self.constraints, self._rollouts[projection], q0, qd0, effort, dt, steps, integrator,
                              friction, limits, every, rtol, atol, forces, threads)

    # --------------------------------------------------------------------------------------------- arguments
    def _actuation(self, actuated, weights, preferred):
        """The mask of actuated velocities, weights and preferred efforts, (n,) each."""
        n, names = self.robot.n, self.robot.v_slices
        mask = np.ones(n, dtype=bool) if actuated is None else checks.joint_mask("actuated", actuated, names, n)
        W, wanted = (checks.vector(name, np.full(n, x) if np.ndim(x) == 0 else x, n)
                     for name, x in (("weights", weights), ("preferred", preferred)))
        if not (W > 0.0).all():
            raise ValueError(f"weights must be > 0, not {W.tolist()}")
        return mask, W, wanted

    def _q(self, q):
        return np.ascontiguousarray(checks.real_numbers("q", q, self.robot.nq), dtype=float)

    def _states(self, **given):
        """Configurations q and velocities, over common leading axes."""
        arrays = {name: checks.real_numbers(name, x, self.robot.nq if name in ("q", "q0") else self.robot.n)
                  for name, x in given.items()}
        return [np.ascontiguousarray(x, dtype=float) for x in checks.broadcast(arrays)]
