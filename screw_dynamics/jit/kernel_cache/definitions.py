"""Definitions in source files: the top-level statements of each module, and the definitions that each one reaches.

A statement reaches the definitions of the names in it, in the same module or imported, and those that these reach.
Names in its strings count, as code is also made from strings. Comments, docstrings and layout do not count."""
import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, reduce
from importlib.util import resolve_name
from operator import or_
from pathlib import Path
from typing import Any, NamedTuple

NAME = Path(__file__).parents[2].name
# Decorators that register nothing: a definition counts only where its name is used. All others may have an effect on
# code that does not name the definition, as that of an operator does.
PLAIN_DECORATORS = {"cache", "compiled", "contextmanager", "dataclass", "extends", "form_of", "intrinsic", "kernel",
                    "lazy", "linear", "lru_cache", "noinline", "remade", "singledispatch", "value", "wraps"}
_NAMES = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def hash_of(x: Any) -> str:
    """Return a hash of an object by its repr."""
    return hashlib.sha256(repr(x).encode()).hexdigest()[:32]


def module_of(path: str) -> str:
    """Return the name of the module in a file of the package."""
    parts = [NAME, *Path(path).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Statement(NamedTuple):
    """A top-level statement: the names that it binds, a hash of its syntax, the names in it, with their attributes, and
    whether it has an effect beside the names."""

    binds: list[str]
    hash: str
    uses: list[str]
    registers: bool


class Source(NamedTuple):
    """A source file: what each imported name stands for, and the statements."""

    imports: dict[str, list[str]]
    statements: list[Statement]

    @classmethod
    def parsed(cls, path: str, text: bytes) -> "Source":
        """Return the Source of a file. Raises SyntaxError or ValueError if it is not Python."""
        tree, module = ast.parse(text), module_of(path)
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
                del node.body[0]
        imports: dict[str, list[str]] = {}
        for alias, target in _imports(tree, module if path.endswith("__init__.py") else module.rpartition(".")[0]):
            imports.setdefault(alias, []).append(target)
        return cls(imports, [_statement(node, module, imports) for node in tree.body
                             if not isinstance(node, ast.Import | ast.ImportFrom)])

    @classmethod
    def loaded(cls, imports: dict[str, list[str]], statements: list[list]) -> "Source":
        """Return a Source from the lists that json makes of it."""
        return cls(imports, [Statement(*statement) for statement in statements])


def _imports(tree, package) -> Iterator[tuple[str, str]]:
    """Yield each name that is imported anywhere in a module, with the full name of what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module
            yield from ((alias.asname or alias.name, f"{base}.{alias.name}") for alias in node.names)


def _statement(node, module, imports):
    uses = sorted(set(_uses(node)))
    firsts = {use.partition(".")[0] for use in uses}
    meanings = sorted((name, targets) for name, targets in imports.items() if name in firsts)
    return Statement(sorted(set(_bound(node))), hash_of((module, ast.dump(node), meanings)), uses, _registers(node))


def _uses(node) -> Iterator[str]:
    """Yield the names in a tree, each with its attributes, as a.b.c, and all words in strings."""
    if isinstance(node, ast.Name | ast.Attribute) and (name := _dotted(node)):
        yield name
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _NAMES.findall(node.value)
    for child in ast.iter_child_nodes(node):
        yield from _uses(child)


def _dotted(node):
    """Return a name with attributes, as a.b.c; "" for the attribute of another expression."""
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return base and f"{base}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _bound(node) -> Iterator[str]:
    """Yield the names that a statement binds, and those of variables of its comprehensions."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
        return
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.FunctionDef | ast.ClassDef):
            yield part.name


def _registers(node):
    """Return True for a statement that may do more than bind names."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        calls = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
        return any(_dotted(call) not in PLAIN_DECORATORS for call in calls)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return not all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
    return True


class Definitions:
    """The definitions of a package, from its parsed files by path. always: the paths of the files that every definition
    depends on; others: a hash of anything else that all depend on."""

    def __init__(self, sources: Mapping[str, Source], always: Iterable[str] = (), others: str = ""):
        self.modules = {module_of(path): source for path, source in sources.items()}
        self._others = others
        self._all: list[tuple[str, Statement]] = []
        self._of: dict[str, list[int]] = {}             # the statements of each module
        self._bound: dict[tuple[str, str], list[int]] = {}
        for module, source in self.modules.items():
            self._of[module] = [*range(len(self._all), len(self._all) + len(source.statements))]
            for k, statement in zip(self._of[module], source.statements, strict=True):
                self._all.append((module, statement))
                for name in statement.binds:
                    self._bound.setdefault((module, name), []).append(k)
        edges = [{k for use in statement.uses for k in self._resolved(module, use)} for module, statement in self._all]
        self._reach = _closures(edges)
        self._always = self._reached_by(k for path in always for k in self._of[module_of(path)])

    def digests(self) -> dict[str, dict[str, str]]:
        """Return, for each module and each of its definitions, a hash of all that the definition reaches; for the name
        "" that of all definitions of the module."""
        hashes: dict[int, str] = {}
        always = hash_of((self._others, sorted(self._all[k][1].hash for k in _bits(self._always))))

        def digest(reached):
            if reached not in hashes:
                own = sorted(self._all[k][1].hash for k in _bits(reached & ~self._always))
                hashes[reached] = hash_of((always, own))
            return hashes[reached]
        found: dict[str, dict[str, str]] = {}
        for module, statements in self._of.items():
            found[module] = {"": digest(self.reached(module))}
            for name in {name for k in statements for name in self._all[k][1].binds}:
                found[module][name] = digest(self.reached(module, name))
        return found

    def reached(self, module: str, name: str = "") -> int:
        """Return the statements that a definition of a module reaches, or all of them, as a mask: those of the names in
        it, and those that register something when the module is imported."""
        start = self._bound[module, name] if name else self._of[module]
        return self._registered[module] | self._reached_by(start)

    def named(self, reached: int) -> set[tuple[str, str]]:
        """Return the modules and the names of the definitions in a mask."""
        return {(module, name) for k in _bits(reached) for module, statement in [self._all[k]]
                for name in statement.binds}

    @cached_property
    def _registered(self):
        """The mask of what each module registers by its import, with all that it imports, and of what that reaches."""
        number = {module: k for k, module in enumerate(self.modules)}
        imported = [{number[found] for target in self._targets(module) if (found := self._module(target))}
                    for module in self.modules]
        own = [self._reached_by(k for k in self._of[module] if self._all[k][1].registers) for module in self.modules]
        masks = [self._always | _union(own[k] for k in _bits(reached)) for reached in _closures(imported)]
        return dict(zip(self.modules, masks, strict=True))

    def _reached_by(self, statements):
        return _union(self._reach[k] for k in statements)

    def _targets(self, module) -> Iterator[str]:
        """Yield the full names of all that a module imports, or names in strings."""
        for targets in self.modules[module].imports.values():
            yield from targets
        for k in self._of[module]:
            yield from (use for use in self._all[k][1].uses if use.startswith(NAME + "."))

    def _module(self, name):
        """Return the module that a full name begins with; "" if there is none."""
        while name and name not in self.modules:
            name = name.rpartition(".")[0]
        return name

    def _resolved(self, module, use, seen=frozenset()) -> Iterator[int]:
        """Yield the statements that define what a name with attributes stands for in a module."""
        if use.startswith(NAME + "."):
            yield from self._defined(use, seen)
            return
        first, _, rest = use.partition(".")
        if (module, first) in self._bound:
            yield from self._bound[module, first]
        elif (module, first) not in seen:
            for target in self.modules[module].imports.get(first, ()):
                yield from self._defined(f"{target}.{rest}" if rest else target, seen | {(module, first)})

    def _defined(self, name, seen):
        """Yield the statements that define what a full name stands for: for a module, all of its statements."""
        if module := self._module(name):
            rest = name[len(module) + 1:]
            yield from self._resolved(module, rest, seen) if rest else self._of[module]


def _mask(bits):
    return _union(1 << k for k in bits)


def _union(masks):
    return reduce(or_, masks, 0)


def _bits(mask) -> Iterator[int]:
    """Yield the numbers of the bits of a mask."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _closures(edges):
    """Return the mask of all that can be reached from each node of a graph, with the node itself."""
    reach, changed = [_mask([k, *others]) for k, others in enumerate(edges)], True
    while changed:
        before = list(reach)
        for k, others in enumerate(edges):
            reach[k] |= _union(reach[other] for other in others)
        changed = reach != before
    return reach
