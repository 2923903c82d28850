"""The algorithms, one a file: each a loop or two over the bodies, and the entry point that compiles it.
May import numbers, screws, model and compiled."""
