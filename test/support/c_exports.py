"""Exports built by a C compiler and called from Python, and what Robot answers to the same inputs."""
import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from screw_dynamics.c_code.export import prepared
from screw_dynamics.c_code.header import header
from screw_dynamics.c_code.printing import identifier
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
        return [np.linalg.inv(robot.mass_matrix(*x))]
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


def lost_digits(robot, q):
    """By how much more than its own rounding the inertia that a joint feels is off where it is computed in the root's
    frame, as in derivatives of forward dynamics: S^T I S is a difference of the terms of |S|^T |I| |S|, S the joint's
    screw, I the inertia of all that it moves."""
    model, worst = robot.model, 1.0
    inertias = []
    for name, M in zip(model.body_names, model.inertias, strict=True):
        to_body = Ad(np.linalg.inv(robot.forward_kinematics(q, name)))
        inertias.append(to_body.T @ M @ to_body)
    for i in reversed(range(len(inertias))):
        S = robot.jacobian(q, model.body_names[i], "spatial")[:, model.coordinates[i]]
        worst = max(worst, abs(S) @ abs(inertias[i]) @ abs(S) / (S @ inertias[i] @ S))
        if model.parents[i] >= 0:
            inertias[model.parents[i]] = inertias[model.parents[i]] + inertias[i]
    return worst


def errors(built, robot):
    """The largest error of each function, relative to the largest number of a result, or to 1; of derivatives of
    forward dynamics, to what lost_digits makes of a unit of rounding, if that is more than 1e-12."""
    found = {}
    for name, function in built.functions.items():
        worst = 0.0
        for inputs in inputs_of(robot, function, built.export.dialect.scalar):
            for result, answer in zip(built.call(name, *inputs), answers(robot, function, inputs), strict=True):
                if np.isfinite(answer).all():
                    loss = lost_digits(robot, inputs[0]) if name == "forward_dynamics_derivatives" else 1.0
                    error = np.abs(result - answer).max() / max(1.0, np.abs(answer).max())
                    worst = max(worst, error / max(1.0, loss * ROUNDING / 1e-12))
        found[name] = worst
    return found
