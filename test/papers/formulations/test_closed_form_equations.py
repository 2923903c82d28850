"""The equations of motion in closed form, [MD] 5: Euler-Jourdain's, Lagrange's, and the Christoffel symbols."""
from itertools import permutations, product

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.papers.formulations.closed_form import christoffel, euler_jourdain, lagrange
from screw_dynamics.papers.formulations.screw_derivatives.body_fixed import joint_screws
from support.matrices import ad, error
from support.pinocchio_oracle import oracle_of_parts
from support.plain import gradient, plain, rate, target_of
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.scalar_kinds import slope
from support.structure_constants import connection, structure_constants

BOUND = 1e-12
TREES = {"no joint": (0, 0), "3 joints": (3, 0), "8 joints": (8, 0), "9 joints, 2 mimic": (9, 2)}
WITH_GROUPS = {**TREES, "4 joints of all kinds": (4, 0, (*GROUPS, *KINDS)),
               "7 joints of all kinds, 1 mimic": (7, 1, (*GROUPS, *KINDS))}


class Case:
    """A robot, the parts it is made of, and a batch of states."""

    def __init__(self, joints, mimics, of=KINDS):
        rng = np.random.default_rng(joints)
        self.parts = random_tree(rng, joints, mimics, of)
        self.robot = sd.Robot(model_of(self.parts), gravity=(1.0, -2.0, -9.0))
        self.q = rng.uniform(-2, 2, (2, self.robot.nq))
        self.qd, self.qdd = rng.uniform(-2, 2, (2, 2, self.robot.n))

    def each(self, f):
        """f(q, qd) of every state, one above the other."""
        return np.array([f(q, qd) for q, qd in zip(self.q, self.qd, strict=True)])


@pytest.fixture(scope="module", params=TREES.values(), ids=TREES.keys())
def case(request):
    return Case(*request.param)


@pytest.fixture(scope="module", params=[pytest.param(of, id=name, marks=[pytest.mark.slow] * (name not in TREES))
                                        for name, of in WITH_GROUPS.items()])
def any_case(request):
    """A case with Lie-group joints too, for what is no derivative by coordinates."""
    return Case(*request.param)


def transpose(matrix):
    return np.swapaxes(matrix, -1, -2)


def times(matrix, vector):
    return (matrix @ vector[..., None])[..., 0]


# ------------------------------------------------------------------------------------------------- Euler-Jourdain
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_78_euler_jourdain_equations_give_the_efforts(case, representation):
    expected = case.robot.inverse_dynamics(case.q, case.qd, case.qdd)
    found = euler_jourdain.euler_jourdain(case.robot, case.q, case.qd, case.qdd, representation)
    assert error(found, expected) < BOUND
    one = euler_jourdain.euler_jourdain(case.robot, case.q[0], case.qd[0], case.qdd[0], representation)
    assert error(one, expected[0]) < BOUND


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_81_mass_matrix_is_the_same_in_every_representation(any_case, representation):
    robot, q = any_case.robot, any_case.q
    expected = robot.mass_matrix(q)
    assert error(euler_jourdain.mass_matrix(robot, q, representation), expected) < BOUND
    assert error(lagrange.mass_matrix(robot, q, representation), expected) < BOUND


def test_closed_forms_agree_with_pinocchio():
    case = Case(6, 0)
    robot = case.robot.with_gravity(sd.robot.GRAVITY)                   # as Pinocchio has it
    oracle = oracle_of_parts(case.parts, robot)
    for q, qd, qdd in zip(case.q, case.qd, case.qdd, strict=True):
        efforts = oracle.inverse_dynamics(q, qd, qdd)
        for representation in REPRESENTATIONS:
            assert error(euler_jourdain.euler_jourdain(robot, q, qd, qdd, representation), efforts) < BOUND
        assert error(lagrange.mass_matrix(robot, q), oracle.mass_matrix(q)) < BOUND
        assert error(lagrange.coriolis_matrix(robot, q, qd) @ qd, oracle.coriolis_torque(q, qd)) < BOUND
        assert error(christoffel.coriolis_matrix(robot, q, qd), oracle.coriolis_matrix(q, qd)) < BOUND


def test_representations_and_sizes_are_checked():
    robot = Case(3, 0).robot
    with pytest.raises(ValueError, match="representation 'bodyfixed'"):
        euler_jourdain.euler_jourdain(robot, np.zeros(3), np.zeros(3), np.zeros(3), "bodyfixed")
    for call in (lagrange.coriolis_matrix, lagrange.energy_gradient, christoffel.coriolis_matrix):
        with pytest.raises(ValueError, match="qd has the shape"):
            call(robot, np.zeros(3), np.zeros(2))
        with pytest.raises(ValueError, match="bodyfixed"):
            call(robot, np.zeros(3), np.zeros(3), "bodyfixed")


# ------------------------------------------------------------------------------------------------- Lagrange
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_80_lagrange_equations_from_the_energy(case, representation):
    """d/dt dT/dq' and dT/dq by complex steps, and the difference of their velocity terms is C q'."""
    robot, state = case.robot, (case.robot, case.q, case.qd, representation)
    found_rate = lagrange.mass_matrix_rate(*state)
    assert error(found_rate, case.each(lambda q, qd: rate(robot, "mass_matrix", q, qd))) < BOUND

    def by_coordinates(q, qd):
        return np.array([slope(lambda x: plain(robot, "kinetic_energy", x, qd), q, e)[0] for e in np.eye(robot.n)])
    found_gradient = lagrange.energy_gradient(*state)
    assert error(found_gradient, case.each(by_coordinates)) < BOUND
    assert error(times(found_rate, case.qd) - found_gradient, robot.coriolis_torque(case.q, case.qd)) < BOUND


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_8_18_27_rates_of_the_system_jacobian_by_its_factors(case, representation):
    """J' = A b X - c J: what [MD] has for each representation; by complex steps of every link's Jacobian."""
    robot, links = case.robot, case.robot.model.body_names

    def exact(q, qd):
        return np.concatenate([np.zeros((0, robot.n)), *(rate(
            robot, "jacobian", q, qd, target_of(robot, link, representation=representation)) for link in links)])
    assert error(lagrange.jacobian_rate(robot, case.q, case.qd, representation), case.each(exact)) < BOUND


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_83_and_84_are_the_same_coriolis_matrix(case, representation):
    """And in every representation the same as with body-fixed twists."""
    state = case.robot, case.q, case.qd, representation
    C = lagrange.coriolis_matrix(case.robot, case.q, case.qd)
    assert error(lagrange.coriolis_matrix(*state), C) < BOUND
    assert error(lagrange.coriolis_matrix_of_energy(*state), C) < BOUND
    assert error(times(C, case.qd), case.robot.coriolis_torque(case.q, case.qd)) < BOUND


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_78_projects_a_coriolis_matrix_that_is_skew_with_the_rate_of_the_mass_matrix(case, representation):
    """Of the bodies' remark 2. Another matrix than that of the Christoffel symbols."""
    robot, q, qd = case.robot, case.q, case.qd
    C = lagrange.coriolis_matrix_of_wrenches(robot, q, qd, representation)
    S = case.each(lambda q, qd: rate(robot, "mass_matrix", q, qd)) - 2.0 * C
    assert error(times(C, qd), robot.coriolis_torque(q, qd)) < BOUND
    assert np.abs(S + transpose(S)).max(initial=0.0) < BOUND * np.abs(S).max(initial=1.0)
    assert robot.n < 8 or error(C, robot.coriolis_matrix(q, qd)) > 1e-2


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_derivatives_of_the_mass_matrix_and_of_its_inverse(case, representation):
    """By complex steps, of the inverse by its own definition: M dM^-1 + dM M^-1 = 0."""
    robot = case.robot
    if robot.n:
        exact = case.each(lambda q, qd: gradient(robot, "mass_matrix", q))
        assert error(lagrange.mass_matrix_derivatives(robot, case.q, representation), exact) < BOUND
        found, M = lagrange.inverse_mass_matrix_derivatives(robot, case.q, representation), robot.mass_matrix(case.q)
        product = np.einsum("...ia,...ajk->...ijk", M, found)
        expected = -np.einsum("...iak,...aj->...ijk", exact, np.linalg.inv(M))
        assert error(product, expected) < 1e-14 * np.linalg.cond(M).max()


def test_84_is_not_skew_with_the_rate_of_the_mass_matrix_but_does_no_power(case):
    """M' - 2 C has the symmetric part J^T (b^T M + M b) J, b = diag(ad_V): 0 on q' and, in general, on nothing else."""
    robot, q, qd = case.robot, case.q, case.qd
    S = lagrange.mass_matrix_rate(robot, q, qd) - 2 * lagrange.coriolis_matrix(robot, q, qd)
    expected = np.zeros_like(S)
    for state, J in np.ndenumerate(np.empty(2)):
        for link, M in zip(robot.model.body_names, robot.model.inertias, strict=True):
            J = robot.jacobian(q[state], link)
            b = ad(J @ qd[state])
            expected[state] += J.T @ (b.T @ M + M @ b) @ J
    scale = np.abs(S).max(initial=1.0)
    assert error((S + transpose(S)) / 2, expected) < BOUND
    assert np.abs(qd[:, None, :] @ S @ qd[..., None]).max() < BOUND * scale
    assert robot.n == 0 or np.abs(expected).max() > 1e-2 * scale


# ------------------------------------------------------------------------------------------------- Christoffel symbols
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("symbols", [christoffel.christoffel_symbols, christoffel.christoffel_symbols_binet])
def test_86_and_87_are_the_christoffel_symbols_of_the_mass_matrix(any_case, symbols, representation):
    robot, q = any_case.robot, any_case.q
    if not robot.n:
        assert symbols(robot, q, representation).shape == (2, 0, 0, 0)
        return
    found = symbols(robot, q, representation)
    assert error(found, any_case.each(lambda q, qd: connection(robot, q))) < BOUND
    torsion = np.einsum("...il,lkj->...ijk", robot.mass_matrix(q), structure_constants(robot))
    assert np.abs(found - transpose(found) - torsion).max() < BOUND * np.abs(found).max()
    assert error(symbols(robot, q[1], representation), found[1]) < BOUND


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_85_christoffel_symbols_make_the_coriolis_matrix(any_case, representation):
    robot, q, qd = any_case.robot, any_case.q, any_case.qd
    found = christoffel.coriolis_matrix(robot, q, qd, representation)
    assert error(found, robot.coriolis_matrix(q, qd)) < BOUND
    assert error(times(found, qd), robot.coriolis_torque(q, qd)) < BOUND


def test_christoffel_symbols_vanish_where_no_body_has_all_three_joints():
    robot = Case(8, 0).robot
    parents, on_path = robot.model.parents, np.eye(robot.n, dtype=bool)
    for i, parent in enumerate(parents):
        on_path[i] |= on_path[parent] if parent >= 0 else False
    together = np.einsum("li,lj,lk->ijk", *(3 * [on_path.astype(int)])) > 0
    assert not together.all()
    assert (christoffel.christoffel_symbols(robot, np.ones(robot.n))[~together] == 0.0).all()


# ------------------------------------------------------------------------------------------------- misprints
class Chain:
    """A chain, the triples i < j <= k and j <= i < k of its joints, and their Christoffel symbols."""

    def __init__(self):
        moving = [part for part in random_tree(np.random.default_rng(5), 12) if part.kind != "fixed"][:5]
        parts = [part._replace(parent=parent) for part, parent in zip(
            moving, ["root", *(part.link for part in moving[:-1])], strict=True)]
        robot, q = sd.Robot(model_of(parts)), np.linspace(-1.0, 1.0, 5)
        dM = gradient(robot, "mass_matrix", q)
        symbols = (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 1, 0)) / 2
        self.triples = [(i, j, k) for i, j, k in product(range(5), repeat=3) if i < j <= k or j <= i < k]
        self.expected = np.array([symbols[triple] for triple in self.triples])
        self.parts, self.M, self.J = parts, robot.model.inertias, joint_screws(robot, q)

    def product(self, M, a, b, c, of=lambda X: X):
        """sum_l J_la^T M_l ad_(of J_lb) J_lc."""
        return sum(J[a] @ N @ ad(of(J[b])) @ J[c] for J, N in zip(self.J, M, strict=True))


def test_86_holds_with_r_and_s_of_j_and_k_and_not_as_printed():
    """Printed is r = max(i, j), s = min(i, j); with it the third term has i twice, and k not at all."""
    chain = Chain()

    def form(ordered):
        return np.array([(chain.product(chain.M, k, i, j) + chain.product(chain.M, j, i, k)
                          + chain.product(chain.M, i, min(ordered(i, j, k)), max(ordered(i, j, k)))) / 2
                         for i, j, k in chain.triples])
    assert error(form(lambda i, j, k: (j, k)), chain.expected) < BOUND
    assert error(form(lambda i, j, k: (i, j)), chain.expected) > 0.1


def test_87_holds_with_binets_tensor_of_the_inner_joint_and_not_as_printed():
    """Printed is J^T M ad J with Binet's tensor in place of Theta in M. No order of the three indices, no sign, neither
    1 nor 1/2 as factor, neither the whole ad nor its angular or linear part makes that true: the linear motions of a
    body, whose M is as before, want J_i^T M ad_(w_s) J_r, and the angular ones J_s^T M ad_(w_r) J_i."""
    chain = Chain()
    binet = chain.M.copy()
    for N, part in zip(binet, chain.parts, strict=True):
        N[:3, :3] += np.trace(part.rotational) / 2 * np.eye(3) - 2 * part.rotational
    masks = ([1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1])
    for order, mask in product(permutations(range(3)), masks):
        printed = np.array([chain.product(binet, *(triple[x] for x in order), of=lambda X, mask=mask: mask * X)
                            for triple in chain.triples])
        for factor in (1.0, 0.5, -0.5, -1.0):
            assert error(factor * printed, chain.expected) > 1e-2
    found = [sum(J[i] @ christoffel.binet_gyration(M, J[min(j, k), :3]) @ J[max(j, k)]
                 for J, M in zip(chain.J, chain.M, strict=True)) for i, j, k in chain.triples]
    assert error(found, chain.expected) < BOUND
