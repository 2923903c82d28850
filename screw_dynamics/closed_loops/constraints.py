"""All constraints of a robot at once: residual, Jacobian, drift, and the wrenches of multipliers."""
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from screw_dynamics import checks
from screw_dynamics.model.constraints import Constraint, Distance, Gear, LoopJoint
from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import Ad_matrix, inverse_pose

from .joints import Form, Length, form


class Loop(NamedTuple):
    """A constraint between two links: its form, the pose (4, 4) of its frame in the link, what leads from the other
    link to its frame there (4, 4), and what takes twists of the link to its frame (6, 6)."""

    form: Form
    link: str
    on: str
    frame: np.ndarray
    from_on: np.ndarray
    to_frame: np.ndarray


class Coupling(NamedTuple):
    """A constraint ratios . q = offset between coordinates: numbers of q and of velocities, and ratios (k,)."""

    of_q: np.ndarray
    of_v: np.ndarray
    ratios: np.ndarray
    offset: float


class Constraints:
    """m scalar constraints of a robot: `rows` {name: slice} tells which are whose.

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
            m = 1 if isinstance(part, Coupling) else part.form.m
            self.parts[given.name], self.rows[given.name] = part, slice(self.m, self.m + m)
            self.m += m

    def residual(self, q: np.ndarray) -> np.ndarray:
        """(..., m): 0 where all constraints hold; lengths in m, angles in rad, cosines."""
        h = np.empty((*q.shape[:-1], self.m))
        for part, rows in zip(self.parts.values(), self.rows.values(), strict=True):
            if isinstance(part, Coupling):
                h[..., rows.start] = q[..., part.of_q] @ part.ratios - part.offset
            else:
                h[..., rows] = part.form.residual(self._relative(part, q))
        return h

    def gradient(self, q: np.ndarray) -> np.ndarray:
        """(..., m, n): the residual's derivative, in velocities."""
        return self._by_velocities(q, "gradient")

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """J (..., m, n): J qd = 0 along motions that keep the constraints; [PK]."""
        return self._by_velocities(q, "rows")

    def drift(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """J' qd (..., m): accelerations that keep the constraints have J qdd = -J' qd."""
        lead = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1])
        found = np.zeros((*lead, self.m))
        for part, rows in zip(self.parts.values(), self.rows.values(), strict=True):
            if isinstance(part, Coupling):
                continue
            D, V = self._relative(part, q), _times(self._screws(part, q), qd)
            screw_rates = self.robot.jacobian_derivative(q, qd, part.link, reference=part.on)
            found[..., rows] = (_times(part.form.rows_rate(D, V), V) +
                                _times(part.form.rows(D), _times(part.to_frame @ screw_rates, qd)))
        return found

    def wrenches(self, q: np.ndarray, multipliers: np.ndarray) -> Mapping[str, np.ndarray]:
        """{name: (..., 6)} of multipliers (..., m): the wrench that each constraint between links exerts on its link,
        at the link's origin and resolved in its frame; [MD] (77). The other link feels the opposite one."""
        found = {}
        for (name, part), rows in zip(self.parts.items(), self.rows.values(), strict=True):
            if isinstance(part, Loop):
                to_rows = part.form.rows(self._relative(part, q)) @ part.to_frame
                found[name] = _times(np.swapaxes(to_rows, -1, -2), multipliers[..., rows])
        return found

    def largest(self, h: np.ndarray) -> dict[str, float]:
        """{name: the largest absolute value of its rows} of a residual (..., m)."""
        return {name: float(np.abs(h[..., rows]).max(initial=0.0)) for name, rows in self.rows.items()}

    def _by_velocities(self, q, kind):
        J = np.zeros((*q.shape[:-1], self.m, self.robot.n))
        for part, rows in zip(self.parts.values(), self.rows.values(), strict=True):
            if isinstance(part, Coupling):
                J[..., rows.start, part.of_v] = part.ratios
            else:
                J[..., rows, :] = getattr(part.form, kind)(self._relative(part, q)) @ self._screws(part, q)
        return J

    def _relative(self, loop, q):
        """D (..., 4, 4), the pose of the frame of the link in that of the other."""
        return loop.from_on @ self.robot.forward_kinematics(q, loop.link, loop.on) @ loop.frame

    def _screws(self, loop, q):
        """The instantaneous joint screws (..., 6, n) of the chain between the two links, in the frame of the link."""
        return loop.to_frame @ self.robot.jacobian(q, loop.link, reference=loop.on)


def _loop(robot: Robot, given: LoopJoint | Distance, q: np.ndarray) -> Loop:
    relative = robot.forward_kinematics(q, given.link, given.on)
    if isinstance(given, Distance):
        frame, frame_on = np.eye(4), np.eye(4)
        frame[:3, 3], frame_on[:3, 3] = given.point, given.point_on
        D = inverse_pose(frame_on) @ relative @ frame
        length = float(np.linalg.norm(D[:3, 3])) if given.length is None else given.length
        held: Form = Length(checks.positive(f"distance {given.name!r}: length", length))
    else:
        held, frame = form(given), given.frame
        frame_on = relative @ frame if given.frame_on is None else given.frame_on
    return Loop(held, given.link, given.on, frame, inverse_pose(frame_on), Ad_matrix(inverse_pose(frame)))


def _coupling(robot: Robot, gear: Gear) -> Coupling:
    of_q, of_v = (np.array([where[joint].start for joint in gear.ratios], dtype=int)
                  for where in (robot.q_slices, robot.v_slices))
    return Coupling(of_q, of_v, np.array(list(gear.ratios.values())), gear.offset)


def _times(A, x):
    return (A @ x[..., None])[..., 0]
