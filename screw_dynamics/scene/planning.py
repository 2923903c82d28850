"""Inverse kinematics in a scene, with clearance from what stands in it."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from .avoidance import AvoidanceResult, solve


class ScenePlanning:
    """The method of inverse kinematics."""

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
