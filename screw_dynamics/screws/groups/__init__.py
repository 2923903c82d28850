"""The groups SO(3) and SE(3) on arrays: the public functions. May import the modules beside it."""
