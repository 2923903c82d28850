"""A bridge whose library is missing names the extra."""
import subprocess
import sys

import pytest

from support.paths import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("module, name", [("jax", "JAX"), ("casadi", "CasADi")])
def test_without_its_library_it_names_the_extra(module, name):
    program = f"import sys; sys.modules[{module!r}] = None; import screw_dynamics.backends.{module}"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    says = f"ImportError: screw_dynamics.backends.{module} requires {name}: pip install \"screw_dynamics[{module}]\""
    assert done.returncode == 1 and done.stderr.rstrip().endswith(says)
