"""The benchmark against other libraries: `make bench`. docs/benchmarks.md explains how each number is measured."""
