"""What smoothing says of the noise that it meets."""
import numpy as np
import pytest

from screw_dynamics.analysis.estimation.smoothing import pieces


@pytest.mark.parametrize(("window", "degree"), [(0.05, 3), (0.1, 5)])
def test_noise_of_accelerations_is_that_of_positions(rng, window, degree):
    """Of a robot at rest all accelerations are noise."""
    t = np.arange(40000) / 250.0
    position = rng.standard_normal((len(t), 2)) * [1e-5, 1e-3]
    piece, = pieces(t, position, np.zeros((len(t), 2)), window, degree)
    inside = piece.qdd[piece.points:-piece.points]
    np.testing.assert_allclose(piece.acceleration_noise, np.var(inside, axis=0), rtol=0.06)
