"""Forward dynamics: by articulated bodies, O(n), a file for each representation; by the mass matrix, O(n^3)."""
from .body_fixed import FORWARD_DYNAMICS, ArticulatedBody, articulated_bodies
from .composite_bodies import FORWARD_DYNAMICS_BY_MASS_MATRIX, CompositeBody, composite_bodies

__all__ = ["FORWARD_DYNAMICS", "FORWARD_DYNAMICS_BY_MASS_MATRIX", "ArticulatedBody", "CompositeBody",
           "articulated_bodies", "composite_bodies"]
