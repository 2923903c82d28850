"""Contacts with the environment: total wrenches, centers of pressure, and inverse dynamics with contacts. No ROS. May
import robot and lower layers.

Contacts are bilateral here: friction cones and unilateral contacts are inequalities, which need a quadratic program."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import tilde
from screw_dynamics.screws.groups import se3
from screw_dynamics.utils import checks

Wrenches = Mapping[str, ArrayLike]
RANK = 1e-12            # eigenvalues of the stance's Gram matrix below this fraction of the largest count as 0
TOLERANCE = 1e-9        # residual of passive joints, relative to the largest effort and the robot's weight


# ------------------------------------------------------------------------------------------------- total wrenches
def total_wrench(robot: Robot, q: ArrayLike, wrenches: Wrenches) -> np.ndarray:
    """Sum wrenches on links, about the origin and along the axes of the root link.

    Parameters
    ----------
    robot : Robot
        Robot.
    q : array_like (..., nq)
        Configurations.
    wrenches : dict of str to array_like (..., 6)
        Wrench on each named link at its origin, torque and force, resolved in the link's frame.

    Returns
    -------
    ndarray (..., 6)
        Total wrench in the root link's frame.
    """
    total = np.zeros((*np.shape(q)[:-1], 6))
    for link, wrench in checks.wrenches(wrenches, robot.link_names).items():
        wrench = checks.real_numbers(f"the wrench on link {link!r}", wrench, 6)
        total = total + se3.Ad_dual(robot.forward_kinematics(q, link), wrench)
    return total


def required_wrench(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                    external: Wrenches | None = None) -> np.ndarray:
    """Compute the total wrench of all contacts that a motion requires.

    Parameters
    ----------
    robot : Robot
        Robot.
    q : array_like (..., nq)
        Configurations.
    qd : array_like (..., n)
        Velocities.
    qdd : array_like (..., n)
        Accelerations.
    external : dict of str to array_like (..., 6), optional
        Other wrenches, as in Robot.inverse_dynamics.

    Returns
    -------
    ndarray (..., 6)
        Wrench about the origin and along the axes of the root link: the rate of the momentum minus the weight and
        `external`. For a robot on a fixed base, it is the wrench on the base.
    """
    rate, com = robot.centroidal_momentum_rate(q, qd, qdd), robot.center_of_mass(q)
    force = rate[..., 3:] - robot.total_mass * robot.gravity
    wrench = np.concatenate([rate[..., :3] + np.cross(com, force), force], axis=-1)
    return wrench if external is None else wrench - total_wrench(robot, q, external)


# ------------------------------------------------------------------------------------------------- ZMP and CoP
def zero_moment_point(wrench: ArrayLike, point: ArrayLike = (0.0, 0.0, 0.0),
                      normal: ArrayLike = (0.0, 0.0, 1.0)) -> np.ndarray:
    """Compute the zero-moment point: the point of a plane where the torque of a wrench is along the plane's normal.

    Parameters
    ----------
    wrench : array_like (..., 6)
        Torque about the origin of its frame, and force.
    point : array_like (..., 3), optional
        Point of the plane, in the frame of the wrench.
    normal : array_like (..., 3), optional
        Normal of the plane, in the frame of the wrench.

    Returns
    -------
    ndarray (..., 3)
        Zero-moment point in the frame of the wrench; NaN if the force along the normal is 0.

    Raises
    ------
    ValueError
        If a normal is 0 0 0.

    References
    ----------
    Vukobratovic and Borovac (2004).
    """
    wrench, point, normal = (checks.real_numbers(name, x, size) for name, x, size in (
        ("wrench", wrench, 6), ("point", point, 3), ("normal", normal, 3)))
    if not normal.any(axis=-1).all():
        raise ValueError("normal must not be 0 0 0: it has no direction")
    force = wrench[..., 3:]
    torque = wrench[..., :3] - np.cross(point, force)                   # about the point
    pressure = (normal * force).sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(pressure != 0.0, point + np.cross(normal, torque) / pressure, np.nan)


def center_of_pressure(wrench: ArrayLike, point: ArrayLike = (0.0, 0.0, 0.0),
                       normal: ArrayLike = (0.0, 0.0, 1.0)) -> np.ndarray:
    """Compute the center of pressure of contacts in a plane.

    Parameters
    ----------
    wrench : array_like (..., 6)
        Total wrench of the contacts: torque about the origin of its frame, and force.
    point : array_like (..., 3), optional
        Point of the plane, in the frame of the wrench.
    normal : array_like (..., 3), optional
        Normal of the plane toward the robot, in the frame of the wrench.

    Returns
    -------
    ndarray (..., 3)
        Zero-moment point of the contacts; NaN if the force along the normal is not positive.

    Notes
    -----
    The wrench may be that of one contact or of all: the center of pressure of all is the mean of the single ones,
    weighted by their normal forces. The wrench on a link, in the link's frame, yields the point on its sole.

    References
    ----------
    Sardain and Bessonnet (2004).
    """
    found, force = zero_moment_point(wrench, point, normal), np.asarray(wrench, dtype=float)[..., 3:]
    return np.where((np.asarray(normal) * force).sum(axis=-1, keepdims=True) > 0.0, found, np.nan)


# ------------------------------------------------------------------------------------------------- inverse dynamics
class ContactEfforts(NamedTuple):
    """Efforts and contact wrenches of a motion, the result of `contact_inverse_dynamics`.

    Parameters
    ----------
    tau : ndarray (..., n)
        Efforts, 0 at passive joints.
    wrenches : dict of str to ndarray (..., 6)
        Wrenches on the links at their origins, resolved in their frames.
    forces : dict of str to ndarray (..., k, 3)
        Contact forces at the points of links with point contacts, along the axes of the links.
    """

    tau: np.ndarray                     # (..., n) efforts, 0 at passive joints
    wrenches: dict[str, np.ndarray]     # {link: (..., 6)} on the links at their origins, resolved in their frames
    forces: dict[str, np.ndarray]       # {link: (..., k, 3)} at the points of links with point contacts, in their axes


class _Stance(NamedTuple):
    """The links in contact and, for each, the wrenches (6, m) of its unknowns. points: None for a surface."""

    points: dict[str, np.ndarray | None]
    spans: dict[str, np.ndarray]

    def __str__(self):
        return ", ".join(f"{link} ({'surface' if at is None else f'{len(at)} point' + 's' * (len(at) != 1)})"
                         for link, at in self.points.items()) or "none"


def contact_inverse_dynamics(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                             contacts: Mapping[str, ArrayLike | None] | Sequence[str], effort_weights: ArrayLike = 1.0,
                             wrench_weights: ArrayLike | Mapping[str, ArrayLike] = 1.0,
                             passive: Iterable[str] | None = None, external: Wrenches | None = None) -> ContactEfforts:
    """Compute the efforts and the contact wrenches that cause a motion.

    Parameters
    ----------
    robot : Robot
        Robot.
    q : array_like (..., nq)
        Configurations.
    qd : array_like (..., n)
        Velocities.
    qdd : array_like (..., n)
        Accelerations. The motion is not checked: qd and qdd must keep the contacts at rest.
    contacts : dict of str to array_like (k, 3) or None, or sequence of str
        Links in contact: {link: None} for a surface contact, with any wrench, or {link: points} in the link's frame
        for point contacts, with any forces; or names of links with surface contacts.
    effort_weights : array_like, optional
        Weights (n,) of the efforts, or one number; >= 0.
    wrench_weights : array_like or dict of str to array_like, optional
        Weights of the wrenches, > 0: a number or (6,), torque and force, along the axes of the links; for all links, or
        {link: weights}. Point contacts use the last three.
    passive : iterable of str, optional
        Joints without motors. By default the free joints: a floating base.
    external : dict of str to array_like (..., 6), optional
        Other wrenches, as in Robot.inverse_dynamics.

    Returns
    -------
    ContactEfforts
        Efforts, wrenches and forces.

    Raises
    ------
    ValueError
        If the motion or its efforts are not finite, or if the contacts cannot provide the efforts of the passive
        joints; the message names these joints.

    Notes
    -----
    The equations M qdd + C qd + g = J^T W of the passive joints hold exactly. Among the solutions, the one with the
    least sum of effort_weights tau^2 and wrench_weights W^2 is returned.
    """
    required = robot.inverse_dynamics(q, qd, qdd, external)
    if not np.isfinite(required).all():
        raise ValueError("q, qd, qdd and the efforts of this motion must be finite")
    stance = _stance(robot, contacts)
    G = np.concatenate([np.zeros((*required.shape, 0)), *(                      # J^T: efforts of unknowns
        np.broadcast_to(np.swapaxes(robot.jacobian(q, link), -1, -2) @ span, (*required.shape, span.shape[1]))
        for link, span in stance.spans.items())], axis=-1)
    names = _passive(robot, passive)
    free = checks.joint_mask("passive", names, robot.v_slices, robot.n)
    weights = _weights("effort_weights", effort_weights, robot.n, positive=False)[~free]
    unknowns = _least(G[..., ~free, :], required[..., ~free], weights, _wrench_weights(stance, wrench_weights),
                      G[..., free, :], required[..., free])
    tau = np.where(free, 0.0, required - np.einsum("...ij,...j->...i", G, unknowns))
    left = np.abs(np.einsum("...ij,...j->...i", G, unknowns) - required)[..., free].max(axis=-1, initial=0.0)
    size = np.abs(required).max(axis=-1, initial=0.0) + robot.total_mass * np.linalg.norm(robot.gravity)
    if (left > TOLERANCE * size).any():
        where = np.argwhere(left > TOLERANCE * size)[0].tolist()
        raise ValueError(f"contacts {stance}: they cannot give the efforts that joint {', '.join(map(repr, names))} "
                         f"requires; {left[tuple(where)]:.3g} N or N m are left{f' in state {where}' * bool(where)}. "
                         "Add points, make one a surface, or change qdd")
    parts = np.split(unknowns, np.cumsum([span.shape[1] for span in stance.spans.values()])[:-1], axis=-1)
    by_link = dict(zip(stance.spans, parts, strict=False))
    return ContactEfforts(tau, {link: x @ stance.spans[link].T for link, x in by_link.items()},
                          {link: x.reshape(*x.shape[:-1], -1, 3) for link, x in by_link.items()
                           if stance.points[link] is not None})


def _least(G, required, weights, wrench_weights, G_passive, required_passive):
    """Return the x (..., m) that minimizes weights (required - G x)^2 + wrench_weights x^2, subject to G_passive x =
    required_passive.

    Uses the Schur complement of the passive joints. If the constraint has no solution, returns the nearest x."""
    K = np.swapaxes(G, -1, -2) * weights
    H = np.linalg.inv(K @ G + np.diag(wrench_weights))
    back = H @ np.swapaxes(G_passive, -1, -2)
    schur = np.linalg.pinv(G_passive @ back, rcond=RANK, hermitian=True)
    x = np.einsum("...ij,...j->...i", H @ K, required)
    for _ in range(3):                          # iterative refinement: removes the rounding errors of the inverses
        left = required_passive - np.einsum("...ij,...j->...i", G_passive, x)
        x = x + np.einsum("...ij,...j->...i", back @ schur, left)
    return x


def _stance(robot, contacts):
    """Return the stance of links {link: None or points}, or of names of links."""
    if isinstance(contacts, str) or not isinstance(contacts, (Mapping, list, tuple, set, frozenset)):
        raise ValueError(f"contacts must be names of links, or map them to points (k, 3) or None for a surface, "
                         f"not {checks.described(contacts)}")
    given = contacts if isinstance(contacts, Mapping) else dict.fromkeys(contacts)
    points: dict[str, np.ndarray | None] = {}
    spans = {}
    for link, at in given.items():
        robot.model.known_link(link)
        points[link] = None if at is None else checks.finite_numbers(
            f"the points of link {link!r}", at, 3).astype(float).reshape(-1, 3)
        if at is not None and not len(points[link]):
            raise ValueError(f"contacts: link {link!r} has no points; leave it out, or give None for a surface")
        spans[link] = np.eye(6) if at is None else np.concatenate(
            [np.concatenate([tilde(p), np.eye(3)]) for p in points[link]], axis=-1)
    return _Stance(points, spans)


def _passive(robot, passive):
    """Return the names of the joints without motors."""
    if passive is not None:
        return [passive] if isinstance(passive, str) else list(passive)
    return [name for name, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True) if kind == "free"]


def _weights(name, x, size, positive=True):
    """Return weights (size,), from one number or one per entry."""
    found = checks.vector(name, np.full(size, x) if np.ndim(x) == 0 else x, size)
    if not (found > 0.0 if positive else found >= 0.0).all():
        raise ValueError(f"{name} {found.tolist()} must be {'> 0' if positive else '>= 0'}")
    return found


def _wrench_weights(stance, given):
    """Return the weights (m,) of the unknowns of a stance."""
    found = [np.zeros(0)]
    for link, points in stance.points.items():
        if isinstance(given, Mapping) and link not in given:
            raise ValueError(f"wrench_weights: link {link!r} is in contact, but has no weights")
        weights = _weights(f"wrench_weights of link {link!r}", given[link] if isinstance(given, Mapping) else given, 6)
        found.append(weights if points is None else np.tile(weights[3:], len(points)))
    return np.concatenate(found)
