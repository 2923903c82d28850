"""A robot's functions with derivatives for the automatic differentiation of JAX and CasADi.

`functions` defines them; `jax` and `casadi`, which require the extras of these names, adapt them."""
