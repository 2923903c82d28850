"""Kernels as object files for the platform's C compiler: position-independent machine code for an instruction level,
with one visible symbol. It calls only the C library and runtime.c.

Unlike the results of linking.py, it runs without Numba and without an execution engine."""
from functools import cache
from typing import Any

from llvmlite import binding as llvm
from numba import _dynfunc, config, njit
from numba.core import codegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass

from screw_dynamics.numba_internals.compiler import CALLED, FLAGS, start

from . import linking

# Functions that kernels may call: those of C and of runtime.c.
MATH = {"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "cos", "cosh", "exp", "exp2",
        "expm1", "fabs", "floor", "fma", "fmod", "hypot", "log", "log10", "log1p", "log2", "pow", "rint", "round",
        "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "trunc",
        "erf", "erfc", "lgamma", "tgamma"}
KNOWN = MATH | {"clock_gettime", "memcpy", "memmove", "memset", "NRT_MemInfo_alloc_safe_aligned",
                "NRT_MemInfo_alloc_aligned", "NRT_MemInfo_alloc", "NRT_MemInfo_call_dtor", "numba_gil_ensure",
                "numba_gil_release", "PyErr_CheckSignals", "PyEval_RestoreThread", "PyEval_SaveThread"}
SYMBOL = "kernel"
# Begins the names of variables with addresses of this process, as of large constant arrays. LLVM takes none of their
# values for a constant; those of functions, which code does not read, are gone once it is optimized.
ADDRESS = "numba.dynamic.globals"
LARGE = 5000                    # instructions of a function


class ModuleLibrary(linking.Whole):
    """A kernel with all functions that it calls, not optimized; this process makes no machine code of it."""

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class ModuleLowering(linking.Lowering):
    """A pass that lowers a function into a ModuleLibrary."""

    _name = "module_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower a function. Nothing is executable, but Numba requires an object that Python could call."""
        linking.rename(state)
        state.library = ModuleLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        state.library.finalize()            # Numba leaves this to the step that makes code executable
        lowered = state["cr"]
        key = _dynfunc.make_function(lowered.fndesc.lookup_module(), state.library.name, "", 0, lowered.env, ())
        state["cr"] = lowered._replace(cfunc=key)
        return True


class ModuleCompiler(linking._WithLowering):
    """A compiler of a kernel to an LLVM module."""

    lowering = ModuleLowering


def object_of(function: Any, signature: tuple, level: str) -> bytes | None:
    """Return the object file of a function for arguments of these Numba types, on processors of a level (LLVM's name).
    None if the code calls functions outside KNOWN, or contains addresses of this process."""
    start()
    dispatcher = njit(**FLAGS, **CALLED, pipeline_class=ModuleCompiler)(function)
    dispatcher.compile(signature)
    result = dispatcher.overloads[signature]
    if not isinstance(result.library, ModuleLibrary):       # compiled by Numba's own compiler: see linking.py
        return None
    module, symbol = result.library._final_module, result.fndesc.llvm_func_name
    for f in module.functions:
        if not f.is_declaration and f.name != symbol:
            f.linkage = "internal"
    for variable in module.global_variables:                # Numba's environments, which are not read
        if not variable.is_declaration and not variable.name.startswith(ADDRESS):
            variable.linkage = "internal"
    module.get_function(symbol).name = SYMBOL
    module, machine = llvm.parse_bitcode(module.as_bitcode()), _machine(level)
    _optimize(module, machine)
    called = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}
    if not called <= KNOWN or any(variable.name.startswith(ADDRESS) for variable in module.global_variables):
        return None
    return _emitted(module, machine)


@cache
def _machine(level):
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=level, opt=config.OPT, reloc="pic", codemodel="small")


def _optimize(module, machine):
    """Run the passes of Numba's module pass manager."""
    options = dict(loop_vectorize=config.LOOP_VECTORIZE, slp_vectorize=config.SLP_VECTORIZE)
    if linking.PASSES_ARE_CHOSEN:
        builder = codegen.create_pass_builder(machine, opt=config.OPT, **options)
        builder.getModulePassManager().run(module, builder)
    else:
        passes = llvm.create_module_pass_manager()
        machine.add_analysis_passes(passes)
        with llvm.create_pass_manager_builder() as builder:
            builder.opt_level = config.OPT
            for name, value in options.items():
                setattr(builder, name, value)
            builder.populate(passes)
        passes.run(module)


def _emitted(module, machine):
    """Return the object file of an optimized module. LLVM takes up to three quarters of this time to choose the
    addressing in loops of large functions, which makes their code no faster: there it is switched off."""
    sizes = (sum(len([*block.instructions]) for block in f.blocks) for f in module.functions)
    with global_compiler_lock:          # the switch holds for the process: no other code is compiled meanwhile
        llvm.set_option("", f"-disable-lsr={max(sizes) > LARGE}".lower())
        try:
            return machine.emit_object(module)
        finally:
            llvm.set_option("", "-disable-lsr=false")
