"""IPOPT for nonlinear programs, through CasADi: the extra [casadi]."""
from collections.abc import Callable

import numpy as np
from scipy import sparse

from .curvature import hessian
from .interior import CONVERGED, EXHAUSTED, INFEASIBLE, Found
from .program import Program

try:
    import casadi
except ImportError as error:
    raise ImportError('solver="ipopt" requires CasADi: pip install "screw_dynamics[casadi]"') from error

STOPPED = {"Solve_Succeeded": CONVERGED, "Maximum_Iterations_Exceeded": EXHAUSTED,
           "Infeasible_Problem_Detected": INFEASIBLE}


class _Function(casadi.Callback):
    """A CasADi function of IPOPT's arguments that returns numbers and matrices with the sparsity patterns of `like`."""

    def __init__(self, name: str, sizes: tuple[int, ...], like: tuple, function: Callable, raised: list):
        super().__init__()
        self._sizes, self._function, self._raised = sizes, function, raised
        self._patterns = [_pattern(x) for x in like]
        self.construct(name, {})

    def get_n_in(self):
        return len(self._sizes)

    def get_n_out(self):
        return len(self._patterns)

    def get_sparsity_in(self, i):
        return casadi.Sparsity.dense(self._sizes[i], 1)

    def get_sparsity_out(self, i):
        return self._patterns[i]

    def eval(self, arguments):
        try:
            found = self._function(*(x.full().ravel() for x in arguments))
        except BaseException as error:                                  # CasADi would replace it with another one
            self._raised.append(error)
            raise
        return [casadi.DM(pattern, _entries(x)) for pattern, x in zip(self._patterns, found, strict=True)]


def _pattern(x):
    if not sparse.issparse(x):
        return casadi.Sparsity.dense(np.size(x), 1)
    x = _columns(x)
    return casadi.Sparsity(*x.shape, x.indptr.tolist(), x.indices.tolist())


def _entries(x):
    return _columns(x).data if sparse.issparse(x) else np.ravel(x)


def _columns(x):
    x = sparse.csc_matrix(x)
    x.sort_indices()
    return x


def solve(program: Program, x: np.ndarray, tolerance: float, limit_tolerance: float, iterations: int,
          tell: Callable[[int, float], None]) -> Found:
    """Solve a program as `interior.solve` does, by IPOPT."""
    size, m, history, raised = program.size, len(program.lower), [program.cost(x)], []

    def gradient(x, _):
        return program.cost(x), program.gradient(x)

    def jacobian(x, _):
        return program.constraints(x), program.jacobian(x)

    def of_lagrangian(x, _, share, multipliers):
        return (sparse.triu(hessian(program, x, multipliers, float(share[0]))),)

    def function(name, sizes, of):
        like = of(x, None) if len(sizes) == 2 else of(x, None, np.ones(1), np.ones(m))
        return _Function(name, sizes, like, of, raised)

    def values(x, _):
        return program.cost(x), program.constraints(x)

    class Each(casadi.Callback):
        """Callback after each iteration."""

        def __init__(self):
            super().__init__()
            self.construct("each", {})

        def get_n_in(self):
            return casadi.nlpsol_n_out()

        def get_name_in(self, i):
            return casadi.nlpsol_out(i)

        def get_sparsity_in(self, i):
            return casadi.Sparsity.dense(*{"x": (size, 1), "f": (1, 1), "g": (m, 1), "lam_x": (size, 1),
                                           "lam_g": (m, 1)}.get(casadi.nlpsol_out(i), (0, 0)))

        def eval(self, arguments):
            history.append(float(arguments[casadi.nlpsol_out().index("f")]))
            try:
                tell(len(history) - 1, history[-1])
            except BaseException as error:
                raised.append(error)
                raise
            return [0]

    kept = (function("grad_f", (size, 0), gradient), function("jac_g", (size, 0), jacobian),
            function("hess_lag", (size, 0, 1, m), of_lagrangian), function("nlp", (size, 0), values), Each())
    given = kept[3].mx_in()
    nlp = casadi.Function("nlp", given, kept[3].call(given), ["x", "p"], ["f", "g"])
    solver = casadi.nlpsol("motion", "ipopt", nlp, {
        "grad_f": kept[0], "jac_g": kept[1], "hess_lag": kept[2], "iteration_callback": kept[4], "print_time": False,
        "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.max_iter": iterations, "ipopt.tol": tolerance,
        "ipopt.constr_viol_tol": limit_tolerance, "ipopt.obj_scaling_factor": 1.0 / program.unit,
        "error_on_fail": False, "no_nlp_grad": True, "calc_lam_p": False})
    try:
        found = solver(x0=x, lbg=program.lower, ubg=program.upper)
    except RuntimeError:
        if raised:
            raise raised[0] from None
        raise
    if raised and not isinstance(raised[0], Exception):                 # KeyboardInterrupt
        raise raised[0]
    status = solver.stats()["return_status"]
    stopped = STOPPED.get(status, f"IPOPT: {status}")
    return Found(found["x"].full().ravel(), found["lam_g"].full().ravel(), stopped, len(history) - 1, history)
