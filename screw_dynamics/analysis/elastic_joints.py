"""Analysis of robots with elastic drives: feed-forward, equilibria, resonances and compliance. No ROS. May import robot
and lower layers.

M(q) q'' + C(q, q') q' + g(q) = T^T K (theta - T q) for the links, B theta'' + D theta' + K (theta - T q) = torque for
the motors, whose positions theta, torques and inertias are reflected to the joints; K x may be any increasing torque.
T is the identity, except for rows of drives with a coupling. Motors without carriers only have the kinetic energy of
their own spin, Spong (1987): such a robot is differentially flat with the output q."""
from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.friction import smooth_sign
from screw_dynamics.forces import Friction, Spring
from screw_dynamics.model.drive import Antagonistic, Drive, LeverArm
from screw_dynamics.model.drives import transmission, without_drives
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .spring_laws import deflection, law

STEPS, HALVINGS = 100, 40       # limits of Newton steps for equilibria, and of halvings of one step


class MotorMotion(NamedTuple):
    """Motion of the motors of a robot with elastic drives, one motor per joint of the links.

    Parameters
    ----------
    position, velocity, acceleration : ndarray (..., n)
        Motion of the motors.
    torque : ndarray (..., n)
        Torques for this motion.
    spring_torque : ndarray (..., n)
        Torques of the springs. They equal the joint efforts if each joint only turns its own motor.
    q : ndarray (..., nq)
        Configurations of the robot with drives, for rollouts and steps.
    qd, qdd, tau : ndarray (..., n)
        Velocities, accelerations and efforts of the robot with drives; n is that of this robot.

    Notes
    -----
    For two motors on a joint, the mean motion and the sum of the torques are given. A joint without an elastic drive
    has its own motion and effort. In q, qd, qdd and tau, stiffness actuators are at rest.
    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray
    spring_torque: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


class Modes(NamedTuple):
    """Small oscillations about an equilibrium, in order of increasing frequency.

    Parameters
    ----------
    squared : ndarray (k,)
        Squares of the frequencies, rad^2/s^2. A negative square means an unstable mode.
    shapes : ndarray (n, k)
        Columns of velocities of the robot with drives, normalized so that shapes.T M shapes is the identity.
    """

    squared: np.ndarray
    shapes: np.ndarray

    @property
    def frequencies(self) -> np.ndarray:
        """The frequencies (k,), Hz; NaN for modes that do not oscillate."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(self.squared) / (2.0 * np.pi)


class ElasticJoints:
    """A robot with elastic drives and only single-DoF joints.

    Parameters
    ----------
    robot : Robot
        Robot with drives, see Robot.with_drives; or one without, to which drives with the following values are added.
    stiffness : array_like, optional
        Stiffness K > 0, N m/rad or N/m: (n,) or one number.
    motor_inertia : array_like, optional
        Inertia B > 0 of the motors, reflected to the joints, kg m^2 or kg: (n,) or one number.
    motor_damping : array_like, optional
        Damping D >= 0 of the motors, N m s/rad or N s/m: (n,) or one number.

    Raises
    ------
    ValueError
        If values are out of range, if the robot has a Lie-group joint, a voltage-controlled electric drive or no
        elastic drive, or if couplings of drives leave a joint motion that turns no motor.

    Notes
    -----
    `driven` is the robot with drives. `robot` is the robot of the links alone, without motors and stiffness actuators;
    its n is the size of joint vectors.
    """

    def __init__(self, robot: Robot, stiffness: ArrayLike | None = None, motor_inertia: ArrayLike | None = None,
                 motor_damping: ArrayLike = 0.0):
        checks.coordinates_alone("ElasticJoints", robot.model)
        if stiffness is not None or motor_inertia is not None:
            columns = [_of_joints(robot, name, given, bound) for name, given, bound in (
                ("stiffness", stiffness, False), ("motor_inertia", motor_inertia, False),
                ("motor_damping", motor_damping, True))]
            robot = robot.with_drives({joint: Drive(B, stiffness=K, motor_damping=D) for joint, K, B, D in
                                       zip(robot.joint_names, *columns, strict=True)})
        model = robot.model
        for joint, drive in model.drives.items():
            if drive.winding is not None:
                raise ValueError(f"ElasticJoints: the drive of joint {joint!r} is electric, commanded by voltage: give "
                                 "it control='current'")
        if not model.motors:
            raise ValueError("ElasticJoints: no joint of the robot has an elastic drive: add one by Robot.with_drives")
        self.driven = robot
        links = without_drives(model, model.motors)
        self.robot = Robot(links, robot.gravity, robot.representation, robot.source)
        self._turns = transmission(links, {joint: model.drives[joint] for joint in model.motors})
        added = {name for names in model.motors.values() for name in names}
        self._links = np.array([model.v_slices[joint].start for joint in model.joint_names if joint not in added])
        self._motors = {joint: [model.v_slices[name].start for name in names] for joint, names in model.motors.items()}
        self._total = robot.total_force(())

    def feed_forward(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike, qdddd: ArrayLike, *,
                     settings: Mapping[str, float] | None = None, friction: bool = True,
                     neglect_damping: bool = False) -> MotorMotion:
        """Compute the motion and the torques of the motors for a motion of the links.

        Parameters
        ----------
        q, qd, qdd, qddd, qdddd : array_like (..., n)
            Positions of the links and their time derivatives up to the fourth.
        settings : dict of str to float, optional
            Constant setting of each stiffness actuator: the position of a lever, by default the middle of its range, or
            half the angle between two motors, by default 0.
        friction : bool, optional
            True to include the friction of joints and motors, Coulomb friction by its sign, and gear losses.
        neglect_damping : bool, optional
            True to allow springs with damping; theta then neglects it.

        Returns
        -------
        MotorMotion
            Motion with theta = q + x, where x is the deflection at which the spring's torque moves the links.

        Raises
        ------
        ValueError
            If a drive has backlash, where the motor's position is undetermined, or a carrier; if its spring has damping
            and `neglect_damping` is False, since the motion then does not determine the motors; if a rigid motor
            that several joints turn has friction, with `friction`; or if the robot has force elements other than
            springs (forces.Spring) at joints of links.
        """
        names = ("q", "qd", "qdd", "qddd", "qdddd")
        q, qd, qdd, qddd, qdddd = checks.broadcast({name: checks.real_numbers(name, x, self.robot.n) for name, x in zip(
            names, (q, qd, qdd, qddd, qdddd), strict=True)})
        neglect_damping = checks.flag("neglect_damping", neglect_damping)
        friction = checks.flag("friction", friction)
        self._check_forces(friction)
        for joint, drive in self.driven.model.drives.items():
            rubs = drive.coupling and not drive.is_elastic and (drive.motor_damping or drive.motor_friction)
            wrong = ("backlash" if drive.backlash else "a carrier" if drive.carrier and drive.is_elastic else
                     "damping" if drive.damping and not neglect_damping else
                     "friction of a rigid motor that several joints turn" if rubs and friction else "")
            if wrong:
                raise ValueError(f"feed_forward: the drive of joint {joint!r} has {wrong}")
        settings = self._settings(settings)
        tau, rate, second = self.robot.inverse_dynamics_time_derivatives(q, qd, qdd, qddd, qdddd)
        if self.robot.forces:                   # springs, affine in position and velocity
            of, rest = self.robot.drive_torque, self.robot.drive_torque(0.0 * q, 0.0 * q)
            tau, rate, second = tau - of(q, qd), rate - of(qd, qdd) + rest, second - of(qdd, qddd) + rest
        if friction:
            d, dry = self.robot.model.damping, self.robot.model.friction
            tau, rate, second = tau + d * qd + dry * smooth_sign(qd), rate + d * qdd, second + d * qddd
        tau, rate, second = (np.linalg.solve(self._turns.T, x[..., None])[..., 0] for x in (tau, rate, second))
        turned = [x @ self._turns.T for x in (q, qd, qdd)]
        found = [*(x.copy() for x in turned), tau.copy()]
        whole = [np.zeros((*q.shape[:-1], self.driven.n)) for _ in range(4)]
        for every, of_links in zip(whole, (q, qd, qdd, tau), strict=True):
            every[..., self._links] = of_links
        whole[3][..., [self._links[k] for k, joint in enumerate(self.robot.joint_names) if joint in self._motors]] = 0.0
        for k, joint in enumerate(self.robot.joint_names):
            if joint in self._motors:
                motion = self._motor(joint, [x[..., k] for x in (*turned, tau, rate, second)], settings[joint],
                                     friction, whole)
                for every, of_motor in zip(found, motion, strict=True):
                    every[..., k] = of_motor
        return MotorMotion(*found, tau, *whole)

    def _check_forces(self, friction):
        """Raise ValueError for force elements of the robot whose time derivatives are not available."""
        for element in self.driven.forces:
            if isinstance(element, Friction) and not friction:
                continue
            if not isinstance(element, Spring) or not {*element.joints} <= {*self.robot.joint_names}:
                raise ValueError(f"feed_forward: {element} of the robot is not supported, only forces.Spring at joints "
                                 "of links: remove it by Robot.with_forces")

    def _motor(self, joint, motion, setting, friction, whole):
        """Return position, velocity, acceleration and torque of a joint's motor, and write them to `whole`."""
        q, qd, qdd, tau, rate, second = motion
        drive, torque_of = self.driven.model.drives[joint], law(self.driven.model.drives[joint], np.asarray(setting))
        x = deflection(torque_of, tau)
        _, K, bend = torque_of(x)
        xd = rate / K
        xdd = (second - bend * xd * xd) / K
        theta, thetad, thetadd = q + x, qd + xd, qdd + xdd
        motors = self._motors[joint]
        twice = isinstance(drive.stiffness, Antagonistic)
        own, sign = drive.inertia * thetadd, smooth_sign(thetad)
        if friction:
            own = own + drive.motor_damping * thetad + drive.motor_friction * sign
            tau = tau + drive.gear_loss * np.abs(tau) * sign
        for i, m in enumerate(motors[:1 + twice]):
            aside = (setting if i == 0 else -setting) if twice else 0.0
            share = law(Drive(1.0, stiffness=drive.spring), np.zeros(()))(x + aside)[0] if twice else tau
            for every, value in zip(whole, (theta + aside, thetad, thetadd, own + share), strict=True):
                every[..., m] = value
        if isinstance(drive.stiffness, LeverArm):
            _, k1, k2 = drive.stiffness.coefficients
            whole[0][..., motors[1]] = setting
            whole[3][..., motors[1]] = 0.5 * (k1 + 2.0 * k2 * setting) * x * x
        return theta, thetad, thetadd, tau + (1 + twice) * own

    def equilibrium(self, q: ArrayLike, *, settings: Mapping[str, float] | None = None) -> MotorMotion:
        """Compute the motor positions and torques that hold the links against gravity.

        Parameters
        ----------
        q : array_like (..., n)
            Positions of the links.
        settings : dict of str to float, optional
            Constant setting of each stiffness actuator, as in feed_forward.

        Returns
        -------
        MotorMotion
            Result of feed_forward at rest.
        """
        still = np.zeros(self.robot.n)
        return self.feed_forward(q, still, still, still, still, settings=settings, neglect_damping=True)

    def hanging(self, q: ArrayLike, guess: ArrayLike | None = None) -> np.ndarray:
        """Compute the configuration in which the links are in equilibrium on their springs.

        Parameters
        ----------
        q : array_like (nq,)
            Configuration of the robot with drives. The motors and stiffness actuators stay at their positions.
        guess : array_like (nq,), optional
            Initial guess. By default q.

        Returns
        -------
        ndarray (nq,)
            Configuration of the robot with drives. There may be several solutions; the one found may be unstable.

        Raises
        ------
        ValueError
            If Newton's method does not converge to an equilibrium.
        """
        x = self._one("q", q).copy()
        if guess is not None:
            x[self._links] = self._one("guess", guess)[self._links]
        size = 0.0
        for _ in range(STEPS):
            missing, slope = self._missing(x), self._stiffness(x)[np.ix_(self._links, self._links)]
            size = np.abs(missing).max(initial=0.0)
            if size <= 1e-13 * (1.0 + np.abs(self.driven.gravity_torque(x)).max(initial=0.0)):
                return x
            step, share = np.linalg.lstsq(slope, missing)[0], 1.0
            for _ in range(HALVINGS):
                after = x.copy()
                after[self._links] -= share * step
                if np.abs(self._missing(after)).max() < size:
                    break
                share *= 0.5
            else:
                if size <= 1e-9 * (1.0 + np.abs(self.driven.gravity_torque(x)).max(initial=0.0)):
                    return x                    # converged to machine precision
                break
            x = after
        raise ValueError(f"hanging: no equilibrium was found from q = {x.tolist()}; the residual is {size:g} N m or N")

    def _one(self, name, q):
        """Return a finite configuration (nq,) of the robot with drives."""
        found = np.asarray(checks.finite_numbers(name, q, self.driven.nq), dtype=float)
        if found.ndim != 1:
            raise ValueError(f"{name} must be one configuration ({self.driven.nq},), not of shape {found.shape}")
        return found

    def _missing(self, x):
        """Return the unbalanced efforts of the links: gravity torques minus those of springs."""
        return (self.driven.gravity_torque(x) - self._total.efforts(x, np.zeros(self.driven.n)))[self._links]

    def _stiffness(self, x):
        """Return the stiffness matrix (..., n, n): the derivative of the static efforts of gravity and springs with
        respect to q."""
        still = np.zeros(self.driven.n)
        gravity = self.driven.inverse_dynamics_derivatives(x, still, still)[0]
        return gravity - self._total.derivatives(x, still).by_q[..., 0, :, :]

    def resonances(self, q: ArrayLike, *, motors: str = "free") -> Modes:
        """Compute the modes about an equilibrium under constant motor torques.

        Parameters
        ----------
        q : array_like (nq,)
            Equilibrium of the robot with drives, such as `equilibrium(...).q` or the result of `hanging`.
        motors : {"free", "locked"}, optional
            Motors move ("free") or are at rest ("locked").

        Returns
        -------
        Modes
            Frequencies and shapes.
        """
        q = self._one("q", q)
        checks.one_of("motors", motors, ("free", "locked"))
        moving = np.arange(self.driven.n) if motors == "free" else self._links
        S, M = self._stiffness(q), self.driven.mass_matrix(q)
        root = np.linalg.cholesky(M[np.ix_(moving, moving)])
        S = 0.5 * (S + S.T)[np.ix_(moving, moving)]
        squared, found = np.linalg.eigh(np.linalg.solve(root, np.linalg.solve(root, S).T))
        shapes = np.zeros((self.driven.n, len(moving)))
        shapes[moving] = np.linalg.solve(root.T, found)
        return Modes(squared, shapes)

    def compliance(self, q: ArrayLike, link: str, reference: str | None = None) -> np.ndarray:
        """Compute the compliance of a link: its displacement per small wrench on it, with the motors at rest.

        Parameters
        ----------
        q : array_like (nq,)
            Equilibrium of the robot with drives.
        link : str
            Name of the link.
        reference : str, optional
            Link in whose axes the result is resolved. By default the root.

        Returns
        -------
        ndarray (6, 6)
            Rotation and displacement of the link's origin per wrench, rad/(N m) to m/N, including the change of gravity
            torques. Its inverse is the stiffness.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the stiffness is singular.
        """
        q = self._one("q", q)
        J = self.driven.jacobian(q, link, "hybrid", reference)[:, self._links]
        return J @ np.linalg.solve(self._stiffness(q)[np.ix_(self._links, self._links)], J.T)

    def accelerations(self, q: ArrayLike, qd: ArrayLike, theta: ArrayLike, thetad: ArrayLike,
                      torque: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Compute the accelerations of links and motors from motor torques.

        Parameters
        ----------
        q, qd : array_like (..., n)
            Positions and velocities of the links.
        theta, thetad : array_like (..., n)
            Positions and velocities of the motors.
        torque : array_like (..., n)
            Torques of the motors.

        Returns
        -------
        qdd : ndarray (..., n)
            Accelerations of the links, under viscous friction.
        thetadd : ndarray (..., n)
            Accelerations of the motors.

        Raises
        ------
        ValueError
            If a joint does not have exactly one motor.

        Notes
        -----
        For other robots, use Robot.forward_dynamics and add the efforts of Robot.drive_torque.
        """
        given = {"q": q, "qd": qd, "theta": theta, "thetad": thetad, "torque": torque}
        q, qd, theta, thetad, torque = checks.broadcast(
            {name: checks.real_numbers(name, x, self.robot.n) for name, x in given.items()})
        motors = [self._motors.get(joint, ()) for joint in self.robot.joint_names]
        for joint, places in zip(self.robot.joint_names, motors, strict=True):
            if len(places) != 1:
                raise ValueError(f"accelerations: joint {joint!r} has {len(places)} motors")
        at, lead = [places[0] for places in motors], q.shape[:-1]
        x, v, tau = (np.zeros((*lead, self.driven.n)) for _ in range(3))
        x[..., self._links], x[..., at], v[..., self._links], v[..., at], tau[..., at] = q, theta, qd, thetad, torque
        efforts = tau + self._total.efforts(x, v) - self.driven.model.damping * v
        found = self.driven.forward_dynamics(x, v, efforts)
        return found[..., self._links], found[..., at]

    def _settings(self, settings):
        """Return the setting of each joint's stiffness actuator, {joint: value}, 0 for joints without one."""
        drives, given = self.driven.model.drives, {} if settings is None else settings
        stiffened = {joint: drive.stiffness for joint, drive in drives.items()
                     if isinstance(drive.stiffness, (Antagonistic, LeverArm))}
        if not isinstance(given, Mapping) or (unknown := [joint for joint in given if joint not in stiffened]):
            raise ValueError(f"settings: {unknown[0]!r} is not a joint with a drive of variable stiffness"
                             if isinstance(given, Mapping) else f"settings must be {{joint: value}}, not {given!r}")
        found = dict.fromkeys(drives, 0.0)
        for joint, k in stiffened.items():
            middle = 0.5 * (k.lower + k.upper) if isinstance(k, LeverArm) else 0.0
            found[joint] = y = checks.number(f"settings of joint {joint!r}", given.get(joint, middle))
            if isinstance(k, LeverArm) and not k.lower <= y <= k.upper:
                raise ValueError(f"settings of joint {joint!r}: {y:g} is not within {k.lower:g} and {k.upper:g}")
        return found


def _of_joints(robot, name, x, may_vanish):
    """Return one number per joint (n,). Raises ValueError with the joint's name if a number is out of range."""
    if x is None:
        raise ValueError(f"{name} must be given")
    found = checks.vector(name, checks.each(name, x, robot.n), robot.n)
    for joint, number in zip(robot.joint_names, found.tolist(), strict=True):
        if not (number > 0.0 or may_vanish and number == 0.0):
            raise ValueError(f"{name} of joint {joint!r}: {number!r} must be {'>= 0' if may_vanish else '> 0'}")
    return found.tolist()
