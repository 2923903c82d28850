"""Inverse kinematics of a robot."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.foreign_arrays import Axis, any_foreign
from screw_dynamics.model.model import Model
from screw_dynamics.robot.searches import InverseKinematicsResult, Searches, are_points

from .configurations import Configurations
from .evaluation import Threads
from .kinematics import Kinematics


class InverseKinematics(Kinematics, Configurations):
    """The method of inverse kinematics."""

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        self._searches = Searches(self)

    def inverse_kinematics(self, pose: ArrayLike, link: str | Sequence[str], q0: ArrayLike | None = None, *,
                           parts: str | Sequence = "pose", reference: str | Sequence[str | None] | None = None,
                           q_rest: ArrayLike | None = None, rest_weight: ArrayLike = 1.0,
                           joints: Iterable[str] | None = None, limits: bool = True,
                           position_tolerance: float = 1e-6, orientation_tolerance: float = 1e-6, attempts: int = 100,
                           seed: int = 0, threads: Threads = None) -> InverseKinematicsResult:
        """Configurations q (..., nq) within the joint limits at which a link has a pose (..., 4, 4) in the frame of a
        reference link, the root unless named: (q, success, position_error, orientation_error, attempts).

        pose: with parts="position" also a point (..., 3), m, where the origin of the link's frame shall be.

        link: also a sequence of k links, whose poses (..., k, 4, 4) are to be taken at once. parts: what of a pose is
        asked for, "pose", "position", "orientation" or six of 0 and 1 for the rows of its error, angular ones first, in
        the axes of the goal: [1, 1, 0, 1, 1, 1] leaves the turn about its z axis free. reference and parts may be
        sequences of k. The search starts at q0 (..., nq), and if that fails, or without q0, at up to `attempts` random
        configurations within the limits, which depend on the seed alone.

        q_rest (nq,): of all solutions near the start, which is q_rest without q0, the one with the least sum of
        rest_weight (q - q_rest)^2, weights (n,) in [0, 1]. joints: names of those that may move, others stay at q0, or
        neutral without it, as joints on groups always do: floating bases, planar and ball joints. limits=False: ignore
        limits. Joints that can make more than a turn end as near to q0 as they can, to neutral without it.

        success: errors at the q that is returned are at most position_tolerance, m, and orientation_tolerance, rad.
        Else q is the nearest that was found. docs/inverse_kinematics.md has the method. ValueError for a pose or q0
        that is not finite."""
        if any_foreign((pose, q0)):
            return self._searched_on(pose, q0, threads, link=link, parts=parts, reference=reference, q_rest=q_rest,
                                     rest_weight=rest_weight, joints=None if joints is None else list(joints),
                                     limits=limits, position_tolerance=position_tolerance, seed=seed,
                                     orientation_tolerance=orientation_tolerance, attempts=attempts)
        return self._searches.solve(pose, link, q0, parts, reference, q_rest, rest_weight, joints, limits,
                                    position_tolerance, orientation_tolerance, attempts, seed, threads)

    def _searched_on(self, pose, q0, threads, **options):
        """Return the result of inverse_kinematics for poses and starts in arrays of Dask."""
        if any(hasattr(x, "dims") for x in (pose, q0)):
            raise ValueError("pose and q0 may be arrays of Dask, and not of xarray: pass array.data")
        several = () if isinstance(options["link"], str) else (Axis("link", len(options["link"])),)
        axes = (Axis("row", 3),) if are_points(pose, options["parts"]) else (Axis("row", 4), Axis("column", 4))
        given = {"pose": (pose, (*several, *axes))} | ({} if q0 is None else {"q0": q0})
        found, nq = self._method_on("_found", given, ("number",), (self.nq + 4,), threads=threads, **options), self.nq
        success, position, orientation, attempts = (found[..., nq + k] for k in range(4))
        return InverseKinematicsResult(found[..., :nq], success.astype(bool), position, orientation,
                                       attempts.astype(int))

    def _found(self, pose, q0=None, **options):
        """Return the result of inverse_kinematics in one array (..., nq + 4)."""
        q, *others = self.inverse_kinematics(pose, options.pop("link"), q0, **options)
        return np.concatenate([q, np.stack(others, axis=-1)], axis=-1)
