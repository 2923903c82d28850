"""The simulated robot: joint state, time, commands, pushes and faults; simulator_node wraps it.

Everything is counted in whole steps and integer nanoseconds, so that the same seed and the same commands at the same
steps give the same bits, however many steps are made at a time."""

from collections.abc import Callable, Mapping, Sequence

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
from screw_dynamics.simulation.conservation import beyond_limits

from .acceptance import check_drives, check_inertia, check_settings
from .actuators import Actuators
from .commands import Commands, Drive
from .conservation import Account, Balance
from .environment import Environment
from .faults import Faults, Scheduled
from .heat import Heat
from .initial_state import InitialState, modes_of
from .limits import EnforcedLimits
from .loops import closed, residuals, with_loops
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

    * q (nq,), qd (n,): the state; replaced, never changed in place. steps: made since the last reset.
    * base: the floating base, None where none floats; joint_names: the joints of one degree of freedom; names: of all n
      velocities, those of the base before the joints; command_names: by which they are commanded, motors.py.
    * saturated (n,): the steps, since the start, in which a command or an effort was clipped to a limit.
    * unsolved: the largest residual in m/s, since the last reset, of contacts in steps that the solver gave up.
    * fault: None, or why the robot stopped until a reset. The state always is finite.
    * initial_state: where the next reset leads to.
    * residuals {name: function of q (nq,)}: what constrains configurations, each 0 where it holds; more may be added.
    * given_up (n,): the joints whose command is stale and no longer acts; at_command: whether their state was as good
      as their last command then, by ros2_control's sum of differences.

    initial_positions {joint: position} is the state after a reset, `EnforcedLimits.middle` for other joints; time_ns is
    the first simulated time; modes {joint: "effort", "velocity", "position" or "passive"} is what commands a joint,
    `default_modes` for others. joint_sensors and instrumented are those of `Sensors`. forces: elements of
    screw_dynamics.forces, which act beside the model's friction; their time is simulated time. Raises ValueError
    naming a joint without inertia, or that would start outside its limits, and a link or joint that the robot does not
    have.

    A robot whose model has constraints starts, and stays, where its loops are closed.

    scene: an sd.Scene around this robot, whose links touch then what is there and each other. `environment`, None of a
    robot alone, has its objects, which move by themselves; all else is the robot's."""

    def __init__(
        self,
        robot: Robot,
        settings: Settings | None = None,
        initial_positions: Mapping[str, float] | None = None,
        time_ns: int = 0,
        modes: Mapping[str, str] | None = None,
        joint_sensors: Mapping[str, Mapping[str, float]] | None = None,
        instrumented: Robot | None = None,
        forces: Sequence[Element] = (),
        scene: Scene | None = None,
    ):
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
        self._actuators = Actuators(self.limits, self.settings, self.forces)
        modes_given = modes_of(robot.model, self.settings.command_mode, modes or {})
        self._commands = Commands(self.settings, self.limits, modes_given, self._rates)
        self.sensors = Sensors(self.settings, robot, joint_sensors, instrumented)
        around = self.environment
        self.faults = Faults(self.settings, self.command_names[self._rates:], self.joint_names, self.sensors.names,
                             self._rates,
                             (lambda: (), lambda: ()) if around is None else
                             (lambda: around.surfaces, lambda: around.bodies))
        self._tracking = Tracking(robot.n)
        self.residuals: dict[str, Callable[[np.ndarray], float]] = residuals(robot)
        self._past = Past(self.settings.steps(self.settings.sensor_delay))
        self.heat, self.windings = Heat(robot.model, self.settings), Windings(robot.model)
        self._balance = Balance(self.settings, self.limits, self.forces) if self.settings.energy_balance else None
        if self.settings.enforce_limits:
            self.residuals["position limits [rad or m]"] = lambda q: float(beyond_limits(robot.model, q))
        self.saturated = np.zeros(robot.n, dtype=np.int64)
        self._origin_ns = time_ns
        self.steps = 0
        self.reset()

    @property
    def robot(self) -> Robot:
        """The robot; it may be replaced by one of the same links and joints, under another gravity or with
        payloads."""
        return self._robot

    @robot.setter
    def robot(self, robot: Robot) -> None:
        self._robot, self._integrated = under_current_control(robot), None
        if self.environment is not None:
            self.environment.use(self._robot)
        self._restart_balance()

    def carry(self, robot: Robot, loaded: Callable[[Robot], Robot]) -> None:
        """Simulate the same robot with other payloads from now on; loaded(robot): any robot of its links with them."""
        self.robot = robot
        self.sensors.carry(loaded)

    @property
    def position(self) -> np.ndarray:
        """The coordinate (n,) of each velocity: q, but with zeros for a floating base."""
        return coordinates(self.q, self.robot.n)

    def configuration(self, position: np.ndarray) -> np.ndarray:
        """Return the configuration (nq,) with these positions (n,) of the joints, and the pose of the base as it is."""
        return position if self.base is None else np.concatenate((self.q[:NUMBERS], position[RATES:]))

    @property
    def time_ns(self) -> int:
        """Simulated time in nanoseconds since the start or the last restart of the clock."""
        return self._origin_ns + self.steps * self.settings.dt_ns

    @property
    def _time(self) -> float:
        """Simulated time in seconds, which forces get."""
        return self.time_ns * 1e-9

    # --------------------------------------------------------------------------------------------- start
    def _pushed_links(self) -> tuple[str, ...]:
        """Return the links, and the objects that move."""
        return (*self.robot.link_names, *(() if self.environment is None else self.environment.bodies))

    def restart_clock(self) -> None:
        """Let simulated time restart at zero; nothing else changes. A reference has to be of the new time."""
        self._origin_ns = -self.steps * self.settings.dt_ns

    def reset(self, restart_clock: bool = False) -> None:
        """Return to the initial state, without commands and pushes, and with the faults of the schedule to come;
        simulated time goes on, or restarts at zero."""
        self._start(*self.initial_state.with_noise(self.settings), restart_clock)

    def reset_to(
        self,
        names: Sequence[str],
        position: Sequence[float],
        velocity: Sequence[float] | None = None,
        restart_clock: bool = False,
        base: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        """Reset as `reset` does, but start the joints `names` from a position and a velocity (names,); None: at rest.

        base: pose x y z, quaternion x y z w (7,), and twist (6,) in its own frame, of a floating base; None: those at
        the start.

        A start in motion releases all joints at once, whatever hold_until_first_command is. Raises ValueError
        naming the joint and changes nothing."""
        self._start(*self.initial_state.with_joints(names, position, velocity, base), restart_clock)

    def _start(self, q: np.ndarray, qd: np.ndarray, restart_clock: bool) -> None:
        q, qd = closed(self.robot, q, qd, ~self._commands.passive)
        self._origin_ns = 0 if restart_clock else self.time_ns
        self.q, self.qd, self.steps, self.fault, self.unsolved = q, qd, 0, None, 0.0
        self._integrated: Robot | None = None
        if self.environment is not None:
            self.environment.fail({}, ())
            self.environment.reset()
        self._pushes = Pushes(lambda: self._pushed_links())
        self._commands.clear(coordinates(q, len(qd)))
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
        """Return the account of work, impulses and losses since the last reset, or change of gravity; None without the
        setting energy_balance."""
        return None if self._balance is None else self._balance.account()

    # --------------------------------------------------------------------------------------------- what acts
    def command(self, command: np.ndarray) -> None:
        """Command the joints, (n,), each in the unit of its mode, and a floating base by a wrench in its frame, torque
        first; NaN leaves a joint with its last command."""
        self.faults.send(command, self.steps)
        self._update_drives()

    def set_modes(self, modes: Mapping[str, str]) -> None:
        """Let other quantities command the joints, as `modes` at the start. A joint whose mode changes is as it was
        before its first command. Raises ValueError naming the joint; nothing is changed then."""
        self._commands.set_modes(modes_of(self.robot.model, self.settings.command_mode, modes), self.position)
        self._update_drives()

    def inject(
        self, kind: str, target: str = "", value: float = 0.0, delay: float = 0.0, duration: float = 0.0
    ) -> None:
        """Make something fail, of faults.KINDS, after a delay and for a duration (0: until `clear_faults` or a reset).

        Raises ValueError naming what a fault of this kind cannot have, or the robot does not have; nothing is
        changed then."""
        self.faults.inject(Scheduled(kind, target, value, delay, duration), self.steps)
        self._update_drives()

    def clear_faults(self) -> None:
        """End all faults, those of the schedule too, until the next reset."""
        self.faults.clear(self.steps)
        self._update_drives()

    @property
    def reference(self) -> Reference | None:
        """The motion that the joints of its mask are driven along from now on, whatever their commands and brakes.

        Their servos prescribe the acceleration qdd_d + 2 w (qd_d - qd) + w^2 (q_d - q), w the servo_bandwidth, where
        q_d, qd_d and qdd_d are the sample at the start of each step, and give the effort that this takes, or its limit;
        other joints follow their commands meanwhile. It ends when it is replaced, by None say, or by a reset.
        ValueError, and nothing changes, if a sample of it does not have the shapes of this robot."""
        return self._tracking.reference

    @reference.setter
    def reference(self, reference: Reference | None) -> None:
        self._tracking.follow(reference, self.time_ns)
        if reference is not None:
            self._commands.release_base()
        self._update_drives()

    def push(self, link: str, wrench: Sequence[float], duration: float = 0.0) -> None:
        """Apply a wrench (6,), (torque, force) in the link's frame, for some seconds: they add up; 0: until a reset,
        in place of the one on this link that was to last until a reset. A zero wrench ends that one."""
        if not 0.0 <= duration < np.inf:
            raise ValueError(f"duration: {duration} s, must be finite and >= 0")
        self._pushes.add(link, wrench, self.steps, self.settings.steps(duration))

    def _update_drives(self) -> None:
        """Determine what acts from the present step on."""
        self.faults.update(self.steps)
        self.heat.look(self.steps)
        for command in self.faults.arrivals(self.steps):
            self._commands.accept(command, self.steps)
        drives = self._commands.drives(self.steps)
        kind = np.where(self._tracking.mask, Drive.REFERENCE, drives.kind)
        self._drives = self.faults.drives(drives._replace(
            kind=kind, beyond=drives.beyond & ~self._tracking.mask, limit=self.heat.limited(self._tracking.limit)))
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
