"""The test that comes with an export, in C: each function against recorded values."""
from collections.abc import Iterator

from .functions import Function
from .layout import Export, block
from .printing import identifier, wrapped
from .recorded import call

COMPARE = """\
#include "<name>/<name>.h"

#include <stdio.h>

#include "recorded.h"

static int failures = 0;

static <scalar> size_of(<scalar> x) {
  return x < <zero> ? -x : x;
}

// Compares numbers with what is expected, to rounding of the largest of them.
static void compare(const char *what, int state, const <scalar> *found, const <scalar> *expected, int count,
    <scalar> tolerance) {
  <scalar> largest = <one>;
  for (int i = 0; i < count; i++) {
    largest = size_of(expected[i]) > largest ? size_of(expected[i]) : largest;
  }
  for (int i = 0; i < count; i++) {
    if (!(size_of(found[i] - expected[i]) <= tolerance * largest)) {
      printf("%s[%d], state %d: %.17g, not %.17g\\n", what, i, state, (double)found[i], (double)expected[i]);
      failures++;
    }
  }
}
"""

MAIN = """\
int main(void) {
<calls>
  printf("%s: <count> functions, %d numbers differ\\n", failures ? "failed" : "passed", failures);
  return failures != 0;
}
"""


def self_test(export: Export) -> str:
    """The text of the test."""
    scalar, number = export.dialect.scalar, export.dialect.number
    lines = block([export.title, "Compares each function with recorded values; 0 if all are the same to rounding."],
                  hang="")
    text = COMPARE
    for name, part in {"name": export.name, "scalar": scalar, "zero": number(0.0), "one": number(1.0)}.items():
        text = text.replace(f"<{name}>", part)
    lines += [*text.splitlines(), ""]
    for function, _ in export.functions:
        lines += [*_test(export, function), ""]
    calls = "\n".join(f"  test_{identifier(function.name)}();" for function, _ in export.functions)
    return "\n".join([*lines, MAIN.replace("<calls>", calls).replace("<count>", str(len(export.functions)))])


def _test(export, function: Function) -> Iterator[str]:
    """The test of a function."""
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
