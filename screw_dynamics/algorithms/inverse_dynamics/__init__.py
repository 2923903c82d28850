"""Inverse dynamics, O(n): the recursive Newton-Euler algorithm, a file for each representation of twists; [MD] 4.

  body_fixed (66), (67); spatial (70), (71); hybrid (75), (76); mixed (56), (57)

`classical` is a fifth, outside the four representations, with the fewest operations."""
from .body_fixed import CORIOLIS_TORQUE, INVERSE_DYNAMICS
from .classical import INVERSE_DYNAMICS_CLASSICAL
from .hybrid import INVERSE_DYNAMICS_HYBRID
from .mixed import INVERSE_DYNAMICS_MIXED
from .spatial import INVERSE_DYNAMICS_SPATIAL

# The same efforts by way of each representation, named as in representations.REPRESENTATIONS.
INVERSE_DYNAMICS_IN = {"body": INVERSE_DYNAMICS, "spatial": INVERSE_DYNAMICS_SPATIAL,
                       "hybrid": INVERSE_DYNAMICS_HYBRID, "mixed": INVERSE_DYNAMICS_MIXED}

__all__ = ["CORIOLIS_TORQUE", "INVERSE_DYNAMICS", "INVERSE_DYNAMICS_CLASSICAL", "INVERSE_DYNAMICS_IN"]
