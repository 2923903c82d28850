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

from screw_dynamics.compiled import batch, workers
from screw_dynamics.compiled import threads as pool
from screw_dynamics.compiled.interrupt import now
from screw_dynamics.compiled.native import address, array_at
from screw_dynamics.compiled.threads import available_threads, on_threads
from screw_dynamics.compiled.workspace import header
from screw_dynamics.kernel_cache.cache import compiled, prepare
from screw_dynamics.numbers.values import PLAIN, kernel
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


class Watched:
    """A compiled entry point that calls `before` first."""

    def __init__(self, entry, before):
        self.entry, self.before = entry, before

    def __call__(self, *arguments):
        self.before()
        self.entry(*arguments)


@pytest.mark.parametrize("threads", [count for count in (1, 2, 3) if count <= os.cpu_count()])
def test_so_many_threads_are_at_work(rng, monkeypatch, threads):
    """Each waits until all are there. Machine code has workers of its own for contiguous arrays: below."""
    arrays, seen = states(rng, ARM, 3, 20_000)[:, ::-1], set()
    ARM.inverse_dynamics(*arrays)
    all_there = threading.Barrier(threads)

    def enter():
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            all_there.wait(timeout=60)
    monkeypatch.setattr(ARM._inverse_dynamics, "many", Watched(ARM._inverse_dynamics.many, enter))
    ARM.inverse_dynamics(*arrays, threads=threads)
    assert len(seen) == threads


def worker_seconds():
    """The processor time that the first worker has taken."""
    thread, = (x for x in threading.enumerate() if x.name == "screw_dynamics_worker_0")
    return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))


@pytest.mark.skipif(os.cpu_count() == 1, reason="workers need cores")
def test_workers_work_where_they_are_asked_to_and_sleep_otherwise(rng):
    """A worker looks out for work for a fraction of a millisecond, and then takes no time."""
    arrays = states(rng, ARM, 3, 100_000)
    ARM.inverse_dynamics(*arrays, threads=2)
    batches, started = 0, worker_seconds()
    while worker_seconds() - started < 0.02 + 0.3e-3 * batches:
        ARM.inverse_dynamics(*arrays, threads=2)
        batches += 1
    asleep = 0.0
    while asleep != worker_seconds():
        asleep = worker_seconds()
        time.sleep(0.02)
    ARM.inverse_dynamics(*arrays, threads=1)
    ARM.inverse_dynamics(*arrays[:, :8])
    assert worker_seconds() == asleep


@kernel
def late(word, worker):
    """Here, wait until a worker is at work; the worker goes on for 20 ms, and then says that it is done."""
    words = array_at(0, word, (2,))
    if worker < 0:
        while workers.look(word) == 0:
            workers.step_aside()
    else:
        workers.put(word, 1)
        end = now() + 20_000_000
        while now() < end:
            workers.step_aside()
        words[1] = 1


@pytest.mark.skipif(os.cpu_count() == 1 or PLAIN, reason="workers need cores, and machine code")
def test_a_call_ends_when_its_workers_have():
    """However late they are: what they write is there when the call returns, every time."""
    function = compiled("a late worker")(lambda word, worker: late(word, worker))
    call = compiled("a call with a late worker")(
        lambda words, function, argument: workers.call_together(words, 1, True, function, argument))
    work, together = address(prepare(function, (types.intp,) * 2)), prepare(call, (types.intp,) * 3).entry_point
    assert workers.WORKERS.grow(1) == 1
    for _ in range(3):
        words = np.zeros(2, dtype=np.int64)
        assert together(workers.WORKERS.address, work, words.ctypes.data)
        assert words.tolist() == [1, 1]


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


@pytest.mark.parametrize("name", ["NUMBA_NUM_THREADS", "OMP_NUM_THREADS"])
def test_a_process_with_one_thread_starts_no_other(name):
    script = f"""
import threading, numpy, screw_dynamics
robot = screw_dynamics.Robot.from_urdf({str(URDF / "double_pendulum.urdf")!r})
robot.gravity_torque(numpy.ones((200_000, 2)))
print(threading.active_count())"""
    environment = {**os.environ, name: "1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]


def test_a_failure_on_another_thread_reaches_the_caller(rng, monkeypatch):
    caller, at_work = threading.get_ident(), threading.Event()

    def fail():
        if threading.get_ident() != caller:
            at_work.set()
            raise MemoryError("no room")
        at_work.wait(timeout=60)
    arrays = states(rng, ARM, 3, 20_000)[:, ::-1]
    ARM.inverse_dynamics(*arrays)
    monkeypatch.setattr(ARM._inverse_dynamics, "many", Watched(ARM._inverse_dynamics.many, fail))
    with pytest.raises(MemoryError, match="no room"):
        ARM.inverse_dynamics(*arrays, threads=2)


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


def test_a_system_that_gives_no_threads_costs_time_alone(rng, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")
    q, = states(rng, ARM, 1, 20_000)
    expected = ARM.gravity_torque(q, threads=2)
    monkeypatch.setattr(pool, "_pool", pool._new_pool())
    monkeypatch.setattr(batch, "WORKERS", workers.Workers())
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert (ARM.gravity_torque(q, threads=2) == expected).all()
    assert (ARM.gravity_torque(q[::-1], threads=2) == expected[::-1]).all()


def test_an_interrupt_while_a_worker_starts_leaves_one_thread_for_its_work(monkeypatch):
    """Two that serve one line would look out for work forever."""
    class Interrupted(threading.Thread):
        def start(self):
            super().start()
            raise KeyboardInterrupt
    monkeypatch.setattr(workers.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(workers, "Thread", Interrupted)
    alone, before = workers.Workers(), threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        alone.grow(1)
    assert alone.grow(1) == len(alone) == threading.active_count() - before == 1
    alone.end()
    assert threading.active_count() == before


def test_threads_that_come_at_once_get_one_workspace(monkeypatch):
    both, make = threading.Barrier(2), batch.workspace

    def slowly(*arguments):
        if sys.version_info >= (3, 12):                     # until then a property is computed once anyway
            both.wait(timeout=60)
        return make(*arguments)
    monkeypatch.setattr(batch, "workspace", slowly)
    workspaces = batch.Workspaces(ARM.tables)
    with ThreadPoolExecutor(2) as callers:
        first, second = callers.map(lambda _: workspaces.memory, range(2))
    assert first is second


@pytest.mark.skipif(not hasattr(os, "fork"), reason="without fork")
def test_a_fork_leaves_the_workspace_free_of_which_another_thread_was_at_work(rng):
    """That thread does not live in the child, and would not give it back."""
    arrays = states(rng, ARM, 3, 64)
    expected, workspaces = ARM.inverse_dynamics(*arrays), ARM._on_lanes
    mark = header(workspaces.memory).batch

    def at_once(arrays):
        found = batch.evaluate_rows(ARM._inverse_dynamics, workspaces, (ARM.n,), (), tuple(arrays), None, 1)
        return found is not None and (found == expected).all()
    mark.busy = workers.WORKERS.address
    try:
        assert not at_once(arrays)
        child = multiprocessing.get_context("fork").Process(target=lambda: os._exit(0 if at_once(arrays) else 1))
        child.start()
        child.join(60)
        assert child.exitcode == 0
    finally:
        mark.busy = 0
    assert at_once(arrays)


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
