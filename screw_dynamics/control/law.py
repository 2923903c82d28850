"""A control law: a function with named references, a declared state and declared parameters."""
from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from inspect import signature
from keyword import iskeyword
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.jit.numba_internals.compiler import jit
from screw_dynamics.model.checks import pose
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

ARGUMENTS = "robot", "t", "q", "qd", "reference", "state", "parameters"
JOINT = "joint"             # a size: one number for each joint
POSE, WRENCH = "pose", "wrench"
# References of a law: shape, where JOINT is one number for each joint, and meaning.
REFERENCES: dict[str, tuple[tuple, str]] = {
    "position": ((JOINT,), "positions, rad or m"), "velocity": ((JOINT,), "velocities, rad/s or m/s"),
    "acceleration": ((JOINT,), "accelerations, rad/s^2 or m/s^2"), "effort": ((JOINT,), "efforts, N m or N"),
    POSE: ((4, 4), "homogeneous matrix of a link's pose in the root link, m"),
    WRENCH: ((6,), "wrench on a link in its frame, torque (N m) and force (N)")}


class Parameter(NamedTuple):
    """A parameter of a law: name, default, meaning, unit, smallest and largest value, and whether each joint has its
    own."""

    name: str
    default: float
    description: str
    unit: str
    lower: float
    upper: float
    per_joint: bool


def parameter(default: float, description: str, unit: str = "", *, lower: float = -math.inf, upper: float = math.inf,
              per_joint: bool = False) -> Any:
    """Return a field of the dataclass of a law's parameters.

    Parameters
    ----------
    default : float
        Default, of every joint with ``per_joint``.
    description : str
        Meaning.
    unit : str, optional
        Unit, "" for a number without one.
    lower, upper : float, optional
        Smallest and largest value.
    per_joint : bool, optional
        If true, the value is a number or (n,), and the law gets (n,).

    Returns
    -------
    dataclasses.Field
        Field for ``dataclass``.
    """
    description, unit = (" ".join(text.split()) for text in (description, unit))       # one line in files of an export
    row = Parameter("", float(default), description, unit, lower, upper, per_joint)
    if not lower <= row.default <= upper:
        raise ValueError(f"parameter: default {default} must be from {lower} to {upper}")
    return field(default=default, metadata={"parameter": row})


def law(*, parameters: type | None = None, reference: tuple[str, ...] = (),
        state: Mapping[str, int | str] | None = None, link: str | None = None) -> Callable[[Callable], Law]:
    """Return a decorator that makes a function ``f(robot, t, q, qd, reference, state, parameters)`` a `Law`.

    Parameters
    ----------
    parameters : type, optional
        Dataclass whose fields are made by `parameter`.
    reference : tuple of str, optional
        Names of the references: position, velocity, acceleration, effort, pose, wrench.
    state : dict of str to int or str, optional
        Names of the state's arrays, which are 0 at the start, with their sizes: a number, or "joint" for one number for
        each joint.
    link : str, optional
        Link of the references pose and wrench.

    Returns
    -------
    callable
        The decorator.
    """
    if isinstance(reference, str):
        raise ValueError(f"reference {reference!r} must be a tuple of names: reference=({reference!r},)")
    return lambda function: Law(function, parameters, tuple(reference), dict(state or {}), link)


@dataclass(frozen=True)
class Law:
    """A control law: efforts as a function of the robot, its state and references.

    Parameters
    ----------
    function : callable
        Function of the robot, the time in s, q (n,), qd (n,), and the named tuples reference, state and parameters. It
        returns the efforts (n,), and with a state also a tuple of the state of the next cycle; ``state.dt`` is the time
        since the cycle before, in s, which only laws with a state have. It has no other effect.
    parameters : type or None
        Dataclass of the parameters.
    reference : tuple of str
        Names of the references.
    state : dict of str to int or str
        Sizes of the state's arrays.
    link : str, optional
        Link of the references pose and wrench.

    Notes
    -----
    The same function runs in plain Python, compiled in rollouts (`controller`), in the loop of a simulated or real
    robot (`loop`), and on the numbers from which C is printed (`export_controller`). It uses arithmetic on arrays and
    numbers, the methods of the robot that controllers may call, loops over joints, and ``where``, ``sqrt``, ``sincos``
    and ``absolute`` of this package, each of one number, in place of branches. Functions that it calls are decorated by
    ``numba.njit``.
    """

    function: Callable
    parameters: type | None
    reference: tuple[str, ...]
    state: Mapping[str, int | str]
    link: str | None = None

    def __post_init__(self):
        if not isinstance(self.function, FunctionType) or tuple(signature(self.function).parameters) != ARGUMENTS:
            raise ValueError(f"law {checks.described(self.function)} must be a function of {', '.join(ARGUMENTS)}")
        for name in self.reference:
            checks.one_of("reference", name, tuple(REFERENCES))
            if self.reference.count(name) > 1:
                raise ValueError(f"reference {name!r} of law {self.name} is named twice")
        if not self.link and {POSE, WRENCH}.intersection(self.reference):
            raise ValueError(f"law {self.name} has a reference of a link, and needs link=, the name of that link")
        for name, size in self.state.items():
            _field_name("state", name)
            if size != JOINT and not (type(size) is int and size > 0) or name == "dt":
                raise ValueError(f"state {name!r} has size {size!r}: it must be a number above 0, or {JOINT!r}, and "
                                 "its name not dt")
        if self.parameters is not None and not (is_dataclass(self.parameters) and all(
                "parameter" in x.metadata for x in fields(self.parameters))):
            raise ValueError(f"parameters {checks.described(self.parameters)} must be a dataclass with fields by "
                             "parameter(...)")
        for row in self.rows:
            _field_name("parameter", row.name)

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    @cached_property
    def rows(self) -> tuple[Parameter, ...]:
        """The parameters."""
        return tuple(x.metadata["parameter"]._replace(name=x.name) for x in fields(self.parameters or _Nothing))

    @cached_property
    def tuples(self) -> tuple[Callable, Callable, Callable]:
        """The types of reference, state and parameters. Their names identify them for the cache of compiled code.
        Without a state there is no dt."""
        names = self.reference, (*self.state, "dt") if self.state else (), [row.name for row in self.rows]
        return tuple(namedtuple("_".join((kind, *some)), some)
                     for kind, some in zip(("Reference", "State", "Parameters"), names, strict=True))

    # ------------------------------------------------------------------------------------------------- values
    def values(self, robot: Robot, parameters: Any = None) -> tuple:
        """Return the named tuple of the parameters of an instance of the dataclass, by default those of its defaults.
        Raises ValueError that names the parameter and the value that does not fit."""
        known_robot(robot)
        if robot.nq != robot.n:
            raise ValueError(f"law {self.name} has joints of one degree of freedom, but the robot has "
                             f"{robot.nq} positions for {robot.n} velocities")
        kind = self.parameters or _Nothing
        given = kind() if parameters is None else parameters
        if not isinstance(given, kind):
            raise ValueError(f"parameters of law {self.name} are {checks.described(given)}: must be {kind.__name__}")
        found = []
        for row in self.rows:
            x = checks.real_numbers(row.name, getattr(given, row.name)).astype(float)
            if x.shape not in ((), (robot.n,) if row.per_joint else ()):
                raise ValueError(f"parameter {row.name} has shape {x.shape}, must be a number"
                                 + (f" or ({robot.n},)" if row.per_joint else ""))
            if not (np.isfinite(x).all() and (x >= row.lower).all() and (x <= row.upper).all()):
                raise ValueError(f"parameter {row.name} is {x.tolist()} {row.unit}: must be finite, and from "
                                 f"{row.lower} to {row.upper}")
            found.append(np.array(np.broadcast_to(x, robot.n)) if row.per_joint else float(x))
        return self.tuples[2](*found)

    def sizes(self, robot: Robot) -> dict[str, int]:
        """Return the size of each array of the state."""
        return {name: robot.n if size == JOINT else int(size) for name, size in self.state.items()}

    def shape(self, robot: Robot, name: str) -> tuple[int, ...]:
        """Return the shape of a reference."""
        return tuple(robot.n if size == JOINT else size for size in REFERENCES[name][0])

    def references(self, robot: Robot, given: Mapping[str, ArrayLike]) -> tuple:
        """Return the named tuple of references. Raises ValueError for a missing or unknown one, for another shape, and
        for numbers that are not finite or no pose."""
        if not isinstance(given, Mapping):
            raise ValueError(f"references of law {self.name} are {checks.described(given)}: must be a dict "
                             "{name: array}, or a function of the time that returns it")
        if set(given) != set(self.reference):
            raise ValueError(f"law {self.name} has the references {', '.join(self.reference) or 'none'}, but got "
                             f"{', '.join(map(str, given)) or 'none'}")
        found = []
        for name in self.reference:
            x = _numbers(f"reference {name}", given[name], self.shape(robot, name))
            found.append(pose(f"reference {name}", x) if name == POSE else x)
        return self.tuples[0](*found)

    # ------------------------------------------------------------------------------------------------- uses
    def cycle(self, robot: Any, t: Any, q: Any, qd: Any, reference: tuple, state: tuple, parameters: tuple
              ) -> tuple[Any, tuple]:
        """Return the efforts and the state of the next cycle, of named tuples; state has dt."""
        found = self.function(robot, t, q, qd, reference, state, parameters)
        if self.state and not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], tuple)):
            raise ValueError(f"law {self.name} has a state: it must return efforts, ({', '.join(self.state)},), the "
                             "state that of the next cycle")
        efforts, after = found if self.state else (found, ())
        if np.shape(efforts) != np.shape(qd):
            raise ValueError(f"law {self.name} returns efforts of shape {np.shape(efforts)}, must be {np.shape(qd)}")
        if [np.shape(x) for x in after] != [np.shape(x) for x in state[:-1]]:
            raise ValueError(f"law {self.name} must return the next state, arrays of the shapes of "
                             f"{', '.join(self.state)}")
        return efforts, after

    def controller(self, robot: Robot, parameters: Any = None,
                   reference: Mapping[str, ArrayLike] | Callable | None = None) -> Callable:
        """Return the law as a controller of rollouts, which compile it, on lanes where they can.

        Parameters
        ----------
        robot : Robot
            Robot, for the shapes.
        parameters : object, optional
            Instance of the dataclass of parameters.
        reference : dict or callable, optional
            {name: array}, or a function of the time, decorated by ``numba.njit``, that returns a tuple of all
            references in the law's order.

        Returns
        -------
        callable
            Function ``controller(robot, t, q, qd, tau)``.

        Raises
        ------
        ValueError
            If the law has a state, which compiled controllers do not keep; `loop` does.
        """
        if self.state:
            raise ValueError(f"law {self.name} has the state {', '.join(self.state)}, which a compiled controller does "
                             "not keep: give the rollout law.loop(...)")
        function, values = jit(self.function), self.values(robot, parameters)
        wrong = f"law {self.name} returns efforts of another shape than ({robot.n},)"
        if callable(reference):
            make = self.tuples[0]

            def controller(robot, t, q, qd, tau):
                found = function(robot, t, q, qd, make(*reference(t)), (), values)
                if np.shape(found) != np.shape(tau):
                    raise ValueError(wrong)
                tau[:] = found
        else:
            constant = self.references(robot, {} if reference is None else reference) or ()

            def controller(robot, t, q, qd, tau):
                found = function(robot, t, q, qd, constant, (), values)
                if np.shape(found) != np.shape(tau):
                    raise ValueError(wrong)
                tau[:] = found
        controller.__name__ = controller.__qualname__ = self.name
        return controller

    def loop(self, robot: Robot, period: float, parameters: Any = None,
             reference: Mapping[str, ArrayLike] | Callable | None = None) -> Loop:
        """Return a running law, which keeps its state from cycle to cycle.

        Parameters
        ----------
        robot : Robot
            Model of the robot.
        period : float
            Time between two cycles in s, of which the first one has the step state.dt.
        parameters : object, optional
            Instance of the dataclass of parameters.
        reference : dict or callable, optional
            {name: array}, or a function of the time that returns it. `Loop.reference` changes it.

        Returns
        -------
        Loop
            Function of the time and the state of the robot that returns efforts.
        """
        return Loop(self, robot, period, parameters, {} if reference is None else reference)


@dataclass(frozen=True)
class _Nothing:
    """The parameters of a law without parameters."""


def known_robot(robot: Any) -> None:
    """Raise ValueError if an object is no Robot."""
    if not isinstance(robot, Robot):
        raise ValueError(f"robot must be a Robot, not {checks.described(robot)}")


def _field_name(what, name):
    """Raise ValueError for a name that cannot be a field of a named tuple."""
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name) or name.startswith("_"):
        raise ValueError(f"{what} {name!r} must be an identifier of Python, no keyword, and not begin with _")


def _numbers(what, x, shape) -> np.ndarray:
    """Return a new array of finite numbers of this shape."""
    found = np.array(checks.finite_numbers(what, x), dtype=float)
    if found.shape != shape:
        raise ValueError(f"{what} has shape {found.shape}, must be {shape}")
    return found


class Loop:
    """A running law: ``loop(t, q, qd)`` is a cycle and returns efforts (n,).

    Parameters
    ----------
    law : Law
        The law.
    robot : Robot
        Model of the robot.
    period : float
        Time between two cycles in s, of which the first one has the step ``state.dt``.
    parameters : object or None
        Instance of the dataclass of parameters; None for the defaults.
    reference : dict or callable
        {name: array}, or a function of the time that returns it. The attribute may be replaced.

    Notes
    -----
    The attribute ``state`` is {name: array} before the next cycle. A cycle raises ValueError if its time is not after
    that of the one before, so that an integrator with several evaluations a step is refused, if q or qd is not (n,) of
    finite numbers, and if an effort or a number of the next state is not finite. The state is then that before the
    cycle.
    """

    def __init__(self, law: Law, robot: Robot, period: float, parameters: Any, reference: Mapping | Callable):
        self.law, self.robot, self.period = law, robot, checks.positive("period", period)
        self.reference, self.parameters = reference, parameters
        if not callable(reference):
            law.references(robot, reference)        # refused here, not in the first cycle
        self.reset()

    @property
    def parameters(self) -> tuple:
        """The named tuple of the parameters; set it to an instance of the dataclass, or None for the defaults."""
        return self._parameters

    @parameters.setter
    def parameters(self, parameters: Any) -> None:
        self._parameters = self.law.values(self.robot, parameters)

    def reset(self) -> None:
        """Return to the initial state."""
        self.state = {name: np.zeros(size) for name, size in self.law.sizes(self.robot).items()}
        self._last: float | None = None

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Make a cycle."""
        name, n = self.law.name, self.robot.n
        dt = self.period if self._last is None else t - self._last
        if not dt > 0.0:
            raise ValueError(f"law {name}: time {t} s must be after that of the cycle before, {self._last} s. Call "
                             "loop.reset() before another run; a rollout needs an integrator with one evaluation a "
                             "step, semi_implicit_euler, and a batch of states needs law.controller(...)")
        given = self.reference(t) if callable(self.reference) else self.reference
        state = self.law.tuples[1](*(x.copy() for x in self.state.values()), *([dt] if self.state else []))
        efforts, after = self.law.cycle(
            self.robot, t, _numbers(f"law {name}: q", q, (n,)), _numbers(f"law {name}: qd", qd, (n,)),
            self.law.references(self.robot, given), state, self._parameters)
        try:
            found = _numbers("efforts", efforts, (n,))
            states = {key: _numbers(f"state {key}", x, old.shape)
                      for (key, old), x in zip(self.state.items(), after, strict=True)}
        except ValueError as error:
            raise ValueError(f"law {name} at t = {t} s: {error}") from None
        self.state, self._last = states, t
        return found
