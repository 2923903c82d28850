"""The study of drift: what its numbers say at few steps, and the table and the picture made of them."""
import numpy as np
import pytest

from screw_dynamics.rollout.integrators import INTEGRATORS
from studies import drift, drift_loops
from support.paths import ROOT

COSTS = {"double pendulum": {name: 1.0 + k for k, name in enumerate(INTEGRATORS)}}
FACTS = {"processor": "a processor", "date": "2001-02-03", "load": 0.1}


@pytest.fixture(autouse=True)
def at_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def results(*motions):
    return {"machine": FACTS, "steps": 400, "costs": COSTS, "motions": list(motions)}


def test_every_integrator_makes_its_steps_twice():
    """Of equal length, and of equal cost; adaptive ones to two tolerances."""
    jobs = drift.jobs(COSTS, 400)
    assert {job[1] for job in jobs} == set(INTEGRATORS) and len(jobs) == 2 * len(INTEGRATORS) - 1   # rk4's are equal
    cost = COSTS["double pendulum"]
    for _, integrator, dt, *_ in jobs:
        assert dt == drift.DT or cost[integrator] / dt == pytest.approx(cost["rk4"] / drift.DT, rel=0.01)


def test_the_page_has_a_row_of_every_integrator_and_robot():
    page = (ROOT / "docs" / "integration.md").read_text(encoding="utf-8")
    rows = page.split(drift.BEGIN)[1].split(drift.END)[0].splitlines()
    for name in ("double pendulum", "UR5", "Panda", "ANYmal, floating"):
        for integrator in INTEGRATORS:
            assert sum(row.startswith(f"| {name} | `{integrator}` |") for row in rows) in (1, 2), (name, integrator)


def test_drift_is_relative_and_falls_with_the_order():
    coarse, fine = (drift.run("double pendulum", "rk4", dt, 1e-6, round(2.0 / dt)) for dt in (4e-3, 2e-3))
    assert 3.7 < np.log2(np.abs(coarse["energy"]).max() / np.abs(fine["energy"]).max()) < 5.3
    assert len(coarse["energy"]) == len(coarse["t"]) and "momentum" not in coarse


def test_the_table_says_what_came_out(tmp_path):
    lost = {"robot": "double pendulum", "integrator": "rk4", "dt": 2e-3, "rtol": 1e-6, "t": [0.0, 0.5, 1.0],
            "energy": [0.0, -0.25, np.nan], "seconds": 1.0, "kinetic": 2.0, "momentum": [0.0, 1e-9, 2e-9]}
    adaptive = lost | {"integrator": "rk45", "energy": [0.0, 2e-6, -1e-6], "seconds": 8e-4}
    text = drift.with_table(f"before\n{drift.BEGIN}\nold\n{drift.END}\nafter", results(lost, adaptive))
    assert text.startswith("before") and text.endswith("after") and "old" not in text
    assert "| double pendulum | `rk4` | 2 ms | 2.0 | 1.0 | - | lost at 1 s | 2.0e-09 |" in text
    assert "| double pendulum | `rk45` | rtol 1e-06 | - | 2.0 | 1.0e-06 | 5.0e-07 | 2.0e-09 |" in text
    drift.draw(results(lost, adaptive), tmp_path / "drift.png")
    assert (tmp_path / "drift.png").stat().st_size > 5000
    with pytest.raises(ValueError, match="lacks the lines"):
        drift.with_table("", results(lost))


def test_closed_loops_have_a_row_of_each_motion():
    lost = {"coordinates": "poses of bodies", "method": "`rk4`", "steps": 100}
    ended = drift_loops.outcome("poses of bodies", "`rk4`", 100, 0.5, [2.0, 2.5, 2.25], [0.0, 1e-9], 4.0)
    text = drift.renewed(f"{drift_loops.BEGIN}\nold\n{drift_loops.END}", drift_loops.BEGIN, drift_loops.END,
                         drift_loops.table({"machine": FACTS, "steps": 100, "motions": [ended, lost]}))
    assert "| poses of bodies | `rk4` | 100 | 5e+03 | 1.2e-01 | 6.2e-02 | 1.0e-09 |" in text and "old" not in text
    assert "| poses of bodies | `rk4` | 100 | - | lost | lost | lost |" in text
    page = (ROOT / "docs" / "integration.md").read_text(encoding="utf-8")
    rows = page.split(drift_loops.BEGIN)[1].split(drift_loops.END)[0]
    assert all(row in rows for row in ("| poses of bodies | `energy_momentum` |", "| joints | `implicit_midpoint`"))
    assert len(drift_loops.jobs(10)) == sum(line.startswith(("| poses", "| joints")) for line in rows.splitlines())
