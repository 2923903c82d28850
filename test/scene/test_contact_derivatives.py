"""Derivatives through contact modes: against differences, closed forms, and what holds for contacts that stick."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.shapes import Box, Capsule, ConvexHull, Cylinder, Sphere
from screw_dynamics.scene.touch_derivatives import TouchRows
from support import touching_scenes as scenes
from support.differences import of_a_state, slopes
from support.linearized import near

CASES = {
    "corner lands and sticks": lambda: scenes.corner(0.6, -1e-3, "sticking"),
    "corner lands and slides": lambda: scenes.corner(0.05, -1e-3, "sliding"),
    "corner lands without friction": lambda: scenes.corner(0.0, -1e-3, "sliding"),
    "corner in the ground sticks": lambda: scenes.corner(0.6, 1e-3, "sticking"),
    "corner in the ground slides": lambda: scenes.corner(0.05, 1e-3, "sliding"),
    "corner in the ground without friction": lambda: scenes.corner(0.0, 1e-3, "sliding"),
    "ball sticks on a slope": lambda: scenes.on_a_slope(0.6),
    "ball slides on a slope": lambda: scenes.on_a_slope(0.1),
    "ball drags on a belt": scenes.belt,
    "ball on a ball": scenes.two_balls,
    "box on a box, by a corner": lambda: scenes.boxes((0.4, 0.3, 0.2)),
    "box on a box, by an edge": lambda: scenes.boxes((0.2, 0.0, 0.0)),
    "arm presses": scenes.arm,
    "quadruped stands": scenes.anymal,
    "quadruped lands": lambda: scenes.anymal(True),
}


def differences(case, h):
    scene, q, qd, tau, dt, _, options = case

    def after(dq, dqd, dtau):
        end = scene.step(scene.integrate(q, dq), qd + dqd, tau + dtau, dt, **options)
        return end.q, end.qd
    return of_a_state(scene.robot, after, h)


@pytest.mark.parametrize("name", CASES)
def test_model_is_the_derivative_of_the_step(name):
    case = CASES[name]()
    model = case.scene.linearize(case.q, case.qd, case.tau, case.dt, **case.options)
    closed = [mode for mode in model.contacts.mode if mode != "open"]
    assert closed == case.modes if case.modes else closed
    end = case.scene.step(case.q, case.qd, case.tau, case.dt, **case.options)
    assert (model.q == end.q).all() and (model.qd == end.qd).all()
    near(np.c_[model.A, model.B], differences(case, 5e-5), 1e-10)
    assert not model.contacts.ambiguous.any() and model.determined


@pytest.mark.parametrize("sliding", [False, True])
def test_corners_that_hold_each_other(sliding):
    """Four corners have more impulses than a body has velocities: what they do together has derivatives."""
    case = scenes.flat(sliding)
    model = case.scene.linearize(case.q, case.qd, case.tau, case.dt)
    assert ("sliding" in model.contacts.mode) == sliding
    # tilted boxes slip on some corner, by the square of what they are tilted: differences converge as their steps do
    near(np.c_[model.A, model.B], differences(case, 1e-6), 1e-7)


def test_joints_that_stops_and_friction_hold():
    """Velocities of joints at rest stay 0, whatever changes; others as differences of the step say."""
    case = scenes.held()
    model = case.scene.linearize(case.q, case.qd, case.tau, case.dt, **case.options)
    n, joint = case.scene.n, case.scene.v_slices[case.scene.robot.joint_names[0]].start
    assert abs(model.qd[joint]) < 1e-15 and case.tau[joint] != 0.0 and len(model.contacts.mode)
    assert np.abs(np.c_[model.A, model.B][n + joint]).max() < 1e-12
    expected = differences(case, 1e-6)
    columns = np.delete(np.arange(3 * n), n + joint)            # with a velocity of its own it slips
    near(np.c_[model.A, model.B][:, columns], expected[:, columns], 1e-8)


def test_a_ball_that_slides_has_derivatives_in_closed_form():
    """m v+ = m v + h (f - mu (m g - f_z) v / |v|), where the ball does not turn."""
    mu, m, g, h, speed = 0.2, 1.5, 9.81, 1e-2, 3.0
    scene = sd.Scene(scenes.world(), ground=True, friction=mu)
    scene.add_sphere("ball", 0.1, mass=m, pose=scenes.pose((0, 0, 0.1)))
    model = scene.linearize(scene.neutral(), [0, 0, 0, speed, 0, 0], np.zeros(6), h)
    R = scene.robot.forward_kinematics(model.q, "ball")[:3, :3]
    A, B = (R @ (x[9:] + np.cross(x[:3], model.qd[3:, None], axis=0)) for x in (model.A, model.B))  # in fixed axes
    assert model.contacts.mode == ["sliding"] and (R @ model.qd[3:])[0] == pytest.approx(speed - h * mu * g, rel=1e-13)
    assert B[0, 3] == pytest.approx(h / m, rel=1e-12) and B[0, 5] == pytest.approx(mu * h / m, rel=1e-12)
    lever = 1.0 + 2.5                                   # of the point of contact: v, and turns about the center
    turning = mu * g * h / (speed - h * mu * g * lever)         # of the force's direction, by velocities of the point
    assert A[1, 10] == pytest.approx((1.0 + (lever - 1.0) * turning) / (1.0 + lever * turning), rel=1e-12)
    assert A[0, 9] == pytest.approx(1.0, rel=1e-12)


def test_points_that_stick_keep_their_velocities():
    """J dv+ = 0 for all deviations of a robot that stands at rest, with Jacobians of its feet; and gaps become 0."""
    case = scenes.anymal()
    scene, robot, tau = case.scene, case.scene.robot, case.tau.copy()
    base, rates = next((where, robot.v_slices[name]) for name, where in robot.q_slices.items()
                       if where.stop - where.start == 7)
    q = case.q.copy()
    q[base.start + 2] += 5e-4
    touching = scene.contacts(q)
    J = []
    for pair, p in zip(touching.pair, touching.point, strict=True):
        if pair >= 0:
            foot = next(name for name in scene.pairs[pair] if name in scenes.FEET)
            of_foot, arm = robot.jacobian(q, foot, "hybrid"), p - robot.forward_kinematics(q, foot)[:3, 3]
            J.append(of_foot[3:] - np.cross(np.eye(3), arm) @ of_foot[:3])
    J, gravity = np.concatenate(J), robot.gravity_torque(q)
    assert J.shape == (12, scene.n)
    tau = gravity - J.T @ np.linalg.lstsq(J[:, rates].T, gravity[rates], rcond=None)[0]
    tau[rates] = 0.0
    model = scene.linearize(q, case.qd, tau, case.dt)
    assert np.abs(model.contacts.gap).max() < 1e-9 and (model.contacts.mode == "sticking").all()
    assert np.abs(model.qd).max() < 1e-10
    changes = np.c_[model.A, model.B]
    assert np.abs(J @ changes[scene.n:]).max() < 1e-9 and np.abs(changes[scene.n:]).max() > 0.01
    assert np.abs(J[2::3] @ changes[:scene.n]).max() < 1e-9


def rows_are_differentiated(scene, q, rng, h=1e-4):
    """Whether gaps, Jacobians and belts of all points of all pairs have the derivatives that differences find."""
    rows, pairs = TouchRows(scene.contact_model), []
    for k, pair in enumerate(scene.contact_model.pairs):
        pairs += [(k, j) for j in range(pair.points)]
    given = rows.at(q, *zip(*pairs, strict=True))
    there, ways = given.gap < 1e8, rng.normal(size=(2, scene.n))
    assert there.sum() >= len(scene.pairs)
    for name, by in ("gap", given.gap_by_q), ("J", given.J_by_q), ("belt", given.belt_by_q):
        def along(x, name=name):
            return getattr(rows.at(scene.integrate(q, x @ ways), *zip(*pairs, strict=True)), name)[there]
        near(by[there] @ ways.T, slopes(along, len(ways), h), 1e-9)
    nearest = [k for k, (pair, _) in enumerate(pairs) if given.gap[k] == min(
        gap for gap, (other, _) in zip(given.gap, pairs, strict=True) if other == pair) < 1e8]
    near(given.J[nearest][:, 2], given.gap_by_q[nearest], 1e-13)


def test_rows_of_touches_are_differentiated_for_all_shapes():
    """Gap, Jacobian and moving surfaces, of pairs with points on faces, edges and corners."""
    scene = sd.Scene(scenes.world(), ground=True)
    rng = np.random.default_rng(2)
    scene.add_box("box", (0.2, 0.3, 0.4), mass=1.0, pose=scenes.pose((0, 0, 0.3), rng.normal(size=3)))
    scene.add_sphere("ball", 0.1, mass=1.0, pose=scenes.pose((0.3, 0.1, 0.35)))
    scene.add_cylinder("drum", 0.1, 0.3, mass=1.0, pose=scenes.pose((0.2, 0.5, 0.3), rng.normal(size=3)),
                       belt=(0.1, 0.2, 0.3))
    scene.add_capsule("rod", 0.05, 0.4, mass=1.0, pose=scenes.pose((-0.3, 0.1, 0.4), rng.normal(size=3)))
    scene.add_mesh("hull", rng.normal(size=(6, 3)) * 0.1, mass=1.0, pose=scenes.pose((1, 0, 0.3)))
    rows_are_differentiated(scene, scene.neutral(), rng)


@pytest.mark.parametrize("shape", [
    Sphere(0.1), Capsule(0.1, 0.5), Box((0.6, 0.5, 0.2)), Cylinder(0.3, 0.2),
    ConvexHull([[0.0, 0.0, -0.3], [0.3, 0.0, 0.1], [-0.2, 0.3, 0.1], [-0.2, -0.3, 0.2]])], ids=lambda shape: shape.kind)
def test_rows_of_touches_on_a_height_field_are_differentiated(shape):
    rng, scene = np.random.default_rng(5), sd.Scene(scenes.world())
    scene.add_heightfield("hill", 0.2 * rng.normal(size=(6, 7)), (3.0, 2.5))
    scene.add("stone", shape, 1.0, scenes.pose((0.31, -0.12, 1.0), rng.normal(size=3)))
    q = scene.neutral()
    for _ in range(60):
        q[2] -= 0.5 * (scene.distances(q).gap[0] - 1e-3)
    rows_are_differentiated(scene, q, rng, 1e-5)
    assert scene.linearize(q, [0, 0, 0, 0, 0, 0.0]).contacts.gap.min() == pytest.approx(1e-3, abs=1e-9)


def test_a_contact_in_touch_is_differentiated_towards_the_ground():
    """Where a gap is 0 the velocity has two slopes: that of a ball which is pushed in is told, or both by `landed`."""
    scene = sd.Scene(scenes.world(), ground=True, friction=0.5)
    scene.add_sphere("ball", 0.125, mass=1.0, pose=scenes.pose((0, 0, 0.125)))
    q, qd, tau, h = scene.neutral(), np.zeros(6), np.zeros(6), 1e-2
    model = scene.linearize(q, qd, tau, h)
    for side, slope in (-1.0, model.A[11, 5]), (1.0, -1.0 / h):
        end = scene.step(scene.integrate(q, [0, 0, 0, 0, 0, side * 1e-6]), qd, tau, h)
        assert (end.qd[5] - model.qd[5]) / (side * 1e-6) == pytest.approx(slope, abs=1e-6)
        assert end.q[2] == pytest.approx(0.125, abs=1e-15)
    assert abs(model.A[5, 5]) < 1e-14
    q[2] += 1e-12
    assert scene.linearize(q, qd, tau, h, landed=0.0).A[11, 5] == pytest.approx(-1.0 / h, rel=1e-12)


# ------------------------------------------------------------------------------------------------- margins
def test_margins_of_a_block_on_a_slope():
    """It sticks by h m g (mu cos a - sin a), and opens by h m g cos a; one that slides has its speed."""
    a, mu, m, h, g = 0.3, 0.35, 1.5, 1e-3, 9.81
    for friction, mode in (mu, "sticking"), (0.1, "sliding"):
        scene = sd.Scene(scenes.world(), friction=friction)
        scene.add_plane("slope", scenes.pose((0, 0, 0), (0.0, a, 0.0)))
        scene.add_box("block", (0.2, 0.2, 0.1), mass=m,
                      pose=scenes.pose(scenes.pose((0, 0, 0), (0.0, a, 0.0))[:3, :3] @ (0, 0, 0.05), (0.0, a, 0.0)))
        found = scene.linearize(scene.neutral(), np.zeros(6), None, h).contacts
        closed = found.mode != "open"
        assert set(found.mode[closed]) == {mode} and found.opening[closed].sum() == pytest.approx(
            h * m * g * np.cos(a), rel=1e-9)
        if mode == "sliding":
            assert found.slipping[closed] == pytest.approx(h * g * (np.sin(a) - friction * np.cos(a)), rel=1e-9)
        assert found.force.sum(axis=0) == pytest.approx(
            np.array([0, 0, m * g]) if mode == "sticking" else m * g * np.cos(a) * (
                scenes.pose((0, 0, 0), (0.0, a, 0.0))[:3, :3] @ (-friction, 0, 1)), abs=1e-9)


def test_margin_of_a_ball_that_begins_to_roll():
    """It takes m g sin a / (1 + m l^2 / I) to make it roll, l the arm of the force, which acts on the slope."""
    case, a, h, m, g = scenes.on_a_slope(0.6), 0.35, 1e-2, 1.5, 9.81
    found = case.scene.linearize(case.q, case.qd, np.zeros(6), h).contacts
    assert found.slipping == pytest.approx(h * m * g * (
        0.6 * np.cos(a) - np.sin(a) / (1.0 + 2.5 * 0.99**2)), rel=1e-9)


def test_strict_names_the_pair_whose_mode_is_ambiguous():
    """A ball that is pushed up by its weight alone is as well open as closed."""
    scene = sd.Scene(scenes.world(), ground=True)
    scene.add_sphere("ball", 0.125, mass=1.0, pose=scenes.pose((0, 0, 0.125)))
    q, qd, up = scene.neutral(), np.zeros(6), np.array([0, 0, 0, 0, 0, 9.81])
    assert scene.linearize(q, qd, up).contacts.ambiguous == [True]
    with pytest.raises(ValueError, match="contact of 'ball' and 'ground': .* by a margin of"):
        scene.linearize(q, qd, up, strict=True)
    scene.linearize(q, qd, 0.5 * up, strict=True)


def test_what_has_no_derivatives_here_is_refused():
    for law, value in ("restitution", 0.5), ("torsion", 0.01), ("rolling", 0.02):
        scene = sd.Scene(scenes.world(), ground=True, **{law: value})
        scene.add_sphere("ball", 0.1, mass=1.0, pose=scenes.pose((0, 0, 0.1)))
        with pytest.raises(ValueError, match=f"contact of 'ball' and 'ground': {law} {value} must be 0"):
            scene.linearize(scene.neutral(), [0, 0, 0, 0, 0, -0.5])
        if law == "restitution":                                # what does not rebound has them
            assert scene.linearize(scene.neutral(), np.zeros(6)).contacts.mode == ["sticking"]
    with pytest.raises(ValueError, match="integrator"):
        scene.linearize(scene.neutral(), np.zeros(6), integrator="rk4")
    with pytest.raises(ValueError, match="a controller"):
        scene.rollout_derivatives(scene.neutral(), effort=lambda t, q, qd: qd)


@pytest.mark.parametrize("options, says", [
    (dict(landed=np.nan), "landed nan must be finite and >= 0"), (dict(landed=-1.0), "landed -1.0 must be"),
    (dict(landed="a"), "landed 'a' must be"), (dict(strict="no"), "strict 'no' must be True or False"),
    (dict(t=np.inf), "t inf must be finite")])
def test_options_that_say_nothing_are_refused(options, says):
    scene, q, qd, dt, _ = thrown()
    with pytest.raises(ValueError, match=says):
        scene.linearize(q, qd, dt=dt, **options)
    if "landed" in options:
        with pytest.raises(ValueError, match=says):
            scene.rollout_derivatives(q, qd, None, dt, 1, **options)


def test_a_body_without_a_direction_is_nowhere():
    """It has no gap to anything, and is not far from everything."""
    scene, q, qd, dt, _ = thrown()
    q[3:] = 0.0
    for query in (scene.contacts, scene.distances, lambda q: scene.linearize(q, qd, dt=dt),
                  lambda q: scene.rollout_derivatives(q, qd, None, dt, 1)):
        with pytest.raises(ValueError, match="joint 'ball': the quaternion 0 0 0 0 has no direction"):
            query(q)


def test_a_table_that_turns_as_it_slides_has_no_derivative():
    """How its four feet share the load is nothing that rigid bodies know, and friction turns it by that."""
    case = scenes.boxes((0.004, 0.003, 0.3))
    assert not case.scene.linearize(case.q, case.qd, case.tau, case.dt).determined
    with pytest.raises(ValueError, match=r"contacts of \[\('table', 'box'\)\] slide in different directions"):
        case.scene.linearize(case.q, case.qd, case.tau, case.dt, strict=True)


def test_batches_are_states_one_by_one():
    case = scenes.belt()
    qd = case.qd + 0.1 * np.arange(3.0)[:, None]
    many = case.scene.linearize(case.q, qd, case.tau, case.dt)
    assert many.A.shape == (3, 12, 12) and len(many.contacts) == 3
    for k in range(3):
        one = case.scene.linearize(case.q, qd[k], case.tau, case.dt)
        near(many.A[k], one.A, 1e-13)
        near(many.B[k], one.B, 1e-13)


# ------------------------------------------------------------------------------------------------- rollouts
def thrown():
    """A ball that lands, slides, and rolls before it ends."""
    scene = sd.Scene(scenes.world(), ground=True, friction=0.4)
    scene.add_sphere("ball", 0.1, mass=1.2, pose=scenes.pose((0, 0, 0.12)))
    return scene, scene.neutral(), np.array([0.3, -4.0, 0.2, 2.0, 0.7, -0.3]), 5e-3, 60


def test_derivatives_of_a_rollout_go_through_its_modes():
    scene, q0, qd0, dt, steps = thrown()
    tau = 0.1 * np.random.default_rng(1).normal(size=(steps, 6))
    found = scene.rollout_derivatives(q0, qd0, tau, dt, steps)
    modes = [mode for contacts in found.contacts for mode in contacts.mode]
    assert [mode for k, mode in enumerate(modes) if k == 0 or mode != modes[k - 1]] == ["open", "sliding", "sticking"]

    def end(x):
        motion = scene.rollout(scene.integrate(q0, x[:6]), qd0 + x[6:12], tau, dt, steps, contacts=False)
        return np.r_[scene.difference(found.q[-1], motion.q[-1]), motion.qd[-1] - found.qd[-1]]
    near(found.final().by_state, slopes(end, 12, 5e-6), 1e-8)        # with 2e-5 it slides a step longer
    push = np.random.default_rng(2).normal(size=(steps, 6))

    def pushed(x):
        motion = scene.rollout(q0, qd0, tau + x[0] * push, dt, steps, contacts=False)
        return np.r_[scene.difference(found.q[-1], motion.q[-1]), motion.qd[-1] - found.qd[-1]]
    dq, dqd = found.forward(dtau=push)
    near(np.r_[dq[-1], dqd[-1]], slopes(pushed, 1, 2e-5)[:, 0], 1e-8)


def test_gradient_of_a_cost_along_a_rollout():
    """How far from a target a ball comes to lie, by the velocity with which it is thrown."""
    scene, q0, qd0, dt, steps = thrown()
    target = np.array([0.5, 0.2])

    def cost(t, q, qd, tau):
        away = q[-1, :2] - target
        by_q = np.zeros((len(t), 6))
        by_q[-1, 3:] = np.r_[away, 0.0] @ scene.robot.forward_kinematics(q[-1], "ball")[:3, :3]
        return 0.5 * away @ away, by_q
    value, gradient = scene.rollout_gradient(cost, q0, qd0, None, dt, steps)

    def thrown_with(x):
        motion = scene.rollout(q0, qd0 + x, None, dt, steps, contacts=False)
        return 0.5 * np.sum((motion.q[-1, :2] - target) ** 2)
    assert value == pytest.approx(thrown_with(np.zeros(6)), rel=1e-14)
    near(gradient.by_qd0, slopes(thrown_with, 6, 2e-5), 1e-8)
