"""Arrays that a caller passes: masked entries, and entries that have names, are refused by name, and results in arrays
that overlap are right, or refused. Oracle of the latter: the same call with arrays of its own, by NumPy's rule that all
is read before anything is written."""
import inspect

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.backends.gpu.gpu_robot import GpuRobot
from support.calls import ARM, CASES, FLOATING, LOOPS, Q, label, rare
from support.random_trees import model_of, random_tree


@pytest.mark.parametrize("function, given, name, value", [
    pytest.param(*case, marks=rare(case[0].__name__), id=f"{label(case[0])}, {case[2]}") for case in CASES])
def test_masked_entries_are_refused_by_name(function, given, name, value):
    mask = np.zeros(value.shape, dtype=bool)
    mask.flat[-1] = True
    masked = np.ma.MaskedArray(value, mask)
    for x in (masked, [*masked], tuple(masked)):
        with pytest.raises(ValueError, match="masked") as caught:
            function(**{**given, name: x})
        assert name in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("function, given, name, value", [case for case in CASES if case[0].__name__ in (
    "inverse_dynamics", "mass_matrix", "jacobian", "rollout", "friction_torque", "hybrid_dynamics")],
    ids=lambda x: label(x) if callable(x) else x if isinstance(x, str) else "")
def test_a_mask_of_nothing_masks_nothing(function, given, name, value):
    found, expected = function(**{**given, name: np.ma.MaskedArray(value, False)}), function(**given)
    found, expected = ((x,) if isinstance(x, np.ndarray) else x for x in (found, expected))
    for a, b in zip(found, expected, strict=True):
        assert type(a) is np.ndarray and (a == b).all()


def test_masked_arrays_within_others_are_refused(rng):
    q, masked = rng.normal(size=(2, 3)), np.ma.MaskedArray(np.zeros(6), [0, 0, 1, 0, 0, 0])
    with pytest.raises(ValueError, match=r"the wrench on link 'gripper' is masked at \[2\], 1 of 6 entries"):
        ARM.inverse_dynamics(*q[[0, 0, 0]], {"gripper": masked})
    with pytest.raises(ValueError, match=r"q is masked at \[2\]"):
        ARM.gravity_torque([[0.0, 0.0, 0.0], masked[:3]])
    with pytest.raises(ValueError, match="q is masked"):
        ARM.gravity_torque([0.0, np.ma.masked, 0.0])
    with pytest.raises(ValueError, match="masked"):
        sd.se3.exp(masked)
    with pytest.raises(ValueError, match="out must be a writable float64 or float32 array of .*, not masked float64"):
        ARM.gravity_torque(q[0], out=masked[:3])


# ------------------------------------------------------------------------------------------------- names of entries
@pytest.mark.parametrize("function, given, name, value", [
    pytest.param(*case, marks=rare(case[0].__name__), id=f"{label(case[0])}, {case[2]}")
    for case in CASES if case[3].ndim])
def test_entries_that_have_names_are_refused_by_name(function, given, name, value):
    """Which NumPy would take in the order that they have."""
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    names = [f"joint{k}" for k in range(value.shape[-1])]
    many = pd.DataFrame(np.atleast_2d(value), columns=names)
    one = many.iloc[0]
    for x in ([many] if value.ndim > 1 else [one, [one, one]]):
        with pytest.raises(ValueError, match=f"{name}.* have names.*joint0.* pass .to_numpy()"):
            function(**{**given, name: x})
    of_others = xr.DataArray(value, dims=("row",) * (value.ndim - 1) + ("joint",), coords={"joint": names})
    with pytest.raises(ValueError, match=f"{name} has no joint|{name} .* have names|xarray|must have one 'coordinate'"):
        function(**{**given, name: of_others})


@pytest.mark.parametrize("dtype", [float, np.float32, int])
def test_series_and_tables_without_names_are_arrays(rng, dtype):
    pd = pytest.importorskip("pandas")
    q = rng.uniform(-3.0, 3.0, (4, 3)).astype(dtype)
    times = pd.date_range("2026-01-01", periods=4)
    found, expected, one = ARM.gravity_torque(pd.DataFrame(q, times)), ARM.gravity_torque(q), ARM.gravity_torque(q[0])
    assert type(found) is np.ndarray and (found == expected).all()
    for index in (None, times[:3], times[:3].tz_localize("UTC"), pd.period_range("2026-01-01", periods=3, freq="h"),
                  pd.Index([1, 2, 3], dtype=object)):
        found = ARM.gravity_torque(pd.Series(q[0], index))
        assert type(found) is np.ndarray and (found == one).all()


def test_times_of_a_recording_may_be_those_of_a_table():
    """A column of a table over times of the calendar, which name no entries."""
    pd = pytest.importorskip("pandas")
    t, motion = np.linspace(0.0, 1.0, 5), np.zeros((5, 3))
    column = pd.Series(t, pd.date_range("2026-01-01", periods=5, tz="UTC"))
    found, expected = ARM.energy_balance(column, motion, motion), ARM.energy_balance(t, motion, motion)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.slow
def test_names_in_columns_efforts_and_elements_are_refused():
    pd, da = pytest.importorskip("pandas"), pytest.importorskip("dask.array")
    efforts, wrench = pd.Series([1.0, 2.0, 3.0], ["c", "a", "b"]), pd.Series(np.ones(6), list("fedcba"))
    with pytest.raises(ValueError, match=r"effort is a Series .*names, \['c', 'a', 'b'\]"):
        LOOPS.rollout(0 * Q, 0 * Q, lambda t, q, qd: efforts, steps=2, integrator="rk4")
    with pytest.raises(ValueError, match="effort is a Series whose entries have names"):
        ARM.rollout(da.zeros((2, 3)), da.zeros((2, 3)), efforts, steps=2)
    with pytest.raises(ValueError, match="wrench of LinkWrench is a Series whose entries have names"):
        sd.forces.LinkWrench("gripper", wrench)
    with pytest.raises(ValueError, match="the wrench on link 'gripper' is a Series whose entries have names"):
        ARM.external_torque(Q, {"gripper": wrench})
    with pytest.raises(ValueError, match="payload: com is a Series whose entries have names"):
        ARM.with_payload("gripper", 1.0, efforts)
    with pytest.raises(ValueError, match="q must be made of real numbers, not {'c': 1.0, 'a': 2.0, 'b': 3.0}"):
        ARM.gravity_torque(efforts.to_dict())


# ------------------------------------------------------------------------------------------------- results
TREES = [ARM, FLOATING, sd.Robot(model_of(random_tree(np.random.default_rng(5), 4, 1)))]
LOAD = {"gripper": np.arange(1.0, 7.0)}
# Name: (function of a robot with `out`, names of its arrays, what else it gets).
WITH_OUT = {
    name: (name, inputs, {}) for name, inputs in {
        "inverse_dynamics": "q qd qdd", "forward_dynamics": "q qd tau", "gravity_torque": "q",
        "coriolis_torque": "q qd", "mass_matrix": "q", "coriolis_matrix": "q qd", "friction_torque": "qd",
        "center_of_mass": "q", "center_of_mass_jacobian": "q", "center_of_mass_velocity": "q qd",
        "center_of_mass_acceleration": "q qd qdd", "composite_inertia": "q", "average_twist": "q qd",
        "centroidal_momentum": "q qd", "centroidal_momentum_matrix": "q",
        "centroidal_momentum_matrix_derivative": "q qd", "centroidal_momentum_rate": "q qd qdd",
        "kinetic_energy": "q qd", "potential_energy": "q", "body_poses": "q", "body_twists": "q qd",
        "body_jacobians": "q", "torque_regressor": "q qd qdd", "momentum_regressor": "q qd",
        "kinetic_energy_regressor": "q qd", "potential_energy_regressor": "q",
        "inverse_dynamics_derivatives": "q qd qdd", "forward_dynamics_derivatives": "q qd tau",
        "inverse_dynamics_second_derivatives": "q qd qdd", "forward_dynamics_second_derivatives": "q qd tau",
        "inverse_dynamics_time_derivatives": "q qd qdd qddd"}.items()} | {
    f"{name}, {option}": (name, inputs, options) for name, inputs, option, options in [
        ("torque_regressor", "q qd qdd", "friction", {"friction": True}),
        ("inverse_dynamics", "q qd qdd", "load", {"external": LOAD}),
        ("forward_dynamics", "q qd tau", "load", {"external": LOAD}),
        ("external_torque", "q", "load", {"external": LOAD}),
        ("inverse_dynamics_derivatives", "q qd qdd", "load", {"external": LOAD}),
        ("forward_dynamics_derivatives", "q qd tau", "load", {"external": LOAD}),
        ("inverse_dynamics_second_derivatives", "q qd qdd", "load", {"external": LOAD}),
        ("forward_dynamics_second_derivatives", "q qd tau", "load", {"external": LOAD}),
        ("inverse_dynamics_time_derivatives", "q qd qdd qddd", "load", {"external": LOAD}),
        *((name, inputs, "link", {"link": "gripper"}) for name, inputs in [
            ("forward_kinematics", "q"), ("jacobian", "q"), ("jacobian_derivative", "q qd"), ("kinematic_hessian", "q"),
            ("link_acceleration", "q qd qdd"), ("link_jerk", "q qd qdd qddd"), ("link_snap", "q qd qdd qddd qdddd"),
            ("jacobian_second_derivative", "q qd qdd")])]}
STACKED = {"inverse_dynamics_derivatives": -3, "forward_dynamics_derivatives": -3,
           "inverse_dynamics_second_derivatives": -4, "forward_dynamics_second_derivatives": -4,
           "inverse_dynamics_time_derivatives": -2}
PAIRS = {"hybrid_dynamics": ("q qd qdd tau", {"driven": ["lift"]}), "step": ("q qd effort", {"dt": 1e-2}),
         "linearize": ("q qd tau", {})}


def test_all_methods_with_out_are_tried():
    taking = {name for name, method in inspect.getmembers(sd.Robot, inspect.isfunction)
              if "out" in inspect.signature(method).parameters and not name.startswith("_")}
    assert taking == {name for name, *_ in WITH_OUT.values()} | set(PAIRS)


@pytest.mark.parametrize("cls", [sd.Robot, sd.ClosedLoopRobot, sd.Scene, GpuRobot])
def test_out_and_threads_are_given_by_name(cls):
    """An input too many would be overwritten otherwise."""
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        for option in {"out", "threads"}.intersection(inspect.signature(method).parameters):
            if not name.startswith("_"):
                assert inspect.signature(method).parameters[option].kind is inspect.Parameter.KEYWORD_ONLY, name


def test_an_input_too_many_is_not_overwritten():
    q, qd = np.zeros(ARM.n), np.ones(ARM.n)
    with pytest.raises(TypeError, match=r"Robot.gravity_torque\(\) takes"):
        ARM.gravity_torque(q, qd)
    assert (qd == 1.0).all()


def state(rng, lead, names):
    return {name: rng.uniform(-1.0, 1.0, (*lead, ARM.n)) for name in names.split()}


def whole(name, found):
    """The results of a method as one array, as `out` has them."""
    return np.stack(found, axis=STACKED[name]) if name in STACKED else np.asarray(found)


# Batches of these are compiled by make setup, of the others when they are first called.
BEFOREHAND = {
    "gravity_torque", "coriolis_torque", "coriolis_matrix", "mass_matrix", "inverse_dynamics", "forward_dynamics",
    "kinetic_energy", "potential_energy", "forward_kinematics, link", "jacobian, link", "inverse_dynamics, load",
    "forward_dynamics, load", "external_torque, load"}


@pytest.mark.parametrize("call, lead", [
    pytest.param(call, lead, marks=[pytest.mark.slow] * (bool(lead) and call not in BEFOREHAND) or rare(
        WITH_OUT[call][0])) for call in WITH_OUT for lead in ((), (3,), (20,))])
def test_results_over_inputs_are_right(rng, call, lead):
    """`out` begins in each input, some numbers before it, or some behind."""
    name, names, options = WITH_OUT[call]
    method, given = getattr(ARM, name), state(rng, lead, names)
    expected = whole(name, method(**given, **options))
    for overlapped in given:
        x = given[overlapped]
        for shift in (-2, 0, 1, x.size - 1):
            memory = np.zeros(4 + abs(shift) + x.size + expected.size)
            start = max(0, -shift)
            held, out = memory[start:start + x.size].reshape(x.shape), memory[start + shift:start + shift
                                                                              + expected.size].reshape(expected.shape)
            held[...] = x
            method(**{**given, overlapped: held}, **options, out=out)
            assert (out == expected).all(), (overlapped, shift)


def within_itself(shape):
    """Arrays of a shape whose entries share memory."""
    memory = np.zeros(int(np.prod(shape)) + 8)
    axis = int(np.argmax([n > 1 for n in shape]))
    one_for_all, half = ([8 * int(np.prod(shape[k + 1:])) for k in range(len(shape))] for _ in range(2))
    one_for_all[axis] = 0
    half[-1 if shape[-1] > 1 else axis] = 4
    return [np.lib.stride_tricks.as_strided(memory, shape, strides) for strides in (one_for_all, half)]


@pytest.mark.parametrize("call, lead", [
    pytest.param(call, lead, marks=rare(WITH_OUT[call][0]) or [pytest.mark.slow] * (
        bool(lead) and call not in BEFOREHAND)) for call in WITH_OUT for lead in ((), (3,))])
def test_an_out_that_overlaps_itself_is_refused(rng, call, lead):
    name, names, options = WITH_OUT[call]
    method, given = getattr(ARM, name), state(rng, lead, names)
    shape = whole(name, method(**given, **options)).shape
    for out in within_itself(shape) if np.prod(shape) > 1 else ():
        with pytest.raises(ValueError, match="out must not overlap itself"):
            method(**given, **options, out=out)


def test_entries_may_interleave_without_overlapping(rng):
    """Strides of 3 and 2 numbers for shape (2, 2): 0, 2, 3 and 5, none of them twice, and in no nested order."""
    q = rng.uniform(-1.0, 1.0, (2, 2))
    arm = sd.Robot.from_urdf(sd.__path__[0] + "/../urdf/double_pendulum.urdf")
    out = np.lib.stride_tricks.as_strided(np.zeros(8), (2, 2), (24, 16))
    assert (arm.gravity_torque(q, out=out) == arm.gravity_torque(q)).all()


def test_windows_that_slide_over_numbers_overlap(rng):
    out = np.lib.stride_tricks.sliding_window_view(np.zeros(5), 3, writeable=True)
    with pytest.raises(ValueError, match="out must not overlap itself"):
        ARM.gravity_torque(rng.uniform(-1.0, 1.0, (3, 3)), out=out)


@pytest.mark.parametrize("name", [pytest.param(name, marks=rare(name)) for name in PAIRS])
@pytest.mark.parametrize("lead", [(), (3,)])
def test_two_results_have_memory_of_their_own(rng, name, lead):
    names, options = PAIRS[name]
    method, given = getattr(ARM, name), state(rng, lead, names)
    first, second = (x.shape for x in method(**given, **options)[:2])
    size = int(np.prod(first))
    memory = np.zeros(2 * size + int(np.prod(second)))
    one = memory[:size].reshape(first)
    for start in (0, 1, size - 1):
        other = memory[start:start + int(np.prod(second))].reshape(second)
        for pair in ((one, other), [one, other]):
            with pytest.raises(ValueError, match="out must be two arrays .* that share no mem"):
                method(**given, **options, out=pair)


@pytest.mark.parametrize("name", [pytest.param(name, marks=rare(name)) for name in ("hybrid_dynamics", "step")])
@pytest.mark.parametrize("lead", [(), (3,)])
def test_two_results_may_replace_the_inputs(rng, name, lead):
    names, options = PAIRS[name]
    method, given = getattr(ARM, name), state(rng, lead, names)
    expected = method(**given, **options)
    first, second = ("qdd", "tau") if name == "hybrid_dynamics" else ("q", "qd")
    efforts = names.split()[-1]
    for pair in ((first, second), (second, first), (efforts, first), ("qd", efforts)):
        held = {key: x.copy() for key, x in given.items()}
        found = method(**held, **options, out=tuple(held[key] for key in pair))
        assert all((a == b).all() for a, b in zip(found, expected, strict=True)), pair
