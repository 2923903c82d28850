"""Execution of loops over bodies: entry points and their memory, batches, SIMD lanes, threads, tracing to straight-line
code. May import kernel_cache and model, and their dependencies; imports no algorithm."""
