"""How a loop over bodies becomes machine code: entry points, their cache and memory, batches, lanes, threads, tracing.
May import numbers, screws and model; imports no algorithm."""
