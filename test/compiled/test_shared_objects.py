"""Kernels as shared objects: built once, loaded without Numba, and never trusted blindly."""
import os
import subprocess
import sys

import numpy as np
import pytest

from screw_dynamics.compiled.functions import form_of_words, function
from screw_dynamics.compiled.native import address, array_at, function_at
from screw_dynamics.compiled.workspace import numbers_type
from screw_dynamics.kernel_cache import shared_objects, store
from screw_dynamics.kernel_cache.cache import Form, compiled, prepare
from screw_dynamics.numbers.values import PLAIN
from support.paths import ROOT, URDF

pytestmark = [pytest.mark.skipif(PLAIN, reason="nothing is compiled"),
              pytest.mark.skipif(not shared_objects.linker() or not shared_objects.levels(),
                                 reason="no C compiler, or a processor without a level")]


def kernel():
    """A new kernel, as in a process that begins: it doubles a number at an address, and returns how often it may."""
    @compiled("doubled")
    def doubled(where, count):
        from_here = array_at(0.0, where, (1,))
        if count < 0:
            raise ValueError("count must not be negative")
        from_here[0] = 2.0 * from_here[0]
        return count + 1
    return Form(doubled, ("intp", "intp"))


def called(where):
    """What the kernel at an address makes of 1.5, and returns for 4."""
    x = np.array([1.5])
    done = function_at(where, 2)(x.ctypes.data, 4)
    return x[0], done


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty place for the cache of this test."""
    monkeypatch.setenv("SCREW_DYNAMICS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "_said", set())
    return tmp_path / "cache"


def test_a_kernel_is_built_once_and_loaded_from_then_on(folder, monkeypatch):
    assert called(shared_objects.address_of(kernel())) == (3.0, 5)
    file, = folder.iterdir()
    assert file.suffix == ".so" and shared_objects.is_kept(kernel())
    monkeypatch.setattr(shared_objects, "_built", None)                 # it would fail
    assert called(shared_objects.address_of(kernel())) == (3.0, 5)


def test_what_a_kernel_raises_reaches_its_caller(folder):
    with pytest.raises(ValueError, match="count must not be negative"):
        function_at(shared_objects.address_of(kernel()), 2)(0, -1)


@pytest.mark.parametrize("damage", [lambda code: b"", lambda code: code[:-1], lambda code: b"\x7fELF" + bytes(500),
                                    lambda code: code[:2000] + bytes([code[2000] ^ 1]) + code[2001:]],
                         ids=["empty", "cut", "something else", "a bit"])
def test_a_damaged_file_is_replaced(folder, damage):
    shared_objects.address_of(kernel())
    file, = folder.iterdir()
    whole = file.read_bytes()
    file.unlink()                           # its memory is this process's: never write into a file that is loaded
    file.write_bytes(damage(whole))
    assert not shared_objects.is_kept(kernel())
    assert called(shared_objects.address_of(kernel())) == (3.0, 5) and shared_objects.is_kept(kernel())


def test_a_file_that_others_may_write_is_not_loaded(folder, caplog):
    shared_objects.address_of(kernel())
    file, = folder.iterdir()
    file.chmod(0o666)
    assert shared_objects.file_of(kernel()) is None
    assert "other users may write it" in caplog.text


@pytest.mark.parametrize("lacks", ["linker", "levels"])
def test_without_a_compiler_or_a_level_numba_makes_the_code(folder, monkeypatch, lacks):
    monkeypatch.setattr(shared_objects, lacks, lambda: None if lacks == "linker" else ())
    assert shared_objects.address_of(kernel()) == 0
    assert called(address(prepare(*kernel()))) == (3.0, 5)
    assert {file.suffix for file in folder.iterdir()} == {store.SUFFIX}


def test_a_linker_that_fails_is_reported(folder, monkeypatch, caplog):
    monkeypatch.setattr(shared_objects, "linker", lambda: "false")
    assert shared_objects.address_of(kernel()) == 0
    assert "kernels cannot be linked" in caplog.text


def test_a_system_that_loads_none_is_reported_and_numba_makes_the_code(folder, monkeypatch, caplog):
    """As of a folder that is mounted without the right to execute."""
    def refuse(name):
        raise OSError(f"{name}: failed to map segment from shared object: Operation not permitted")
    monkeypatch.setattr(shared_objects.ctypes, "CDLL", refuse)
    assert [shared_objects.address_of(kernel()) for _ in range(2)] == [0, 0]
    assert len(caplog.messages) == 1 and "cannot be loaded" in caplog.text
    assert called(address(prepare(*kernel()))) == (3.0, 5)


def test_where_nothing_can_be_kept_kernels_are_built_in_each_process(folder, monkeypatch, caplog):
    folder.write_text("a file")
    monkeypatch.setattr(store, "places", lambda: iter([folder]))
    assert called(shared_objects.address_of(kernel())) == (3.0, 5)
    assert "machine code cannot be kept" in caplog.text


PROGRAM = f"""
import sys
import numpy as np
import screw_dynamics as sd

robot = sd.Robot.from_urdf({str(URDF / "spherical_arm.urdf")!r})
q = np.full(robot.n, 0.1)
robot.gravity_torque(q), robot.inverse_dynamics(q, q, q), robot.forward_dynamics(q, q, q), robot.mass_matrix(q)
robot.jacobian(q, "gripper"), robot.kinetic_energy(q, q), robot.inverse_dynamics(*np.ones((3, 40, robot.n)))
robot.rollout(q, q, steps=3), robot.rollout(np.ones((20, robot.n)), q, steps=3), robot.step(q, q, q, 1e-3)
robot.inverse_kinematics(robot.forward_kinematics(q, "gripper"), "gripper", q0=q)
print(*[name for name in sys.modules if name.partition(".")[0] in ("numba", "llvmlite")])
"""


def test_nothing_of_numba_is_imported_where_kernels_are_there():
    """A second process of the same program; the first has built what was not there."""
    def run():
        return subprocess.run([sys.executable, "-c", PROGRAM], env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
                              capture_output=True, check=True).stdout
    run()
    assert run() == "\n"


def test_a_function_of_arrays_refuses_others(folder):
    @compiled("scaled")
    def scaled(x, factor, count, out):
        for k in range(count):
            out[k] = factor * x[k]
    run = function(Form(scaled, (numbers_type(1, "A", readonly=True), "float64", "int64", numbers_type(1))))
    x, out = np.arange(6.0)[::2], np.zeros(3)
    assert run(x, 2, np.int64(3), out) == 0 and (out == 2.0 * x).all()
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for given, result in ((x[None], out), (x.astype(np.float32), out), (x, out[::-1]), (x, frozen), (x, None),
                          ([0.0], out), (x.astype(">f8"), out)):
        with pytest.raises(TypeError, match=r"scaled: takes Array\(float64, 1, 'A', readonly=True\), float64, int64"):
            run(given, 2.0, 3, result)
    assert form_of_words(kernel()).is_native
