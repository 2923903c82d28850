"""Without what Numba does not document there are the same numbers, and nothing on disk."""
import json
import os
import re
import subprocess
import sys

import numba
import numpy as np
import pytest

from screw_dynamics.jit.numba_internals import linking, tested
from support.core_numbers import numbers
from support.kernels import cache_with
from support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import test_numba  # noqa: E402

SMALL = """
import numpy as np
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.workspace import numbers_type
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.screws.se3 import Twist, Wrench, dot
from screw_dynamics.screws.vectors import Vec3

@compiled("power")
def power(x):
    a = Vec3(x[0], x[0], x[0])
    x[0] = dot(Wrench(a, a), Twist(a, a))

x = np.array([2.0])
function(KernelSpec(power, (numbers_type(1),)))(x)
print(x[0])
"""
# In front of a program: another version of Numba, and one that has lost what the linking takes.
UNKNOWN = "import numba; numba.__version__ = '99.1.0'\n"
CHANGED = "from screw_dynamics.jit.numba_internals import linking; linking.lookup_environment = None\n"


def run(folder, *command, **environment):
    """What a process prints, and what it logs, that finds no kernel in a folder."""
    inherited = {key: value for key, value in os.environ.items() if key != tested.VARIABLE}
    environment = {**inherited, "PYTHONPATH": str(ROOT), **cache_with([], folder), **environment}
    done = subprocess.run([sys.executable, "-W", "ignore", *command], capture_output=True, text=True, cwd=ROOT / "test",
                          env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("before, environment, kept, told", [
    ("", {}, True, ""),
    pytest.param("", {tested.VARIABLE: "0"}, False, "", marks=pytest.mark.slow),
    (UNKNOWN, {}, False, "Numba 99.1.0: a version that is not known. "),
    pytest.param(UNKNOWN, {tested.VARIABLE: "1"}, True, "", marks=pytest.mark.slow),
    (CHANGED, {}, False, f"Numba {numba.__version__}: what screw_dynamics adds to its compiler fails: .*"),
], ids=["a known version", "as chosen", "an unknown version", "chosen all the same", "another compiler"])
def test_the_way_is_chosen_by_the_version_a_trial_and_the_environment(tmp_path, before, environment, kept, told):
    out, log = run(tmp_path, "-c", before + SMALL, **environment)
    assert out == "24.0\n"
    said = [line for line in log.splitlines() if "Every process compiles" in line]
    assert len(said) == bool(told) and (not told or re.match(told, said[0]) and tested.span() in said[0])
    assert len([*tmp_path.glob("*.kernel.so")]) == kept


@pytest.mark.slow
def test_a_choice_that_is_none_is_an_error():
    program = "from screw_dynamics.jit.numba_internals.compiler import start; start()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT), tested.VARIABLE: "yes"})
    assert f"ValueError: {tested.VARIABLE} must be 0 or 1, not 'yes'" in done.stderr


@pytest.mark.slow
def test_nothing_is_prepared_where_nothing_can_be_kept(tmp_path):
    environment = {"PYTHONPATH": str(ROOT), tested.VARIABLE: "0", "SCREW_DYNAMICS_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "screw_dynamics.prepare", "gravity_torque"], capture_output=True,
                          env={**os.environ, **environment}, text=True)
    assert done.returncode == 1 and "kernels cannot be kept" in done.stderr and tested.span() in done.stderr


@pytest.mark.parametrize("version, known", [("0.57.1", False), ("0.58.0", True), ("0.60.0rc1", True), ("0.68.1", True),
                                            ("0.69.0", False), ("1.0.0", False), ("unknown", False)])
def test_known_versions_are_the_oldest_and_the_newest_and_between(version, known):
    assert tested.is_tested(version) == known


def test_this_numba_is_known_and_its_compiler_sound():
    """Or the tests of this run would be those of the other way."""
    assert tested.is_tested(numba.__version__) and linking.are_sound()


def test_what_has_no_substitute_names_the_versions():
    with pytest.raises(RuntimeError, match=rf"cannot fly with Numba {numba.__version__} \(no wings\).*{tested.span()}"):
        with tested.required("fly"):
            raise AttributeError("no wings")


@pytest.mark.slow
def test_numbers_are_the_same(tmp_path):
    out, _ = run(tmp_path, "-m", "support.core_numbers", **{tested.VARIABLE: "0"})
    without, here = json.loads(out), numbers()
    assert without.keys() == here.keys() and without.pop("failure") == here.pop("failure")
    for name, value in here.items():
        assert np.allclose(without[name], value, rtol=1e-13, atol=1e-13), name
    assert not [*tmp_path.glob("*.kernel*")]


def test_the_tests_for_other_versions_exist():
    for name in test_numba.TESTS:
        path, _, test = name.partition("::")
        found = ROOT / path
        assert found.exists() and (not test or f"def {test.partition('[')[0]}(" in found.read_text()), name
