"""The cache of machine code: never stale, never mixed up, and never needed."""
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numba
import pytest
from numba import types

import screw_dynamics
from screw_dynamics.compiled.cache import compiled, prepare

PACKAGE = Path(screw_dynamics.__file__).parent
NUMBER = (types.float64,)


def doubled(x):
    return 2.0 * x


def tripled(x):
    return 3.0 * x


def entry(function):
    """A new entry point of the function, as in a process that begins."""
    function = numba.extending.register_jitable(function)

    @compiled()
    def call(x):
        return function(x)
    return call


def value(dispatcher):
    """What an entry point makes of 1, and whether it came from the cache."""
    prepare(dispatcher, NUMBER)
    return dispatcher(1.0), sum(dispatcher.stats.cache_hits.values()) == 1


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty place for the cache of this test."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


def files(folder):
    """The files of code in the place."""
    return [file for file in folder.rglob("*") if file.is_file()]


# ------------------------------------------------------------------------------------------------- kept
def test_code_is_compiled_once(folder):
    assert value(entry(doubled)) == (2.0, False)
    assert value(entry(doubled)) == (2.0, True)


def test_functions_of_one_factory_are_told_apart(folder):
    for cached in (False, True):
        assert value(entry(doubled)) == (2.0, cached)
        assert value(entry(tripled)) == (3.0, cached)


def test_types_are_told_apart(folder):
    prepare(entry(doubled), (types.float32,))
    assert value(entry(doubled)) == (2.0, False)
    assert len(files(folder)) == 2


def test_an_unforeseen_type_is_not_compiled(folder):
    call = entry(doubled)
    prepare(call, NUMBER)
    with pytest.raises(TypeError):
        call(1j)


DAMAGES = {"empty": lambda code: b"", "cut short": lambda code: code[:-1], "something else": lambda code: b"x" * 100}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_replaced(folder, damage):
    value(entry(doubled))
    file, = files(folder)
    file.write_bytes(damage(file.read_bytes()))
    assert value(entry(doubled)) == (2.0, False)
    assert value(entry(doubled)) == (2.0, True)


def test_files_of_other_sources_are_removed(folder, monkeypatch):
    value(entry(doubled))
    monkeypatch.setattr("screw_dynamics.compiled.cache._STAMP", "other")
    value(entry(tripled))
    file, = files(folder)
    assert "-other-" in file.name
    assert value(entry(doubled)) == (2.0, False)


# ------------------------------------------------------------------------------------------------- not to be written
def test_a_place_that_is_gone_is_no_error(folder):
    call = entry(doubled)
    shutil.rmtree(folder)
    folder.write_text("a file")
    assert value(call) == (2.0, False)


def test_a_full_disk_is_no_error(folder, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(os, "replace", fail)
    assert value(entry(doubled)) == (2.0, False)
    assert files(folder) == []


# ------------------------------------------------------------------------------------------------- several at once
def test_several_threads_may_ask_at_once(folder):
    call, results, all_there = entry(doubled), [], threading.Barrier(8)

    def ask():
        all_there.wait(timeout=60)
        prepare(call, NUMBER)
        results.append(call(1.0))
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2.0] * 8
    assert sum(call.stats.cache_misses.values()) == 1


def compile_with_pauses(function, pauses, done):
    """Compile a function in this process, with waits before its first file gets its name, and before its second."""
    replace = os.replace

    def replace_later(*names):
        for wait in pauses.pop(0) if pauses else ():
            wait()
        replace(*names)
    os.replace = replace_later
    value(entry(function))
    done.set()


def test_two_processes_that_compile_at_once_do_not_mix_up_their_code(folder):
    """With an index of numbered files, this order leaves the second one's entry there, and the first one's code."""
    fork = multiprocessing.get_context("fork")
    both_compiled, first_file, second_done = fork.Barrier(2, timeout=60), fork.Event(), fork.Event()
    first = [both_compiled.wait], [first_file.set, lambda: second_done.wait(60)]
    second = [both_compiled.wait, lambda: first_file.wait(60)],
    processes = [fork.Process(target=compile_with_pauses, args=(doubled, list(first), first_file)),
                 fork.Process(target=compile_with_pauses, args=(tripled, list(second), second_done))]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=100)
        assert process.exitcode == 0
    assert value(entry(doubled)) == (2.0, True)
    assert value(entry(tripled)) == (3.0, True)


# ------------------------------------------------------------------------------------------------- the package
POWER = """
from numba import types

from screw_dynamics.compiled.cache import compiled, prepare
from screw_dynamics.screws.se3 import Twist, Wrench, dot
from screw_dynamics.screws.vectors import Vec3


@compiled()
def power(x):
    a = Vec3(x, x, x)
    return dot(Wrench(a, a), Twist(a, a))


prepare(power, (types.float64,))
print(power(1.0), sum(power.stats.cache_misses.values()) > 0)
"""
ENERGY = f"""
import numpy as np
from numba.core import event

from screw_dynamics import Robot

robot = Robot.from_urdf({str(PACKAGE.parent / "urdf" / "double_pendulum.urdf")!r})
with event.install_recorder("numba:compile") as compiled:
    energy = robot.kinetic_energy([0.0, 0.0], [1.0, 1.0])
print(energy, len(compiled.buffer) > 0)
"""


@pytest.fixture(params=[POWER, pytest.param(ENERGY, marks=pytest.mark.slow)], ids=["small", "whole robot"])
def package(tmp_path, request):
    """A copy of the package's core, without any cache; its module `trial` prints a number and whether it compiled."""
    copy = tmp_path / "there" / "screw_dynamics"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "ros"))
    (copy / "compiled" / "trial.py").write_text(request.param)
    return copy


def start(package, **environment):
    """Start the trial in a new process."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    command = [sys.executable, "-c", "import screw_dynamics.compiled.trial"]
    return subprocess.Popen(command, env=inherited | environment, cwd=package.parent, stdout=subprocess.PIPE, text=True)


def outcome(process):
    """What a trial prints: its number and whether it had to compile."""
    number, compiled = process.communicate(timeout=300)[0].split()
    return float(number), compiled == "True"


def test_an_edit_of_a_callee_in_another_file_is_never_stale(package):
    number, compiled = outcome(start(package))
    assert compiled
    assert outcome(start(package)) == (number, False)
    se3 = package / "screws" / "se3.py"
    text, power = se3.read_text(), "return W.torque @ V.angular + W.force @ V.linear"
    assert power in text
    se3.write_text(text.replace(power, "return 2.0 * (W.torque @ V.angular + W.force @ V.linear)"))
    assert outcome(start(package)) == (2 * number, True)


def test_processes_that_start_together_compile_once(package):
    (one, compiled), (other, also) = map(outcome, [start(package), start(package)])
    assert one == other and sorted((compiled, also)) == [False, True]
    assert outcome(start(package)) == (one, False)


def test_a_package_that_cannot_be_written_is_cached_at_home(package):
    """A file in the place of the folder stops root too."""
    (package / "compiled" / "__pycache__").write_text("a file")
    home = package.parents[1] / "home"
    number, compiled = outcome(start(package, HOME=str(home)))
    assert compiled and files(home)
    assert outcome(start(package, HOME=str(home))) == (number, False)


def test_nowhere_to_write_is_no_error(package):
    (package / "compiled" / "__pycache__").write_text("a file")
    nowhere = str(package / "compiled" / "__pycache__" / "nowhere")
    number, compiled = outcome(start(package, HOME=nowhere, XDG_CACHE_HOME=nowhere, NUMBA_CACHE_DIR=nowhere))
    assert number > 0 and compiled
