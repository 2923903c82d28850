"""Compilation: Numba as the compiler, and the files of machine code."""
