"""examples/identification.py finds the arm that it simulates."""
import re
import subprocess
import sys

import pytest

from support.paths import ROOT
from support.real_robots import PATHS


@pytest.mark.slow
def test_the_example_finds_the_arm(tmp_path):
    command = [sys.executable, "-W", "ignore", ROOT / "examples" / "identification.py",
               PATHS["panda_description/urdf/panda.urdf"], "--picture", tmp_path / "report.png"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout
    inside, total = map(int, re.search(r"(\d+) of (\d+) true base parameters are in", printed).groups())
    assert total == 57 and inside > 0.85 * total
    assert "7 of 7 links are possible bodies" in printed
    drawn, identified = (float(x) for x in re.findall(r"wrong by (\S+) N m rms", printed))
    assert identified < 0.02 * drawn
    assert (tmp_path / "report.png").stat().st_size > 50_000
