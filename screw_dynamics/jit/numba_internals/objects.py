"""Kernels as object files: position-independent machine code with one symbol. The platform's C compiler links an object
file that calls only the C library and runtime.c; LLVM loads any."""
import ctypes
import pickle
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from llvmlite import binding as llvm
from numba import _dynfunc, config, njit
from numba.core import codegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.environment import Environment, lookup_environment
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from screw_dynamics.jit.numba_internals.compiler import CALLED, FLAGS

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
# Begins the names of variables for the addresses of environments: Python objects of a function, as of what it prints.
ENVIRONMENT = "_ZN08NumbaEnv"
RECURSION = ".numba.unresolved"     # begins the names of variables for the addresses of recursive functions
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


class ObjectFile(NamedTuple):
    """An object file with the symbol SYMBOL. environments: those that it reads, by their variables. is_linkable: it
    calls no function outside KNOWN and reads no environment. owner: an object that keeps alive what the code refers to
    in this process; None if it refers to nothing, so that other processes may load it."""

    data: bytes
    environments: dict[str, Environment] = {}
    is_linkable: bool = False
    owner: Any = None

    def to_bytes(self) -> bytes | None:
        """Return the content of a file for other processes; None if there can be none."""
        if self.owner is not None:
            return None
        try:
            return dumps((self.data, [(name, environment.globals["__name__"], environment.consts)
                                      for name, environment in self.environments.items()]))
        except Exception:                                   # a constant may raise anything when it is pickled
            return None


def from_bytes(content: bytes) -> ObjectFile:
    """Return the object file of a file's content. Raises an exception of any kind for a file of another version."""
    data, parts = pickle.loads(content)
    environments = {}
    for name, module, constants in parts:
        environments[name] = Environment(vars(import_module(module)))
        environments[name].consts.extend(constants)
    return ObjectFile(data, environments)


def object_of(function: Any, signature: tuple, level: str | None) -> ObjectFile | None:
    """Return the object file of a function for arguments of these Numba types, on processors of a level (LLVM's name);
    by default for this processor, or for that of Numba's settings. None if a function calls itself: Numba alone links
    it."""
    dispatcher = njit(**FLAGS, **CALLED, pipeline_class=ModuleCompiler)(function)
    dispatcher.compile(signature)
    result = dispatcher.overloads[signature]
    module, symbol = result.library._final_module, result.fndesc.llvm_func_name
    if any(variable.name.startswith(RECURSION) for variable in module.global_variables):
        return None
    for f in module.functions:
        if not f.is_declaration and f.name != symbol:
            f.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration and not variable.name.startswith((ADDRESS, ENVIRONMENT)):
            variable.linkage = "internal"
    module.get_function(symbol).name = SYMBOL
    module, machine = llvm.parse_bitcode(module.as_bitcode()), _machine(level)
    _optimize(module, machine)
    is_linkable = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")} <= KNOWN
    # Functions of Python alone, which are not in KNOWN, take environments.
    text = "" if is_linkable else str(module)
    environments = {variable.name: lookup_environment(variable.name) for variable in module.global_variables
                    if variable.name.startswith(ENVIRONMENT) and text.count(f"@{variable.name}") > 1}
    for variable in module.global_variables:
        if variable.name.startswith(ENVIRONMENT) and variable.name not in environments:
            variable.linkage = "internal"
    has_addresses = any(variable.name.startswith(ADDRESS) for variable in module.global_variables)
    starts_something = bool(getattr(result.library, "_reload_init", ()))
    is_bound = has_addresses or starts_something
    return ObjectFile(_emitted(module, machine), environments, is_linkable and not is_bound,
                      dispatcher if is_bound else None)


_loaded: list = []              # code lives as long as the process


def load(file: ObjectFile, all_functions: bool) -> int:
    """Load an object file, and return the address of its function, which calls functions of this process and of Numba.
    all_functions: False for a linkable file, as it takes 0.4 s to import those that other files call."""
    rtsys.initialize(cpu_target.target_context)
    if all_functions:
        cpu_target.target_context.refresh()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine.__wrapped__(None))
    engine.add_object_file(llvm.ObjectFileRef.from_data(file.data))
    engine.finalize_object()
    for name, environment in file.environments.items():
        ctypes.c_void_p.from_address(engine.get_global_value_address(name)).value = id(environment)
    _loaded.append((engine, file))
    return engine.get_function_address(SYMBOL)


def target() -> tuple[str, ...]:
    """Return the name and the features of the processor for which Numba compiles, and its settings of machine code."""
    numba = cpu_target.target_context.codegen()
    return (*map(str, numba.magic_tuple()), *map(str, (config.OPT, config.LOOP_VECTORIZE, config.SLP_VECTORIZE,
                                                       config.BOUNDSCHECK)))


@cache
def _machine(level):
    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    name, features = (name, features) if level is None else (level, "")
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=name, features=features, opt=config.OPT, reloc="pic", codemodel="small")


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
