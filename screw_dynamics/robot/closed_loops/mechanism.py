"""ClosedLoopRobot: a robot with constrained coordinates."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.constraints.projection import BOTH, PROJECTIONS
from screw_dynamics.description import mjcf
from screw_dynamics.description.urdf import read_urdf
from screw_dynamics.description.urdf.file import opened
from screw_dynamics.description.urdf.source import Source, kept
from screw_dynamics.model.constraints import Constraint
from screw_dynamics.robot import Robot
from screw_dynamics.robot.evaluation import Forces, Threads, Wrenches
from screw_dynamics.robot.robot import GRAVITY
from screw_dynamics.rollout.integrators import WITH_CONSTRAINTS as INTEGRATORS
from screw_dynamics.rollout.rollout import Rollouts
from screw_dynamics.rollout.rollout_arguments import STEPS, steps_of, with_external
from screw_dynamics.utils import checks
from screw_dynamics.utils.checks.hints import WithHints, in_part

from . import derivatives, dynamics, motion, projection, second_derivatives
from .constraints import Constraints
from .derivatives import LoopAccelerationDerivatives, LoopEffortDerivatives
from .dynamics import LoopAccelerations, LoopEfforts
from .finite_mobility import FiniteMobility, finite_mobility
from .mobility import Mobility, mobility
from .motion import LoopMotion
from .second_derivatives import LoopSecondAccelerationDerivatives, LoopSecondEffortDerivatives


class ClosedLoopRobot(metaclass=WithHints, hints=in_part(Robot, "loops.robot", ", of its tree")):
    """A robot with closed loops: a tree of rigid bodies, and constraints on it.

    Parameters
    ----------
    robot : Robot
        Tree. Its model may have constraints of its own, from a URDF or ModelBuilder.
    constraints : sequence of LoopJoint, Distance or Gear, optional
        Further constraints.
    q : array_like (nq,), optional
        Configuration, by default neutral, in which joints without frame_on and distances without length are closed.

    Raises
    ------
    ValueError
        If a link or joint does not exist, or a constraint has an invalid value. The message names the constraint.

    Notes
    -----
    Configurations q (..., nq), velocities, accelerations and efforts (..., n) are those of the robot; leading axes are
    a batch. Rows of constraints are in the order given, the model's first; `rows` is {name: slice}, and `m` is their
    number.

    `constraints` has all constraints with their tables, for simulations. `given` has all constraints as specified, and
    `closed` (nq,) is the configuration q.
    """

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
        """Read a URDF with loops.

        Parameters
        ----------
        source : str, bytes, path or file
            Path, XML text or open file. The elements ``<loop_joint>``, ``<distance>`` and ``<gear>`` become
            constraints, docs/closed_loops.md.
        base_link : str, optional
            Link that becomes the root.
        tip_link : str, optional
            Keep only the path from the root to this link.
        gravity : array_like (3,), optional
            Gravity in m/s^2, resolved in the root link's frame.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Twists of the recursions, as in Robot.
        lock : dict of str to array_like, optional
            Positions of joints that are fixed there.
        floating_base : bool, optional
            Let the root link move freely.
        constraints : sequence of LoopJoint, Distance or Gear, optional
            Further constraints.
        xacro_args : dict of str to str, optional
            Arguments of a xacro file.

        Returns
        -------
        ClosedLoopRobot
            Robot with the constraints of the file, and the further ones.

        Raises
        ------
        UrdfError
            If the URDF cannot be read, as in Robot.from_urdf.

        Warns
        -----
        UrdfWarning
            If something in the URDF is odd, as in Robot.from_urdf.
        """
        source = opened(source, xacro_args)
        model = read_urdf(source, base_link, tip_link, lock, floating_base)
        return cls(Robot(model, gravity, representation, kept(source)), constraints)

    @classmethod
    def from_mjcf(cls, source: Any, gravity: ArrayLike | None = None, representation: str | None = None,
                  constraints: Sequence[Constraint] = (), folder: str | os.PathLike | None = None) -> ClosedLoopRobot:
        """Read a model of MuJoCo with its equalities connect, weld and joint.

        Parameters
        ----------
        source : str, path, MjSpec or MjModel
            Model: MJCF text, a path, an MjSpec or an MjModel.
        gravity : array_like (3,), optional
            Gravity in m/s^2, by default the model's.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Twists of the recursions, as in Robot.
        constraints : sequence of LoopJoint, Distance or Gear, optional
            Further constraints.
        folder : str or path, optional
            Folder of all files that the model names, as in Robot.from_mjcf.

        Returns
        -------
        ClosedLoopRobot
            Robot with the equalities of the model, and the further constraints.
        """
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
        """Compute the residual of the constraints, which is 0 where they hold.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.

        Returns
        -------
        ndarray (..., m)
            For loop joints, the rows of log(D) in the constrained directions, where D is the pose of one joint frame in
            the
            other; for distances, the error in m; for gears, ratios . q - offset.
        """
        return self.constraints.residual(self._q(q))

    def residuals(self, q: ArrayLike) -> dict[str, float]:
        """Compute the size of the residual of each constraint.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.

        Returns
        -------
        dict of str to float
            Largest absolute value of the residual of each constraint, over all configurations.
        """
        return self.constraints.largest(self.residual(q))

    def jacobian(self, q: ArrayLike) -> np.ndarray:
        """Compute the Jacobian J of the constraints: J qd is 0 along admissible velocities.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.

        Returns
        -------
        ndarray (..., m, n)
            Jacobian. J qd has rows of the relative twists in the joint frames.
        """
        return self.constraints.jacobian(self._q(q))

    def drift(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """Compute the drift J' qd of the constraints: admissible accelerations satisfy J qdd = -J' qd.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.

        Returns
        -------
        ndarray (..., m)
            Drift J' qd.
        """
        return self.constraints.drift(*self._states(q=q, qd=qd))

    def project(self, q: ArrayLike, held: Iterable[str] = (), tolerance: float = 1e-12, steps: int = 100) -> np.ndarray:
        """Find the configuration near q in which the constraints hold.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations. Joint limits are ignored.
        held : iterable of str, optional
            Joints whose positions are fixed.
        tolerance : float, optional
            Largest norm of the residual.
        steps : int, optional
            Largest number of steps.

        Returns
        -------
        ndarray (..., nq)
            Closed configurations.

        Raises
        ------
        ValueError
            If constraints stay open, with a norm of the residual above the tolerance. The message names them, and
            reports if they are inconsistent.
        """
        return projection.closed(self.constraints, self._q(q), projection.all_but(self.robot, "held", held),
                                 checks.positive("tolerance", tolerance), checks.whole("steps", steps, 0))

    def project_velocity(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """Compute the admissible velocities nearest to qd in the metric of the mass matrix.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.

        Returns
        -------
        ndarray (..., n)
            Velocities after an impulse of the constraints.
        """
        return dynamics.admissible_velocities(self.constraints, q, qd)

    def admissible_velocities(self, q: ArrayLike) -> np.ndarray:
        """Compute an orthonormal basis of the admissible velocities.

        Parameters
        ----------
        q : array_like (nq,)
            Configuration.

        Returns
        -------
        ndarray (n, degrees of freedom)
            Orthonormal columns that span the admissible velocities.
        """
        at = projection.directions(self.jacobian(checks.vector("q", q, self.robot.nq)))
        return at.V[:, ~at.held]

    @overload
    def mobility(self, q: ArrayLike, locked: Iterable[str] = (), *, order: None = None) -> Mobility: ...

    @overload
    def mobility(self, q: ArrayLike, locked: Iterable[str] = (), *, order: int) -> FiniteMobility: ...

    def mobility(self, q: ArrayLike, locked: Iterable[str] = (), *, order: int | None = None
                 ) -> Mobility | FiniteMobility:
        """Compute the mobility at a closed configuration.

        Parameters
        ----------
        q : array_like (nq,)
            Closed configuration.
        locked : iterable of str, optional
            Joints that are locked. If their motion determines the motion of the mechanism, 0 degrees remain.
        order : int, optional
            Order of the derivatives of the constraints, >= 1, for the finite mobility: the motions that exist near q,
            and their branches where q is singular. By default the instantaneous mobility, of order 1.

        Returns
        -------
        Mobility or FiniteMobility
            Degrees of freedom, redundant constraints, and True if the configuration is singular. With an order, the
            branches of motions through q, and what is proven of them.

        Raises
        ------
        ValueError
            If q is open, or if the order has too many terms for the number of admissible velocities.
        """
        free, q = projection.all_but(self.robot, "locked", locked), checks.vector("q", q, self.robot.nq)
        if order is None:
            return mobility(self.constraints, q, free)
        return finite_mobility(self.constraints, q, free, checks.whole("order", order, 1))

    # --------------------------------------------------------------------------------------------- dynamics
    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, external: Wrenches | None = None
                         ) -> LoopAccelerations:
        """Compute the accelerations and constraint wrenches for given efforts.

        Parameters
        ----------
        q : array_like (..., nq)
            Closed configurations.
        qd : array_like (..., n)
            Admissible velocities.
        tau : array_like (..., n)
            Efforts.
        external : dict of str to array_like (..., 6), optional
            Wrench on each named link, as in Robot.forward_dynamics.

        Returns
        -------
        LoopAccelerations
            Accelerations, multipliers and wrenches. Multipliers of redundant constraints have minimum norm.
        """
        return dynamics.forward_dynamics(self.constraints, q, qd, tau, external)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                         actuated: Iterable[str] | None = None, weights: ArrayLike = 1.0,
                         preferred: ArrayLike = 0.0, external: Wrenches | None = None) -> LoopEfforts:
        """Compute the efforts and constraint wrenches of a motion.

        Parameters
        ----------
        q : array_like (..., nq)
            Closed configurations.
        qd : array_like (..., n)
            Admissible velocities.
        qdd : array_like (..., n)
            Admissible accelerations, J qdd = -J' qd. The motion is not checked: efforts of an impossible one cause
            other accelerations.
        actuated : iterable of str, optional
            Joints that have efforts, by default all.
        weights : array_like, optional
            Weights (n,) of efforts, or one number, > 0.
        preferred : array_like, optional
            Preferred efforts (n,), or one number.
        external : dict of str to array_like (..., 6), optional
            Wrench on each named link, as in Robot.inverse_dynamics.

        Returns
        -------
        LoopEfforts
            Efforts, multipliers and wrenches. With more actuated velocities than degrees of freedom, the sum of weights
            (tau - preferred)^2 is minimized.

        Raises
        ------
        ValueError
            If the actuated joints cannot produce the motion.
        """
        states = self._states(q=q, qd=qd, qdd=qdd)
        return dynamics.inverse_dynamics(self.constraints, *states, *self._actuation(actuated, weights, preferred),
                                         external)

    def forward_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                                     external: Wrenches | None = None) -> LoopAccelerationDerivatives:
        """Compute the exact derivatives of the accelerations of forward_dynamics.

        Parameters
        ----------
        q : array_like (..., nq)
            Closed configurations. They must not be singular, where accelerations have no derivatives.
        qd : array_like (..., n)
            Admissible velocities.
        tau : array_like (..., n)
            Efforts.
        external : dict of str to array_like (..., 6), optional
            Wrenches as in forward_dynamics, constant in the link frames.

        Returns
        -------
        LoopAccelerationDerivatives
            (dqdd/dq, dqdd/dqd, dqdd/dtau), (..., n, n) each; by q along the joint twists. Valid for deviations of q and
            qd
            that satisfy the constraints: see admissible_deviations.
        """
        return derivatives.of_forward_dynamics(self.constraints, *self._states(q=q, qd=qd, tau=tau), external)

    def forward_dynamics_second_derivatives(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                                            external: Wrenches | None = None) -> LoopSecondAccelerationDerivatives:
        """Compute the exact second derivatives of the accelerations of forward_dynamics.

        Parameters
        ----------
        q : array_like (..., nq)
            Closed configurations. They must not be singular, as in forward_dynamics_derivatives.
        qd : array_like (..., n)
            Admissible velocities.
        tau : array_like (..., n)
            Efforts.
        external : dict of str to array_like (..., 6), optional
            Wrenches as in forward_dynamics_derivatives.

        Returns
        -------
        LoopSecondAccelerationDerivatives
            d2qdd/dqdq, d2qdd/dqdqd, d2qdd/dqddqd and d2qdd/dqdtau, (..., n, n, n) each; by q along the joint twists.
            Other second derivatives are zero.

        Notes
        -----
        Along a curve of closed states with deviations B y + C[y, y] / 2, with B of admissible_deviations and C of
        admissible_curvature, accelerations have the second derivative ``B^T f_xx B + f_x C`` by y, where x is (q, qd).
        Without redundant constraints, the derivatives are those of the solution for any x.
        """
        states = self._states(q=q, qd=qd, tau=tau)
        return second_derivatives.of_forward_dynamics(self.constraints, *states, external)

    def inverse_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                                     actuated: Iterable[str] | None = None, weights: ArrayLike = 1.0,
                                     preferred: ArrayLike = 0.0, external: Wrenches | None = None
                                     ) -> LoopEffortDerivatives:
        """Compute the exact derivatives of the efforts of inverse_dynamics.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.
        qdd : array_like (..., n)
            Accelerations.
        actuated : iterable of str, optional
            Joints that have efforts, by default all.
        weights : array_like, optional
            Weights (n,) of efforts, or one number, > 0.
        preferred : array_like, optional
            Preferred efforts (n,), or one number.
        external : dict of str to array_like (..., 6), optional
            Wrenches as in inverse_dynamics.

        Returns
        -------
        LoopEffortDerivatives
            (dtau/dq, dtau/dqd, dtau/dqdd), (..., n, n) each; by q along the joint twists. Valid for deviations that
            satisfy
            the constraints.

        Raises
        ------
        ValueError
            If the actuated joints cannot produce the motion, or do not determine every motion: then efforts exist for
            this motion alone.
        """
        states = self._states(q=q, qd=qd, qdd=qdd)
        return derivatives.of_inverse_dynamics(self.constraints, *states,
                                               *self._actuation(actuated, weights, preferred), external)

    def inverse_dynamics_second_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                                            actuated: Iterable[str] | None = None, weights: ArrayLike = 1.0,
                                            preferred: ArrayLike = 0.0, external: Wrenches | None = None
                                            ) -> LoopSecondEffortDerivatives:
        """Compute the exact second derivatives of the efforts of inverse_dynamics.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.
        qdd : array_like (..., n)
            Accelerations.
        actuated : iterable of str, optional
            Joints that have efforts, by default all.
        weights : array_like, optional
            Weights (n,) of efforts, or one number, > 0.
        preferred : array_like, optional
            Preferred efforts (n,), or one number.
        external : dict of str to array_like (..., 6), optional
            Wrenches as in inverse_dynamics.

        Returns
        -------
        LoopSecondEffortDerivatives
            d2tau/dqdq, d2tau/dqdqd, d2tau/dqddqd and d2tau/dqdqdd, (..., n, n, n) each; by q along the joint twists.
            Other second derivatives are zero. Valid for curves of closed states, as in
            forward_dynamics_second_derivatives.

        Raises
        ------
        ValueError
            If the actuated joints cannot produce the motion, or do not determine every motion, as in
            inverse_dynamics_derivatives.
        """
        states = self._states(q=q, qd=qd, qdd=qdd)
        return second_derivatives.of_inverse_dynamics(self.constraints, *states,
                                                      *self._actuation(actuated, weights, preferred), external)

    def admissible_deviations(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """Compute a basis of the deviations of one state to neighboring admissible ones.

        Parameters
        ----------
        q : array_like (nq,)
            Closed configuration.
        qd : array_like (n,)
            Admissible velocity.

        Returns
        -------
        ndarray (2n, 2 degrees of freedom)
            Columns that span the deviations (dq, dqd) with J dq = 0 and J dqd + dJ qd = 0.
        """
        return derivatives.admissible_deviations(self.constraints, checks.vector("q", q, self.robot.nq),
                                                 checks.vector("qd", qd, self.robot.n))

    def admissible_curvature(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """Compute the curvature C of the admissible states at one state.

        Parameters
        ----------
        q : array_like (nq,)
            Closed configuration.
        qd : array_like (n,)
            Admissible velocity.

        Returns
        -------
        ndarray (2n, p, p)
            C. With B y + C[y, y] / 2 for (dq, dqd), where B (2n, p) is admissible_deviations, integrate(q, dq) and qd +
            dqd keep the constraints up to terms of the third order in y.
        """
        return second_derivatives.admissible_curvature(self.constraints, checks.vector("q", q, self.robot.nq),
                                                       checks.vector("qd", qd, self.robot.n))

    def energy(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """Compute the sum of kinetic and potential energy.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.

        Returns
        -------
        ndarray (...)
            Energy in J.
        """
        return self.robot.kinetic_energy(q, qd) + self.robot.potential_energy(q)

    def rollout(self, q0: ArrayLike, qd0: ArrayLike | None = None, effort: ArrayLike | Callable | None = None,
                dt: float = 1e-3, steps: int = STEPS, integrator: str = "semi_implicit_euler", *,
                duration: float | None = None, projection: str | None = BOTH, friction: bool = False,
                limits: bool | None = None, every: int = 1, rtol: float = 1e-6, atol: float = 1e-9,
                forces: Forces = None, external: Wrenches | None = None, threads: Threads = None) -> LoopMotion:
        """Simulate a motion that satisfies the constraints.

        Parameters
        ----------
        q0 : array_like (..., nq)
            Initial configurations, closed.
        qd0 : array_like (..., n), optional
            Initial velocities, admissible; by default at rest.
        effort : array_like or callable, optional
            Efforts (..., n), constant, or (..., steps, n), one for each interval dt; or a controller, as in
            Robot.rollout.
        dt : float, optional
            Length of a step in s.
        steps : int, optional
            Number of steps.
        integrator : str, optional
            Any integrator of Robot.rollout except "variational".
        duration : float, optional
            Duration in s, a multiple of dt, in place of `steps`.
        projection : {"configurations and velocities", "velocities", None}, optional
            States that are projected onto the constraints after each step.
        friction : bool, optional
            The model's damping and Coulomb friction act at the joints.
        limits : bool, optional
            Stop joints at their position limits. By default a LimitsWarning names joints beyond them; False ignores
            them.
        every : int, optional
            Steps per sample.
        rtol, atol : float, optional
            Relative and absolute tolerance of "rk45".
        forces : sequence of Element, optional
            Elements of screw_dynamics.forces, docs/forces.md.
        external : dict of str to array_like (6,), optional
            Constant wrench on each named link, torque and force, resolved in the link's frame.
        threads : int, optional
            Number of threads for a batch.

        Returns
        -------
        LoopMotion
            Times, configurations, velocities, energy and residuals.

        Raises
        ------
        ArithmeticError
            If the projection does not succeed: steps are too long.

        Warns
        -----
        UserWarning
            If q0 is not closed, or qd0 not admissible. The message names the constraints.
        """
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
        """Return the mask of actuated velocities, weights and preferred efforts, (n,) each."""
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
        """Return configurations q and velocities, broadcast to common leading axes."""
        arrays = {name: checks.real_numbers(name, x, self.robot.nq if name in ("q", "q0") else self.robot.n)
                  for name, x in given.items()}
        return [np.ascontiguousarray(x, dtype=float) for x in checks.broadcast(arrays)]
