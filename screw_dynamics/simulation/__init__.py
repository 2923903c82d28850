"""Motion over time: the integrators, and the rollout that runs them in one kernel.
May import algorithms and all that these may."""
