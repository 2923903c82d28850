"""Friction that falls with speed, in columns that add up: at a grid of Stribeck velocities, between which the shares of
forces.Friction's law are interpolated, so that equations need not be looked at again for another one."""
import numpy as np

VELOCITIES = np.geomspace(0.002, 2.0, 25)       # rad/s or m/s; cubic between them errs by less than 3e-4
_RATIO = np.log(VELOCITIES[1] / VELOCITIES[0])


def interpolation(velocity: float) -> np.ndarray:
    """Return the weights (G,) of the grid's columns for a velocity within the grid: cubic in its logarithm, by
    Lagrange."""
    x = np.log(velocity / VELOCITIES[0]) / _RATIO
    first = int(np.clip(np.floor(x) - 1, 0, len(VELOCITIES) - 4))
    found, nodes = np.zeros(len(VELOCITIES)), first + np.arange(4)
    for k in nodes:
        others = nodes[nodes != k]
        found[k] = np.prod((x - others) / (k - others))
    return found


def shares(falling: np.ndarray) -> np.ndarray:
    """Return the factors (n, G) of the columns of joints whose friction at rest exceeds Coulomb's by so much, with
    Stribeck velocities, (n, 2)."""
    return np.array([excess * interpolation(velocity) for excess, velocity in falling])
