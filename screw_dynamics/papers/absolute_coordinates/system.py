"""MultibodySystem: rigid bodies in absolute coordinates, with joints, springs and wrenches, and their equations of
motion in body-fixed twists and in mixed velocities; [MT] sections 2 and 3."""
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.arrays import cross, inverse_pose, mass_moment_rotational, times, transpose_times
from screw_dynamics.utils import checks

from .bodies import Body, numbered, root_inverse
from .constraints import JointConstraints
from .groups import ConfigurationGroup
from .index_1 import WeightedConstraints, dependent_rows
from .joint_springs import JointSpring, JointSprings
from .joints import HOLDS_A_POINT, RESOLUTIONS, Joint, Z, rows, slide
from .springs import Spring, Springs

ASSEMBLED = 1e-8        # largest residual of a closed joint

Wrenches = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


class State(NamedTuple):
    """A state of a system.

    Parameters
    ----------
    poses : ndarray (n, 4, 4)
        Poses of the bodies.
    velocities : ndarray (n, 6)
        Velocities in the representation of each body's group.
    """

    poses: np.ndarray
    velocities: np.ndarray


class MultibodySystem:
    """A system of rigid bodies with joints, springs and wrenches: V' = F(t, g, V).

    Parameters
    ----------
    bodies : sequence of Body
        Bodies.
    joints : sequence of Joint, optional
        Joints between the bodies, or between a body and the ground.
    springs : sequence of Spring or JointSpring, optional
        Springs between points of bodies, and in joints.
    gravity : array_like (3,), optional
        Gravity in m/s^2.
    wrenches : callable, optional
        Function wrenches(t, poses, twists) that returns additional wrenches (n, 6) on the bodies, about and in their
        frames, from body-fixed twists (n, 6).
    baumgarte : tuple of float, optional
        Coefficients (alpha, beta) in 1/s of Baumgarte stabilization: residuals h of the constraints follow h'' + 2
        alpha h' + beta^2 h = 0 instead of h'' = 0.

    Raises
    ------
    ValueError
        If there is no body, if a name does not exist or is repeated, if a body has no mass, or if a joint is not
        closed.

    References
    ----------
    [MT] (17a).
    """

    def __init__(self, bodies: Sequence[Body], joints: Sequence[Joint] = (),
                 springs: Sequence[Spring | JointSpring] = (), gravity: ArrayLike = (0.0, 0.0, -9.81),
                 wrenches: Wrenches | None = None, baumgarte: tuple[float, float] = (0.0, 0.0)):
        self.bodies, self.joints, self.springs = tuple(bodies), tuple(joints), tuple(springs)
        self.gravity, self.wrenches, self.baumgarte = checks.vector("gravity", gravity, 3), wrenches, tuple(baumgarte)
        if not self.bodies:
            raise ValueError("a system must have a body")
        self.number = numbered(self.bodies, self.joints, self.springs)
        self.group = ConfigurationGroup([body.group for body in bodies])
        self.inertias = np.array([body.inertia for body in bodies])
        self._roots_inverse = np.array([root_inverse(body) for body in bodies])           # L^-T
        self._roots = np.linalg.inv(self._roots_inverse)                                   # L^T
        self._inverses = self._roots_inverse @ self._roots_inverse.transpose(0, 2, 1)
        self._springs = Springs([s for s in self.springs if isinstance(s, Spring)], self.number)
        self._joint_springs = JointSprings(
            [s for s in self.springs if isinstance(s, JointSpring)],
            {joint.name: (slide(joint, *self._frames(joint), Z), joint.kind == "prismatic") for joint in self.joints
             if joint.kind in ("revolute", "prismatic")})
        self.constraints = JointConstraints([row for joint in self.joints
                                             for row in rows(joint, *self._frames(joint), self.n)], self.n)
        self._semidirect = self.group.semidirect[:, None] * 1.0
        self._check_closed()
        self.weighted = WeightedConstraints(self.constraints, self._roots_inverse, self._rates(*self.initial()))

    # ------------------------------------------------------------------------------------------------- properties
    @property
    def n(self) -> int:
        """The number of bodies."""
        return len(self.bodies)

    @property
    def rank(self) -> int:
        """The number of independent constraints of the assembled mechanism."""
        return self.weighted.rank

    @property
    def degrees_of_freedom(self) -> int:
        """The degrees of freedom of the assembled mechanism: 6 n minus the independent constraints."""
        return 6 * self.n - self.rank

    def redundancy(self, state: State | None = None) -> dict[str, int]:
        """Count the dependent constraints of each joint.

        Parameters
        ----------
        state : State, optional
            State at which to count. By default the initial state.

        Returns
        -------
        dict of str to int
            Number of dependent constraints by joint; empty if there are none.
        """
        involved = dependent_rows(self.weighted.matrix(self._rates(*(state or self.initial()))))
        return {joint.name: count for joint in self.joints
                if (count := int(involved[[name == joint.name for name in self.constraints.names]].sum()))}

    def with_groups(self, groups: str | Mapping[str, str]) -> "MultibodySystem":
        """Return the system with the configurations of all or some bodies in another group.

        Parameters
        ----------
        groups : str or dict of str to str
            Group of all bodies, or the group of each named body.

        Returns
        -------
        MultibodySystem
            New system.

        Raises
        ------
        ValueError
            If a named body does not exist.
        """
        chosen = dict.fromkeys(self.number, groups) if isinstance(groups, str) else groups
        for name in chosen:
            if name not in self.number:
                bodies = ", ".join(body.name for body in self.bodies)
                raise ValueError(f"the body {name!r} does not exist; bodies are {bodies}")
        bodies = [replace(body, group=chosen.get(body.name, body.group)) for body in self.bodies]
        return MultibodySystem(bodies, self.joints, self.springs, self.gravity, self.wrenches, self.baumgarte)

    def resolved_in(self, frame: str) -> "MultibodySystem":
        """Return the system with the position constraints of joints resolved in another frame.

        Parameters
        ----------
        frame : {"other body", "inertial frame"}
            Frame, one of RESOLUTIONS.

        Returns
        -------
        MultibodySystem
            New system. All joints of the kinds in HOLDS_A_POINT are resolved in the frame; other joints stay as they
            are.
        """
        checks.one_of("resolved_in", frame, RESOLUTIONS)
        joints = [replace(joint, resolved_in=frame) if joint.kind in HOLDS_A_POINT else joint for joint in self.joints]
        return MultibodySystem(self.bodies, joints, self.springs, self.gravity, self.wrenches, self.baumgarte)

    def __repr__(self) -> str:
        redundant = self.constraints.m - self.rank
        return (f"<MultibodySystem in {self.group!r}: bodies {self.n}, joints {len(self.joints)}, "
                f"degrees of freedom {self.degrees_of_freedom}, constraints {self.constraints.m}"
                f"{f', of which redundant {redundant}' if redundant else ''}>")

    # ------------------------------------------------------------------------------------------------- states
    def initial(self, closed: bool = False) -> State:
        """Return the bodies' initial poses and velocities.

        Parameters
        ----------
        closed : bool, optional
            True for the nearest velocities that satisfy the constraints, in the metric of kinetic energy.

        Returns
        -------
        State
            Initial state.
        """
        poses = np.array([body.pose for body in self.bodies])
        state = State(poses, self.velocities(poses, np.array([body.twist for body in self.bodies])))
        return State(poses, self.closed_velocities(*state)) if checks.flag("closed", closed) else state

    def twists(self, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Return body-fixed twists from velocities in the groups' representations.

        Parameters
        ----------
        poses : ndarray (..., n, 4, 4)
            Poses.
        velocities : ndarray (..., n, 6)
            Velocities in the groups' representations.

        Returns
        -------
        ndarray (..., n, 6)
            Body-fixed twists.
        """
        return self._resolved(poses, np.array(velocities), back=True)

    def velocities(self, poses: np.ndarray, twists: np.ndarray) -> np.ndarray:
        """Return velocities in the groups' representations from body-fixed twists: the inverse of ``twists``.

        Parameters
        ----------
        poses : ndarray (..., n, 4, 4)
            Poses.
        twists : ndarray (..., n, 6)
            Body-fixed twists.

        Returns
        -------
        ndarray (..., n, 6)
            Velocities in the groups' representations.
        """
        return self._resolved(poses, np.array(twists))

    def closed_velocities(self, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Return the nearest velocities that satisfy the constraints, in one step.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        velocities : ndarray (n, 6)
            Velocities in the groups' representations.

        Returns
        -------
        ndarray (n, 6)
            Velocities that satisfy the constraints, the nearest in the metric of the mass matrix.
        """
        rates = self._rates(poses, velocities)
        return velocities - self._resolved(poses, self.weighted.step(rates, rates.velocity))

    def closed_poses(self, poses: np.ndarray, tolerance: float = 1e-13, steps: int = 10) -> np.ndarray:
        """Return nearby poses g exp(-X) that satisfy the constraints.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses g.
        tolerance : float, optional
            Largest residual of the constraints in closed poses, in m and as cosines.
        steps : int, optional
            Largest number of Newton steps.

        Returns
        -------
        ndarray (n, 4, 4)
            Poses after Newton steps in the metric of the mass matrix.
        """
        for _ in range(steps):
            h = self.residuals(poses)
            if not h.size or np.abs(h).max() < tolerance:
                break
            X = self.weighted.step(self._rates(poses, np.zeros((self.n, 6))), h)
            poses = self.group.compose(poses, self.group.exp(-self._resolved(poses, X)))
        return poses

    # ------------------------------------------------------------------------------------------------- motion
    def accelerations(self, t: float, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Compute the accelerations V' of the velocities in the groups' representations.

        Parameters
        ----------
        t : float
            Time in s.
        poses : ndarray (n, 4, 4)
            Poses.
        velocities : ndarray (n, 6)
            Velocities in the groups' representations.

        Returns
        -------
        ndarray (n, 6)
            Accelerations V'.

        Notes
        -----
        The two forms of the Newton-Euler equations, (20) and (22), (24), are equivalent: with (omega', R^T r'')
        resolved in the body frame, the mixed form is the body-fixed form at v = 0.

        References
        ----------
        [MT] (20), (22), (24).
        """
        world = R, r, omega, speed = self._world(poses, velocities)
        a = self._free(t, poses, velocities, world)
        if self.constraints.m:
            rates = self.constraints.rates(R, r, omega, speed)
            a = a + self.weighted.step(rates, self._lacking(rates, R, r, velocities, a))
        return self._resolved(poses, a)

    def eta(self, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Compute the right side eta of J V' = eta, with Baumgarte terms.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        velocities : ndarray (n, 6)
            Velocities in the groups' representations.

        Returns
        -------
        ndarray (m,)
            Right side of the acceleration constraints.

        References
        ----------
        [MT] (13).
        """
        R, r, *speeds = self._world(poses, velocities)
        return self._lacking(self.constraints.rates(R, r, *speeds), R, r, velocities, np.zeros((self.n, 6)))

    def _free(self, t, poses, velocities, world):
        """Return V' (n, 6) without joints, resolved in the body frames."""
        w, v = velocities[:, :3], velocities[:, 3:] * self._semidirect
        a = times(self._inverses, self._bias(w, v) + self._applied(t, poses, velocities, *world))
        a[:, 3:] += self.gravity @ world[0][:-1]
        return a

    def imbalance(self, t: float, poses: np.ndarray, velocities: np.ndarray, accelerations: np.ndarray
                  ) -> tuple[np.ndarray, np.ndarray]:
        """Compute the forces that joints must provide for given accelerations, and the matrix of the constraints.

        Parameters
        ----------
        t : float
            Time in s.
        poses : ndarray (n, 4, 4)
            Poses.
        velocities : ndarray (n, 6)
            Velocities in the groups' representations.
        accelerations : ndarray (n, 6)
            Accelerations V' of these velocities.

        Returns
        -------
        missing : ndarray (6 n,)
            L^-1 (M V' - Q), which joints must provide as B^T mu.
        B : ndarray (m, 6 n)
            J L^-T.

        Notes
        -----
        L is the Cholesky factor of M = L L^T.
        """
        world = self._world(poses, velocities)
        missing = self._resolved(poses, accelerations, back=True) - self._free(t, poses, velocities, world)
        return times(self._roots, missing).ravel(), self.weighted.matrix(self.constraints.rates(*world))

    def constraint_wrenches(self, t: float, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Compute the total wrench of all joints on each body.

        Parameters
        ----------
        t : float
            Time in s.
        poses : ndarray (n, 4, 4)
            Poses.
        velocities : ndarray (n, 6)
            Velocities in the groups' representations.

        Returns
        -------
        ndarray (n, 6)
            Wrenches M V' - Q of (13), about and in the frame of each body.

        References
        ----------
        [MT] (13).
        """
        a = self._resolved(poses, self.accelerations(t, poses, velocities), back=True)
        return times(self.inertias, a - self._free(t, poses, velocities, self._world(poses, velocities)))

    # ------------------------------------------------------------------------------------------------- measurements
    def residuals(self, poses: np.ndarray) -> np.ndarray:
        """Compute the residuals h of all constraints.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.

        Returns
        -------
        ndarray (m,)
            Residuals, in m and as cosines. ``constraints.names`` lists their joints.
        """
        R, r = _with_ground(poses[:, :3, :3], np.eye(3)), _with_ground(poses[:, :3, 3], 0.0)
        return self.constraints.residuals(R, r)

    def joint_errors(self, poses: np.ndarray) -> dict[str, tuple[float, float]]:
        """Compute the norms of the residuals h of each joint.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.

        Returns
        -------
        dict of str to tuple of float
            ``|h|`` of positions in m, and ``|h|`` of orientations, by joint.
        """
        h, slides = self.residuals(poses), self.constraints.slides > 0.0
        of = np.array(self.constraints.names)
        return {joint.name: tuple(float(np.linalg.norm(h[(of == joint.name) & kind])) for kind in (slides, ~slides))
                for joint in self.joints}

    def velocity_residuals(self, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Compute the residuals J V of the constraints on velocities.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        velocities : ndarray (n, 6)
            Velocities in the groups' representations.

        Returns
        -------
        ndarray (m,)
            Residuals in m/s and 1/s.
        """
        return self._rates(poses, velocities).velocity

    def acceleration_residuals(self, poses: np.ndarray, velocities: np.ndarray, accelerations: np.ndarray
                               ) -> np.ndarray:
        """Compute the second derivatives h'' of the residuals: J V' - eta.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        velocities : ndarray (n, 6)
            Velocities in the groups' representations.
        accelerations : ndarray (n, 6)
            Accelerations V' of these velocities.

        Returns
        -------
        ndarray (m,)
            Second derivatives, in m/s^2 and 1/s^2, without Baumgarte terms.

        References
        ----------
        [MT] (13).
        """
        a = self._resolved(poses, accelerations, back=True)
        return self._second(self._rates(poses, velocities), velocities, a)

    def kinetic_energy(self, poses: np.ndarray, velocities: np.ndarray) -> float:
        """Compute the kinetic energy.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        velocities : ndarray (n, 6)
            Velocities in the groups' representations.

        Returns
        -------
        float
            Kinetic energy in J.
        """
        V = self.twists(poses, velocities)
        return float(0.5 * (V * times(self.inertias, V)).sum())

    def potential_energy(self, poses: np.ndarray) -> float:
        """Compute the potential energy of gravity and of the springs.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.

        Returns
        -------
        float
            Potential energy in J. The part of gravity is 0 for centers of mass in the plane through the origin normal
            to it.
        """
        R, r = _with_ground(poses[:, :3, :3], np.eye(3)), _with_ground(poses[:, :3, 3], 0.0)
        mass, moment, _ = mass_moment_rotational(self.inertias)
        weight = -(mass * r[:-1] + times(R[:-1], moment)) @ self.gravity
        return float(weight.sum()) + self._springs.energy(R, r) + self._joint_springs.energy(R, r)

    def energy(self, poses: np.ndarray, velocities: np.ndarray) -> float:
        """Compute the sum of kinetic and potential energy.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        velocities : ndarray (n, 6)
            Velocities in the groups' representations.

        Returns
        -------
        float
            Energy in J.
        """
        return self.kinetic_energy(poses, velocities) + self.potential_energy(poses)

    def momentum(self, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Compute the total momentum.

        Parameters
        ----------
        poses : ndarray (n, 4, 4)
            Poses.
        velocities : ndarray (n, 6)
            Velocities in the groups' representations.

        Returns
        -------
        ndarray (6,)
            Angular momentum about the origin in N m s, and linear momentum in N s, in the inertial frame.
        """
        P = times(self.inertias, self.twists(poses, velocities))
        L, p = times(poses[:, :3, :3], P[:, :3]), times(poses[:, :3, :3], P[:, 3:])
        return np.concatenate(((L + cross(poses[:, :3, 3], p)).sum(axis=0), p.sum(axis=0)))

    def applied_parts(self, t: float, poses: np.ndarray, velocities: np.ndarray
                      ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute the wrenches of springs and of the user separately.

        Parameters
        ----------
        t : float
            Time in s.
        poses : ndarray (n, 4, 4)
            Poses.
        velocities : ndarray (n, 6)
            Velocities in the groups' representations.

        Returns
        -------
        springs : ndarray (n, 6)
            Wrenches of springs with their dampers, about and in the body frames.
        resting : ndarray (n, 6)
            Wrenches of springs as if at rest.
        users : ndarray (n, 6)
            Wrenches of the user.
        """
        R, r, omega, speed = self._world(poses, velocities)
        nothing = np.zeros((self.n, 6))
        springs = self._of_springs(R, r, omega, speed)
        resting = self._of_springs(R, r, np.zeros_like(omega), np.zeros_like(speed))
        return springs + nothing, resting + nothing, self._of_user(t, poses, velocities) + nothing

    # ------------------------------------------------------------------------------------------------- parts
    def _world(self, poses, velocities):
        """Return rotations, positions, body-fixed angular and inertial linear velocities of all bodies and the
        ground."""
        R, n = np.empty((self.n + 1, 3, 3)), self.n
        R[:n], R[n] = poses[:, :3, :3], np.eye(3)
        r, omega, speed = np.zeros((3, n + 1, 3))
        r[:n], omega[:n], speed[:n] = poses[:, :3, 3], velocities[:, :3], velocities[:, 3:]
        if self.group.direct.size < n:
            semidirect = self.group.semidirect
            speed[:n][semidirect] = times(R[:n][semidirect], velocities[semidirect, 3:])
        return R, r, omega, speed

    def _bias(self, w, v):
        """Return ad_V^T M V, (20)."""
        P = times(self.inertias, np.concatenate((w, v), axis=1))
        L, p = P[:, :3], P[:, 3:]
        return np.concatenate((cross(L, w) + cross(p, v), cross(p, w)), axis=1)

    def _applied(self, t, poses, velocities, R, r, omega, speed):
        """Return the wrenches of springs and of the user, (n, 6) in the body frames."""
        return self._of_springs(R, r, omega, speed) + self._of_user(t, poses, velocities)

    def _of_springs(self, R, r, omega, speed):
        W = 0.0
        for springs in (self._springs, self._joint_springs):
            if springs.count:
                W = W + springs.wrenches(R, r, omega, speed)[:-1]
        return W

    def _of_user(self, t, poses, velocities):
        if self.wrenches is None:
            return 0.0
        return checks.real_numbers("wrenches(t, poses, twists)",
                                   self.wrenches(t, poses, self.twists(poses, velocities)), self.n, 6)

    def _rates(self, poses, velocities):
        return self.constraints.rates(*self._world(poses, velocities))

    def _lacking(self, rates, R, r, velocities, a):
        """Return the difference (m,) between required and actual h'' for accelerations a (n, 6), resolved in the body
        frames, with Baumgarte terms."""
        lacking = -self._second(rates, velocities, a)
        if any(self.baumgarte):
            alpha, beta = self.baumgarte
            lacking = lacking - 2.0 * alpha * rates.velocity - beta ** 2 * self.constraints.residuals(R, r)
        return lacking

    def _second(self, rates, velocities, a):
        """Return h'' (m,) for accelerations a (n, 6) resolved in the body frames."""
        total = np.zeros((self.n + 1, 6))
        total[:-1] = a
        total[:-1, 3:] += cross(velocities[:, :3], velocities[:, 3:] * self._semidirect)
        of = self.constraints
        return (rates.of_body * total[of.body] + rates.of_other * total[of.on]).sum(axis=1) + rates.drift

    def _resolved(self, poses, a, back=False):
        """Transform twists (..., n, 6) in body frames: for mixed bodies the linear part is resolved in the inertial
        frame. back: True for the inverse."""
        direct = self.group.direct
        if direct.size:
            a = a.copy()
            a[..., direct, 3:] = (transpose_times if back else times)(poses[..., direct, :3, :3], a[..., direct, 3:])
        return a

    def _frames(self, joint):
        """Return the numbers of a joint's two bodies, and its frame in each."""
        body, on, frame_on = self.number[joint.body], self.number[joint.on], joint.frame_on
        if frame_on is None:
            outer = np.eye(4) if joint.on is None else self.bodies[on].pose
            frame_on = inverse_pose(outer) @ self.bodies[body].pose @ joint.frame
        return body, on, joint.frame, frame_on

    def _check_closed(self):
        for name, errors in self.joint_errors(self.initial().poses).items():
            if max(errors) > ASSEMBLED:
                raise ValueError(f"joint {name!r} is not closed in the initial poses: {errors[0]:.3g} m and "
                                 f"{errors[1]:.3g} of orientation; give poses that fit, or no frame_on")


def _with_ground(of_bodies, of_ground):
    """Append an entry for the ground."""
    return np.concatenate((of_bodies, np.broadcast_to(of_ground, (1, *of_bodies.shape[1:]))))
