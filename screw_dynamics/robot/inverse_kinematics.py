"""Inverse kinematics of a robot."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.model import Model
from screw_dynamics.robot.searches import InverseKinematicsResult, Searches, are_points
from screw_dynamics.utils.array_adapters import Axis, any_foreign

from .configurations import Configurations
from .evaluation import Threads
from .kinematics import Kinematics


class InverseKinematics(Kinematics, Configurations):
    """Methods for inverse kinematics."""

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        self._searches = Searches(self)

    def inverse_kinematics(self, pose: ArrayLike, link: str | Sequence[str], q0: ArrayLike | None = None, *,
                           parts: str | Sequence = "pose", reference: str | Sequence[str | None] | None = None,
                           q_rest: ArrayLike | None = None, rest_weight: ArrayLike = 1.0,
                           joints: Iterable[str] | None = None, limits: bool = True,
                           position_tolerance: float = 1e-6, orientation_tolerance: float = 1e-6, attempts: int = 100,
                           seed: int = 0, threads: Threads = None) -> InverseKinematicsResult:
        """Find configurations within the joint limits at which links have given poses.

        Parameters
        ----------
        pose : array_like (..., 4, 4)
            Pose of the link in the frame of the reference link, or (..., k, 4, 4) of k links. With parts="position"
            also a point (..., 3), m, for the origin of the link's frame.
        link : str or sequence of str
            Name of the link, or of k links whose poses are reached simultaneously.
        q0 : array_like (..., nq), optional
            Initial configurations, ``q_rest`` by default. If the search from there fails, or neither is given, it
            restarts at random configurations within the limits.
        parts : {"pose", "position", "orientation"}, array_like (6,) or sequence of k of these, optional
            Constrained part of the pose. Six numbers, 0 or 1, select rows of its error, angular ones first, in the axes
            of the goal: [1, 1, 0, 1, 1, 1] leaves the rotation about its z axis free.
        reference : str or sequence of k str, optional
            Reference link, the root by default.
        q_rest : array_like (nq,), optional
            Preferred configuration: of the solutions near the start, the one with the least sum of rest_weight (q -
            q_rest)^2 is selected.
        rest_weight : float or array_like (n,), optional
            Weights in [0, 1].
        joints : iterable of str, optional
            Joints that may move. Others stay at the start, or at neutral without one. Lie-group joints (floating bases,
            planar and ball joints) never move.
        limits : bool, optional
            If false, ignore joint limits.
        position_tolerance : float, optional
            Largest position error of a solution, m.
        orientation_tolerance : float, optional
            Largest orientation error of a solution, rad.
        attempts : int, optional
            Largest number of starts, the given one included.
        seed : int, optional
            Seed of the random starts.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        InverseKinematicsResult
            Tuple (q, success, position_error, orientation_error, attempts). q (..., nq) are configurations. ``success``
            (...) is true where the errors at q, in m and rad, are within the tolerances; elsewhere q is the best
            configuration of all attempts. ``attempts`` is the number of starts.

        Raises
        ------
        ValueError
            If a pose or ``q0`` is not finite.

        Notes
        -----
        Joints with a range of more than a turn end as near to the start as possible, or to neutral without one.

        docs/inverse_kinematics.md describes the method.
        """
        if any_foreign((pose, q0)):
            return self._searched_on(pose, q0, threads, link=link, parts=parts, reference=reference, q_rest=q_rest,
                                     rest_weight=rest_weight, joints=None if joints is None else list(joints),
                                     limits=limits, position_tolerance=position_tolerance, seed=seed,
                                     orientation_tolerance=orientation_tolerance, attempts=attempts)
        return self._searches.solve(pose, link, q0, parts, reference, q_rest, rest_weight, joints, limits,
                                    position_tolerance, orientation_tolerance, attempts, seed, threads)

    def _searched_on(self, pose, q0, threads, **options):
        """Return the result of inverse_kinematics for poses and starts in Dask arrays."""
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
