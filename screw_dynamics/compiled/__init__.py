"""How a loop over bodies runs: entry points and their memory, batches, lanes, threads, tracing into straight lines.
May import machine_code and model, and what these may; imports no algorithm."""
