"""Export of a robot to a folder of C files: checks arguments, traces functions, prints and writes them."""
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.compiled.tracing import TooLong
from screw_dynamics.utils import checks
from screw_dynamics.utils.atomic_write import write_atomically

from .benchmark import benchmark
from .build_files import cmake, pkg_config
from .functions import Function, Options
from .header import header
from .layout import Export
from .loops import Looped, loops_of
from .printing import KEYWORDS, Dialect, identifier
from .quantities import DEFAULT, OF_LINKS, SOLVED, functions_of
from .readme import readme
from .recorded import values_header
from .ros2_control import known_package, package
from .self_test import self_test
from .source import source
from .tracing import Straight, shortest
from .wrapper import wrapper

LONGEST = 100_000       # operations per function: compilers take about a minute for that many
PRECISIONS = "double", "float"
FILES = {"include/{0}/{0}.h": header, "include/{0}/{0}.hpp": wrapper, "src/{0}.c": source,
         "test/self_test.c": self_test, "test/recorded.h": values_header, "test/benchmark.c": benchmark,
         "CMakeLists.txt": cmake, "{0}.pc.in": pkg_config, "README.md": readme}
# Keywords of C++ that C does not have; names that compilers may define as macros; targets of CMake and libraries.
CPP = frozenset("alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class co_await "
                 "co_return co_yield compl concept consteval constexpr constinit const_cast decltype delete "
                 "dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr "
                 "operator or or_eq private protected public reinterpret_cast requires static_assert static_cast std "
                 "template this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq main "
                 "linux unix".split())
# Functions of the C library with plausible robot names, which cannot be C++ namespaces.
_FUNCTIONS = frozenset({name + kind for kind in ("", "f", "l") for name in (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs fdim "
    "finite floor fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma log log10 log1p log2 logb modf nan "
    "nearbyint pow remainder remquo rint round scalb scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc "
    "y0 y1 yn").split()} | set(
        "abort abs alloca atoi atof bcopy bzero calloc clock ctime daylight div environ exit ffs free getline index "
        "labs ldiv malloc printf puts qsort rand random remove rename rewind rindex scanf select signal system time "
        "timezone tzname tzset valloc".split()))
_TARGETS = frozenset("all clean edit_cache help install m package package_source rebuild_cache test".split())
MANIFEST = "package.xml"
OURS = "printed by screw_dynamics"      # part of each file of an export


def write(robot: Any, folder: str | os.PathLike, name: str | None, quantities: Iterable[str] | None,
          links: Iterable[str | Sequence[str]] | None, precision: str, external: Iterable[str], payload: Iterable[str],
          gravity: bool, ros2_control: str | None = None) -> list[Path]:
    """Write the files of `texts` to a folder, which is created if missing, and return their paths.

    Raises FileExistsError if a file exists that is not of an export. ros2_control: package name for `package_texts`."""
    known_folder(folder)
    if name is None:        # the C package must not have the name of the ROS package around it
        name = identifier(Path(folder).resolve().name) if ros2_control is None else f"{ros2_control}_dynamics"
    arguments = name, quantities, links, precision, external, payload, gravity
    return write_files(folder, texts(robot, *arguments) if ros2_control is None else
                       package_texts(robot, ros2_control, *arguments))


def known_folder(folder: Any) -> None:
    """Raise ValueError if a folder is no path."""
    if not isinstance(folder, (str, os.PathLike)) or not os.fspath(folder):     # "" would be the current folder
        raise ValueError(f"folder {checks.described(folder)} must be a path")


def write_files(folder: str | os.PathLike, found: Mapping[str, str]) -> list[Path]:
    """Write files {path: text} of an export to a folder, which is created if missing, and return their paths. Raises
    FileExistsError if a file exists that is not of an export, or is the manifest of a ROS package of another name."""
    root = Path(folder)
    for path in found:
        if (root / path).is_file() and not _is_ours((root / path).read_text(encoding="utf-8", errors="replace")):
            raise FileExistsError(f"{root / path} exists and is not a file of an earlier export: choose another folder")
        if path == MANIFEST and (root / path).is_file():
            new, old = (re.findall("<name>(.*)</name>", x)[0] for x in (found[path], (root / path).read_text("utf-8")))
            if new != old:
                raise FileExistsError(f"{root} has the package {old!r} of an earlier export: choose another folder for "
                                      f"{new!r}")
    for path, text in found.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(root / path, text)
    return [root / path for path in found]


def _is_ours(text):
    """Return True for a file of an export. The title in its comment may be broken into two lines."""
    return OURS in " ".join(text.replace("\n *", " ").split())


def texts(*arguments: Any) -> dict[str, str]:
    """Return the files of an export {path: text}, byte-identical in each run; arguments as for `prepared`."""
    return files_of(prepared(*arguments))


def package_texts(robot: Any, ros2_control: str, name: str, quantities: Iterable[str] | None = None,
                  links: Iterable[str | Sequence[str]] | None = None, precision: str = "double",
                  external: Iterable[str] = (), payload: Iterable[str] = (), gravity: bool = False) -> dict[str, str]:
    """Return the files {path: text} of a ros2_control package with that name; those of `texts` are in a subfolder."""
    quantities = None if quantities is None else _several("quantities", quantities)
    external, payload = _several("external", external), _several("payload", payload)
    known_package(robot, ros2_control, CPP, quantities, precision,
                  {"external": external, "payload": payload, "gravity": gravity})
    export = prepared(robot, name, quantities, links, precision, external, payload, gravity)
    return package(export, ros2_control) | {f"{name}/{path}": text for path, text in files_of(export).items()}


def files_of(export: Export) -> dict[str, str]:
    """Return the files of an export without a package."""
    return {path.format(export.name): text(export) for path, text in FILES.items()}


def prepared(robot: Any, name: str, quantities: Iterable[str] | None = None,
             links: Iterable[str | Sequence[str]] | None = None, precision: str = "double",
             external: Iterable[str] = (), payload: Iterable[str] = (), gravity: bool = False, loops: bool = True,
             more: Sequence[Function] = ()) -> Export:
    """Return the Export for the arguments of Robot.export_c.

    loops: True to print loops over bodies if straight-line code is too long. more: other functions. Raises ValueError
    for quantities, links or names that cannot be exported."""
    fit = isinstance(name, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)
    if not fit or name in KEYWORDS | CPP:
        raise ValueError(f"name {checks.described(name)} must be an identifier of C and C++: a letter, then letters, "
                         "digits and _, and not a keyword of either language")
    if name in _FUNCTIONS:
        raise ValueError(f"name {name!r} is a function of the C library, and cannot be a namespace of C++: choose "
                         "another")
    if name in _TARGETS:
        raise ValueError(f"name {name!r} is a target of CMake or of a library: choose another")
    if not robot.n:
        raise ValueError("the robot has no joints: there is nothing to export")
    dialect = Dialect(checks.one_of("precision", precision, PRECISIONS), name)
    options = Options(_links(robot, links), _names(robot, "external", external), _names(robot, "payload", payload),
                      checks.flag("gravity", gravity))
    wanted = DEFAULT if quantities is None else _several("quantities", quantities)
    functions = [*more, *functions_of(robot.model, wanted, options)]
    if not functions:
        raise ValueError(f"quantities {wanted}: there is nothing to export" + (
            ", since no links are named" if set(wanted) & set(OF_LINKS) else ""))
    _refuse_namesakes(functions)
    traced = [(function, _straight(robot, function, loops)) for function in functions]
    return Export(robot, dialect, traced, version("screw_dynamics"))


def _straight(robot, function: Function, loops: bool) -> Straight | Looped:
    """Return the straight-line code of a function, or its loops if that is too long. Raises ValueError if neither is
    possible."""
    inputs = {x.name: x.shape for x in function.inputs}
    try:
        return shortest(function.ways, inputs, {name: identifier(name) for name in inputs}, robot, LONGEST)
    except TooLong:
        outputs = {identifier(x.name): x.shape for x in function.outputs}
        if loops and function.symbols and (looped := loops_of(function.ways, inputs, outputs, robot)):
            return looped
        raise ValueError(f"{function.name} takes more than {LONGEST} operations for this robot of {robot.n} degrees of "
                         "freedom, too many for a compiler: leave it out of quantities") from None
    except ZeroDivisionError:
        raise ValueError(f"{function.name} would divide by 0: the mass matrix of this robot is singular, since a joint "
                         f"moves no mass; leave out {', '.join(SOLVED)}") from None


def _several(what, given) -> list:
    """Return an iterable, or a single string, as a list. Raises ValueError for other arguments."""
    if not isinstance(given, Iterable):
        raise ValueError(f"{what} {checks.described(given)} must be names")
    return [given] if isinstance(given, str) else list(given)


def _links(robot, links) -> tuple[tuple[str, str, str], ...]:
    """Return (link, representation, reference) of each link for kinematics; by default of bodies without children."""
    model = robot.model
    if links is None:
        carriers = set(model.parents)
        links = [name for i, name in enumerate(model.body_names) if name is not None and i not in carriers]
    found = []
    for given in _several("links", links):
        parts = [given] if isinstance(given, str) else given
        if not (isinstance(parts, Sequence) and 1 <= len(parts) <= 3):
            raise ValueError(f"links: {checks.described(given)} must be a name, or (name, representation[, reference "
                             "link])")
        link, representation, reference = (*parts, None, None)[:3]
        found.append((model.known_link(link),
                      checks.one_of("representation", "body" if representation is None else representation,
                                    REPRESENTATIONS),
                      model.known_link(model.root if reference is None else reference)))
    return tuple(dict.fromkeys(found))


def _names(robot, what, links) -> tuple[str, ...]:
    """Return the names of links. Raises ValueError for links that do not move."""
    found = [robot.model.known_link(link) for link in _several(what, links)]
    for link in found:
        if robot.model.frames[link][0] < 0:
            raise ValueError(f"{what}: link {link!r} does not move: nothing on it has an effect")
    return tuple(dict.fromkeys(found))


def _refuse_namesakes(functions):
    """Raise ValueError if two functions, or two arguments, have the same name in C."""
    for names in ([function.name for function in functions], {x.name: x for f in functions for x in f.inputs}):
        known: dict[str, str] = {}
        for name in names:
            if (found := identifier(name)) in known:
                raise ValueError(f"{known[found]!r} and {name!r} have the same name in C, {found}: rename a link, or "
                                 "export them separately")
            known[found] = name
