"""All that this package takes from Numba: the others import `compiler`, and none what Numba does not document.

Documented, and used everywhere: `njit` and its options, `types`, `numba.extending`, and of `numba.core` what Numba's
own chapters on extending it show, `cgutils` and `errors`; llvmlite's `ir` and `binding`. Without a promise, and here:

- `linking` and `objects`, compilers of three kinds of functions, and `kept_code`, which writes what they make to disk
  and reads it. On a Numba that is not known these give way to Numba's own compiler, and every process compiles what it
  needs: the same results, only later. `tested` has the versions, and chooses; `pipelines` is what others take.
- `calls`, `arrays`, `dispatchers`: small things that nothing documented stands for. Without them there
  is an error that names the versions."""
