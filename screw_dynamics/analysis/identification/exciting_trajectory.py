"""Exciting trajectories for identification: finite Fourier series, optimized under limits.

J. Swevers, C. Ganseman, D. B. Tukel, J. De Schutter, H. Van Brussel, "Optimal robot excitation and identification",
IEEE Trans. Robotics and Automation 13(5), 1997. Limits of positions, velocities and accelerations hold by construction:
the series of each joint is scaled to reach the tightest of them."""
from dataclasses import dataclass

import numpy as np
import scipy  # submodules load on first use
from numpy.typing import ArrayLike

from screw_dynamics.model.inertial_parameters import FRICTION_NAMES
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .base_parameters import BaseParameters, base_parameters

VELOCITY, ACCELERATION = 2.0, 10.0      # rad/s and rad/s^2, or m: limits if the model has none
RANGE = np.pi                           # rad or m: position range about 0 if the model has none
FRACTION = 0.9                          # used fraction of the limits
SAMPLES = 20                            # samples per harmonic and period, for the criterion and the limits
STARTS = 20                             # random series; the best one is optimized
CRITERIA = "determinant", "condition"
SLOW = 0.05                             # rad/s or m/s: Coulomb friction has less weight in the criterion below it
STEP = 1e-5                             # finite-difference step of the free variables, which are about 1
PENALTY = 100.0                         # weight of squared relative excesses of efforts
LEAST = 1e-14                           # lower bound of the eigenvalues of the normalized information matrix


@dataclass(frozen=True)
class FourierTrajectory:
    """A periodic trajectory q(t), as a Fourier series about a center.

    Parameters
    ----------
    period : float
        Period T in s.
    center : ndarray (n,)
        Mean in rad or m.
    cosine : ndarray (n, L)
        Coefficients a of the velocities.
    sine : ndarray (n, L)
        Coefficients b of the velocities.

    Notes
    -----
    With w = 2 pi / T, q' = sum_l a_l cos(l w t) + b_l sin(l w t). The trajectory starts and ends at rest, without
    acceleration, and may be repeated.
    """

    period: float               # T, s
    center: np.ndarray          # (n,) rad or m: the mean
    cosine: np.ndarray          # (n, L): a
    sine: np.ndarray            # (n, L): b

    def __call__(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return positions, velocities and accelerations (..., n) at times t (...)."""
        rate = 2.0 * np.pi / self.period * np.arange(1, self.sine.shape[1] + 1)
        phase = checks.real_numbers("t", t)[..., None] * rate
        c, s, a, b = np.cos(phase), np.sin(phase), self.cosine.T, self.sine.T
        return self.center + (s / rate) @ a - (c / rate) @ b, c @ a + s @ b, (c * rate) @ b - (s * rate) @ a

    def samples(self, rate: float) -> tuple[np.ndarray, ...]:
        """Sample one period.

        Parameters
        ----------
        rate : float
            Samples per second.

        Returns
        -------
        t : ndarray (m,)
            Times in s.
        q, qd, qdd : ndarray (m, n)
            Positions, velocities and accelerations.
        """
        t = np.arange(round(self.period * checks.positive("rate", rate))) / rate
        return t, *self(t)


def exciting_trajectory(robot: Robot, period: float = 10.0, harmonics: int = 5, friction: bool = True,
                        velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None,
                        criterion: str = "determinant", iterations: int = 30, seed: int = 0) -> FourierTrajectory:
    """Compute a motion that excites the base parameters of a robot by optimization.

    Parameters
    ----------
    robot : Robot
        Robot. The motion uses up to 0.9 of its limits of position, velocity, acceleration and effort; if the model has
        none, +-pi (rad, m), 2 (rad/s, m/s) and 10 (rad/s^2, m/s^2).
    period : float, optional
        Period of the Fourier series, s.
    harmonics : int, optional
        Harmonics of each joint.
    friction : bool, optional
        If true, excite joint friction too.
    velocity, acceleration : array_like (n,) or float, optional
        Limits that replace the model's.
    criterion : {"determinant", "condition"}, optional
        "determinant" maximizes the determinant of the information matrix of the base parameters, which does not depend
        on their units; "condition" minimizes the condition number of the regressor with normalized columns.
    iterations : int, optional
        L-BFGS iterations from the best of 20 random series; each takes 2 L + 2 evaluations per joint, for L harmonics.
    seed : int, optional
        Seed of the random series.

    Returns
    -------
    FourierTrajectory
        Periodic motion.

    Raises
    ------
    ValueError
        If the limits of a joint leave no range, or the motion exceeds its effort limit. The message names the joint.

    Notes
    -----
    Efforts are those of the model with its friction. Collisions are not considered.
    """
    checks.coordinates_alone("exciting_trajectory", robot.model)
    checks.one_of("criterion", criterion, CRITERIA)
    checks.flag("friction", friction)
    if not robot.n:
        raise ValueError("exciting_trajectory: the robot has no joints that move")
    search = _Search(robot, checks.positive("period", period), checks.count("harmonics", harmonics, 2),
                     _limits(robot, velocity, acceleration), base_parameters(robot, friction), friction, criterion)
    rng = np.random.default_rng(checks.whole("seed", seed, 0))
    starts = rng.standard_normal((STARTS, search.size))
    best = min(starts, key=search.cost)
    found = scipy.optimize.minimize(search.cost_and_slopes, best, method="L-BFGS-B", jac=True,
                                    options={"maxiter": checks.whole("iterations", iterations, 0),
                                             "maxfun": 10 * (iterations + 1)}).x
    trajectory = search.trajectory(found)
    excess = search.excess(*trajectory(search.t))
    if excess.max(initial=0.0) > 1.0:
        joint = robot.joint_names[int(np.argmax(excess))]
        raise ValueError(f"the effort of joint {joint!r} reaches {excess.max():.3g} times its limit: allow less "
                         "velocity and acceleration, or more iterations")
    return trajectory


def _limits(robot, velocity, acceleration):
    """Return the lower and upper positions, the velocity and the acceleration (n,) that the trajectory may use."""
    model, n = robot.model, robot.n
    lower, upper = (np.where(np.isfinite(x), x, none) for x, none in ((model.lower, -RANGE), (model.upper, RANGE)))
    given = [np.where(np.isfinite(model.velocity_limit), model.velocity_limit, VELOCITY), np.full(n, ACCELERATION)]
    for k, (name, x) in enumerate((("velocity", velocity), ("acceleration", acceleration))):
        if x is not None:
            given[k] = checks.each(name, x, n)
    rows = lower, upper, *given
    for joint, low, high, v, a in zip(robot.joint_names, *rows, strict=True):
        if not (low < high and v > 0.0 and a > 0.0):
            raise ValueError(f"joint {joint!r} has no room to move: positions from {low:g} to {high:g}, "
                             f"velocity {v:g}, acceleration {a:g}")
    return rows


class _Search:
    """The criterion as a function of free variables: 2 L coefficients, center and size of each joint's series."""

    def __init__(self, robot: Robot, period: float, harmonics: int, limits: tuple, base: BaseParameters, friction: bool,
                 criterion: str):
        self.robot, self.period, self.harmonics, self.base = robot, period, harmonics, base
        self.friction, self.criterion = friction, criterion
        lower, upper, self.velocity, self.acceleration = limits
        self.middle, self.half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        self.t = np.linspace(0.0, period, SAMPLES * harmonics, endpoint=False)
        self.size = robot.n * (2 * harmonics + 2)
        effort = robot.model.effort_limit
        self.effort = np.where(np.isfinite(effort) & (effort > 0.0), effort, np.inf)
        self.scale = np.where(np.isfinite(self.effort), self.effort, 1.0)

    def trajectory(self, x: np.ndarray) -> FourierTrajectory:
        """Return the trajectory of free variables: with sum a = sum l b = 0 it starts at rest; then it is scaled."""
        x, L = x.reshape(self.robot.n, -1), self.harmonics
        order = np.arange(1, L + 1)
        a, b = x[:, :L], x[:, L:2 * L]
        a, b = a - a.mean(axis=1, keepdims=True), b - (b @ order)[:, None] * order / (order @ order)
        shift = 0.5 * self.half * np.tanh(x[:, -2])
        shape = FourierTrajectory(self.period, np.zeros(self.robot.n), a, b)
        q, qd, qdd = (np.abs(y).max(axis=0) for y in shape(self.t))
        room = np.stack([(FRACTION * self.half - np.abs(shift)) / q, FRACTION * self.velocity / qd,
                         FRACTION * self.acceleration / qdd])
        size = (room.min(axis=0) / (1.0 + np.exp(-2.0 - x[:, -1])))[:, None]
        return FourierTrajectory(self.period, self.middle + shift, size * a, size * b)

    def excess(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Return the largest effort of each joint (n,) relative to its limit."""
        effort = self.robot.inverse_dynamics(q, qd, qdd) + self.robot.friction_torque(qd)
        return np.abs(effort).max(axis=0) / self.effort

    def equations(self, x: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the base regressor along the motion, (N, k), relative to the limits of efforts, and the penalty on
        efforts beyond them."""
        q, qd, qdd = motion = self.trajectory(x)(self.t)
        Y, n = self.robot.torque_regressor(*motion, friction=self.friction), self.robot.n
        if self.friction:       # smooth sign of friction, for finite differences of the criterion
            Y[:, np.arange(n), 1 - len(FRICTION_NAMES) * np.arange(n, 0, -1)] = qd / np.hypot(qd, SLOW)
        over = PENALTY * float(np.sum(np.maximum(self.excess(*motion) / FRACTION - 1.0, 0.0) ** 2))
        return (self.base.columns(Y) / self.scale[:, None]).reshape(-1, len(self.base)), over

    def judged(self, A: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the criterion of a regressor (N, k) and its derivatives (N, k): minus half the logarithm of the
        determinant, or the logarithm of the condition number."""
        size = np.linalg.norm(A, axis=0)
        if not size.all():
            return 1e6, np.zeros_like(A)
        A = A / size
        values, V = np.linalg.eigh(A.T @ A)
        shown, values = values > LEAST, np.maximum(values, LEAST)
        if self.criterion == "condition":
            value = 0.5 * float(np.log(values[-1] / values[0]))
            rates = np.zeros_like(values)
            rates[[0, -1]] = -1.0 / values[0], 1.0 / values[-1]
        else:
            value = -0.5 * float(np.sum(np.log(values))) - float(np.sum(np.log(size)))
            rates = -1.0 / values
        slopes = A @ (V * (rates * shown) @ V.T)
        slopes -= A * (np.sum(A * slopes, axis=0) + (self.criterion == "determinant"))
        return value, slopes / size

    def cost(self, x: np.ndarray) -> float:
        """Return the objective: the criterion and the penalty."""
        A, over = self.equations(x)
        return self.judged(A)[0] + over

    def cost_and_slopes(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective and its derivatives: finite differences of the regressor times the derivatives of the
        criterion, which is factorized once."""
        A, over = self.equations(x)
        value, slopes = self.judged(A)
        found = np.empty_like(x)
        for i, step in enumerate(STEP * np.eye(len(x))):
            near, beyond = self.equations(x + step)
            found[i] = (np.einsum("ij,ij->", slopes, near - A) + beyond - over) / STEP
        return value + over, found
