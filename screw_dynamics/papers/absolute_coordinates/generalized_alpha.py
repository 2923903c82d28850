"""Lie group generalized-alpha method of Bruels, Cardona and Arnold (2012): implicit, of order 2, for stiff and for
constrained systems.

It solves the constraints h(g) = 0 themselves, not their second derivatives: joints stay closed to the tolerance in any
group. Velocities satisfy their constraints to the order of the method."""
import numpy as np

from screw_dynamics.utils import checks

from .index_1 import independent_rows
from .integrators import Step
from .system import MultibodySystem

TOLERANCE = 1e-12       # of a Newton step, in rad and m
ITERATIONS = 30
NUDGE = 1e-7            # increment of the differences for the iteration matrix


def damping_radius(rho: float) -> float:
    """Return the spectral radius at infinite frequency, checked."""
    if checks.number("rho", rho, 0.0) > 1.0:
        raise ValueError(f"rho must be from 0 to 1, not {rho}")
    return float(rho)


class GeneralizedAlpha:
    """Steps of a system. Accelerations, their means a and the joints' forces are kept between steps.

    rho: spectral radius at infinite frequency, 1 without damping, 0 with the largest. Raises ValueError for a system
    with Baumgarte stabilization, which does not apply here."""

    def __init__(self, system: MultibodySystem, rho: float = 0.9):
        rho = damping_radius(rho)
        if any(system.baumgarte):
            raise ValueError("the generalized-alpha method solves for the constraints themselves: baumgarte must be "
                             f"(0, 0), not {system.baumgarte}")
        self.system, self.alpha_m, self.alpha_f = system, (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        self.gamma = 0.5 + self.alpha_f - self.alpha_m
        self.beta = 0.25 * (0.5 + self.gamma) ** 2
        self._carried = None        # V', a, mu at the end of the last step

    def __call__(self, t: float, h: float, g: np.ndarray, V: np.ndarray) -> Step:
        """Compute a step of length h from t."""
        system = self.system
        B = system.imbalance(t, g, V, np.zeros_like(V))[1]
        taken = independent_rows(B, system.rank)
        if self._carried is None:
            dV = system.accelerations(t, g, V)
            self._carried = dV, dV, np.zeros(len(B))
        (dV0, a0, mu), n = self._carried, V.size
        x = np.concatenate(((h * V + 0.5 * h * h * a0).ravel(), h * h * mu[taken]))

        def motion(x):
            """Return g, V, V' and a at the end, from X and h^2 mu."""
            X = x[:n].reshape(V.shape)
            a = (X - h * V - h * h * (0.5 - self.beta) * a0) / (h * h * self.beta)
            dV = ((1.0 - self.alpha_m) * a + self.alpha_m * a0 - self.alpha_f * dV0) / (1.0 - self.alpha_f)
            end = V + h * ((1.0 - self.gamma) * a0 + self.gamma * a)
            return system.group.compose(g, system.group.exp(X)), end, dV, a

        def defect(x):
            poses, velocities, dV, _ = motion(x)
            missing, B = system.imbalance(t + h, poses, velocities, dV)
            return np.concatenate((h * h * missing - B[taken].T @ x[n:], system.residuals(poses)[taken])), B[taken]
        matrix = None
        for _ in range(ITERATIONS):
            F, B = defect(x)
            if matrix is None:
                matrix = np.zeros((len(x), len(x)))
                matrix[:n, n:] = -B.T
                for k in range(n):
                    nudged = x.copy()
                    nudged[k] += NUDGE
                    matrix[:, k] = (defect(nudged)[0] - F) / NUDGE
            step = np.linalg.solve(matrix, F)
            x = x - step
            if not np.isfinite(x).all():
                break
            if np.abs(step[:n]).max() < TOLERANCE:
                poses, velocities, dV, a = motion(x)
                forces = np.zeros(len(mu))
                forces[taken] = x[n:] / (h * h)
                self._carried = dV, a, forces
                return Step(poses, velocities)
        raise ArithmeticError(f"Newton's method did not converge at t = {t:.6g} s: shorter steps than {h:g} s may help")
