"""Energy-momentum method: an implicit step of order 2 that conserves energy, linear and angular momentum to machine
precision.

Velocities change by the impulses of discrete gradients (discrete_gradient.py). Their work is the decrease of the
potential energy; joints do no work, since they are closed at both ends of a step:
  R1 J w1 - R0 J w0 = h m,   m (v1 - v0) = h f,   h(g1) = 0,   w = (w0 + w1) / 2,   v = (v0 + v1) / 2
about the centers of mass, with R1 = R0 cay(h w) and r1 = r0 + h v. J. C. Simo, N. Tarnow and K. K. Wong (1992) for
rigid bodies, O. Gonzalez (1999) for constraints."""
import numpy as np
from scipy.linalg import cho_factor, cho_solve

from screw_dynamics.screws.arrays import cross, mass_moment_rotational, tilde, times, transpose_times

from .discrete_gradient import Ends, cayley, joint_spring_wrenches, of_angles, of_products, spring_wrenches
from .index_1 import independent_rows
from .integrators import Step
from .joints import OTHER_BODY
from .system import MultibodySystem

ITERATIONS = 50
ROUNDING = 4.0 * np.finfo(float).eps


class EnergyMomentum:
    """Steps of a system, in any group: velocities are converted. Joint forces are kept as an initial guess.

    Wrenches of the user act at the middle of a step. Raises ValueError for a system with Baumgarte stabilization."""

    def __init__(self, system: MultibodySystem):
        if any(system.baumgarte):
            raise ValueError("the energy-momentum method solves for the constraints themselves: baumgarte must be "
                             f"(0, 0), not {system.baumgarte}")
        system = system.resolved_in(OTHER_BODY)     # irrelevant for joints that are closed at both ends
        self.system, M = system, system.inertias
        self.mass, moment, Theta = mass_moment_rotational(M)
        self.com = moment / self.mass
        self.J = Theta + tilde(moment) @ tilde(self.com)
        self.rows = np.arange(system.constraints.m)
        self._carried = np.zeros((system.n, 3)), np.zeros((system.n, 3)), np.zeros(system.constraints.m)

    def __call__(self, t: float, h: float, g: np.ndarray, V: np.ndarray) -> Step:
        """Compute a step of length h from t. Raises ArithmeticError if the iteration does not converge."""
        with np.errstate(all="ignore"):
            return self._step(t, h, g, V)

    def _step(self, t, h, g, V):
        R0, twists = g[:, :3, :3], self.system.twists(g, V)
        w0, v0 = twists[:, :3], times(R0, twists[:, 3:] + cross(twists[:, :3], self.com))
        half_w, half_v, forces = self._carried
        w, v, corrector, least = w0 + half_w, v0 + half_v, None, np.inf
        for _ in range(ITERATIONS):
            ends = self._ends(g, h, w, v)
            G = self._gradients(ends)
            if corrector is None:
                corrector = Corrector(G, self.J, self.mass, R0, h, self.system.rank)
                forces = np.where(np.isin(self.rows, corrector.taken), forces, 0.0)
            W = self._wrenches(t, h, g, ends, w, v) + np.tensordot(forces, G, 1)
            missing = np.concatenate((
                times(ends.R1[:-1], times(self.J, 2.0 * w - w0)) - times(R0, times(self.J, w0)),
                2.0 * self.mass * (v - v0)), axis=1) - h * W
            residuals = self.system.constraints.residuals(ends.R1, ends.r1)
            change, df = corrector(missing, residuals)
            w, v = w + transpose_times(R0, change[:, :3]), v + change[:, 3:]
            forces[corrector.taken] += df
            size, whole = np.abs(change).max(), 1.0 + max(np.abs(w).max(), np.abs(v).max())
            if not np.isfinite(size):
                break
            if size < ROUNDING * whole or (size < 1e-10 * whole and size >= least):     # no further decrease
                return self._end(g, h, w, v, w0, v0, forces)
            least = min(least, size)
        raise ArithmeticError(f"the iteration did not converge at t = {t:.6g} s: shorter steps than {h:g} s may help")

    def _end(self, g, h, w, v, w0, v0, forces):
        """Return the end of a step with mean velocities w, v."""
        self._carried = w - w0, v - v0, forces
        ends, poses = self._ends(g, h, w, v), np.array(g)
        R = ends.R1[:-1]
        R = poses[:, :3, :3] = 1.5 * R - 0.5 * R @ np.swapaxes(R, -1, -2) @ R       # stays orthogonal
        poses[:, :3, 3] = ends.r1[:-1]
        w1, v1 = 2.0 * w - w0, 2.0 * v - v0
        twists = np.concatenate((w1, transpose_times(R, v1) - cross(w1, self.com)), axis=1)
        return Step(poses, self.system.velocities(poses, twists))

    def _ends(self, g, h, w, v):
        """Return the Ends of a step with mean velocities w, body-fixed, and v of the centers of mass."""
        n, ground = len(g), np.eye(3)[None]
        R0, still = g[:, :3, :3], np.zeros((1, 3))
        R1 = R0 @ cayley(h * w)
        r1 = g[:, :3, 3] + h * v - times(R1 - R0, self.com)
        R0, R1 = np.concatenate((R0, ground)), np.concatenate((R1, ground))
        r0, r1 = np.concatenate((g[:, :3, 3], still)), np.concatenate((r1, still))
        turns = np.concatenate((h * times(R0[:n], w), still))
        return Ends(R0, r0, R1, r1, 0.5 * (R0 + R1), 0.5 * (r0 + r1), turns)

    def _gradients(self, ends):
        """Return the gradients (m, n, 6) of all constraints by the velocities (W, v) of all bodies, with v of the
        centers of mass."""
        of, n = self.system.constraints, self.system.n
        by, G = of_products(of, of.slides, ends), np.zeros((of.m, n + 1, 6))
        if of.screwed.size:
            by = [a - of.pitch[:, None] * b for a, b in zip(by, of_angles(of, ends), strict=True)]
        G[self.rows, of.body] = by[0]
        G[self.rows, of.on] += by[1]
        G = G[:, :n]
        G[..., :3] -= cross(times(ends.R[:n], self.com), G[..., 3:])
        return G

    def _wrenches(self, t, h, g, ends, w, v):
        """Return the wrenches of gravity, springs and the user on all bodies, about the centers of mass, in the
        inertial frame."""
        system, n = self.system, self.system.n
        W = np.zeros((n + 1, 6))
        for springs, of in ((system._springs, spring_wrenches), (system._joint_springs, joint_spring_wrenches)):
            if springs.count:
                W += of(springs, ends, h)
        W, arms = W[:n], times(ends.R[:n], self.com)
        W[:, :3] -= cross(arms, W[:, 3:])
        W[:, 3:] += self.mass * system.gravity
        if system.wrenches is not None:
            W += self._of_user(t + 0.5 * h, h, g, w, v)
        return W

    def _of_user(self, t, h, g, w, v):
        """Return the wrenches of the user at the middle of a step."""
        poses = np.array(g)
        R = poses[:, :3, :3] = g[:, :3, :3] @ cayley(0.5 * h * w)
        arms = times(R, self.com)
        poses[:, :3, 3] += times(g[:, :3, :3], self.com) + 0.5 * h * v - arms
        twists = np.concatenate((w, transpose_times(R, v) - cross(w, self.com)), axis=1)
        W = self.system._of_user(t, poses, self.system.velocities(poses, twists))
        force = times(R, W[:, 3:])
        return np.concatenate((times(R, W[:, :3]) - cross(arms, force), force), axis=1)


class Corrector:
    """Newton's step by [2 M, -h G^T; h G, 0], without terms that are smaller by a factor of h; G of independent
    constraints."""

    def __init__(self, G: np.ndarray, J: np.ndarray, mass: np.ndarray, R0: np.ndarray, h: float, rank: int):
        self.h, n = h, len(J)
        self.inverse = np.zeros((n, 6, 6))                      # (2 M)^-1
        self.inverse[:, :3, :3] = 0.5 * R0 @ np.linalg.inv(J) @ np.swapaxes(R0, -1, -2)
        self.inverse[:, 3:, 3:] = 0.5 / mass[..., None] * np.eye(3)
        roots = np.linalg.cholesky(self.inverse)
        B = (G[:, :, None] @ roots).reshape(len(G), 6 * n)
        self.taken = independent_rows(B, rank)
        self.G = G[self.taken].reshape(-1, 6 * n)
        self.factors = cho_factor(B[self.taken] @ B[self.taken].T) if rank else None

    def __call__(self, missing: np.ndarray, residuals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the changes of the mean velocities (n, 6), in the inertial frame, and of the forces of `taken`
        constraints."""
        free = -times(self.inverse, missing)
        if self.factors is None:
            return free, np.zeros(0)
        off = residuals[self.taken] / self.h + self.G @ free.ravel()
        df = -cho_solve(self.factors, off, check_finite=False) / self.h
        return free + self.h * times(self.inverse, (df @ self.G).reshape(-1, 6)), df
