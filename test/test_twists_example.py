"""examples/twists.py prints the four twists of docs/conventions.md, and draws them."""
import re
import subprocess
import sys

import numpy as np
import pytest

from support.paths import ROOT


@pytest.mark.slow
def test_it_prints_and_draws_the_four_twists(tmp_path):
    picture = tmp_path / "twists.png"
    printed = subprocess.run([sys.executable, ROOT / "examples/twists.py", "--picture", picture], capture_output=True,
                             text=True, check=True, cwd=ROOT).stdout
    found = {kind: np.array(numbers.split(), dtype=float)
             for kind, numbers in re.findall(r"(\w+) +angular .* linear \[(.*)\]", printed)}
    c, s = np.cos(np.radians(35.0)), np.sin(np.radians(35.0))
    corner = np.array((c * 0.6 - s * 0.2, s * 0.6 + c * 0.2))                   # from the pin, at one radian a second
    hybrid = np.array((-corner[1], corner[0], 0.0))
    for kind, expected in {"body": (-0.2, 0.6, 0.0), "spatial": (0.4, -1.0, 0.0), "hybrid": hybrid,
                           "mixed": hybrid}.items():
        np.testing.assert_allclose(found[kind], expected, atol=1e-3)
    assert picture.stat().st_size > 20_000
