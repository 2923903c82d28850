"""Maximum of the posterior of links, friction and stiffness: nonlinear least squares in log-Cholesky parameters.

Newton's method with the bounds of friction and stiffness, and steps of limited length. The second derivatives of the
parameters are weighted with the slopes of the squared residual, as predicted by the previous step. A step may increase
the residual, since the next one corrects it: links that explain precise efforts equally well are a thin curved set,
along which steps that only decrease the residual are short."""
import numpy as np
import scipy  # submodules load on first use

from screw_dynamics.model.inertial_parameters import COUNT

from . import physical

SPREAD = 1.0            # prior deviation of the logarithms of a link's mass and sizes; of its center, in sizes
LONGEST = 1.0           # step of a parameter of a link, in prior deviations
CONVERGED = 1e-8        # step, in prior deviations, at which the fit ends
STEPS = 100             # maximum number
GROWTH = 10.0           # factor between trial values of the damping


def maximum(R: np.ndarray, prior: np.ndarray, friction: np.ndarray, friction_spread: np.ndarray
            ) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the estimated parameters, their standard deviations, and True if the fit converged: the maximum a
    posteriori estimate, or else the best of the steps.

    R: triangular factor of the weighted equations. The prior of log-Cholesky parameters (links, 10) is normal with
    SPREAD, lengths relative to the sizes of the link. The prior of friction and stiffness, which are >= 0, is normal
    too."""
    m, n = prior.size, prior.size + len(friction)
    A, d = R[:, :-1], R[:, -1]
    by_link = A[:, :m].reshape(len(A), -1, COUNT).swapaxes(0, 1)
    spread = np.full_like(prior, SPREAD)
    spread[:, 4:] *= np.exp(prior[:, 1:4].mean(axis=1, keepdims=True))
    x0 = np.append(prior, np.maximum(friction, 0.0))
    pull = 1.0 / np.append(spread, friction_spread)

    def links(x):
        return x[:m].reshape(-1, COUNT)

    def parameters(x):
        return np.append(physical.of_log_cholesky(links(x)), x[m:])

    def linearized(x):              # [J r]: the residuals r and their derivatives J
        found = np.zeros((len(A) + n, n + 1))
        found[:len(A), :m] = (by_link @ physical.of_log_cholesky_derivative(links(x))).swapaxes(0, 1).reshape(-1, m)
        found[:len(A), m:n], found[len(A):, :n] = A[:, m:], np.diag(pull)
        found[:, n] = np.append(A @ parameters(x) - d, pull * (x - x0))
        return found
    x, slopes, damping, best, converged = x0, np.zeros_like(prior), 0.0, (np.inf, x0), False
    for _ in range(STEPS):
        J = linearized(x)
        best = min(best, (J[:, n] @ J[:, n], x), key=lambda found: found[0])
        T = _curved(np.linalg.qr(J, mode="r")[:n], np.einsum(
            "lk,lkij->lij", slopes, physical.of_log_cholesky_second_derivative(links(x))))
        damping = damping / GROWTH**2 if damping > GROWTH else 0.0
        while True:
            step = _bounded(_added(T, np.diag(np.sqrt(damping) * pull)) if damping else T, x[m:])
            length = np.abs(pull * step)[:m].max()
            if length <= LONGEST:
                break
            damping = max(damping * GROWTH, 1.0)
        slopes = links(A.T @ (J[:len(A)] @ np.append(step, 1.0)))
        x = x + step
        converged = length < CONVERGED and not damping
        if converged:
            break
    if not converged:
        x = best[1]
    spreads = np.linalg.inv(np.linalg.qr(linearized(x)[:, :n], mode="r"))
    spreads[:m] = (physical.of_log_cholesky_derivative(links(x)) @ spreads[:m].reshape(-1, COUNT, n)).reshape(m, n)
    return parameters(x), np.linalg.norm(spreads, axis=1), converged


def _added(T, rows):
    """Return the triangular factor (n, n + 1) of least squares with more rows, whose residuals are 0."""
    more = np.zeros((len(rows), T.shape[1]))
    more[:, :rows.shape[1]] = rows
    return np.linalg.qr(np.vstack([T, more]), mode="r")[:len(T)]


def _curved(T, curvature):
    """Return the triangular factor (n, n + 1) of linear least squares with the curvature (l, 10, 10) of the links.

    Where it is not positive definite, only the positive part of the curvature is added."""
    n, m = len(T), len(curvature) * COUNT
    added = np.zeros((n, n))
    added[:m, :m] = scipy.linalg.block_diag(*curvature)
    half = scipy.linalg.solve_triangular(T[:, :n], added, trans="T")
    relative = scipy.linalg.solve_triangular(T[:, :n], half.T, trans="T")
    try:
        L = np.linalg.cholesky(np.eye(n) + 0.5 * (relative + relative.T))
    except np.linalg.LinAlgError:
        values, axes = np.linalg.eigh(curvature)
        roots = np.sqrt(np.maximum(values, 0.0))
        return _added(T, scipy.linalg.block_diag(*roots[..., None] * axes.swapaxes(1, 2)))
    return np.column_stack([L.T @ T[:, :n], scipy.linalg.solve_triangular(L, T[:, n], lower=True)])


def _bounded(T, last):
    """Return the step s (n,) of the least T[:, :n] s + T[:, n], whose last entries keep last + s >= 0."""
    m = len(T) - len(last)
    T, r = T[:, :-1], T[:, -1]
    if len(last):
        size = np.linalg.norm(T[m:, m:], axis=0)
        last = scipy.optimize.nnls(T[m:, m:] / size, T[m:, m:] @ last - r[m:])[0] / size - last
    return np.append(scipy.linalg.solve_triangular(T[:m, :m], -r[:m] - T[:m, m:] @ last), last)
