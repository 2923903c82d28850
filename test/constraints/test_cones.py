"""Contact problems: Clarabel's cone programs, Pinocchio's ADMM, our own rows within bounds; a solution of each lane by
itself, and what is no problem."""
import numpy as np
import pytest

from screw_dynamics.constraints.box_lcp import BoxLcp, solve_box_lcp
from screw_dynamics.constraints.cones.admm import alternate
from screw_dynamics.constraints.cones.problems import solve_contacts
from screw_dynamics.constraints.cones.tables import cones, find_nonzero_ranges, numbers
from screw_dynamics.numbers.values import PLAIN
from support.contact_scenes import heap, holds, scenes, stack


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
    for tolerance in (1e-15, 1e-12, 1e-10):         # where it gets no further, its numbers may be anything
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        found = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(P)), q, sparse.csc_matrix(A), np.zeros(len(A)), cones,
                                       settings).solve()
        if found.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
            break
    else:
        raise AssertionError(f"Clarabel has no solution: {found.status}")
    x = np.zeros(len(c))
    x[moves] = found.x
    return speed * unit * x


def difference_from_clarabel(scene, found):
    """The largest difference of G x, of the largest velocity, from a convex program that has Coulomb's law as its
    optimum: De Saxce's term mu |v_t| is added to normal velocities.

    An interior point method ends some way before a flat optimum, up to 1e-9 outside the cones: ours must not be worse
    than what it finds, put into the cones, and as far from it as the objective says, which is 1/2 |x - optimum|^2 in
    the norm of G, or more. What its residuals leave open, of large impulses, is velocity times impulse."""
    G, mu = scene.G, scene.mu
    term = np.zeros(len(scene.c))
    term[2::3] = mu * np.hypot(found.v[0::3], found.v[1::3])
    c = scene.c + term
    expected = clarabel_solution(G, c, mu)
    expected[2::3] = np.maximum(expected[2::3], 0.0)
    most, size = mu * expected[2::3], np.hypot(expected[0::3], expected[1::3])
    short = np.divide(most, size, out=np.ones_like(most), where=size > most)
    expected[0::3], expected[1::3] = short * expected[0::3], short * expected[1::3]

    def objective(x):
        return x @ (0.5 * G @ x + c)
    worse, energy = objective(expected) - objective(found.x), abs(c) @ abs(expected) + 1e-9
    left = 10.0 * found.residuals.max() * abs(found.x).sum()
    assert worse >= -1e-14 * energy - left
    assert 0.5 * (found.x - expected) @ G @ (found.x - expected) <= worse + 1e-14 * energy + left
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


@pytest.mark.slow
def test_solutions_are_those_of_cone_programs(rng):
    all_agree_with_clarabel(scenes(rng, 40))


@pytest.mark.slow
def test_a_thousand_solutions_are_those_of_cone_programs(rng):
    all_agree_with_clarabel(scenes(rng, 1000))


@pytest.mark.slow
def test_solutions_are_those_of_alternating_directions_in_pinocchio(rng):
    pin = pytest.importorskip("pinocchio")
    if not hasattr(pin, "ADMMSolverSettings"):
        pytest.skip("this Pinocchio's ADMM does not take a matrix")
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    alike, others = 0, 0
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
        found = solve_contacts(scene.G, scene.c, scene.mu)
        holds(scene, found)
        if abs(scene.G @ (found.x - x)).max() <= 1e-8 * max(1.0, abs(scene.c).max()):
            alike += 1
        else:                                   # the law has both
            holds(scene, found._replace(x=x, v=scene.c + scene.G @ x), 1e-8)
            others += 1
    assert alike >= 8 and others < alike


def test_alternating_directions_come_near(rng):
    """In plain Python, by themselves: the solver hardly ever needs them."""
    scene = heap(rng, 1, 4)
    m = len(scene.mu)
    given = cones(0.0, 0, m, np.zeros(numbers(0, m)), 0)
    given.G[:], given.c[:], given.mu[:], given.active[:] = scene.G, scene.c, scene.mu, 1.0
    given.ends[:] = len(given.x)
    find_nonzero_ranges(given)
    alternate(given, 1.0, 300)
    x = given.y * given.free
    v, term = scene.c + scene.G @ x, np.zeros(len(x))
    term[2::3] = scene.mu * np.hypot(v[0::3], v[1::3])
    expected = clarabel_solution(scene.G, scene.c + term, scene.mu)
    assert abs(scene.G @ (x - expected)).max() < 1e-4 * abs(scene.c).max()


@pytest.mark.slow
@pytest.mark.parametrize("u", [1, 4, 9])
def test_rows_within_bounds_are_those_of_pivoting(rng, u):
    for _ in range(20):
        Y, c, f = rng.normal(size=(u + 1, u)), rng.normal(size=u), rng.uniform(0.1, 1.0)
        kinds = np.array([(0.0, np.inf), (-np.inf, 0.0), (-f, f), (-np.inf, np.inf), (0.0, 0.0)])
        lower, upper = kinds[rng.integers(len(kinds), size=u)].T.copy()
        G = Y.T @ Y
        lcp = BoxLcp(G, np.empty((u, u)), c, lower, upper, G.diagonal().copy(), np.empty(u), np.empty(u))
        solve_box_lcp(lcp)
        found = solve_contacts(G, c, np.zeros(0), lower, upper)
        assert found.converged
        np.testing.assert_allclose(found.v, c + G @ lcp.x, atol=1e-10 * abs(c).max())
        np.testing.assert_allclose(found.x, lcp.x, atol=1e-8 * abs(lcp.x).max())


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
@pytest.mark.skipif(PLAIN, reason="there are no lanes in plain Python")
def test_lanes_with_fewer_contacts_do_not_know_how_long_others_take():
    """Bit for bit, of dependent contacts at which methods lose their way, half of which have no part in every second
    problem: those have fewer steps, and wait for the others."""
    for seed in range(30):
        rng, m, count = np.random.default_rng(seed), 6, 16
        Y, c = rng.normal(size=(count, 7, 3 * m)), 0.3 * rng.normal(size=(count, 3 * m))
        c[:, 2::3] = -abs(c[:, 2::3])
        given = dict(G=Y.swapaxes(1, 2) @ Y, c=c, active=np.ones((count, m)))
        given["active"][::2, 3:] = 0.0
        mu, order = rng.uniform(0.3, 1.5, m), rng.permutation(count)
        found = solve_contacts(mu=mu, **given)
        other = solve_contacts(mu=mu, **{name: x[order] for name, x in given.items()})
        np.testing.assert_array_equal(other.x, found.x[order])


@pytest.mark.slow
def test_lanes_that_stick_stay_so_beside_one_that_slides():
    lanes = [stack([1.0]), stack([1.0], gravity=(6.0, 1.0, -9.81))]
    G, c, mu = (np.array([getattr(scene, name) for scene in lanes]) for name in ("G", "c", "mu"))
    found, alone = solve_contacts(G, c, mu), solve_contacts(G[:1], c[:1], mu[:1])
    assert found.converged.all() and found.sweeps[0] == 0 and found.sweeps[1] > 0
    np.testing.assert_array_equal(found.x[0], alone.x[0])


@pytest.mark.slow
def test_a_contact_that_is_not_active_has_no_impulse():
    found = solve_contacts(np.eye(6), (0.0, 0.0, -1.0) * 2, [0.5, 0.5], active=[1.0, 0.0])
    np.testing.assert_allclose(found.x, (0.0, 0.0, 1.0, 0.0, 0.0, 0.0), atol=1e-15)
    assert not found.x[3:].any()


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
