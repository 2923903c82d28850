"""Initial state of a simulated robot: its joints and its floating base, if any."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from screw_dynamics.model.floating_base import NUMBERS, RATES, FloatingBase, coordinate_joints, coordinates
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot

from .limits import EnforcedLimits
from .motors import actuated_joints, at_rest, command_names, motor_mask
from .settings import JOINT_MODES, Settings


def default_modes(model: Model, mode: str) -> dict[str, str]:
    """Return {joint: `mode`} of actuated_joints. A joint is "passive" if the robot has closed loops and only other
    joints, which then count as motorized, have effort limits."""
    limited = np.isfinite(model.effort_limit[model.n - len(coordinate_joints(model)):])
    passive = ~limited & limited.any() & bool(model.constraints)
    idle = dict(zip(command_names(model)[-len(passive):], passive.tolist(), strict=True)) if len(passive) else {}
    return {joint: "passive" if idle[joint] else mode for joint in actuated_joints(model)}


def modes_of(model: Model, mode: str, given: Mapping[str, str]) -> list[str]:
    """Return the command mode (n,) of each velocity, of JOINT_MODES: `given` {joint: mode}, else `default_modes`, else
    "passive"; "effort" for a floating base. Raises ValueError for an unknown joint or mode."""
    names = command_names(model)
    for joint, wanted in given.items():
        if joint not in names:
            raise ValueError(f"unknown joint '{joint}'")
        if wanted not in JOINT_MODES:
            raise ValueError(f"joint '{joint}': command mode '{wanted}' must be one of {', '.join(JOINT_MODES)}")
    base, modes = model.n - len(coordinate_joints(model)), default_modes(model, mode) | given
    return ["effort"] * base + [modes.get(name, "passive") for name in names[base:]]


class InitialState:
    """The positions (n,) after a reset, and the pose and twist of a floating base.

    Positions are `EnforcedLimits.middle` or those set by `change`; motors are where their springs carry the links'
    weight. All methods raise ValueError with the joint's name if it does not exist or its position is outside its
    limits."""

    def __init__(self, robot: Robot, joint_names: Sequence[str], limits: EnforcedLimits, base: FloatingBase | None,
                 settings: Settings):
        self._robot, self._base, self._first = robot, base, robot.n - len(joint_names)
        self._index = {name: self._first + i for i, name in enumerate(joint_names)}
        self._limits = limits
        self._motors = motor_mask(robot.model)
        self._numbers, self._twist = np.zeros(0), np.zeros(robot.n)
        if base is not None:
            self._numbers = base.numbers(np.array(settings.initial_base_pose, dtype=float))
            self._twist[:RATES] = settings.initial_base_twist
        self.change({})

    def index(self, joint: str) -> int:
        """Return the index of a joint in arrays (n,)."""
        if joint not in self._index:
            raise ValueError(f"unknown joint '{joint}'")
        return self._index[joint]

    def change(self, positions: Mapping[str, float]) -> None:
        """Set the initial positions of these joints; others start in the middle. An error changes nothing."""
        start = self._limits.middle()
        for joint, position in positions.items():
            start[self.index(joint)] = position
        self._limits.check(start)
        self._placed = tuple(positions)         # may include motors that are not at rest under their springs
        self.position = coordinates(self._with_motors(self._configuration(start), positions), len(start))

    def check(self, joint: str, position: float) -> None:
        """Raise ValueError if the joint may not start at this position."""
        self._limits.check_joint(self.index(joint), position)

    def displaced(self, change: np.ndarray) -> np.ndarray:
        """Integrate a tangent vector (n,) from the initial configuration, and return the result (nq,)."""
        return self._robot.integrate(self._configuration(self.position), change)

    def with_noise(self, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
        """Return a configuration (nq,) with the initial noise of a simulation, within the limits, and velocities
        (n,)."""
        rng = np.random.default_rng([settings.seed, 0])
        noise = np.where(self._motors, 0.0, settings.initial_noise * rng.standard_normal(len(self.position)))
        q = self.displaced(noise)
        of_joints = q[len(self._numbers):]
        np.clip(of_joints, self._limits.lower[self._first:], self._limits.upper[self._first:], out=of_joints)
        return self._with_motors(q, self._placed), self._twist.copy()

    def with_joints(
        self, names: Sequence[str], position: Sequence[float], velocity: Sequence[float] | None,
        base: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a configuration (nq,) and velocities (n,) with given positions and velocities of the joints `names`.

        velocity None: at rest; other joints are at rest. base: pose (7,) and twist (6,); None: the initial ones."""
        positions, qd, model = self.position.copy(), self._twist.copy(), self._robot.model
        for k, name in enumerate(names):
            i = self.index(name)
            positions[i], qd[i] = position[k], 0.0 if velocity is None else velocity[k]
            if not np.isfinite(qd[i]):
                raise ValueError(f"joint '{name}': velocity {qd[i]} must be finite")
        for joint, motors in model.motors.items():      # motors move with their joints
            rate = sum(factor * qd[self.index(other)] for other, factor in model.drives[joint].shaft(joint).items())
            for motor in (name for name in motors if name.startswith(f"{joint}_motor") and name not in names):
                qd[self.index(motor)] = rate
        self._limits.check(positions)
        q = self._configuration(positions)
        if base is not None:
            if self._base is None:
                raise ValueError("base: the robot has no floating base")
            q[:NUMBERS], qd[:RATES] = self._base.numbers(base[0]), base[1]
        return self._with_motors(q, names), qd

    def _with_motors(self, q: np.ndarray, given: Iterable[str]) -> np.ndarray:
        """Return the configuration (nq,) with motors where their springs carry the links, except motors in `given`."""
        if self._motors.any():
            moved = self._motors.copy()
            moved[[self.index(name) for name in given]] = False
            there = at_rest(self._robot, q)
            q = q.copy()
            q[len(self._numbers):][moved[self._first:]] = there[moved]
        return q

    def _configuration(self, positions: np.ndarray) -> np.ndarray:
        """Return the configuration (nq,) of positions (n,), with the initial pose of a floating base."""
        return positions.copy() if self._base is None else np.concatenate((self._numbers, positions[RATES:]))
