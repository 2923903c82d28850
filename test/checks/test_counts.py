"""Counts of what is kept in memory: those that no memory holds are refused by name, wherever they are given."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.backends.gpu import GpuRobot
from screw_dynamics.planning.paths import time_optimal
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.utils import checks
from support import planar_arm
from support.host_cuda import HostCuda

pytestmark = pytest.mark.slow
ARM, ZERO = sd.Robot.from_urdf(planar_arm.urdf()), np.zeros(2)


@pytest.mark.parametrize("name, call", [
    ("steps", lambda n: ARM.rollout(ZERO, ZERO, steps=n)),
    ("every", lambda n: ARM.rollout(ZERO, ZERO, every=n)),
    ("steps", lambda n: ClosedLoopRobot(ARM, ()).rollout(ZERO, ZERO, None, 1e-3, n, integrator="rk4")),
    ("steps", lambda n: sd.Scene(ARM, ground=True).rollout(ZERO, ZERO, steps=n)),
    ("steps", lambda n: GpuRobot(ARM, HostCuda()).rollout(ZERO, ZERO, steps=n)),
    ("steps", lambda n: sd.optimize_motion(ARM, ZERO, ZERO, steps=n)),
    ("attempts", lambda n: ARM.inverse_kinematics(np.eye(4), "flange", attempts=n)),
    ("shape", lambda n: ARM.random_configuration(n, np.random.default_rng(1))),
    ("points", lambda n: time_optimal(ARM, [ZERO, ZERO + 1.0], acceleration=1.0, points=n)),
])
@pytest.mark.parametrize("n", [1e20, 10 ** 20, 2 ** 63])
def test_what_no_memory_holds_is_refused_by_name_and_value(name, call, n):
    with pytest.raises(ValueError, match=rf"^{name} {str(n).replace('+', '.')} must be <= {2 ** 44}: no memory has so"):
        call(n)


def test_counts_up_to_the_most_are_taken_as_whole_numbers():
    for given in (3, 3.0, np.int32(3), np.float32(3.0), 2 ** 44, float(2 ** 44)):
        found = checks.count("n", given, 0)
        assert found == given and type(found) is int
    for given in (-1, 2.5, np.nan, np.inf, True, "3", None, [3], np.array(3)):
        with pytest.raises(ValueError, match="^n .* must be a whole number >= 0$"):
            checks.count("n", given, 0)
