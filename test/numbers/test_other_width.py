"""Lanes as wide as those of another machine: the same tests, on a copy of the sources."""
import os
import re
import shutil
import subprocess
import sys

import pytest

from screw_dynamics.numbers.lanes import WIDTH
from support.paths import ROOT

TESTS = "test/numbers/test_lanes.py", "test/compiled/test_tiles.py"


@pytest.mark.slow
def test_lanes_of_another_width(tmp_path):
    other = {4: 8, 8: 4}[WIDTH]
    for name in "screw_dynamics", "test":
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    source = tmp_path / "screw_dynamics" / "numbers" / "lanes.py"
    text, count = re.subn(r"^WIDTH = .*", f"WIDTH = {other}", source.read_text(), flags=re.MULTILINE)
    assert count == 1
    source.write_text(text)
    places = {"PYTHONPATH": str(tmp_path), "SCREW_DYNAMICS_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS], cwd=tmp_path,
                          env={**os.environ, **places}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
