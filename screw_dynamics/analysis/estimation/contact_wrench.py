"""The wrench at one link that external joint torques are due to."""
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.robot import Robot

LEVER = 0.1     # m: at this distance a force and its torque count alike in least squares and condition
TOLERANCE = 0.01


class ContactWrench(NamedTuple):
    """Wrench at one link that explains external efforts, the result of `contact_wrench`.

    Parameters
    ----------
    wrench : ndarray (6,)
        Torque and force on the link at its origin, resolved in its frame, N m and N.
    hidden : ndarray (6 - rank, 6)
        Unit wrenches, orthogonal, that move no joint. Their share of the wrench is taken for zero.
    condition : float
        Largest over smallest singular value of the rest: the factor by which errors of torques are amplified.
    residual : float
        Root mean square of the torques (N m, N) that no wrench at this link explains.

    Notes
    -----
    Condition and hidden directions are for a wrench with torques over 0.1 m.
    """

    wrench: np.ndarray      # (6,) torque, force on the link at its origin, resolved in its frame, N m and N
    hidden: np.ndarray      # (6 - rank, 6) unit wrenches, orthogonal, that move no joint: their share is taken for zero
    condition: float        # largest over smallest singular value of the rest: how much errors of torques are amplified
    residual: float         # root mean square of the torques (N m, N) that no wrench at this link explains

    @property
    def rank(self) -> int:
        """The number of independent wrenches that the joints feel here."""
        return 6 - len(self.hidden)


def contact_wrench(robot: Robot, q: ArrayLike, torque: ArrayLike, link: str,
                   tolerance: float = TOLERANCE) -> ContactWrench:
    """Estimate the wrench on a link that best explains external efforts: J^T W = tau in least squares.

    Parameters
    ----------
    robot : Robot
        Robot.
    q : array_like (nq,)
        Configuration.
    torque : array_like (n,)
        External efforts, as MomentumObserver estimates them; those that are not finite are left out.
    link : str
        Link on which the wrench acts.
    tolerance : float, optional
        Singular value, as a share of the largest one, below which a direction of the wrench is not observable; < 1.

    Returns
    -------
    ContactWrench
        Wrench at the origin of the link, and the directions that are observable. Near a singular configuration, or on a
        robot of fewer than 6 joints, the wrench is 0 along the others.
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
