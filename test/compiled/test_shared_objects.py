"""Kernels as shared objects: built once, loaded without Numba, and never trusted blindly."""
import os
import resource
import shutil
import subprocess
import sys

import numpy as np
import pytest

from screw_dynamics.compiled.functions import function, spec_of_words
from screw_dynamics.compiled.native import array_at, function_at
from screw_dynamics.compiled.workspace import numbers_type, read_type
from screw_dynamics.jit.kernel_cache import building, dependencies, levels, shared_objects, store
from screw_dynamics.jit.kernel_cache.specs import Compiled, KernelSpec, compiled, file_name
from screw_dynamics.jit.numba_internals import compiler
from screw_dynamics.numbers.values import PLAIN
from support.kernels import cache_with
from support.paths import ROOT, URDF

pytestmark = [pytest.mark.skipif(PLAIN, reason="nothing is compiled"),
              pytest.mark.skipif(not building.linker() or not levels.levels(),
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
    return KernelSpec(doubled, ("intp", "intp"))


def called(where):
    """What the kernel at an address makes of 1.5, and returns for 4."""
    x = np.array([1.5])
    done = function_at(where, 2)(x.ctypes.data, 4)
    return x[0], done


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty place for the cache of this test."""
    dependencies.digest(dependencies.EVERYTHING)        # whose file is none of what these tests count
    monkeypatch.setenv("SCREW_DYNAMICS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "_logged", set())
    return tmp_path / "cache"


def test_a_kernel_is_built_once_and_loaded_from_then_on(folder, monkeypatch):
    assert called(shared_objects.address_of(kernel())) == (3.0, 5)
    file, = folder.iterdir()
    assert file.suffix == ".so" and shared_objects.is_kept(kernel())
    monkeypatch.setattr(building, "build", None)                 # it would fail
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


def test_without_a_compiler_llvm_loads_the_code(folder, monkeypatch, caplog):
    monkeypatch.setattr(building, "linker", lambda: None)
    assert called(shared_objects.address_of(kernel())) == (3.0, 5)
    assert {file.suffix for file in folder.iterdir()} == {".o"} and "there is no C compiler" in caplog.text
    monkeypatch.setattr(building, "build", None)                 # it would fail
    assert called(where := shared_objects.address_of(kernel())) == (3.0, 5)
    with pytest.raises(ValueError, match="count must not be negative"):
        function_at(where, 2)(0, -1)


def test_a_processor_without_a_level_has_files_of_its_own(folder, monkeypatch):
    names = shared_objects._names(kernel())
    for module in shared_objects, building:
        monkeypatch.setattr(module, "levels", lambda: ())
    assert called(shared_objects.address_of(kernel())) == (3.0, 5)
    file, = folder.iterdir()
    assert file.name.removesuffix(store.SHARED_OBJECT) not in names and shared_objects.is_kept(kernel())


def test_a_linker_that_fails_is_reported_and_llvm_loads_the_code(folder, monkeypatch, caplog):
    monkeypatch.setattr(building, "linker", lambda: ["false"])
    assert called(shared_objects.address_of(kernel())) == (3.0, 5)
    assert "kernels cannot be linked" in caplog.text


USES_NUMBA = """
import sys
import numpy as np
from screw_dynamics.compiled.native import array_at, function_at
from screw_dynamics.jit.kernel_cache import shared_objects
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
@compiled("solve", "a user's")
def solve(b, k):
    a = np.eye(3)
    a[0, 0] = 4.0
    if k < 0:
        raise ValueError("k must not be negative", k, a[0])
    print("k is", k)
    b = array_at(0.0, b, (3,))
    b[:] = np.linalg.solve(a, b)
    return k
form, b = KernelSpec(solve, ("intp", "intp")), np.ones(3)
kept, run = shared_objects.is_kept(form), function_at(shared_objects.address_of(form), 2)
print(kept, run(b.ctypes.data, 3), *b)
try:
    run(b.ctypes.data, -2)
except ValueError as error:
    print(*error.args)
"""


@pytest.mark.slow
def test_code_that_calls_numba_and_python_is_kept_as_an_object_file(tmp_path):
    """LAPACK's solver, `print`, and an exception with a number and an array, whose dtype is in the environment."""
    environment = cache_with([], tmp_path / "cache")
    for kept in (False, True):
        assert run(USES_NUMBA, **environment)[0].splitlines() == [
            "k is 3", f"{kept} 3 0.25 1.0 1.0", "k must not be negative -2 [4. 0. 0.]"]
    assert [file.name[:6] for file in (tmp_path / "cache").glob("*.kernel.o")] == ["solve-"]


def test_a_compiler_may_have_a_space_in_its_path(monkeypatch, tmp_path):
    compiler = tmp_path / "a compiler"
    compiler.symlink_to(shutil.which(building.linker()[0]))
    monkeypatch.setenv("CC", f"'{compiler}' -O1")
    assert building.linker() == [str(compiler), "-O1"]


def test_a_compiler_whose_quotes_are_not_closed_is_named(monkeypatch, caplog):
    monkeypatch.setattr(store, "_logged", set())
    monkeypatch.setenv("CC", "'gcc -O1")
    assert building.linker() in (["cc"], ["gcc"], ["clang"])
    assert "is not a command (No closing quotation)" in caplog.text and "'gcc -O1" in caplog.text


def test_a_system_that_loads_none_is_reported_and_llvm_loads_the_code(folder, monkeypatch, caplog):
    """As of a folder that is mounted without the right to execute."""
    def refuse(name):
        raise OSError(f"{name}: failed to map segment from shared object: Operation not permitted")
    monkeypatch.setattr(store.ctypes, "CDLL", refuse)
    assert [called(shared_objects.address_of(kernel())) for _ in range(2)] == [(3.0, 5)] * 2
    assert len(caplog.messages) == 1 and "cannot be loaded" in caplog.text


def test_where_nothing_can_be_kept_kernels_are_built_in_each_process(folder, monkeypatch, caplog):
    folder.write_text("a file")
    monkeypatch.setattr(store, "candidate_folders", lambda: iter([folder]))
    assert called(shared_objects.address_of(kernel())) == (3.0, 5)
    assert "machine code cannot be kept" in caplog.text


def test_a_name_tells_all_that_code_depends_on():
    """Of two kernels that differ in any of it, none is ever loaded for the other."""
    def body(x):
        return x
    names = [file_name(Compiled(function, name, key, False), *depends) for function, name, key, depends in (
        (body, "f, batches", "a", ("v3",)), (body, "f_batches", "a", ("v3",)), (body, "f", "a", ("v3",)),
        (body, "f", "b", ("v3",)), (body, "f", "a", ("v4",)), (body, "f", "", ("v3",)), (len, "f", "b", ()),
        (lambda x: 2 * x, "f", "", ("v3",)))]
    assert len(set(names)) == len(names) and None not in names
    unknown = complex(1.0, 2.0)
    assert file_name(Compiled(lambda x: unknown, "f", "", False)) is None
    assert file_name(Compiled(body, "f", None, False)) is None


def test_words_of_different_signatures_have_different_names():
    def twice(x):
        x[0] = 2 * x[0]
    made = compiled("twice", "a user's")(twice)
    kinds = numbers_type(1), numbers_type(2), numbers_type(1, "A"), numbers_type(1, dtype="int64")
    assert len({shared_objects._names(spec_of_words(KernelSpec(made, (kind,))))[0] for kind in kinds}) == len(kinds)


@pytest.mark.slow
def test_memory_that_a_kernel_takes_it_gives_back(folder):
    """8 GB in all, if it does not."""
    @compiled("taking memory")
    def taking(count):
        total = 0.0
        for k in range(count):
            x = np.ones(10000 + k % 3)
            total += x[k % 100]
        return int(total)
    where = shared_objects.address_of(KernelSpec(taking, ("intp",)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert function_at(where, 1)(100_000) == 100_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000       # kB


def test_integers_come_back_as_they_are_and_errors_without_the_gil(folder):
    @compiled("less", nogil=True)
    def less(x, by, fails):
        if fails:
            raise ValueError("it was to fail")
        return int(x[0]) - by
    run = function(KernelSpec(less, (read_type(1), "int64", "boolean")))
    assert [run(np.array([1.0]), by, np.False_) for by in (0, 2, 1, -2**40)] == [1, -1, 0, 1 + 2**40]
    with pytest.raises(ValueError, match="it was to fail"):
        run(np.array([1.0]), 1, True)
    for wrong in ((1.0, False), (None, False), (np.float32(1), False), (np.ones(1), False), (1, None), (1, 0.0), (1, 1),
                  (1,), (1, False, 1)):
        with pytest.raises(TypeError, match="less: takes"):
            run(np.array([1.0]), *wrong)
    for wrong in (1, 1.0, True, [1.0], None):
        with pytest.raises(TypeError, match="less: takes"):
            run(wrong, 1, False)


def test_files_of_others_are_left_alone(folder):
    shared_objects.address_of(kernel())
    others = [folder / "libother.so", folder / "notes.kernel.txt"]
    for path in others:
        path.write_text("mine")
        os.utime(path, (0, 0))
    store.own().write("new", b"code", store.SHARED_OBJECT)
    assert shared_objects.is_kept(kernel()) and store.own().clear() == 2
    assert sorted(folder.iterdir()) == others


@pytest.mark.parametrize("name, value, found", [
    ("NUMBA_CPU_NAME", "nonsense", ()), ("NUMBA_CPU_NAME", "host", ()), ("NUMBA_CPU_NAME", "x86-64-v3", ("x86-64-v3",)),
    ("NUMBA_CPU_FEATURES", "-avx2", ()), ("NUMBA_OPT", "0", ()), ("NUMBA_CPU_FEATURES", "", None)])
def test_settings_of_numba_for_other_code_are_left_to_it(monkeypatch, name, value, found):
    here = levels.levels_with(levels._instructions())
    monkeypatch.setattr(levels.platform, "machine", lambda: "x86_64")
    for other in ("NUMBA_CPU_NAME", *levels.OTHERS):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, value)
    assert levels.levels.__wrapped__() == (here if found is None else found)


def test_a_declaration_that_is_interrupted_is_made_next_time(monkeypatch):
    made, waiting = [], compiler.deque()
    monkeypatch.setattr(compiler, "_declarations", waiting)

    def interrupted():
        made.append(1)
        if len(made) == 1:
            raise KeyboardInterrupt
    waiting.extend([interrupted, lambda: made.append(2)])
    with pytest.raises(KeyboardInterrupt):
        compiler._make_declarations()
    compiler._make_declarations()
    assert made == [1, 1, 2] and not waiting


def run(program, **environment):
    """What a program prints in a new process, and logs."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": str(ROOT), **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.slow
def test_a_fork_waits_until_nothing_is_compiled():
    """Numba is imported by then, too, which a child could not go on with."""
    assert run("""
import os, sys, threading, time
from screw_dynamics.jit.numba_internals import compiler
held = []
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "numba" and not held:
            held.append(not compiler.lock.acquire(blocking=False))
            began.set()
            time.sleep(0.3)
sys.meta_path.insert(0, Finder())
began = threading.Event()
thread = threading.Thread(target=compiler.start)
thread.start()
began.wait()
if os.fork() == 0:
    os._exit(0 if compiler._started else 1)
print(held, os.wait()[1])
""")[0] == "[True] 0\n"


CONSTANT = """
import numpy as np
from screw_dynamics.compiled.functions import function
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
TABLE = np.arange(64.0)[::2]
@compiled("constant", "a user's")
def constant(k):
    return int(TABLE[k])
print(function(KernelSpec(constant, ("int64",)))(3))
"""


@pytest.mark.slow
def test_code_with_addresses_of_one_process_is_not_loaded_by_another(tmp_path):
    """Of a large array, or one with strides, which a function reads as a constant: Numba writes its address."""
    environment = cache_with([], tmp_path / "cache")
    assert [run(CONSTANT, **environment)[0] for _ in range(2)] == ["6\n"] * 2


@pytest.mark.slow
def test_a_folder_may_be_named_as_it_lies_here(tmp_path):
    cache_with([], folder := tmp_path / "cache")
    program = f"""
import os, sys
os.chdir({str(folder)!r})
import screw_dynamics as sd
sd.Robot.from_urdf({str(URDF / "double_pendulum.urdf")!r}).potential_energy([0.0, 0.0])
print("numba" in sys.modules)"""
    run(program, SCREW_DYNAMICS_CACHE_DIR=".")
    assert run(program, SCREW_DYNAMICS_CACHE_DIR=".") == ("False\n", "")


PROGRAM = f"""
import sys
import numpy as np
import screw_dynamics as sd

robot = sd.Robot.from_urdf({str(URDF / "spherical_arm.urdf")!r})
q = np.full(robot.n, 0.1)
robot.gravity_torque(q), robot.inverse_dynamics(q, q, q), robot.forward_dynamics(q, q, q), robot.mass_matrix(q)
robot.jacobian(q, "gripper"), robot.kinetic_energy(q, q), robot.inverse_dynamics(*np.ones((3, 40, robot.n)))
robot.rollout(q, q, steps=3), robot.rollout(np.zeros((20, robot.n)), 0 * q, steps=3, limits=False)
robot.step(q, q, q, 1e-3)
robot.inverse_kinematics(robot.forward_kinematics(q, "gripper"), "gripper", q0=q)
print(*[name for name in sys.modules if name.partition(".")[0] in ("numba", "llvmlite")])
"""


def test_nothing_of_numba_is_imported_where_kernels_are_there():
    """A second process of the same program; the first has built what was not there."""
    run(PROGRAM)
    assert run(PROGRAM) == ("\n", "")


def test_a_function_of_arrays_refuses_others(folder):
    @compiled("scaled")
    def scaled(x, factor, count, out):
        for k in range(count):
            out[k] = factor * x[k]
    run = function(KernelSpec(scaled, (numbers_type(1, "A", readonly=True), "float64", "int64", numbers_type(1))))
    x, out = np.arange(6.0)[::2], np.zeros(3)
    assert run(x, 2, np.int64(3), out) == 0 and (out == 2.0 * x).all()
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for given, result in ((x[None], out), (x.astype(np.float32), out), (x, out[::-1]), (x, frozen), (x, None),
                          ([0.0], out), (x.astype(">f8"), out)):
        with pytest.raises(TypeError, match=r"scaled: takes Array\(float64, 1, 'A', readonly=True\), float64, int64"):
            run(given, 2.0, 3, result)
    assert spec_of_words(kernel()).is_native
