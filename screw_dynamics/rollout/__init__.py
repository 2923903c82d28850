"""Motion over time: integrators, and rollouts that run them in one kernel.
May import algorithms and the packages below it."""
