"""Dynamics algorithms, one file each: one or two loops over the bodies, and the CompiledAlgorithm that compiles it.
May import numbers, screws, model and compiled."""
