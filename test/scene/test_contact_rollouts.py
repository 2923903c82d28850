"""Rollouts of scenes: no steps, steps that are not solved, room for contacts while others make more, and what they
refuse and advise. Laws of what touches are in test_contact_physics.py."""
import warnings

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.rollout.divergence import DivergenceWarning
from screw_dynamics.scene import ContactWarning
from screw_dynamics.scene.contact_model import ContactModel
from support.polyhedra import at
from support.sliders import beside_a_plane
from support.touching_robots import row_of_boxes

pytestmark = pytest.mark.slow
WORLD = sd.ModelBuilder("world").build()


def no_warning(call, *given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call(*given, **options)


# ---------------------------------------------------------------------------------------------- what is not solved
def crushed():
    """A ball between two walls that are nearer to each other than it is wide, without gravity."""
    scene = sd.Scene(sd.Robot(WORLD, (0.0, 0.0, 0.0)), friction=0.5)
    for name, sign in (("left", 1.0), ("right", -1.0)):
        pose = at(x=-sign * 0.095)
        pose[:3, :3] = (0.0, 0.0, sign), (0.0, 1.0, 0.0), (-sign, 0.0, 0.0)
        scene.add_plane(name, pose)
    scene.add_sphere("ball", 0.1, 1.0)
    return scene, scene.neutral()


def lifted():
    """A slider along x in the ground, from which no motion of it leads."""
    return beside_a_plane("ground", -0.095), np.zeros(1)


@pytest.mark.parametrize("made", [crushed, lifted])
def test_penetrations_that_cannot_be_corrected_are_reported(made):
    """5 mm that a step of 1 ms should take away: 5 m/s."""
    scene, q = made()
    with pytest.warns(ContactWarning, match=r"did not converge by t = 0.001 s; the largest residual is 5 m/s"):
        motion = scene.rollout(q, steps=3)
    np.testing.assert_allclose(motion.residuals.unsolved, 5.0, rtol=1e-9)
    assert max(x.max() for x in motion.residuals[:3]) < 1e-12           # velocities are as they must be


def test_an_impact_without_a_solution_is_reported():
    """A slider along x touches a surface that rises, from which it should rebound: no impulse makes it."""
    scene = beside_a_plane("lift", -0.1, (0.0, 0.0, 0.3), restitution=0.5)
    with pytest.warns(ContactWarning, match=r"largest residual is 0.45 m/s"):       # (1 + e) 0.3 m/s
        scene.rollout([0.0], [0.1], steps=1)


@pytest.mark.parametrize("mass", [1e7, 1e8, 1e9])
def test_a_load_whose_rounding_is_large_is_no_warning(mass):
    """A box of 1 kg below one that is so much heavier: residuals are rounding of its impulses, above 1e-9 of all
    velocities."""
    scene = sd.Scene(sd.Robot(WORLD), ground=True)
    scene.add_box("light", (0.2, 0.2, 0.2), 1.0, at(z=0.1))
    scene.add_box("heavy", (0.2, 0.2, 0.2), mass, at(z=0.3))
    motion = no_warning(scene.rollout, scene.neutral(), steps=2)
    assert max(x.max() for x in motion.residuals[:3]) > 1e-9 * 9.81e-3 and not motion.residuals.unsolved.any()


# ---------------------------------------------------------------------------------------------- rollouts
@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_rollouts_of_no_steps_have_the_state_alone(lead):
    scene = row_of_boxes(1)
    motion = no_warning(scene.rollout, np.broadcast_to(scene.neutral(), (*lead, scene.nq)), steps=0)
    assert motion.q.shape == (*lead, 1, scene.nq) and motion.residuals.unsolved.shape == (*lead, 0)
    np.testing.assert_array_equal(motion.q, np.broadcast_to(scene.neutral(), motion.q.shape))


def test_steps_that_are_too_short_are_refused_by_whatever_takes_steps():
    scene = row_of_boxes(1)
    q, v = scene.neutral(), np.zeros(scene.n)
    for call, given in (scene.rollout, (q, v, v)), (scene.step, (q, v, v)), (scene.linearize, (q, v, v)), (
            scene.rollout_derivatives, (q, v, v)):
        with pytest.raises(ValueError, match="dt 4.94066e-324 must be at least 1e-100 s"):
            call(*given, 5e-324)


def test_a_motion_that_diverges_is_told_with_what_helps():
    """Rules of adaptive length are refused with contacts; what an effort has that no motion has is named."""
    scene = row_of_boxes(1)
    q, v, effort = scene.neutral(), np.zeros(scene.n), np.zeros(scene.n)
    with pytest.warns(DivergenceWarning, match=r"try a dt smaller than 0.001 s$"):
        scene.rollout(q, np.full(scene.n, 1e200), steps=3)
    effort[2] = np.nan
    for call in scene.rollout, scene.rollout_derivatives:
        with pytest.warns(DivergenceWarning, match=r"its effort\[..., 2\] is nan$"):
            call(q, v, effort, steps=1)


# ---------------------------------------------------------------------------------------------- room for contacts
def make_room_meanwhile(scene, monkeypatch):
    """While a scene has tables made, another thread makes more room, once."""
    touching, done = scene.contact_model, []

    def tables(self, *given):
        if self is touching and not done:
            done.append(True)
            self.grow(64, 8.0)
        return own(self, *given)
    own = ContactModel._tables
    monkeypatch.setattr(ContactModel, "_tables", tables)


@pytest.mark.parametrize("of", [lambda scene: scene.rollout(scene.neutral(), steps=1).contacts,
                                lambda scene: scene.contacts(scene.neutral())], ids=["rollout", "query"])
def test_contacts_are_all_there_if_another_thread_makes_room_for_them_meanwhile(of, monkeypatch):
    scene = row_of_boxes(18)
    make_room_meanwhile(scene, monkeypatch)
    assert (of(scene).pair >= 0).sum() == 4 * 18 and scene.contact_model.most == 128


def test_there_is_room_for_no_more_contacts_than_pairs_can_have():
    """Plates, all of whose corners are near the ground, and which do not touch each other."""
    plates = [f"plate{k}" for k in range(10)]
    scene = sd.Scene(sd.Robot(WORLD), ground=True)
    for k, name in enumerate(plates):
        scene.add_box(name, (0.2, 0.2, 0.01), 1.0, at(x=0.5 * k, z=0.005))
    scene.keep_apart([(a, b) for a in plates for b in plates if a < b])
    contacts = scene.contacts(scene.neutral())
    assert scene.contact_model.most == (contacts.pair >= 0).sum() == 8 * 10


def test_a_motion_in_which_a_controller_raises_for_want_of_room_is_made_anew():
    """Of 72 contacts the last eight have no room in the first try, so that their boxes fall."""
    scene = row_of_boxes(18)

    def controller(t, q, qd, tau):
        if t > 0.5e-3 and qd[-1] < -1e-3:
            raise ValueError("it falls")
    motion = scene.rollout(scene.neutral(), None, controller, steps=3)
    np.testing.assert_allclose(motion.qd, 0.0, atol=1e-11)
    assert (motion.contacts.pair >= 0).sum(axis=-1).tolist() == [72] * 3


def test_what_a_controller_raises_in_a_motion_with_room_is_raised():
    def controller(t, q, qd, tau):
        if t > 0.5e-3:
            raise ValueError("enough")
    scene = row_of_boxes(1)
    with pytest.raises(ValueError, match="enough"):
        scene.rollout(scene.neutral(), None, controller, steps=3)
