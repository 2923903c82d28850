"""Tests whose kernels take long to compile, and that few others call: those marked `plain` run here in plain Python,
which is the same source, and compiled among the slow ones."""
import os
import subprocess
import sys

import pytest

from support.paths import ROOT

TEST = ROOT / "test"
MARKED = sorted(path for path in TEST.rglob("test_*.py") if "pytest.mark.plain" in path.read_text(encoding="utf-8")
                if path.name != "test_in_plain_python.py")
OF_CONTACTS = [path for path in MARKED if path.parent.name in ("contact", "scene")]
# Those that take longer in plain Python too, or see less there.
LONG = ("scene/test_convex_contacts.py", "scene/test_self_collision.py", "scene/test_scene_view.py",
        "simulated_robot/test_servos_that_touch.py")


def run(mark, files):
    """Let pytest run the tests of files with a mark in one process, without Numba's JIT; some were."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", mark, "-p", "no:cacheprovider", *files], capture_output=True,
        text=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.timeout(3600)      # it runs hundreds of tests, which take half an hour on a busy machine
@pytest.mark.parametrize("files", [OF_CONTACTS, [path for path in MARKED if path not in OF_CONTACTS]],
                         ids=["contacts", "others"])
def test_in_plain_python(files):
    run("plain and not slow", files)


@pytest.mark.slow
@pytest.mark.parametrize("file", LONG)
def test_longer_ones_in_plain_python(file):
    run("not slow", [TEST / file])
