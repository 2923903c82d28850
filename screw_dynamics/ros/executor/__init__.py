"""Execution of a node's callbacks: mutually exclusive, guarded, fast for one subscription, or outside the executor."""
