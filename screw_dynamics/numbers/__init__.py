"""Value types, tables of values, scalar functions, SIMD lanes. Imports Numba and NumPy, and no other package."""
