"""Compilers of functions that compiled code alone calls, and of entry points, which call these.

Numba compiles each function as if Python called it: its code is optimised, made machine code of, and linked into that
of its callers, where it is optimised again. Here the code of a function that compiled code alone calls stays as it is
lowered; an entry point links all that it calls, directly or not, and the whole is optimised once. That takes two thirds
of the time, and what comes out is as fast."""
from collections.abc import Callable, Iterable, Iterator

from llvmlite import binding as llvm
from numba import _dynfunc
from numba.core.codegen import CodeLibrary, CPUCodegen, JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, StateDict
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering

PASSES_ARE_CHOSEN = hasattr(CPUCodegen, "_pass_builder")        # else they are Numba's: before 0.62


class Callee(JITCodeLibrary):
    """The code of a function that becomes part of its callers' and has no machine code of its own."""

    _whole = None

    def add_llvm_module(self, ll_module: llvm.ModuleRef) -> None:
        """Take in code, with its variables in registers: as it is lowered all of them are in memory, and each copy of
        it in a caller would have to be cleaned of that."""
        if not PASSES_ARE_CHOSEN:
            return super().add_llvm_module(ll_module)
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = llvm.create_new_function_pass_manager(), self._codegen._pass_builder()
        passes.add_sroa_pass()
        for function in ll_module.functions:
            passes.run(function, builder)
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        """Take in no code from now on."""
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True

    def alone(self) -> llvm.ModuleRef:
        """The module of this function, without what it calls, to be linked."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self):
        """The module with all that it calls, for a caller that Numba compiles in its own way."""
        if self._whole is None:
            self._whole = Whole(self._codegen, self.name)
            self._whole._final_module.link_in(self._final_module, preserve=True)
            self._whole._linking_libraries = self._linking_libraries
        return self._whole._get_module_for_linking()


class Whole(JITCodeLibrary):
    """The code of a function that has machine code, with all that it calls."""

    def finalize(self) -> None:
        """Optimise the whole, and make machine code of it."""
        for library in called(self._linking_libraries):
            reloads(self).update(reloads(library))
            module = library.alone() if isinstance(library, Callee) else library._get_module_for_linking()
            self._final_module.link_in(module, preserve=True)
        self._linking_libraries = []
        super().finalize()

    def _optimize_final_module(self):
        """Once: Numba's two rounds are for reference counts, which code of numbers does without."""
        if not PASSES_ARE_CHOSEN:
            return super()._optimize_final_module()
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)

    def _finalize_specific(self):
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            if (environment := lookup_environment(variable.name)) is not None:
                self._codegen.set_env(variable.name, environment)


def reloads(library: CodeLibrary) -> set:
    """What has to run before code of a library is loaded from a file; nothing before Numba 0.62."""
    return getattr(library, "_reload_init", set())


def called(libraries: Iterable[CodeLibrary]) -> Iterator[CodeLibrary]:
    """Libraries and those that they call, each once."""
    waiting, seen = list(libraries), set()
    while waiting:
        library = waiting.pop()
        if library not in seen:
            seen.add(library)
            yield library
            waiting += library._linking_libraries if isinstance(library, Callee) else ()


@register_pass(mutates_CFG=False, analysis_only=False)
class Registration(LoweringPass):
    """Makes a function known to its callers, in place of what Numba does once there is machine code."""

    _name = "registration_of_callee"

    def __init__(self):
        super().__init__()              # which is abstract

    def run_pass(self, state: StateDict) -> bool:
        """Insert it under a key of its own, which has to be a function for Python: one without an address."""
        lowered, library = state["cr"], state.library
        key = _dynfunc.make_function(lowered.fndesc.lookup_module(), library.name, "", 0, lowered.env, (library,))
        state.targetctx.insert_user_function(key, lowered.fndesc, [library])
        if reloads(library):
            state.reload_init.extend(reloads(library))
        state["cr"] = lowered._replace(cfunc=key)
        return True


class CalleeCompiler(Compiler):
    """Compiles a function that compiled code alone calls."""

    def compile_extra(self, func: Callable) -> CompileResult:
        """Compile it into a Callee."""
        self.state.library = Callee(self.state.targetctx.codegen(), func.__qualname__)
        self.state.flags.no_compile = True
        return super().compile_extra(func)

    def define_pipelines(self) -> list[PassManager]:
        """Numba's, with a registration."""
        passes, = super().define_pipelines()
        passes.add_pass_after(Registration, NativeLowering)
        passes.finalize()
        return [passes]


class EntryCompiler(Compiler):
    """Compiles an entry point, which can be kept on disk."""

    def compile_extra(self, func: Callable) -> CompileResult:
        """Compile it into a Whole."""
        self.state.library = Whole(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)
