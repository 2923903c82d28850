"""Estimation of the wrench on one link from external joint torques."""
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

LEVER = 0.1     # m: torques are scaled by this length in least squares and in the condition number
TOLERANCE = 0.01


class ContactWrench(NamedTuple):
    """Wrench on one link that explains external efforts, the result of `contact_wrench`.

    Parameters
    ----------
    wrench : ndarray (6,)
        Torque and force on the link at its origin, resolved in its frame, N m and N.
    hidden : ndarray (6 - rank, 6)
        Orthogonal unit wrenches that cause no joint effort. The components of the wrench along them are set to 0.
    condition : float
        Condition number of the observable part: the amplification of errors of the torques.
    residual : float
        Root mean square of the torques (N m, N) that no wrench on this link explains.

    Notes
    -----
    The condition number and hidden wrenches are computed with torques divided by 0.1 m.
    """

    wrench: np.ndarray      # (6,) torque, force on the link at its origin, resolved in its frame, N m and N
    hidden: np.ndarray      # (6 - rank, 6) orthogonal unit wrenches that cause no joint effort
    condition: float        # condition number of the observable part: the amplification of errors of the torques
    residual: float         # root mean square of the torques (N m, N) that no wrench on this link explains

    @property
    def rank(self) -> int:
        """The number of independent wrenches that are observable from joint efforts."""
        return 6 - len(self.hidden)


def contact_wrench(robot: Robot, q: ArrayLike, torque: ArrayLike, link: str,
                   tolerance: float = TOLERANCE) -> ContactWrench:
    """Estimate the wrench on a link from external efforts: the least-squares solution of J^T W = tau.

    Parameters
    ----------
    robot : Robot
        Robot.
    q : array_like (nq,)
        Configuration.
    torque : array_like (n,)
        External efforts, as MomentumObserver estimates them. Values that are not finite are omitted.
    link : str
        Link on which the wrench acts.
    tolerance : float, optional
        Singular value, relative to the largest one, below which a direction of the wrench is not observable; < 1.

    Returns
    -------
    ContactWrench
        Wrench at the origin of the link. Its components along unobservable directions are 0, as near a singular
        configuration or on a robot with fewer than 6 joints.
    """
    q, torque = checks.vector("q", q, robot.nq), checks.real_numbers("torque", torque, robot.n)
    if torque.ndim != 1:
        raise ValueError(f"torque must be of one state, ({robot.n},), not of shape {torque.shape}")
    tolerance = checks.number("tolerance", tolerance, 0.0)
    if tolerance >= 1.0:
        raise ValueError(f"tolerance {tolerance:g} must be < 1: no wrench would be observable")
    scale = np.array([LEVER] * 3 + [1.0] * 3)       # W = scale * w, with all of w in N
    measured = np.isfinite(torque)
    A = (robot.jacobian(q, link).T * scale)[measured]
    U, s, Vt = np.linalg.svd(A, full_matrices=True)
    rank = int((s > tolerance * s.max(initial=0.0)).sum())
    w = Vt[:rank].T @ ((U[:, :rank].T @ torque[measured]) / s[:rank])
    rest = torque[measured] - A @ w
    return ContactWrench(scale * w, Vt[rank:], s[0] / s[rank - 1] if rank else np.inf,
                         float(np.sqrt(np.mean(rest**2))) if len(rest) else 0.0)
