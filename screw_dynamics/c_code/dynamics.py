"""Exported functions of dynamics: inverse and forward dynamics, and the matrices of the equations of motion."""
from collections.abc import Sequence

import numpy as np

from screw_dynamics.algorithms.choice import Choice, candidates
from screw_dynamics.algorithms.derivatives import FORWARD_DYNAMICS_DERIVATIVES, INVERSE_DYNAMICS_DERIVATIVES
from screw_dynamics.algorithms.external_wrenches import FORWARD_UNDER_LOAD, UNDER_LOAD
from screw_dynamics.algorithms.regressor import PARAMETERS, TORQUE_REGRESSOR
from screw_dynamics.algorithms.solvers import factorize, factorize_tree, substitute, substitute_tree
from screw_dynamics.compiled.algorithm import CompiledAlgorithm
from screw_dynamics.model.model import Model

from .functions import Array, Function, Options, accelerations, at_run_time, configuration, efforts, velocities
from .tracing import TracedRobot, Way, columns_of


def _choices(model: Model) -> Choice:
    """Return, for each quantity, the candidate algorithms; the one with the shortest straight-line code is used."""
    return Choice(*candidates(None, model.shares_coordinates))


def _by(entries: Sequence[CompiledAlgorithm], own: int) -> dict[str, Way]:
    """Return {name: function that runs an entry on the first `own` inputs}."""
    return {entry.name: lambda robot, *inputs, entry=entry: [robot.run(entry, *inputs[:own])] for entry in entries}


def _symbols(entries: Sequence[CompiledAlgorithm]) -> dict[str, str]:
    return {entry.name: columns_of(entry) for entry in entries}


def inverse_dynamics(model: Model, options: Options) -> list[Function]:
    """Return the function tau = M qdd + C qd + g - J^T W."""
    inputs = (configuration(model), velocities(model), accelerations(model), *at_run_time(options))
    entries = [UNDER_LOAD["inverse_dynamics"]] if options.external else _choices(model).inverse_dynamics
    ways = _by(entries, 3) if not options.external else {
        entry.name: lambda robot, q, qd, qdd, *_, entry=entry: [robot.run(entry, q, qd, qdd, robot.wrenches)]
        for entry in entries}
    return [Function(
        "inverse_dynamics", "the efforts tau = M(q) qdd + C(q, qd) qd + g(q) that a motion requires" + _under(options),
        inputs, (efforts(model),), ways, _symbols(entries))]


def _under(options):
    return ", less those that external wrenches cause" if options.external else ""


def accelerations_by(model: Model, options: Options) -> tuple[dict[str, Way], dict[str, str]]:
    """Return the ways to compute accelerations from q, qd and tau, and descriptions of their symbols."""
    entries = _choices(model).forward_dynamics
    if not options.external:
        return _by(entries, 3), _symbols(entries)
    under_load = FORWARD_UNDER_LOAD[model.shares_coordinates]

    def in_recursion(robot, q, qd, tau, *_):
        return [robot.run(under_load, q, qd, tau, robot.wrenches)]

    def as_efforts(entry):
        def way(robot, q, qd, tau, *_):
            return [robot.run(entry, q, qd, tau + robot.run(UNDER_LOAD["external_torque"], q, robot.wrenches))]
        return way
    ways = {f"external_torque, {entry.name}": as_efforts(entry) for entry in entries}
    symbols = {f"external_torque, {entry.name}": columns_of(entry) for entry in entries}
    return {**ways, under_load.name: in_recursion}, {**symbols, **_symbols([under_load])}


def forward_dynamics(model: Model, options: Options) -> list[Function]:
    """Return the function qdd(q, qd, tau)."""
    inputs = (configuration(model), velocities(model), efforts(model), *at_run_time(options))
    ways, symbols = accelerations_by(model, options)
    caused = "efforts and external wrenches" if options.external else "efforts"
    return [Function("forward_dynamics", f"the accelerations qdd that {caused} cause", inputs, (accelerations(model),),
                     ways, symbols)]


def gravity_torque(model: Model, options: Options) -> list[Function]:
    """Return the function g(q)."""
    inputs = (configuration(model), *at_run_time(options, external=False))
    entries = _choices(model).gravity_torque
    return [Function("gravity_torque", "the efforts g(q) that hold the robot still", inputs, (efforts(model),),
                     _by(entries, 1),
                     _symbols(entries))]


def coriolis_torque(model: Model, options: Options) -> list[Function]:
    """Return the function C qd, by a dedicated algorithm or as inverse dynamics without accelerations and gravity."""
    inputs = (configuration(model), velocities(model), *at_run_time(options, external=False, gravity=False))
    entries, inverse = _choices(model).coriolis_torque, _choices(model).inverse_dynamics
    ways = _by(entries, 2) | {
        entry.name: lambda robot, q, qd, *_, entry=entry: [robot.run(entry, q, qd, np.zeros(len(qd)), weightless=True)]
        for entry in inverse}
    return [Function("coriolis_torque", "the efforts C(q, qd) qd of Coriolis and centrifugal forces", inputs,
                     (efforts(model),), ways, _symbols([*entries, *inverse]))]


def bias_torque(model: Model, options: Options) -> list[Function]:
    """Return the function C qd + g."""
    inputs = (configuration(model), velocities(model), *at_run_time(options, external=False))
    entries = _choices(model).inverse_dynamics
    ways = {entry.name: lambda robot, q, qd, *_, entry=entry: [robot.run(entry, q, qd, np.zeros(len(qd)))]
            for entry in entries}
    return [Function("bias_torque", "the efforts C(q, qd) qd + g(q) of a motion without accelerations", inputs,
                     (efforts(model),), ways, _symbols(entries))]


def mass_matrix(model: Model, options: Options) -> list[Function]:
    """Return the function M(q)."""
    inputs = (configuration(model), *at_run_time(options, external=False, gravity=False))
    entries = _choices(model).mass_matrix
    M = Array("M", (model.n, model.n), "mass matrix, symmetric, in kg m^2, kg m or kg")
    return [Function("mass_matrix", "the mass matrix M(q)", inputs, (M,), _by(entries, 1), _symbols(entries))]


def mass_matrix_inverse(model: Model, options: Options) -> list[Function]:
    """Return the function M(q)^-1, by the factorization M = L^T D L, which is as sparse as the tree."""
    inputs = (configuration(model), *at_run_time(options, external=False, gravity=False))
    entries = _choices(model).mass_matrix

    def way(entry):
        def inverted(robot, q, *_):
            H, n = robot.run(entry, q), model.n
            robot.notes.section("The matrix is factorized and solved for each column of the unit matrix")
            B = np.array([[float(i == j) for j in range(n)] for i in range(n)], dtype=object)
            if model.shares_coordinates:
                factorize(H, n)
                substitute(H, B)
            else:
                parents = [link.parent for link in robot.links]
                factorize_tree(parents, H, n)
                substitute_tree(parents, H, B)
            for i, j in zip(*np.tril_indices(n, -1), strict=True):
                B[i, j] = B[j, i]           # copy the half that takes fewer operations
            return [B]
        return inverted
    inverse = Array("inverse", (model.n, model.n), "inverse of the mass matrix, symmetric")
    return [Function("mass_matrix_inverse", "the inverse of the mass matrix M(q)", inputs, (inverse,),
                     {entry.name: way(entry) for entry in entries}, _symbols(entries))]


def coriolis_matrix(model: Model, options: Options) -> list[Function]:
    """Return the function C(q, qd)."""
    inputs = (configuration(model), velocities(model), *at_run_time(options, external=False, gravity=False))
    entries = _choices(model).coriolis_matrix
    C = Array("C", (model.n, model.n), "matrix of the Christoffel symbols of M")
    return [Function("coriolis_matrix", "the matrix C(q, qd) for which M' - 2 C is skew", inputs, (C,),
                     _by(entries, 2), _symbols(entries))]


def inverse_dynamics_derivatives(model: Model, options: Options) -> list[Function]:
    """Return the function of dtau/dq, dtau/dqd and M."""
    inputs = (configuration(model), velocities(model), accelerations(model), *at_run_time(options, external=False))
    n = (model.n, model.n)
    outputs = (Array("tau_by_q", n, "row i: derivatives of tau[i] by q, along the joint screws"),
               Array("tau_by_qd", n, "the same by qd"), Array("tau_by_qdd", n, "the same by qdd: the mass matrix"))
    return [_three("inverse_dynamics_derivatives", "the partial derivatives of inverse dynamics", inputs, outputs,
                   INVERSE_DYNAMICS_DERIVATIVES)]


def forward_dynamics_derivatives(model: Model, options: Options) -> list[Function]:
    """Return the function of dqdd/dq, dqdd/dqd and M^-1."""
    inputs = (configuration(model), velocities(model), efforts(model), *at_run_time(options, external=False))
    n = (model.n, model.n)
    outputs = (Array("qdd_by_q", n, "row i: derivatives of qdd[i] by q, along the joint screws"),
               Array("qdd_by_qd", n, "the same by qd"),
               Array("qdd_by_tau", n, "the same by tau: the inverse of the mass matrix"))
    return [_three("forward_dynamics_derivatives", "the partial derivatives of forward dynamics", inputs, outputs,
                   FORWARD_DYNAMICS_DERIVATIVES["matrix" if model.shares_coordinates else "tree"])]


def _three(name, summary, inputs, outputs, entry):
    """Return a function with three matrices as results, which one algorithm computes."""
    return Function(name, summary, inputs, outputs,
                    {entry.name: lambda robot, *x: list(robot.run(entry, *x[:3]))}, _symbols([entry]))


def _named(model):
    """Return descriptions of the bodies: the name of a link, which includes links fixed to it, or the joint of a
    massless body."""
    return [body if model.is_link[i] else f"inside {model.body_joints[i]}" for i, body in enumerate(model.body_names)]


def torque_regressor(model: Model, options: Options) -> list[Function]:
    """Return the function Y(q, qd, qdd)."""
    further = tuple(x for x in at_run_time(options, external=False) if x.name == "gravity")
    inputs = (configuration(model), velocities(model), accelerations(model), *further)
    Y = Array("Y", (model.n, PARAMETERS * len(model.parents)),
              "tau = Y p; p: of each body mass, mass times center of mass, and inertia about the origin of its link's "
              f"frame xx xy yy xz yz zz; the bodies: {', '.join(_named(model))}")

    def way(robot: TracedRobot, q, qd, qdd, *_):
        return [robot.run(TORQUE_REGRESSOR, q, qd, qdd, target=robot.target(model.root, "body", model.root))]
    return [Function("torque_regressor", "the regressor Y of inverse dynamics, which is linear in inertial parameters",
                     inputs, (Y,), {TORQUE_REGRESSOR.name: way}, _symbols([TORQUE_REGRESSOR]))]
