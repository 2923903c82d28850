"""Campaigns in one process: designs, verdicts, and failures whose cause is known."""
import math
import re
import sys
from functools import partial

import numpy as np
import pytest
from scipy import stats

import screw_dynamics as sd
from screw_dynamics.recordings.campaigns.cases import judged
from screw_dynamics.recordings.campaigns.dependence import dependences
from screw_dynamics.recordings.campaigns.designs import DESIGNS, shares
from screw_dynamics.recordings.campaigns.digests import digest_of
from screw_dynamics.recordings.campaigns.drawn import drawn
from screw_dynamics.recordings.campaigns.parameters import parameters_of
from screw_dynamics.recordings.campaigns.plan import Plan
from screw_dynamics.recordings.campaigns.report import page
from support.campaign_scenarios import (
    FASTEST,
    LENGTH,
    G,
    below_one,
    bob,
    decay,
    expected_margin,
    hidden_state,
    not_too_fast,
    pendulum,
)

HEIGHTS = {"height": (0.0, 2.0), "unused": (-1.0, 1.0), "mode": ["slow", "fast", None]}


def test_failures_of_a_pendulum_are_those_of_its_energy():
    """It is too fast from a certain angle on, whatever its mass, and the margin is that of the closed form."""
    found = sd.campaign(pendulum, {"angle": (0.2, 3.0), "mass": (0.0, 4.0)}, [not_too_fast], 40)
    limit = math.acos(1.0 - FASTEST**2 * LENGTH / (2.0 * G))
    angle = found.table["angle"]
    assert found.failures == np.flatnonzero(angle > limit).tolist() and 5 < len(found.failures) < 35
    assert found.table["not_too_fast"] == pytest.approx(expected_margin(angle), abs=1e-3)
    first, second = dependences(found)
    assert (first.parameter, first.difference) == ("angle", 1.0) and first.p < 1e-6
    assert second.parameter == "mass" and second.p > 0.01


# ------------------------------------------------------------------------------------------------- designs
def values(design, count, **varies):
    return np.array([list(case.parameters.values()) for case in sd.campaign(
        decay, {"height": (0.0, 1.0), **varies}, [below_one], count, design).cases])


def test_a_latin_hypercube_has_each_part_of_each_parameter_once():
    found = values("latin_hypercube", 50, normal=stats.norm(3.0, 2.0), whole=range(5))
    parts = np.sort(np.floor(50 * found[:, 0])), np.sort(np.floor(50 * stats.norm.cdf(found[:, 1], 3.0, 2.0)))
    assert np.array_equal(parts[0], np.arange(50)) and np.array_equal(parts[1], np.arange(50))
    assert np.array_equal(np.bincount(found[:, 2].astype(int)), [10] * 5)


def test_sobol_is_balanced_and_more_even_than_random_points():
    """2^k points: one in each of 2^k equal boxes of each shape, in two dimensions."""
    parameters = parameters_of({"a": (0.0, 1.0), "b": (0.0, 1.0)})
    points = shares(parameters, "sobol", 64, 3, 1)
    for k in range(7):
        cells = np.floor(points * [2**k, 2**(6 - k)]) @ [2**(6 - k), 1]
        assert np.array_equal(np.sort(cells), np.arange(64)), k
    by_chance = shares(parameters, "random", 64, 3, 1)
    assert stats.qmc.discrepancy(points) < 0.3 * stats.qmc.discrepancy(by_chance)


def test_random_points_have_the_distribution():
    found = values("random", 2000, wait=stats.expon(scale=2.0))
    assert stats.kstest(found[:, 1], stats.expon(scale=2.0).cdf).pvalue > 0.01
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.08


def test_the_cases_of_a_test_draw_their_design_once(monkeypatch):
    drawings = []

    def counted(d, count, seed):
        drawings.append(seed)
        return np.random.default_rng(seed).random((count, d))

    monkeypatch.setitem(DESIGNS, "random", counted)
    ranges = {"a": (0.0, 1.0), "b": (0.0, 2.0)}
    found = [drawn(ranges, count=50, index=k, design="random", seed=987654321).values["b"] for k in range(50)]
    assert drawings == [987654321]
    assert found == (2.0 * np.random.default_rng(987654321).random((50, 2))[:, 1]).tolist()


def test_a_grid_has_all_combinations():
    found = sd.campaign(decay, {"height": (0.0, 2.0), "mode": ["a", "b"], "x": stats.uniform(0.0, 4.0)}, [below_one],
                        design="grid", levels=3)
    assert [tuple(case.parameters.values()) for case in found.cases] == [
        (h, mode, pytest.approx(x)) for h in (0.0, 1.0, 2.0) for mode in "ab" for x in (2 / 3, 2.0, 10 / 3)]
    assert found.failures == list(range(12, 18))


@pytest.mark.parametrize("design", ["latin_hypercube", "sobol", "random"])
def test_a_campaign_is_the_same_each_time_and_another_seed_another(design):
    first, again, other = (sd.campaign(decay, HEIGHTS, [below_one], 16, design, seed) for seed in (5, 5, 6))
    assert [case[:-1] for case in first.cases] == [case[:-1] for case in again.cases]
    assert not set(first.table["height"]) & set(other.table["height"])


# ------------------------------------------------------------------------------------------------- cases
def test_a_case_is_run_again_with_the_same_bits():
    found = sd.campaign(decay, HEIGHTS, {"low": below_one}, 16)
    assert len(found.failures) in (7, 8, 9)
    for index in found.failures:
        motion, case, same = found.replay(index)
        assert same and case[:-1] == found.cases[index][:-1]
        noise = np.random.default_rng([0, index]).normal(size=20)
        assert np.array_equal(motion["x"], case.parameters["height"] * np.exp(-motion["t"]) + 1e-9 * noise)


def test_what_depends_on_more_than_its_case_is_found_out():
    assert sd.campaign(hidden_state, HEIGHTS, [np.all], 3).replay(1).same_bits is False


def test_an_error_is_a_failure_of_its_case_alone():
    def scenario(p, rng):
        if p.mode == "slow":
            raise OverflowError(f"too slow at {p.height}")
        return decay(p, rng)
    found = sd.campaign(scenario, HEIGHTS, {"any": lambda motion: True}, 9)
    assert found.failures == [k for k, mode in enumerate(found.table["mode"]) if mode == "slow"] and len(
        found.failures) == 3
    case = found.cases[found.failures[0]]
    assert case.error == f"OverflowError: too slow at {case.parameters['height']}" and "in scenario" in case.trace
    assert found.replay(found.failures[0]).same_bits


class Lost(LookupError):
    """An error of a user's own."""


def failing(t, q, qd, tau):
    """A controller."""
    if q[0] < 0.0:
        raise Lost("left of the middle")
    raise IndexError("no such row")


def pushing(t, q, qd, p, tau):
    """The law of a force."""
    raise IndexError("no such row")


@pytest.mark.slow
@pytest.mark.parametrize("scenario, error", [
    (lambda p, rng: bob().rollout([1.0], [0.0], failing, dt=1e-3, steps=2), "IndexError: .*no such row"),
    (lambda p, rng: bob().rollout(np.ones((9, 1)), [0.0], failing, dt=1e-3, steps=2), "IndexError: .*no such row"),
    (lambda p, rng: bob().rollout([-1.0], [0.0], failing, dt=1e-3, steps=2), "Lost: left of the middle"),
    (lambda p, rng: bob().total_force([sd.forces.Custom(pushing)]).efforts([1.0], [0.0]),
     "IndexError: no such row, in the force pushing"),
    (lambda p, rng: sd.Robot("<robot/>"), r"TypeError: Robot\(model\) takes a Model"),
    (lambda p, rng: bob().no_such_method(), "AttributeError: 'Robot' object has no attribute"),
    (lambda p, rng: bob().rollout(), "TypeError: ")],
    ids=["controller", "of many", "own class", "force", "refusal", "attribute", "arguments"])
def test_errors_of_users_are_failures_of_their_cases(scenario, error):
    found = sd.campaign(scenario, {"x": [1]}, {"any": lambda motion: True}, 1, design="grid")
    assert found.failures == [0] and re.match(error, found.cases[0].error), found.cases[0].error


@pytest.mark.parametrize("returned, margin, holds", [
    (True, math.nan, True), (np.False_, math.nan, False), (0.0, 0.0, True), (-1e-300, -1e-300, False), (3, 3.0, True),
    (math.nan, math.nan, False), (np.array([2.0, -1.0]), -1.0, False), (np.array([1.0, math.nan]), math.nan, False)])
def test_verdicts(returned, margin, holds):
    found = judged("x", returned)
    assert found[0] == margin or math.isnan(margin) and math.isnan(found[0])
    assert found[1] is holds


@pytest.mark.parametrize("returned", [None, "yes", np.array([]), np.array([True]), 1j])
def test_what_is_no_verdict_is_an_error(returned):
    found = sd.campaign(decay, HEIGHTS, {"x": lambda motion: returned}, 1)
    assert found.failures == [0] and found.cases[0].error.startswith("TypeError: property 'x' returned")


def test_masked_margins_are_refused():
    found = sd.campaign(decay, HEIGHTS, {"x": lambda motion: np.ma.masked_array([1.0, -1.0], [False, True])}, 1)
    assert found.cases[0].error.startswith("ValueError: the margin of property 'x' is masked at [1]")


def unfinished(p, rng):
    yield np.zeros(3)


async def awaited(p, rng):
    return np.zeros(3)


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("scenario", [lambda p, rng: None, unfinished, awaited])
def test_a_scenario_without_a_motion_has_failed(scenario):
    found = sd.campaign(scenario, HEIGHTS, {"any": lambda motion: True}, 2)
    assert found.failures == [0, 1] and "TypeError: the scenario must return" in found.cases[0].error


def test_a_scenario_that_exits_is_a_failure_and_ends_nothing():
    def scenario(p, rng):
        raise SystemExit(0)
    found = sd.campaign(scenario, HEIGHTS, {"any": lambda motion: True}, 2)
    assert found.failures == [0, 1] and found.cases[1].error == "SystemExit: 0"


def test_what_a_scenario_writes_to_its_parameters_is_its_own():
    """Neither the next case nor a property sees it."""
    def scenario(p, rng):
        p.masses.append(p.height)
        p.height = -1.0
        return np.array(p.masses)
    found = sd.campaign(scenario, {"height": (0.0, 2.0), "masses": [[], [9.0]]},
                        {"as_drawn": lambda motion, p: motion[-1] == p.height and len(motion) == len(p.masses) + 1}, 6)
    assert not found.failures and found.cases[0].parameters["height"] >= 0.0
    assert all(case.parameters["masses"] in ([], [9.0]) for case in found.cases)
    assert all(found.replay(k).same_bits for k in range(6))


def test_properties_may_take_the_parameters():
    found = sd.campaign(decay, HEIGHTS, {"as_high": lambda motion, p: 1e-6 - abs(motion["x"][0] - p.height),
                                         "with_default": lambda motion, least=0.0: motion["x"].min() >= least - 1e-6},
                        8)
    assert not found.failures and (found.table["as_high"] > 0.0).all() and np.isnan(found.table["with_default"]).all()


def test_hashes_are_of_bits():
    t, q = np.arange(3.0), np.arange(6.0).reshape(3, 2)
    nudged = q.copy()
    nudged[1, 1] = np.nextafter(nudged[1, 1], 9.0)
    motions = ((t, q), (t, nudged), (t, q.T), (t, q.astype(np.float32)), {"t": t, "q": q}, [t, q, None], (q, t),
               (t, q.reshape(2, 3)), (t, q.view(np.int64)))
    assert len({digest_of(motion) for motion in motions}) == len(motions)
    assert digest_of((t, q)) == digest_of((t.copy(), np.asfortranarray(q))) and digest_of(object()) == ""


class Thrown:
    """A scenario that is an object."""

    def __init__(self, mass):
        self.mass = mass

    def __call__(self, p, rng):
        return np.array([self.mass])


def bound(mass):
    """A scenario that is a closure, and calls one."""
    def inner():
        return np.array([mass])
    return lambda p, rng: inner()


def histogram(heights):
    return stats.rv_histogram((np.array(heights), np.arange(4.0)), density=False)()


@pytest.mark.slow
@pytest.mark.parametrize("one, other", [
    (dict(scenario=partial(decay, rng=1)), dict(scenario=partial(decay, rng=2))),
    (dict(scenario=bound(1.0)), dict(scenario=bound(2.0))), (dict(scenario=Thrown(1.0)), dict(scenario=Thrown(2.0))),
    (dict(scenario=Thrown(1.0).__call__), dict(scenario=Thrown(2.0).__call__)),
    (dict(parameters={"a": (0.0, 1.0)}), dict(parameters={"a": (0.0, 1.0 + 1e-9)})),
    (dict(parameters={"a": [np.zeros(3)]}), dict(parameters={"a": [np.ones(3)]})),
    (dict(parameters={"a": histogram([1, 2, 3])}), dict(parameters={"a": histogram([3, 2, 1])}))])
def test_what_differs_in_its_values_alone_is_another_campaign(one, other):
    """A folder with the one must not answer for the other; the same one, made anew, is the same."""
    def words(change):
        given = dict(scenario=decay, parameters=HEIGHTS, properties={"x": np.all}) | change
        return Plan(given["scenario"], parameters_of(given["parameters"]), given["properties"], "random", 3, 0,
                    1).in_words()
    assert words(one) != words(other) and words(one) == words(dict(one))
    assert words(dict(scenario=bound(3.0))) == words(dict(scenario=bound(3.0)))


# ------------------------------------------------------------------------------------------------- results
def test_the_table_has_all_columns():
    found = sd.campaign(decay, HEIGHTS, {"low": below_one}, 12)
    table = found.table
    assert list(table) == ["index", "height", "unused", "mode", "low", "low_holds", "passed", "error", "digest",
                           "seconds"]
    assert all(len(column) == 12 for column in table.values()) and len(found) == 12
    assert np.array_equal(table["passed"], table["height"] <= 1.0)
    assert np.array_equal(table["low"] >= 0.0, table["passed"])
    assert set(table["mode"]) == {"slow", "fast", "None"}
    assert np.array_equal(np.sort(np.floor(6.0 * (table["unused"] + 1.0))), np.arange(12))      # of (-1, 1)
    share, low, high = found.probability_of_failure()
    assert low < share == len(found.failures) / 12 < high
    assert f"{len(found.failures)} failed: {found.failures[0]}, " in repr(found)


@pytest.mark.slow
def test_choices_that_are_no_numbers_of_the_table_are_texts_there(tmp_path):
    """Parquet has neither complex numbers nor such of more than 64 bits."""
    pq = pytest.importorskip("pyarrow.parquet")
    found = sd.campaign(decay, HEIGHTS | {"large": [1, 2**70], "z": [np.complex128(1j)]}, [below_one], 4)
    found.write(tmp_path)
    table = pq.read_table(tmp_path / "cases.parquet")
    assert set(table["large"].to_pylist()) == {"1", str(2**70)} and set(table["z"].to_pylist()) == {"1j"}


def test_failures_depend_on_what_they_depend_on():
    found = dependences(sd.campaign(decay, HEIGHTS, [below_one], 100))
    assert found[0].parameter == "height" and found[0].difference == 1.0
    assert {d.parameter for d in found[1:]} == {"unused", "mode"} and all(d.p > 0.01 for d in found[1:])
    by_choice = dependences(sd.campaign(decay, HEIGHTS, {"x": lambda motion, p: p.mode != "fast"}, 99))
    assert by_choice[0].parameter == "mode" and by_choice[0].difference == 1.0
    assert dependences(sd.campaign(decay, HEIGHTS, {"x": lambda motion: True}, 5)) == []


@pytest.mark.slow
def test_the_report_has_failures_and_pictures():
    pytest.importorskip("matplotlib")
    found = sd.campaign(decay, HEIGHTS, {"low": below_one}, 12)
    text = page(found).html()
    assert f"{len(found.failures)} of 12 cases failed" in text and "one of 'slow', 'fast', None" in text
    assert text.count("data:image/png;base64,") == 3
    for index in found.failures:
        assert f"height={found.cases[index].parameters['height']:.6g}" in text


@pytest.mark.parametrize("design", list(DESIGNS))
def test_only_independent_cases_have_an_interval_of_confidence(design, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)         # without pictures
    text = page(sd.campaign(decay, {"height": (0.0, 2.0)}, [below_one], 8, design)).html()
    assert ("95 % confidence" in text) == (design == "random") and "No pictures" in text


# ------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize("change, message", [
    (dict(scenario=3), "scenario 3 must be a function"),
    (dict(parameters={}), "parameters {} must be"),
    (dict(parameters={"a b": (0, 1)}), "the name of parameter 'a b' must be"),
    (dict(parameters={"passed": (0, 1)}),
         "the name of parameter 'passed' must be an identifier of Python other than index, passed"),
    (dict(parameters={"a": (1.0, 1.0)}), r"parameter 'a': the range \(1, 1\) must have low < high"),
    (dict(parameters={"a": (0.0, math.inf)}), "parameter 'a': an end of the range inf must be finite"),
    (dict(parameters={"a": (0, 1, 2)}), "choices are a list"),
    (dict(parameters={"a": []}), "parameter 'a' has no choices"),
    (dict(parameters={"a": 3.0}), r"parameter 'a' is 3.0, but must be a range .* as \[3.0\]"),
    (dict(parameters={"lambda": (0, 1)}), "the name of parameter 'lambda' must be"),
    (dict(parameters={"trace": (0, 1)}), "the name of parameter 'trace' must be"),
    (dict(parameters={"a": (-1.5e308, 1.5e308)}), r"parameter 'a': the range \(-1.5e\+308, 1.5e\+308\) is wider"),
    (dict(parameters={"a": stats.norm([0.0, 1.0])}), r"parameter 'a': the median .* is float64 of shape \(2,\)"),
    (dict(parameters={"low_holds": (0, 1)}, properties={"low": below_one}),
     "property 'low': another column of the table has the name 'low_holds'"),
    (dict(properties={"x": below_one, "x_holds": below_one}), "property 'x_holds': another column"),
    (dict(properties=[partial(below_one)]), r"is functools.partial\(.*, and must be a name with a function"),
    (dict(count=10**20), "count 100000000000000000000 must be at most 10000000"),
    (dict(parameters={"a": stats.norm}), "frozen distribution"),
    (dict(parameters={"a": stats.norm(scale=-1.0)}), "parameter 'a': the median of its distribution is nan"),
    (dict(properties=[]), "properties: at least one"),
    (dict(properties={"x": 3}), "properties: 'x' is 3"),
    (dict(properties={"height": below_one}), "property 'height': another column"),
    (dict(properties=[below_one, below_one]), "several functions have the same name"),
    (dict(count=0), "count 0 must be a whole number >= 1"),
    (dict(seed=-1), "seed -1 must be a whole number >= 0"),
    (dict(design="halton"), "design 'halton' must be one of latin_hypercube, sobol, random, grid"),
    (dict(design="grid", levels=20_000_000), "the grid has 1200000000000000 cases, more than 10000000"),
    (dict(timeout=3.0), "out must not be None")])
def test_refusals(change, message):
    given = dict(scenario=decay, parameters=HEIGHTS, properties=[below_one], count=4) | change
    with pytest.raises(ValueError, match=message):
        sd.campaign(**given)


def test_what_a_folder_takes_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("screw_dynamics.recordings.campaigns.running.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"requires cloudpickle, distributed, pyarrow: pip install .*\[logs\]"):
        sd.campaign(decay, HEIGHTS, [below_one], 2, out=tmp_path / "new")
    assert not list(tmp_path.iterdir())


def test_cases_that_do_not_exist_are_refused():
    found = sd.campaign(decay, HEIGHTS, [below_one], 3)
    for index in -1, 3, 1.5:
        with pytest.raises(ValueError, match=r"index"):
            found.replay(index)
    with pytest.raises(ValueError, match="a campaign without a folder"):
        found.command(0)
