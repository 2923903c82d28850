"""Dictionaries that compiled code reads itself, as borrow.py does NumPy's arrays: {name: anything}, by Python's C API.

The caller holds the GIL. Keys that are exact strings run no Python code when they are compared, so that nobody changes
a dictionary while it is read."""
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from screw_dynamics.numbers.values import kernel

from .borrow import BORROWED, type_of

DICT_TYPE, NAME_TYPE = id(dict), id(str)
_POINTER, _INT, _WORD = ir.IntType(8).as_pointer(), ir.IntType(32), cgutils.intp_t


def _function(builder, name, result, *arguments):
    return get_or_insert_function(builder.module, ir.FunctionType(result, arguments), name)


@intrinsic
def next_item(typing: Any, dictionary: Any, position: Any) -> tuple:
    """The next item of a dictionary: (position, key, value); position is 0 at first, and -1 after the last item, where
    key and value are no objects."""
    def build(context, builder, signature, args):
        place = cgutils.alloca_once_value(builder, args[1])
        item = [cgutils.alloca_once(builder, _POINTER) for _ in range(2)]
        function = _function(builder, "PyDict_Next", _INT, _POINTER, _WORD.as_pointer(), *[_POINTER.as_pointer()] * 2)
        found = builder.icmp_signed("!=", builder.call(function, [args[0], place, *item]), _INT(0))
        position = builder.select(found, builder.load(place), _WORD(-1))
        return context.make_tuple(builder, signature.return_type, [position, *map(builder.load, item)])
    return types.Tuple((types.intp, BORROWED, BORROWED))(dictionary, types.intp), build


@intrinsic
def _index(typing, address, key):
    def build(context, builder, signature, args):
        found = cgutils.alloca_once_value(builder, _WORD(-1))
        get = _function(builder, "PyDict_GetItem", _POINTER, _POINTER, _POINTER)
        item = builder.call(get, [builder.inttoptr(args[0], _POINTER), args[1]])
        with builder.if_then(cgutils.is_not_null(builder, item)):
            number = _function(builder, "PyLong_AsSsize_t", _WORD, _POINTER)
            builder.store(builder.call(number, [item]), found)
        return builder.load(found)
    return types.intp(types.intp, key), build


@kernel
def index_of(names: int, key: Any, name_type: int) -> int:
    """The index of a name in the dictionary {name: index >= 0} at an address; -1 for any other object."""
    return _index(names, key) if type_of(key) == name_type else -1
