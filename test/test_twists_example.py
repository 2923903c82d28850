"""examples/twists.py prints the four twists of docs/conventions.md, and draws them."""
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.paths import ROOT


@pytest.mark.slow
def test_it_prints_and_draws_the_four_twists(tmp_path):
    picture = tmp_path / "twists.png"
    printed = subprocess.run([sys.executable, ROOT / "examples/twists.py", "--picture", picture], capture_output=True,
                             text=True, check=True, cwd=ROOT).stdout
    found = {kind: np.array([*angular.split(), *linear.split()], dtype=float)
             for kind, angular, linear in re.findall(r"(\w+) +angular \[(.*)\]  linear \[(.*)\]", printed)}
    # The pin is normal to the plate, through (1, 0.4, 0), and turns by one radian a second.
    tilt = Rotation.from_euler("x", np.arctan2(3, 4))
    pin, normal = np.array((1.0, 0.4, 0.0)), np.array((0.0, -0.6, 0.8))
    R = Rotation.from_rotvec(np.radians(35.0) * normal) * tilt
    velocity = np.cross(normal, R.apply((0.6, 0.2, 0.0)))
    for kind, expected in {"body": (0.0, 0.0, 1.0, *R.inv().apply(velocity)), "hybrid": (*normal, *velocity),
                           "spatial": (*normal, *np.cross(pin, normal)), "mixed": (0.0, 0.0, 1.0, *velocity)}.items():
        np.testing.assert_allclose(found[kind], expected, atol=1e-3)
    assert picture.stat().st_size > 20_000
