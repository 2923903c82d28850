"""Runs a program, and has every object of the package that it makes pickled, copied and deep-copied."""
import ast
import copy
import copyreg
import pickle
import sys
from collections.abc import Iterator
from functools import reduce

import cloudpickle
import numpy as np

import screw_dynamics

SERVERS = {"View"}      # hold a server of this process


class _Keep(ast.NodeTransformer):
    """Hands what calls return to `keep`, but within functions, which Numba may compile."""

    def visit_Call(self, node):
        self.generic_visit(node)
        return ast.copy_location(ast.Call(ast.Name("keep", ast.Load()), [node], []), node)

    def visit_FunctionDef(self, node):
        return node

    visit_Lambda = visit_ClassDef = visit_FunctionDef


def run(program, names, everywhere):
    """Run a program as __main__, and check copies of what it made of the classes of the package that are named
    `everywhere`; of those in `names` it must have made some."""
    space, made = vars(sys.modules["__main__"]), []

    def keep(x):
        made.append(x)
        return x
    space["keep"] = keep
    exec(compile(ast.fix_missing_locations(_Keep().visit(ast.parse(program))), "<page>", "exec"), space)
    found, seen = {}, {}
    for x in made:
        _gather(x, found, seen)
    public = {_named(name) for name in everywhere if _is_to_copy(name)}
    for kind, some in found.items():
        for x in some if public.intersection(kind.__mro__) else ():
            check(x)
    missing = [name for name in filter(_is_to_copy, names) if not any(issubclass(kind, _named(name)) for kind in found)]
    assert not missing, f"the page makes none of {missing}"


def _named(name):
    return reduce(getattr, name.split("."), screw_dynamics)


def _is_to_copy(name):
    """Return True for the name of a class that an example has to make: no error, warning, or tuple of results."""
    kind = _named(name)
    return isinstance(kind, type) and not issubclass(kind, BaseException | tuple) and kind.__name__ not in SERVERS


def _gather(x, found, seen, depth=0):
    """Some objects of each class of the package, also those within others."""
    if depth > 4 or id(x) in seen:
        return
    seen[id(x)] = x
    ours = type(x).__module__.startswith("screw_dynamics.")
    if ours and len(some := found.setdefault(type(x), [])) < 2:
        some.append(x)
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, list | tuple) else ()
    for y in [*(vars(x).values() if ours and hasattr(x, "__dict__") else ()), *list(parts)[:20]]:
        _gather(y, found, seen, depth + 1)


def check(x):
    """An object's pickles and copies, and those of these, are as it is."""
    for way in (_pickled, lambda x: pickle.loads(cloudpickle.dumps(x)), copy.deepcopy, copy.copy):
        try:
            once = way(x)
        except Exception as error:
            raise AssertionError(f"{type(x)} does not pickle or copy: {error}") from error
        for found in (once, way(once)):
            assert same(x, found, {}), f"{type(x)}: a copy has another state"


def _pickled(x):
    try:
        return pickle.loads(pickle.dumps(x))
    except (pickle.PicklingError, AttributeError) as error:
        if "__main__" not in str(error) and "<lambda>" not in str(error):
            raise
        return x                # functions of the program itself, which cloudpickle alone takes


def same(a, b, seen):
    """Return True if two objects have the same state, as pickles have it; those of other packages by their pickles."""
    if a is b or (id(a), id(b)) in seen:
        return True
    seen[id(a), id(b)] = a, b
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray) and a.dtype != object:
        return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, float):
        return a == b or a != a and b != b
    if isinstance(a, list | tuple | np.ndarray):
        return len(a) == len(b) and all(same(x, y, seen) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name], seen) for name in a)
    if callable(a) and hasattr(a, "__qualname__"):
        return a.__qualname__ == b.__qualname__
    if type(a).__module__ == "builtins":
        return a == b
    return same(_parts(a), _parts(b), seen)


def _parts(x):
    """Return what pickles have of an object: the name of a constant, or arguments, state and items."""
    reduced = copyreg.dispatch_table.get(type(x), lambda x: x.__reduce_ex__(4))(x)
    return reduced if isinstance(reduced, str) else [list(y) if isinstance(y, Iterator) else y for y in reduced[1:]]
