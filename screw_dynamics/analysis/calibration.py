"""Geometric sensitivities of a link's pose, [MD] 6.2, and a minimal set of parameters for calibration. No ROS. May
import robot and lower layers.

The pose of a link is the product of exponentials C = B_1 exp(X_1 q_1) ... B_k exp(X_k q_k) F over the joints that move
it, with its pose F in the last body: model.relative_poses, model.screws_body, and model.frames. Sensitivities are
body-fixed twists of the link, C^-1 dC, and zero for joints that do not move it. A pose changes as B exp(m), with six
parameters m that are 0 at the nominal geometry."""
from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import Ad_matrix, tilde
from screw_dynamics.screws.groups import se3
from screw_dynamics.utils import checks

SMALL = 1e-9            # singular values of ad_X below this fraction of the largest count as 0


class Sensitivities(NamedTuple):
    """Sensitivities of a link's pose, as body-fixed twists of the link.

    Parameters
    ----------
    by_screws : ndarray (..., 6, b, 6)
        Twists by each entry of the screws X_j of b bodies.
    by_poses : ndarray (..., 6, b, 6)
        Twists by each parameter of the poses B_j.
    by_frame : ndarray (6, 6)
        Twists by each parameter of the link's pose F in its body.
    """

    by_screws: np.ndarray
    by_poses: np.ndarray
    by_frame: np.ndarray


def geometric_sensitivities(robot: Robot, q: ArrayLike, link: str) -> Sensitivities:
    """Compute the sensitivities of a link's pose to the geometry of the robot.

    Parameters
    ----------
    robot : Robot
        Robot with joints of one degree of freedom.
    q : array_like (..., n)
        Configurations.
    link : str
        Name of a link other than the root.

    Returns
    -------
    Sensitivities
        Sensitivities by bodies, in the order of model.body_names.

    Raises
    ------
    ValueError
        If the robot has Lie-group joints, or the link is the root.

    Notes
    -----
    A screw may change by any dX: its direction and position by the motions of `axis_motions`, its pitch, and its
    length, which is a gear ratio. The twist is ``Ad_E^-1 dexp_(-X q)(dX) q`` for dX, where E is the link's pose in the
    body, and ``Ad^-1_(exp(X q) E) m`` for m, at B.
    """
    checks.coordinates_alone("geometric_sensitivities", robot.model)
    model, q = robot.model, checks.real_numbers("q", q, robot.n)
    b, path = len(model.parents), _path(model, _body(model, link))
    C, tip = robot.body_poses(q), robot.forward_kinematics(q, link)
    angle, X = q[..., model.coordinates, None, None], np.broadcast_to(model.screws_body[:, None], (b, 6, 6))
    to_tip = np.linalg.inv(tip)[..., None, :, :] @ C                                        # E^-1, (..., b, 4, 4)
    twist = angle * se3.dexp(-angle * X, np.eye(6)) * path[:, None, None]                   # (..., b, parameter, 6)
    by_screws = np.einsum("...bij,...bkj->...ibk", Ad_matrix(to_tip), twist)
    before = to_tip @ np.linalg.inv(se3.exp(angle[..., 0] * model.screws_body))             # (exp(X q) E)^-1
    by_poses = np.moveaxis(Ad_matrix(before) * path[:, None, None], -3, -2)
    return Sensitivities(by_screws, by_poses, np.eye(6))


def axis_motions(X: ArrayLike) -> np.ndarray:
    """Compute the motions of a joint's axis that change its screw.

    Parameters
    ----------
    X : array_like (6,)
        Screw of the joint.

    Returns
    -------
    ndarray (6, r)
        Orthonormal columns U. They change the screw by [U, X], which preserves pitch and length. r is 4 for joints that
        rotate, and 2 for prismatic joints, whose position does not matter.
    """
    X = checks.vector("X", X, 6)
    ad = np.block([[tilde(X[:3]), np.zeros((3, 3))], [tilde(X[3:]), tilde(X[:3])]])
    _, sizes, rows = np.linalg.svd(ad)
    return rows[sizes > SMALL * max(sizes[0], 1.0)].T


class GeometricParameters:
    """A minimal, complete set of parameters p for the pose of a link on a robot.

    Parameters
    ----------
    robot : Robot
        Robot with p = 0.
    link : str
        Name of a link other than the root.

    Raises
    ------
    ValueError
        If the robot has Lie-group joints, or the link is the root.

    Notes
    -----
    The parameters are the axis motions of each joint that moves the link, 4 for rotating and 2 for prismatic joints,
    and the 6 of the link's pose in its body. `names` are the names of the parameters, `size` is their number.

    They also cover joint zero errors and an error of the measurement frame relative to the root: a motion of all axes
    and of the link has the same effect (He, Zhao, Yang, Yang, 2010). If a mimic joint turns back by the angle of its
    parallel leader, or slides along with it, two of its parameters do not affect poses.
    """

    def __init__(self, robot: Robot, link: str):
        checks.coordinates_alone("GeometricParameters", robot.model)
        self.robot, self.link, model = robot, link, robot.model
        self.body = _body(model, link)
        self.joints = np.flatnonzero(_path(model, self.body)).tolist()
        self._motions = [axis_motions(model.screws_body[j]) for j in self.joints]
        ends = np.cumsum([0, *(U.shape[1] for U in self._motions)])
        self._slices = [slice(*span) for span in zip(ends[:-1], ends[1:], strict=True)]
        self.names = tuple(f"{model.body_joints[j]} {k}" for j, U in zip(self.joints, self._motions, strict=True)
                           for k in range(U.shape[1])) + tuple(f"{link} {x}" for x in ("rx", "ry", "rz", "x", "y", "z"))
        self.size = len(self.names)

    def changed(self, p: ArrayLike) -> Robot:
        """Return the robot with the geometry given by parameters p.

        Parameters
        ----------
        p : array_like (size,)
            Parameters.

        Returns
        -------
        Robot
            Robot with screws ``Ad_exp(U p_j) X_j`` and the link at F exp(p_end). Inertias are unchanged in the body
            frames.
        """
        p = checks.vector("p", p, self.size)
        model, screws = self.robot.model, self.robot.model.screws_body.copy()
        for j, motion in zip(self.joints, self._moved(p), strict=True):
            screws[j] = se3.Ad(se3.exp(motion), screws[j])
        frames = dict(model.frames)
        frames[self.link] = self.body, frames[self.link][1] @ se3.exp(p[-6:])
        return Robot(replace(model, screws_body=screws, frames=frames), self.robot.gravity, self.robot.representation)

    def jacobian(self, p: ArrayLike, q: ArrayLike, robot: Robot | None = None) -> np.ndarray:
        """Compute the derivative of the link's pose with respect to the parameters.

        Parameters
        ----------
        p : array_like (size,)
            Parameters.
        q : array_like (..., n)
            Configurations.
        robot : Robot, optional
            Result of changed(p), if already computed.

        Returns
        -------
        ndarray (..., 6, size)
            Body-fixed twists of the link by each parameter.
        """
        p, robot = checks.vector("p", p, self.size), robot or self.changed(p)
        found = geometric_sensitivities(robot, q, self.link)
        J = np.zeros((*found.by_screws.shape[:-3], 6, self.size))
        for j, span, U, motion in zip(self.joints, self._slices, self._motions, self._moved(p), strict=True):
            by_p = se3.ad(se3.dexp(motion, U.T), robot.model.screws_body[j])                # dX = [dexp_m (U dp), X]
            J[..., span] = found.by_screws[..., j, :] @ by_p.T
        J[..., -6:] = se3.dexp(-p[-6:], np.eye(6)).T
        return J

    def _moved(self, p):
        return [U @ p[span] for U, span in zip(self._motions, self._slices, strict=True)]


def _body(model, link):
    """Return the body of a link. Raises ValueError for the root, the reference of the poses."""
    if model.known_link(link) == model.root:
        raise ValueError(f"link {link!r} is the root, the reference frame of the poses: pass another link")
    return model.frames[link][0]


def _path(model, body):
    """Return the mask (b,) of a body and its ancestors."""
    found = np.zeros(len(model.parents), dtype=bool)
    while body >= 0:
        found[body], body = True, model.parents[body]
    return found
