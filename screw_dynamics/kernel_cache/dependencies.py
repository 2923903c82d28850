"""Dependencies of kernels among the package's source files: their modules and all modules that these import.

Only a module's syntax counts: an edit of comments, docstrings or layout invalidates no kernel, and an edit of an
algorithm only the kernels that import it. The analysis takes seconds, so its result is stored beside the kernels until
a source file changes."""
import ast
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from . import store

# The packages whose code is compiled; the other packages are plain Python.
COMPILED = ("numba_internals", "numbers", "screws", "model", "compiled", "algorithms", "forces", "constraints",
            "contact", "sweeps", "simulation")
# The code that compiles and links kernels: no import leads to all of it.
ALWAYS = "numba_internals/", "numbers/", "kernel_cache/shared_objects.py", "kernel_cache/runtime.c"
EVERYTHING = "*"
_IMPORTED = time.time()             # time at which the import of this package began; see the __init__.py of the package
NAME = store.PACKAGE.name


def digest(module: str) -> str:
    """Return a hash of a module of the package and of all modules that it imports, directly or not. For any other name,
    return the hash of all modules that are compiled."""
    found = _digests()
    return found.get(module, found[EVERYTHING])


@cache
def _digests():
    """Return `digests` of the source files, cached on disk between processes. Raises TypeError, as `fingerprint` does
    for unknown objects, if the files have changed since this process imported them."""
    if not are_as_imported():
        raise TypeError("source files were edited since this process imported them")
    sources = sources_in(store.PACKAGE)
    contents = b"\0".join(part for path, text in sorted(sources.items()) for part in (path.encode(), text))
    name = f"sources-{hashlib.sha256(contents).hexdigest()[:32]}"
    if (kept := store.found(name, store.SOURCES)) is not None:
        return json.loads(kept[1])
    found = digests(sources)
    store.keep(name, json.dumps(found).encode(), store.SOURCES)
    return found


def are_as_imported() -> bool:
    """Return True if no source file has changed since this process began to import the package; log the first that has.
    It uses the time of the status change: copied files may keep the time of their last edit."""
    for path in _files(store.PACKAGE):
        if os.path.exists(path) and _IMPORTED < os.stat(path).st_ctime < time.time():
            store.say_once(f"{path} has changed since this process imported it: kernels that it compiles are not kept")
            return False
    return True


def sources_in(package: Path) -> dict[str, bytes]:
    """Return the contents of the source files of kernels, by their paths in the folder of a package."""
    return {path[len(str(package)) + 1:]: Path(path).read_bytes() for path in _files(package)}


def _files(package):
    """Return the source files of kernels, without hidden files of editors."""
    kinds = {name: ".py" for name in COMPILED} | {"kernel_cache": (".py", ".c", ".h")}
    return [f"{folder}/{name}" for part, endings in kinds.items() for folder, _, names in os.walk(f"{package}/{part}")
            for name in names if name.endswith(endings) and not name.startswith(".")]


def digests(sources: Mapping[str, bytes]) -> dict[str, str]:
    """Return the hash of each module with its dependencies, and that of EVERYTHING, from the contents of files."""
    trees = {}
    for path, text in sources.items():
        with suppress(SyntaxError, ValueError):         # a file in the middle of an edit: no kernel is made of it
            if path.endswith(".py"):
                trees[path] = ast.parse(text)
    syntax = {path: _hash(text) for path, text in sources.items() if path not in trees}
    depends = dependencies(trees, syntax)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
                del node.body[0]
        syntax[path] = _hash(ast.dump(tree))
    return {module: _hash(sorted((path, syntax[path]) for path in paths)) for module, paths in depends.items()}


def dependencies(trees: Mapping[str, ast.AST], others: Iterable[str] = ()) -> dict[str, set[str]]:
    """Return the paths of the files that each compiled module depends on, and those of EVERYTHING. trees: syntax trees
    by path; others: the paths of other files."""
    paths = {_module(path): path for path in trees if path.startswith(COMPILED)}
    packages = {path: _module(path.rpartition("/")[0] + "/__init__.py") for path in paths.values()}
    imported = {path: {paths[name] for name in _imports(trees[path], packages[path], paths) if name in paths}
                for path in paths.values()}
    always = {path for path in (*trees, *others) if path.startswith(ALWAYS)}
    return {module: always | _reached({path, *always} & imported.keys(), imported) for module, path in paths.items()
            } | {EVERYTHING: {*trees, *others}}


def _hash(x: Any) -> str:
    return hashlib.sha256(repr(x).encode()).hexdigest()[:32]


def _module(path):
    """Return the name of the module in a file."""
    parts = [NAME, *Path(path).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree, package, modules) -> Iterator[str]:
    """Yield the names of modules, and of other objects, that a module imports anywhere or names in a string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            names = [f"{base}.{alias.name}" for alias in node.names]
            yield from names
            if any(name not in modules for name in names):      # the base itself defines such a name
                yield base
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _reached(paths, imported):
    """Return these files and all files that they import, directly or not."""
    found, left = set(), set(paths)
    while left:
        found.add(path := left.pop())
        left |= imported[path] - found
    return found
