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

from .recursions import last_body, matrices, motions

BODY = "body"                       # the representation that all others are held against
# Beside the representations: accelerations of points instead of derivatives of twists, and the mass matrix, in hybrid
# twists and in the body frames.
CLASSICAL, BY_MASS_MATRIX, BY_MASS_MATRIX_IN_BODY = "classical", "by mass matrix", "by mass matrix, body"
SPARSE = "by mass matrix, body, sparse"         # of trees, whose factors have the zeros of the mass matrix

# Quantities that are there in each representation, or in several other ways, and are timed for all robots.
IN_EACH = {
    "inverse dynamics": {**INVERSE_DYNAMICS_IN, CLASSICAL: INVERSE_DYNAMICS_CLASSICAL},
    "forward dynamics": {**FORWARD_DYNAMICS_IN, BY_MASS_MATRIX: FORWARD_DYNAMICS_BY_MASS_MATRIX,
                         BY_MASS_MATRIX_IN_BODY: FORWARD_DYNAMICS_BY_MASS_MATRIX_BODY_FIXED},
    "twists": BODY_TWISTS_IN,               # of all bodies, as are the Jacobians
    "Jacobians": BODY_JACOBIANS_IN,
}
DYNAMICS = "inverse dynamics", "forward dynamics"       # whose results are the same in whatever form
MOTIONS = {"accelerations": motions.ACCELERATIONS_IN, "jerks": motions.JERKS_IN}        # of all bodies
LAST = {                                                # of the last body of a chain alone
    "pose of the last body": last_body.LAST_POSE_IN,
    "twist of the last body": last_body.LAST_TWIST_IN,
    "acceleration of the last body": motions.LAST_ACCELERATION_IN,
    "jerk of the last body": motions.LAST_JERK_IN,
    "Jacobian of the last body": last_body.LAST_JACOBIAN_IN,
}
MATRICES = {
    "gravity torque": {BODY: GRAVITY_TORQUE, **matrices.GRAVITY_IN},
    "mass matrix": {BODY: MASS_MATRIX, "spatial": matrices.MASS_MATRIX_SPATIAL, "hybrid": matrices.MASS_MATRIX_HYBRID},
    "Coriolis matrix": {BODY: CORIOLIS_MATRIX, "spatial": matrices.CORIOLIS_MATRIX_SPATIAL},
}
ALL = IN_EACH | MOTIONS | LAST | MATRICES
SAME = (*DYNAMICS, *MATRICES)               # whose results are the same in whatever form
ON_TREES = {**{quantity: IN_EACH[quantity] for quantity in ("inverse dynamics", "twists", "Jacobians")},
            "forward dynamics": {**FORWARD_DYNAMICS_IN, SPARSE: matrices.FORWARD_DYNAMICS_SPARSE}, **MATRICES}
FORMS = list(dict.fromkeys(form for forms in IN_EACH.values() for form in forms))
DEGREES = {("forward dynamics", BY_MASS_MATRIX): 3, ("forward dynamics", BY_MASS_MATRIX_IN_BODY): 3}


def degree(quantity, form):
    """The power of n with which the operations grow."""
    return DEGREES.get((quantity, form), 2 if quantity in ("Jacobians", "mass matrix", "Coriolis matrix") else 1)
