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
        """Find configurations within the joint limits at which links have given poses.

        Parameters
        ----------
        pose : array_like (..., 4, 4)
            Pose of the link in the frame of the reference link, or (..., k, 4, 4) of k links. With parts="position"
            also a point (..., 3), m, for the origin of the link's frame.
        link : str or sequence of str
            Name of the link, or of k links whose poses are reached at once.
        q0 : array_like (..., nq), optional
            Start of the search, ``q_rest`` by default. If the search from there fails, or neither is given, it starts
            at random configurations within the limits.
        parts : {"pose", "position", "orientation"}, array_like (6,) or sequence of k of these, optional
            Part of the pose that is asked for. Six numbers, 0 or 1, select rows of its error, angular ones first, in
            the axes of the goal: [1, 1, 0, 1, 1, 1] leaves the turn about its z axis free.
        reference : str or sequence of k str, optional
            Reference link, the root by default.
        q_rest : array_like (nq,), optional
            Preferred configuration: of all solutions near the start, select the one with the least sum of rest_weight
            (q - q_rest)^2.
        rest_weight : float or array_like (n,), optional
            Weights in [0, 1].
        joints : iterable of str, optional
            Joints that may move. Others stay at the start, or neutral without one, as Lie-group joints always do:
            floating bases, planar and ball joints.
        limits : bool, optional
            If false, ignore joint limits.
        position_tolerance : float, optional
            Largest position error of a solution, m.
        orientation_tolerance : float, optional
            Largest orientation error of a solution, rad.
        attempts : int, optional
            Largest number of starts, the given one included.
        seed : int, optional
            Seed, on which alone the random starts depend.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        InverseKinematicsResult
            Tuple (q, success, position_error, orientation_error, attempts). q (..., nq) are configurations. ``success``
            (...) is true where the errors at q, in m and rad, are within the tolerances; elsewhere q is the nearest
            that was found. ``attempts`` is the number of starts.

        Raises
        ------
        ValueError
            If a pose or ``q0`` is not finite.

        Notes
        -----
        Joints that can make more than a turn end as near to the start as they can, to neutral without one.

        The method is in docs/inverse_kinematics.md.
        """
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
