"""Batches on any number of threads: the same bits, failures that reach the caller, and processes that fork."""
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import types

import screw_dynamics as sd
from screw_dynamics.compiled import calls, python_calls
from screw_dynamics.compiled.threads import available_threads, on_threads
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.numbers.values import PLAIN
from support.batches import ARM, method, states
from support.paths import URDF


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_threads_do_not_change_a_bit(rng, name):
    f, inputs = method(ARM, name)
    arrays = states(rng, ARM, inputs, 5001)
    expected = f(*arrays, threads=1)
    for threads in (2, 3, 64, None):
        assert (f(*arrays, threads=threads) == expected).all()


@pytest.mark.parametrize("threads", [0, -1, 1.5, np.nan, np.inf, "2", [1], (), 1j])
def test_threads_that_are_no_count_are_refused(rng, threads):
    q, = states(rng, ARM, 1, 9)
    with pytest.raises(ValueError, match="threads .* must be a whole number >= 1"):
        ARM.gravity_torque(q, threads=threads)


def seconds_of_others():
    """The processor time of all threads but this one."""
    return time.process_time() - time.thread_time()


@pytest.mark.skipif(os.cpu_count() == 1 or PLAIN, reason="workers need cores, and machine code")
def test_workers_work_where_they_are_asked_to_and_sleep_otherwise(rng):
    """A worker looks out for work for a fraction of a millisecond, and then takes no time."""
    arrays = states(rng, ARM, 3, 100_000)
    ARM.inverse_dynamics(*arrays, threads=2)
    assert calls.calls.workers() >= 1
    batches, started = 0, seconds_of_others()
    while seconds_of_others() - started < 0.02 + 0.3e-3 * batches:
        ARM.inverse_dynamics(*arrays, threads=2)
        batches += 1
    asleep = 0.0
    while seconds_of_others() - asleep > 1e-3:              # two clocks, read one after the other
        asleep = seconds_of_others()
        time.sleep(0.05)
    ARM.inverse_dynamics(*arrays, threads=1)
    ARM.inverse_dynamics(*arrays[:, :8])
    assert seconds_of_others() - asleep < 2e-3


@pytest.mark.slow
def test_a_process_ends_while_workers_look_out_for_work():
    script = f"""
import numpy, screw_dynamics
robot = screw_dynamics.Robot.from_urdf({str(URDF / "double_pendulum.urdf")!r})
for _ in range(100):
    robot.gravity_torque(numpy.ones((20_000, 2)), threads=2)"""
    subprocess.run([sys.executable, "-c", script], check=True)


CORES = len(os.sched_getaffinity(0))


@pytest.mark.parametrize("settings, expected", [
    ({}, CORES), ({"NUMBA_NUM_THREADS": "1"}, 1), ({"OMP_NUM_THREADS": "1"}, 1), ({"OMP_NUM_THREADS": "999"}, CORES),
    ({"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "2"}, 1), ({"OMP_NUM_THREADS": "0"}, 1),
    ({"OMP_NUM_THREADS": ""}, CORES), ({"OMP_NUM_THREADS": "many"}, CORES)], ids=str)
def test_the_environment_limits_the_threads(monkeypatch, settings, expected):
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert available_threads() == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ["NUMBA_NUM_THREADS", "OMP_NUM_THREADS"])
def test_a_process_with_one_thread_starts_no_other(name):
    script = f"""
import threading, numpy, screw_dynamics
from screw_dynamics.compiled import calls, python_calls
robot = screw_dynamics.Robot.from_urdf({str(URDF / "double_pendulum.urdf")!r})
robot.gravity_torque(numpy.ones((200_000, 2)))
print(threading.active_count() + calls.calls.workers())"""
    environment = {**os.environ, name: "1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]


def test_after_a_failure_no_thread_is_at_work():
    """Or a thread could write into arrays that the caller believes to be his again."""
    caller, at_work, finished = threading.get_ident(), threading.Event(), threading.Event()

    def work(_):
        if threading.get_ident() == caller:
            at_work.wait(timeout=60)
            raise KeyError
        at_work.set()
        time.sleep(0.2)
        finished.set()
    with pytest.raises(KeyError):
        on_threads(work, range(2), 2)
    assert finished.is_set()


def test_after_a_failure_no_other_piece_is_begun():
    """Or who stops a long batch would wait for most of it."""
    caller, at_work, none_left, done = threading.get_ident(), threading.Barrier(2), threading.Event(), []

    class Pieces:
        def __init__(self):
            self.left = iter(range(1000))

        def __iter__(self):
            return self

        def __next__(self):
            for piece in self.left:
                return piece
            none_left.set()
            raise StopIteration

    def work(pieces):
        for piece in pieces:
            at_work.wait(timeout=60)
            if threading.get_ident() == caller:
                raise KeyError
            none_left.wait(timeout=60)
            done.append(piece)
    with pytest.raises(KeyError):
        on_threads(work, Pieces(), 2)
    assert len(done) == 1


@pytest.fixture
def ctrl_c():
    """SIGINT as KeyboardInterrupt, where the tests run in the background too and inherit that it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_who_is_interrupted_waits_for_the_others_all_the_same(ctrl_c):
    caller, at_work, finished = threading.get_ident(), threading.Event(), threading.Event()

    def work(_):
        if threading.get_ident() == caller:
            at_work.wait(timeout=60)
            return
        at_work.set()
        time.sleep(0.1)
        for _ in range(2):
            signal.pthread_kill(caller, signal.SIGINT)
            time.sleep(0.1)
        finished.set()
    with pytest.raises(KeyboardInterrupt):
        on_threads(work, range(2), 2)
    assert finished.is_set()


@pytest.mark.skipif(calls.calls is python_calls, reason="machine code alone runs on without Python")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_ends_at_ctrl_c(rng, ctrl_c, threads):
    """Between two pieces of it, on all threads; the next batch is as ever. A signal may come too late: then again."""
    q, = states(rng, ARM, 1, 300_000)
    expected, out, main = ARM.gravity_torque(q[:1000]), np.empty_like(q), threading.main_thread().ident

    def interrupt():
        while np.isnan(out[0, 0]):
            time.sleep(0)
        signal.pthread_kill(main, signal.SIGINT)

    def is_cut_short():
        out[:] = np.nan
        sender = threading.Thread(target=interrupt)
        sender.start()
        with pytest.raises(KeyboardInterrupt):
            ARM.gravity_torque(q, out=out, threads=threads)
            sender.join()
        sender.join()
        return np.isnan(out).any()
    calls.calls.configure(pause=0)
    try:
        assert any(is_cut_short() for _ in range(100))
    finally:
        calls.calls.configure(pause=50_000_000)
    assert (ARM.gravity_torque(q[:1000], threads=threads) == expected).all()


@pytest.mark.skipif(calls.calls is python_calls, reason="plain Python raises as it does anyway")
def test_what_a_kernel_raises_reaches_the_caller(rng):
    """Of one state and of a batch, on any thread, and the next call is as ever."""
    @compiled("a kernel that fails")
    def failing(memory, packed, x0, x1, x2, x3, x4, out):
        raise ArithmeticError("no result")
    address = calls.address_of(KernelSpec(failing, (types.intp,) * 8))
    robot = sd.Robot.from_urdf(URDF / "double_pendulum.urdf")
    q, = states(rng, robot, 1, 5000)
    robot.gravity_torque(q), robot.gravity_torque(q[0])
    kernel = robot._gravity_torque
    before = kernel.number, kernel.lanes
    kernel.number = kernel.lanes = address
    for given in (q[0], None), (q, 1), (q, 2), (q[:3], None):
        with pytest.raises(ArithmeticError, match="no result"):
            kernel(given[0], None, given[1])
    kernel.number, kernel.lanes = before
    assert (robot.gravity_torque(q)[0] == robot.gravity_torque(q[:1])).all()


def test_calls_keep_no_references(rng):
    """Neither those that succeed, nor those that are refused or raise."""
    q, qd = states(rng, ARM, 2, 64)
    out, wrong = np.empty_like(q), np.empty((64, ARM.n + 1))
    ARM.coriolis_torque(q, qd, out=out), ARM.coriolis_torque(q[0], qd[0])

    def counts():
        return [sys.getrefcount(x) for x in (q, qd, out, wrong, ARM._on_lanes.idle, None)]
    before, idle = counts(), len(ARM._on_lanes.idle)
    for _ in range(100):
        ARM._coriolis_torque(q, qd, out, None), ARM._coriolis_torque(q, qd, out, 1)
        assert ARM._coriolis_torque(q, wrong, out, None) is ARM._coriolis_torque(q, qd, q, None) is None
        assert ARM._coriolis_torque(q, qd, wrong, None) is ARM._coriolis_torque(q, qd, None, "two") is None
        with pytest.raises(TypeError, match="4 arguments"):
            ARM._coriolis_torque(q, qd, out)
    after = counts()
    assert after[:-1] == before[:-1] and abs(after[-1] - before[-1]) < 50 and len(ARM._on_lanes.idle) == idle


def test_one_robot_serves_several_threads_at_once(rng):
    batches = [states(rng, ARM, 3, count) for count in (1, 9, 3000, 5000)]
    expected = [(ARM.inverse_dynamics(*x), ARM.mass_matrix(x[0]), ARM.inverse_dynamics(*x[:, 0])) for x in batches]

    def call(i):
        x = batches[i % len(batches)]
        found = ARM.inverse_dynamics(*x), ARM.mass_matrix(x[0]), ARM.inverse_dynamics(*x[:, 0])
        return all((a == b).all() for a, b in zip(found, expected[i % len(batches)], strict=True))
    with ThreadPoolExecutor(4) as callers:
        assert all(callers.map(call, range(100)))


@pytest.mark.parametrize("start", ["fork", pytest.param("spawn", marks=pytest.mark.slow), "forkserver"])
def test_a_child_process_goes_on_with_the_robot(rng, start):
    """The threads of the parent do not live there."""
    q, = states(rng, ARM, 1, 20_000)
    expected = ARM.gravity_torque(q, threads=2)
    with multiprocessing.get_context(start).Pool(2) as children:
        results = [children.apply_async(ARM.gravity_torque, (q,), {"threads": 2}) for _ in range(3)]
        assert all((result.get(timeout=100) == expected).all() for result in results)
    assert (ARM.gravity_torque(q, threads=2) == expected).all()
