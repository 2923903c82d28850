"""Progress of long rollouts: it grows to 1, and what comes out is the same to the last bit."""
import time

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.scene.progress import watched


@pytest.fixture(scope="module")
def scene():
    """A ball above the ground."""
    scene = sd.Scene(sd.Robot(sd.ModelBuilder("world").build()), ground=True)
    pose = np.eye(4)
    pose[2, 3] = 0.3
    scene.add_sphere("ball", 0.1, mass=1.0, pose=pose)
    return scene


# On lanes kernels of contacts take a minute to compile.
@pytest.mark.slow
@pytest.mark.parametrize("states", [(), pytest.param((3,), marks=pytest.mark.slow)])
def test_motions_that_are_watched_are_the_same(scene, states):
    q, told = np.broadcast_to(scene.neutral(), (*states, scene.nq)).copy(), []
    alone, seen = scene.rollout(q, steps=400), scene.rollout(q, steps=400, progress=told.append)
    for a, b in zip((alone.t, alone.q, alone.qd, *alone.contacts, *alone.residuals),
                    (seen.t, seen.q, seen.qd, *seen.contacts, *seen.residuals), strict=True):
        np.testing.assert_array_equal(a, b)
    assert told[-1] == 1.0
    assert told == sorted(told)


def test_shares_are_those_of_the_samples_that_are_there():
    samples, told = np.empty((10, 2)), []
    with watched(samples, told.append, interval=0.01):
        for k in range(10):
            samples[k] = k
            time.sleep(0.03)
    assert told[-1] == 1.0
    assert {round(10 * share) for share in told} >= {1, 5, 9}
    np.testing.assert_array_equal(samples[:, 0], np.arange(10))


def test_what_a_function_of_progress_raises_is_raised():
    def refuse(share):
        raise RuntimeError("enough")
    with pytest.raises(RuntimeError, match="enough"):
        with watched(np.empty((3, 1)), refuse, interval=0.01):
            time.sleep(0.1)


@pytest.mark.slow
def test_a_line_tells_it(scene, capsys):
    scene.rollout(scene.neutral(), steps=10, progress=True)
    assert "rollout: 100 %" in capsys.readouterr().err
    with pytest.raises(ValueError, match="progress must be True, False or a function"):
        scene.rollout(scene.neutral(), steps=10, progress="yes")
