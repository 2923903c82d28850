"""Kernels as Python calls them: by the extension, and the same without it."""
import json
import subprocess
import sys

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.compiled import calls, python_calls
from screw_dynamics.compiled.array_views import READABLE, is_array, view_of
from screw_dynamics.numbers.values import PLAIN
from support.paths import URDF

SCRIPT = f"""
import json, logging, sys
import numpy as np
lines = []
logging.getLogger("screw_dynamics").addFilter(lambda record: lines.append(record.getMessage()) or False)
if sys.argv[1] == "without":
    sys.modules["screw_dynamics.compiled._calls"] = None
import screw_dynamics as sd
robot = sd.Robot.from_urdf({str(URDF / "double_pendulum.urdf")!r})
rows = np.linspace(-1.0, 1.0, 10).reshape(5, 2)
q, load = rows[1], {{robot.link_names[-1]: np.arange(6.0)}}
single = np.empty((5, 2), np.float32)
robot.gravity_torque(rows, out=single)
found = [robot.gravity_torque(q), robot.gravity_torque(rows), robot.external_torque(q, load),
         robot.external_torque(rows, load), robot.jacobian(q, robot.link_names[-1]), *robot.step(q, q, q, 1e-3),
         *robot.rollout(q, q, steps=3), single]
print(json.dumps([[x.tolist() for x in found], [line for line in lines if "extension" in line]]))"""


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="plain Python needs no extension")
def test_without_the_extension_results_are_the_same_and_a_line_says_what_is_missing():
    done = [subprocess.run([sys.executable, "-c", SCRIPT, way], capture_output=True, text=True, check=True)
            for way in ("with", "without")]
    (with_it, none), (without, lines) = (json.loads(process.stdout) for process in done)
    assert none == [] and len(lines) == 1 and "the extension of screw_dynamics is not there" in lines[0]
    for a, b in zip(with_it[:-1], without[:-1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-14)            # lanes and single states round differently
    np.testing.assert_allclose(with_it[-1], without[-1], rtol=2e-6, atol=2e-6)


@pytest.fixture
def pendulum():
    return sd.Robot.from_urdf(URDF / "double_pendulum.urdf")


def test_what_a_kernel_cannot_read_is_left_to_python(pendulum):
    """And nothing is written: other types, byte orders, layouts, lengths, subclasses, read-only results."""
    q, out = np.array([0.3, -0.2]), np.full(2, 7.0)
    kernel = pendulum._gravity_torque
    expected = pendulum.gravity_torque(q)
    assert kernel(q, out, None) is out and (out == expected).all()
    frozen = np.full(2, 7.0)
    frozen.flags.writeable = False
    for x in ([0.3, -0.2], q.astype(">f8"), q.astype("f4"), np.repeat(q, 2)[::2], np.zeros(3), q[None, None],
              q.view(np.matrix), np.ma.array(q), None, 3, {"a": q}):
        assert kernel(x, None, None) is None
    for other in (frozen, np.full(3, 7.0), np.full(2, 7), np.full(4, 7.0)[::2], [7.0, 7.0], 7.0):
        assert kernel(q, other, None) is None and np.all(np.asarray(other) == 7)


def test_a_call_with_another_number_of_arguments_is_refused(pendulum):
    for arguments in ((), (np.zeros(2),), (np.zeros(2), None, None, None)):
        with pytest.raises(TypeError, match="3 arguments"):
            pendulum._gravity_torque(*arguments)
    with pytest.raises(TypeError):
        pendulum._gravity_torque(np.zeros(2), out=None, threads=None)


def test_views_of_arrays_tell_what_they_are():
    x = np.zeros((2, 3))
    views = [view_of(a) for a in (x, x.T, x.astype("f4"), x.astype(">f8"))]
    at = [view.ctypes.data for view in views]
    assert [is_array(where, (2, 3), READABLE) for where in at] == [True, False, False, False]
    assert not is_array(0, (2, 3), READABLE) and not is_array(at[0], (3, 2), READABLE)


@pytest.mark.skipif(calls.calls is python_calls, reason="the extension is not built")
def test_the_extension_refuses_what_is_no_kernel():
    with pytest.raises(ValueError, match="at most 5 inputs"):
        calls.calls.BoundKernel(None, np.zeros(1), (1,) * 6, (0,) * 6, (1,), False, 1, None, [], list)
    for kinds in ("i" * 25, "ix"):
        with pytest.raises(ValueError, match=f"kinds {kinds}"):
            calls.calls.Kernel(1, kinds)
