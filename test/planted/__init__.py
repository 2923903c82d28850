"""Faults that are planted in the package to see whether a test notices: `make planted`.

The table is our own, and not that of a library of mutations: those choose among thousands, of which many change nothing
that can be observed, run the same tests for each, and change functions while a program runs, or bytecode in the cache;
Numba compiles the former wrongly, and the cache of kernels, which goes by sources, takes no notice of the latter."""
