"""Base parameters: the combinations of inertial parameters on which efforts depend.

The columns of the regressor are linearly dependent, in particular for a robot with a fixed base. A maximal independent
set of columns is kept; its parameters absorb those of the omitted columns: Y p = Y_b p_b with
p_b = p_kept + K p_omitted. M. Gautier, "Numerical calculation of the base inertial parameters of robots", J. Robotic
Systems 8(4), 1991."""
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # submodules load on first use
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

STATES = 3          # number of random states, relative to the number of columns per row of a state
RANK = 1e-9         # relative rank tolerance: dependent columns have less than 1e-13, weak ones more than 1e-6
ROUNDING = 1e-9     # smaller coefficients are set to 0


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of a robot: k combinations of P parameters, on which efforts depend.

    Parameters
    ----------
    names : tuple of str
        Names (P,) of the parameters.
    independent : ndarray (k,)
        Kept columns of the regressor, in order.
    matrix : ndarray (k, P)
        Matrix of the combinations: base parameters = matrix @ parameters.
    """

    names: tuple[str, ...]      # (P,) of the parameters
    independent: np.ndarray     # (k,) kept columns of the regressor, in order
    matrix: np.ndarray          # (k, P): base parameters = matrix @ parameters

    def __len__(self) -> int:
        return len(self.independent)

    def of(self, parameters: ArrayLike) -> np.ndarray:
        """Compute the base parameters from all parameters.

        Parameters
        ----------
        parameters : array_like (..., P)
            Parameters.

        Returns
        -------
        ndarray (..., k)
            Base parameters.
        """
        return checks.real_numbers("parameters", parameters, len(self.names)) @ self.matrix.T

    def columns(self, regressor: ArrayLike) -> np.ndarray:
        """Select the columns of a regressor for the base parameters; the product with the parameters is unchanged.

        Parameters
        ----------
        regressor : array_like (..., P)
            Regressor of all parameters.

        Returns
        -------
        ndarray (..., k)
            Regressor of the base parameters.
        """
        return checks.real_numbers("regressor", regressor, len(self.names))[..., self.independent]

    def combination(self, k: int, digits: int = 4) -> str:
        """Return the expression of base parameter k, such as "link2.xx + 0.16 link3.mass".

        Parameters
        ----------
        k : int
            Index of the base parameter.
        digits : int, optional
            Significant digits of the coefficients.

        Returns
        -------
        str
            Sum of named parameters.
        """
        own = self.independent[k]
        text = self.names[own]
        for c, name in zip(self.matrix[k], self.names, strict=True):
            if c and name != self.names[own]:
                size = f"{abs(c):.{digits}g}" if isinstance(c, float) else str(abs(c))
                text += f" {'-' if c < 0 else '+'} {size + ' ' if size != '1' else ''}{name}"
        return text

    @property
    def combinations(self) -> tuple[str, ...]:
        """The expressions of all base parameters."""
        return tuple(map(self.combination, range(len(self))))


def parameter_names(robot: Robot, friction: bool) -> tuple[str, ...]:
    """Return the names of the columns of robot.torque_regressor."""
    own = robot.inertial_parameter_names
    return own + robot.friction_parameter_names if checks.flag("friction", friction) else own


def base_parameters(robot: Robot, friction: bool = False, tolerance: float = RANK, seed: int = 0) -> BaseParameters:
    """Compute the base parameters of a robot by QR decompositions of its regressor at random states.

    Parameters
    ----------
    robot : Robot
        Robot.
    friction : bool, optional
        If true, add damping, Coulomb friction and armature of each joint. Damping and friction columns are independent;
        the armature may be part of a combination.
    tolerance : float, optional
        Tolerance for dependent columns: residual norm of a normalized column after projection onto the others.
    seed : int, optional
        Seed of the random states.

    Returns
    -------
    BaseParameters
        Base parameters as combinations of the standard ones. Parameters of links near the base absorb those of more
        distal links.
    """
    return from_regressor(random_regressor(robot, friction, seed), parameter_names(robot, friction), tolerance)


def random_regressor(robot: Robot, friction: bool, seed: int = 0) -> np.ndarray:
    """Return the rows (..., P) of robot.torque_regressor at random states; there are more rows than columns."""
    return random_rows(robot, lambda q, qd, qdd: robot.torque_regressor(q, qd, qdd, friction),
                       len(parameter_names(robot, friction)), seed)


def random_rows(robot: Robot, rows: Callable, columns: int, seed: int = 0) -> np.ndarray:
    """Return the rows (..., columns) of a function of q, qd, qdd at random states, more than there are columns."""
    count = STATES * (1 + columns // max(robot.n, 1))
    rng = np.random.default_rng(checks.whole("seed", seed, 0))
    q = robot.random_configuration(count, rng)
    qd, qdd = rng.standard_normal((2, count, robot.n))
    return np.concatenate([rows(*state) for state in zip(q, qd, qdd, strict=True)])


def from_regressor(Y: ArrayLike, names: Sequence[str], tolerance: float = RANK) -> BaseParameters:
    """Return the base parameters for a regressor (rows, P) at random states or along a motion."""
    Y, tolerance = checks.real_numbers("Y", Y, len(names)).astype(float), checks.number("tolerance", tolerance, 0.0)
    size = np.linalg.norm(Y, axis=0)
    moving = np.flatnonzero(size > tolerance * size.max(initial=0.0))
    R = scipy.linalg.qr(Y[:, moving] / size[moving], mode="r")[0][:len(moving)]
    kept = moving[_independent(R, tolerance)]
    matrix = np.zeros((len(kept), len(names)))
    rest = np.setdiff1d(moving, kept)
    if len(rest):
        matrix[:, rest] = (scipy.linalg.lstsq(Y[:, kept] / size[kept], Y[:, rest] / size[rest])[0]
                           * size[rest] / size[kept, None])
        matrix[np.abs(matrix) < ROUNDING] = 0.0
    matrix[np.arange(len(kept)), kept] = 1.0
    return BaseParameters(tuple(names), kept, matrix)


def _independent(R, tolerance):
    """Return the columns of a triangular R independent of previous ones, by modified Gram-Schmidt, applied twice."""
    basis, kept = np.zeros((0, len(R))), []
    for k, column in enumerate(R.T):
        rest = column - basis.T @ (basis @ column)
        rest = rest - basis.T @ (basis @ rest)
        if (norm := np.linalg.norm(rest)) > tolerance:
            basis, kept = np.vstack([basis, rest / norm]), [*kept, k]
    return kept
