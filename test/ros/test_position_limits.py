"""States far beyond limits, which are not those of a robot whose stops give or whose encoders are off."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.ros.dynamics.position_limits import far_beyond_limits


@pytest.fixture(scope="module")
def robot():
    builder = sd.ModelBuilder("root")
    builder.add_screw("turn", "arm", "root", (0, 0, 1), mass=1.0, limits=sd.Limits(lower=-2.0, upper=2.0))
    builder.add_screw("wheel", "rim", "arm", (0, 0, 1), mass=1.0)
    builder.add_screw("slide", "finger", "arm", (1, 0, 0), pitch=np.inf, mass=1.0,
                      limits=sd.Limits(lower=0.0, upper=0.04))
    return sd.Robot(builder.build())


@pytest.mark.parametrize("q, words", [
    ([2.0, 0.0, 0.04], ""), ([2.3, 1e6, 0.1], ""), ([-2.3, -1e6, -0.05], ""), ([np.nan, 0.0, 0.0], ""),
    ([45.0, 0.0, 0.0], "limits of turn: turn is at 45 rad, its limits are -2 and 2: are positions in degrees?"),
    ([700.0, 0.0, 0.0], "limits of turn: turn is at 700 rad, its limits are -2 and 2"),
    ([-2.5, 0.0, 40.0], "limits of turn, slide: turn is at -2.5 rad, its limits are -2 and 2"),
    ([0.0, 0.0, 40.0], "limits of slide: slide is at 40 m, its limits are 0 and 0.04")])
def test_beyond_names_joints_value_and_limits_and_nearby_there_is_nothing_to_say(robot, q, words):
    assert far_beyond_limits(robot, at(robot, *q)) == (words and f"joint_states are far beyond the {words}")


def at(robot, turn, wheel, slide):
    """A configuration in the order of the model."""
    values = {"turn": turn, "wheel": wheel, "slide": slide}
    return np.array([values[name] for name in robot.joint_names])
