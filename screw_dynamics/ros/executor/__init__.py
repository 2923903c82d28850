"""Execution of the callbacks of a node: in turns, guarded, fast for one subscription, or beside the executor."""
