"""Value types with infix operators: the same source in plain Python and compiled by Numba.

A value is a NamedTuple of numbers or of other values. Its functions and operators remain ordinary Python: `kernel`
returns its function unchanged, and registers it with Numba, which compiles it when compiled code calls it. Plain mode
needs no switch: a kernel called from Python accepts any numbers, and only functions of CompiledAlgorithm are machine
code. Without Numba's JIT these, too, are plain Python: every construct of compiled code also has a meaning in Python.

Only this file and tables.py use Numba's extension interface for value types."""
import operator
from collections.abc import Callable, Iterable
from functools import cache, singledispatch
from typing import Any, NamedTuple, get_type_hints

from screw_dynamics.jit.numba_internals.compiler import (
    PLAIN,
    intrinsic,
    ir,
    kernel,
    noinline,
    optimized_alone,
    overload,
    types,
)

from .structs import numba_types

__all__ = (
    "Nil", "PLAIN", "Scalar", "build", "compiled_as", "fields", "form_of", "infix", "is_value", "kernel", "leaves",
    "linear", "map_numbers", "noinline", "null", "numba_type", "numbers", "optimized_alone", "over", "present",
    "scalar_of", "value", "zero")

Scalar = float      # in annotations: float64, a SIMD lane, or any Python number


# ------------------------------------------------------------------------------------------------- operators
_SYMBOLS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "@": operator.matmul}
_MEANING = {}        # (symbol, class of left, class of right) -> function; the class of any scalar is None
_VALUES = set()      # the classes declared below


def _meaning(symbol, left, right):
    """Return the function of an operator between two classes. Raises TypeError if it is not defined."""
    if (symbol, left, right) in _MEANING:
        return _MEANING[symbol, left, right]
    names = (cls.__name__ if cls else "scalar" for cls in (left, right))
    raise TypeError(f" {symbol} ".join(names) + " is not defined")


def value(cls: type) -> type:
    """Declare a NamedTuple as a value type: the operators declared for it replace tuple's own + and *."""
    def plain(symbol, swap):
        known = {}                      # by the class of the other operand: plain mode computes with many small values

        def apply(self, other):
            kind = type(other)
            meaning = known.get(kind)
            if meaning is None:
                kinds = cls, kind if kind in _VALUES else None
                meaning = known[kind] = _meaning(symbol, *(reversed(kinds) if swap else kinds))
            return meaning(other, self) if swap else meaning(self, other)
        return apply
    for symbol, op in _SYMBOLS.items():
        setattr(cls, f"__{op.__name__}__", plain(symbol, swap=False))
        setattr(cls, f"__r{op.__name__}__", plain(symbol, swap=True))
    cls.__neg__ = lambda self: -1.0 * self
    cls.__array_ufunc__ = None          # a NumPy scalar on the left must not convert a value to an array
    _VALUES.add(cls)
    return cls


def is_value(x: Any) -> bool:
    """Return True for a value, as opposed to a number or an array."""
    return type(x) in _VALUES


def compiled_as(function: Callable) -> Callable:
    """Decorate a Python function: in compiled code, the kernel `function` is called instead."""
    def decorate(facade):
        @overload(facade, strict=False)
        def compiled(*args, **kwargs):
            return function
        return facade
    return decorate


def infix(symbol: str) -> Callable:
    """Declare a function as the operator `symbol` between two values; its annotations name the two classes."""
    def decorate(function):
        left, right = list(get_type_hints(function).values())[:2]
        _MEANING[symbol, left, right] = function
        return kernel(function)
    return decorate


def linear(cls: type) -> type:
    """Declare a NamedTuple as a vector space: +, - and multiples by a scalar are elementwise."""
    def each(expression):
        return eval(f"lambda a, b: cls({', '.join(expression.format(f) for f in cls._fields)})", {"cls": cls})
    value(cls)
    _MEANING["+", cls, cls] = each("a.{0} + b.{0}")
    _MEANING["-", cls, cls] = each("a.{0} - b.{0}")
    _MEANING["*", None, cls] = each("a * b.{0}")
    _MEANING["*", cls, None] = each("a.{0} * b")
    return cls


def _compile_operator(symbol, op):
    @overload(op, strict=False)
    def meaning(a, b):
        kinds = [t.instance_class if isinstance(t, types.BaseNamedTuple) else None for t in (a, b)]
        if _VALUES.isdisjoint(kinds):
            return None
        try:
            return _meaning(symbol, *kinds)
        except TypeError as error:
            from numba.core.errors import TypingError  # imported on compilation
            raise TypingError(str(error)) from None


for _symbol, _operator in (*_SYMBOLS.items(), ("+", operator.iadd), ("-", operator.isub)):
    _compile_operator(_symbol, _operator)


@overload(operator.neg)
def _negative(a):
    if isinstance(a, types.BaseNamedTuple) and a.instance_class in _VALUES:
        return lambda a: -1.0 * a
    return None


# ------------------------------------------------------------------------------------------------- contents
@cache
def fields(cls: type) -> list[type]:
    """Return the classes of the fields of a value class: a value class, float for a scalar of any kind, or int."""
    return list(get_type_hints(cls).values())


def form_of(cls: type) -> Callable:
    """Declare a NamedTuple as a sparse form of values of class `cls`: the same fields, some of them Nil."""
    def decorate(form):
        form.stands_for = cls
        return form
    return decorate


def leaves(cls: type) -> list[type]:
    """Return the classes of all numbers in a value of class `cls`, in order: float for a scalar of any kind, int or
    Nil."""
    return [leaf for kind in fields(cls) for leaf in leaves(kind)] if issubclass(cls, tuple) else [cls]


def numbers(x: Any) -> list:
    """Return all numbers in a value, in order, as a flat list."""
    return [number for part in x for number in numbers(part)] if isinstance(x, tuple) else [x]


def build(cls: type, flat: Iterable) -> Any:
    """Return the value of class `cls` from an iterable of numbers, in order: the inverse of `numbers`."""
    source = iter(flat)

    def take(kind):
        if not issubclass(kind, tuple):
            return next(source)
        return getattr(kind, "stands_for", kind)(*(take(part) for part in fields(kind)))
    return take(cls)


def map_numbers(f: Callable, x: Any) -> Any:
    """Return the value with f applied to each of its numbers except integers, which are indices."""
    if isinstance(x, tuple):
        return type(x)(*(map_numbers(f, part) for part in x))
    return x if isinstance(x, int) else f(x)


def zero(cls: type[NamedTuple], like: Any) -> Any:
    """Return the value of class `cls` whose numbers are all zero, over scalars of the kind of `like`."""
    return cls(*(zero(kind, like) if issubclass(kind, tuple) else null(like) if kind is float else kind(0)
                 for kind in fields(cls)))


@singledispatch
def null(like: Any) -> Any:
    """Return the number 0 of the type of `like`, for any value of `like`. In plain Python it is a float, unless a type
    registers its own."""
    return 0.0


def numba_type(kind: type, scalar: Any) -> Any:
    """Return the Numba type of a value class, or of int and float, over a scalar type."""
    if kind in (int, float, Nil):
        return {int: types.int64, float: scalar, Nil: numba_types.NIL}[kind]
    return types.BaseTuple.from_types([numba_type(k, scalar) for k in fields(kind)], getattr(kind, "stands_for", kind))


def scalar_of(like: Any) -> Any:
    """Return the Numba type of the scalars in a value: the type of its first number; a number type is returned
    unchanged."""
    return scalar_of(like.types[0]) if isinstance(like, types.BaseTuple) else like


@singledispatch
def present(x: Any) -> Any:
    """Return the number x. Number types that omit operations with a 0 register a conversion for places where 0 must be
    kept."""
    return x


def over(x: Any, like: Any) -> Any:
    """Convert the number or value x to scalars of the type of `like`. Plain Python mixes types, and returns x
    itself."""
    return map_numbers(present, x)


@overload(over)
def _over(x, like):
    if isinstance(x, types.BaseNamedTuple):
        cls = getattr(x.instance_class, "stands_for", x.instance_class)
        parts = ", ".join(f"over(x.{field}, like)" for field in x.fields)
        return eval(f"lambda x, like: cls({parts})", {"cls": cls, "over": over})
    return (lambda x, like: x) if x == scalar_of(like) else (lambda x, like: null(like) + x)


@intrinsic
def _zero(typing, cls, like):
    result = numba_type(cls.instance_class, scalar_of(like))
    return result(cls, like), lambda context, builder, signature, args: context.get_constant_null(result)


@overload(zero)
def _zero_value(cls, like):
    return lambda cls, like: _zero(cls, like)


@intrinsic
def _null(typing, like):
    number = scalar_of(like)
    return number(like), lambda context, builder, signature, args: context.get_constant_null(number)


@overload(null)
def _null_number(like):
    return lambda like: _null(like)


# ------------------------------------------------------------------------------------------------- structural zeros
class Nil:
    """Annotation of a value that is always 0.

    Compiled, it takes no memory, and operations with it are omitted. In plain Python it is the number 0."""

    def __new__(cls, x=0):
        """Return the number 0."""
        return 0.0


@intrinsic
def _nil(typing):
    return numba_types.NIL(), lambda context, builder, signature, args: ir.Constant(ir.LiteralStructType([]), [])


def _vanishing(op, meaning):
    """Define an operator with Nil on either side as the function returned by `meaning(a is Nil, b is Nil)`."""
    @overload(op)
    def operation(a, b):
        return meaning(a is numba_types.NIL, b is numba_types.NIL) if numba_types.NIL in (a, b) else None


def _sum(a, b):
    return (lambda a, b: b) if a else (lambda a, b: a)


def _difference(a, b):
    return (lambda a, b: a) if b else (lambda a, b: -b)


def _product(a, b):
    return lambda a, b: _nil()


def _ratio(a, b):
    return None if b else (lambda a, b: _nil())


for _operator, _rule in ((operator.add, _sum), (operator.iadd, _sum), (operator.sub, _difference),
                         (operator.isub, _difference), (operator.mul, _product), (operator.truediv, _ratio)):
    _vanishing(_operator, _rule)


@overload(operator.gt)
def _above(a, b):
    return (lambda a, b: 0.0 > b) if a is numba_types.NIL else None


@overload(operator.neg)
def _negative_nil(a):
    return (lambda a: _nil()) if a is numba_types.NIL else None
