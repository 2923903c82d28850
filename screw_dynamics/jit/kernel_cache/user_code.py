"""Hash of a user's function: its code, and all objects that it refers to.

Numba makes constants of globals and closure values, so a changed gain is different code. If an object is of an unknown
kind, or a function calls itself, there is no hash, and every process compiles the function: the code is never stale."""
import builtins
import dis
import hashlib
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.jit.numba_internals.dispatchers import is_jitted, may_compile

# Modules whose attributes are determined by their version. Other modules are a user's: the attributes that code names
# count.
LIBRARIES = "numpy", "math", "cmath", "operator", "numba", "scipy", "screw_dynamics"


class Fingerprint(NamedTuple):
    """A function's fingerprint. key: the hash, or None if the function refers to an unknown object; names: all names
    and strings in its code."""

    key: str | None
    names: frozenset[str]


def fingerprint(function: Callable) -> Fingerprint:
    """Return the fingerprint of a Python function, or of a function that Numba has jitted."""
    walk = _Walk()
    if isinstance(function, FunctionType):
        walk.function(function)
    else:
        walk.take(function)
    return Fingerprint(walk.hash.hexdigest() if walk.known else None, frozenset(walk.names))


def is_library(module: str | None) -> bool:
    """Return True for the name of a module whose attributes are determined by its version."""
    return isinstance(module, str) and module.partition(".")[0] in LIBRARIES


def globals_of(code: CodeType) -> frozenset[str]:
    """Return the names of the globals that code reads, without those that nested functions read."""
    return frozenset(i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL")


def rebound(function: Callable, name: str) -> int | None:
    """Return the line at which a function assigns to a local variable of this name, so that the name refers to another
    object from there on; None if it does not. Operators such as += write into the array and do not count."""
    code = getattr(function, "py_func", function).__code__
    lines, line, before = dict(dis.findlinestarts(code)), code.co_firstlineno, None
    for i in dis.get_instructions(code):
        line = lines.get(i.offset) or line
        if i.opname.startswith(("STORE_FAST", "STORE_DEREF")):
            stored = i.argval if isinstance(i.argval, tuple) else (i.argval,)  # two names since Python 3.13
            if name in stored[:1 if i.opname.endswith("LOAD_FAST") else None] and not _in_place(before):
                return line
        before = before if i.opname == "EXTENDED_ARG" else i
    return None


def _in_place(instruction):
    """Return True for an instruction of an in-place operator such as +=; INPLACE_ADD and similar ones are those of
    Python 3.10."""
    return instruction is not None and (instruction.opname.startswith("INPLACE_") or (
        instruction.opname == "BINARY_OP" and instruction.argrepr.endswith("=")))


def with_inner(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of its nested functions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from with_inner(constant)


class _Walk:
    """A traversal of all objects that a function refers to, each object once."""

    def __init__(self):
        self.hash, self.names, self.known, self._seen, self._open = hashlib.sha256(), set(), True, {}, set()
        self._note("python", sys.version_info, np.__version__)

    def _note(self, *parts):
        for part in parts:
            text = part if isinstance(part, bytes) else repr(part).encode()
            self.hash.update(len(text).to_bytes(8, "little") + text)

    def take(self, x: Any) -> None:
        """Add an object to the hash."""
        if isinstance(x, (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))):
            self._note(type(x).__name__, x)                   # repr of a float is exact
        elif isinstance(x, np.generic) and x.dtype.kind in "biufc":
            self._note("scalar", x.dtype.str, x.tobytes())
        elif type(x) is np.ndarray and x.dtype.kind in "biufc":
            self._note("array", x.dtype.str, x.shape, x.strides, x.flags.aligned, x.flags.writeable, x.tobytes())
        elif isinstance(x, frozenset):
            self._note("set", sorted(map(repr, x)))
        elif type(x) is tuple or isinstance(x, tuple) and hasattr(x, "_fields"):
            self._note("tuple", len(x), type(x).__module__, type(x).__qualname__, getattr(x, "_fields", ()))
            for part in x:
                self.take(part)
        elif id(x) in self._seen:
            self._note("again", self._seen[id(x)])
            self.known &= id(x) not in self._open             # recursive functions cannot be loaded
        else:
            self._seen[id(x)] = len(self._seen)
            self._open.add(id(x))
            self._reference(x)
            self._open.remove(id(x))

    def _reference(self, x):
        """Add an object that is identified by its name or by its code."""
        module = "numpy" if isinstance(x, np.ufunc) else getattr(x, "__module__", None)
        if is_jitted(x):
            self._note("jitted", sorted((name, repr(value)) for name, value in x.targetoptions.items()),
                       [] if may_compile(x) else [str(signature) for signature in x.overloads])
            self.function(x.py_func)
        elif isinstance(x, ModuleType):
            self._note("module", x.__name__)
        elif callable(x) and (module == "builtins" or is_library(module)):
            self._note("named", module, getattr(x, "__qualname__", None) or repr(x))
        else:  # a plain function, too: its substitute in compiled code is registered elsewhere
            self.known = False
            if isinstance(x, FunctionType):
                self.function(x)

    def function(self, function: FunctionType) -> None:
        """Add a function's code, the globals that it names, its defaults and its closure."""
        self._note("function")
        self._code(function.__code__, function.__globals__)
        for part in (function.__defaults__, *sorted((function.__kwdefaults__ or {}).items())):
            self.take(part)
        for cell in function.__closure__ or ():
            try:
                self.take(cell.cell_contents)
            except ValueError:                                # an empty cell
                self.known = False

    def _code(self, code, names):
        self._note("code", code.co_code, getattr(code, "co_exceptiontable", b""), code.co_varnames, code.co_names,
                   code.co_freevars, code.co_cellvars, code.co_argcount, code.co_kwonlyargcount, code.co_flags)
        self.names.update(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant, names)
            else:
                self.names.update(x for x in (constant if isinstance(constant, tuple) else (constant,))
                                  if isinstance(x, str))
                self.take(constant)
        for name in sorted(globals_of(code)):
            self._note("global", name)
            self.take(names[name] if name in names else getattr(builtins, name, None))
            if isinstance(names.get(name), ModuleType):
                self._attributes(names[name], code.co_names)

    def _attributes(self, module, names):
        """Add the attributes of a user's module that code may read."""
        if is_library(module.__name__):
            return
        for name in names:
            if name in vars(module):
                self._note("attribute", name)
                self.take(vars(module)[name])
                if isinstance(vars(module)[name], ModuleType):
                    self._attributes(vars(module)[name], names)
