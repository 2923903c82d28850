"""NUMBA_DISABLE_JIT=1: everything runs in plain Python, with the same results."""
import os
import subprocess
import sys

import numpy as np
import pytest

import screw_dynamics as sd
from support.every_method import results
from support.matrices import error
from support.paths import ROOT

pytestmark = pytest.mark.slow


def run(script):
    """What a script prints in a process without Numba's JIT."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "test")])
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True,
                          env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The results of every method in plain Python."""
    path = tmp_path_factory.mktemp("plain") / "results.npz"
    run(f"from support.every_method import save; save({str(path)!r})")
    return dict(np.load(path))


def test_every_method_gives_the_same_in_plain_python(plain):
    compiled = results()
    assert plain.keys() == compiled.keys()
    for name, expected in compiled.items():
        assert np.isfinite(expected).all(), name
        if expected.size:
            assert error(plain[name], expected) < (2e-12 if "rk45" in name else 1e-13), name


BUILDERS = {"with_drives", "with_forces", "with_inertial_parameters"}        # which compute nothing
PROPERTIES = {name for name in dir(sd.Robot) if not callable(getattr(sd.Robot, name))}


def test_every_method_is_called(plain):
    called = {word for name in plain for word in name.replace(",", " ").split()}
    assert {name for name in dir(sd.Robot) if not name.startswith("_")} - PROPERTIES - BUILDERS <= called


def test_nothing_is_compiled_and_what_is_singular_is_not_finite():
    """As compiled: no ZeroDivisionError, and no warning (-W error)."""
    assert run("""
import numpy as np
import screw_dynamics as sd
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    builder = sd.ModelBuilder("root")
    builder.add_screw("joint", "link", "root", axis=(0, 0, 1))
    robot = sd.Robot(builder.build())
    print(np.isfinite(robot.forward_dynamics([0.0], [0.0], [1.0])), robot.gravity_torque([np.nan]))
print(len(compiled.buffer))
""") == "[False] [nan]\n0"
