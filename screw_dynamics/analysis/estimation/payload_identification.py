"""Payload identification of a link from a recorded motion: linear regression in the inertial parameters of a body.

C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of inertial parameters of manipulator loads and links", Int. J.
Robotics Research 5(3), 1986: the efforts of a rigid body are linear in phi = (m, m c, Theta), its mass, first moment
and rotational inertia about the frame's origin. The load's part of the measured efforts is tau - inverse_dynamics(q,
q', q'') - friction = J^T Y(V, V') phi, with the body-fixed twist V = J q' of the link, V' = J q'' + J' q'."""
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.friction import smooth_sign
from screw_dynamics.forces import Element
from screw_dynamics.model.group_joints import motions
from screw_dynamics.model.inertial_parameters import NAMES, UPPER
from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import tilde
from screw_dynamics.utils import checks

from .friction import smooth_friction
from .smoothing import Piece, autocovariances, check_efforts, correlation_times, motion_pieces

FRICTION = ("model", "estimate", "none")
WINDOW = 0.2            # s: much faster motions are filtered out
REST = 0.01             # rad/s or m/s: slower joints with friction are not used, since the sign of friction is unknown
LEAST_MASS, SIZE = 1.0, 0.1         # kg, m: minimum mass and size of the expected load
SIGNAL = 3.0            # minimum ratio of an expected parameter to its standard deviation to be observable
ROUNDING = 1e-6         # of the efforts: lower bound of residuals
UNEXPLAINED = 0.5       # of the efforts: above this residual the model does not fit the robot


class Payload(NamedTuple):
    """Inertial parameters of a load, the result of `identify_payload`.

    Parameters
    ----------
    mass : float
        Mass in kg.
    com : ndarray (3,)
        Center of mass in the link's frame, m.
    inertia : ndarray (3, 3)
        Inertia about the center of mass, kg m^2; 0 unless it is fully observable.
    parameters : ndarray (10,)
        Parameters as in Robot.inertial_parameters, about the origin of the link's frame.
    standard_deviations : ndarray (10,)
        Standard deviations of the parameters; infinite if not observable.
    observable : ndarray (10,) of bool
        True for observable parameters. The others are set to 0.
    samples : int
        Number of recorded states that were used.
    residual : float
        Root mean square of the unexplained efforts, N m and N.
    effort : float
        Root mean square of the measured efforts.
    """

    mass: float                         # kg
    com: np.ndarray                     # (3,) center of mass in the link's frame, m
    inertia: np.ndarray                 # (3, 3) about the center of mass, kg m^2; 0 unless it is fully observable
    parameters: np.ndarray              # (10,) as Robot.inertial_parameters, about the origin of the link's frame
    standard_deviations: np.ndarray     # (10,) of the parameters; infinite if not observable
    observable: np.ndarray              # (10,) bool
    samples: int                        # number of recorded states used
    residual: float                     # root mean square of the unexplained efforts, N m and N
    effort: float                       # root mean square of the measured efforts

    def require_plausible(self) -> None:
        """Raise ValueError if the payload is not plausible.

        Raises
        ------
        ValueError
            If efforts are not explained, or the mass is significantly negative. The recording may then be of another
            robot, or the efforts may have other units or signs.
        """
        if self.residual > UNEXPLAINED * self.effort:
            raise ValueError(f"the residual is {self.residual:.4g} N m, must be at most {UNEXPLAINED:.0%} of the "
                             f"efforts, {self.effort:.4g} N m: a payload, with the mass {self.mass:.4g} kg, does not "
                             "explain them")
        if self.mass < -SIGNAL * self.standard_deviations[0]:
            raise ValueError(f"the mass is {self.mass:.4g} kg, +- {self.standard_deviations[0]:.2g}, must be >= 0; the "
                             f"residual is {self.residual:.4g} N m for efforts of {self.effort:.4g} N m")

    def require_physical(self) -> None:
        """Raise ValueError unless mass and center of mass are observable and a rigid body can have the parameters."""
        unknown = [name for name, seen in zip(NAMES[:4], self.observable, strict=False) if not seen]
        if unknown:
            raise ValueError(f"{', '.join(unknown)} not observable: turn the link about two horizontal axes")
        if self.mass <= 0.0:
            raise ValueError(f"the mass is {self.mass:.4g} kg, +- {self.standard_deviations[0]:.2g}, must be > 0")
        moments = np.linalg.eigvalsh(self.inertia)
        if self.observable.all() and not (moments[0] > 0.0 and moments[2] <= moments[0] + moments[1]):
            listed = ", ".join(f"{x:.3g}" for x in moments)
            raise ValueError(f"no rigid body can have the principal moments {listed} kg m^2")


def identify_payload(robot: Robot, link: str, t: ArrayLike, q: ArrayLike, tau: ArrayLike, friction: str = "model",
                     window: float = WINDOW, forces: Sequence[Element] = ()) -> Payload:
    """Estimate the load on a link, relative to the model, from a recorded motion.

    Parameters
    ----------
    robot : Robot
        Model of the robot.
    link : str
        Link that carries the load.
    t : array_like (m,)
        Times in s.
    q : array_like (m, nq)
        Positions.
    tau : array_like (m, n)
        Efforts. Those of a floating base are 0 without contacts, and are used like others. Efforts that are NaN are
        omitted.
    friction : {"model", "estimate", "none"}, optional
        Subtract the model's damping and Coulomb friction from the efforts; estimate them per joint along with the load;
        or neglect them.
    window : float, optional
        Time in s over which positions and efforts are smoothed.
    forces : sequence of Element, optional
        Force elements of screw_dynamics.forces that act during the recording, at the times t.

    Returns
    -------
    Payload
        Mass, center of mass and inertia of the load, with standard deviations.

    Raises
    ------
    ValueError
        If the recording is too short, or an effort is infinite.

    Notes
    -----
    Velocities and accelerations are derivatives of q, which is filtered like the efforts, in each gap-free segment of
    the recording. Joints with friction are omitted while slower than REST.

    Joints are weighted by the residual's variance. Standard deviations follow from the residual and its correlation in
    time. A parameter is observable if that of a load of the estimated mass, at least 1 kg, and of size 0.1 m is at
    least three standard deviations. The bias from noise of q in the accelerations, which reduces inertias, is
    corrected.
    """
    robot.model.known_link(link)
    checks.one_of("friction", friction, FRICTION)
    q, tau = checks.real_numbers("q", q, robot.nq), checks.real_numbers("tau", tau, robot.n)
    check_efforts(robot.model, tau)
    t, window = checks.real_numbers("t", t, len(q)), checks.positive("window", window)
    found = motion_pieces(robot, t, q, tau, window, forces=forces)
    rows = [_equations(robot, link, piece, friction) for piece in found]
    axes = 0, 0, 0, 1, 1     # the time axis of each array
    equations = Equations(*map(np.concatenate, zip(*rows, strict=True), axes))
    noise = np.average([piece.acceleration_noise for piece in found], axis=0, weights=[len(piece.q) for piece in found])
    moving = _moving(robot, link)
    return _solve(equations, noise[moving], sum(len(piece.q) for piece in found), tau[:, moving])


class Equations(NamedTuple):
    """Equations b = Y x at N instants for the n joints that move the link; x = phi, then friction if it is estimated.

    Y and b are 0 where no equation holds. Y_k, b_k: their derivatives with respect to the acceleration of joint k."""

    Y: np.ndarray       # (N, n, 10 + f)
    b: np.ndarray       # (N, n)
    valid: np.ndarray   # (N, n) bool
    Y_k: np.ndarray     # (n, N, n, 10 + f)
    b_k: np.ndarray     # (n, N, n)


def _moving(robot, link):
    """Return the indices of the velocities that move a link."""
    q = robot.integrate(robot.neutral(), np.random.default_rng(0).uniform(-1.0, 1.0, robot.n))
    joints = np.flatnonzero(np.abs(robot.jacobian(q, link)).max(axis=0) > 0.0)
    if not len(joints):
        raise ValueError(f"no joint moves link '{link}'")
    return joints


def _equations(robot: Robot, link: str, piece: Piece, friction: str) -> Equations:
    joints, kept = _moving(robot, link), piece.kept
    q, qd, qdd = piece.q[kept], piece.qd[kept], piece.qdd[kept]
    J = robot.jacobian(q, link)
    gravity = np.einsum("kji,j->ki", robot.forward_kinematics(q, link)[:, :3, :3], robot.gravity)
    twist = np.einsum("kij,kj->ki", J, qd)
    acceleration = np.einsum("kij,kj->ki", J, qdd) + np.einsum(
        "kij,kj->ki", robot.jacobian_derivative(q, qd, link), qd)
    J_T = J[:, :, joints].swapaxes(1, 2)
    Y = J_T @ regressor(twist, acceleration, gravity)
    still = np.zeros_like(twist)
    Y_k = np.stack([J_T @ regressor(still, J[:, :, k], np.zeros(3)) for k in joints])
    effort = piece.effort - smooth_friction(robot, piece.qd) if friction == "model" else piece.effort
    b = (piece.smooth(effort) - robot.inverse_dynamics(q, qd, qdd))[:, joints]
    b_k = -robot.mass_matrix(q)[:, joints][:, :, joints].swapaxes(0, 1)
    rubs = np.concatenate([np.full(len(motions(kind)), kind != "free") for kind in robot.model.joint_kinds])[joints]
    if friction == "estimate":
        columns = _friction_columns(piece, joints, rubs)
        Y, Y_k = np.concatenate([Y, columns], axis=2), np.concatenate([Y_k, np.zeros((len(joints), *columns.shape))], 3)
    resting = piece.smooth((np.abs(piece.qd) < REST).astype(float))[:, joints] > 0.1
    sticks = robot.model.friction[joints] > 0.0 if friction == "model" else rubs & (friction == "estimate")
    valid = np.isfinite(b) & ~(resting & sticks)
    b = np.where(valid, b, 0.0)
    return Equations(Y * valid[..., None], b, valid, Y_k * valid[..., None], b_k * valid)


def _friction_columns(piece: Piece, joints: np.ndarray, rubs: np.ndarray) -> np.ndarray:
    """Return columns (k, n, 2 r) of friction: for each of r joints with friction its filtered rate and sign, in its
    row."""
    rate = piece.qd[:, joints]
    viscous, dry = piece.smooth(rate), piece.smooth(smooth_sign(rate))
    unit = np.eye(len(joints))[:, rubs]
    return np.concatenate([viscous[:, :, None] * unit, dry[:, :, None] * unit], axis=2)


def _solve(equations: Equations, noise: np.ndarray, samples: int, tau: np.ndarray) -> Payload:
    """Return the Payload by three iterations of weighted least squares; each updates weights and expected load."""
    Y, b, valid = equations[:3]
    counts = valid.sum(axis=0)
    if counts.sum() <= Y.shape[2]:
        raise ValueError("joints with friction were at rest nearly all the time, or efforts are missing: "
                         f"{counts.sum()} equations for {Y.shape[2]} unknowns")
    least = ROUNDING * max(np.abs(b).max(), 1.0)
    weight, mass, smallest = np.ones(b.shape[1]), LEAST_MASS, 0.0
    for _ in range(3):
        scale = max(LEAST_MASS, abs(mass)) * np.array([1.0] + [SIZE] * 3 + [SIZE**2] * 6)
        x, deviation = _weighted(equations, noise, weight, scale, smallest)
        rest = b - Y @ x
        mean = np.sum(rest**2, axis=0) / np.maximum(counts, 1) * counts.sum() / (counts.sum() - Y.shape[2])
        covariances = autocovariances(rest, valid, len(rest))
        weight = 1.0 / (correlation_times(covariances) * np.maximum(mean, least**2))
        mass, smallest = x[0], SIGNAL**2
    observable = deviation * SIGNAL < scale
    phi = np.where(observable, x[:10], 0.0)
    com = phi[1:4] / phi[0] if observable[0] and phi[0] != 0.0 else np.zeros(3)
    inertia = np.zeros((3, 3))
    if observable.all():
        inertia = _on_inertia(np.eye(3)) @ phi[4:] - phi[0] * (com @ com * np.eye(3) - np.outer(com, com))
    return Payload(float(phi[0]), com, inertia, phi, np.where(observable, deviation, np.inf), observable, samples,
                   float(np.sqrt(np.sum(rest**2) / counts.sum())), float(np.sqrt(np.nanmean(tau**2))))


def _weighted(equations, noise, weight, scale, smallest):
    """Return the solution x and the standard deviations (10,) of phi, for weights (inverse variances) of the joints.

    The expected effect of acceleration noise on the products of Y and b is subtracted from the normal equations.
    Directions of phi / scale with less than the `smallest` information are omitted; their uncertainty is set to 1, the
    size of an expected load."""
    Y, b, _, Y_k, b_k = equations
    root = np.sqrt(weight)[:, None]
    A, d, A_k, d_k = Y * root, b * root[:, 0], Y_k * root, b_k * root[:, 0]
    G = np.einsum("kja,kjb->ab", A, A, optimize=True) - np.einsum("i,ikja,ikjb->ab", noise, A_k, A_k, optimize=True)
    c = np.einsum("kja,kj->a", A, d) - np.einsum("i,ikja,ikj->a", noise, A_k, d_k, optimize=True)
    eliminate = G[:10, 10:] @ np.linalg.pinv(G[10:, 10:], hermitian=True)
    information, V = np.linalg.eigh(scale[:, None] * (G[:10, :10] - eliminate @ G[10:, :10]) * scale)
    seen = information > max(smallest, 1e-12 * information[-1])
    V, hidden = V[:, seen] * scale[:, None], V[:, ~seen] * scale[:, None]
    phi = V @ ((V.T @ (c[:10] - eliminate @ c[10:])) / information[seen])
    friction = np.linalg.pinv(G[10:, 10:], hermitian=True) @ (c[10:] - G[10:, :10] @ phi)
    deviation = np.sqrt(np.sum(V**2 / information[seen], axis=1) + np.sum(hidden**2, axis=1))
    return np.concatenate([phi, friction]), deviation


def regressor(twist: np.ndarray, acceleration: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """Return Y (..., 6, 10) with the wrench Y phi of a rigid body, from its body-fixed twist (..., 6), the twist's
    derivative, and gravity (..., 3) in its frame.

    With a = v' + w x v - gravity the force is m a + w' x m c + w x (w x m c), the torque m c x a + Theta w' +
    w x Theta w."""
    w, alpha = twist[..., :3], acceleration[..., :3]
    a = acceleration[..., 3:] + np.cross(w, twist[..., 3:]) - gravity
    W = tilde(w)
    Y = np.zeros((*a.shape[:-1], 6, 10))
    Y[..., :3, 1:4] = -tilde(a)
    Y[..., :3, 4:] = _on_inertia(alpha) + W @ _on_inertia(w)
    Y[..., 3:, 0] = a
    Y[..., 3:, 1:4] = tilde(alpha) + W @ W
    return Y


def _on_inertia(v):
    """Return (..., 3, 6) with on_inertia(v) (xx, xy, yy, xz, yz, zz) = Theta v."""
    L = np.zeros((*v.shape, 6))
    for column, (i, j) in enumerate(zip(*UPPER, strict=True)):
        L[..., i, column] = v[..., j]
        L[..., j, column] = v[..., i]
    return L
