"""Compilers of functions that compiled code alone calls, and of entry points, which call these.

Numba compiles each function as if Python called it: its code is optimized, made machine code of, and linked into that
of its callers, where it is optimized again. Here the code of a function that compiled code alone calls stays as it is
lowered; an entry point links all that it calls, directly or not, and the whole is optimized once. That takes two thirds
of the time, and what comes out is as fast.

Functions that call each other in a circle cannot be compiled so."""
import secrets
from collections.abc import Iterable, Iterator
from typing import Any

from llvmlite import binding as llvm
from numba import _dynfunc, njit, types
from numba.core import lowering
from numba.core.codegen import CodeLibrary, CPUCodegen, JITCodeLibrary
from numba.core.compiler import Compiler, StateDict
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.environment import lookup_environment
from numba.core.runtime.context import NRTContext
from numba.core.typed_passes import NativeLowering

from .tested import give_up, in_use

# Numba's passes for what this package does not use in kernels: `with`, closures, array expressions, inline="always" and
# others. After most of them Numba finds the variables that are alive anew, an eleventh of the time of compiling in all.
UNUSED = {"WithLifting", "InlineClosureLikes", "RewriteDynamicRaises", "MakeFunctionToJitFunction", "InlineInlinables",
          "FindLiterallyCalls", "LiteralUnroll", "LiteralPropagationSubPipelinePass", "InlineOverloads",
          "NopythonRewrites", "DumpParforDiagnostics"}
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
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = llvm.create_new_function_pass_manager(), self._codegen._pass_builder()
                passes.add_sroa_pass()
                passes.run(function, builder)
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        """Take in no code from now on."""
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True

    def alone(self) -> llvm.ModuleRef:
        """Return the module of this function, without what it calls, to be linked."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self):
        """Return the module with all that it calls, for a caller that Numba compiles in its own way."""
        if self._whole is None:
            self._whole = Whole(self._codegen, self.name)
            self._whole._final_module.link_in(self._final_module, preserve=True)
            self._whole._linking_libraries = self._linking_libraries
        return self._whole._get_module_for_linking()


class Whole(JITCodeLibrary):
    """The code of a function that has machine code, with all that it calls."""

    def finalize(self) -> None:
        """Optimize the whole, and make machine code of it."""
        module = self._final_module
        for library in callers_first(self._linking_libraries):
            if hasattr(library, "_reload_init"):                # since Numba 0.62
                self._reload_init.update(library._reload_init)
            module.link_in(library.alone() if isinstance(library, Callee) else library._get_module_for_linking(),
                           preserve=True)
        self._linking_libraries = []
        # What is not inlined is nobody else's: parts that Numba compiles in its own way have names that are told apart
        # in one process alone, and files of machine code come from several. Of one name, the loader takes one for all.
        for function in module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = "internal"
        super().finalize()

    def _optimize_final_module(self):
        """Once: Numba's two rounds are for reference counts, which code of numbers does without."""
        if not PASSES_ARE_CHOSEN:
            return super()._optimize_final_module()
        passes, builder = self._codegen._module_pass_manager()
        with self._recorded_timings.record("Module passes", builder):
            passes.run(self._final_module, builder)

    def _finalize_specific(self):
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            if (environment := lookup_environment(variable.name)) is not None:
                self._codegen.set_env(variable.name, environment)


def callers_first(libraries: Iterable[CodeLibrary]) -> Iterator[CodeLibrary]:
    """Libraries and those that they call, each once and after all of its callers: what nothing in a module refers to
    when it is linked is left out."""
    order, seen = [], set()

    def visit(libraries):
        for library in libraries:
            if library not in seen:
                seen.add(library)
                visit(library._linking_libraries if isinstance(library, Callee) else ())
                order.append(library)
    visit(libraries)
    return reversed(order)


def rename(state: StateDict) -> None:
    """Give a function a name in machine code that no other has, in any process: Numba counts functions, in each process
    from the same number on, and of two that are loaded from files an address is found by the name alone."""
    state.func_ir.func_id.unique_id = secrets.randbits(64)


class References(NRTContext):
    """Numba's counts of references, but that nothing is taken apart in search of them that has none."""

    def __init__(self, context: Any, enabled: bool):
        super().__init__(context, enabled)
        self._known: dict = {}

    def are_in(self, kind: Any) -> bool:
        """True if values of a type hold references that are counted."""
        if kind not in self._known:
            self._known[kind] = False                       # until it is known: some models traverse themselves
            model = self._context.data_model_manager[kind]
            self._known[kind] = (isinstance(kind, types.DeferredType) or model.has_nrt_meminfo()
                                 or any(map(self.are_in, model.traverse_types())))
        return self._known[kind]

    def get_meminfos(self, builder: Any, ty: Any, val: Any) -> list:
        """Return the pairs (type, reference) that are counted in a value."""
        return super().get_meminfos(builder, ty, val) if self.are_in(ty) else []


class Lower(lowering.Lower):
    """Numba's lowering without what serves counted references, where a type holds none: Numba loads what a variable was
    before each store, and fills it with zeros after its last use."""

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a value into a variable."""
        if argidx is not None or name in self._singly_assigned_vars or self.context.nrt.are_in(self.typeof(name)):
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """End the use of a variable."""
        if self.context.nrt.are_in(self.typeof(name)):
            super().delvar(name)
        elif name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)


class Lowering(NativeLowering):
    """Lowers a function by Lower."""

    lowering_class = Lower

    def run_pass(self, state: StateDict) -> bool:
        """Lower a function with References."""
        context = state.targetctx.subtarget()
        context.nrt = References(context, context.enable_nrt)
        state.targetctx = context
        return super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class CalleeLowering(Lowering):
    """Lowers a function into a Callee, and makes it known to its callers."""

    _name = "callee_lowering"

    def run_pass(self, state: StateDict) -> bool:
        """Lower a function; the key to it, which has to be one that Python can call, has no address."""
        rename(state)
        state.library = library = Callee(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        key = _dynfunc.make_function(lowered.fndesc.lookup_module(), library.name, "", 0, lowered.env, (library,))
        state.targetctx.insert_user_function(key, lowered.fndesc, [library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(Lowering):
    """Lowers a function into a Whole, which can be kept on disk."""

    _name = "entry_lowering"

    def run_pass(self, state: StateDict) -> bool:
        """Lower a function into a Whole."""
        rename(state)
        state.library = Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


class _WithLowering(Compiler):
    """Numba's compiler, but for the lowering, and without passes that a function has no use for."""

    lowering: type[NativeLowering]
    unused = {"NativeLowering"}

    def define_pipelines(self) -> list[PassManager]:
        """Numba's passes, with another lowering in place of its own if that works."""
        passes, = super().define_pipelines()
        if not _are_sound():
            return [passes]
        passes.add_pass_after(self.lowering, NativeLowering)
        passes.passes = [(kind, text) for kind, text in passes.passes if kind.__name__ not in self.unused]
        passes.finalize()
        return [passes]


class UsersCompiler(_WithLowering):
    """Compiles a user's function that compiled code alone calls."""

    lowering = CalleeLowering


class CalleeCompiler(UsersCompiler):
    """Compiles a function of this package that compiled code alone calls."""

    unused = UsersCompiler.unused | UNUSED


class EntryCompiler(_WithLowering):
    """Compiles an entry point."""

    lowering = EntryLowering


_tried = False


def _are_sound():
    """True unless these compilers fail at a line, which they try before anything else that a process compiles."""
    global _tried
    if not _tried:
        _tried = True           # at once: they compile that line, too
        try:
            called = njit(pipeline_class=CalleeCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True)
            half = called(lambda x: 0.5 * x)
            if njit(pipeline_class=EntryCompiler)(lambda x: half(x) + 1.0)(4.0) != 3.0:
                give_up("what it compiles for screw_dynamics computes something else")
        except Exception as error:      # Numba has errors of its own for what a pass raises
            give_up(f"what screw_dynamics adds to its compiler fails: {type(error).__name__}: {error}")
    return in_use()
