"""Partial derivatives of the dynamics by configuration, velocities, accelerations and efforts; [MD] 6.1.

Derivatives by the configuration are along the joint screws: for a function f, d f(q exp(h e_i)) / dh at h = 0. q exp(h
e_i) is q + h e_i for single-DoF joints, and the result of Robot.integrate for Lie-group joints."""
from collections.abc import Sequence

from screw_dynamics.compiled.algorithm import CompiledAlgorithm

from ..group_rates import inverse_on_groups
from . import inverse_dynamics_by_rows as by_rows
from .articulated_solver import ForwardDynamicsDerivatives
from .forward_dynamics import BY_BODIES, BY_MATRIX, BY_TREE, by_solver, coordinates_alone, on_groups
from .inverse_dynamics import InverseDynamicsDerivatives, inverse_dynamics_derivatives, three_per_pair

# Inputs: q, q', q''. Result (3, n, n): dtau/dq, dtau/dq', and M = dtau/dq''. By rows: for a single state, and
# models that matrix_rows.is_deep accepts.
INVERSE_DYNAMICS_DERIVATIVES = CompiledAlgorithm(inverse_dynamics_derivatives, InverseDynamicsDerivatives, "q qd qdd",
                                                 three_per_pair,
                                                 on_groups=inverse_on_groups(inverse_dynamics_derivatives))
INVERSE_DYNAMICS_DERIVATIVES_BY_ROWS = CompiledAlgorithm(
    by_rows.inverse_dynamics_derivatives, by_rows.DerivativeColumns, "q qd qdd", three_per_pair,
    name="inverse_dynamics_derivatives.rows", on_groups=inverse_on_groups(by_rows.inverse_dynamics_derivatives))
# Inputs: q, q', tau. Result (3, n, n): dq''/dq, dq''/dq', and M^-1 = dq''/dtau.
_SOLVERS = {"tree": ("", BY_TREE), "matrix": (".mass_matrix", BY_MATRIX), "bodies": (".articulated", BY_BODIES)}
FORWARD_DYNAMICS_DERIVATIVES = {
    solver: CompiledAlgorithm(by_solver(coordinates_alone, by), ForwardDynamicsDerivatives, "q qd qdd", three_per_pair,
                              name=f"forward_dynamics_derivatives{suffix}", on_groups=by_solver(on_groups, by))
    for solver, (suffix, by) in _SOLVERS.items()}
DEEP = 13       # average depth of bodies from which articulated bodies are faster than factorizing


def forward_dynamics_derivatives(parents: Sequence[int], shares_coordinates: bool) -> CompiledAlgorithm:
    """Return the CompiledAlgorithm for a model: by the mass matrix if joints share coordinates, else the faster one for
    its depth.

    parents: of its bodies, -1 for the root."""
    depths: list[int] = []
    for parent in parents:
        depths.append(1 + (depths[parent] if parent >= 0 else 0))
    deep = sum(depths) >= DEEP * len(depths) > 0
    return FORWARD_DYNAMICS_DERIVATIVES["matrix" if shares_coordinates else "bodies" if deep else "tree"]
