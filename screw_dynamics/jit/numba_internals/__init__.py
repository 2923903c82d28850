"""All internals of Numba that this package uses. Other packages import `compiler`, and nothing undocumented of Numba.

Documented, and used everywhere: `njit` and its options, `types`, `numba.extending`, and of `numba.core` the modules
shown in Numba's own chapters on extensions, `cgutils` and `errors`; llvmlite's `ir` and `binding`. Undocumented:

- `linking` and `objects`, compilers of called functions and of kernels, which are object files. With an untested Numba
  they are replaced by Numba's own compiler, and every process compiles its kernels: the results are the same, only
  later. `tested` has the versions and selects; other modules import `pipelines`.
- `calls`, `arrays`, `dispatchers`: small functions without a documented equivalent. If Numba lacks them, an error names
  the tested versions."""
