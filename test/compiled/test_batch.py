"""Batches: what single states give, for any number of states, in any memory layout, on any number of threads."""
import dataclasses
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.compiled import batch
from screw_dynamics.compiled.batch import TILE, available_threads, on_threads
from support.paths import URDF
from support.random_trees import model_of, random_tree
from support.real_robots import PATHS

PANDA = PATHS["panda_description/urdf/panda.urdf"]
PENDULUM_URDF = URDF / "double_pendulum.urdf"
rng = np.random.default_rng(4)
ROBOTS = {
    "arm": sd.Robot.from_urdf(PANDA, tip_link="panda_link8"),
    "arm with fingers, one a mimic": sd.Robot.from_urdf(PANDA),
    "tree": sd.Robot(model_of(random_tree(rng, 6), damping=0.3, friction=0.2)),
    "tree with mimics": sd.Robot(model_of(random_tree(rng, 6, mimics=2))),
    "no joint": sd.Robot(sd.ModelBuilder("root").build()),
}
ARM, PENDULUM = ROBOTS["arm"], sd.Robot.from_urdf(PENDULUM_URDF)
ROBOTS["pendulum, specialized"] = PENDULUM.specialize()

# Methods of states: how many arrays (..., n) each takes, and what else.
REPRESENTATIONS = ("body", "spatial", "hybrid", "mixed")
ABOUT = dict(link=-1, reference=1)
METHODS = {
    "inverse_dynamics": (3, {}), "gravity_torque": (1, {}), "coriolis_torque": (2, {}), "forward_dynamics": (3, {}),
    "mass_matrix": (1, {}), "coriolis_matrix": (2, {}), "kinetic_energy": (2, {}), "potential_energy": (1, {}),
    "friction_torque": (1, {}), "body_poses": (1, {}), "body_poses, spatial": (1, dict(form="spatial")),
    "forward_kinematics": (1, dict(link=-1)), "forward_kinematics, reference": (1, ABOUT),
    "external_torque": (1, dict(external=-1)), "inverse_dynamics, external": (3, dict(external=-1)),
    "forward_dynamics, external": (3, dict(external=-1)),
    **{f"jacobian, {form}": (1, dict(ABOUT, representation=form)) for form in REPRESENTATIONS},
    **{f"jacobian_derivative, {form}": (2, dict(ABOUT, representation=form)) for form in REPRESENTATIONS},
    **{f"body_twists, {form}": (2, dict(representation=form)) for form in REPRESENTATIONS},
    **{f"body_jacobians, {form}": (1, dict(representation=form)) for form in REPRESENTATIONS}}
OTHERS = {"from_urdf", "with_gravity", "with_payload", "specialize", "rollout"}


def method(robot, name):
    """The method of that name in METHODS with its other arguments, and how many arrays it takes."""
    inputs, options = METHODS[name]
    options = {key: value if isinstance(value, str) else robot.link_names[min(value, len(robot.link_names) - 1)]
               for key, value in options.items()}
    if "external" in options:
        options["external"] = {options["external"]: np.arange(6.0), robot.model.root: np.ones(6)}
    return lambda *states, **more: getattr(robot, name.partition(",")[0])(*states, **options, **more), inputs


def states(robot, inputs, *lead):
    """So many arrays (*lead, n) of random numbers."""
    return rng.normal(size=(inputs, *lead, robot.n))


def one_by_one(f, arrays):
    """f of each state by itself, as an array over the leading axes."""
    lead = arrays.shape[1:-1]
    results = np.array([f(*(x[index] for x in arrays)) for index in np.ndindex(lead)])
    return results.reshape(*lead, *results.shape[1:])


def assert_equal_to_rounding(found, expected):
    """Equal to 1e-12 of the largest number."""
    assert found.shape == expected.shape and found.dtype == float
    assert np.abs(found - expected).max(initial=0.0) <= 1e-12 * np.abs(expected).max(initial=0.0)


# ------------------------------------------------------------------------------------------------- values
def test_every_public_method_of_states_is_here():
    methods = {name for name in dir(sd.Robot) if not name.startswith("_") and callable(getattr(sd.Robot, name))}
    assert methods - OTHERS == {name.partition(",")[0] for name in METHODS}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_a_batch_is_its_states_one_by_one(robot, name):
    f, inputs = method(robot, name)
    for lead in ((1,), (7,), (8,), (9,), (2, 5), (3, 1, 7)):
        arrays = states(robot, inputs, *lead)
        assert_equal_to_rounding(f(*arrays), one_by_one(f, arrays))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_a_batch_of_no_states_has_no_results(robot, name):
    f, inputs = method(robot, name)
    shape = f(*states(robot, inputs)).shape
    for lead in ((0,), (3, 0), (0, 2)):
        assert f(*states(robot, inputs, *lead)).shape == (*lead, *shape)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "jacobian, hybrid"])
@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_4096_states(robot, name):
    f, inputs = method(robot, name)
    arrays = states(robot, inputs, 4096)
    assert_equal_to_rounding(f(*arrays), one_by_one(f, arrays))


def test_a_million_states():
    q, = states(PENDULUM, 1, 10**6)
    some = np.r_[0:9, 499_999:500_008, 999_990:10**6, rng.integers(0, 10**6, 1000)]
    assert_equal_to_rounding(PENDULUM.gravity_torque(q)[some], one_by_one(PENDULUM.gravity_torque, q[None, some]))


def test_leading_axes_broadcast():
    (q,), (qd,), (qdd,) = states(ARM, 1, 4, 1), states(ARM, 1, 3), states(ARM, 1)
    arrays = np.array(np.broadcast_arrays(q, qd, qdd))
    assert_equal_to_rounding(ARM.inverse_dynamics(q, qd, qdd), one_by_one(ARM.inverse_dynamics, arrays))


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("lead, loads", [((), (5,)), ((5,), ()), ((5,), (5,)), ((4, 1), (5,))])
def test_leading_axes_of_external_wrenches_broadcast(name, lead, loads):
    arrays, wrench = states(ARM, 3, *lead), rng.normal(size=(*loads, 6))
    expected = np.empty((*np.broadcast_shapes(lead, loads), ARM.n))
    for index in np.ndindex(expected.shape[:-1]):
        x = [np.broadcast_to(a, expected.shape)[index] for a in arrays]
        w = np.broadcast_to(wrench, (*expected.shape[:-1], 6))[index]
        expected[index] = getattr(ARM, name)(*x, {"panda_link5": w})
    out = np.empty_like(expected)
    assert getattr(ARM, name)(*arrays, {"panda_link5": wrench}, out=out) is out
    assert_equal_to_rounding(out, expected)
    assert_equal_to_rounding(getattr(ARM, name)(*arrays, {"panda_link5": wrench}), expected)


def test_a_state_that_is_not_finite_spoils_no_other():
    q, qd, qdd = states(ARM, 3, 16)
    q[3, 2], qd[4, 0], qdd[9, 6] = np.nan, np.inf, -np.inf
    found = ARM.inverse_dynamics(q, qd, qdd)
    fine = np.setdiff1d(np.arange(16), [3, 4, 9])
    assert not np.isfinite(found[[3, 4, 9]]).all(axis=1).any()
    assert_equal_to_rounding(found[fine], one_by_one(ARM.inverse_dynamics, np.array([q, qd, qdd])[:, fine]))


def test_bodies_may_have_their_coordinates_in_any_order():
    model, order = ROBOTS["tree"].model, np.array([2, 0, 5, 3, 1, 4])
    other, arrays = sd.Robot(dataclasses.replace(model, coordinates=order)), states(ROBOTS["tree"], 3, 9)
    found = other.inverse_dynamics(*arrays)
    assert_equal_to_rounding(found, one_by_one(other.inverse_dynamics, arrays))
    assert_equal_to_rounding(found[:, order], ROBOTS["tree"].inverse_dynamics(*arrays[..., order]))


# ------------------------------------------------------------------------------------------------- memory layouts
def inside(a):
    """The array within a larger one, at every second place of every axis."""
    frame = np.full([2 * n + 1 for n in a.shape], 77.0)
    view = frame[(slice(1, None, 2),) * a.ndim]
    view[...] = a
    return view


def unaligned(a):
    """The array as a field of records, at an odd address."""
    records = np.zeros(a.shape[:-1], [("flag", "u1"), ("x", "f8", a.shape[-1:])])
    records["x"] = a
    return records["x"]


def frozen(a):
    """The array read-only."""
    a = a.copy()
    a.setflags(write=False)
    return a


WRITABLE = {
    "contiguous": np.copy, "Fortran": np.asfortranarray, "every second": inside, "unaligned": unaligned,
    "backwards": lambda a: a[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
    "transposed leading axes": lambda a: a.swapaxes(0, 1).copy().swapaxes(0, 1),
    "last axis first": lambda a: np.moveaxis(np.moveaxis(a, -1, 0).copy(), 0, -1),
    "a row apart": lambda a: np.concatenate([a, a], axis=1)[:, :a.shape[1]]}
LAYOUTS = WRITABLE | {
    "read-only": frozen, "lists": np.ndarray.tolist, "one for all": lambda a: np.broadcast_to(a[:1, :1], a.shape),
    "one for each row": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "one for each column": lambda a: np.broadcast_to(a[:1], a.shape),
    **{dtype: lambda a, dtype=dtype: a.astype(dtype) for dtype in ("f2", "f4", ">f8", "g", "i1", "i8", ">i4")}}


@pytest.mark.parametrize("name", ["inverse_dynamics", "jacobian, body"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_inputs_may_lie_anyhow(layout, name):
    """To the bit as from contiguous float64; 2700 states are more than two tiles."""
    f, inputs = method(ARM, name)
    arrays = [LAYOUTS[layout](a) for a in rng.integers(-4, 5, size=(inputs, 3, 900, ARM.n)).astype(float)]
    assert (f(*arrays) == f(*(np.array(a, dtype=float, order="C") for a in arrays))).all()


@pytest.mark.parametrize("layout", ["every second", "unaligned", "read-only", "lists", "f4", "i8"])
def test_a_single_state_may_lie_anyhow(layout):
    q, qd, qdd = [LAYOUTS[layout](a) for a in rng.integers(-4, 5, size=(3, ARM.n)).astype(float)]
    assert (ARM.inverse_dynamics(q, qd, qdd) == ARM.inverse_dynamics(*np.array([q, qd, qdd], dtype=float))).all()


@pytest.mark.parametrize("name", ["gravity_torque", "mass_matrix", "forward_kinematics", "forward_dynamics"])
@pytest.mark.parametrize("layout", WRITABLE)
def test_results_may_lie_anyhow(layout, name):
    f, inputs = method(ARM, name)
    arrays = states(ARM, inputs, 3, 500)
    expected = f(*arrays)
    out = WRITABLE[layout](np.full(expected.shape, np.nan))
    assert f(*arrays, out=out) is out
    assert (out == expected).all()


def test_nothing_is_written_beside_the_results():
    q, = states(ARM, 1, 3, 500)
    for lead in (q, q[:, :9], q[0, 0]):
        out = inside(np.zeros(lead.shape))
        ARM.gravity_torque(lead, out=out)
        out[...] = 77
        assert (out.base == 77).all()


@pytest.mark.parametrize("name", METHODS)
def test_results_go_to_out(name):
    for lead in ((), (9,)):
        f, inputs = method(ARM, name)
        arrays = states(ARM, inputs, *lead)
        out = np.full_like(f(*arrays), np.nan)
        assert f(*arrays, out=out) is out
        assert (out == f(*arrays)).all()


@pytest.mark.parametrize("out", [
    np.zeros(6), np.zeros((2, 7)), np.zeros((9, 7), "f4"), np.zeros((9, 7), int), frozen(np.zeros((9, 7))), [0.0] * 7,
    np.zeros((7, 9)), np.zeros((9, 7), complex)], ids=lambda out: f"{getattr(out, 'dtype', 'list')} {np.shape(out)}")
def test_an_out_that_does_not_fit_is_refused(out):
    q, = states(ARM, 1, 9)
    for x in (q, q[0]):
        with pytest.raises(ValueError, match="out must be a writable float64 array of shape"):
            ARM.gravity_torque(x, out=out)


# Parts of x (3000, 7): a batch of q, and where the results go.
OVERLAPS = {
    "the same": lambda x: (x[1:], x[1:]), "one on": lambda x: (x[:-1], x[1:]), "one back": lambda x: (x[1:], x[:-1]),
    "backwards": lambda x: (x, x[::-1]), "all in one": lambda x: (np.broadcast_to(x[5], x.shape), x),
    "a joint on": lambda x: (x.ravel()[:-7].reshape(-1, 7), x.ravel()[1:-6].reshape(-1, 7))}


@pytest.mark.parametrize("overlap", OVERLAPS)
@pytest.mark.parametrize("threads", [1, 2])
def test_results_may_replace_the_inputs(overlap, threads):
    """As in NumPy: all is read as if before anything is written."""
    x, others = rng.normal(size=(3000, 7)), rng.normal(size=(2, 1, 7))
    q, out = OVERLAPS[overlap](x)
    expected = ARM.inverse_dynamics(q.copy(), *others)
    ARM.inverse_dynamics(q, *others, out=out, threads=threads)
    assert (out == expected).all()


@pytest.mark.parametrize("lead", [(), (9,)])
def test_results_may_replace_the_inputs_under_external_wrenches(lead):
    for name in ("inverse_dynamics, external", "forward_dynamics, external"):
        f, inputs = method(ARM, name)
        arrays = states(ARM, inputs, *lead)
        expected = f(*arrays)
        assert (f(*arrays, out=arrays[0]) == expected).all()


def test_rows_of_a_matrix_may_be_the_inputs_of_it():
    M, = states(ARM, 1, 1000, 7)
    expected = ARM.mass_matrix(M[:, 3].copy())
    assert (ARM.mass_matrix(M[:, 3], out=M) == expected).all()


# ------------------------------------------------------------------------------------------------- memory
def peak(f):
    """The most memory in bytes that a call takes at once, NumPy's arrays included."""
    f()                                                             # what is kept from the first call on
    tracemalloc.start()
    try:
        f()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "lists"])
def test_no_more_than_tiles_are_copied(layout):
    q, qd = (LAYOUTS[layout](a) for a in rng.integers(-4, 5, size=(2, 3, 40_000, 2)).astype(float))
    out = np.empty((3, 40_000, 2))
    tile = TILE * 2 * 8
    assert peak(lambda: PENDULUM.coriolis_torque(q, qd, out=out, threads=2)) < 2 * 6 * tile < out.nbytes / 8


@pytest.mark.parametrize("layout", WRITABLE)
def test_no_more_than_tiles_of_results_are_copied(layout):
    q, = states(PENDULUM, 1, 3, 40_000)
    out, tile = WRITABLE[layout](np.empty((3, 40_000, 2))), TILE * 2 * 8
    assert peak(lambda: PENDULUM.gravity_torque(q, out=out, threads=2)) < 2 * 6 * tile < out.nbytes / 8


# ------------------------------------------------------------------------------------------------- threads
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_threads_do_not_change_a_bit(name):
    f, inputs = method(ARM, name)
    arrays = states(ARM, inputs, 5001)
    expected = f(*arrays, threads=1)
    for threads in (2, 3, 64, None):
        assert (f(*arrays, threads=threads) == expected).all()


@pytest.mark.parametrize("threads", [0, -1, 1.5, np.nan, np.inf, "2", [1], (), 1j])
def test_threads_that_are_no_count_are_refused(threads):
    q, = states(ARM, 1, 9)
    with pytest.raises(ValueError, match="threads .* is not a whole number from 1 up"):
        ARM.gravity_torque(q, threads=threads)


class Watched:
    """A compiled entry point that calls `before` first."""

    def __init__(self, entry, before):
        self.overloads, self.entry, self.before = entry.overloads, entry, before

    def __call__(self, *arguments):
        self.before()
        self.entry(*arguments)


@pytest.mark.parametrize("threads", [1, 2, min(3, os.cpu_count())])
def test_so_many_threads_are_at_work(monkeypatch, threads):
    """Each waits until all are there."""
    arrays, seen = states(ARM, 3, 20_000), set()
    ARM.inverse_dynamics(*arrays)
    all_there = threading.Barrier(threads)

    def enter():
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            all_there.wait(timeout=60)
    monkeypatch.setattr(ARM._inverse_dynamics, "many", Watched(ARM._inverse_dynamics.many, enter))
    ARM.inverse_dynamics(*arrays, threads=threads)
    assert len(seen) == threads


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
robot = screw_dynamics.Robot.from_urdf({str(PENDULUM_URDF)!r})
robot.gravity_torque(numpy.ones((200_000, 2)))
print(threading.active_count())"""
    environment = {**os.environ, name: "1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]


def test_a_failure_on_another_thread_reaches_the_caller(monkeypatch):
    caller = threading.get_ident()

    def fail():
        if threading.get_ident() != caller:
            raise MemoryError("no room")
        time.sleep(0.05)
    arrays = states(ARM, 3, 20_000)
    ARM.inverse_dynamics(*arrays)
    monkeypatch.setattr(ARM._inverse_dynamics, "many", Watched(ARM._inverse_dynamics.many, fail))
    with pytest.raises(MemoryError, match="no room"):
        ARM.inverse_dynamics(*arrays, threads=2)


def test_after_a_failure_nobody_is_at_work_any_more():
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
    caller, at_work, done = threading.get_ident(), threading.Barrier(2), []

    def work(pieces):
        for piece in pieces:
            at_work.wait(timeout=60)
            if threading.get_ident() == caller:
                raise KeyError
            time.sleep(0.2)
            done.append(piece)
    with pytest.raises(KeyError):
        on_threads(work, range(1000), 2)
    assert len(done) == 1


def test_who_is_interrupted_waits_for_the_others_all_the_same():
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


def test_a_system_that_gives_no_threads_costs_time_alone(monkeypatch):
    class NoThread(threading.Thread):
        def start(self):
            raise RuntimeError("can't start new thread")
    q, = states(ARM, 1, 20_000)
    expected = ARM.gravity_torque(q, threads=2)
    monkeypatch.setattr(batch, "_pool", batch._Pool())
    monkeypatch.setattr(batch, "Thread", NoThread)
    assert (ARM.gravity_torque(q, threads=2) == expected).all()


def test_one_robot_serves_several_threads_at_once():
    batches = [states(ARM, 3, count) for count in (1, 9, 3000, 5000)]
    expected = [(ARM.inverse_dynamics(*x), ARM.mass_matrix(x[0]), ARM.inverse_dynamics(*x[:, 0])) for x in batches]

    def call(i):
        x = batches[i % len(batches)]
        found = ARM.inverse_dynamics(*x), ARM.mass_matrix(x[0]), ARM.inverse_dynamics(*x[:, 0])
        return all((a == b).all() for a, b in zip(found, expected[i % len(batches)], strict=True))
    with ThreadPoolExecutor(4) as callers:
        assert all(callers.map(call, range(100)))


@pytest.mark.parametrize("start", ["fork", pytest.param("spawn", marks=pytest.mark.slow), "forkserver"])
def test_a_child_process_goes_on_with_the_robot(start):
    """The threads of the parent do not live there."""
    q, = states(ARM, 1, 20_000)
    expected = ARM.gravity_torque(q, threads=2)
    with multiprocessing.get_context(start).Pool(2) as children:
        results = [children.apply_async(ARM.gravity_torque, (q,), {"threads": 2}) for _ in range(3)]
        assert all((result.get(timeout=100) == expected).all() for result in results)
    assert (ARM.gravity_torque(q, threads=2) == expected).all()
