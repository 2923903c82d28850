"""Driven motion of a robot with closed loops: servos, motors and brakes as of simulation/driven.py, in NumPy.

Steps are semi-implicit, and leave the loops closed. In admissible velocities N, J N = 0, accelerations are a + N z with
J a = -J' qd; servos and brakes, which prescribe those of their joints, are constraints on z, and their efforts its
multipliers. Constraints among each other, as servos on both ends of a rod, are met as well as can be, with the least
efforts."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from screw_dynamics.algorithms.friction import resistance
from screw_dynamics.closed_loops import ClosedLoopRobot
from screw_dynamics.closed_loops.projection import RANK, directions
from screw_dynamics.floating_base import coordinates
from screw_dynamics.forces import Element
from screw_dynamics.robot import Robot
from screw_dynamics.simulation.driven import (
    ACCELERATION,
    ADDED,
    BRAKE,
    CLIPPED,
    DAMPING,
    DRIVE,
    FRICTION,
    GRAVITY,
    LIMIT,
    LOWER,
    POSITION,
    RATE,
    SERVO,
    STIFFNESS,
    STRENGTH,
    UPPER,
    VELOCITY,
)

IMPACTS = 8     # stops that a step can meet one after the other
Wrenches = Mapping[str, np.ndarray]


class Mechanism:
    """A robot whose model has constraints, moved as `Driven` moves one without.

    reason: why the last motion ended early, or ""."""

    def __init__(self, robot: Robot, forces: Sequence[Element] = ()):
        self.loops, self.robot, self.reason = ClosedLoopRobot(robot), robot, ""
        self._total = robot.total_force(forces)

    def closed(self, q: np.ndarray, qd: np.ndarray, motors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The closed configuration (nq,) near q with the motors, a mask (n,), where they are, or if that cannot be the
        one nearest by, and the admissible velocities (n,) nearest to qd. ValueError names what stays open."""
        try:
            q = self.loops.project(q, held=motors)
        except ValueError:
            q = self.loops.project(q)
        return q, self.loops.project_velocity(q, qd) if qd.any() else qd

    def wrenches(self, external: Wrenches) -> Wrenches:
        """As they are: {link: (6,)}."""
        return external

    def run(self, joints: np.ndarray, wrenches: Wrenches, reference: np.ndarray, steps: int, start: float, h: float,
            q: np.ndarray, qd: np.ndarray, clipped: np.ndarray, past: np.ndarray
            ) -> tuple[int, np.ndarray, np.ndarray]:
        """As Driven.run."""
        tau, n = np.zeros(self.robot.n), self.robot.n
        self.reason, at = "", self._reduced(q)
        for k in range(max(steps, 1)):
            row = reference[min(k, len(reference) - 1)]
            with np.errstate(all="ignore"):
                tau, qdd, beyond = self._drive(at, joints, wrenches, row, start + k * h, h, q, qd)
                if steps == 0:
                    break
                failing = ~np.isfinite(tau + qdd)
                if failing.any():
                    return k, tau, failing
                try:
                    at, after, v = self._stepped(joints, h, q, qd + h * qdd)
                except ValueError as error:     # not closed, or not finite
                    self.reason = f"loops opened in a step, a shorter dt may help: {error}"
                    return k, tau, np.ones(n, dtype=bool)
                if not np.isfinite(v).all():
                    return k, tau, ~np.isfinite(v)
            if len(past):
                past[k, 0], past[k, 1, :n] = q, qd
                past[k, 2:, :n] = tau
            q[:], qd[:] = after, v
            clipped += beyond
        return steps, tau, np.zeros(n, dtype=bool)

    def _reduced(self, q):
        return Reduced(self.loops.jacobian(q), self.robot.mass_matrix(q))

    def _drive(self, at, joints, wrenches, row, t, h, q, qd):
        """Efforts (n,) of motors, servos and brakes, accelerations (n,), and the mask of what is clipped."""
        robot, kind, limit = self.robot, joints[DRIVE], joints[LIMIT]
        passive, added_inertia = self._resistance(joints, t, h, q, qd)
        held, beyond = kind >= SERVO, joints[CLIPPED] != 0.0
        off = np.where(robot.model.places_in_q < 0, 0.0, row[POSITION] - coordinates(q, robot.n))
        wanted = row[ACCELERATION] + joints[RATE] * (row[VELOCITY] - qd) + joints[STIFFNESS] * off
        added = np.where(kind == SERVO, row[ADDED], 0.0)
        tau = np.where(kind == GRAVITY, robot.gravity_torque(q), np.where(held, 0.0, row[ADDED]))
        beyond = beyond | ~held & (np.abs(tau) > limit)
        tau = np.where(held, tau, np.clip(tau, -limit, limit))
        bias = robot.inverse_dynamics(q, qd, np.zeros(robot.n), wrenches or None)
        dynamics = at.moving(self.loops.drift(q, qd), bias, added_inertia)
        for _ in range(robot.n + 1):
            qdd, net = dynamics.accelerations(np.where(held, 0.0, tau + passive), held, wanted)
            tau = np.where(held, net - passive, tau)
            over = held & (kind == SERVO) & (np.abs(tau + added) > limit)
            freed = over | held & (added != 0.0)
            if not freed.any():
                break
            tau = np.where(freed, np.clip(tau + added, -limit, limit), tau)
            held, beyond = held & ~freed, beyond | over
        if (joints[STRENGTH] != 1.0).any():
            brakes = kind == BRAKE
            tau = np.where(brakes, tau, tau * joints[STRENGTH])
            qdd, net = dynamics.accelerations(np.where(brakes, 0.0, tau + passive), brakes, wanted)
            tau = np.where(brakes, net - passive, tau)
        return tau, qdd, beyond

    def _resistance(self, joints, t, h, q, qd):
        """The efforts (n,) of friction and of force elements, and the added inertia (n,) by which a step takes them at
        its end."""
        d = resistance(joints[DAMPING], joints[FRICTION], qd)
        if not self._total:
            return -d * qd, h * d
        f, K, D = self._total.terms(q, qd, t, ahead=h)
        return f - d * qd, h * (d + D) + h * h * K

    def _stepped(self, joints, h, q, v):
        """What is Reduced, the closed configuration and the velocities after a step with velocities v, with brakes and
        at stops."""
        robot, brakes = self.robot, joints[DRIVE] == BRAKE
        lower, upper, places = joints[LOWER], joints[UPPER], robot.model.places_in_q
        v = np.where(brakes, 0.0, v)
        held, after = brakes, robot.integrate(q, h * v)
        for k in range(IMPACTS):
            x = np.where(places < 0, 0.0, after[places])
            out = (places >= 0) & ~held & ((x < lower) | (x > upper))
            if k and not out.any():
                break
            after[places[out]] = np.clip(x, lower, upper)[out]
            held = held | out
            after = self._closed(after, held, brakes)
        x = np.where(places < 0, 0.0, after[places])
        at, stopped = self._reduced(after), brakes
        for _ in range(IMPACTS):
            v = at.velocities(v, stopped)
            outwards = (places >= 0) & ((v < 0.0) & (x <= lower) | (v > 0.0) & (x >= upper)) & ~stopped
            if not outwards.any():
                break
            stopped = stopped | outwards
        return at, after, np.where(stopped, 0.0, v)

    def _closed(self, q, held, brakes):
        """The closed configuration near q; at stops only if the loops can be closed there."""
        try:
            return self.loops.project(q, held=held)
        except ValueError:
            if (held == brakes).all():
                raise
            return self.loops.project(q, held=brakes)


class Reduced:
    """The mass matrix M (n, n) at a configuration in the admissible velocities N (n, degrees), which J N = 0 says."""

    def __init__(self, J: np.ndarray, M: np.ndarray):
        of = directions(J)
        self._inverse = (of.acting * of.inverse) @ of.U.T
        self.N, self.M = of.V[:, ~of.held], M
        self.A = self.N.T @ M @ self.N

    def moving(self, drift: np.ndarray, bias: np.ndarray, added: np.ndarray) -> "Moving":
        """What accelerates with drift J' qd (m,), bias forces (n,) and added inertia (n,)."""
        return Moving(self.N, self.M + np.diag(added), -self._inverse @ drift, bias)

    def velocities(self, v: np.ndarray, held: np.ndarray) -> np.ndarray:
        """The admissible velocities (n,) after an impulse of the loops, and of what holds the joints of a mask."""
        z = np.linalg.solve(self.A, self.N.T @ (self.M @ v))
        return self.N @ holding(self.A, self.N, z, held, np.zeros(int(held.sum())))[0]


class Moving:
    """The equations of motion in the admissible velocities N: accelerations are a + N z, a those that the loops need,
    and M (a + N z) + bias = tau along N."""

    def __init__(self, N: np.ndarray, M: np.ndarray, a: np.ndarray, bias: np.ndarray):
        self.N, self.M, self.a, self.bias = N, M, a, bias
        self.A = N.T @ M @ N

    def accelerations(self, tau: np.ndarray, held: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations (n,) of efforts (n,) where the mask `held` has the wanted ones, and the efforts (n,) that
        hold them so."""
        z = np.linalg.solve(self.A, self.N.T @ (tau - self.bias - self.M @ self.a))
        z, force = holding(self.A, self.N, z, held, (wanted - self.a)[held])
        net = np.zeros(len(tau))
        net[held] = force
        return self.a + self.N @ z, net


def holding(A: np.ndarray, N: np.ndarray, z: np.ndarray, held: np.ndarray, target: np.ndarray
            ) -> tuple[np.ndarray, np.ndarray]:
    """z changed so that N z is the target in the rows of the mask `held`, and the forces there that change it."""
    if not held.any():
        return z, target
    B = N[held]
    compliance = np.linalg.solve(A, B.T)
    force = np.linalg.pinv(B @ compliance, rcond=RANK) @ (target - B @ z)
    return z + compliance @ force, force


def residuals(robot: Robot) -> dict[str, Callable[[np.ndarray], float]]:
    """{name and unit of each constraint of the robot's model: its largest residual at a configuration (nq,)}."""
    if not robot.model.constraints:
        return {}
    loops = ClosedLoopRobot(robot)
    return {f"{name} [m or rad]": lambda q, name=name: loops.residuals(q)[name] for name in loops.rows}


def prepare_loops(robot: Robot, q: np.ndarray, qd: np.ndarray) -> None:
    """Call once what a step of a robot with closed loops calls, so that it is loaded, or compiled."""
    loops = ClosedLoopRobot(robot)
    with suppress(ValueError):              # nowhere near
        loops.project(q)
    loops.jacobian(q)
    loops.drift(q, qd)
    loops.project_velocity(q, qd)
