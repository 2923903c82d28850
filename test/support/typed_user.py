"""The public interface as a user's typed script takes it: mypy checks the declared types, test_types.py runs it."""
from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

import screw_dynamics as sd


def read(path: Path) -> sd.Robot:
    """A robot from a file, from a path's text, from XML, and from a model that was read apart."""
    robots: list[sd.Robot] = [sd.Robot.from_urdf(path), sd.Robot.from_urdf(str(path)),
                              sd.Robot.from_urdf(path.read_bytes(), gravity=[0.0, 0.0, -1.62])]
    with open(path) as text, open(path, "rb") as binary:
        robots += [sd.Robot.from_urdf(text), sd.Robot.from_urdf(binary, lock={"elbow": np.float64(1.0)})]
    body = "<body><joint/><inertial pos='0 0 1' mass='1' diaginertia='1 1 1'/></body>"
    pendulum = f"<mujoco><worldbody>{body}</worldbody></mujoco>"
    robots.append(sd.Robot.from_mjcf(pendulum, gravity=(0, 0, -1.62)))
    try:
        model: sd.Model = sd.read_urdf(path.read_text(), base_link=None, tip_link=None, lock={})
    except sd.UrdfError as error:
        raise SystemExit(str(error)) from error
    return sd.Robot(model, (0.0, 0.0, -9.81), representation="hybrid" if robots[0].n < 2 else None)


def build() -> sd.Model:
    """A model without a URDF."""
    inertia: np.ndarray = sd.inertia_matrix(2.0, (0.0, 0.0, 0.1), np.diag([0.1, 0.2, 0.3]))
    builder = sd.ModelBuilder("base", inertia)
    builder.add_screw("shoulder", "arm", "base", axis=(0, 1, 0), point=(0, 0, 0.3), mass=2.0, com=(0.2, 0, 0.3),
                      limits=sd.Limits(lower=-1.0, upper=1.0, velocity=2.0, effort=50.0), damping=0.1)
    builder.add_screw("slide", "rod", "arm", axis=[1, 0, 0], pitch=math.inf, mass=0.1, com=(0.4, 0, 0.3))
    builder.add_joint("finger", "tip", "rod", [0, 0, 1, 0, 0, 0], np.eye(4), inertia, friction=0.1,
                      mimic=sd.Mimic("shoulder", multiplier=-0.5, offset=0.1))
    builder.add_fixed("camera", "rod", np.eye(4))
    names: tuple[str, ...] = builder.add_macro_joint("spherical", "ball", "hand", "rod", inertia=inertia, order="zyx")
    builder.add_group_joint("planar", "drive", "cart", "base", None, inertia, frame=np.eye(4), friction=0.0,
                            limits=sd.Limits(effort=9.0), damping={"rz": 0.1})
    builder.add_loop_joint("pin", "spherical", "cart", "tip", frame=np.eye(4))
    builder.add_distance("rod", "cart", None, (0, 0, 0.1), length=0.5)
    builder.add_gear("gear", {"shoulder": 1, "slide": -0.5}, 0.1)
    builder.add_constraint(sd.closed_loops.Gear("other", {"slide": 1.0}))
    builder.warn(f"{len(names)} joints of the ball")
    return builder.build()


def look_at(model: sd.Model) -> int:
    """Every attribute of a model; the number of its warnings."""
    names: list[tuple[str, ...]] = [model.joint_names, model.joint_kinds, model.body_names, model.body_joints]
    arrays: list[np.ndarray] = [
        model.parents, model.coordinates, model.screws_body, model.screws_spatial, model.relative_poses,
        model.reference_poses, model.inertias, model.root_inertia, model.lower, model.upper, model.velocity_limit,
        model.effort_limit, model.damping, model.friction]
    slices: list[Mapping[str, slice]] = [model.q_slices, model.v_slices]
    assert len(slices[0]) == len(slices[1]) and model.on_groups == bool(model.joint_frames) and model.nq >= model.n
    frames: Mapping[str, tuple[int, np.ndarray]] = model.frames
    mimics: Mapping[str, tuple[str, float, float]] = model.mimics
    root: str = model.root
    assert root in frames and all(joint in model.body_joints for joint in mimics)
    assert len(names[0]) == len(slices[0]) and arrays[0].shape == (len(names[2]),)
    return len(model.warnings)


def controller(t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> None:
    """Damping in every joint."""
    tau[:] = -0.5 * qd


def holding(robot: sd.Robot, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> None:
    """Gravity compensation."""
    tau[:] = robot.gravity_torque(q) - 0.5 * qd


def speed(t: np.ndarray, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple:
    """A cost and its derivatives."""
    return 0.5 * (qd * qd).sum(), None, qd


def dynamics(robot: sd.Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
    """Every method of dynamics and energy; the efforts of the motion."""
    wrenches: dict[str, ArrayLike] = {robot.link_names[-1]: [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]}
    out = np.empty(robot.n)
    tau: np.ndarray = robot.inverse_dynamics(q, qd, qdd, wrenches, out=out, threads=1)
    others: list[np.ndarray] = [
        robot.gravity_torque(q), robot.coriolis_torque(q, qd), robot.mass_matrix(q), robot.coriolis_matrix(q, qd),
        robot.external_torque(q, wrenches), robot.friction_torque(qd), robot.kinetic_energy(q, qd),
        robot.potential_energy(q), robot.forward_dynamics(q, qd, tau, external=wrenches),
        *robot.hybrid_dynamics(q, qd, qdd, tau, [robot.joint_names[0]], wrenches)]
    assert all(np.isfinite(other).all() for other in others)
    by_q, by_qd, M = robot.inverse_dynamics_derivatives(q, qd, qdd, wrenches)
    derivatives: list[np.ndarray] = [*robot.forward_dynamics_derivatives(q, qd, tau), by_q + by_qd + M]
    assert all(derivative.shape == (robot.n, robot.n) for derivative in derivatives)
    model = robot.linearize(q, qd, tau, 1e-3, wrenches, "rk4", friction=True)
    A, B, acceleration = robot.linearize(q, qd, tau, out=(model.A, model.B), threads=1)
    assert A.shape == (2 * robot.n, 2 * robot.n) and len(B) == 2 * len(acceleration)
    rolled = robot.rollout_derivatives(q, qd, tau, 1e-3, 4, "rk4", friction=True, threads=1)
    samples: list[np.ndarray] = [rolled.t, rolled.q, rolled.qd, rolled.tau, *rolled.forward(dq0=qd)]
    last: np.ndarray = rolled.final().by_state @ np.r_[qd, qd]
    value, gradient = robot.rollout_gradient(speed, q, qd, tau, steps=4, parameters=False)
    assert len(samples[1]) == 5 and last.shape == (2 * robot.n,) and float(value) >= 0.0
    assert gradient.by_effort.shape == (4, robot.n) and gradient.by_parameters is None
    return tau


def kinematics(robot: sd.Robot, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """Every method of kinematics; the pose of the last link."""
    tip, root = robot.link_names[-1], robot.model.root
    J: np.ndarray = robot.jacobian(q, tip, "mixed", reference=root)
    rate: np.ndarray = robot.jacobian_derivative(q, qd, tip, representation="hybrid")
    hessian: np.ndarray = robot.kinematic_hessian(q, tip, "spatial")
    assert hessian.shape == (6, robot.n, robot.n)
    bodies: list[np.ndarray] = [robot.body_poses(q, "spatial"), robot.body_twists(q, qd, "spatial"),
                                robot.body_jacobians(q)]
    assert J.shape == rate.shape == (6, robot.n) and all(len(body) == len(robot.model.parents) for body in bodies)
    pose: np.ndarray = robot.forward_kinematics(q, tip, root, point=(0.0, 0.0, 0.0))
    there: np.ndarray = robot.inverse_kinematics(pose, tip, q, parts="position", reference=root, seed=1).q
    assert there.shape == np.shape(q)
    at: np.ndarray = robot.inverse_kinematics([[0.1, 0.0, 0.2]] * 2, tip, q, parts="position", reference=root).q
    assert at.shape == (2, robot.nq) and robot.limits.upper.shape == robot.limits.effort.shape == (robot.n,)
    return pose


def along_a_motion(robot: sd.Robot, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """Every derivative along a motion, and the second ones; their kernels take a minute to compile."""
    tip, root = robot.link_names[-1], robot.model.root
    wrenches: dict[str, ArrayLike] = {tip: [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]}
    tau, rate = robot.inverse_dynamics_time_derivatives(q, qd, qd, qd, external=wrenches, threads=1)
    out = np.empty((3, robot.n))
    efforts: tuple[np.ndarray, ...] = robot.inverse_dynamics_time_derivatives(q, qd, qd, qd, qd, out=out)
    second = robot.inverse_dynamics_second_derivatives(q, qd, qd, threads=1)
    blocks: list[np.ndarray] = [second.by_q_q, second.by_q_qd, second.by_qd_qd, second.by_q_qdd]
    of_motion = robot.forward_dynamics_second_derivatives(q, qd, qd, wrenches, threads=1)
    by_q_tau: np.ndarray = of_motion.by_q_tau
    twists: list[np.ndarray] = [robot.link_acceleration(q, qd, qd, tip, "hybrid", root),
                                robot.link_jerk(q, qd, qd, qd, tip, reference=root),
                                robot.link_snap(q, qd, qd, qd, qd, tip, out=np.empty(6))]
    J: np.ndarray = robot.jacobian_second_derivative(q, qd, qd, tip, "spatial")
    assert by_q_tau.shape == blocks[3].shape
    assert tau.shape == rate.shape == efforts[2].shape and len(blocks) + 2 == len(twists[0]) == len(J)
    return twists[2]


def parameters(robot: sd.Robot, q: ArrayLike, qd: ArrayLike) -> sd.Robot:
    """Every method about inertial parameters; a robot of other ones."""
    p, names = robot.inertial_parameters, robot.inertial_parameter_names + robot.friction_parameter_names
    every: np.ndarray = np.append(p, robot.friction_parameters)
    regressors: list[np.ndarray] = [robot.torque_regressor(q, qd, qd, friction=True), robot.momentum_regressor(q, qd),
                                    robot.acceleration_regressor(q, qd, qd, threads=1)]
    energy: np.ndarray = robot.kinetic_energy_regressor(q, qd) + robot.potential_energy_regressor(q, threads=1)
    assert len(every) == len(names) == regressors[0].shape[-1] and energy.shape == p.shape
    return robot.with_inertial_parameters(1.1 * p)


def configurations(robot: sd.Robot, q: ArrayLike, qd: ArrayLike) -> float:
    """Every method of configurations and of the robot as a whole; a distance and a mass."""
    ahead: np.ndarray = robot.interpolate(robot.neutral(), robot.integrate(robot.normalize(q), qd), [0.0, 0.5])
    anywhere: np.ndarray = robot.random_configuration((2,), np.random.default_rng(0))
    assert robot.difference(ahead, anywhere).shape == (2, robot.n) and anywhere.shape == (2, robot.nq)
    assert robot.q_slices.keys() == robot.v_slices.keys() == set(robot.joint_names)
    whole: list[np.ndarray] = [robot.center_of_mass(q), robot.center_of_mass_jacobian(q),
                               robot.center_of_mass_velocity(q, qd), robot.center_of_mass_acceleration(q, qd),
                               robot.composite_inertia(q), robot.average_twist(q, qd),
                               robot.centroidal_momentum_matrix(q), robot.centroidal_momentum(q, qd),
                               robot.centroidal_momentum_matrix_derivative(q, qd),
                               robot.centroidal_momentum_rate(q, qd, qd)]
    mass: float = robot.total_mass
    return float(robot.distance(q, anywhere[0])) + mass + len(whole)


def motion(robot: sd.Robot, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """Rollouts under all kinds of efforts, and robots made of a robot; the last times."""
    t: np.ndarray = np.zeros(0)
    moving: sd.Robot = robot.with_root_inertia().with_armature({robot.joint_names[0]: 0.1})
    text: str = moving.to_urdf()
    assert moving.armature[0] == 0.1 and text.endswith(">\n")
    with tempfile.TemporaryDirectory() as folder:
        written: list[Path] = robot.export_c(
            Path(folder) / "robot", quantities=["mass_matrix"], links=None, precision="float", external=(),
            payload=[robot.link_names[-1]], gravity=True, ros2_control=None)
        assert all(path.is_file() for path in written)
    soft: sd.Robot = robot.with_drives({robot.joint_names[0]: sd.Drive(1e-4, 100.0, 2000.0, damping=1.0)})
    springs: np.ndarray = soft.drive_torque(np.zeros(soft.nq), np.zeros(soft.n))
    stored: np.ndarray = soft.drive_energy(np.zeros(soft.nq))
    bounds: tuple[np.ndarray, np.ndarray] = soft.effort_bounds(np.zeros(soft.n))
    worn: sd.Robot = soft.with_forces([sd.forces.Friction(robot.joint_names[0], breakaway=1.0)])
    assert len(worn.forces) == 1
    assert (bounds[0] <= bounds[1]).all() and not springs.any() and stored == 0.0
    heavy: sd.Robot = moving.with_payload(robot.link_names[-1], 0.5, com=(0.0, 0.0, 0.1)).with_gravity((0, 0, -1.62))
    special: sd.Robot = robot.specialize([(robot.link_names[-1], "body")])
    assert special.joint_names == heavy.joint_names and special.representation == heavy.representation
    efforts: list[ArrayLike | None] = [None, [0.0] * robot.n]
    for effort in efforts:
        t, positions, rates = heavy.rollout(q, qd, effort, dt=1e-3, steps=4, every=2, friction=True, limits=True)
        assert positions.shape == (len(t), robot.nq) and rates.shape == (len(t), robot.n)
    after: tuple[np.ndarray, np.ndarray] = heavy.step(q, qd, np.zeros(robot.n), 1e-3, "rk4", friction=True, limits=True)
    heavy.step(*after, effort=[0.0] * robot.n, dt=1e-3, out=after)
    heavy.rollout(q, qd, holding, steps=2)
    found = heavy.rollout(q, qd, steps=2, record=("energy", "residual"))
    t, positions, rates = found
    assert found.recorded["residual"].shape == found.q.shape[:-1]
    sprung = [sd.forces.Spring(robot.joint_names[0], 3.0), sd.forces.ModelFriction()]
    pulled: np.ndarray = heavy.total_force(sprung).efforts(q, qd)
    heavy.step(q, qd, pulled, 1e-3, forces=sprung, t=0.5)
    left: np.ndarray = heavy.energy_balance(t, positions, rates, [0.0] * robot.n, friction=True, limits=True).residual
    assert left.shape == heavy.configuration_residual(positions, limits=True).shape
    try:
        heavy.momentum_balance(t, positions, rates, friction=True)
    except ValueError as error:
        assert "holds this one to its root" in str(error)
    t, _, _ = heavy.rollout(q, qd, controller, steps=2, integrator="rk45", rtol=1e-6, atol=1e-9, threads=1)
    return t


def pictures(robot: sd.Robot, q: ArrayLike, qd: ArrayLike, path: Path) -> None:
    """A motion to look at; it takes matplotlib, an extra."""
    t, positions, rates = robot.rollout(q, qd, steps=2)
    robot.plot(t, positions, rates, tau=np.zeros(robot.n), path=path)


def use(path: Path) -> None:
    """All of it but the pictures, derivatives along a motion, and parameters; the model that was built is only looked
    at, since its kernels are others."""
    robot = read(path)
    for model in (robot.model, build()):
        look_at(model)
    q = [0.1] * robot.n
    dynamics(robot, q, q, q)
    kinematics(robot, q, q)
    configurations(robot, q, q)
    motion(robot, q, q)


def scene(robot: sd.Robot) -> tuple[int, float]:
    """What the package imports when it is first used has its types too."""
    made: sd.Scene = sd.Scene(robot)
    assert isinstance(sd.closed_loops.ClosedLoopRobot(robot).rollout([0.1] * robot.n, steps=0).q, np.ndarray)
    made.add("post", sd.shapes.Box((0.1, 0.1, 1.0)))
    made.add_sphere("ball", radius=0.1, mass=1.0, pose=sd.se3.exp([0.0, 0.0, 0.0, 0.0, 0.0, 5.0]))
    return made.nq, float(sd.se3.exp(np.zeros(6))[0, 0])
