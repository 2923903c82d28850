"""screw_dynamics_logs: what it writes, what it says of files that it cannot read, and how it ends."""
import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from support.episodes import HOUR, START, URDF, arm, episode, save

pytest.importorskip("distributed", reason="the engine is Dask, of the extra [logs]")
from distributed import Client, LocalCluster  # noqa: E402

from screw_dynamics.recordings.logs.command import main  # noqa: E402

EPISODES = 6


@pytest.fixture(scope="module")
def scheduler():
    """Its workers are threads of this process: nothing may be ended that hangs."""
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster, \
            Client(cluster):
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Episodes of an arm that carries something, and a file that was cut off."""
    folder, loaded = tmp_path_factory.mktemp("logs"), arm().with_payload("gripper", 0.3, (0.0, 0.0, 0.1))
    for k in range(EPISODES):
        save(episode(loaded, k, 0.05), folder / f"episode_{k}.npz")
    (folder / "truncated.npz").write_bytes((folder / "episode_0.npz").read_bytes()[:5000])
    return folder


def run(scheduler, what, logs, out, *more, robot=True):
    named = ["--robot", str(URDF)] if robot else []
    return main([what, str(logs), "--out", str(out), "--scheduler", scheduler, "--timeout", "0", "--quiet", *named,
                 *more])


def summary(out):
    with (out / "summary.csv").open() as file:
        return list(csv.DictReader(file))


def report(out):
    """The page, which needs nothing from elsewhere."""
    text = (out / "report.html").read_text()
    assert not re.search(r'(?:src|href)="(?!data:image/png;base64,)', text)
    return text


@pytest.mark.slow
def test_residuals(scheduler, logs, tmp_path, capsys):
    from pyarrow import parquet
    assert run(scheduler, "residuals", logs, tmp_path) == 1
    said = capsys.readouterr()
    assert f"{EPISODES} of {EPISODES + 1} episodes" in said.out and re.search(r"failed: .*truncated\.npz: ", said.err)
    rows = summary(tmp_path)
    assert [row["item"].rpartition("/")[2] for row in rows] == [*(f"episode_{k}.npz" for k in range(EPISODES)),
                                                               "truncated.npz"]
    assert [bool(row["error"]) for row in rows] == [False] * EPISODES + [True]
    found = sd.logs.residuals(sd.logs.read(str(logs / "episode_3.npz")), arm())
    assert float(rows[3]["external_rms.lift"]) == pytest.approx(found.rms[1], rel=1e-12)
    table = parquet.read_table(tmp_path / "episodes" / rows[3]["table"])
    np.testing.assert_allclose(table["external.lift"], found.external[:, 1], rtol=1e-12, atol=1e-12)
    about = json.loads(table.schema.metadata[b"screw_dynamics.row"])
    assert about["model"] == rows[3]["model"] and about["item"] == rows[3]["item"] and about["version"]
    assert parquet.read_table(tmp_path / "summary.parquet").num_rows == EPISODES + 1
    page = report(tmp_path)
    assert "truncated.npz" in page and page.count("<img") == 4 and "episode_5.npz" in page


@pytest.mark.slow
def test_what_is_done_is_not_done_again(scheduler, logs, tmp_path):
    """With a file that changed, and one that was mended, these alone are."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for path in logs.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    out = tmp_path / "out"
    assert run(scheduler, "check", folder, out) == 1
    before = {path: path.stat().st_mtime_ns for path in out.glob("episodes/*.json")}
    save(episode(arm(), 9), folder / "truncated.npz")
    save(replace(episode(arm(), 1), source=""), folder / "episode_1.npz")
    assert run(scheduler, "check", folder, out) == 0
    after = {path: path.stat().st_mtime_ns for path in out.glob("episodes/*.json")}
    assert sum(after[path] != time for path, time in before.items()) == 0 and len(after) == len(before) + 2
    assert len(summary(out)) == EPISODES + 1


@pytest.mark.slow
def test_identify(scheduler, logs, tmp_path):
    assert run(scheduler, "identify", logs, tmp_path) == 1
    found = json.loads((tmp_path / "parameters.json").read_text())
    recordings = [sd.logs.read(str(logs / f"episode_{k}.npz")) for k in range(EPISODES)]
    expected = sd.logs.identify(recordings, arm()).found
    np.testing.assert_allclose(found["parameters"], expected.parameters, atol=1e-9)
    written = sd.Robot.from_urdf(tmp_path / "identified.urdf")
    assert np.array_equal(np.append(written.inertial_parameters, written.friction_parameters), found["parameters"])
    rows = summary(tmp_path)
    assert float(rows[2]["left_out.waist"]) > 0.0 and rows[-1]["error"] and not rows[-1]["left_out.waist"]
    assert "base parameters of" in (tmp_path / "report.txt").read_text() and report(tmp_path).count("<img") == 3


def test_convert(scheduler, logs, tmp_path):
    assert run(scheduler, "convert", logs / "episode_[0-2].npz", tmp_path, robot=False) == 0
    rows = summary(tmp_path)
    assert len(rows) == 3
    back, was = sd.logs.read(rows[1]["file"]), sd.logs.read(str(logs / "episode_1.npz"))
    assert np.array_equal(back.q, was.q) and back.start == was.start == START + HOUR
    assert "episode_1.parquet" in report(tmp_path)


def test_wrong_arguments_are_named(scheduler, logs, tmp_path, capsys):
    for arguments, says in (
            ((logs / "missing", "--robot", str(URDF)), "missing does not exist"),
            ((logs, "--workers", "0"), "--workers 0"),
            ((logs, "--topic", "joint_states"), "--topic 'joint_states' must be ROLE=NAME"),
            ((logs, "--tip-link", "gripper"), "require --robot"),
            ((logs, "--robot", str(tmp_path / "no.urdf")), "no.urdf")):
        assert main(["residuals", *map(str, arguments), "--out", str(tmp_path / "out"), "--scheduler", scheduler]) == 2
        assert says in capsys.readouterr().err
    assert run(scheduler, "residuals", logs, tmp_path / "none", robot=False) == 1     # of a robot that no log describes
    assert "has no robot_description" in capsys.readouterr().err
