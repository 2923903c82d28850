#include "@name@/@name@.h"

#include <stdio.h>

#include "recorded.h"

static int failures = 0;

static @scalar@ size_of(@scalar@ x) {
  return x < @zero@ ? -x : x;
}

// Compares numbers with what is expected, within the roundoff of the largest of them.
static void compare(const char *what, int state, const @scalar@ *found, const @scalar@ *expected, int count,
    @scalar@ tolerance) {
  @scalar@ largest = @one@;
  for (int i = 0; i < count; i++) {
    largest = size_of(expected[i]) > largest ? size_of(expected[i]) : largest;
  }
  for (int i = 0; i < count; i++) {
    if (!(size_of(found[i] - expected[i]) <= tolerance * largest)) {
      printf("%s[%d], state %d: %.17g, not %.17g\n", what, i, state, (double)found[i], (double)expected[i]);
      failures++;
    }
  }
}
