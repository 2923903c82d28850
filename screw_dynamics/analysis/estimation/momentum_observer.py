"""External joint torques by the generalized-momentum observer.

A. De Luca, A. Albu-Schaeffer, S. Haddadin, G. Hirzinger, "Collision detection and safe reaction with the DLR-III
lightweight manipulator arm", IROS 2006; S. Haddadin, A. De Luca, A. Albu-Schaeffer, "Robot collisions: a survey on
detection, isolation, and identification", IEEE Trans. Robotics 33(6), 2017, section V-D."""
import math

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .friction import smooth_friction


class MomentumObserver:
    """An observer of the efforts of the environment on the joints.

    Parameters
    ----------
    robot : Robot
        Model of the robot.
    gain : array_like
        K in 1/s, > 0: one number, or (n,).
    friction : bool, optional
        Subtract the model's damping and Coulomb friction.
    gap : float, optional
        Time in s. The estimate of a joint restarts if more time passes between two of its measurements, or if time
        decreases.

    Notes
    -----
    The observer estimates the efforts (n,) on the joints, and on a floating base, from position, velocity and effort::

        observer = MomentumObserver(robot, gain=50.0)
        for t, q, qd, tau in measurements:
            external = observer.update(t, q, qd, tau)

    With M' = C + C^T the momentum p = M(q) q' obeys p' = tau + C^T q' - g - friction + tau_external, which contains no
    acceleration. The residual r = K (p - p(0) - integral(tau + C^T q' - g - friction + r) dt) obeys r' = K
    (tau_external - r): it is each joint's external effort through a low-pass filter of time constant 1 / K.

    Between two measurements the filter is exact for the mean external effort in the interval; the integral is
    trapezoidal, with an error of second order in the time step. Model errors (payload, friction, bias of the efforts)
    appear in the estimate. An observer is not thread-safe.
    """

    def __init__(self, robot: Robot, gain: ArrayLike, friction: bool = True, gap: float = math.inf):
        self._robot, self.friction = robot, checks.flag("friction", friction)
        self.gap = math.inf if gap == math.inf else checks.positive("gap", gap)
        self.gain = gain
        self.reset()

    @property
    def robot(self) -> Robot:
        """The model. It may be replaced by one with the same joints, such as with a payload, without a restart."""
        return self._robot

    @robot.setter
    def robot(self, robot: Robot) -> None:
        if robot.joint_names != self._robot.joint_names:
            raise ValueError(f"the other robot must have the joints {', '.join(self._robot.joint_names)}, "
                             f"not {', '.join(robot.joint_names)}")
        self._robot = robot
        if self._last is not None:      # otherwise the change of the momentum would appear as an external effort
            self._momentum, self._rate = self._motion(*self._last)

    @property
    def gain(self) -> np.ndarray:
        """The gain K (n,) in 1/s."""
        return self._gain

    @gain.setter
    def gain(self, gain: ArrayLike) -> None:
        K = checks.real_numbers("gain", gain).astype(float)
        if K.shape not in ((), (1,), (self._robot.n,)) or not (K > 0.0).all() or not np.isfinite(K).all():
            raise ValueError(f"gain {K.tolist()} must be one number, or one for each of {self._robot.n} velocities, "
                             "finite and > 0")
        self._gain = np.broadcast_to(K, self._robot.n)

    @property
    def torque(self) -> np.ndarray:
        """The estimate (n,), N m or N; NaN for joints without a measurement."""
        return self._torque.copy()

    def reset(self) -> None:
        """Discard all measurements: the estimate restarts at zero with the next one."""
        n = self._robot.n
        self._time, self._torque = np.full(n, np.nan), np.full(n, np.nan)
        self._momentum = self._rate = np.full(n, np.nan)
        self._last = None

    def update(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Update the estimate with the measurements of one state.

        Parameters
        ----------
        t : array_like
            Time in s of all joints, or (n,). Joints whose time is unchanged keep their estimate.
        q : array_like (nq,)
            Position.
        qd : array_like (n,)
            Velocity.
        tau : array_like (n,)
            Measured efforts. The estimate of a joint is NaN while its effort is not finite, and restarts with the next
            finite one. Other joints are not affected.

        Returns
        -------
        ndarray (n,)
            Estimate, N m or N.

        Raises
        ------
        ValueError
            If q, qd or tau is not one state.
        """
        n = self._robot.n
        q = checks.real_numbers("q", q, self._robot.nq)
        qd, tau = (checks.real_numbers(name, x, n) for name, x in (("qd", qd), ("tau", tau)))
        for name, x in (("q", q), ("qd", qd), ("tau", tau)):
            if x.ndim != 1:
                raise ValueError(f"{name} must be of one state, not of shape {x.shape}")
        t = checks.each("t", t, n)
        h = t - self._time
        due = h != 0.0                  # also True for NaN, of a joint without a previous measurement
        if not due.any():
            return self.torque
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            momentum, rate = self._motion(q, qd, tau)
            mean = (momentum - self._momentum) / h - 0.5 * (rate + self._rate)      # external effort in the interval
            keep = np.exp(-self._gain * h)
            torque = keep * self._torque + (1.0 - keep) * mean
            known = (h > 0.0) & (h <= self.gap) & np.isfinite(torque)
        start = np.where(np.isfinite(rate + momentum), 0.0, np.nan)
        self._torque = np.where(due, np.where(known, torque, start), self._torque)
        self._momentum, self._rate = np.where(due, momentum, self._momentum), np.where(due, rate, self._rate)
        self._time = np.where(due, t, self._time)
        self._last = q.copy(), qd.copy(), tau.copy()
        return self.torque

    def _motion(self, q, qd, tau):
        """Return the momentum p and its rate under the measured efforts without external ones."""
        robot = self._robot
        rate = tau + qd @ robot.coriolis_matrix(q, qd) - robot.gravity_torque(q)
        return robot.mass_matrix(q) @ qd, rate - smooth_friction(robot, qd) if self.friction else rate
