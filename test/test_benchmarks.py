"""The benchmark: contestants agree on a small robot, and measurements become rows, JSON, Markdown and pictures."""
import json

import pytest

import screw_dynamics as sd
from benchmarks import (
    batches,
    contact_admm,
    contacts,
    inverse_kinematics,
    machine,
    pictures,
    report,
    robots,
    simulator,
    startup,
    targets,
    work,
)
from benchmarks.agreement import Disagreement, those_who_agree
from benchmarks.calls import Call
from benchmarks.contestants import OURS, Contestants, Who
from benchmarks.timing import Effort, Measurement, measure

pytestmark = pytest.mark.slow
LEAST = Effort(repeats=2, seconds=0.0, least=2)


@pytest.fixture(scope="module")
def contestants():
    return Contestants(may_install=False)


@pytest.fixture(scope="module")
def measurements(contestants):
    """UR5, and ANYmal on a floating base; raises if Pinocchio or MuJoCo computes something else than we do."""
    case, walking, two = robots.real("UR5"), robots.real("ANYmal", floating=True), (1, 2)
    return [*work.one_state(case, contestants, LEAST), *work.batch(case, contestants, LEAST, two),
            *work.one_state(walking, contestants, LEAST), *work.batch(walking, contestants, LEAST, two[:1]),
            *work.rollout(case, contestants, LEAST), *work.growth(contestants, LEAST, lengths=(3, 10))]


def test_everybody_who_is_needed_agrees_and_is_measured(measurements):
    found = {(m.subject["work"], m.subject["quantity"]): {who.library for who in m.seconds} for m in measurements}
    for quantity in targets.ONE_STATE:
        assert found["one state", quantity] >= {OURS, "Pinocchio"}
    assert found["one state", "inverse dynamics"] >= {OURS, "Pinocchio", "MuJoCo"}
    for quantity in targets.FLOATING:
        assert found["floating base, one state", quantity] == {OURS, "Pinocchio"}
    assert found["floating base, batch", "forward dynamics"] == {OURS, "Pinocchio"}
    assert found["batch", "forward dynamics"] == {OURS, "Pinocchio"}
    assert found["rollout", "semi-implicit Euler"] == {OURS, "MuJoCo"}
    assert found["growth", "mass matrix"] == {OURS, "Pinocchio"}


def test_start_up_is_measured_with_kernels_and_without(contestants, monkeypatch):
    monkeypatch.setattr(startup, "REPEATS", 1)
    monkeypatch.setattr(startup, "FIRST", {what: startup.FIRST[what] for what in list(startup.FIRST)[::3]})
    monkeypatch.setattr(startup, "NODES", {})
    (what, there, none), (peer, theirs, nothing) = rows = list(startup.measure(contestants))
    assert (what, peer, nothing) == ("first torque", "Pinocchio's first torque", None)
    assert 0.0 < there and 0.0 < none and 0.0 < theirs
    lines = startup.as_text(rows).splitlines()
    assert [line.split()[-2:] for line in lines[2:]] == [[f"{there:.2f}", f"{none:.1f}"], ["torque", f"{theirs:.2f}"]]


def test_who_disagrees_is_not_measured():
    case = robots.chain(2)
    calls = {OURS: {"": Call("1.0", {})}, "Pinocchio": {"": Call("1.0 + 1e-9", {})}}
    with pytest.raises(Disagreement, match="Pinocchio: gravity of chain 2 differs from ours by 1.0e-09"):
        those_who_agree(calls, "gravity", case, {})
    absent = {}
    calls = {OURS: {"": Call("1.0", {})}, "Drake": {"": Call("1.1", {})}, "adam": {"": Call("1 / 0", {})}}
    assert list(those_who_agree(calls, "gravity", case, absent)) == [Who(OURS)]
    assert absent == {"Drake, chain 2, gravity": "Drake: gravity of chain 2 differs from ours by 1.0e-01",
                      "adam, chain 2, gravity": "division by zero"}


def test_contestants_take_turns():
    log = []
    calls = {Who(name): Call(f"log.append('{name}')", {"log": log}) for name in "abc"}
    measured = measure({}, calls, Effort(repeats=3, seconds=1e9, least=3), prepare=lambda k: log.append(k))
    rounds = "".join(map(str, log)).partition("0")[2]
    first_of_each_round = [rounds[0], rounds.partition("1")[2][0], rounds.partition("2")[2][0]]
    assert first_of_each_round == ["b", "c", "a"]
    assert [len(times) for times in measured.seconds.values()] == [3, 3, 3]


def test_a_ratio_is_the_median_over_repeats_and_the_fastest_variant_counts():
    slow, world, ours = Who("Pinocchio"), Who("Pinocchio", "world"), Who(OURS)
    m = Measurement({}, {slow: [9.0, 9.0, 9.0], world: [4.0, 30.0, 8.0], ours: [2.0, 10.0, 1.0]})
    assert m.fastest("Pinocchio") == world
    assert m.fastest("Drake") is None
    assert m.ratio(world, ours) == 3.0


def test_the_report_is_complete(measurements, contestants, tmp_path):
    facts, rows = machine.describe(), targets.rows(measurements)
    text = report.as_text(facts, contestants, rows)
    assert "Batch of 4096 states" in text and "ratios reach their target" in text
    results = json.loads(report.as_json(facts, contestants, measurements, rows, [("first torque", 1.0, 5.0)]))
    assert {ratio["label"] for ratio in results["ratios"]} >= set(targets.ONE_STATE)
    assert "| inverse dynamics, one state" in report.as_markdown(facts, contestants, rows)
    for picture in pictures.draw(measurements, rows, facts, contestants.versions, tmp_path):
        assert picture.stat().st_size > 10_000


def test_the_simulator_is_measured_in_each_mode():
    case = robots.real("UR5")
    robot = sd.Robot.from_urdf(case.urdf)
    found = simulator.measure({**simulator.ours(robot), **simulator.mujocos(case, robot)}, repeats=1)
    assert {"effort", "velocity", "position", "gravity compensation", "effort with a push"} < set(found)
    assert any("MuJoCo" in name for name in found) and all(0.0 < seconds < 1.0 for seconds in found.values())


@pytest.mark.parametrize("name", inverse_kinematics.ARMS)
def test_inverse_kinematics_finds_what_others_find(name):
    rows = {label: row for label, *row in inverse_kinematics.measure(name, 50, 0.2)}
    ours = [row for label, row in rows.items() if label.startswith(OURS)]
    assert len(ours) == 2 and len(rows) >= 2
    for poses, good, distance, angle, seconds in rows.values():
        assert 0 < poses <= 50 and good.mean() > 0.8 and max(distance, angle) < 1e-6 and seconds > 0.0
    assert all(good.all() for _, good, *_ in ours)


def test_batches_are_measured_by_size_threads_pause_and_place(monkeypatch):
    for name, value in {"FEW": (1, 4), "SHARED": (64,), "PAUSED": 64, "PAUSES": (1e-3,), "FAR": 128}.items():
        monkeypatch.setattr(batches, name, value)
    robot = sd.Robot(sd.ModelBuilder("root").build())
    lines = [line for table in batches.TABLES.values() for line in table(robot, 0.0)]
    assert [line for line, _ in lines] == [
        "1 states", "4 states", "64 states", "one thread, after 1 ms", "default, after 1 ms", "128 states, 1 thread",
        "128 states, 2 threads", "inverse_dynamics of 64 states", "forward_dynamics of 64 states"]
    assert all(x >= 0.0 for _, cells in lines for x in cells.values())


def test_robots_that_touch_are_measured_beside_mujoco_and_pinocchio_solves_the_same_problem():
    found, case = contacts.compared("box", 1)
    ours, theirs = found[contacts.OURS][1], found[contacts.THEIRS][1]
    assert max(ours.complementarity, ours.cone, ours.dissipation) < 1e-9
    assert ours.penetration < 1e-6 < theirs.penetration                 # um
    assert ours.creep < 1e-3 < theirs.creep                             # um/s
    assert all(us > 0.0 for us, _ in found.values())
    line, = contact_admm.admm(case)
    assert float(line.partition("ours by ")[2].partition(" m/s")[0]) < 1e-8
    assert "NOT converged" not in line
