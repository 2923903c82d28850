"""The groups SO(3) and SE(3) on arrays: the public functions; lie_group has groups as objects. May import the modules
beside it."""
