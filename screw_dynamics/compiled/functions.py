"""Compiled functions of arrays and numbers for calls from Python: kernels that check their arguments first."""
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.jit.numba_internals.compiler import cgutils, intrinsic, ir, noinline, numba_arrays, overload, types
from screw_dynamics.numbers.structs import numba_types
from screw_dynamics.numbers.values import PLAIN

from .array_views import ALIGNED, READABLE, REFUSED, WRITEABLE, view_at
from .calls import kernel
from .native import array_at

KINDS = {"boolean": "b", "float64": "d", "int64": "i", "intp": "i"}  # kinds of words; all other arguments are arrays
ARRAY = re.compile(r"Array\((\w+), (\d), '(\w)', readonly=(\w+)\)")      # see workspace.numbers_type


@cache
def function(spec: KernelSpec) -> Callable[..., int]:
    """Return the function of a KernelSpec, with the arrays and numbers of its signature as arguments. It returns the
    form's integer, or 0 if the kernel returns nothing. If compiled, it raises TypeError for other arguments, and for
    arrays of other dimensions, types or flags."""
    if PLAIN:
        return lambda *arguments: spec.compiled(*arguments) or 0
    kinds = "".join(KINDS.get(kind, "a") for kind in spec.signature)
    run = kernel(spec_of_words(spec), kinds, spec.compiled.nogil)

    def call(*arguments):
        done = run(*arguments)
        if done is None:
            raise TypeError(f"{spec.name}: takes {', '.join(map(str, spec.signature))}")
        return done
    return call


@cache
def spec_of_words(spec: KernelSpec) -> KernelSpec:
    """Return the kernel that calls a function with arguments read from words: the bits of a float64, an integer, or the
    address of a VIEW. It returns REFUSED if an array does not match the signature."""
    if spec.is_native:
        return spec
    lines = [f"words = array_at(0, address, ({len(spec.signature)},))"]
    for k, kind in enumerate(spec.signature):
        lines += _lines(k, kind)
    arguments = ", ".join(f"x{k}" for k in range(len(spec.signature)))
    body = "\n        ".join([*lines, f"return integer(function({arguments}))"])
    scope = {"__name__": __name__, "array_at": array_at, "view_at": view_at, "strided": strided, "integer": integer,
             "REFUSED": REFUSED}
    exec(f"def make(function):\n    def native(address):\n        {body}\n    return native", scope)
    native = scope["make"](noinline(spec.compiled.function))        # type: ignore[operator]
    key = spec.compiled.key and f"{spec.compiled.key}, {spec.signature}"
    return KernelSpec(compiled(spec.name, key, spec.compiled.nogil)(native), ("intp",))


def _lines(k, kind):
    """Return the source lines that read argument k of a kind."""
    if kind == "float64":
        return [f"x{k} = array_at(0.0, address + {8 * k}, (1,))[0]"]
    if kind in ("boolean", "int64", "intp"):
        return [f"x{k} = words[{k}]" + " != 0" * (kind == "boolean")]
    name, axes, layout, readonly = ARRAY.fullmatch(kind).groups()
    dtype, axes = np.dtype(name), range(int(axes))
    flags = (READABLE if layout == "C" else ALIGNED) | WRITEABLE * (readonly == "False")
    lengths, steps = ("".join(f"v{k}.{field}[{axis}], " for axis in axes) for field in ("lengths", "steps"))
    like = "0.0" if dtype.kind == "f" else "0"
    array = f"array_at({like}, v{k}.address, ({lengths}))"
    if layout != "C":
        array = f"strided({like}, v{k}.address, ({lengths}), ({steps}))"
    return [f"if words[{k}] == 0:", "    return REFUSED", f"v{k} = view_at(words[{k}])",
            f"if v{k}.kind != {dtype.num} or v{k}.axes != {len(axes)} or v{k}.properties & {flags} != {flags}:",
            "    return REFUSED", f"x{k} = {array}"]


# ------------------------------------------------------------------------------------------------- in compiled code
@intrinsic
def strided(typing: Any, like: Any, where: Any, lengths: Any, steps: Any) -> tuple:
    """Return the array at an address, of numbers of the kind of `like`. lengths: those of the axes; steps: strides in
    bytes."""
    result = numba_types.View(types.unliteral(like), len(lengths), "A")

    def build(context, builder, signature, args):
        _, where, lengths, steps = args
        array, size = numba_arrays.make_array(result)(context, builder), cgutils.intp_t(like.bitwidth // 8)
        data = builder.inttoptr(where, ir.IntType(8).as_pointer())
        lengths, steps = (cgutils.unpack_tuple(builder, x) for x in (lengths, steps))
        numba_arrays.populate_array(array, builder.bitcast(data, array.data.type), lengths, steps, size, meminfo=None)
        return array._getvalue()
    return result(like, types.intp, lengths, steps), build


def integer(x: Any) -> int:
    """Return an integer unchanged, and 0 for None."""
    return 0 if x is None else x


@overload(integer)
def _integer(x):
    if isinstance(x, types.NoneType):
        return lambda x: 0
    return (lambda x: x) if isinstance(x, types.Integer) else None
