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
from screw_dynamics.c_code.quantities import SOLVED
from screw_dynamics.c_code.recorded import STATES, inputs_of
from screw_dynamics.c_code.source import source

TURNS = 2e4         # 2e7 rad times 1e-15, relative to 1e-12
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


def _loss(robot, function, inputs):
    """By how much more than a thousand the mass matrix makes errors grow."""
    q = inputs[[x.name for x in function.inputs].index("q")]
    return max(1.0, np.linalg.cond(robot.mass_matrix(q)) / 1e3)


def errors(built, robot):
    """The largest error of each function, relative to the largest number of a result, or to 1; where a mass matrix that
    is ill-conditioned is solved with, relative to what its condition makes of rounding; after many turns, to what they
    make of screws that are rounded by 1e-15."""
    found = {}
    for name, function in built.functions.items():
        worst = 0.0
        for k, inputs in enumerate(inputs_of(robot, function, built.export.dialect.scalar)):
            for result, answer in zip(built.call(name, *inputs), answers(robot, function, inputs), strict=True):
                if np.isfinite(answer).all():
                    error = np.abs(result - answer).max() / max(1.0, np.abs(answer).max())
                    loss = _loss(robot, function, inputs) if name in SOLVED else 1.0
                    worst = max(worst, error / (loss * TURNS if k > STATES else loss))
        found[name] = worst
    return found
