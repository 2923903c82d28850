#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "@name@/@name@.h"
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
  printf("%-44s %8.0f %8.0f %8.0f %10.0f\n", name, mean, times[calls / 2], times[calls - calls / 1000],
    times[calls - 1]);
}
