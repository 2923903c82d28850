"""Modules of the functions that become part of kernels, as JSON: python -m support.lowered_modules [kernel ...]

For each kernel the modules in its fingerprint, and those of all functions that Numba lowers for it; without names of
kernels, of all that robots on fixed and floating bases call. In a process of its own: functions are lowered once."""
import gc
import json
import re
import sys

from numba import njit
from numba.core.typed_passes import NativeLowering

from screw_dynamics import prepare
from screw_dynamics.compiled.functions import form_of_words
from screw_dynamics.kernel_cache.fingerprint import fingerprint
from screw_dynamics.numba_internals import linking
from screw_dynamics.numba_internals.compiler import CALLED, FLAGS, start, types_of
from screw_dynamics.numba_internals.objects import ModuleCompiler

_module_of, _linked = {}, set()
_run_pass, _callers_first = NativeLowering.run_pass, linking.callers_first


def _lower(self, state):
    done = _run_pass(self, state)
    _module_of[state.library] = state.func_id.func.__module__
    return done


def _link(libraries):
    libraries = [*_callers_first(libraries)]
    _linked.update(_module_of[library] for library in libraries if isinstance(library, linking.Callee))
    return iter(libraries)


def main(names):
    """Print what is found."""
    NativeLowering.run_pass, linking.callers_first = _lower, _link
    start()
    gc.disable()            # as where kernels are compiled: what is made lives to the end
    forms, found = prepare.forms("core", "floating_bases"), {}
    for name in names or forms:
        form = form_of_words(forms[name])
        _linked.clear()
        njit(**FLAGS, **CALLED, pipeline_class=ModuleCompiler)(form.compiled.function).compile(types_of(form.signature))
        named = re.findall(r"'(screw_dynamics[\w.]*)'", repr(fingerprint(form.compiled.function)))
        found[name] = sorted(set(named)), sorted(filter(None, _linked))
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
