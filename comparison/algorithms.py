"""What is compared: for each quantity, the algorithms that compute it."""
from screw_dynamics.algorithms.coriolis_matrix import CORIOLIS_MATRIX
from screw_dynamics.algorithms.forward_dynamics import (
    FORWARD_DYNAMICS_BY_MASS_MATRIX,
    FORWARD_DYNAMICS_BY_MASS_MATRIX_BODY_FIXED,
    FORWARD_DYNAMICS_IN,
)
from screw_dynamics.algorithms.gravity import GRAVITY_TORQUE
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS_CLASSICAL, INVERSE_DYNAMICS_IN
from screw_dynamics.algorithms.mass_matrix import MASS_MATRIX
from screw_dynamics.algorithms.twists import BODY_JACOBIANS_IN, BODY_TWISTS_IN

BODY = "body"                       # the representation that all others are held against
# Beside the representations: accelerations of points instead of derivatives of twists, and the mass matrix, in hybrid
# twists and in the body frames.
CLASSICAL, BY_MASS_MATRIX, BY_MASS_MATRIX_IN_BODY = "classical", "by mass matrix", "by mass matrix, body"

# Quantities that are there in each representation, or in several other ways.
IN_EACH = {
    "inverse dynamics": {**INVERSE_DYNAMICS_IN, CLASSICAL: INVERSE_DYNAMICS_CLASSICAL},
    "forward dynamics": {**FORWARD_DYNAMICS_IN, BY_MASS_MATRIX: FORWARD_DYNAMICS_BY_MASS_MATRIX,
                         BY_MASS_MATRIX_IN_BODY: FORWARD_DYNAMICS_BY_MASS_MATRIX_BODY_FIXED},
    "twists": BODY_TWISTS_IN,               # of all bodies, as are the Jacobians
    "Jacobians": BODY_JACOBIANS_IN,
}
DYNAMICS = "inverse dynamics", "forward dynamics"       # whose results are the same in whatever form
# Quantities that the package has in the body-fixed one alone.
BODY_FIXED = {
    "gravity torque": {BODY: GRAVITY_TORQUE},
    "mass matrix": {BODY: MASS_MATRIX},
    "Coriolis matrix": {BODY: CORIOLIS_MATRIX},
}
ALL = IN_EACH | BODY_FIXED
FORMS = list(dict.fromkeys(form for forms in IN_EACH.values() for form in forms))
DEGREES = {("forward dynamics", BY_MASS_MATRIX): 3, ("forward dynamics", BY_MASS_MATRIX_IN_BODY): 3,
           ("mass matrix", BODY): 2, ("Coriolis matrix", BODY): 2}


def degree(quantity, form):
    """The power of n with which the operations grow."""
    return 2 if quantity == "Jacobians" else DEGREES.get((quantity, form), 1)
