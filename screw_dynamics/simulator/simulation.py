"""The simulated robot: joint state, time, commands, pushes and faults; simulator_node wraps it.

Time is counted in whole steps and integer nanoseconds: the same seed and the same commands at the same steps give
bitwise identical results, however many steps are made at a time."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from screw_dynamics.forces import Element, elements_of
from screw_dynamics.model.floating_base import (
    NUMBERS,
    RATES,
    coordinate_joints,
    coordinates,
    floating_base,
    velocity_names,
)
from screw_dynamics.robot import Robot
from screw_dynamics.scene import Scene

from .acceptance import check_drives, check_inertia, check_settings
from .actuators import Actuators
from .commands import Commands, Drive
from .conservation import Account, Balance
from .environment import Environment
from .faults import Faults, Scheduled
from .heat import Heat
from .initial_state import InitialState, modes_of
from .limits import EnforcedLimits
from .loops import closed, position_residual, residuals, with_loops
from .measurements import Measurements
from .motion import Motion
from .motors import command_names
from .objects import Objects
from .pushes import Pushes
from .reference import Reference, Tracking
from .sensors.sensors import Sensors
from .settings import Settings
from .snapshot import Past
from .windings import Windings, under_current_control

AT_COMMAND = 1e-3   # rad, m, N m, ...: a hundred times ros2_control's trigger_joint_command_threshold


class Simulation(Motion, Objects, Measurements):
    """A robot that moves under commands, gravity, friction and pushes.

    Parameters
    ----------
    robot : Robot
        Robot.
    settings : Settings, optional
        Settings of screw_dynamics.simulator.settings, the parameters of ``simulator_node``.
    initial_positions : dict of str to float, optional
        Positions of joints after a reset, by default 0 or the middle of the range.
    time_ns : int, optional
        Initial simulated time in nanoseconds.
    modes : dict of str to {"effort", "velocity", "position", "passive"}, optional
        Commanded quantity of each joint, by default ``settings.command_mode``.
    joint_sensors : dict of str to dict, optional
        Sensor errors of single joints, by the names of the settings: {joint: {"position_noise": 1e-3}}.
    instrumented : Robot, optional
        Model in which the child links of joints with force-torque sensors can be separated, as ``model_of(urdf,
        apart=joints)`` makes it.
    forces : sequence of Element, optional
        Force elements of screw_dynamics.forces that act in addition to the model's friction, at simulated time.
    scene : Scene, optional
        Scene around this robot, whose links can then touch its objects and each other.

    Raises
    ------
    ValueError
        If a joint has no inertia, an initial position is outside its limits, or a link or joint is unknown.

    Notes
    -----
    A robot whose model has constraints starts and stays with its loops closed. Attributes are

    q (nq,), qd (n,): the state; replaced, never changed in place. steps: steps since the last reset.
    base: the floating base, or None. joint_names: the joints of one degree of freedom. names: all n velocities, those
    of the base first. command_names: the names used in commands, see motors.py.

    saturated (n,): number of steps, since the start, in which a command or an effort was clipped to a limit.
    unsolved: the largest contact residual in m/s, since the last reset, in steps where the solver did not converge.
    fault: None, or the reason why the robot stopped until a reset. The state is always finite.
    initial_state: the state after the next reset.

    residuals {name: function of q (nq,)}: residuals of the constraints, 0 where satisfied; entries may be added.

    given_up (n,): mask of the joints whose command is stale and no longer acts. at_command: True if their state had
    reached their last command then, by ros2_control's sum of differences.

    environment: the objects of the scene and their motion; None without a scene. All other attributes are those of the
    robot.
    """

    def __init__(self, robot: Robot, settings: Settings | None = None,
                 initial_positions: Mapping[str, float] | None = None, time_ns: int = 0,
                 modes: Mapping[str, str] | None = None,
                 joint_sensors: Mapping[str, Mapping[str, float]] | None = None, instrumented: Robot | None = None,
                 forces: Sequence[Element] = (), scene: Scene | None = None):
        check_drives(robot := under_current_control(robot))
        self.environment = None if scene is None else Environment(scene.copy(with_loops(robot)))
        self._robot, self.base = robot, floating_base(robot.model)
        self.names, self.joint_names = velocity_names(robot.model), coordinate_joints(robot.model)
        self.command_names = command_names(robot.model)
        self._rates = robot.n - len(self.joint_names)
        self.settings = settings or Settings()
        self.limits = EnforcedLimits(robot.model, self.settings.enforce_limits)
        self.initial_state = InitialState(robot, self.joint_names, self.limits, self.base, self.settings)
        self.initial_state.change(initial_positions or {})
        check_inertia(robot, self.initial_state, self.names)
        self.forces = elements_of(forces)
        check_settings(robot, self.settings, scene is not None, self.forces)
        self._actuators = Actuators(robot, self.limits, self.settings, self.forces)
        modes_given = modes_of(robot.model, self.settings.command_mode, modes or {})
        self._commands = Commands(self.settings, self.limits, modes_given, self._rates)
        self.sensors = Sensors(self.settings, robot, joint_sensors, instrumented)
        around = self.environment
        self.faults = Faults(self.settings, self.command_names[self._rates:], self.joint_names, self.sensors.names,
                             self._rates,
                             (tuple, tuple) if around is None else
                             (partial(getattr, around, "surfaces"), partial(getattr, around, "bodies")))
        self._tracking = Tracking(robot.n)
        self.residuals: dict[str, Callable[[np.ndarray], float]] = residuals(robot)
        self._past = Past(self.settings.steps(self.settings.sensor_delay))
        self.heat, self.windings = Heat(robot.model, self.settings), Windings(robot.model)
        self._balance = Balance(self.settings, self.limits, self.forces) if self.settings.energy_balance else None
        if self.settings.enforce_limits:
            self.residuals["position limits [rad or m]"] = partial(position_residual, robot)
        self.saturated = np.zeros(robot.n, dtype=np.int64)
        self._origin_ns = time_ns
        self.steps = 0
        self.reset()

    @property
    def robot(self) -> Robot:
        """The robot. It may be replaced by one with the same links and joints, but different gravity or payloads."""
        return self._robot

    @robot.setter
    def robot(self, robot: Robot) -> None:
        self._robot, self._integrated = under_current_control(robot), None
        if self.environment is not None:
            self.environment.use(self._robot)
        self._restart_balance()

    def carry(self, robot: Robot, loaded: Callable[[Robot], Robot]) -> None:
        """Change the payloads.

        Parameters
        ----------
        robot : Robot
            Robot with the payloads.
        loaded : callable
            Function that returns a given robot of the same links with the payloads.
        """
        self.robot = robot
        self.sensors.carry(loaded)

    @property
    def position(self) -> np.ndarray:
        """The coordinate (n,) of each velocity: q, but with zeros for a floating base."""
        return coordinates(self.q, self.robot.n)

    def configuration(self, position: np.ndarray) -> np.ndarray:
        """Return the configuration of joint positions, with the present pose of the base.

        Parameters
        ----------
        position : ndarray (n,)
            Positions.

        Returns
        -------
        ndarray (nq,)
            Configuration.
        """
        return position if self.base is None else np.concatenate((self.q[:NUMBERS], position[RATES:]))

    @property
    def time_ns(self) -> int:
        """Simulated time in nanoseconds since the start or the last restart of the clock."""
        return self._origin_ns + self.steps * self.settings.dt_ns

    @property
    def _time(self) -> float:
        """Simulated time in seconds, for force elements."""
        return self.time_ns * 1e-9

    # --------------------------------------------------------------------------------------------- start
    def _pushed_links(self) -> tuple[str, ...]:
        """Return the names of the links and of the free objects."""
        return (*self.robot.link_names, *(() if self.environment is None else self.environment.bodies))

    def restart_clock(self) -> None:
        """Restart simulated time at zero. The reference must be given for the new time; nothing else changes."""
        self._origin_ns = -self.steps * self.settings.dt_ns

    def reset(self, restart_clock: bool = False) -> None:
        """Return to the initial state, without commands and pushes, and start the fault schedule.

        Parameters
        ----------
        restart_clock : bool, optional
            True to restart simulated time at zero.
        """
        self._start(*self.initial_state.with_noise(self.settings), restart_clock)

    def reset_to(self, names: Sequence[str], position: Sequence[float], velocity: Sequence[float] | None = None,
                 restart_clock: bool = False, base: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        """Reset as `reset` does, to a given state.

        Parameters
        ----------
        names : sequence of str
            Joints. Other joints get their initial positions.
        position : sequence of float
            Positions of these joints, rad or m.
        velocity : sequence of float, optional
            Their velocities, rad/s or m/s. By default they are at rest.
        restart_clock : bool, optional
            True to restart simulated time at zero.
        base : (ndarray (7,), ndarray (6,)), optional
            Pose x y z, quaternion x y z w of a floating base, and its twist in its own frame. By default the initial
            ones.

        Raises
        ------
        ValueError
            If a joint is unknown or repeated, or a number is not finite or outside limits. Nothing changes then.

        Notes
        -----
        A nonzero velocity releases all joints at once, also with hold_until_first_command.
        """
        self._start(*self.initial_state.with_joints(names, position, velocity, base), restart_clock)

    def _start(self, q: np.ndarray, qd: np.ndarray, restart_clock: bool) -> None:
        q, qd = closed(self.robot, q, qd, ~self._commands.passive)
        self._origin_ns = 0 if restart_clock else self.time_ns
        self.q, self.qd, self.steps, self.fault, self.unsolved = q, qd, 0, None, 0.0
        self._integrated: Robot | None = None
        if self.environment is not None:
            self.environment.fail({}, ())
            self.environment.reset()
        self._pushes = Pushes(self._pushed_links)
        self._commands.clear(coordinates(q, len(qd)))
        self._drives = self._commands.drives(0)
        if qd.any():
            self._commands.release()
        self.faults.reset()
        self.sensors.reset()
        self._past.clear()
        self.heat.restart(0)
        self._locked = self.given_up = np.zeros(self.robot.n, dtype=bool)
        self.at_command, self.reference = False, None
        self._restart_balance()

    def _restart_balance(self) -> None:
        if self._balance is not None:
            self._balance.restart(self.robot, self.q, self.qd)

    def account(self) -> Account | None:
        """Return the energy and momentum balance since the last reset or change of gravity.

        Returns
        -------
        Account or None
            Work, losses and residuals. None without the setting energy_balance.
        """
        return None if self._balance is None else self._balance.account()

    # --------------------------------------------------------------------------------------------- commands and faults
    def command(self, command: np.ndarray) -> None:
        """Command the joints and a floating base.

        Parameters
        ----------
        command : ndarray (n,)
            Efforts, velocities or positions, by the modes of the joints. NaN keeps the last command. A floating base
            has the wrench on it, in its frame, torque first.
        """
        self.faults.send(command, self.steps)
        self._update_drives()

    def set_modes(self, modes: Mapping[str, str]) -> None:
        """Change the commanded quantities of the joints.

        Parameters
        ----------
        modes : dict of str to {"effort", "velocity", "position", "passive"}
            Commanded quantity of each joint, as in the constructor. A joint whose mode changes loses its command.

        Raises
        ------
        ValueError
            If a joint or a mode is unknown. Nothing changes then.
        """
        self._commands.set_modes(modes_of(self.robot.model, self.settings.command_mode, modes), self.position)
        self._update_drives()

    def inject(self, kind: str, target: str = "", value: float = 0.0, delay: float = 0.0, duration: float = 0.0
               ) -> None:
        """Inject a fault.

        Parameters
        ----------
        kind : str
            Kind of the fault, one of screw_dynamics.simulator.faults.KINDS.
        target : str, optional
            Joint, sensor, link or object with the fault, depending on the kind.
        value : float, optional
            Value of the fault, depending on the kind.
        delay : float, optional
            Simulated time in s until the fault begins.
        duration : float, optional
            Its duration in s. 0: until `clear_faults` or a reset.

        Raises
        ------
        ValueError
            If the kind, the target or a number is invalid. Nothing changes then.
        """
        self.faults.inject(Scheduled(kind, target, value, delay, duration), self.steps)
        self._update_drives()

    def clear_faults(self) -> None:
        """End all faults, including scheduled ones, until the next reset."""
        self.faults.clear(self.steps)
        self._update_drives()

    @property
    def reference(self) -> Reference | None:
        """The motion that the joints of its mask follow, in place of their commands and brakes.

        Their servos prescribe the acceleration qdd_d + 2 w (qd_d - qd) + w^2 (q_d - q), with w the servo_bandwidth and
        q_d, qd_d, qdd_d the sample at the start of each step, and apply the required effort, up to its limit. Other
        joints follow their commands. The reference ends when it is replaced (for example by None), or by a reset.
        Raises ValueError, changing nothing, if the shapes of a sample do not fit this robot."""
        return self._tracking.reference

    @reference.setter
    def reference(self, reference: Reference | None) -> None:
        self._tracking.follow(reference, self.time_ns)
        if reference is not None:
            self._commands.release_base()
        self._update_drives()

    def push(self, link: str, wrench: Sequence[float], duration: float = 0.0) -> None:
        """Apply a wrench to a link.

        Parameters
        ----------
        link : str
            Link, or free object of the scene.
        wrench : sequence of float (6,)
            Torque and force in the link's frame, N m and N.
        duration : float, optional
            Duration in s. 0: until a reset.

        Raises
        ------
        ValueError
            If the link is unknown, or a number is not finite.

        Notes
        -----
        Pushes with a duration add up. A push until a reset replaces the previous one on the link; a zero wrench ends
        it.
        """
        if not 0.0 <= duration < np.inf:
            raise ValueError(f"duration: {duration} s, must be finite and >= 0")
        self._pushes.add(link, wrench, self.steps, self.settings.steps(duration))

    def _update_drives(self) -> None:
        """Determine the drives, faults and pushes from the present step onward."""
        self.faults.update(self.steps)
        self.heat.look(self.steps)
        for command in self.faults.arrivals(self.steps):
            self._commands.accept(command, self.steps)
        drives = self._commands.drives(self.steps)
        kind = np.where(self._tracking.mask, Drive.REFERENCE, drives.kind)
        drives = self.faults.drives(drives._replace(
            kind=kind, beyond=drives.beyond & ~self._tracking.mask, limit=self.heat.limited(self._tracking.limit)))
        self._drives = drives.paced(self.steps, self._drives, self.position, self.limits.velocity * self.settings.step)
        if self.environment is not None:
            self.environment.fail(self.faults.slippery, self.faults.released)
        self._pushes.expire(self.steps)
        given_up = self._commands.given_up(self.steps) & ~self._tracking.mask
        if (given_up & ~self.given_up).any():
            joints, off = given_up[self._rates:], self._commands.distance(self.position, self.qd)[self._rates:]
            self.at_command = bool(joints.any() and off[joints].sum() < AT_COMMAND)
        self.given_up = given_up
        locked = self._drives.kind == Drive.LOCKED
        if not np.array_equal(locked, self._locked):
            self._locked, self._integrated = locked, None
        self.sensors.follow(self.faults, self.snapshot)
