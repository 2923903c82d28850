"""Contact problems that have a closed form, and those that are hard: towers, degenerate contacts, warm starts."""
import numpy as np
import pytest

from screw_dynamics.constraints.cones.problems import solve_contacts
from support.contact_scenes import STEP, Boxes, holds, stack

pytestmark = pytest.mark.slow


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
        assert found.converged
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


@pytest.mark.parametrize("masses", [[1.0] * 10, [1.0, 1e3], [1.0, 1e6], [1e6, 1.0], [1.0, 1e6, 1.0, 1e6]])
def test_towers_stand(masses):
    scene = stack(masses)
    found = solve_contacts(scene.G, scene.c, scene.mu)
    assert found.converged
    assert abs(found.v).max() < 1e-12 * abs(scene.c).max() + 1e-13 * (scene.G.diagonal() * abs(found.x)).max()
    np.testing.assert_allclose(found.x[2:12:3].sum(), 9.81 * STEP * sum(masses), rtol=1e-7)


def test_what_presses_shares_a_load_evenly_where_another_contact_opens():
    """A particle between walls, which two contacts stop and the third would have to pull: the least impulses of the
    two, and of their friction, by NumPy's pseudoinverse."""
    wall, other = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0)]), np.array([(0, 1, 0), (0, 0, -1), (-1, 0, 0)])
    J = np.vstack([wall, wall, other]).astype(float)
    v = np.array([-1.0, 0.2, 0.1])
    found = solve_contacts(J @ J.T, J @ v, [0.5, 0.5, 0.5])
    np.testing.assert_allclose(found.x[:6], np.linalg.pinv(J[:6].T) @ -v, atol=1e-9)
    assert not found.x[6:].any() and abs(found.v).max() < 1e-12


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
