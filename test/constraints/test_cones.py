"""Contact problems: Clarabel's cone programs, Pinocchio's ADMM, our own rows within bounds, closed forms, and the laws
of Coulomb's friction."""
import copy

import numpy as np
import pytest

from screw_dynamics.constraints.bounded import Box, solve_bounded
from screw_dynamics.constraints.cones.admm import alternate
from screw_dynamics.constraints.cones.problems import solve_contacts
from screw_dynamics.constraints.cones.tables import cones, numbers
from support.contact_scenes import STEP, Boxes, heap, stack

CLOSE = 1e-11           # of the largest velocity


def holds(scene, found, close=CLOSE):
    """The conditions of contacts, written once more, in units of velocity; and that no energy comes in."""
    G, c, mu = scene.G, scene.c, scene.mu
    x, v = found.x.reshape(-1, 3), (c + G @ found.x).reshape(-1, 3)
    g, speed = G.diagonal()[2::3], close * (abs(c).max() + abs(G.diagonal() * found.x).max() * 1e-3)
    np.testing.assert_allclose(found.v, v.ravel(), atol=speed)
    t, s = np.linalg.norm(x[:, :2], axis=1), np.linalg.norm(v[:, :2], axis=1)
    assert (x[:, 2] >= 0.0).all()
    assert (v[:, 2] >= -speed).all()
    assert (np.minimum(g * x[:, 2], v[:, 2]) <= speed).all()
    assert (g * (t - mu * x[:, 2]) <= speed).all()
    power = (x * v).sum(axis=1)                     # of sliding friction mu x_n |v_t| goes
    np.testing.assert_allclose(power, -mu * x[:, 2] * s, atol=speed * (1.0 + abs(x).max()))
    assert found.x @ (c + 0.5 * G @ found.x) - (found.x[2::3] * c[2::3].clip(0.0)).sum() <= speed * abs(x).max()


def scenes(rng, count):
    """Of every kind: heaps, redundant contacts, mass ratios, towers, slopes, no friction, and much of it."""
    made = [lambda: heap(rng, 4, 10), lambda: heap(rng, 1, 8), lambda: heap(rng, 3, 6, 1e4), lambda: heap(rng, 6, 6),
            lambda: heap(rng, 2, 4, 1.0, (0.0, 0.0)), lambda: heap(rng, 1, 3, 1.0, (1.0, 3.0)),
            lambda: stack(10.0 ** rng.uniform(-1, 1, 3), rng.uniform(0.1, 1.0), 0.1 * rng.normal(size=3) * (1, 1, 0)),
            lambda: stack([1.0], 0.5, (0.0, 0.0, 0.0), (rng.uniform(0, 9), rng.uniform(0, 3), -9.81))]
    return [made[k % len(made)]() for k in range(count)]


# ------------------------------------------------------------------------------------------------- other solvers
def clarabel_solution(G, c, mu):
    """min 1/2 x^T G x + c^T x over |x_t| <= mu x_n, in units in which diagonals of G and the largest c are about 1."""
    clarabel, sparse = pytest.importorskip("clarabel"), pytest.importorskip("scipy.sparse")
    unit = np.repeat(3.0 / G.diagonal().reshape(-1, 3).sum(axis=1), 3) ** 0.5
    moves = np.repeat(mu > 0.0, 3) | (np.arange(len(c)) % 3 == 2)        # impulses that may be other than 0
    speed = abs(c * unit).max()
    P, q, rows, cones = (G * unit * unit[:, None])[np.ix_(moves, moves)], (c * unit / speed)[moves], [], []
    place = np.cumsum(moves) - 1
    for k in range(len(mu)):
        block = np.zeros((3 if mu[k] > 0.0 else 1, moves.sum()))
        block[0, place[3 * k + 2]] = -max(mu[k], 1e-300) if mu[k] > 0.0 else -1.0
        if mu[k] > 0.0:
            block[1, place[3 * k]] = block[2, place[3 * k + 1]] = -1.0
        rows.append(block)
        cones.append(clarabel.SecondOrderConeT(3) if mu[k] > 0.0 else clarabel.NonnegativeConeT(1))
    A, settings = np.vstack(rows), clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, 400
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-15
    found = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(P)), q, sparse.csc_matrix(A), np.zeros(len(A)), cones,
                                   settings).solve()
    x = np.zeros(len(c))
    x[moves] = found.x
    return speed * unit * x


def difference_from_clarabel(scene, found):
    """The largest difference of G x, of the largest velocity, from a convex program that has Coulomb's law as its
    optimum: De Saxce's term mu |v_t| is added to normal velocities.

    An interior point method ends some way before a flat optimum: ours must not be worse, and as far from it as the
    objective says, which is 1/2 |x - optimum|^2 in the norm of G, or more. What its residuals leave open, of large
    impulses, is velocity times impulse."""
    G, mu = scene.G, scene.mu
    term = np.zeros(len(scene.c))
    term[2::3] = mu * np.hypot(found.v[0::3], found.v[1::3])
    c = scene.c + term
    expected = clarabel_solution(G, c, mu)

    def objective(x):
        return x @ (0.5 * G @ x + c)
    worse, energy = objective(expected) - objective(found.x), abs(c) @ abs(expected) + 1e-9
    left = 10.0 * found.residuals.max() * abs(found.x).sum()
    assert worse >= -1e-11 * energy - left          # the cones of an interior point method hold to about 1e-12
    assert 0.5 * (found.x - expected) @ G @ (found.x - expected) <= worse + 1e-11 * energy + left
    return abs(G @ (expected - found.x)).max() / abs(c).max()


def all_agree_with_clarabel(given):
    solved = [solve_contacts(scene.G, scene.c, scene.mu) for scene in given]
    assert sum(found.converged for found in solved) >= 0.99 * len(given) - 1
    apart = []
    for scene, found in zip(given, solved, strict=True):
        if found.converged:
            holds(scene, found)
            apart.append(difference_from_clarabel(scene, found))
    assert np.mean(np.array(apart) < 1e-8) > 0.65, np.sort(apart)       # of the others ours are the better ones


def test_solutions_are_those_of_cone_programs(rng):
    all_agree_with_clarabel(scenes(rng, 40))


@pytest.mark.slow
def test_a_thousand_solutions_are_those_of_cone_programs(rng):
    all_agree_with_clarabel(scenes(rng, 1000))


def test_solutions_are_those_of_alternating_directions_in_pinocchio(rng):
    pin = pytest.importorskip("pinocchio")
    if not hasattr(pin, "ADMMSolverSettings"):
        pytest.skip("this Pinocchio's ADMM does not take a matrix")
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    compared = 0
    for scene in scenes(rng, 16):
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for mu in scene.mu:
            contact = pin.PointContactConstraintModel(model, 0, pin.SE3.Identity(), 1, pin.SE3.Identity())
            contact.setFriction(float(mu))
            models.append(pin.ConstraintModel(contact))
            datas.append(models[len(models) - 1].createData())
        settings, result = pin.ADMMSolverSettings(), pin.ADMMSolverResult()
        settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = 1e-13
        settings.relative_feasibility_tol = settings.relative_complementarity_tol = 1e-13
        settings.max_iterations = 20000
        solver = pin.ADMMConstraintSolver(len(scene.c))
        if not solver.solve(pin.DelassusOperatorDense(scene.G), scene.c, models, datas, settings, result):
            continue
        x = np.zeros(len(scene.c))
        result.retrievePrimalSolution(x)
        # Coulomb's law may have several solutions: from Pinocchio's we must not go away.
        found = solve_contacts(scene.G, scene.c, scene.mu, x0=x)
        np.testing.assert_allclose(scene.G @ found.x, scene.G @ x, atol=1e-8 * max(1.0, abs(scene.c).max()))
        compared += 1
    assert compared >= 8


def test_alternating_directions_come_near(rng):
    """In plain Python, by themselves: the solver hardly ever needs them."""
    scene = heap(rng, 1, 4)
    m = len(scene.mu)
    given = cones(0.0, 0, m, np.zeros(numbers(0, m)), 0)
    given.G[:], given.c[:], given.mu[:], given.active[:] = scene.G, scene.c, scene.mu, 1.0
    alternate(given, 1.0, 300)
    x = given.y * given.free
    v, term = scene.c + scene.G @ x, np.zeros(len(x))
    term[2::3] = scene.mu * np.hypot(v[0::3], v[1::3])
    expected = clarabel_solution(scene.G, scene.c + term, scene.mu)
    assert abs(scene.G @ (x - expected)).max() < 1e-4 * abs(scene.c).max()


@pytest.mark.parametrize("u", [1, 4, 9])
def test_rows_within_bounds_are_those_of_pivoting(rng, u):
    for _ in range(20):
        Y, c, f = rng.normal(size=(u + 1, u)), rng.normal(size=u), rng.uniform(0.1, 1.0)
        kinds = np.array([(0.0, np.inf), (-np.inf, 0.0), (-f, f), (-np.inf, np.inf), (0.0, 0.0)])
        lower, upper = kinds[rng.integers(len(kinds), size=u)].T.copy()
        G = Y.T @ Y
        box = Box(G, np.empty((u, u)), c, lower, upper, G.diagonal().copy(), np.empty(u), np.empty(u))
        solve_bounded(box)
        found = solve_contacts(G, c, np.zeros(0), lower, upper)
        assert found.converged
        np.testing.assert_allclose(found.v, c + G @ box.x, atol=1e-10 * abs(c).max())
        np.testing.assert_allclose(found.x, box.x, atol=1e-8 * abs(box.x).max())


# ------------------------------------------------------------------------------------------------- closed forms
@pytest.mark.parametrize("slope", [0.1, 0.3, 0.4999999, 0.5000001, 0.7, 2.0])
def test_a_block_sticks_below_the_angle_of_friction_and_slides_above(slope):
    angle, mu = np.arctan(slope), 0.5
    scene = stack([2.0], mu, gravity=(9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle)))
    found = solve_contacts(scene.G, scene.c, scene.mu)
    v = (scene.inverse * (scene.J.T @ found.x))[3:] + STEP * 9.81 * np.array((np.sin(angle), 0.0, -np.cos(angle)))
    assert found.converged
    slides = 9.81 * STEP * max(0.0, np.sin(angle) - mu * np.cos(angle))
    np.testing.assert_allclose(v, (slides, 0.0, 0.0), atol=1e-14)
    np.testing.assert_allclose(found.x[2::3].sum() / 2.0, 9.81 * STEP * np.cos(angle), rtol=1e-12)


def test_four_corners_that_no_plane_touches_slide_on_three(rng):
    """A box slides, and its corners are up to 10 pm above the ground: only three of the impulses can be found, of four
    that seem to act."""
    for _ in range(60):
        boxes, v = Boxes(), 0.01 * rng.normal(size=3) * (1.0, 1.0, 0.0)
        box = boxes.add(1.0, (0.2, 0.2, 0.2), (0.0, 0.0, 0.1), v, 0.02 * rng.normal(size=3))
        for x, y in ((-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)):
            boxes.touch(box, None, (x, y, 0.0), (0.0, 0.0, 1.0), 0.8, 1e-11 * rng.uniform())
        scene = boxes.scene()
        found = solve_contacts(scene.G, scene.c, scene.mu)
        assert found.converged
        holds(scene, found)


def test_a_sliding_contact_is_a_root_of_its_angle(rng):
    """One contact, alone: the closed form of equal tangential inertias, and any others by a scan of directions."""
    for _ in range(50):
        Y, c, mu = rng.normal(size=(4, 3)), rng.normal(size=3), rng.uniform(0.05, 3.0)
        G = Y.T @ Y
        c[2] = -abs(c[2])
        found = solve_contacts(G, c, [mu])
        assert found.sweeps <= 1
        x, v = found.x, c + G @ found.x
        np.testing.assert_allclose(v[2], 0.0, atol=1e-14 * (1.0 + (abs(G) @ abs(x)).max()))
        if np.hypot(*v[:2]) > 1e-9:
            np.testing.assert_allclose(x[:2], -mu * x[2] * v[:2] / np.hypot(*v[:2]), atol=1e-11 * abs(x).max())
        else:
            assert np.hypot(*x[:2]) <= mu * x[2] * (1.0 + 1e-12)
    x = solve_contacts(np.diag((2.0, 2.0, 5.0)), (3.0, 4.0, -1.0), [0.5]).x
    np.testing.assert_allclose(x, (-0.1 * 0.6, -0.1 * 0.8, 0.2), rtol=1e-15)


@pytest.mark.parametrize("rate, left", [(0.03, 0.0), (0.5, 0.3), (-0.5, -0.3)])
def test_torsional_friction_brakes_a_spinning_disc(rate, left):
    """I dw/dt = -mu_s m g: here h mu_s m g / I is 0.2 rad/s."""
    m, inertia, mu_s = 2.0, 0.01, 0.002 / (2.0 * 9.81 * STEP)
    G, c = np.diag((1 / m, 1 / m, 1 / m, 1 / inertia)), (0.0, 0.0, -9.81 * STEP, rate)
    found = solve_contacts(G, c, [0.5], spin_mu=[mu_s], spin_of=[0])
    assert found.converged
    np.testing.assert_allclose(found.v[3], left, atol=1e-14)
    assert abs(found.x[3]) <= mu_s * found.x[2] * (1.0 + 1e-14)


@pytest.mark.parametrize("rolling", [(0.6, 0.8), (0.0, 1.0), (-1.0, 0.0), (0.1, -np.sqrt(0.99))])
def test_rolling_friction_opposes_rolling(rolling):
    m, inertia, mu_r = 2.0, 0.01, 0.002 / (2.0 * 9.81 * STEP)
    G, c = np.diag((1 / m, 1 / m, 1 / m, 1 / inertia, 1 / inertia)), (0.0, 0.0, -9.81 * STEP, *rolling)
    found = solve_contacts(G, c, [0.5], roll_mu=[mu_r], roll_of=[0])
    assert found.converged
    np.testing.assert_allclose(found.v[3:], np.multiply(0.8, rolling), rtol=1e-13)
    still = solve_contacts(G, (*c[:3], 0.06, 0.08), [0.5], roll_mu=[mu_r], roll_of=[0])
    np.testing.assert_allclose(still.v[3:], 0.0, atol=1e-15)


# ------------------------------------------------------------------------------------------------- hard ones
@pytest.mark.parametrize("masses", [[1.0] * 10, [1.0, 1e3], [1.0, 1e6], [1e6, 1.0], [1.0, 1e6, 1.0, 1e6]])
def test_towers_stand(masses):
    scene = stack(masses)
    found = solve_contacts(scene.G, scene.c, scene.mu)
    assert found.converged
    assert abs(found.v).max() < 1e-12 * abs(scene.c).max() + 1e-13 * (scene.G.diagonal() * abs(found.x)).max()
    np.testing.assert_allclose(found.x[2:12:3].sum(), 9.81 * STEP * sum(masses), rtol=1e-7)


def test_a_warm_start_that_is_a_solution_is_kept(rng):
    for scene in scenes(rng, 8):
        found = solve_contacts(scene.G, scene.c, scene.mu)
        again = solve_contacts(scene.G, scene.c, scene.mu, x0=found.x)
        assert again.sweeps == 0
        np.testing.assert_array_equal(again.x, found.x)


def test_what_presses_shares_a_load_evenly_where_another_contact_opens():
    """A particle between walls, which two contacts stop and the third would have to pull: the least impulses of the
    two, and of their friction, by NumPy's pseudoinverse."""
    wall, other = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0)]), np.array([(0, 1, 0), (0, 0, -1), (-1, 0, 0)])
    J = np.vstack([wall, wall, other]).astype(float)
    v = np.array([-1.0, 0.2, 0.1])
    found = solve_contacts(J @ J.T, J @ v, [0.5, 0.5, 0.5])
    np.testing.assert_allclose(found.x[:6], np.linalg.pinv(J[:6].T) @ -v, atol=1e-9)
    assert not found.x[6:].any() and abs(found.v).max() < 1e-12


class Redundant:
    """Twelve or more rows of every kind on six velocities, near impulses with which three contacts press."""

    spin_of, roll_of, normal = np.array([0, 2]), np.array([1, 2]), 2 + 3 * np.arange(3) + 2

    def __init__(self, rng):
        J, x = rng.normal(size=(17, 6)), 0.2 * rng.normal(size=17)
        x[self.normal] += rng.uniform(0.0, 1.0, 3)
        self.G, self.upper, self.lower = J @ J.T, rng.uniform(0.1, 0.6, 2), -rng.uniform(0.1, 0.6, 2)
        self.active = 1.0 * (rng.uniform(size=3) < 0.9)
        self.mu = rng.uniform(0.8, 2.0, 3) * (rng.uniform(size=3) < 0.8)
        self.spin_mu, self.roll_mu = rng.uniform(0.1, 0.6, 2), rng.uniform(0.5, 2.0, 2)
        self.c = -self.G @ x
        self.x0 = x + 0.3 * rng.normal(size=17)
        self.x0[self.normal] = np.abs(self.x0[self.normal])
        for b in np.flatnonzero((rng.uniform(size=3) < 0.2) | (self.active == 0.0)):
            self.x0[self.of_contact(b)] = 0.0
        self.x0[2:11].reshape(3, 3)[:, :2] *= (self.mu > 0.0)[:, None]
        self.x0[:2] = np.clip(self.x0[:2], self.lower, self.upper)
        if rng.uniform() < 0.5:
            self.x0[0] = rng.choice((self.lower[0], self.upper[0]))
        self.x0 = self.x0 if rng.uniform() < 0.7 else np.zeros(17)

    def of_contact(self, b):
        """The rows of a contact, its spins and its rolls."""
        return np.concatenate([2 + 3 * b + np.arange(3), 11 + np.flatnonzero(self.spin_of == b),
                               *(13 + 2 * k + np.arange(2) for k in np.flatnonzero(self.roll_of == b))])

    def strained(self, x, rng):
        """The same from other impulses on, those of some direction whose least change just is beyond something."""
        other, way, all_of_it = copy.copy(self), rng.normal(size=17) * (x != 0.0), np.ones(17, dtype=bool)
        for k in range(30):
            other.x0 = x + 0.05 * 1.2**k * way
            other.x0[:2] = np.clip(other.x0[:2], 0.99 * self.lower, 0.99 * self.upper)
            other.x0[self.normal] = np.abs(other.x0[self.normal])
            if self.beyond(self.least(other.x0, all_of_it & (x != 0.0))):
                break
        return other

    def beyond(self, x):
        """What of bounds and cones impulses are beyond."""
        n, t, rolls = x[self.normal], np.linalg.norm(x[2:11].reshape(3, 3)[:, :2], axis=1), x[13:].reshape(2, 2)
        spins, most = x[11:13], self.spin_mu * n[self.spin_of]
        return [what for what, beyond in {
            "lower": x[:2] < self.lower, "upper": x[:2] > self.upper, "pulls": n < 0.0, "friction": t > self.mu * n,
            "spin": spins > most, "spin back": spins < -most,
            "roll": np.linalg.norm(rolls, axis=1) > self.roll_mu * n[self.roll_of]}.items() if beyond.any()]

    def rests(self, x):
        """Whether the velocities of impulses within are those of bounds and of contacts that all stick or open."""
        v, n = self.c + self.G @ x, x[self.normal]
        if (np.where(x[:2] == self.lower, np.maximum(-v[:2], 0.0), np.where(
                x[:2] == self.upper, np.maximum(v[:2], 0.0), abs(v[:2]))) > 1e-9).any():
            return False
        return all(abs(v[self.of_contact(b)]).max() < 1e-9 if n[b] > 0.0 else v[self.normal[b]] > 1e-9
                   for b in np.flatnonzero(self.active))

    def least(self, x0, sticks):
        """The least change of impulses, in units of 1 / sqrt(G_ii), with which rows that stick do not move."""
        U = np.where(sticks, self.G.diagonal() ** -0.5, 0.0)
        return x0 - U * (np.linalg.pinv(U[:, None] * self.G * U, 1e-9, True) @ (U * (self.c + self.G @ x0)))

    def stuck(self):
        """What the module `sticking` says that it takes, by NumPy's pseudoinverse, and why it does not take more."""
        n, sticks = self.x0[self.normal], np.ones(17, dtype=bool)
        sticks[:2] = (self.lower < self.x0[:2]) & (self.x0[:2] < self.upper)
        for b in range(3):
            sticks[self.of_contact(b)] = self.active[b] > 0.0 and (n[b] > 0.0 or not n.any())
            sticks[2 + 3 * b:4 + 3 * b] &= self.mu[b] > 0.0
        changed, others = self.least(self.x0, sticks), np.where(sticks, 0.0, self.x0)
        if not (why := self.beyond(changed)):
            return changed, why
        if not self.beyond(x := self.least(others, sticks)):
            return x, why
        for b in np.flatnonzero(x[self.normal] < 0.0):
            sticks[self.of_contact(b)] = False
        return self.least(others, sticks), [*why, "left out"]


def test_all_that_presses_sticks_where_that_is_allowed(rng):
    """With the impulses that change the least, or the least where these are beyond something, or the least without
    contacts that pull; in no sweep."""
    left = 4 * [[], ["left out"], *([what] for what in (
        "lower", "upper", "friction", "spin", "spin back", "roll"))]
    while left:
        given = Redundant(rng)
        x, why = given.stuck()
        if given.beyond(x) or not given.rests(x):
            continue
        for strained in (given, *(given.strained(x, rng) for _ in range(8))):
            x, why = strained.stuck()
            if why[-1:] == ["left out"]:
                why = why[-1:]
            if why not in left or given.beyond(x) or not strained.rests(x):
                continue
            found = solve_contacts(given.G, given.c, given.mu, given.lower, given.upper, strained.x0,
                                   active=given.active, spin_mu=given.spin_mu, spin_of=given.spin_of,
                                   roll_mu=given.roll_mu, roll_of=given.roll_of)
            assert found.converged and found.sweeps == 0, why
            np.testing.assert_allclose(found.x, x, atol=1e-4, err_msg=f"{why}")     # of what the solver adds
            left.remove(why)


@pytest.mark.parametrize("masses", [[1.0], [1.0, 2.0, 0.5]])
def test_what_stands_takes_no_iterations(masses):
    """Twelve rows of a block's corners have rank six: what the solver adds to their diagonal is taken away again."""
    scene = stack(masses)
    found = solve_contacts(scene.G, scene.c, scene.mu)
    assert found.converged and found.sweeps == 0 and abs(found.v).max() < 1e-14 * len(masses) * abs(scene.c).max() * 10


def test_degenerate_contacts_end_in_what_is_defined():
    # A tangential direction that cannot move: nothing acts in it, and the other one sticks.
    still = solve_contacts(np.diag((0.0, 1.0, 1.0)), (0.0, 0.1, -1.0), [0.5])
    np.testing.assert_allclose(still.x, (0.0, -0.1, 1.0), atol=1e-15)
    # The same, but carried along: friction goes against what it cannot stop.
    carried = solve_contacts(np.diag((0.0, 1.0, 1.0)), (2.0, 0.0, -1.0), [0.5])
    np.testing.assert_allclose(carried.x, (-0.5, 0.0, 1.0), atol=1e-13)
    # A contact that nothing moves, and approaches: there is no solution, and the residual says so.
    lost = solve_contacts(np.zeros((3, 3)), (0.0, 0.0, -1.0), [0.5])
    assert not lost.converged
    assert lost.residuals.max() == 1.0
    assert not lost.x.any()
    # Painleve: friction along -t1 would press the contact together, G_nn - mu G_nt < 0.
    G = np.array(((4.0, 0.0, 1.8), (0.0, 4.0, 0.0), (1.8, 0.0, 1.0)))
    for c in ((1.0, 0.0, -1.0), (-1.0, 0.0, -1.0), (0.3, 0.2, -0.1)):
        found = solve_contacts(G, c, [2.0])
        assert found.converged
        assert np.hypot(*found.x[:2]) <= 2.0 * found.x[2] * (1.0 + 1e-14)
    # Nothing happens: no velocities, no contacts.
    assert not solve_contacts(np.eye(3), np.zeros(3), [0.5]).x.any()
    assert solve_contacts(np.zeros((0, 0)), np.zeros(0), np.zeros(0)).converged


# ------------------------------------------------------------------------------------------------- lanes
@pytest.mark.slow     # the solver on lanes: half a minute to compile
def test_each_lane_is_solved_by_itself(rng):
    """Bit for bit, whatever the other lanes are, and however long these take; and as one state."""
    made = [heap(rng, 3, 5) for _ in range(20)]
    G, c, mu = (np.array([getattr(scene, name) for scene in made]) for name in ("G", "c", "mu"))
    found, order = solve_contacts(G, c, mu), rng.permutation(20)
    assert len(set(found.sweeps.tolist())) > 2
    other = solve_contacts(G[order], c[order], mu[order])
    for name in ("x", "v", "residuals", "sweeps"):
        np.testing.assert_array_equal(getattr(other, name), getattr(found, name)[order], name)
    for k in range(0, 20, 5):
        alone = solve_contacts(G[k:k + 1], c[k:k + 1], mu[k:k + 1])
        np.testing.assert_array_equal(alone.x[0], found.x[k])
        one = solve_contacts(G[k], c[k], mu[k])
        np.testing.assert_allclose(one.v, found.v[k], atol=1e-10 * abs(c[k]).max())


@pytest.mark.slow
def test_contacts_that_are_not_active_have_no_part(rng):
    scene = heap(rng, 3, 6)
    active = np.array((1.0, 0.0, 1.0, 1.0, 0.0, 1.0))
    rows = np.repeat(active > 0.0, 3)
    c = np.where(rows, scene.c, -100.0)
    found = solve_contacts(scene.G, c, scene.mu, active=active)
    without = solve_contacts(scene.G[np.ix_(rows, rows)], scene.c[rows], scene.mu[active > 0.0])
    assert not found.x[~rows].any()
    np.testing.assert_allclose(found.x[rows], without.x, atol=1e-9 * abs(without.x).max())
    lanes = solve_contacts(np.array([scene.G] * 3), np.array([scene.c, c, c]), scene.mu,
                           active=np.array([np.ones(6), active, np.zeros(6)]))
    np.testing.assert_allclose(lanes.x[1], found.x, atol=1e-9 * abs(without.x).max())
    assert not lanes.x[2].any()


@pytest.mark.parametrize("change, text", [
    (dict(mu=[-0.1]), "mu must be >= 0"), (dict(mu=[np.inf]), "mu must be finite"), (dict(mu=0.5), "mu must have"),
    (dict(c=[0.0, np.nan, 0.0]), "c must be finite"), (dict(spin_mu=[0.1], spin_of=[1]), "spin_of must be"),
    (dict(lower=[1.0], upper=[0.0], G=np.eye(4), c=np.zeros(4)), "lower must be")])
def test_problems_that_make_no_sense_are_refused(change, text):
    given = {"G": np.eye(3), "c": np.zeros(3), "mu": [0.5], **change}
    with pytest.raises(ValueError, match=text):
        solve_contacts(**given)
