"""Force-torque sensors in joints, computed with a model that has a free joint at each sensor."""

from collections.abc import Callable, Mapping

import numpy as np

from screw_dynamics.description.urdf.reader import FREE
from screw_dynamics.robot import Robot

from ..settings import Settings
from ..snapshot import Snapshot


class ForceTorques:
    """The wrenches transmitted by joints, including fixed ones, between the child link and its parent.

    instrumented: the same robot, from `model_of(..., apart=joints)`, with a free joint in series with each of these
    joints. The free joint never moves, and the six efforts that keep it at rest are the transmitted wrench. One pass of
    inverse dynamics computes all sensors. child_links {joint: link}. Raises ValueError for a joint without a free
    joint."""

    def __init__(self, settings: Settings, robot: Robot, instrumented: Robot | None):
        self._settings, self._joints = settings, tuple(joint for joint in settings.force_torques if joint)
        self._bias = np.concatenate([settings.torque_bias, settings.force_bias])
        self._deviation = np.repeat([settings.torque_noise, settings.force_noise], 3)
        self._instrumented = self._unloaded = instrumented
        rates = instrumented.v_slices if instrumented is not None else {}
        self._rows: dict[str, list[int]] = {}
        self.child_links: dict[str, str] = {}
        for joint in self._joints:
            axes = [f"{FREE}{joint}_{axis}" for axis in ("rx", "ry", "rz", "x", "y", "z")]
            if not set(axes) <= rates.keys():
                raise ValueError(f"force_torques: no model in which joint '{joint}' can come apart is given")
            self._rows[joint] = [rates[axis].start for axis in axes]
            model = instrumented.model
            self.child_links[joint] = model.body_names[model.body_joints.index(f"{FREE}{joint}_rz")]     # the last one
        self._numbers, self._rates = (
            [k for name in robot.joint_names for k in range(*slices[name].indices(slices[name].stop))]
            for slices in (instrumented.q_slices, rates)) if self._joints else ([], [])

    def carry(self, loaded: Callable[[Robot], Robot]) -> None:
        """Change the payloads; loaded(robot): returns a robot of the same links with the payloads."""
        if self._unloaded is not None:
            self._instrumented = loaded(self._unloaded)

    def measure(self, snapshot: Snapshot) -> Mapping[str, np.ndarray]:
        """Return {joint: wrench (6,)}, (torque, force), in the frame and about the origin of the child link.

        It is the wrench of the child link on its parent: gravity and pushes on the subtree of the joint, minus the rate
        of change of its momentum. A weight at rest reads downward; a push on the tool reads as the push itself."""
        robot = self._instrumented
        if robot is None:
            return {}
        if not np.array_equal(robot.gravity, snapshot.robot.gravity):
            robot = self._instrumented = robot.with_gravity(snapshot.robot.gravity)
        q, (qd, qdd) = robot.neutral(), np.zeros((2, robot.n))
        q[self._numbers], qd[self._rates], qdd[self._rates] = snapshot.q, snapshot.qd, snapshot.qdd
        held = robot.inverse_dynamics(q, qd, qdd, snapshot.loads or None)
        return {joint: self._with_errors(-held[rows], k, snapshot.step) for k, (joint, rows)
                in enumerate(self._rows.items())}

    def _with_errors(self, wrench: np.ndarray, stream: int, step: int) -> np.ndarray:
        wrench = wrench + self._bias
        if self._deviation.any():
            rng = np.random.default_rng([self._settings.seed, 5, stream, step])
            wrench += self._deviation * rng.standard_normal(6)
        return wrench
