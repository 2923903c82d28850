"""Exports built by a C compiler and called from Python, and what Robot answers to the same inputs."""
import ctypes
import shutil
import subprocess
from pathlib import Path

import mpmath
import numpy as np
import pytest

from screw_dynamics.c_code.export import prepared
from screw_dynamics.c_code.header import header
from screw_dynamics.c_code.printing import identifier
from screw_dynamics.c_code.quantities import SOLVED
from screw_dynamics.c_code.recorded import inputs_of
from screw_dynamics.c_code.source import source
from support.matrices import Ad

ROUNDING = 2.0 ** -53
STRICT = "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"
GCC = shutil.which("gcc")


def pointer(address):
    """An address, as an argument of C."""
    return ctypes.c_void_p(address)


class Built:
    """An export as a shared library: called(function, inputs) calls it on arrays."""

    def __init__(self, robot, folder, *flags, compiler=GCC, **options):
        self.export = prepared(robot, "exported", **options)
        self.functions = {function.name: function for function, _ in self.export.functions}
        self.number = ctypes.c_double if self.export.dialect.scalar == "double" else ctypes.c_float
        self.folder = write_sources(self.export, folder)
        library = self.folder / "exported.so"
        run(compiler, *(flags or ("-O1",)), *STRICT, "-fPIC", "-shared", "-I", self.folder,
            self.folder / "exported.c", "-o", library, "-lm")
        self.library = ctypes.CDLL(str(library))

    def call(self, name, *inputs):
        """The results of a function, in the shapes that it says."""
        function, kind = self.functions[name], np.dtype(self.number)
        arguments = [np.ascontiguousarray(x, dtype=kind) for x in inputs]
        results = [np.full(x.shape, np.nan, dtype=kind) for x in function.outputs]
        getattr(self.library, f"exported_{identifier(name)}")(*(
            self.number(x.item()) if given.shape == () else pointer(x.ctypes.data)
            for given, x in zip(function.inputs, arguments, strict=True)),
            *(pointer(x.ctypes.data) for x in results))
        return results


def write_sources(export, folder):
    """Write header and source, and return the folder."""
    folder = Path(folder)
    (folder / export.name).mkdir(parents=True, exist_ok=True)
    (folder / export.name / f"{export.name}.h").write_text(header(export))
    (folder / f"{export.name}.c").write_text(source(export))
    return folder


def run(*command, **options):
    """Run a command; what it says is in the failure."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def needs(tool):
    """Skip a test without a tool that the README does not ask for."""
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed")


def answers(robot, function, inputs):
    """What the methods of Robot answer to the inputs of a function."""
    given = dict(zip((x.name for x in function.inputs), inputs, strict=True))
    external = {}
    for name, x in given.items():
        kind, _, link = name.partition("_")
        if kind == "gravity":
            robot = robot.with_gravity(x)
        elif kind == "payload":
            xx, xy, yy, xz, yz, zz = x[4:]
            robot = robot.with_payload(link, x[0], x[1:4], [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        elif kind == "external":
            external[link] = x
    given = {name: x for name, x in given.items() if name in ("q", "qd", "qdd", "tau", "dt")}
    loads = {"external": external} if external else {}
    name, x = function.name, list(given.values())
    if name in ("inverse_dynamics", "forward_dynamics"):
        return [getattr(robot, name)(*x, **loads)]
    if name == "bias_torque":
        return [robot.coriolis_torque(*x) + robot.gravity_torque(x[0])]
    if name == "mass_matrix_inverse":
        size, M = _scaled(robot.mass_matrix(*x))
        return [np.linalg.inv(M) / np.outer(size, size)]
    if name == "step":
        q, qd, tau, dt = x
        tau = tau + (robot.external_torque(q, external) if external else 0.0)
        return robot.step(q, qd, tau, float(dt), limits=False)
    if name.endswith("_derivatives"):
        return getattr(robot, name)(*x)
    for quantity in ("forward_kinematics", "jacobian_derivative", "jacobian"):
        if name.startswith(f"{quantity}_"):
            return [_of_link(robot, quantity, name[len(quantity) + 1:], x)]
    return [getattr(robot, name)(*x)]


def _of_link(robot, quantity, rest, x):
    """Kinematics of the link that the rest of a function's name tells, LINK[_REPRESENTATION][_in_REFERENCE]."""
    own, _, reference = rest.partition("_in_") if rest not in robot.link_names else (rest, "", "")
    representation = "body"
    if own not in robot.link_names:
        own, _, representation = own.rpartition("_")
    options = {} if quantity == "forward_kinematics" else {"representation": representation}
    return getattr(robot, quantity)(*x, own, **options, reference=reference or None)


def _scaled(M):
    """Sizes d (n,) of coordinates, and the matrix H with 1 on the diagonal, of M = diag(d) H diag(d)."""
    size = np.sqrt(M.diagonal())
    return size, M / np.outer(size, size)


def of_solving(robot, q, rounding=0.0):
    """What solving with the mass matrix makes of rounding: n u cond(H), H the matrix in units in which its diagonal is
    1, as any factorization by Cholesky has it; Higham, Accuracy and Stability of Numerical Algorithms, 10.1. rounding:
    relative, of H itself, which its inverse has cond(H) times; the same, 7.1."""
    return (robot.n * ROUNDING + rounding) * np.linalg.cond(_scaled(robot.mass_matrix(q))[1])


def of_moving(robot, q):
    """What rounding makes of the inertias that joints feel where they are computed in another body's frame, as in
    derivatives of forward dynamics in the root's: S^T I S is a difference of the terms of |S|^T |I| |S|, S a joint's
    screw, I the inertia of all that it moves. Little inertia has fewer digits then, in Robot's mass matrix, too."""
    model, worst, last = robot.model, 0.0, len(robot.model.parents) - 1
    inertias = [np.zeros((6, 6)) for _ in range(last + 1)]
    links = list(model.body_names)              # of bodies inside a joint, one that it moves
    for i in range(last, -1, -1):
        if model.is_link[i]:
            to_body = Ad(np.linalg.inv(robot.forward_kinematics(q, links[i])))
            inertias[i] += to_body.T @ model.inertias[i] @ to_body
        S = robot.jacobian(q, links[i], "spatial")[:, model.coordinates[i]]
        worst = max(worst, abs(S) @ abs(inertias[i]) @ abs(S) / (S @ inertias[i] @ S))
        if (parent := model.parents[i]) >= 0:
            inertias[parent] += inertias[i]
            links[parent] = links[parent] if model.is_link[parent] else links[i]
    return ROUNDING * worst


def within_a_turn(robot, q):
    """The configuration with angles less whole turns: what Robot answers to many of them has the error of its axes,
    which are of unit length to 1e-16, times the angle. Leaders of mimic joints stay: their followers turn otherwise."""
    leaders = {leader for leader, *_ in robot.model.mimics.values()}
    found = q.copy()
    for joint, at in robot.q_slices.items():
        if robot.model.kind_of(joint) in ("revolute", "continuous") and joint not in leaders:
            with mpmath.workdps(50):
                x = mpmath.mpf(q[at.start])
                found[at.start] = float(x - mpmath.nint(x / (2 * mpmath.pi)) * 2 * mpmath.pi)
    return found


def errors(built, robot):
    """The largest error of each function, relative to the largest number of a result, or to 1; of what is solved for,
    relative to what that makes of rounding, if it is more than 1e-12."""
    found = {}
    for name, function in built.functions.items():
        worst = 0.0
        for inputs in inputs_of(robot, function, built.export.dialect.scalar):
            given = [within_a_turn(robot, x) if array.name == "q" else x
                     for array, x in zip(function.inputs, inputs, strict=True)]
            answered = [*answers(robot, function, given)]
            if name == "step":
                answered[0] = answered[0] + (inputs[0] - given[0])
            for result, answer in zip(built.call(name, *inputs), answered, strict=True):
                if np.isfinite(answer).all():
                    error = np.abs(result - answer).max() / max(1.0, np.abs(answer).max())
                    own = of_solving(robot, inputs[0]) if name in SOLVED else 0.0
                    if name == "forward_dynamics_derivatives":
                        own = max(own, 2.0 * of_moving(robot, inputs[0]))       # in C and in Robot's answer
                    elif name == "mass_matrix_inverse":
                        own = of_solving(robot, inputs[0], of_moving(robot, inputs[0]))
                    worst = max(worst, error / max(1.0, own / 1e-12))
        found[name] = worst
    return found
