"""Mutations of the package, to see whether a test notices: `make planted N=200 SEED=1`.

`operators` changes one expression of a source, `draw` chooses places, `reach` and `coverage_map` know which tests run a
line, `trees` are copies of the repository in which they are run.

Libraries of mutations (mutmut, cosmic-ray) take each place of a package, of which this one has 50,000, run all tests
for each, and change functions in a running program, or bytecode; Numba compiles the sources of functions."""
