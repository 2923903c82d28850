"""Distances in a scene, and inverse kinematics with clearance from what stands in it."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .avoidance import AvoidanceResult, solve
from .results import Distances


class ScenePlanning:
    """The methods of distances and of inverse kinematics."""

    def distances(self: Any, q: ArrayLike) -> Distances:
        """The Distances of all pairs at configurations q (..., nq)."""
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
        """A configuration q (nq,) within the joint limits at which a link has a pose (4, 4) in the root link's frame,
        and pairs have gaps of `clearance` (m) at least.

        pairs: names as in scene.pairs; by default all whose distance changes with the joints that move: those named by
        `joints`, or all; free bodies and other joints on groups stay where q0 has them, or neutral(). The search starts
        at Robot.inverse_kinematics from q0, and if that fails at up to `attempts` random configurations, by the seed;
        from each it takes up to `steps` quadratic programs, for which it takes daqp, the extra [ik].

        success: the pose is reached within the tolerances and the clearance is kept. Else q is the nearest that was
        found, and pair, if not None, is the one that is too near there."""
        return solve(self, pose, link, q0, clearance, pairs, joints, limits, position_tolerance, orientation_tolerance,
                     attempts, steps, seed)
