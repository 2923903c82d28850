"""The benchmark program of an export, in C for POSIX."""
from collections.abc import Iterator

from .functions import Function
from .layout import Export, block
from .printing import identifier, wrapped
from .recorded import call
from .template import filled


def benchmark(export: Export) -> str:
    """Return the source of the program."""
    lines = block([export.title, "Measures each function, in ns: a call in a loop, of the fastest of many runs; "
                   "median, 99.9 % and worst of a million single calls, with what the clock and interruptions by "
                   "the system take."], hang="")
    lines += [*filled("c/benchmark_start.c", {"name": export.name}).splitlines(), ""]
    for function, _ in export.functions:
        lines += [*_measure(export, function), ""]
    lines += ["int main(void) {", '  printf("%-44s %8s %8s %8s %10s\\n", "ns", "call", "median", "99.9 %", "worst");',
              *(f"  measure_{identifier(function.name)}();" for function, _ in export.functions), "  return 0;", "}",
              ""]
    return "\n".join(lines)


def _measure(export, function: Function) -> Iterator[str]:
    """Yield the benchmark of a function in its recorded states."""
    scalar, state = export.dialect.scalar, f"k % {identifier(function.name)}_states"
    results = ", ".join(f"{identifier(x.name)}[{x.size}]" for x in function.outputs)
    yield from filled("c/benchmark_function.c", {
        "name": identifier(function.name), "results": f"{scalar} {results};", "scalar": scalar,
        "call": "\n      ".join(wrapped(call(export, function, state), 112)),
        "first": identifier(function.outputs[0].name)}).splitlines()
