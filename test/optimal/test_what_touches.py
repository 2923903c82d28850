"""The best motions of what touches, and of mechanisms in phases: laws and closed forms of such motions."""
import numpy as np
import pytest
from scipy.optimize import minimize

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Sphere
from screw_dynamics.planning.optimal import (
    Configuration,
    Cost,
    Effort,
    Limit,
    LinkPosition,
    Solver,
    Velocity,
    optimize_motion,
)
from screw_dynamics.planning.optimal.dynamics import dynamics
from screw_dynamics.planning.optimal.phases import Steps
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, LoopJoint
from screw_dynamics.rollout.feedback import Motion
from support.floating_robots import hopper as floating_hopper
from support.polyhedra import at as pose

pytestmark = pytest.mark.slow
G = 9.81


# ------------------------------------------------------------------------------------------------- scenes
PUSHER, BOX, FRICTION = 1.0, 0.5, 0.3               # kg, kg


def slide_and_box():
    """A smooth ball on a slide, which touches a box on the ground: it carries nothing of its weight."""
    builder = sd.ModelBuilder("base")
    builder.add_joint("slide", "ball", "base", (0.0, 0.0, 0.0, 1.0, 0.0, 0.0), pose(0.0, 0.0, 0.05),
                      sd.inertia_matrix(PUSHER, np.zeros(3), 0.01 * np.eye(3)))
    scene = sd.Scene(sd.Robot(builder.build()), friction=FRICTION, shapes={"ball": Sphere(0.02)}, ground=True,
                     disable=[("ball", "ground")], materials={"ball": 0.0})
    scene.add_box("box", (0.1, 0.1, 0.1), mass=BOX, pose=pose(0.07, 0.0, 0.05))
    return scene


def test_a_box_is_pushed_with_the_least_effort():
    """(M + m) a = u - mu m g as long as the ball pushes: of the sums over steps of length h, h^2 sum (N - k) a_k = d,
    with the least sum u^2, u_k = c (N - k)."""
    scene, N, h, d = slide_and_box(), 8, 0.02, 0.05
    terms = [Cost(Effort(), 1.0), Limit(LinkPosition("box", (0.07 + d, 0.0, 0.0)), [0.0, -np.inf, -np.inf],
                                        [0.0, np.inf, np.inf], "final", scale=1e-3)]
    guess = np.zeros((N, scene.n))                  # from rest there is no way: a small effort moves nothing
    guess[:, 0] = 10.0
    found = optimize_motion(scene, terms, scene.neutral(), dt=h, steps=N, guess=guess, tolerance=1e-6)
    left, lost = N - np.arange(N), FRICTION * BOX * G
    c = (d * (PUSHER + BOX) / h**2 + lost * left.sum()) / (left**2).sum()
    assert found.converged and np.abs(found.tau[:, 0] - c * left).max() < 1e-3 * c * N
    assert (found.tau[:, 1:] == 0.0).all() and np.abs(found.qd[1:, 0] - found.qd[1:, 4]).max() < 1e-8
    again = scene.rollout(scene.neutral(), np.zeros(scene.n), found.tau, h, N)
    assert np.abs(again.q - found.q).max() < 1e-9 and np.abs(again.qd - found.qd).max() < 1e-8


def test_an_arm_pushes_a_box_to_its_place():
    """The motion is that of the scene, no other one near it costs less, and power is that of motion and friction."""
    inertia, builder = sd.inertia_matrix(1.0, (0.15, 0.0, 0.0), np.diag([0.001, 0.01, 0.01])), sd.ModelBuilder("base")
    builder.add_joint("shoulder", "upper", "base", (0, 0, 1, 0, 0, 0), pose(0.0, 0.0, 0.05), inertia)
    builder.add_joint("elbow", "lower", "upper", (0, 0, 1, 0, 0, 0), pose(0.3, 0.0, 0.0), inertia)
    arm, q, tip = sd.Robot(builder.build()), np.array([0.9, -1.8]), (0.3, 0.0, 0.0)
    scene = sd.Scene(arm, friction=FRICTION, shapes={"lower": (Sphere(0.02), pose(*tip))}, ground=True,
                     disable=[("lower", "ground")], materials={"lower": 0.0})       # smooth: it carries no weight
    at = arm.forward_kinematics(q, "lower", point=tip)[:2, 3]
    scene.add_box("box", (0.1, 0.1, 0.1), mass=BOX, pose=pose(at[0] + 0.0701, at[1], 0.05))
    N, h, still = 8, 0.02, np.zeros(scene.n)
    q0, goal = scene.neutral(), np.array([at[0] + 0.1201, at[1], 0.05])
    q0[:2] = q
    terms = [Cost(LinkPosition("box", goal), [4e3, 4e3, 0.0], "final"), Cost(Effort(), 1e-2),
             Cost(Velocity(), np.r_[1e-2, 1e-2, np.zeros(6)])]
    guess = np.zeros((N, scene.n))
    guess[:, :2] = 6.0 * arm.jacobian(q, "lower", "hybrid", point=tip)[3]
    found = optimize_motion(scene, terms, q0, dt=h, steps=N, guess=guess)

    def cost(tau):
        motion = scene.rollout(q0, still, tau, h, N)
        off = scene.robot.forward_kinematics(motion.q[-1], "box")[:2, 3] - goal[:2]
        return 2e3 * off @ off + 0.5e-2 * h * ((tau[:, :2]**2).sum() + (motion.qd[:-1, :2]**2).sum())
    assert found.cost == pytest.approx(cost(found.tau), rel=1e-8)
    assert np.abs(found.q[-1, 2:4] - goal[:2]).max() < 1e-3
    rng = np.random.default_rng(0)
    for _ in range(10):
        assert cost(found.tau + 0.1 * np.pad(rng.normal(size=(N, 2)), ((0, 0), (0, scene.n - 2)))) > found.cost
    # Work, with the velocities in the middle of steps, is kinetic energy and what friction takes on the way: the weight
    # times ways between the shortest and the longest of the box's corners, as it may turn.
    energy = scene.robot.kinetic_energy(found.q, found.qd)
    work = 0.5 * h * (found.tau * (found.qd[1:] + found.qd[:-1])).sum()
    corners = np.array([[x, y, -0.05, 1.0] for x in (-0.05, 0.05) for y in (-0.05, 0.05)])
    at = (scene.robot.forward_kinematics(found.q, "box")[:, None] @ corners[..., None])[..., :2, 0]
    ways = np.linalg.norm(np.diff(at, axis=0), axis=-1)
    least, most = (FRICTION * BOX * G * of(ways, axis=1).sum() for of in (np.min, np.max))
    assert least - 0.01 * work < work - energy[-1] < most + 0.01 * work and least > 0.1 * work


# ------------------------------------------------------------------------------------------------- mechanisms
BODY, FOOT = 2.0, 0.5                               # kg


def hopper():
    """A body that moves up and down, a foot below it, on a leg that has a motor; as it stands, and as it flies."""
    builder, up = sd.ModelBuilder("ground"), (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    for joint, link, parent, mass in (("up", "body", "ground", BODY), ("leg", "foot", "body", FOOT)):
        builder.add_joint(joint, link, parent, up, inertia=sd.inertia_matrix(mass, np.zeros(3), 0.01 * np.eye(3)))
    flies, q = sd.Robot(builder.build()), np.array([0.4, -0.4])
    return ClosedLoopRobot(flies, [LoopJoint("stance", "fixed", "foot")], q=q), flies, q


def test_a_hopper_stands_flies_and_lands():
    (stands, flies, q), h, N, off, on = hopper(), 0.02, 22, 8, 16
    terms = [Cost(LinkPosition("body", (0.0, 0.0, 0.6)), [0.0, 0.0, 1e3], [12]), Cost(Configuration(q), 50.0, "final"),
             Cost(Velocity(), 10.0, "final"), Cost(Effort(), 1e-3),
             Limit(LinkPosition("foot"), [-np.inf, -np.inf, 0.0], [np.inf, np.inf, 0.0], [on])]
    found = optimize_motion(stands, terms, q, dt=h, steps=N, driven=["leg"], phases=[(off, flies), (on, stands)])
    assert found.converged and found.stationarity < 1e-5 and found.q[12, 0] > 0.55
    body, foot, v, u = found.q[:, 0], found.q.sum(axis=1), found.qd[:, 0], found.tau[:, 1]
    assert np.abs(foot[:off + 1]).max() < 1e-10 and np.abs(foot[on:]).max() < 2e-6
    center = (BODY * body + FOOT * foot) / (BODY + FOOT)                        # of mass, which falls freely
    assert np.abs(np.diff(center[off:on + 1], 2)[1:] / h**2 + G).max() < 1e-8
    # The ground stops the foot; the body, on its motor, does not feel it, nor is it put anywhere.
    assert BODY * np.diff(v) == pytest.approx(-h * (u + BODY * G), abs=1e-8)
    assert np.diff(body) == pytest.approx(h * v[1:], abs=1e-5)


def test_a_motion_that_diverges_before_it_lands_is_not_finite():
    """And no error: it may be a trial of a search."""
    (stands, flies, q), N = hopper(), 4
    moves = dynamics(flies, Steps(0.02, "semi_implicit_euler", False, False, None, 1), ["leg"], N, [(2, stands)])
    around = Motion(np.tile(q, (1, N + 1, 1)), np.zeros((1, N + 1, 2)), np.full((1, N, 1), 1.7e308))
    with np.errstate(over="ignore", invalid="ignore"):
        found = moves.follow(around, *np.array([[[[-np.inf]]], [[[np.inf]]]]))
    assert not np.isfinite(found.q[:, 2:]).all() and not np.isfinite(found.qd[:, -1]).all()


@pytest.mark.parametrize("projection", ["configurations and velocities", "velocities", None])
def test_what_is_brought_back_after_each_step(projection):
    """A leg on a ball joint leans over; what its steps leave open is what the law of each projection says."""
    robot, h, N = sd.Robot.from_urdf(floating_hopper(), floating_base=True), 0.02, 20
    q, n = robot.neutral(), robot.n
    stands = ClosedLoopRobot(robot, [LoopJoint("ground", "spherical", "shin")], q=q)
    lean = robot.integrate(q, np.r_[0.2, 0.1, np.zeros(n - 2)])
    terms = [Cost(Configuration(stands.project(lean)), 30.0, "final"), Cost(Velocity(), 1.0), Cost(Effort(), 1e-2)]
    found = optimize_motion(stands, terms, q, dt=h, steps=N, driven=[*robot.v_slices][1:], projection=projection)
    assert found.converged and found.stationarity < 1e-4
    motion = stands.rollout(q, np.zeros(n), found.tau[0], dt=h, steps=1, integrator="semi_implicit_euler",
                             projection=projection)
    assert robot.difference(motion.q[1], found.q[1]) == pytest.approx(0.0, abs=1e-12)
    opened, rate = np.abs(stands.residual(found.q)).max(), np.abs(np.einsum(
        "kij,kj->ki", stands.jacobian(found.q), found.qd)).max()
    assert (opened < 1e-11) == (projection == "configurations and velocities") and opened < h
    assert (rate < 1e-11) == (projection is not None) and rate < 0.5


def test_a_projection_that_does_not_exist_is_refused():
    for mover in (sd.Robot.from_urdf(floating_hopper()), hopper()[0]):
        with pytest.raises(ValueError, match="projection 'positions' must be one of configurations and velocities, "):
            optimize_motion(mover, Cost(Effort(), 1.0), np.zeros(2), steps=2, projection="positions")


def test_a_search_begins_with_efforts_that_hold_what_stands():
    """The legs carry a body that floats, though none of its own velocities has a motor."""
    robot = sd.Robot.from_urdf(floating_hopper(), floating_base=True)
    where = LoopJoint("ground", "fixed", "shin")
    stands = ClosedLoopRobot(robot, [where], q=robot.neutral())
    solver = Solver(stands, [Cost(Effort(), 1.0)], robot.neutral(), dt=0.01, steps=20)
    assert np.abs(solver.at.motion.qd).max() < 1e-9 and np.abs(solver.at.motion.u).max() > 1.0


@pytest.mark.parametrize("limits", [False, True])
def test_derivatives_of_steps_that_land_are_those_of_what_follows(limits):
    """A change of the state before it, and of the efforts, to first order; also where joints may meet their stops."""
    (stands, flies, q), h, rng = hopper(), 0.02, np.random.default_rng(2)
    all_of_it = dynamics(flies, Steps(h, "semi_implicit_euler", False, limits, None, 1), None, 3, [(1, stands)])
    wide = np.full((1, 1, 2), -np.inf), np.full((1, 1, 2), np.inf)
    u, begin = rng.normal(size=(1, 3, 2)), (q[None] + 1e-3, np.array([[0.3, 0.4]]))

    def follow(x):
        start = begin[0] + x[:2], begin[1] + x[2:4]
        empty = Motion(np.repeat(start[0][:, None], 4, 1), np.repeat(start[1][:, None], 4, 1), u + x[4:].reshape(3, 2))
        found = all_of_it.follow(empty, *wide)
        return found, np.r_[found.q[0, -1], found.qd[0, -1]]
    motion = follow(np.zeros(10))[0]
    assert np.abs(all_of_it.gaps(motion)).max() < 1e-12
    F, by = all_of_it.derivatives(motion)[0], np.zeros((4, 10))
    by[:, :4] = np.eye(4)
    for k in range(3):
        by = F[k, :, :4] @ by
        by[:, 4 + 2 * k:6 + 2 * k] += F[k, :, 4:6]
    expected = np.stack([(follow(1e-5 * e)[1] - follow(-1e-5 * e)[1]) / 2e-5 for e in np.eye(10)], axis=-1)
    assert np.abs(by - expected).max() < 1e-6 and np.abs(expected[:2, :2]).max() > 0.1


def test_a_four_bar_linkage_is_turned_with_the_least_effort():
    """SciPy finds the same efforts of its crank, by simulations alone."""
    builder, rod = sd.ModelBuilder("base"), sd.inertia_matrix(1.0, (0.2, 0.0, 0.0), np.diag([0.001, 0.02, 0.02]))
    for k in range(3):
        builder.add_joint(f"joint_{k}", f"rod_{k}", f"rod_{k - 1}" if k else "base", (0, 1, 0, 0, 0, 0),
                          pose(0.4, 0.0, 0.0) if k else np.eye(4), rod)
    turned = np.array([[1, 0, 0, 0.4], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1.0]])
    q, N, h = np.array([-1.2, 1.2, 1.0]), 4, 0.05
    linkage = ClosedLoopRobot(sd.Robot(builder.build()), [LoopJoint("end", "revolute", "rod_2", frame=turned)], q=q)
    terms = [Cost(Configuration(q + 0.2), [40.0, 0.0, 0.0], "final"), Cost(Effort(), 1e-3), Cost(Velocity(), 1e-2)]
    found = optimize_motion(linkage, terms, q, dt=h, steps=N, driven=["joint_0"], tolerance=1e-12)

    def cost(u):
        def crank(t, q, qd):
            return np.array([u[min(round(t / h), N - 1)], 0.0, 0.0])
        motion = linkage.rollout(q, np.zeros(3), crank, h, N, "semi_implicit_euler")
        return (20.0 * (motion.q[-1, 0] - q[0] - 0.2)**2 + 0.5 * h * (1e-3 * u @ u + 1e-2 * (motion.qd[:-1]**2).sum()))
    best = minimize(cost, found.tau[:, 0] + 0.3 * np.cos(np.arange(N)), method="BFGS", options=dict(gtol=1e-7))
    assert found.converged and np.abs(linkage.residual(found.q)).max() < 1e-9
    assert found.cost == pytest.approx(cost(found.tau[:, 0]), rel=1e-9)
    assert found.cost == pytest.approx(best.fun, rel=1e-7) and np.abs(best.x - found.tau[:, 0]).max() < 1e-2
