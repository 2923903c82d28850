"""The robot that is simulated: an arm of two links in a vertical plane."""
import pytest

import screw_dynamics as sd
from support import planar_arm


@pytest.fixture(scope="session")
def robot():
    """Its joints in model order are the shoulder and the elbow."""
    return sd.Robot.from_urdf(planar_arm.urdf())
