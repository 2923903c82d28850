"""The groups SO(3) and SE(3) on arrays, as users call them. May import the modules beside it."""
