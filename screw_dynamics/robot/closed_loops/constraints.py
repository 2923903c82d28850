"""All constraints of a robot: their names and their tables for the kernels of constraints."""
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.compiled.calls import Workspaces, bind, evaluate
from screw_dynamics.compiled.workspace import workspace
from screw_dynamics.constraints import rows, tables
from screw_dynamics.constraints.dynamics import ACCELERATION, ADMISSIBLE_VELOCITIES, FORWARD_DYNAMICS
from screw_dynamics.constraints.entries import Constrained
from screw_dynamics.constraints.kinematics import DRIFT, KINEMATICS, MATRICES, RESIDUAL
from screw_dynamics.model.constraints import BetweenLinks, Constraint, Gear, Held
from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import pose, twist
from screw_dynamics.screws.se3 import Pose, Wrench, compose, identity
from screw_dynamics.utils import checks
from screw_dynamics.utils.lazy import remade


class Loop(NamedTuple):
    """A constraint between two links: its kind and number of rows."""

    link: str
    on: str
    held: Held
    m: int


class Coupling(NamedTuple):
    """A constraint ratios . q = offset between coordinates: indices into q and into velocities, and ratios (k,)."""

    of_q: np.ndarray
    of_v: np.ndarray
    ratios: np.ndarray
    offset: float


class Constraints:
    """m scalar constraints of a robot. `rows`: {name: slice}.

    q: the configuration (nq,) in which joints without frame_on, and distances without length, are closed."""

    def __init__(self, robot: Robot, constraints: Sequence[Constraint], q: np.ndarray):
        self.robot, self.m, members = robot, 0, robot.model.members
        self.parts: dict[str, Loop | Coupling] = {}
        self.rows: dict[str, slice] = {}
        for given in constraints:
            given = members.checked(given)
            if given.name in self.parts:
                raise ValueError(f"constraint {given.name!r} already exists")
            part = _coupling(robot, given) if isinstance(given, Gear) else _loop(robot, given, q)
            m = 1 if isinstance(part, Coupling) else part.m
            self.parts[given.name], self.rows[given.name] = part, slice(self.m, self.m + m)
            self.m += m
        self.in_workspaces = robot.tables._replace(tables=self._packed(), work=tables.work(robot.n, self.m))
        self.memory, self.on_lanes = workspace(self.in_workspaces), Workspaces(self.in_workspaces)
        first = robot.n + self.m
        self.numbers = first + 6 * len(self.parts) + 1          # of results of forward dynamics
        self.of_qdd, self.of_multipliers = slice(0, robot.n), slice(robot.n, first)     # slices of the last axis
        self.wrenches = {name: slice(first + 6 * k, first + 6 * k + 6) for k, (name, part) in enumerate(
            self.parts.items()) if isinstance(part, Loop)}
        shares = robot.model.shares_coordinates
        self.acceleration = ACCELERATION[shares].entry.of(robot.model.structure)        # for integrators

    @remade
    def _kinematics(self):
        return self.of(KINEMATICS)

    @remade
    def accelerations(self) -> Any:
        """The BoundKernel of forward dynamics."""
        return self.of(FORWARD_DYNAMICS[self.robot.model.shares_coordinates])

    @remade
    def velocities(self) -> Any:
        """The BoundKernel of admissible velocities."""
        return self.of(ADMISSIBLE_VELOCITIES[self.robot.model.shares_coordinates])

    def residual(self, q: np.ndarray) -> np.ndarray:
        """Return the residual (..., m), 0 where all constraints hold; lengths in m, angles in rad, cosines."""
        return self._at_rest(q)[..., RESIDUAL]

    def gradient(self, q: np.ndarray) -> np.ndarray:
        """Return the derivative (..., m, n) of the residual, by velocities."""
        return self._at_rest(q)[..., MATRICES + self.robot.n:]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Return the Jacobian J (..., m, n) of [MD] (77): J qd = 0 for motions that satisfy the constraints."""
        return self._at_rest(q)[..., MATRICES:MATRICES + self.robot.n]

    def drift(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the drift J' qd (..., m): admissible accelerations have J qdd = -J' qd."""
        return self.drift_and_jacobian(q, qd)[0]

    def drift_and_jacobian(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the drift and the Jacobian."""
        found = self.evaluate(self._kinematics, q=q, qd=qd)
        return found[..., DRIFT], found[..., MATRICES:MATRICES + self.robot.n]

    def _at_rest(self, q):
        return self.evaluate(self._kinematics, q=q, qd=np.zeros((*np.shape(q)[:-1], self.robot.n)))

    def errors(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the residual (..., m) and J qd (..., m), both 0 for states that satisfy the constraints."""
        found, J = self.evaluate(self._kinematics, q=q, qd=qd), slice(MATRICES, MATRICES + self.robot.n)
        return found[..., RESIDUAL], found[:, J] @ qd if qd.ndim == 1 else (found[..., J] @ qd[..., None])[..., 0]

    def largest(self, h: np.ndarray) -> dict[str, float]:
        """Return {name: largest absolute value of its rows} of a residual (..., m)."""
        return {name: float(np.abs(h[..., rows]).max(initial=0.0)) for name, rows in self.rows.items()}

    # --------------------------------------------------------------------------------------------- evaluation
    def of(self, kernel: Constrained) -> Any:
        """Return the BoundKernel of an algorithm for this robot."""
        entry, shape = kernel.entry.of(self.robot.model.structure), kernel.shape(self.robot.n, self.m, len(self.parts))
        return bind(entry, self.in_workspaces, self.memory, self.on_lanes, shape)

    def evaluate(self, bound: Any, **inputs: ArrayLike) -> np.ndarray:
        """Evaluate a kernel on one state or on each of a batch, after validation of the inputs {name: array-like}."""
        robot = self.robot
        found = bound(*inputs.values(), None, None)
        if found is not None:
            return found
        arrays = checks.broadcast({name: checks.real_numbers(name, x, robot.nq if name == "q" else robot.n)
                                   for name, x in inputs.items()})
        return evaluate(bound, (), arrays, np.empty((*arrays[0].shape[:-1], *bound.shape)), None)

    def _packed(self):
        """Return the tables of the recursions."""
        robot, loops, constant, terms = self.robot, [], [], []
        origin = identity(0.0)
        nothing = tables.Row(Wrench(origin.p, origin.p), 0.0)
        slots = {link.coordinate: slot for slot, link in reversed([*enumerate(robot.tables.links)][1:])}
        for part, where in zip(self.parts.values(), self.rows.values(), strict=True):
            if isinstance(part, Coupling):
                loops.append(tables.Loop(tables.COUPLING, where.start, 1, 0, 0, origin, origin, origin, part.offset))
                constant.append(nothing)
                terms += [tables.Term(where.start, int(at), slots[int(k)], float(ratio))
                          for at, k, ratio in zip(part.of_q, part.of_v, part.ratios, strict=True)]
                continue
            held = part.held
            (i, C), (j, B) = (self._in_body(*end) for end in ((part.link, held.frame), (part.on, held.frame_on)))
            loops.append(tables.Loop(rows.NUMBERS[held.kind], where.start, part.m, i, j, C, B, pose(held.frame),
                                     held.size))
            constant += [tables.Row(Wrench(*twist(P)), float(lead))
                         for P, lead in zip(held.P, held.leads, strict=True)] or [nothing] * part.m
        return tables.pack(loops, constant, terms)

    def _in_body(self, link: str, frame: np.ndarray) -> tuple[int, Pose]:
        """Return the slot of a link's body, and the pose of a frame of the link in this body."""
        row = self.robot.tables.frames[self.robot.tables.names[link]]
        return row.body, compose(row.C, pose(frame))


def _loop(robot: Robot, given: BetweenLinks, q: np.ndarray) -> Loop:
    held = given.held(robot.forward_kinematics(q, given.link, given.on))
    return Loop(given.link, given.on, held, rows.KINDS[held.kind].count or len(held.P))


def _coupling(robot: Robot, gear: Gear) -> Coupling:
    of_q, of_v = (np.array([where[joint].start for joint in gear.ratios], dtype=int)
                  for where in (robot.q_slices, robot.v_slices))
    return Coupling(of_q, of_v, np.array(list(gear.ratios.values())), gear.offset)
