"""Feed-forward for motors whose links follow a trajectory: the topic ~/motor_feed_forward, for robots with drives.

The motors' motion requires four derivatives of the links' motion, which a message does not contain: the trajectory is
interpreted as the smoothest motion through its points."""

from typing import NamedTuple

import numpy as np
from rclpy.lifecycle import LifecyclePublisher
from trajectory_msgs.msg import JointTrajectory

from screw_dynamics.analysis.elastic_joints import ElasticJoints, MotorMotion
from screw_dynamics.analysis.smooth_motion import SmoothMotion
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot
from screw_dynamics.simulator.motors import command_names
from screw_dynamics.utils.checks import coordinates_alone

from ..node import messages
from ..node.cdr import joint_state_template
from ..node.diagnostics import OK, WARN, Report
from ..node.drives import GivenDrives
from ..node.joint_state import Fault, all_finite
from ..node.parameters import Setting
from ..node.robot_state import RobotState
from ..timing import SECOND
from .output_joints import output_joints
from .state_output import StateOutput, subscribed
from .trajectory_points import TrajectoryPoints, read_points

JUMP = 1e-3         # rad or m: largest distance between the joints and the start of a motion that begins later
ALL = 4             # derivatives at a resting point: all are given as 0
SETTINGS = (
    Setting("feed_forward_friction", True, "friction of the model is in ~/motor_feed_forward, and in efforts of "
            "trajectories of a robot with drives"),
    Setting("feed_forward_neglect_damping", False, "neglect damping of springs there; false: a drive with damping is "
                                                   "refused, because the motion of its motor is not a function of that "
                                                   "of the links"),
    Setting("feed_forward_lead", 0.0, "time by which ~/motor_feed_forward is ahead of the stamp of joint_states: the "
                                      "latency of commands plus half of their period", "s", lower=0.0, upper=1.0,
            least=1e-9),
)


class Followed(NamedTuple):
    """A motion of the links. since: the time from which it is followed; begin: that of its time 0; both in ns of the
    stamps' clock."""

    since: int
    begin: int
    motion: SmoothMotion

    def at(self, time: int) -> np.ndarray:
        """Return positions and derivatives (5, n) at a time in ns."""
        return self.motion.sample((time - self.begin) / SECOND)


class RigidDrives:
    """The motors of a robot whose drives have no springs; used instead of ElasticJoints."""

    def __init__(self, robot: Robot):
        coordinates_alone("motor_feed_forward", robot.model)
        self.robot = robot

    def feed_forward(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, qddd: np.ndarray, qdddd: np.ndarray, *,
                     friction: bool, neglect_damping: bool) -> MotorMotion:
        """Return the motion of the links as that of the motors. Its efforts are those of inverse dynamics minus
        `Robot.drive_torque`, with friction if `friction` is True."""
        tau = self.robot.inverse_dynamics(q, qd, qdd) - self.robot.drive_torque(q, qd)
        if friction:
            tau = tau + self.robot.friction_torque(qd)
        return MotorMotion(q, qd, qdd, tau, tau, q, qd, qdd, tau)


class MotorFeedForward(StateOutput):
    """The publisher of feed-forward commands along the last received trajectory, at the stamp of each joint_states
    message, for `node`, a DynamicsNode being configured.

    A motion begins at the stamp in the trajectory's header, or with the latest state if there is none. It leads from
    the previous trajectory's state at that time, else from the latest state, through the points to rest at the last
    one, where it stays. Until then, the previous trajectory continues."""

    robot_of = GivenDrives.on

    def __init__(self, node):
        self._node, self._settings = node, node.settings
        self._publisher: LifecyclePublisher | None = None       # created with the first robot with drives
        self._robot: Robot | None = None
        self._joint_names: tuple[str, ...] = ()
        self._joints: ElasticJoints | RigidDrives | None = None
        self._problem = "there is no robot yet"
        self.clear()

    def clear(self) -> None:
        """Discard the trajectory and the latest state."""
        self._followed: list[Followed] = []             # the current motion, and those that begin later
        self._latest: tuple[int, np.ndarray, np.ndarray] | None = None      # time in ns, position, velocity
        self._waiting: JointTrajectory | None = None    # received before any state

    # --------------------------------------------------------------------------------------------- robots
    def use(self, robot: Robot) -> None:
        """Use another robot with drives. The motion continues if the joints are the same."""
        self._robot, self._joints, self._problem = robot, None, ""
        if self._publisher is None and robot.model.drives:
            self._publisher = self._node.publisher("~/motor_feed_forward")
        try:
            if not robot.model.drives:
                raise ValueError("it has no drives")
            joints = ElasticJoints(robot) if robot.model.motors else RigidDrives(robot)
            named = output_joints(joints.robot.model, self._settings.joints).names
            labels, self._indices = _outputs(robot.model, named)
            self._template = joint_state_template(labels, ("position", "velocity", "effort"))
            self._joints = joints
            self._moved(np.zeros((5, joints.robot.n)))
        except ValueError as error:
            self._joints, self._problem = None, str(error)
            if self.needed:
                self._node.log.error(f"motor_feed_forward is not published: {error}")
        names = () if self._joints is None else self._joints.robot.joint_names
        if names != self._joint_names:
            self._joint_names = names
            self.clear()

    def follow(self, changed: set[str]) -> None:
        """Rebuild the feed-forward, which other parameter values may allow."""
        if self._robot is not None and changed & {"feed_forward_neglect_damping", "feed_forward_friction"}:
            self.use(self._robot)

    @property
    def needed(self) -> bool:
        """True if trajectories are for these motors: the robot has drives, and either motors behind springs or neither
        a floating base nor other multi-DoF joints. Otherwise inverse dynamics gives the efforts."""
        model = None if self._robot is None else self._robot.model
        return model is not None and bool(model.drives) and bool(model.motors or not model.on_groups)

    # --------------------------------------------------------------------------------------------- trajectories
    def efforts(self, points: TrajectoryPoints) -> np.ndarray:
        """Return the efforts of motors (points, n), in the order of the joints, at the points of a trajectory.

        The efforts of two motors on a joint are added. Raises ValueError if they are no function of the motion, or the
        points are invalid."""
        self._require_joints()
        return self._moved(_smooth(points.times, points).sample(points.times)).torque if len(points.times) else (
            np.zeros((0, len(self._joint_names))))

    def start(self, trajectory: JointTrajectory) -> None:
        """Follow a trajectory, and publish its feed-forward at the latest state. Raises ValueError with the reason if
        that is not possible; then the earlier motion continues."""
        self._require_joints()
        points = read_points(self._joint_names, trajectory)
        if not len(points.times):
            raise ValueError("points is empty")
        for k in np.flatnonzero(points.values[1, -1])[:1]:
            raise ValueError(f"last point, joint '{self._joint_names[k]}': velocity {points.values[1, -1, k]:g}, must "
                             "be 0, since the joint is held there")
        if self._latest is None:
            self._waiting = trajectory
            return
        stamp = messages.nanoseconds(trajectory.header.stamp)
        begin = stamp or self._latest[0]
        begun = max(self._latest[0] - begin, 0) / SECOND
        if points.times[-1] < begun:
            late = begun - points.times[-1]
            raise ValueError(f"header.stamp is {stamp / SECOND} s: the trajectory ended {late:g} s ago")
        since = begin + round(begun * SECOND)
        start = (begun, self._present(since)) if points.times[0] > begun else None
        if begin > self._latest[0] and start is None:
            self._check_start(points.values[0, 0], self._present(since)[0])
        given = Followed(since, begin, _smooth(points.times, points, start))
        goes_on = [each for each in self._followed if each.since <= self._latest[0]][-1:]
        later = [each for each in self._followed if self._latest[0] < each.since < since]
        self._followed = [*(goes_on if self._latest[0] < since else []), *later, given]
        self._publish(self._latest[0])

    def _check_start(self, first: np.ndarray, present: np.ndarray) -> None:
        """Raise ValueError if a motion that begins later would jump from the present position (n,) to its first point
        (n,)."""
        for k in np.flatnonzero(np.abs(first - present) > JUMP)[:1]:
            raise ValueError(f"first point, at the time 0, joint '{self._joint_names[k]}': position {first[k]:g}, but "
                             f"it is at {present[k]:g} then: give the point a later time, to which the motion is "
                             "interpolated")

    def _present(self, time: int) -> np.ndarray:
        """Return the positions and derivatives (5, n) from which a motion that begins at a time in ns continues."""
        if self._followed:
            return self._at(time)
        _, q, qd = self._latest
        return np.stack([q, qd, *np.zeros((3, len(q)))])

    def _at(self, time: int) -> np.ndarray:
        """Return the motion (5, n) at a time in ns: of the motion that began last, or of the first one before any has
        begun."""
        return next((each for each in reversed(self._followed) if each.since <= time), self._followed[0]).at(time)

    def _require_joints(self) -> None:
        if self._joints is None:
            raise ValueError(f"there is no feed-forward for this robot: {self._problem}")

    def _moved(self, motion: np.ndarray) -> MotorMotion:
        """Return the motion and efforts of the motors for a motion (5, ..., n) of the links."""
        return self._joints.feed_forward(*motion, friction=self._settings.feed_forward_friction,
                                         neglect_damping=self._settings.feed_forward_neglect_damping)

    # --------------------------------------------------------------------------------------------- states
    def observe(self, state: RobotState) -> None:
        """Publish the feed-forward at a state's stamp."""
        if self._joints is None:
            return
        stamp = int(state.joints.stamp) or self._node.get_clock().now().nanoseconds
        self._latest = stamp, state.position.copy(), state.velocity.copy()
        if self._waiting is not None:
            trajectory, self._waiting = self._waiting, None
            try:
                self.start(trajectory)
            except ValueError as error:
                raise Fault("bad trajectory", str(error)) from None
        elif self._followed:
            self._publish(stamp)

    def _publish(self, stamp: int) -> None:
        if not subscribed(self._publisher):
            return
        found = self._moved(self._at(stamp + round(self._settings.feed_forward_lead * SECOND)))
        template = self._template
        for field, values in (("position", found.q), ("velocity", found.qd), ("effort", found.tau)):
            values.take(self._indices, out=template.fields[field])
            if not all_finite(template.fields[field]):
                raise Fault("non-finite feed-forward", f"motor_feed_forward: {field} is not finite")
        template.stamp(*divmod(stamp, SECOND))
        self._publisher.publish(template.encode())
        self._node.diagnostics.tick("motor_feed_forward")

    def health(self) -> Report:
        """Return a warning if there is no feed-forward."""
        if self._joints is None:
            return (WARN, f"motor_feed_forward is not published: {self._problem}", {}) if self.needed else (
                OK, "", {})
        if not self._followed or self._latest is None:
            return OK, "", {"motor feed-forward": "waits for a trajectory"}
        last = self._followed[-1]
        left = last.motion.end - (self._latest[0] - last.begin) / SECOND
        return OK, "", {"motor feed-forward": f"{left:.3f} s to go" if left > 0.0 else "holds the last point"}


def _smooth(times: np.ndarray, points: TrajectoryPoints, start: tuple[float, np.ndarray] | None = None) -> SmoothMotion:
    """Return the motion through points, continued from a start (its time and derivatives (5, n)) if there is one. A
    first or last point with zero velocity is at rest, whatever its acceleration: planners end with the braking
    acceleration."""
    for i in np.flatnonzero(np.diff(times) <= 0.0)[:1]:
        raise ValueError(f"points[{i + 1}].time_from_start is {times[i + 1]:g} s, must be later than that of "
                         f"points[{i}], {times[i]:g} s")
    values, order = np.concatenate((points.values, np.zeros((2, *points.values.shape[1:])))), points.order
    if start is not None:
        times, order = np.insert(times, 0, start[0]), np.insert(order, 0, ALL)
        values = np.concatenate((start[1][:, None], values), axis=1)
    values, order = values.copy(), order.copy()
    for end in (0, -1) if start is None else (-1,):
        if not values[1, end].any():
            values[2, end], order[end] = 0.0, ALL
    try:
        return SmoothMotion(times, values, order)
    except ValueError as error:
        raise ValueError(f"{error}; point 0 is where the motion begins" if start is not None else str(error)) from None


def _outputs(model: Model, joints: tuple[str, ...]) -> tuple[list[str], np.ndarray]:
    """Return the command names of the motors of joints, including both of a lever, and the indices of their
    velocities."""
    names = command_names(model)
    indices = [model.v_slices[motor].start for joint in joints for motor in model.motors.get(joint, (joint,))]
    return [names[k] for k in indices], np.array(indices, dtype=np.intp)
