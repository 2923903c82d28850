"""Forward dynamics: by articulated bodies, O(n), a file for each representation; by the mass matrix, O(n^3)."""
from .body_fixed import FORWARD_DYNAMICS, ArticulatedBody, articulated_bodies
from .composite_bodies import FORWARD_DYNAMICS_BY_MASS_MATRIX, CompositeBody, composite_bodies
from .hybrid import FORWARD_DYNAMICS_HYBRID
from .mixed import FORWARD_DYNAMICS_MIXED
from .spatial import FORWARD_DYNAMICS_SPATIAL

# The same accelerations by way of each representation, named as in jacobian.REPRESENTATIONS.
FORWARD_DYNAMICS_IN = {"body": FORWARD_DYNAMICS, "spatial": FORWARD_DYNAMICS_SPATIAL,
                       "hybrid": FORWARD_DYNAMICS_HYBRID, "mixed": FORWARD_DYNAMICS_MIXED}

__all__ = ["FORWARD_DYNAMICS", "FORWARD_DYNAMICS_BY_MASS_MATRIX", "FORWARD_DYNAMICS_IN", "ArticulatedBody",
           "CompositeBody", "articulated_bodies", "composite_bodies"]
