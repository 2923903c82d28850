"""A robot's functions for other ways of computing: `gpu` for batches on a GPU, `jax` and `casadi` for the automatic
differentiation of JAX and CasADi, which adapt the `functions` with derivatives. Each requires the extra of its name."""
