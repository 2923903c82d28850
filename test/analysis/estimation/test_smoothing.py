"""What smoothing says of the noise that it meets."""
import numpy as np
import pytest

from screw_dynamics.analysis.estimation.smoothing import fresh, pieces


@pytest.mark.parametrize(("window", "degree"), [(0.05, 3), (0.1, 5)])
def test_noise_of_accelerations_is_that_of_positions(rng, window, degree):
    """Of a robot at rest all accelerations are noise."""
    t = np.arange(40000) / 250.0
    position = rng.standard_normal((len(t), 2)) * [1e-5, 1e-3]
    piece, = pieces(t, position, np.zeros((len(t), 2)), window, degree)
    inside = piece.qdd[piece.points:-piece.points]
    np.testing.assert_allclose(piece.acceleration_noise, np.var(inside, axis=0), rtol=0.06)


@pytest.mark.parametrize("hold", [2, 4, 10])
def test_samples_that_are_held_are_left_out(hold):
    """A sine at 1 kHz, of which a slower source gave each second, fourth or tenth sample: derivatives are those of the
    sine, and do not lag behind it; so is an effort that came as rarely."""
    t, w = np.arange(3000) / 1000.0, 2.0 * np.pi
    seen = np.arange(len(t)) // hold * hold
    x = np.sin(w * t)
    held = x[seen, None]
    piece, = pieces(t, held, held, 0.1, 5)
    assert len(t) // hold - 6 <= fresh(t, held[:, 0], 0.05).sum() <= len(t) // hold      # two alike at each of 6 peaks
    for found, exact in ((piece.q, x), (piece.qd, w * np.cos(w * t)), (piece.qdd, -w * w * x), (piece.effort, x)):
        inside = slice(piece.points, -piece.points)
        assert np.abs(found[inside, 0] - exact[:len(found)][inside]).max() < 2e-4 * np.abs(exact).max()


def test_what_rests_or_moves_by_the_steps_of_an_encoder_is_not_held():
    t = np.arange(2000) / 1000.0
    for x in (np.zeros(2000), np.where(t < 1.0, 0.0, t), 1e-3 * np.floor(0.1 * t / 1e-3),
              1e-3 * np.floor(np.sin(t) / 1e-3), np.full(2000, np.nan)):
        assert fresh(t, x, 0.05).all()
