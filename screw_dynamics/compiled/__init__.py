"""Execution of loops over bodies: entry points and their memory, batches, lanes, threads, tracing into straight lines.
May import kernel_cache and model, and what these may; imports no algorithm."""
