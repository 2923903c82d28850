"""A campaign whose scenario is nodes in lockstep, over real DDS: here, and on two workers at once."""
from types import SimpleNamespace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.recordings.campaigns.cases import generator
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import planar_arm as arm
from support.campaign_of_nodes import all_answered, damped_arm, slow_enough, start_of

pytest.importorskip("distributed", reason="distributed is not installed: pip install screw_dynamics[logs]")
pytestmark = pytest.mark.slow           # some seconds a case, for processes to start and to find each other
PARAMETERS, SEED = {"angle": (0.2, 1.4), "damping": [0.0, 5.0]}, 6


def margin_without_nodes(case):
    """What the simulation says of a case without ROS."""
    p = SimpleNamespace(**case.parameters)
    twin = Simulation(sd.Robot.from_urdf(arm.urdf()), Settings(), start_of(p, generator(SEED, case.index)))
    fastest = 0.0
    for _ in range(20):
        twin.command(-p.damping * twin.qd)
        twin.advance(10)
        fastest = max(fastest, np.abs(twin.qd).max())
    return 3.0 - fastest


def test_nodes_in_lockstep_are_a_scenario_with_the_same_bits_on_any_worker(tmp_path):
    found = sd.campaign(damped_arm, PARAMETERS, [slow_enough, all_answered], 4, seed=SEED, out=tmp_path, workers=2)
    assert not any(case.error for case in found.cases), [case.error for case in found.cases]
    assert all(case.holds["all_answered"] for case in found.cases)
    for case in found.cases:
        assert case.margins["slow_enough"] == margin_without_nodes(case)        # bit for bit
    again = sd.campaigns.load(tmp_path).replay(2)                               # in this process
    assert again.same_bits and again.case.margins["slow_enough"] == found.cases[2].margins["slow_enough"]
