"""The kernels in plain Python: the same as compiled, and on counting, 50-digit and symbolic numbers."""
import mpmath
import numpy as np
import pytest
import sympy

import screw_dynamics as sd
from screw_dynamics.algorithms.centroidal import CENTROIDAL
from screw_dynamics.algorithms.choice import choice
from screw_dynamics.algorithms.coriolis_matrix import CORIOLIS_MATRIX
from screw_dynamics.algorithms.forward_dynamics import FORWARD_DYNAMICS_BY_MASS_MATRIX_BODY_FIXED
from screw_dynamics.algorithms.momenta import MOMENTA
from screw_dynamics.compiled.counting import operations
from screw_dynamics.model.links import Placed, on_axes
from screw_dynamics.numbers.scalars import sqrt
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.se3 import Pose, Twist, identity
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Symmetric3, Vec3, cross
from support.matrices import error
from support.plain import ENTRIES, plain, target_of
from support.random_trees import model_of, random_tree
from support.scalar_kinds import lifted

# What the facade calls each entry point, on a state and a frame against another.
FACADE = {
    "inverse_dynamics_classical": lambda robot, s, f: robot.inverse_dynamics(*s),
    "gravity_torque": lambda robot, s, f: robot.gravity_torque(s[0]),
    "coriolis_torque": lambda robot, s, f: robot.coriolis_torque(*s[:2]),
    "coriolis_matrix": lambda robot, s, f: robot._evaluate(         # for straight lines
        robot._of(CORIOLIS_MATRIX), {"q": s[0], "qd": s[1]}, None, 1),
    "coriolis_matrix_in_common_frame": lambda robot, s, f: robot.coriolis_matrix(*s[:2]),
    "mass_matrix": lambda robot, s, f: robot.mass_matrix(s[0]),
    "forward_dynamics_by_mass_matrix": lambda robot, s, f: robot.forward_dynamics(*s),
    "forward_dynamics_by_mass_matrix_body_fixed": lambda robot, s, f: in_body_frames(robot).forward_dynamics(*s),
    "kinetic_energy": lambda robot, s, f: robot.kinetic_energy(*s[:2]),
    "potential_energy": lambda robot, s, f: robot.potential_energy(s[0]),
    "body_poses": lambda robot, s, f: robot.body_poses(s[0], reference=f[1]),
    "body_poses_spatial": lambda robot, s, f: robot.body_poses(s[0], "spatial", f[1]),
    "forward_kinematics": lambda robot, s, f: robot.forward_kinematics(s[0], f[0], f[1]),
    "center_of_mass": lambda robot, s, f: robot.center_of_mass(s[0]),
    "centroidal_momentum_matrix": lambda robot, s, f: robot.centroidal_momentum_matrix(s[0]),
    "centroidal_momentum_matrix_derivative": lambda robot, s, f: robot.centroidal_momentum_matrix_derivative(*s[:2]),
    "centroidal_momentum_rate": lambda robot, s, f: robot.centroidal_momentum_rate(*s),
    "composite_inertia": lambda robot, s, f: robot.composite_inertia(s[0]),
    "inverse_dynamics_derivatives": lambda robot, s, f: np.stack(robot.inverse_dynamics_derivatives(*s)),
    "hessian": lambda robot, s, f: robot.kinematic_hessian(s[0], f[0], f[2], f[1]),
    "torque_regressor": lambda robot, s, f: robot.torque_regressor(*s),
    "kinetic_energy_regressor": lambda robot, s, f: robot.kinetic_energy_regressor(*s[:2]),
    "potential_energy_regressor": lambda robot, s, f: robot.potential_energy_regressor(s[0]),
    "momenta": lambda robot, s, f: robot._evaluate(      # for integrators
        robot._of(MOMENTA), {"q": s[0], "qd": s[1]}, None, 1),
    "jacobian": lambda robot, s, f: robot.jacobian(s[0], f[0], f[2], f[1]),
    "jacobian_second_derivative": lambda robot, s, f: robot.jacobian_second_derivative(*s, f[0], f[2], f[1]),
    "jacobian_derivative": lambda robot, s, f: robot.jacobian_derivative(*s[:2], f[0], f[2], f[1]),
}
for form, ending in (("body", ""), ("spatial", "_spatial"), ("hybrid", "_hybrid"), ("mixed", "_mixed")):
    for method in ("inverse_dynamics", "forward_dynamics"):
        FACADE[method + ending] = lambda robot, s, f, method=method, form=form: getattr(
            sd.Robot(robot.model, robot.gravity, form), method)(*s)
FRAMES = [("link 5", "link 3", form) for form in ("body", "spatial", "hybrid", "mixed")]


def robot_of(joints, mimics=0):
    return sd.Robot(model_of(random_tree(np.random.default_rng(joints), joints, mimics)))


def in_body_frames(robot):
    """The robot with the loops of what serves the straight lines of robots whose joints share coordinates."""
    robot._use(choice(None, True)._replace(forward_dynamics=FORWARD_DYNAMICS_BY_MASS_MATRIX_BODY_FIXED))
    return robot


# Beside those in other representations: with kernels that make setup does not compile.
RARE = {"forward_dynamics", "hessian", "inverse_dynamics", "inverse_dynamics_derivatives", "jacobian_second_derivative",
        "kinetic_energy_regressor", "potential_energy_regressor", "torque_regressor"}


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow] * (name in RARE or name.endswith(("_mixed", "_spatial", "_hybrid"))))
    for name in sorted(ENTRIES.keys() - {"momenta",                             # which integrators alone call
                                         "inverse_dynamics_derivatives_by_rows"})])         # of deep robots: test_rows
def test_plain_and_compiled_give_the_same(name):
    entry, mimics = ENTRIES[name], 2 * name.startswith("forward_dynamics_by_mass_matrix")
    robot = robot_of(8, mimics)
    state = np.random.default_rng(1).uniform(-2, 2, (3, robot.n))
    whole = ENTRIES[name] in CENTROIDAL                                     # always in the root's frame
    for frames in [("root", "root", "body")] if whole else FRAMES if entry.targeted else FRAMES[:1]:
        target = target_of(robot, *frames) if entry.targeted else None
        expected = plain(robot, name, *state[:entry.inputs].tolist(), target=target)
        assert error(FACADE[name](robot, state, frames), expected.astype(float).squeeze()) < 1e-13


# ------------------------------------------------------------------------------------------------- counting
def chain(n):
    """The parts of a serial robot."""
    parts = [part for part in random_tree(np.random.default_rng(0), 12) if part.kind != "fixed"][:n]
    parents = "root", *(part.link for part in parts)
    return [part._replace(parent=parent) for part, parent in zip(parts, parents, strict=False)]


@pytest.mark.parametrize("name, degree", [
    ("inverse_dynamics", 1), ("coriolis_torque", 1), ("gravity_torque", 1), ("forward_dynamics", 1),
    ("kinetic_energy", 1), ("potential_energy", 1), ("mass_matrix", 2), ("coriolis_matrix", 2),
    ("forward_dynamics_by_mass_matrix", 3)])
def test_operations_grow_as_a_polynomial_of_the_number_of_bodies(name, degree):
    """Exact counts, so the difference of order degree + 1 is exactly zero, and that of order degree is not."""
    robots = (sd.Robot(model_of(chain(n))) for n in range(2, 7))
    counts = np.array([operations(ENTRIES[name], robot.model.links(robot.gravity)) for robot in robots])
    assert (np.diff(counts, axis=0)[:, [0, 1, 3]] > 0).all()
    assert not np.diff(counts, degree + 1, axis=0).any()
    assert np.diff(counts, degree, axis=0)[:, :2].all()


# ------------------------------------------------------------------------------------------------- many digits
def exactly(R):
    """A rotation that is orthogonal to the last digit."""
    x = R.x * (1 / sqrt(R.x @ R.x))
    y = R.y - (R.y @ x) * x
    y = y * (1 / sqrt(y @ y))
    return Rotation(x, y, cross(x, y))


def exact_links(robot):
    """The links in mpmath's numbers, with joints of true rotations."""
    bodies = lifted(mpmath.mpf, robot.model.placed(robot.gravity))
    return on_axes([body._replace(B=Pose(exactly(body.B.R), body.B.p)) for body in bodies])


@pytest.mark.parametrize("name", ["forward_dynamics", "forward_dynamics_by_mass_matrix",
                                  "forward_dynamics_by_mass_matrix_body_fixed"])
def test_forward_dynamics_undoes_inverse_dynamics_to_40_digits(name):
    robot = robot_of(7)
    state = np.random.default_rng(2).uniform(-1, 1, (3, robot.n))
    with mpmath.workdps(50):
        links, (q, qd, qdd) = exact_links(robot), ([mpmath.mpf(x) for x in row] for row in state)
        tau = ENTRIES["inverse_dynamics"].plain(links, q, qd, qdd)
        back = ENTRIES[name].plain(links, q, qd, tau)
        assert max(abs(a - b) for a, b in zip(back, qdd, strict=True)) < 1e-40
    assert error(robot.inverse_dynamics(*state), tau) < 1e-14


# ------------------------------------------------------------------------------------------------- symbols
@pytest.mark.slow
def test_double_pendulum_is_the_book_s():
    """Two point masses on massless rods, q2 relative to the first rod, gravity along -y."""
    m1, m2, l1, l2, g, q1, q2, v1, v2, a1, a2 = sympy.symbols("m1 m2 l1 l2 g q1 q2 v1 v2 a1 a2", positive=True)
    none, here = Vec3(0, 0, 0), identity(0)
    X = Twist(Vec3(0, 0, 1), none)
    point = [Inertia(m, Vec3(m * r, 0, 0), Symmetric3(0, 0, 0, m * r**2, 0, m * r**2)) for m, r in ((m1, l1), (m2, l2))]
    links = on_axes([Placed(0, 0, Twist(none, Vec3(0, g, 0)), point[0], here), Placed(0, 0, X, point[0], here),
                        Placed(1, 1, X, point[1], Pose(here.R, Vec3(l1, 0, 0)))])
    swing = m2 * l2**2 * (a1 + a2) + m2 * g * l2 * sympy.cos(q1 + q2)
    expected = ((m1 + m2) * l1**2 * a1 + (m1 + m2) * g * l1 * sympy.cos(q1) + swing
                + m2 * l1 * l2 * ((2 * a1 + a2) * sympy.cos(q2) - (2 * v1 * v2 + v2**2) * sympy.sin(q2)),
                m2 * l1 * l2 * (a1 * sympy.cos(q2) + v1**2 * sympy.sin(q2)) + swing)
    efforts = ENTRIES["inverse_dynamics"].plain(links, (q1, q2), (v1, v2), (a1, a2))
    for tau, book in zip(efforts, expected, strict=True):
        assert sympy.simplify(sympy.nsimplify(tau, rational=True) - book) == 0
    M = ENTRIES["mass_matrix"].plain(links, (q1, q2))
    assert sympy.simplify(sympy.nsimplify(M[0, 1], rational=True) - sympy.diff(expected[0], a2)) == 0
