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

from .recursions import coriolis_matrices, last_body, matrices, motions, near_point

BODY = "body"                       # the representation that all others are held against
NEAR = "spatial, near"              # spatial twists about a point near the robot in place of the world's origin
# Beside the representations: accelerations of points instead of derivatives of twists, and the mass matrix, in hybrid
# twists and in the body frames.
CLASSICAL, BY_MASS_MATRIX, BY_MASS_MATRIX_IN_BODY = "classical", "by mass matrix", "by mass matrix, body"
SPARSE = "by mass matrix, body, sparse"         # of trees, whose factors have the zeros of the mass matrix

# Quantities that are there in each representation, or in several other ways, and are timed for all robots.
IN_EACH = {
    "inverse dynamics": {**INVERSE_DYNAMICS_IN, CLASSICAL: INVERSE_DYNAMICS_CLASSICAL},
    "forward dynamics": {**FORWARD_DYNAMICS_IN, NEAR: near_point.FORWARD_DYNAMICS_NEAR,
                         BY_MASS_MATRIX: FORWARD_DYNAMICS_BY_MASS_MATRIX,
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
    "mass matrix": {BODY: MASS_MATRIX, **matrices.MASS_MATRIX_IN},
    "Coriolis matrix": {BODY: CORIOLIS_MATRIX, **coriolis_matrices.CORIOLIS_MATRIX_IN},
}
ALL = IN_EACH | MOTIONS | LAST | MATRICES
SAME = (*DYNAMICS, *MATRICES)               # whose results are the same in whatever form
# About a near point trees take what they take about the world's origin, 3 for each body and a constant more.
ON_TREES = {**{quantity: IN_EACH[quantity] for quantity in ("inverse dynamics", "twists", "Jacobians")},
            "forward dynamics": {**FORWARD_DYNAMICS_IN, SPARSE: matrices.FORWARD_DYNAMICS_SPARSE},
            **{quantity: {form: entry for form, entry in forms.items() if form != NEAR}
               for quantity, forms in MATRICES.items()}}
FORMS = list(dict.fromkeys(form for forms in IN_EACH.values() for form in forms))
DEGREES = {("forward dynamics", BY_MASS_MATRIX): 3, ("forward dynamics", BY_MASS_MATRIX_IN_BODY): 3}


def degree(quantity, form):
    """The power of n with which the operations grow."""
    return DEGREES.get((quantity, form), 2 if quantity in ("Jacobians", "mass matrix", "Coriolis matrix") else 1)
