"""The study of best motions: its own quantity, what it says of its problems, and that it runs."""
import os
import subprocess
import sys

import numpy as np
import pytest

from screw_dynamics.planning.optimal.quantities import Nodes
from studies.best_motions import FAR, LIFTED, REACH, REACHES, WEAK, G, Problem, Short, arm, lift, slsqp, thrower
from support.paths import ROOT


@pytest.mark.slow
def test_what_falls_short_is_the_flight_s_distance_with_its_derivatives():
    """Against the flight itself, and differences."""
    robot, rng = thrower(False), np.random.default_rng(0)
    q, qd = rng.uniform(-2.0, 2.0, (5, 1)), rng.uniform(3.0, 9.0, (5, 1))

    def short(q, qd):
        nodes = Nodes(np.zeros(5), q, qd, None, np.arange(5), np.arange(1), None)
        return Short().at(robot, nodes, True)
    found, h = short(q, qd), 1e-6
    for k in range(5):
        p = robot.forward_kinematics(q[k], "hand")[:3, 3]
        v = (robot.jacobian(q[k], "hand", "hybrid") @ qd[k])[3:]
        t = np.roots([-0.5 * G, v[2], p[2]]).max()
        assert found.r[k, 0] == pytest.approx(FAR - p[0] - v[0] * t, rel=1e-12)
    by_q, by_qd = ((short(q + dq, qd + dqd).r - short(q - dq, qd - dqd).r) / (2.0 * h) for dq, dqd in ((h, 0), (0, h)))
    assert np.abs(found.by["q"][..., 0] - by_q).max() < 1e-7 and np.abs(found.by["qd"][..., 0] - by_qd).max() < 1e-7


def test_the_load_cannot_be_held_with_the_arm_stretched_out():
    level = np.array([np.pi / 2.0, 0.0, 0.0])
    by_hand = G * (3.0 * 0.2 + 2.0 * 0.575 + 1.0 * 0.875 + LIFTED * 1.0)
    assert abs(lift().robot.gravity_torque(level)[0]) == pytest.approx(by_hand, rel=1e-12) and by_hand > 1.4 * WEAK[0]


@pytest.mark.slow
def test_slsqp_finds_the_same_motion():
    problem = Problem(arm(), REACHES["least effort"], REACH | dict(intervals=3))
    exact = problem.best()
    for other in (problem.best(solver=slsqp(True)), problem.best(solver=slsqp(False))):
        assert exact.converged and other.cost == pytest.approx(exact.cost, rel=1e-5)


@pytest.mark.slow
def test_it_runs(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "studies.best_motions", "--quick"], cwd=tmp_path, env=environment,
                          text=True, capture_output=True, timeout=600)
    assert "SLSQP, differences" in done.stdout, done.stderr
    assert (tmp_path / "build" / "studies" / "best_reaches.png").stat().st_size > 5000
