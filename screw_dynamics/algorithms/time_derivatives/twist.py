"""Time derivatives of a body-fixed twist, from those of the parent; [MD] (108), differentiated."""
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.se3 import Ad_inv, Pose, Twist, ad


@kernel
def passed_on(C: Pose, X: Twist, qd: Scalar, qdd: Scalar, qddd: Scalar, V: Twist, Vd: Twist,
              Vdd: Twist) -> tuple[Twist, Twist, Twist]:
    """Return V, V' and V'' of a body with pose C in its parent, from the parent's: V = A V_p + X q', A = Ad_C^-1.

    (A Y)' = A Y' - [X q', A Y] for any twist Y of the parent."""
    K, Kd = qd * X, qdd * X
    A0, A1 = Ad_inv(C, V), Ad_inv(C, Vd)
    A0d, A1d = A1 - ad(K, A0), Ad_inv(C, Vdd) - ad(K, A1)
    return A0 + K, A0d + Kd, A1d - ad(Kd, A0) - ad(K, A0d) + qddd * X


@kernel
def third(C: Pose, X: Twist, qd: Scalar, qdd: Scalar, qddd: Scalar, qdddd: Scalar, V: Twist, Vd: Twist, Vdd: Twist,
          Vddd: Twist) -> Twist:
    """Return V''' of the body, from the parent's."""
    K, Kd, Kdd = qd * X, qdd * X, qddd * X
    A0, A1, A2 = Ad_inv(C, V), Ad_inv(C, Vd), Ad_inv(C, Vdd)
    A0d, A1d, A2d = A1 - ad(K, A0), A2 - ad(K, A1), Ad_inv(C, Vddd) - ad(K, A2)
    A0dd, A1dd = A1d - ad(Kd, A0) - ad(K, A0d), A2d - ad(Kd, A1) - ad(K, A1d)
    return A1dd - ad(Kdd, A0) - 2.0 * ad(Kd, A0d) - ad(K, A0dd) + qdddd * X
