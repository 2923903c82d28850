"""What a number and a value is: value types, tables of them, functions of a scalar, SIMD lanes.
Stands on Numba and NumPy alone; imports no other room."""
