"""Definitions that become part of kernels, as JSON: python -m support.lowered_definitions [kernel ...]

For each kernel the definitions in its fingerprint, and those of all functions that Numba lowers for it, each as its
module and name; without names of kernels, of all that robots on fixed and floating bases call. In a process of its own:
functions are lowered once."""
import gc
import json
import sys

from numba import njit
from numba.core.typed_passes import NativeLowering

from screw_dynamics import prepare
from screw_dynamics.compiled.functions import spec_of_words
from screw_dynamics.jit.kernel_cache import dependencies
from screw_dynamics.jit.kernel_cache import fingerprint as fingerprints
from screw_dynamics.jit.numba_internals import linking
from screw_dynamics.jit.numba_internals.compiler import CALLED, FLAGS, start, types_of
from screw_dynamics.jit.numba_internals.objects import ModuleCompiler

_definition_of, _linked, _named = {}, set(), set()
_run_pass, _callers_first = NativeLowering.run_pass, linking.callers_first


def _lower(self, state):
    done = _run_pass(self, state)
    function = state.func_id.func
    _definition_of[state.library] = str(function.__module__), function.__qualname__.partition(".")[0]
    return done


def _link(libraries):
    libraries = [*_callers_first(libraries)]
    _linked.update(_definition_of[library] for library in libraries if isinstance(library, linking.Callee))
    return iter(libraries)


def _digest(module, name=""):
    if (found := dependencies.digest(module, name)) is not None:
        _named.add((module, name))
    return found


def main(names):
    """Print what is found."""
    NativeLowering.run_pass, linking.callers_first, fingerprints.digest = _lower, _link, _digest
    start()
    gc.disable()            # as where kernels are compiled: what is made lives to the end
    forms, found = prepare.forms(*prepare.PARTS), {}
    for name in names or forms:
        spec = spec_of_words(forms[name])
        _linked.clear()
        njit(**FLAGS, **CALLED, pipeline_class=ModuleCompiler)(spec.compiled.function).compile(types_of(spec.signature))
        _named.clear()
        fingerprints.fingerprint(spec.compiled.function)
        found[name] = sorted(_named), sorted(_linked)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
