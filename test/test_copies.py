"""Copies of what was used, which hold machine code and memory: they compute with the same bits, and of their own."""
import copy
import pickle

import cloudpickle
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics import optimal
from support.paths import ROOT

WAYS = [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: pickle.loads(cloudpickle.dumps(x))]


@pytest.fixture(scope="module")
def arm():
    return sd.Robot.from_urdf(str(ROOT / "urdf" / "spherical_arm.urdf"))


@pytest.fixture(scope="module")
def used(arm):
    scene = sd.Scene(arm, ground=True)
    scene.add_sphere("ball", 0.1, 1.0, pose=[[1, 0, 0, 3.0], [0, 1, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1]])
    scene.rollout(scene.neutral(), steps=2)
    return scene


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_scene_that_was_used(used, way):
    found, expected = way(used), used.rollout(used.neutral(), steps=20)
    for twice in (found, way(found)):
        assert np.array_equal(twice.rollout(twice.neutral(), steps=20).q, expected.q)
    found.add_box("box", (0.1, 0.1, 0.1))
    assert list(used.objects) == ["ground", "ball"] and list(found.objects) == ["ground", "ball", "box"]
    assert way(used.contact_model).most == used.contact_model.most


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_solver_that_was_used_goes_on(arm, way):
    """Each goes on from where it was, whatever the other does."""
    terms = [optimal.Cost(optimal.Effort(), 1e-3), optimal.Cost(optimal.Configuration(0.3 * np.ones(arm.n)), 1.0)]
    solver = optimal.Solver(arm, terms, np.zeros(arm.n), dt=0.05, steps=8)
    state = 0.01 * np.ones(arm.n), np.zeros(arm.n)
    solver.step(*state)
    found = way(solver)
    expected = solver.step(*state).tau
    solver.step(*state)
    assert np.array_equal(found.step(*state).tau, expected)


@pytest.mark.parametrize("way", WAYS)
def test_forces_in_sum_that_were_used(arm, way):
    total = arm.total_force([sd.forces.Spring(arm.joint_names[0], 3.0)])
    q = np.ones(arm.n)
    assert total.efforts(q, q)[0] == -3.0
    assert np.array_equal(way(total).efforts(q, q), total.efforts(q, q))
