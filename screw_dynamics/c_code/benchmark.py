"""The program that comes with an export and measures its functions, in C for POSIX."""
from collections.abc import Iterator

from .functions import Function
from .layout import Export, block
from .printing import identifier, wrapped
from .recorded import call

START = """\
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "<name>/<name>.h"
#include "recorded.h"

enum { calls = 1000000, runs = 300, calls_of_run = 1000 };
static double times[calls]; // ns

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int later(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void report(const char *name, double mean) {
  qsort(times, calls, sizeof times[0], later);
  printf("%-44s %8.0f %8.0f %8.0f %10.0f\\n", name, mean, times[calls / 2], times[calls - calls / 1000],
    times[calls - 1]);
}
"""

MEASURE = """\
static void measure_<name>(void) {
  <results>
  volatile <scalar> kept;
  double best = 1e9;
  for (int k = 0; k < calls; k++) {
    const double start = now();
    <call>;
    times[k] = now() - start;
    kept = <first>[0];
  }
  for (int run = 0; run < runs; run++) {
    const double start = now();
    for (int k = 0; k < calls_of_run; k++) {
      <call>;
      kept = <first>[0];
    }
    const double mean = (now() - start) / calls_of_run;
    best = mean < best ? mean : best;
  }
  (void)kept;
  report("<name>", best);
}
"""


def benchmark(export: Export) -> str:
    """The text of the program."""
    lines = block([export.title, "Measures each function, in ns: a call in a loop, of the fastest of many runs; "
                   "median, 99.9 % and worst of a million single calls, with what the clock and interruptions by "
                   "the system take."], hang="")
    lines += [*START.replace("<name>", export.name).splitlines(), ""]
    for function, _ in export.functions:
        lines += [*_measure(export, function), ""]
    lines += ["int main(void) {", '  printf("%-44s %8s %8s %8s %10s\\n", "ns", "call", "median", "99.9 %", "worst");',
              *(f"  measure_{identifier(function.name)}();" for function, _ in export.functions), "  return 0;", "}",
              ""]
    return "\n".join(lines)


def _measure(export, function: Function) -> Iterator[str]:
    """The measurement of a function, in the states that are recorded."""
    text, scalar, state = MEASURE, export.dialect.scalar, f"k % {identifier(function.name)}_states"
    results = ", ".join(f"{identifier(x.name)}[{x.size}]" for x in function.outputs)
    for name, part in {"name": identifier(function.name), "results": f"{scalar} {results};", "scalar": scalar,
                       "call": "\n      ".join(wrapped(call(export, function, state), 112)),
                       "first": identifier(function.outputs[0].name)}.items():
        text = text.replace(f"<{name}>", part)
    yield from text.splitlines()
