"""Tests of scenes whose kernels take long to compile, in plain Python: the same source."""
import os
import subprocess
import sys

import pytest

from support.paths import ROOT

FILES = ("scene/test_contact_physics.py", "scene/test_contact_laws.py", "scene/test_contacts_of_robots.py",
         "contact/test_pairs.py", "contact/test_convex_pairs.py", "contact/test_detection.py",
         *(pytest.param(f"{name}.py", marks=pytest.mark.slow) for name in (          # take longer, or see less
             "scene/test_convex_contacts", "scene/test_self_collision", "scene/test_scene_view",
             "simulated_robot/test_servos_that_touch")))


@pytest.mark.parametrize("file", FILES)
def test_in_plain_python(file):
    """Its tests are slow ones where they are compiled."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", ROOT / "test" / file],
        capture_output=True, text=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
