"""A robot's functions with their derivatives, for libraries that differentiate: JAX and CasADi.

functions says what they are; jax and casadi, which take the extras of these names, hand them over."""
