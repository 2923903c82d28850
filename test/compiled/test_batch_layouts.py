"""Batches in any memory layout, with results in arrays of the caller, and how much memory they take."""
import tracemalloc
from itertools import product

import numpy as np
import pytest

from screw_dynamics.compiled import calls
from support.batches import ARM, EACH_METHOD, PENDULUM, method, states


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
def test_inputs_may_have_any_layout(rng, layout, name, monkeypatch):
    """To the bit as from contiguous float64; more states than are copied at once."""
    monkeypatch.setattr(calls, "TILE", 100)
    f, inputs = method(ARM, name)
    arrays = [LAYOUTS[layout](a) for a in rng.integers(-4, 5, size=(inputs, 3, 90, ARM.n)).astype(float)]
    assert (f(*arrays) == f(*(np.array(a, dtype=float, order="C") for a in arrays))).all()


@pytest.mark.parametrize("layout", ["every second", "unaligned", "read-only", "lists", "f4", "i8"])
def test_a_single_state_may_have_any_layout(rng, layout):
    q, qd, qdd = [LAYOUTS[layout](a) for a in rng.integers(-4, 5, size=(3, ARM.n)).astype(float)]
    assert (ARM.inverse_dynamics(q, qd, qdd) == ARM.inverse_dynamics(*np.array([q, qd, qdd], dtype=float))).all()


@pytest.mark.parametrize("name", ["gravity_torque", "mass_matrix", "forward_kinematics", "forward_dynamics"])
@pytest.mark.parametrize("layout", WRITABLE)
def test_results_may_have_any_layout(rng, layout, name):
    f, inputs = method(ARM, name)
    arrays = states(rng, ARM, inputs, 3, 500)
    expected = f(*arrays)
    out = WRITABLE[layout](np.full(expected.shape, np.nan))
    assert f(*arrays, out=out) is out
    assert (out == expected).all()


def test_nothing_is_written_beside_the_results(rng):
    q, = states(rng, ARM, 1, 3, 500)
    for lead in (q, q[:, :9], q[0, 0]):
        out = inside(np.zeros(lead.shape))
        ARM.gravity_torque(lead, out=out)
        out[...] = 77
        assert (out.base == 77).all()


@EACH_METHOD
def test_results_go_to_out(rng, name):
    for lead in ((), (9,)):
        f, inputs = method(ARM, name)
        arrays = states(rng, ARM, inputs, *lead)
        out = np.full_like(f(*arrays), np.nan)
        assert f(*arrays, out=out) is out
        assert (out == f(*arrays)).all()


@pytest.mark.parametrize("out", [
    np.zeros(6), np.zeros((2, 7)), np.zeros((9, 7), "f2"), np.zeros((9, 7), int), frozen(np.zeros((9, 7))), [0.0] * 7,
    np.zeros((7, 9)), np.zeros((9, 7), complex)], ids=lambda out: f"{getattr(out, 'dtype', 'list')} {np.shape(out)}")
def test_an_out_that_does_not_fit_is_refused(rng, out):
    q, = states(rng, ARM, 1, 9)
    for x in (q, q[0]):
        with pytest.raises(ValueError, match="out must be a writable float64 or float32 array of shape"):
            ARM.gravity_torque(x, out=out)


# Parts of x (3000, 7): a batch of q, and where the results go.
OVERLAPS = {
    "the same": lambda x: (x[1:], x[1:]), "one on": lambda x: (x[:-1], x[1:]), "one back": lambda x: (x[1:], x[:-1]),
    "backwards": lambda x: (x, x[::-1]), "all in one": lambda x: (np.broadcast_to(x[5], x.shape), x),
    "a joint on": lambda x: (x.ravel()[:-7].reshape(-1, 7), x.ravel()[1:-6].reshape(-1, 7))}


@pytest.mark.parametrize("overlap", OVERLAPS)
@pytest.mark.parametrize("threads", [1, 2])
def test_results_may_replace_the_inputs(rng, overlap, threads):
    """As in NumPy: all is read as if before anything is written."""
    x, others = rng.normal(size=(3000, 7)), rng.normal(size=(2, 1, 7))
    q, out = OVERLAPS[overlap](x)
    expected = ARM.inverse_dynamics(q.copy(), *others)
    ARM.inverse_dynamics(q, *others, out=out, threads=threads)
    assert (out == expected).all()


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0, 1, 7, 7 * 20, 7 * 199, 7 * 200 - 1])
@pytest.mark.parametrize("name, dtype", [("inverse_dynamics", float), ("gravity_torque", np.float32)])
@pytest.mark.parametrize("threads", [1, None])
def test_any_number_that_results_share_with_an_input_is_read_before(rng, shift, name, dtype, threads):
    """Results may begin anywhere in any input, and any input anywhere in the results."""
    (f, inputs), size = method(ARM, name), 7 * 200
    for k, input_is_first in product(range(inputs), (True, False)):
        memory, arrays = rng.normal(size=2 * size).astype(dtype), [*states(rng, ARM, inputs, 200).astype(dtype)]
        one, other = (memory[at:at + size].reshape(200, 7) for at in (0, shift))
        arrays[k], out = (one, other) if input_is_first else (other, one)
        expected = f(*(x.copy() for x in arrays), out=np.empty_like(one))
        assert f(*arrays, out=out, threads=threads) is out
        assert (out == expected).all(), (k, input_is_first)


@pytest.mark.parametrize("lead", [(), (9,)])
def test_results_may_replace_the_inputs_under_external_wrenches(rng, lead):
    for name in ("inverse_dynamics, external", "forward_dynamics, external"):
        f, inputs = method(ARM, name)
        arrays = states(rng, ARM, inputs, *lead)
        expected = f(*arrays)
        assert (f(*arrays, out=arrays[0]) == expected).all()


def test_rows_of_a_matrix_may_be_the_inputs_of_it(rng):
    M, = states(rng, ARM, 1, 1000, 7)
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


TILE = 512      # rows, in place of more: kernels may be plain Python


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "lists"])
def test_no_more_than_tiles_are_copied(rng, layout, monkeypatch):
    monkeypatch.setattr(calls, "TILE", TILE)
    q, qd = (LAYOUTS[layout](a) for a in rng.integers(-4, 5, size=(2, 3, 40 * TILE, 2)).astype(float))
    out = np.empty((3, 40 * TILE, 2))
    tile = TILE * 2 * 8
    assert peak(lambda: PENDULUM.coriolis_torque(q, qd, out=out, threads=2)) < 8 * tile < out.nbytes / 8


@pytest.mark.parametrize("layout", WRITABLE)
def test_no_more_than_tiles_of_results_are_copied(rng, layout, monkeypatch):
    monkeypatch.setattr(calls, "TILE", TILE)
    q, = states(rng, PENDULUM, 1, 3, 40 * TILE)
    out, tile = WRITABLE[layout](np.empty((3, 40 * TILE, 2))), TILE * 2 * 8
    assert peak(lambda: PENDULUM.gravity_torque(q, out=out, threads=2)) < 8 * tile < out.nbytes / 8
