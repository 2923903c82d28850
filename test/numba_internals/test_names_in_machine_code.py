"""What several processes compiled and one loads is told apart, by whatever it is looked up."""
import os
import subprocess
import sys

import pytest

from support.paths import ROOT

# Its arguments: factors. It loads or compiles a function for each, and asks for their addresses when all are there.
FACTORS = """
import ctypes
import sys

from numba import types

from screw_dynamics.kernel_cache.cache import compiled, prepare
from screw_dynamics.compiled.native import address

def times(factor):
    @compiled("times")
    def function(x, out):
        out[0] = factor * x
    return function

found = []
for factor in map(float, sys.argv[1:]):
    made = times(factor)
    found.append(prepare(made, (types.float64, types.Array(types.float64, 1, "C"))))
print(*(result.fndesc.llvm_func_name for result in found), sum(made.dispatcher.stats.cache_hits.values()))
KIND = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, *[ctypes.c_void_p] * 2,
                        *[ctypes.c_ssize_t] * 2, ctypes.c_void_p, *[ctypes.c_ssize_t] * 2)
for result in found:
    out, error, none = ctypes.c_double(), ctypes.c_void_p(), ctypes.c_void_p()
    KIND(address(result))(ctypes.addressof(none), ctypes.addressof(error), 1.0, None, None, 1, 8,
                          ctypes.addressof(out), 1, 8)
    print(out.value)
"""


def run(folder, *factors):
    """What the program prints, line by line. Sets have the same order in all processes: Numba's names tell it."""
    done = subprocess.run([sys.executable, "-c", FACTORS, *factors], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "SCREW_DYNAMICS_CACHE_DIR": str(folder),
                               "PYTHONHASHSEED": "0"})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_an_address_is_that_of_the_function_whenever_it_is_asked_for(tmp_path):
    """Both functions are the first of their process, which is all that Numba's names tell; a third one loads both, and
    looks for addresses later, as another thread may have loaded a namesake meanwhile."""
    (one, hits), two = run(tmp_path, "2")[0].split(), run(tmp_path, "3")[0].split()[0]
    assert hits == "0" and one != two
    names, *numbers = run(tmp_path, "2", "3")
    assert names.split() == [one, two, "1"] and numbers == ["2.0", "3.0"]
