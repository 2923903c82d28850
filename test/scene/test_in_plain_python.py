"""Tests of scenes whose kernels take long to compile, in plain Python: the same source."""
import os
import subprocess
import sys
from pathlib import Path

from support.paths import ROOT

FILES = "test_contact_laws.py", "test_contact_physics.py"


def test_scenes_in_plain_python():
    """Their tests are slow ones where they are compiled."""
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", *(here / file for file in FILES)],
        capture_output=True, text=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
