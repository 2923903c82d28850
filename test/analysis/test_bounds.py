"""Proven bounds of efforts: closed forms, random states and corners of boxes, mpmath, and what is refused."""
import itertools
import re
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.gravity import GRAVITY_TORQUE
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS
from screw_dynamics.algorithms.mass_matrix import MASS_MATRIX
from screw_dynamics.analysis.bounds import MARGIN, _Effort
from screw_dynamics.analysis.effort_polynomials import Coefficients, Efforts, Variable
from screw_dynamics.analysis.grid_bounds import Axis, curvatures
from screw_dynamics.c_code.tracing import TracedRobot
from screw_dynamics.compiled.tracing import Trace
from screw_dynamics.numbers.scalars import sincos
from screw_dynamics.numbers.values import map_numbers
from support.random_trees import model_of, random_tree
from support.real_robots import real_robot

UR5, PANDA = "ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf"
G, M1, M2, L1, C1, C2, J1, J2 = 9.81, 3.0, 2.0, 0.5, 0.2, 0.3, 0.02, 0.01


def arm(gravity=(0.0, 0.0, -G), links=2):
    """Planar links about y, along x at q = 0: masses at C1 and C2 on their lengths, inertias J1 and J2 about them."""
    builder, parent = sd.ModelBuilder("base"), "base"
    for k, (m, c, inertia, x) in enumerate([(M1, C1, J1, 0.0), (M2, C2, J2, L1)][:links]):
        C = np.eye(4)
        C[0, 3] = x
        builder.add_joint(f"joint {k}", f"link {k}", parent, (0.0, -1.0, 0.0, 0.0, 0.0, 0.0), C,
                          sd.inertia_matrix(m, (c, 0.0, 0.0), inertia * np.eye(3)))
        parent = f"link {k}"
    return sd.Robot(builder.build(), gravity=gravity)


def box(*limits):
    """The box between minus and plus these numbers."""
    return -np.array(limits), np.array(limits)


def panda():
    """The arm without its fingers."""
    return real_robot(PANDA, tip_link="panda_hand")


def sampled(rng, boxes, count):
    """Random states of a box, of whose numbers some are at their ends."""
    for low, high in boxes:
        x = rng.uniform(low, high, (count, len(low)))
        at_end = rng.random(x.shape) < 0.3
        yield np.where(at_end, np.where(rng.random(x.shape) < 0.5, low, high), x)


def encloses(found, tau, wide=1.2):
    """Bounds include these efforts, and are not much wider than their range and the witnesses'."""
    assert (found.lower <= tau.min(axis=0)).all() and (tau.max(axis=0) <= found.upper).all()
    lowest, highest = np.minimum(tau.min(axis=0), found.lowest), np.maximum(tau.max(axis=0), found.highest)
    assert (found.upper - found.lower <= wide * (highest - lowest) + 1e-9).all()


# ------------------------------------------------------------------------------------------------- closed forms
@pytest.mark.parametrize(("lower", "upper", "least", "largest"), [
    (-np.pi, np.pi, -1.0, 1.0), (-10.0, 10.0, -1.0, 1.0), (0.0, np.pi / 2, 0.0, 1.0), (-0.3, 0.4, np.cos(0.4), 1.0),
    (1.0, 1.0, np.cos(1.0), np.cos(1.0))])
def test_pendulum(lower, upper, least, largest):
    """tau = m g c cos q + (J + m c^2) q''."""
    least, largest = M1 * G * C1 * np.array([least, largest])
    found = sd.bounds(arm(links=1), ([lower], [upper]))
    assert found.lower <= least + 1e-12 and largest - 1e-12 <= found.upper
    assert found.upper - found.lower <= 1.2 * (largest - least) + 1e-9 and found.excess <= 0.2
    inertia = J1 + M1 * C1 ** 2
    moving = sd.bounds(arm(links=1), ([lower], [upper]), box(7.0), box(5.0))
    assert moving.lower <= least - 5.0 * inertia + 1e-12 and largest + 5.0 * inertia - 1e-12 <= moving.upper
    assert moving.upper - moving.lower <= 1.2 * (largest - least + 10.0 * inertia)


@pytest.mark.parametrize("gap", [0.2, 0.02])
def test_planar_arm(gap):
    """tau_1 = g_1 + M_11 q_1'' + M_12 q_2'' - h sin(q_2) (2 q_1' q_2' + q_2'^2), tau_2 = g_2 + ... + h sin(q_2)
    q_1'^2."""
    q, h = box(np.pi, np.pi), M2 * L1 * C2
    still = sd.bounds(arm(), q, gap=gap)
    exact = G * np.array([M1 * C1 + M2 * (L1 + C2), M2 * C2])
    assert (exact <= still.upper).all() and (still.upper <= (1.0 + gap) * exact).all()
    assert (-exact >= still.lower).all() and (still.lower >= -(1.0 + gap) * exact).all()
    weightless = sd.bounds(arm((0.0, 0.0, 0.0)), q, box(2.0, 2.0), gap=gap)
    exact = np.array([h * 3.0 * 4.0, h * 4.0])
    assert (exact <= weightless.upper).all() and (weightless.upper <= (1.0 + gap) * exact).all()
    accelerated = sd.bounds(arm((0.0, 0.0, 0.0)), q, qdd=box(5.0, 5.0), gap=gap)
    second = J2 + M2 * C2 ** 2
    exact = 5.0 * np.array([J1 + M1 * C1 ** 2 + M2 * L1 ** 2 + 2.0 * second + 3.0 * h, 2.0 * second + h])
    assert (exact <= accelerated.upper).all() and (accelerated.upper <= (1.0 + gap) * exact).all()


def test_a_state_has_its_efforts(rng):
    robot = panda()
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, robot.n))
    found, tau = sd.bounds(robot, (q, q), (qd, qd), (qdd, qdd)), robot.inverse_dynamics(q, qd, qdd)
    assert (found.lower <= tau).all() and (tau <= found.upper).all() and (found.upper - found.lower < 1e-10).all()
    assert (found.excess == 0.0).all()


# ------------------------------------------------------------------------------------------------- samples
@pytest.mark.parametrize("robot", [UR5, pytest.param("panda", marks=pytest.mark.slow)])
def test_rest_over_all_positions(rng, robot):
    robot = panda() if robot == "panda" else real_robot(robot)
    q = robot.limits.lower, robot.limits.upper
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sd.bounds(robot, q)
    encloses(found, robot.gravity_torque(next(sampled(rng, [q], 10 ** 6))))
    assert (found.excess <= 0.2).all()


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "whole"), [(UR5, True), (UR5, False), ("panda", False)])
def test_motion(rng, robot, whole):
    """Over all positions or a part of them: 10^6 states, and all corners of the box."""
    robot = panda() if robot == "panda" else real_robot(robot)
    limits, n = robot.limits, robot.n
    middle = rng.uniform(-1.0, 1.0, n)
    q = (limits.lower, limits.upper) if whole else (middle - 0.4, middle + 0.4)
    boxes = [q, box(*limits.velocity), box(*[10.0] * n)]
    found = sd.bounds(robot, *boxes)
    encloses(found, robot.inverse_dynamics(*sampled(rng, boxes, 10 ** 6)))
    ends = np.array(list(itertools.product((0, 1), repeat=n)))
    q, qd, qdd = ([np.where(ends, high, low) for low, high in boxes])
    for state in q:
        encloses(found, robot.inverse_dynamics(state, qd[:, None], qdd).reshape(-1, n))
    for i, pair in enumerate(found.states):
        low, high = (robot.inverse_dynamics(*state[:3])[i] for state in pair)
        assert (low, high) == pytest.approx((found.lowest[i], found.highest[i]), rel=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_random_trees(seed):
    """With prismatic and helical joints, and mimic joints; the bounds of helical ones may be wider than asked for."""
    rng = np.random.default_rng(seed)
    robot = sd.Robot(model_of(random_tree(rng, int(rng.integers(2, 6)), mimics=seed % 2)), rng.uniform(-9, 9, 3))
    middles, radii = rng.uniform(-1.0, 1.0, (3, robot.n)), rng.uniform(0.0, 1.0, (3, robot.n)) * [[1.5], [2], [5]]
    boxes = [(m - r, m + r) for m, r in zip(middles, radii, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.BoundsWarning)
        found = sd.bounds(robot, *boxes)
    encloses(found, robot.inverse_dynamics(*sampled(rng, boxes, 10 ** 5)), wide=1.6)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_do_not_rest_on_the_search(seed, monkeypatch):
    """Whose states are a corner of the box here: what is between few points of a grid is bounded, too."""
    rng = np.random.default_rng(seed)
    robot = sd.Robot(model_of(random_tree(rng, 3, of=("revolute", "revolute", "prismatic"))), rng.uniform(-9, 9, 3))
    boxes = [box(*[x] * robot.n) for x in (2.5, 2.0, 4.0)]
    monkeypatch.setattr(_Effort, "_searched", lambda self, sign: (*(low for low, _ in boxes), {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.BoundsWarning)
        found = sd.bounds(robot, *boxes, max_points=40)
    tau = robot.inverse_dynamics(*sampled(rng, boxes, 10 ** 5))
    assert (found.lower <= tau.min(axis=0)).all() and (tau.max(axis=0) <= found.upper).all()


def test_payload(rng):
    """Of a mass between two values, anywhere in a box; a fixed inertia."""
    robot, link, inertia = real_robot(UR5), "tool0", np.diag([0.02, 0.03, 0.04])
    q, qdd = (np.full(6, -0.5), np.full(6, 0.5)), box(*[3.0] * 6)
    for k in (0, 1, 3):
        q[0][k] = q[1][k] = 0.1 * k
    load = {"mass": (0.0, 5.0), "com": ((0.0, -0.05, 0.1), (0.0, 0.05, 0.2)), "inertia": inertia}
    found = sd.bounds(robot, q, qdd=qdd, payload={link: load})
    tau = []
    for m, y, z in [*itertools.product((0.0, 5.0), (-0.05, 0.05), (0.1, 0.2)), (2.0, 0.01, 0.13)]:
        states = sampled(rng, [q, qdd], 20_000)
        tau.append(robot.with_payload(link, m, (0.0, y, z), inertia).inverse_dynamics(next(states), np.zeros(6),
                                                                                      next(states)))
    encloses(found, np.concatenate(tau))
    point = sd.bounds(robot, q, payload={link: {"mass": 5.0}})
    same = sd.bounds(robot.with_payload(link, 5.0), q)
    assert np.allclose(point.upper, same.upper, rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------------------------------------- arithmetic
@sincos.register(mpmath.mpf)
def _(x):
    return mpmath.sin(x), mpmath.cos(x)


@pytest.mark.parametrize("seed", [1, 3])
def test_rounding_errors_are_below_their_bounds(seed):
    """The recursions in 60 digits are the oracle of coefficients in double precision; for velocities that of Newton
    and Euler, which differs by the rounding of the model's rotations."""
    rng = np.random.default_rng(seed)
    robot = sd.Robot(model_of(random_tree(rng, 4)), rng.uniform(-9, 9, 3))
    efforts, exact = Efforts(robot, {}, True), TracedRobot(robot.model, robot.gravity, Trace(), {})
    exact.links = [map_numbers(mpmath.mpf, link) for link in exact.links]
    n, i, largest = robot.n, 0, {str(k): 3.0 for k in range(robot.n)}
    found = Coefficients(efforts.trace, [efforts.gravity[i], *efforts.mass_matrix[i], *efforts.christoffel[i]], {})
    sizes, errors = found.sizes_and_errors(largest).T
    with mpmath.workdps(60):
        for q, qd, qdd in rng.uniform(-3.0, 3.0, (20, 3, n)):
            x, v, a = ([mpmath.mpf(number) for number in row] for row in (q, qd, qdd))
            rows = found({y: q[int(y.input)] * (y.rate or 1.0) for y in found.variables})
            expected = [exact.run(GRAVITY_TORQUE, x)[i], *exact.run(MASS_MATRIX, x)[i]]
            for got, y, bound in zip(rows[:n + 1], expected, errors[:n + 1], strict=True):
                assert abs(mpmath.mpf(float(got)) - y) <= bound < 1e-10
            factors = [1, *a, *(v[j] * v[k] for j, k in efforts.pairs)]
            error = sum(mpmath.mpf(float(y)) * f for y, f in zip(rows, factors, strict=True)) - exact.run(
                INVERSE_DYNAMICS, x, v, a)[i]
            assert abs(error) <= np.abs(np.array(factors, dtype=float)) @ (errors + MARGIN * sizes) < 1e-8


def test_second_derivatives_are_below_their_bounds(rng):
    """Of the coefficients of a robot, by differences of their values."""
    robot = real_robot(UR5)
    efforts, h = Efforts(robot, {}, True), 1e-3
    found = Coefficients(efforts.trace, [efforts.gravity[1], *efforts.mass_matrix[1], *efforts.christoffel[1]], {})
    axes = [Axis(x, -1.0, 1.0, degree) for x, degree in zip(found.variables, found.degrees, strict=True)]
    sizes, weights = found.sizes_and_errors({str(k): 1.0 for k in range(6)}), rng.uniform(0.0, 1.0, len(found.results))
    A = curvatures(found, axes, weights, sizes, 3.0)
    q = rng.uniform(-np.pi, np.pi, (6, 20_000))

    def values(q):
        rows = found({x: q[int(x.input)] for x in found.variables})
        return np.array([np.broadcast_to(x, q.shape[1]) for x in rows])
    for j, axis in enumerate(axes):
        step = h * np.eye(6)[int(axis.variable.input)][:, None]
        bend = weights @ np.abs(values(q + step) - 2.0 * values(q) + values(q - step)) / h ** 2
        assert bend.max() <= A[j] * (1.0 + 1e-5) < 10.0 * bend.max()


@pytest.mark.parametrize(("rate", "degree", "cells"), [(1.0, 1, 3), (1.0, 2, 8), (2.0, 3, 9), (0.0, 2, 2), (0.0, 3, 5)])
def test_second_differences_are_exact_for_polynomials(rng, rate, degree, cells):
    axis = Axis(Variable("0", rate), -0.4, 1.7, degree).whole
    x = axis.points(cells)
    a, b = rng.uniform(-1.0, 1.0, (2, degree + 1))
    k = np.arange(degree + 1)[:, None]
    if rate:
        y = a @ np.cos(k * x) + b @ np.sin(k * x)
        bend = -(a @ (k ** 2 * np.cos(k * x)) + b @ (k ** 2 * np.sin(k * x)))
    else:
        p = np.polynomial.Polynomial(a)
        y, bend = p(x), p.deriv(2)(x)
    assert np.allclose(axis.second_difference(cells) @ y, bend, rtol=0.0, atol=1e-10)


# ------------------------------------------------------------------------------------------------- what is refused
@pytest.mark.parametrize(("change", "told"), [
    ({"q": ([0.5, 0.0], [0.4, 1.0])}, "q: the lower value 0.5 of joint 0"),
    ({"q": [0.0, 1.0]}, r"q has shape (2,)"), ({"q": np.zeros((2, 3))}, "q has shape (2, 3)"),
    ({"q": np.zeros((3, 2, 2))}, "q has shape (3, 2, 2)"), ({"q": ([0.0, 0.0], [np.inf, 1.0])}, "q[1, 0] is inf"),
    ({"qd": ([0.0, np.nan], [1.0, 1.0])}, "qd[0, 1] is nan"), ({"qdd": ([1.0, 0], [0, 1.0])}, "qdd: the lower value 1"),
    ({"gap": 0.0}, "gap"), ({"gap": np.nan}, "gap"), ({"max_points": -1}, "max_points"),
    ({"payload": 3.0}, "payload 3.0"), ({"payload": {"nowhere": {"mass": 1.0}}}, "'nowhere'"),
    ({"payload": {"link 1": {"weight": 1.0}}}, "'weight'"), ({"payload": {"link 1": 2.0}}, "2.0"),
    ({"payload": {"link 1": {"mass": (2.0, 1.0)}}}, "mass: a lower value"),
    ({"payload": {"link 1": {"mass": -1.0}}}, "-1"), ({"payload": {"link 1": {"mass": (1.0, np.inf)}}}, "inf"),
    ({"payload": {"link 1": {"mass": 1.0, "com": (1.0, 2.0)}}}, "com has shape (2,)"),
    ({"q": box(1.7e308, 1.0)}, "'joint 0': numbers overflow, for q up to 1.7e+308"),
    ({"qd": box(1e155, 1e155)}, "qd up to 1e+155"), ({"qd": box(1.7e308, 1.0)}, "qd up to 1.7e+308"),
    ({"payload": {"link 1": {"mass": 1e308}}}, "{'mass': 1e+308}"),
    ({"payload": {"link 1": {"mass": (0.0, 1e308)}}}, "{'mass': (0.0, 1e+308)}"),
    ({"payload": {"link 1": {"mass": 1.0, "com": ((0.0, 0.0, 0.0), (1e200, 0.0, 0.0))}}}, "1e+200"),
    ({"payload": {"link 1": {"mass": 1.0, "inertia": np.diag([1.0, 0.0, 0.0])}}}, "inertia")])
def test_refused(change, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        sd.bounds(arm(), **{"q": box(1.0, 1.0)} | change)


def test_other_robots_are_refused():
    with pytest.raises(TypeError, match="Model"):
        sd.bounds(arm().model, box(1.0, 1.0))
    with pytest.raises(TypeError, match="tau"):
        sd.bounds(arm(), box(1.0, 1.0), tau=1.0)
    floating = sd.Robot.from_urdf("urdf/quadrotor.urdf", floating_base=True)
    with pytest.raises(ValueError, match="one degree of freedom"):
        sd.bounds(floating, np.zeros((2, floating.nq)))
    chain = sd.ModelBuilder("0")
    for k in range(14):
        chain.add_joint(f"joint {k}", f"{k + 1}", f"{k}", (0.0, k % 2, 1 - k % 2, 0.0, 0.0, 0.0), np.eye(4),
                        sd.inertia_matrix(1.0, (0.1, 0.2, 0.3), np.eye(3)))
    with pytest.raises(ValueError, match="'joint 0'.* variables"):
        sd.bounds(sd.Robot(chain.build()), box(*[1.0] * 14), qdd=box(*[1.0] * 14))


@pytest.mark.parametrize(("slide", "told"), [(1e160, "'lift': .* q up to 1e+160"), (5e-201, "1e-200 wide")])
def test_slides_that_overflow_are_refused(slide, told):
    """Infinities and numbers that are none do not become bounds: the forces grow with the slide, and derivatives by it
    are quotients by its width."""
    with pytest.raises(ValueError, match=told.replace("+", r"\+")):
        sd.bounds(sd.Robot.from_urdf("urdf/spherical_arm.urdf"), box(1.0, 1.0, slide))


@pytest.mark.parametrize("width", [1e-150, 1e-15])
def test_bounds_as_wide_as_rounding_errors_do_not_warn(width):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sd.bounds(arm((G, 0.0, 0.0)), box(width, 0.0), box(width, width))
    assert (found.excess == 0.0).all() and (found.lower <= found.upper).all()


@pytest.mark.parametrize(("lower", "upper", "rate"), [
    (1e9, 1e9 + 1.0, 1.0), (1e9, 1e9 + 7.0, 1.0), (1e3, 1e3 + 1e-9, 0.0), (-1e12, -1e12 + 1.0, 1.0)])
def test_spacings_are_above_those_of_rounded_points(lower, upper, rate):
    axis = Axis(Variable("0", rate), lower, upper, 1)
    exact = [Fraction(x) for x in axis.points(1000)]
    assert max(b - a for a, b in itertools.pairwise(exact)) <= Fraction(axis.spacing(1000))


def test_a_pendulum_far_around(rng):
    """Positions are rounded to some 0.1 rad here, and the bounds include all that they can be."""
    q, largest = 1e15 + np.array([[-1.0], [1.0]]), M1 * G * C1
    with pytest.warns(sd.BoundsWarning):
        found = sd.bounds(arm(links=1), q, max_points=1000)
    tau = largest * np.cos(np.linspace(*q[:, 0], 17))
    assert found.lower[0] <= tau.min() and tau.max() <= found.upper[0]


def test_a_missed_gap_is_reported():
    with pytest.warns(sd.BoundsWarning, match="excess of 2 of 2 joints is above gap=0.2: 'joint 0' has"):
        found = sd.bounds(arm(), box(3.0, 3.0), box(2.0, 2.0), max_points=4)
    assert found.excess[0] > 0.2 and found.points <= 2 * 4
    exact = sd.bounds(arm(), box(3.0, 3.0), box(2.0, 2.0))
    assert (found.upper >= exact.highest).all() and (found.lower <= exact.lowest).all()


def test_a_robot_without_joints_has_no_efforts():
    builder = sd.ModelBuilder("base")
    builder.add_fixed("link", "base", np.eye(4), np.eye(6))
    found = sd.bounds(sd.Robot(builder.build()), np.zeros((2, 0)))
    assert found.lower.shape == found.excess.shape == (0,) and found.states == []
