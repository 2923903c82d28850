"""Distances in a scene, and inverse kinematics with clearance from obstacles."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .avoidance import AvoidanceResult, solve
from .results import Distances


class ScenePlanning:
    """Methods for distances and inverse kinematics."""

    def distances(self: Any, q: ArrayLike) -> Distances:
        """Compute the distances of all pairs.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.

        Returns
        -------
        Distances
            Least gap, nearest points and gradient of each pair of scene.pairs.
        """
        robot, q = self.robot, self.contact_model.configurations(q)
        found, lead = self.contact_model.touches(q, far=True), q.shape[:-1]
        count = len(self.contact_model.pairs)
        gap, first, second = np.full((*lead, count), np.inf), *(np.full((*lead, count, 3), np.nan) for _ in range(2))
        gradient = np.zeros((*lead, count, self.n))
        for k, pair in enumerate(self.contact_model.pairs):
            mine = np.where(found.pair == k, found.gap, np.inf)
            if not mine.shape[-1]:
                continue
            at = mine.argmin(axis=-1)[..., None]
            gap[..., k] = np.take_along_axis(mine, at, axis=-1)[..., 0]
            p, n = (np.take_along_axis(x, at[..., None], axis=-2)[..., 0, :] for x in (found.point, found.normal))
            half = 0.5 * gap[..., k, None] * n
            first[..., k, :], second[..., k, :] = p + half, p - half
            for sign, collider in ((1.0, pair.first), (-1.0, pair.second)):
                link = self.contact_model.colliders[collider].link
                C, J = robot.forward_kinematics(q, link), robot.jacobian(q, link, "hybrid")
                arm = p - C[..., :3, 3]
                gradient[..., k, :] += sign * (np.einsum("...i,...ij->...j", n, J[..., 3:, :])
                                               + np.einsum("...i,...ij->...j", np.cross(arm, n), J[..., :3, :]))
        return Distances(gap, first, second, gradient)

    def inverse_kinematics(self: Any, pose: ArrayLike, link: str, q0: ArrayLike | None = None, *,
                           clearance: float = 0.0, pairs: Iterable[Sequence[str]] | None = None,
                           joints: Iterable[str] | None = None,
                           limits: bool = True, position_tolerance: float = 1e-6, orientation_tolerance: float = 1e-6,
                           attempts: int = 20, steps: int = 100, seed: int = 0) -> AvoidanceResult:
        """Find a configuration at which a link has a pose and pairs have a clearance.

        Parameters
        ----------
        pose : array_like (4, 4)
            Pose of the link in the root link's frame.
        link : str
            Name of the link.
        q0 : array_like (nq,), optional
            Configuration at which the search starts, by default neutral().
        clearance : float, optional
            Least gap of the pairs in m.
        pairs : iterable of (str, str), optional
            Names as in scene.pairs. By default, all pairs whose distance changes with the joints that move.
        joints : iterable of str, optional
            Joints that move, by default all. Free bodies and other Lie-group joints keep their configuration in q0.
        limits : bool, optional
            Keep the joint limits.
        position_tolerance : float, optional
            Largest error of the position in m.
        orientation_tolerance : float, optional
            Largest error of the orientation in rad.
        attempts : int, optional
            Largest number of starts: q0, then random configurations.
        steps : int, optional
            Largest number of quadratic programs from each start. The solver is daqp, the extra [ik].
        seed : int, optional
            Seed of the random configurations.

        Returns
        -------
        AvoidanceResult
            Configuration q (nq,) and its errors. `success`: True if the pose is reached within the tolerances with the
            clearance. Otherwise q is the best configuration found, and `pair`, if not None, is a pair closer than the
            clearance.

        Notes
        -----
        Each start is the result of Robot.inverse_kinematics. If that fails from q0, the search ends with the first
        start.
        """
        return solve(self, pose, link, q0, clearance, pairs, joints, limits, position_tolerance, orientation_tolerance,
                     attempts, steps, seed)
