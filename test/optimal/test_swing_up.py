"""examples/swing_up.py swings up, and draws it."""
import re
import subprocess
import sys

import pytest

from support.paths import ROOT


@pytest.mark.slow
def test_the_pendulum_stands(tmp_path):
    command = [sys.executable, ROOT / "examples" / "swing_up.py", "--picture", tmp_path / "motion.png"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout
    end, speed, efforts = ([float(x) for x in re.search(rf"{before} \[(.*?)\]", printed)[1].split()]
                           for before in ("at the end:", "upright, at", "at most"))
    assert max(map(abs, end + speed)) < 1e-2 and efforts[0] <= 20.0 and efforts[1] <= 5.0
    assert (tmp_path / "motion.png").stat().st_size > 10_000
