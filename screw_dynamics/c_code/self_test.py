"""The test program of an export, in C: compares each function with recorded values."""
from collections.abc import Iterator

from .functions import Function
from .layout import Export, block
from .printing import identifier, wrapped
from .recorded import call
from .template import filled

MAIN = """\
int main(void) {
<calls>
  printf("%s: <count> functions, %d numbers differ\\n", failures ? "failed" : "passed", failures);
  return failures != 0;
}
"""


def self_test(export: Export) -> str:
    """Return the source of the test."""
    scalar, number = export.dialect.scalar, export.dialect.number
    lines = block([export.title, "Compares each function with recorded values; 0 if all agree to machine precision."],
                  hang="")
    parts = {"name": export.name, "scalar": scalar, "zero": number(0.0), "one": number(1.0)}
    lines += [*filled("c/self_test_start.c", parts).splitlines(), ""]
    for function, _ in export.functions:
        lines += [*_test(export, function), ""]
    calls = "\n".join(f"  test_{identifier(function.name)}();" for function, _ in export.functions)
    return "\n".join([*lines, MAIN.replace("<calls>", calls).replace("<count>", str(len(export.functions)))])


def _test(export, function: Function) -> Iterator[str]:
    """Yield the test of a function."""
    name = identifier(function.name)
    yield f"static void test_{name}(void) {{"
    yield f"  for (int k = 0; k < {name}_states; k++) {{"
    for x in function.outputs:
        yield f"    {export.dialect.scalar} {identifier(x.name)}[{x.size}];"
    yield from (f"    {line}" for line in wrapped(f"{call(export, function, 'k')};", 116))
    for x in function.outputs:
        result = identifier(x.name)
        recorded = f"{name}_{result}"
        yield from (f"    {line}" for line in wrapped(
            f'compare("{name} {result}", k, {result}, {recorded}_expected[k], {x.size}, {recorded}_tolerance);', 116))
    yield "  }"
    yield "}"
