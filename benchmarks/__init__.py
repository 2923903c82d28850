"""The benchmark against other libraries: `make bench`. docs/benchmarks.md says how each number is taken."""
