"""Identification from many recordings: that of one, of all their equations at once, and of all but one."""
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.analysis.identification.base_fit import base_fit
from screw_dynamics.analysis.identification.evidence import total
from screw_dynamics.analysis.identification.unknowns import unknowns
from screw_dynamics.recordings.logs import Recording, identify
from support.episodes import arm, episode, save

pytestmark = pytest.mark.slow

NOISE = 0.3


@pytest.fixture(scope="module")
def drawn():
    return arm()


@pytest.fixture(scope="module")
def built(drawn):
    loaded = drawn.with_payload("gripper", 0.3, (0.0, 0.0, 0.1))
    return sd.Robot(replace(loaded.model, damping=np.array([0.4, 0.7, 2.0]), friction=np.array([0.2, 0.3, 0.5])))


@pytest.fixture(scope="module")
def recordings(built):
    return [episode(built, seed, NOISE) for seed in range(30)]          # more than there are bins


@pytest.fixture(scope="module")
def found(drawn, recordings):
    return identify(recordings, drawn)


def stacked(drawn, recordings):
    """The equations of all recordings, from identify of each, in base parameters that are estimated."""
    each = [sd.identify(drawn, x.t, x.q, x.tau) for x in recordings]
    p = each[0].prior_parameters
    known = ~each[0].estimated
    rows = [x.equations for x in each]
    Y, b, valid = (np.concatenate([row[k] for row in rows]) for k in (1, 2, 3))
    return each[0].base.columns(Y[..., ~known]), b - Y[..., known] @ p[known], valid


def test_of_one_recording_it_is_that_of_identify(drawn, recordings):
    one = recordings[0]
    expected, found = sd.identify(drawn, one.t, one.q, one.tau), identify([one], drawn)
    assert np.array_equal(found.found.parameters, expected.parameters)
    assert np.array_equal(found.found.base_deviations, expected.base_deviations)
    assert str(found.found) == str(expected)


def test_it_is_least_squares_of_all_equations_at_once(drawn, recordings, found):
    """By NumPy, of 1e-10; weights are those of the residuals, as many as are independent."""
    Y, b, valid = stacked(drawn, recordings)
    what = unknowns(drawn)
    fit = base_fit(found.found.evidence, what)
    root = np.sqrt(fit.weight)[:, None]
    x = np.linalg.lstsq((Y * root).reshape(-1, Y.shape[2]), (b * root[:, 0]).ravel(), rcond=None)[0]
    rest = b - Y @ x
    np.testing.assert_allclose(fit.x, x, rtol=0.0, atol=1e-10 * np.abs(x).max())
    scale = np.linalg.norm((Y * root).reshape(-1, Y.shape[2]), axis=0)
    inverse = np.linalg.inv(((Y * root / scale).reshape(-1, Y.shape[2])).T @ (Y * root / scale).reshape(-1, Y.shape[2]))
    np.testing.assert_allclose(fit.deviations, np.sqrt(np.diag(inverse)) / scale, rtol=1e-7)
    variance = np.sum(rest**2, axis=0) / valid.sum(axis=0)
    times = 1.0 / (fit.weight * variance * valid.sum() / (valid.sum() - len(x)))
    assert (1.0 - 1e-4 < times).all() and (times < 3.0).all()


def test_it_is_nearly_that_of_one_recording_with_gaps(drawn, recordings, found):
    """All in one, a second apart; only the correlation of residuals is estimated otherwise."""
    t = np.concatenate([x.t + 5.0 * k for k, x in enumerate(recordings)])
    q, tau = (np.concatenate([getattr(x, name) for x in recordings]) for name in ("q", "tau"))
    one = sd.identify(drawn, t, q, tau)
    assert (np.abs(one.base_parameters - found.found.base_parameters) < 0.05 * one.base_deviations).all()
    np.testing.assert_allclose(found.found.base_deviations, one.base_deviations, rtol=0.2)


def test_it_finds_the_robot_within_its_intervals(built, found):
    truth = found.found.base.of(np.append(built.inertial_parameters, built.friction_parameters)[found.found.estimated])
    error = (found.found.base_parameters - truth) / found.found.base_deviations
    assert np.abs(error).max() < 5.0 and 0.1 < np.mean(error**2) < 4.0
    assert found.failed == [] and str(found).startswith("30 recordings\n24000 samples, ")


def test_sums_do_not_depend_on_how_they_are_taken(drawn, recordings):
    """The products of the triangles add up, whatever the tree."""
    parts = [identify([x], drawn).found.evidence for x in recordings[:20]]
    whole = total(parts)
    products = np.einsum("jki,jkl->jil", whole.R, whole.R)
    expected = sum(np.einsum("jki,jkl->jil", x.R, x.R) for x in parts)
    np.testing.assert_allclose(products, expected, atol=1e-9 * np.abs(expected).max())
    assert np.array_equal(whole.counts, sum(x.counts for x in parts)) and whole.samples == 20 * 800


def test_left_out_is_what_all_others_say(drawn, recordings, found):
    fit = base_fit(found.found.evidence, unknowns(drawn))
    root = np.sqrt(fit.weight)[:, None]
    for k in (0, 7, 29):
        Y, b, _ = stacked(drawn, recordings[:k] + recordings[k + 1:])
        x = np.linalg.lstsq((Y * root).reshape(-1, Y.shape[2]), (b * root[:, 0]).ravel(), rcond=None)[0]
        Y, b, valid = stacked(drawn, recordings[k:k + 1])
        expected = np.sqrt(np.sum((b - Y @ x) ** 2, axis=0) / valid.sum(axis=0))
        own = [found.rows[k][f"left_out.{joint}"] for joint in drawn.joint_names]
        np.testing.assert_allclose(own, expected, rtol=1e-9)


def test_what_drifts_is_seen_and_nothing_else(drawn, built):
    """Damping of the lift grows from one recording to the next; others do not."""
    worn = [sd.Robot(replace(built.model, damping=built.model.damping + [0.0, 0.2 * k, 0.0])) for k in range(6)]
    found = identify([episode(robot, seed, 0.1) for seed, robot in enumerate(worn)], drawn)
    k, = [k for k, name in enumerate(found.found.base.combinations) if name == "lift.damping"]
    values = [row[f"value.{k}"] for row in found.drift]
    np.testing.assert_allclose(np.diff(values), 0.2, atol=0.1)
    change = np.array([[row[f"change.{j}"] for j in range(len(found.found.base))] for row in found.drift])
    assert np.abs(change[:, k]).max() > 2.0 * max(8.0, np.abs(np.delete(change, k, axis=1)).max())
    assert [row["start"] for row in found.drift] == sorted(row["start"] for row in found.drift)
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, the extra [plot]").use("Agg")
    panel = found.plot().axes[0]                            # that which changed most
    assert panel.get_title(loc="left") == "lift.damping"
    np.testing.assert_allclose(panel.lines[0].get_ydata(), values)
    np.testing.assert_allclose(panel.lines[0].get_xdata(), np.arange(6))       # hours


def test_recordings_that_cannot_be_used_are_rows(drawn, recordings):
    still = replace(recordings[1], tau=None)
    other = Recording(("a", "b", "c"), recordings[0].t, recordings[0].q)
    broken = replace(recordings[1], tau=np.where(recordings[1].t[:, None] > 1.0, 1e30, recordings[1].tau))
    found = identify([recordings[0], still, other, recordings[1], broken], drawn)
    assert [row["error"] is None for row in found.rows] == [True, False, False, True, False]
    assert "ValueError: tau is [1e+30" in found.rows[4]["error"]
    assert "efforts were not measured" in found.rows[1]["error"] and "has no joint waist" in found.rows[2]["error"]
    assert np.array_equal(found.found.parameters, identify(recordings[:2], drawn).found.parameters)
    with pytest.raises(ValueError, match="none of 1 recordings can be used"):
        identify([other], drawn)
    for wrong, says in (([], "at least one"), ([recordings[0], "a"], "must be Recordings, or all addresses"),
                        (["a"], "out must be given with addresses")):
        with pytest.raises(ValueError, match=says):
            identify(wrong, drawn)


def test_workers_change_no_bit(drawn, recordings, tmp_path):
    """Of files, by one and by three; and numbers of files are those of recordings."""
    pytest.importorskip("distributed")
    from distributed import Client, LocalCluster
    for k, recording in enumerate(recordings[:10]):
        save(recording, tmp_path / f"log_{k}.npz")
    addresses, results = sorted(map(str, tmp_path.glob("*.npz"))), []
    for workers in (1, 3):
        with LocalCluster(n_workers=workers, threads_per_worker=1, processes=False,
                          dashboard_address=":0") as cluster, Client(cluster) as client:
            results.append(identify(addresses, drawn, tmp_path / str(workers), scheduler=client, progress=False))
    one, three = (x.found for x in results)
    assert np.array_equal(one.parameters, three.parameters) and np.array_equal(one.evidence.R, three.evidence.R)
    here = identify(recordings[:10], drawn).found
    np.testing.assert_allclose(one.parameters, here.parameters, atol=1e-10)
    assert results[0].drift == results[1].drift


def test_with_velocities_it_is_that_of_identify_with_them(drawn, recordings):
    """One recording without any is a row with its error."""
    one = recordings[3]
    expected = sd.identify(drawn, one.t, one.q, one.tau, one.qd, friction="stribeck")
    found = identify([one, replace(one, qd=None)], drawn, friction="stribeck", velocities=True)
    assert np.array_equal(found.found.parameters, expected.parameters)
    assert np.array_equal(found.found.falling, expected.falling) and len(expected.falling) == drawn.n
    error, = (row["error"] for row in found.failed)
    assert error == "ValueError: velocities were not recorded in 800 of 800 rows with positions"
    plain = identify([one], drawn)
    assert (found.found.base_deviations[:5] != plain.found.base_deviations[:5]).all()
