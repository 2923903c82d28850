"""Compilers of functions that only compiled code calls.

Numba compiles each function as if Python called it: it optimizes the code, makes machine code, and links the code into
the callers, where it is optimized again. Here the code of a function that only compiled code calls stays as it is
lowered. A kernel links all functions that it calls, directly or not, and the whole is optimized once: see objects.py.
That takes two thirds of the time, and the result is as fast.

Mutually recursive functions cannot be compiled this way."""
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

# Numba's passes for features that kernels do not use: `with`, closures, array expressions, inline="always" and others.
# After most of them Numba repeats its live-variable analysis, which takes an eleventh of the compile time in all.
UNUSED = {"WithLifting", "InlineClosureLikes", "RewriteDynamicRaises", "MakeFunctionToJitFunction", "InlineInlinables",
          "FindLiterallyCalls", "LiteralUnroll", "LiteralPropagationSubPipelinePass", "InlineOverloads",
          "NopythonRewrites", "DumpParforDiagnostics"}
PASSES_ARE_CHOSEN = hasattr(CPUCodegen, "_pass_builder")        # False before Numba 0.62: there the passes are Numba's


class Callee(JITCodeLibrary):
    """The code of a function that becomes a part of its callers' code and has no machine code of its own."""

    _whole = None

    def add_llvm_module(self, ll_module: llvm.ModuleRef) -> None:
        """Add a module, with its variables in registers. Lowering puts all variables in memory, and each copy in a
        caller would have to be cleaned up."""
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
        """Accept no more code."""
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True

    def alone(self) -> llvm.ModuleRef:
        """Return the module of this function for linking, without the functions that it calls."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self):
        """Return the module with all functions that it calls, for a caller that Numba compiles in its own way."""
        if self._whole is None:
            self._whole = Whole(self._codegen, self.name)
            self._whole._final_module.link_in(self._final_module, preserve=True)
            self._whole._linking_libraries = self._linking_libraries
        return self._whole._get_module_for_linking()


class Whole(JITCodeLibrary):
    """The code of a function that has machine code, with all functions that it calls."""

    def finalize(self) -> None:
        """Optimize the whole code, and make machine code."""
        module = self._final_module
        for library in callers_first(self._linking_libraries):
            if hasattr(library, "_reload_init"):                # since Numba 0.62
                self._reload_init.update(library._reload_init)
            module.link_in(library.alone() if isinstance(library, Callee) else library._get_module_for_linking(),
                           preserve=True)
        self._linking_libraries = []
        super().finalize()

    def _optimize_final_module(self):
        """Optimize once. Numba's two rounds serve reference counts, which numerical code does not have."""
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
    """Return libraries and those that they call, each once and after all of its callers. Linking omits a library that
    nothing in the module refers to yet."""
    order, seen = [], set()

    def visit(libraries):
        for library in libraries:
            if library not in seen:
                seen.add(library)
                visit(library._linking_libraries if isinstance(library, Callee) else ())
                order.append(library)
    visit(libraries)
    return reversed(order)


class References(NRTContext):
    """Numba's reference counting, which skips values of types without references."""

    def __init__(self, context: Any, enabled: bool):
        super().__init__(context, enabled)
        self._known: dict = {}

    def are_in(self, kind: Any) -> bool:
        """Return True if values of a type hold counted references."""
        if kind not in self._known:
            self._known[kind] = False                       # until the result is known: some models are recursive
            model = self._context.data_model_manager[kind]
            self._known[kind] = (isinstance(kind, types.DeferredType) or model.has_nrt_meminfo()
                                 or any(map(self.are_in, model.traverse_types())))
        return self._known[kind]

    def get_meminfos(self, builder: Any, ty: Any, val: Any) -> list:
        """Return the pairs (type, reference) of the counted references in a value."""
        return super().get_meminfos(builder, ty, val) if self.are_in(ty) else []


class Lower(lowering.Lower):
    """Numba's lowering, without the code for counted references if a type has none: Numba loads a variable's old value
    before each store, and fills the variable with zeros after its last use."""

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a value in a variable."""
        if argidx is not None or name in self._singly_assigned_vars or self.context.nrt.are_in(self.typeof(name)):
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """End the lifetime of a variable."""
        if self.context.nrt.are_in(self.typeof(name)):
            super().delvar(name)
        elif name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)


class Lowering(NativeLowering):
    """A pass that lowers a function by Lower."""

    lowering_class = Lower

    def run_pass(self, state: StateDict) -> bool:
        """Lower a function with References."""
        context = state.targetctx.subtarget()
        context.nrt = References(context, context.enable_nrt)
        state.targetctx = context
        return super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class CalleeLowering(Lowering):
    """A pass that lowers a function into a Callee, and registers it for its callers."""

    _name = "callee_lowering"

    def run_pass(self, state: StateDict) -> bool:
        """Lower a function. Its key must be callable by Python, but has no address."""
        state.library = library = Callee(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        key = _dynfunc.make_function(lowered.fndesc.lookup_module(), library.name, "", 0, lowered.env, (library,))
        state.targetctx.insert_user_function(key, lowered.fndesc, [library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


class _WithLowering(Compiler):
    """Numba's compiler with another lowering, and without unused passes."""

    lowering: type[NativeLowering]
    unused = {"NativeLowering"}

    def define_pipelines(self) -> list[PassManager]:
        """Return Numba's passes, with its lowering replaced if the replacement works."""
        passes, = super().define_pipelines()
        if not are_sound():
            return [passes]
        passes.add_pass_after(self.lowering, NativeLowering)
        passes.passes = [(kind, text) for kind, text in passes.passes if kind.__name__ not in self.unused]
        passes.finalize()
        return [passes]


class UsersCompiler(_WithLowering):
    """A compiler of a user's function that only compiled code calls."""

    lowering = CalleeLowering


class CalleeCompiler(UsersCompiler):
    """A compiler of a function of this package that only compiled code calls."""

    unused = UsersCompiler.unused | UNUSED


_tried = False


def are_sound() -> bool:
    """Return True unless the compilers of this package fail on a trial line, which is compiled before anything else in
    a process."""
    global _tried
    if not _tried:
        _tried = True           # set first: the trial line uses these compilers, too
        try:
            called = njit(pipeline_class=CalleeCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True)
            half = called(lambda x: 0.5 * x)
            if njit(lambda x: half(x) + 1.0)(4.0) != 3.0:
                give_up("what it compiles for screw_dynamics computes something else")
        except Exception as error:      # Numba wraps the errors that passes raise
            give_up(f"what screw_dynamics adds to its compiler fails: {type(error).__name__}: {error}")
    return in_use()
