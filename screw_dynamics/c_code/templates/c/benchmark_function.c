static void measure_@name@(void) {
  @results@
  volatile @scalar@ kept;
  double best = 1e9;
  for (int k = 0; k < calls; k++) {
    const double start = now();
    @call@;
    times[k] = now() - start;
    kept = @first@[0];
  }
  for (int run = 0; run < runs; run++) {
    const double start = now();
    for (int k = 0; k < calls_of_run; k++) {
      @call@;
      kept = @first@[0];
    }
    const double mean = (now() - start) / calls_of_run;
    best = mean < best ? mean : best;
  }
  (void)kept;
  report("@name@", best);
}
