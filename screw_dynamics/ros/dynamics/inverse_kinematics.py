"""The service ~/solve_inverse_kinematics: its request as arguments of Robot.inverse_kinematics, and its response."""

from collections.abc import Callable
from typing import Any

import numpy as np

from screw_dynamics.model.floating_base import FloatingBase
from screw_dynamics.robot import Robot
from screw_dynamics.robot.searches import InverseKinematicsResult
from screw_dynamics.screws import arrays

from ..node import messages
from ..node.base_state import read_pose
from .joint_request import JointRequest, non_negative

PARTS = "pose", "position", "orientation"       # names of the values of `parts` in a request
TOLERANCE = 1e-6        # m and rad, if the request has 0
MOST_LINKS = 20         # in a request
MOST_ATTEMPTS = 1000


def matrix(numbers: np.ndarray) -> np.ndarray:
    """Return the pose matrix (4, 4) of x y z, quaternion x y z w (7,)."""
    return arrays.pose_matrix((arrays.rotation_matrix(numbers[3:]), numbers[:3]))


def arguments(robot: Robot, request: Any, link: Callable[[str, str], str], base: FloatingBase | None,
              base_pose: Callable[[], np.ndarray]) -> dict[str, Any]:
    """Return the arguments of inverse kinematics in a request, without q0. Raises ValueError with the field at fault.

    link(name, field): returns the link of a name. base_pose(): returns x y z, quaternion x y z w (7,) of a floating
    base in the root link. Targets in the root link are converted to the base, which does not move."""
    names, count = request.links, len(request.links)
    if not names or count > MOST_LINKS:
        raise ValueError(f"links: {count} names, must be one or more, and at most {MOST_LINKS}")
    if len(request.poses) != count:
        raise ValueError(f"poses: {len(request.poses)} entries for {count} links")
    if len(request.parts) not in (0, count):
        raise ValueError(f"parts: {len(request.parts)} entries for {count} links, must be one each, or none")
    if request.attempts > MOST_ATTEMPTS:
        raise ValueError(f"attempts: {request.attempts}, at most {MOST_ATTEMPTS} are made")
    poses, references, parts = [], [], ["pose"] * count
    for k, part in enumerate(request.parts):
        if part >= len(PARTS):
            raise ValueError(f"parts[{k}]: {part}, must be POSE 0, POSITION 1, ORIENTATION 2")
        parts[k] = PARTS[part]
    at_rest = None
    for k, stamped in enumerate(request.poses):
        pose = matrix(read_pose(stamped.pose, f"poses[{k}].pose"))
        reference = link(stamped.header.frame_id, f"poses[{k}].header.frame_id")
        body, placement = robot.model.frames[reference]
        if base is not None and body < 0:
            at_rest = arrays.inverse_pose(matrix(base_pose())) if at_rest is None else at_rest
            pose, reference = at_rest @ placement @ pose, base.link
        poses.append(pose)
        references.append(reference)
    tolerances = {name: non_negative(request, name, TOLERANCE)
                  for name in ("position_tolerance", "orientation_tolerance")}
    return {"pose": np.array(poses), "link": [link(name, f"links[{k}]") for k, name in enumerate(names)],
            "reference": references, "parts": parts, "seed": request.seed, "attempts": request.attempts or 100,
            **tolerances}


def answer(response: Any, joints: JointRequest, found: InverseKinematicsResult, first: int) -> None:
    """Fill a response. first: the count of numbers of a floating base in q."""
    response.joint_names = joints.joint_names
    response.position = messages.floats(joints.arrange(found.q[first:]))
    response.position_error = float(found.position_error)
    response.orientation_error = float(found.orientation_error)
    response.attempts = int(found.attempts)
    if not found.success:
        response.message = (f"no solution was found: the nearest of {found.attempts} attempts is "
                            f"{found.position_error:.3g} m and {found.orientation_error:.3g} rad away")


def encode(response: Any, error: Exception | None) -> None:
    """Set success, unless there was an error or no solution was found."""
    response.message = response.message if error is None else str(error)
    response.success = not response.message


def start(request: Any, joints: JointRequest, neutral: np.ndarray, first: int) -> np.ndarray | None:
    """Return q0, or None if the request has no position."""
    if not len(request.position):
        return None
    return np.concatenate((neutral[:first], joints.read(request.position, "position")))
