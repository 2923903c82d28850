"""Provenance of results: the hash of the model, and the version of this package."""
import hashlib

import numpy as np

from screw_dynamics.robot import Robot


def model_hash(robot: Robot) -> str:
    """Return a hash of a robot's model and gravity, independent of the path of its description."""
    return hashlib.sha256(f"{robot.model.digest} {np.asarray(robot.gravity).tolist()}".encode()).hexdigest()[:16]


def provenance(robot: Robot | None) -> dict[str, str | None]:
    """Return columns of a row: the hash of the model, or None, and the version of this package."""
    from screw_dynamics import __version__
    return {"model": None if robot is None else model_hash(robot), "version": __version__}
