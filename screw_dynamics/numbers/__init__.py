"""Value types, tables of them, functions of a scalar, SIMD lanes. Imports Numba and NumPy, and no other package."""
