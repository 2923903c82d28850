"""The cache of machine code: never stale, never mixed up, and never needed."""
import gc
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import types

import screw_dynamics
from screw_dynamics.compiled.native import array_at, function_at
from screw_dynamics.jit.kernel_cache import building, dependencies, levels, shared_objects, specs, store
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.jit.numba_internals import objects

PACKAGE = Path(screw_dynamics.__file__).parent
PLACES = "SCREW_DYNAMICS_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"
NUMBER = ("intp", "intp")


def doubled(x):
    return 2.0 * x


def tripled(x):
    return 3.0 * x


def kernel(function, kinds=NUMBER):
    """A new kernel of the function, as in a process that begins."""
    function = numba.extending.register_jitable(function)

    @compiled()
    def call(x, out):
        array_at(0.0, out, (1,))[0] = function(x)
    return KernelSpec(call, kinds)


built = []          # kernels that were built


def value(spec):
    """What a kernel makes of 1, and whether it came from the cache."""
    count, out = len(built), np.zeros(1)
    function_at(shared_objects.address_of(spec), 2)(1, out.ctypes.data)
    return out[0], len(built) == count


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty place for the cache of this test."""
    dependencies.digest(dependencies.EVERYTHING)        # whose file is none of what these tests count
    monkeypatch.setenv("SCREW_DYNAMICS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(store, "_logged", set())
    build = building.build
    monkeypatch.setattr(building, "build", lambda spec, name: built.append(spec) or build(spec, name))
    return tmp_path / "cache"


def files(folder):
    """The files of code in the place."""
    return sorted(folder.glob("**/*.kernel.so"))


# ------------------------------------------------------------------------------------------------- kept
def test_code_is_compiled_once(folder):
    assert value(kernel(doubled)) == (2.0, False)
    assert value(kernel(doubled)) == (2.0, True)


def test_functions_of_one_factory_are_told_apart(folder):
    for cached in (False, True):
        assert value(kernel(doubled)) == (2.0, cached)
        assert value(kernel(tripled)) == (3.0, cached)


def test_functions_that_differ_in_a_default_are_told_apart(folder):
    for cached in (False, True):
        for factor in (2.0, 3.0):
            def multiplied(x, by=factor):
                return by * x
            assert value(kernel(multiplied)) == (factor, cached)


def test_types_are_told_apart(folder):
    shared_objects.address_of(kernel(doubled, ("float64", "intp")))
    assert value(kernel(doubled)) == (2.0, False)
    assert len(files(folder)) == 2


DAMAGES = {"empty": lambda code: b"", "cut short": lambda code: code[:-1], "something else": lambda code: b"x" * 100}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_replaced(folder, damage):
    value(kernel(doubled))
    file, = files(folder)
    content = file.read_bytes()
    file.unlink()                           # its memory is this process's: never write into a file that is loaded
    file.write_bytes(damage(content))
    assert value(kernel(doubled)) == (2.0, False)
    assert value(kernel(doubled)) == (2.0, True)


def test_no_bit_can_flip_unseen(folder, rng):
    """Loaded, it would be a crash or a wrong number."""
    place = store.Folder(folder, {os.geteuid()})
    code = rng.bytes(200)
    place.write("code", code, store.OBJECT)
    file, = folder.iterdir()
    written = file.read_bytes()
    for bit in range(8 * len(written)):
        flipped = bytearray(written)
        flipped[bit // 8] ^= 1 << bit % 8
        file.write_bytes(flipped)
        assert place.read("code", store.OBJECT) is None
    file.write_bytes(written)
    assert place.read("code", store.OBJECT) == code


def test_files_that_nobody_uses_are_removed(folder):
    """And none that is in use, nor one that something else keeps there."""
    value(kernel(doubled))
    old, = files(folder)
    other = folder / "notes.txt"
    other.write_text("mine")
    for file in old, other:
        os.utime(file, (0, 0))
    assert value(kernel(doubled)) == (2.0, True)                 # in use: it is young again
    value(kernel(tripled))
    assert old in files(folder) and other.exists()
    os.utime(old, (0, 0))
    shared_objects.address_of(kernel(tripled, ("float64", "intp")))
    assert old not in files(folder) and other.exists() and len(files(folder)) == 2


def test_clearing_removes_what_is_ours(folder):
    value(kernel(doubled))
    (folder / "notes.txt").write_text("mine")
    assert store.own().clear() == 1
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]


# ------------------------------------------------------------------------------------------------- who wrote it
@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("mode, private, trusted", [
    (0o777, True, False), (0o757, True, False), (0o775, False, False), (0o775, True, True), (0o755, False, True)])
def test_code_that_others_can_write_is_not_run(folder, monkeypatch, caplog, what, mode, private, trusted):
    monkeypatch.setattr(store, "_is_private", lambda gid: private)
    value(kernel(doubled))
    (files(folder)[0] if what == "file" else folder).chmod(mode)
    assert value(kernel(doubled)) == (2.0, trusted)
    assert value(kernel(doubled)) == (2.0, True)     # compiled again, and trusted, in a folder that is
    told = [text for text in caplog.messages if "is not used" in text]
    assert len(told) == (not trusted)
    assert trusted or str(folder) in told[0] and f"other users may write it (mode {mode:o})" in told[0]


def test_code_of_another_user_is_not_run(folder, caplog):
    theirs = store.Folder(folder, {os.geteuid()})
    theirs.write("code", b"code", store.OBJECT)
    ours = store.Folder(folder, {os.geteuid() + 1})
    assert ours.read("code", store.OBJECT) is None and theirs.read("code", store.OBJECT) == b"code"
    assert caplog.messages == [
        f"machine code in {folder} is not used: it belongs to another user ({os.geteuid()})"]


def test_no_file_is_put_where_others_can_write(folder, tmp_path, caplog):
    folder.mkdir()
    folder.chmod(0o777)
    assert value(kernel(doubled)) == (2.0, False)
    assert value(kernel(doubled)) == (2.0, True)
    assert list(folder.iterdir()) == [] and len(files(tmp_path / "home")) == 1
    assert caplog.messages == [f"machine code in {folder} is not used: other users may write it (mode 777); "
                               f"{tmp_path}/home/.cache/screw_dynamics is used instead"]


def test_without_a_home_too_it_is_put_into_a_folder_of_this_user_for_temporary_files(folder, tmp_path, caplog):
    folder.mkdir()
    folder.chmod(0o777)
    (tmp_path / "home").write_text("a file")
    assert value(kernel(doubled)) == (2.0, False)
    assert value(kernel(doubled)) == (2.0, True)
    found, = files(tmp_path)
    assert found.parent.name == f"screw_dynamics_{os.geteuid()}"
    told, = caplog.messages
    assert [f"{place} is not used" in told for place in (folder, tmp_path / "home/.cache/screw_dynamics")] == [True] * 2
    assert told.endswith(f"{found.parent} is used instead")


def test_a_folder_of_another_user_in_its_place_is_not_used(folder, tmp_path, caplog):
    """One could make it before: then nothing is kept, and that is said."""
    folder.mkdir()
    folder.chmod(0o777)
    (tmp_path / "home").write_text("a file")
    taken = tmp_path / f"screw_dynamics_{os.geteuid()}"
    taken.mkdir(mode=0o777)
    taken.chmod(0o777)
    assert value(kernel(doubled)) == (2.0, False)
    assert value(kernel(doubled)) == (2.0, False)
    assert files(tmp_path) == [] and "cannot be kept" in caplog.messages[-1]


def test_what_is_written_is_for_this_user_to_change_and_for_all_to_read(folder):
    """As a Dockerfile's root prepares it for a user of the image."""
    umask = os.umask(0o002)
    try:
        value(kernel(doubled))
    finally:
        os.umask(umask)
    assert files(folder)[0].stat().st_mode & 0o777 == 0o644
    assert folder.stat().st_mode & 0o777 == 0o755


def test_a_checkout_loads_what_came_with_an_installed_copy(tmp_path, monkeypatch):
    """Of the same sources, as names of files say: `pip install .`, and Python in the folder of the checkout."""
    monkeypatch.setattr(store, "PACKAGE", tmp_path / "checkout" / "screw_dynamics")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / "site"))
    own, copy = (tmp_path / place / "screw_dynamics" / "machine_code" for place in ("checkout", "site"))
    assert store.installed().read("a", store.OBJECT) is None
    copy.mkdir(parents=True)
    store.Folder(copy, {os.geteuid()}).write("a", b"code", store.OBJECT)
    assert store.installed().read("a", store.OBJECT) == b"code"
    own.mkdir(parents=True)
    assert store.installed().path == own


# ------------------------------------------------------------------------------------------------- not to be written
def test_a_place_that_is_gone_is_no_error_and_said_once(folder, caplog):
    folder.write_text("a file")
    assert value(kernel(doubled)) == (2.0, False)
    assert value(kernel(tripled)) == (3.0, False)
    told, = (message for message in caplog.messages if "is not used" in message)    # others say how long it took
    assert told.startswith(f"machine code in {folder} is not used: ") and told.endswith(" is used instead")


def test_a_full_disk_is_no_error(folder, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(os, "replace", fail)
    assert value(kernel(doubled)) == (2.0, False)
    assert list(folder.iterdir()) == []


# ------------------------------------------------------------------------------------------------- what is said
@pytest.mark.parametrize("users", [False, True])
def test_whoever_compiles_for_long_is_told_what_and_how_long(folder, caplog, monkeypatch, users):
    """And what compiles beforehand, unless it is a user's function, which nothing does."""
    @specs.compiled("a slow kernel", "a user's" if users else "")
    def slow(x, out):
        pass
    make = objects.object_of

    def make_slowly(*arguments):
        while not caplog.messages:
            time.sleep(0.01)
        return make(*arguments)
    monkeypatch.setattr(specs, "LONG", 0.01)
    monkeypatch.setattr(objects, "object_of", make_slowly)
    shared_objects.address_of(KernelSpec(slow, NUMBER))
    while_compiling, done, *hint = caplog.messages
    assert while_compiling == "compiling a slow kernel, once on this machine"
    assert re.fullmatch(r"a slow kernel is ready after \d+\.\d s", done)
    assert ["python -m screw_dynamics.prepare" in text for text in hint] == ([] if users else [True])
    assert {record.name for record in caplog.records} == {"screw_dynamics"}


def test_what_is_loaded_or_compiled_quickly_is_not_worth_a_word(folder, caplog, monkeypatch):
    monkeypatch.setattr(specs, "LONG", 1e9)
    value(kernel(doubled))
    monkeypatch.setattr(specs, "LONG", 0.0)
    assert value(kernel(doubled)) == (2.0, True)
    assert caplog.messages == []


# ------------------------------------------------------------------------------------------------- several at once
@pytest.mark.slow
@pytest.mark.parametrize("is_on", [True, False])
def test_the_garbage_collector_rests_while_compiling_and_goes_on_as_it_was(folder, monkeypatch, is_on):
    """After an error too."""
    states, before = [], gc.get_threshold()
    monkeypatch.setattr(store, "keep", lambda *_: states.append(gc.get_threshold()[0]))
    gc.set_threshold(701)
    (gc.enable if is_on else gc.disable)()
    try:
        shared_objects.address_of(kernel(doubled))
        states.append(gc.get_threshold()[0])
        with pytest.raises(numba.core.errors.TypingError):
            shared_objects.address_of(kernel(doubled, (types.unicode_type, "intp")))
        states += gc.get_threshold()[0], gc.isenabled()
    finally:
        gc.set_threshold(*before)
        gc.enable()
    assert states == [0, 701, 701, is_on]


def test_several_threads_may_ask_at_once(folder):
    spec, results, all_there, count = kernel(doubled), [], threading.Barrier(8), len(built)

    def ask():
        all_there.wait(timeout=60)
        results.append(value(spec)[0])
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2.0] * 8
    assert len(built) == count + 1


# ------------------------------------------------------------------------------------------------- the package
# A program with a kernel of a whole robot, and a small one.
TRIAL = f"""
import numpy as np

from screw_dynamics import Robot
from screw_dynamics.compiled.native import array_at, function_at
from screw_dynamics.jit.kernel_cache import building, shared_objects
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.screws.se3 import Twist, Wrench, dot
from screw_dynamics.screws.vectors import Vec3


@compiled()
def power(x, out):
    a = Vec3(float(x), float(x), float(x))
    array_at(0.0, out, (1,))[0] = dot(Wrench(a, a), Twist(a, a))


built, build, out = [], building.build, np.zeros(1)
building.build = lambda form, name: built.append(form.name) or build(form, name)
robot = Robot.from_urdf({str(PACKAGE.parent / "urdf" / "double_pendulum.urdf")!r})
energy = robot.kinetic_energy([0.0, 0.0], [1.0, 1.0])
function_at(shared_objects.address_of(KernelSpec(power, ("intp", "intp"))), 2)(1, out.ctypes.data)
print(energy, out[0], built[:1] not in ([], ["power"]), built[-1:] == ["power"])
"""


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A folder with a copy of the package's core and a home whose cache has what the first process compiled for its
    module `trial`."""
    folder = tmp_path_factory.mktemp("first")
    copy = folder / "there" / "screw_dynamics"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("ros", "machine_code"))
    (copy / "compiled" / "trial.py").write_text(TRIAL)
    return folder, *outcome(start(copy))


@pytest.fixture
def package(first, tmp_path):
    """A copy of that folder's package, and of its home."""
    shutil.copytree(first[0], tmp_path, dirs_exist_ok=True)
    return tmp_path / "there" / "screw_dynamics"


def start(package, **environment):
    """Start the trial in a new process."""
    inherited = {key: value for key, value in os.environ.items() if key not in PLACES}
    environment = inherited | {"HOME": str(package.parents[1] / "home")} | environment
    return subprocess.Popen([sys.executable, "-c", "import screw_dynamics.compiled.trial"], env=environment,
                            cwd=package.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def outcome(process):
    """What a trial prints of both kernels: numbers, and whether it had to compile them."""
    printed = process.communicate(timeout=300)[0].split()
    return [float(number) for number in printed[:2]], [compiled == "True" for compiled in printed[2:]]


def without_kernels(package):
    """The package, with a home that has none, but the hashes of sources, which take seconds to find."""
    for file in files(package.parents[1] / "home"):
        file.unlink()
    return package


@pytest.mark.slow
def test_an_edit_of_a_callee_in_another_file_is_never_stale(first, package):
    _, numbers, _ = first
    assert outcome(start(package)) == (numbers, [False, False])
    se3 = package / "screws" / "se3.py"
    text, power = se3.read_text(), "return W.torque @ V.angular + W.force @ V.linear"
    assert power in text
    se3.write_text(text.replace(power, "return 2.0 * (W.torque @ V.angular + W.force @ V.linear)"))
    assert outcome(start(package)) == ([2 * x for x in numbers], [True, True])


@pytest.mark.slow
def test_processes_that_start_together_compile_once(package):
    without_kernels(package)
    (one, compiled), (other, also) = map(outcome, [start(package), start(package)])
    assert one == other and [*map(sorted, zip(compiled, also, strict=True))] == [[False, True]] * 2
    assert outcome(start(package)) == (one, [False, False])


@pytest.mark.slow
def test_code_is_kept_in_the_users_cache_and_not_in_the_package(first):
    """Or pip uninstall would leave it behind."""
    folder, _, compiled = first
    package, home = folder / "there" / "screw_dynamics", folder / "home"
    assert compiled == [True, True] and len(files(home)) == 2
    assert {file.parent for file in files(home)} == {home / ".cache" / "screw_dynamics"}
    there, copied = ({file.relative_to(place) for file in place.rglob("*") if "__pycache__" not in file.parts}
                     for place in (package, PACKAGE))
    assert there - copied == {Path("compiled/trial.py")}


def test_code_is_kept_in_the_place_that_a_variable_names(folder, monkeypatch):
    for name in PLACES:
        monkeypatch.delenv(name, raising=False)
    for name in reversed(PLACES):               # each comes before those that are there already
        place = folder / name
        monkeypatch.setenv(name, str(place))
        assert value(kernel(doubled)) == (2.0, False)
        assert value(kernel(doubled)) == (2.0, True)
        assert files(place) == files(place if name == PLACES[0] else place / "screw_dynamics") != []


@pytest.mark.slow
def test_code_that_came_with_the_package_is_used_wherever_it_lies(first, package):
    """Compiled in the place where a wheel is made, loaded in the place where that is installed."""
    shutil.move(package.parents[1] / "home" / ".cache" / "screw_dynamics", package / "machine_code")
    assert outcome(start(package)) == (first[1], [False, False])
    assert not files(package.parents[1] / "home")


@pytest.mark.parametrize("lacks, found", [("", ["v4", "v3"]), ("avx512vl", ["v3"]), ("bmi2", [])])
def test_code_is_looked_for_of_levels_whose_every_instruction_a_processor_has(monkeypatch, lacks, found):
    """The names are those of a processor with AVX-512, as Linux lists them."""
    flags = ("abm avx avx2 avx512bw avx512cd avx512dq avx512f avx512vl bmi1 bmi2 cx16 f16c fma fpu lahf_lm movbe pni "
             "popcnt sse4_1 sse4_2 ssse3 xsave")
    monkeypatch.setattr(levels.platform, "machine", lambda: "x86_64")
    assert levels.levels_with({*flags.split()} - {lacks}) == tuple(f"x86-64-{level}" for level in found)


@pytest.mark.slow
@pytest.mark.skipif("avx2" not in Path("/proc/cpuinfo").read_text(),
                    reason="this processor is older than x86-64-v3, or another kind")
def test_code_for_a_level_of_processors_is_used_by_those_that_have_it(package):
    without_kernels(package)
    elsewhere = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}
    numbers, _ = outcome(start(package, **elsewhere))
    assert outcome(start(package)) == (numbers, [False, False])
    older = {"NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": "+sse4.2"}
    assert outcome(start(package, **older)) == (numbers, [True, True])


@pytest.mark.slow
def test_nowhere_to_write_is_no_error(first, package):
    (package / "machine_code").mkdir()
    for file in package.parents[1].glob("home/**/*.sources"):
        shutil.move(file, package / "machine_code")
    nowhere = package.parents[1] / "nowhere"
    nowhere.write_text("a file")
    temporary = package.parents[1] / f"screw_dynamics_{os.geteuid()}"
    temporary.write_text("a file too")
    assert outcome(start(package, HOME=str(nowhere), SCREW_DYNAMICS_CACHE_DIR=str(nowhere / "cache"),
                         TMPDIR=str(temporary.parent))) == (first[1], [True, True])
