"""examples/contact_and_payload.py finds the push and the load that it makes."""
import re
import subprocess
import sys

import pytest

from support.paths import ROOT
from support.real_robots import PATHS


@pytest.mark.slow
def test_the_example_finds_push_and_load():
    command = [sys.executable, "-W", "ignore", ROOT / "examples" / "contact_and_payload.py",
               PATHS["panda_description/urdf/panda.urdf"]]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout
    wrench = [float(x) for x in re.search(r"N: \[(.*?)\]", printed)[1].split()]
    assert max(abs(x - y) for x, y in zip(wrench, (0, 0, 0, 10, -5, 0), strict=True)) < 0.3
    slow, fast = printed.split("load from")[1:]
    assert slow.count("not observable") == 6 and "not observable" not in fast
    assert all(abs(float(re.search(r": (\S+) kg", part)[1]) - 1.2) < 0.002 for part in (slow, fast))
