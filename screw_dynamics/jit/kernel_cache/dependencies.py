"""Dependencies of kernels on the package's source: the definitions that a kernel's functions reach.

Only their syntax counts: an edit of comments, docstrings or layout invalidates no kernel, and an edit of an algorithm
only the kernels that call it. Parsing all files takes seconds, so that the result is stored beside the kernels, and
parts of it serve after an edit."""
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from . import store
from .definitions import Definitions, Source, hash_of

# The packages whose code is compiled; the other packages are plain Python.
COMPILED = ("jit/numba_internals", "numbers", "screws", "model", "compiled", "algorithms", "forces", "constraints",
            "collision", "rollout", "control")
# The code that compiles and links kernels: no name in a kernel leads to all of it.
ALWAYS = "jit/numba_internals/", "numbers/", "jit/kernel_cache/building.py", "jit/kernel_cache/runtime.c"
EVERYTHING = "*"
_IMPORTED = time.time()             # time at which the import of this package began; see the __init__.py of the package


def digest(module: str, name: str = "") -> str | None:
    """Return a hash of a definition of the package and of all that it reaches; for the name "", of all definitions of
    the module; None if the module does not define the name. For modules that are not compiled, and EVERYTHING, return
    the hash of all sources."""
    found = _digests()
    return found[module].get(name) if module in found else found[EVERYTHING][""]


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
    found = digests(sources, _parsed_once)
    store.keep(name, json.dumps(found).encode(), store.SOURCES)
    return found


def _parsed_once(files):
    """Return `parsed` of files. Those that have not changed since a process parsed them are read from disk."""
    name = f"parsed-{hash_of(files['jit/kernel_cache/definitions.py'])}"        # which says how they are written
    found = store.found(name, store.PARSED)
    kept = json.loads(found[1]) if found else {}
    keys = {path: hash_of((path, text)) for path, text in files.items()}
    new = parsed({path: files[path] for path, key in keys.items() if key not in kept})
    sources = {path: Source.loaded(*kept[key]) for path, key in keys.items() if key in kept} | new
    if new:
        store.keep(name, json.dumps({keys[path]: source for path, source in sources.items()}).encode(), store.PARSED)
    return sources


def are_as_imported() -> bool:
    """Return True if no source file has changed since this process began to import the package; log the first that has.
    It uses the time of the status change: copied files may keep the time of their last edit."""
    for path in _files(store.PACKAGE):
        if os.path.exists(path) and _IMPORTED < os.stat(path).st_ctime < time.time():
            store.warn_once(f"{path} has changed since this process imported it: kernels that it compiles are not kept")
            return False
    return True


def sources_in(package: Path) -> dict[str, bytes]:
    """Return the contents of the source files of kernels, by their paths in the folder of a package."""
    return {path[len(str(package)) + 1:]: Path(path).read_bytes() for path in _files(package)}


def _files(package):
    """Return the source files of kernels, without hidden files of editors."""
    kinds = {name: ".py" for name in COMPILED} | {"jit/kernel_cache": (".py", ".c", ".h")}
    return [f"{folder}/{name}" for part, endings in kinds.items() for folder, _, names in os.walk(f"{package}/{part}")
            for name in names if name.endswith(endings) and not name.startswith(".")]


def parsed(files: Mapping[str, bytes]) -> dict[str, Source]:
    """Return the Source of each Python file, from their contents by path, without files in the middle of an edit: no
    kernel is made of those."""
    found = {}
    for path, text in files.items():
        with suppress(SyntaxError, ValueError):
            found[path] = Source.parsed(path, text)
    return found


def digests(sources: Mapping[str, bytes], parse: Callable = parsed) -> dict[str, dict[str, str]]:
    """Return the hashes of the definitions in source files, by module and name, and that of EVERYTHING. sources: the
    contents of files by path; parse: the function that takes the place of `parsed`."""
    files = parse({path: text for path, text in sources.items() if path.endswith(".py")})
    others = {path: text for path, text in sorted(sources.items()) if path not in files}
    everything = hash_of((others, sorted(s.hash for source in files.values() for s in source.statements)))
    return {**definitions(files, others).digests(), EVERYTHING: {"": everything}}


def definitions(files: Mapping[str, Source], others: Mapping[str, bytes]) -> Definitions:
    """Return the definitions of the packages that are compiled. others: the contents of files in other languages."""
    compiled = {path: source for path, source in files.items() if path.startswith((*COMPILED, *ALWAYS))}
    always = [path for path in compiled if path.startswith(ALWAYS)]
    links = {path: text for path, text in others.items() if path.startswith(ALWAYS)}
    return Definitions(compiled, always, hash_of(links))
