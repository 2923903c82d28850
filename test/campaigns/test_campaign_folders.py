"""Campaigns in a folder: cases on workers, replays by a command, and what is not done again."""
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.recordings.campaigns import load
from screw_dynamics.recordings.campaigns.__main__ import main
from screw_dynamics.recordings.campaigns.parameters import parameters_of
from screw_dynamics.recordings.campaigns.plan import Plan
from support.campaign_scenarios import below_one, decay, going_wrong
from support.disks import room_for
from support.paths import ROOT

pytest.importorskip("distributed", reason="distributed is not installed: pip install screw_dynamics[logs]")
pq = pytest.importorskip("pyarrow.parquet")
PARAMETERS = {"height": (0.0, 2.0), "mode": ["slow", "fast"]}


def command(*arguments):
    """python -m screw_dynamics.recordings.campaigns in a process of its own, elsewhere."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, "-m", "screw_dynamics.recordings.campaigns", *map(str, arguments)],
                          capture_output=True, text=True, cwd="/", env={**os.environ, "PYTHONPATH": path})


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A campaign of 12 cases, four a task, on one worker, and its folder."""
    folder = tmp_path_factory.mktemp("kept") / "a campaign"
    return sd.campaign(decay, PARAMETERS, {"low": below_one}, 12, seed=4, out=folder, workers=1, together=4), folder


@pytest.mark.slow
def test_workers_compute_what_this_process_does(kept):
    found, folder = kept
    here = sd.campaign(decay, PARAMETERS, {"low": below_one}, 12, seed=4)
    assert [case[:-1] for case in found.cases] == [case[:-1] for case in here.cases]
    table = pq.read_table(folder / "cases.parquet")
    assert table.column_names[:3] == ["index", "height", "mode"] and table["passed"].to_pylist() == list(
        here.table["passed"])
    assert table["height"].to_pylist() == here.table["height"].tolist()
    assert table.schema.metadata[b"design"] == b"latin_hypercube" and table.schema.metadata[b"seed"] == b"4"
    report = (folder / "report.html").read_text()
    for index in found.failures:
        assert found.command(index) in report


@pytest.mark.slow
def test_a_folder_is_the_campaign(kept):
    found, folder = kept
    again = load(folder)
    assert [case[:-1] for case in again.cases] == [case[:-1] for case in found.cases] and again.replay(3).same_bits


@pytest.mark.slow
def test_one_command_runs_a_failure_again_with_the_same_bits(kept, tmp_path):
    found, folder = kept
    index = found.failures[0]
    assert found.command(index) == f"python -m screw_dynamics.recordings.campaigns replay '{folder}' {index}"
    done = command("replay", folder, index, "--motion", tmp_path / "motion.npz")
    assert done.returncode == 1, done.stderr
    assert f"case {index} failed: height={found.cases[index].parameters['height']!r}" in done.stdout
    assert "the same bits as in the campaign" in done.stdout
    with np.load(tmp_path / "motion.npz") as motion:
        assert np.array_equal(motion["x"], found.replay(index).motion["x"])


def test_exit_codes_and_lists(kept, capsys):
    found, folder = kept
    passed = next(k for k in range(12) if k not in found.failures)
    assert main(["replay", str(folder), str(passed)]) == 0 and main(["failures", str(folder)]) == 0
    said = capsys.readouterr().out
    assert f"case {passed} passed" in said and all(f"case {k} failed" in said for k in found.failures)
    with pytest.raises(SystemExit, match="2"):
        main(["replay", str(folder), "12"])
    assert "index 12: the campaign has 12 cases" in capsys.readouterr().err


def test_what_is_done_is_not_done_again_and_another_campaign_is_refused(kept):
    found, folder = kept
    before = {path: path.stat().st_mtime_ns for path in (folder / "parts").glob("*.json")}
    again = sd.campaign(decay, PARAMETERS, {"low": below_one}, 12, seed=4, out=folder, workers=1, together=4)
    assert [case for case in again.cases] == found.cases and len(before) == 3
    assert {path: path.stat().st_mtime_ns for path in (folder / "parts").glob("*.json")} == before
    with pytest.raises(ValueError, match="another campaign: seed is 5, there 4"):
        sd.campaign(decay, PARAMETERS, {"low": below_one}, 12, seed=5, out=folder)
    with pytest.raises(ValueError, match="parameter height is 0 to 3, there 0 to 2"):
        sd.campaign(decay, PARAMETERS | {"height": (0.0, 3.0)}, {"low": below_one}, 12, seed=4, out=folder)
    with pytest.raises(ValueError, match="no campaign: file"):
        load(folder / "parts")


def test_a_disk_that_is_full_at_the_end_loses_nothing(kept):
    found, folder = kept
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with room_for(100), pytest.raises(OSError, match=r"all 12 cases are done and kept; free disk space.*"
                                                     r"cases\.parquet"):
        sd.campaign(decay, PARAMETERS, {"low": below_one}, 12, seed=4, out=folder, workers=1, together=4)
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    again = sd.campaign(decay, PARAMETERS, {"low": below_one}, 12, seed=4, out=folder, workers=1, together=4)
    assert again.cases == found.cases


def test_a_plan_that_has_no_room_leaves_nothing(tmp_path):
    with room_for(100), pytest.raises(OSError, match=r"campaign\.pickle"):
        sd.campaign(decay, PARAMETERS, [below_one], 2, out=tmp_path / "new")
    assert not list((tmp_path / "new").iterdir())


@pytest.mark.parametrize("options, message", [
    (dict(together=0), "together 0 must be a whole number >= 1"), (dict(workers=0), "workers 0 must be"),
    (dict(workers=1.5), "workers 1.5 must be"), (dict(timeout=0.0), "timeout 0.0 must be"),
    (dict(scheduler="tcp://here:8786", workers=2), "workers 2 are processes of this machine, and the scheduler tcp:")])
def test_what_cannot_be_leaves_no_folder(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        sd.campaign(decay, PARAMETERS, [below_one], 2, out=tmp_path / "new", **options)
    assert not list(tmp_path.iterdir())


def test_a_campaign_that_has_not_ended_is_told_from_none(tmp_path, capsys):
    Plan(decay, parameters_of(PARAMETERS), [below_one], "random", 2, 0, 1).keep(tmp_path)
    with pytest.raises(ValueError, match=r"an unfinished campaign, without file cases\.parquet"):
        load(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(["failures", str(tmp_path)])
    assert "unfinished campaign" in capsys.readouterr().err


def test_a_motion_is_in_the_file_that_was_named(kept, tmp_path, capsys):
    _, folder = kept
    main(["replay", str(folder), "0", "--motion", str(tmp_path / "motion")])
    assert (tmp_path / "motion").is_file() and str(tmp_path / "motion") in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(["replay", str(folder), "0", "--motion", str(tmp_path / "nowhere" / "motion")])
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.slow
def test_what_dies_or_hangs_is_a_failure_that_says_so(tmp_path):
    found = sd.campaign(going_wrong, {"height": (0.0, 0.9), "how": ["well", "die", "hang", "raise"]}, [below_one], 4,
                        out=tmp_path, workers=1, timeout=2.0)
    by = {how: [case for case in found.cases if case.parameters["how"] == how]
          for how in ("well", "die", "hang", "raise")}
    assert all(len(cases) == 1 for cases in by.values())
    assert all(case.passed for case in by["well"]) and len(found.failures) == 3
    assert all("died" in case.error for case in by["die"])
    assert all("longer than 2 s" in case.error for case in by["hang"])
    assert all(case.error == f"RuntimeError: told to, at {case.parameters['height']}" for case in by["raise"])
    assert len(pq.read_table(tmp_path / "cases.parquet")) == 4
    again = command("replay", tmp_path, by["raise"][0].index)
    assert again.returncode == 1 and "RuntimeError: told to" in again.stdout and "same bits" in again.stdout


@pytest.mark.slow
def test_a_scene_that_was_used_goes_to_workers(tmp_path):
    scene = sd.Scene(ground=True)
    scene.add_sphere("ball", 0.1, 1.0)

    def fall(p, rng):
        q = scene.neutral()
        q[2] = p.height
        return scene.rollout(q, steps=20)
    expected = fall(SimpleNamespace(height=1.0), None)
    found = sd.campaign(fall, {"height": [1.0]}, {"same": lambda motion: np.array_equal(motion.q, expected.q)}, 1,
                        design="grid", out=tmp_path / "scene", workers=1)
    assert found.cases[0].passed, found.cases[0]


@pytest.mark.slow
def test_what_this_package_breaks_is_no_verdict(tmp_path, monkeypatch):
    """In this process, and where workers cannot load the scenario."""
    robot = sd.Robot(sd.ModelBuilder("world").build())
    monkeypatch.delattr(type(robot._rollouts), "step")          # which Robot.step calls
    with pytest.raises(RuntimeError, match="case 0 is inconclusive.*no attribute 'step'"):
        sd.campaign(lambda p, rng: robot.step([], [], [], 0.1), {"x": [1]}, {"any": bool}, 1, design="grid")
    monkeypatch.undo()
    with pytest.raises(RuntimeError, match="the scenario cannot be loaded"):
        sd.campaign(Unloadable(), {"x": [1]}, {"any": bool}, 1, design="grid", out=tmp_path / "lost", workers=1)


class Unloadable:
    """A scenario that no other process can load."""

    def __call__(self, p, rng):
        return {"x": 1.0}

    def __reduce__(self):
        return getattr, (os, "no_such_name")
