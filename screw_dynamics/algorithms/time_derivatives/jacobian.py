"""Second time derivative of the Jacobian of a frame relative to any other, in the four representations; [MD] 2."""

import numpy as np

from screw_dynamics.compiled.algorithm import Target
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import kernel, zero
from screw_dynamics.screws.joint import inner
from screw_dynamics.screws.se3 import Ad_inv, Pose, Twist, ad

from ..jacobian import JointScrews, add_column
from ..representations import represent
from .link import against_reference, turning

relative_rates = against_reference(1)


@kernel
def represent_second_rate(representation: int, C: Pose, V: Twist, Vd: Twist, X: Twist, Xd: Twist, Xdd: Twist) -> Twist:
    """Return the second time derivative of represent(representation, C, X), with the body-fixed twist V of the
    frame."""
    rate = Xd + turning(representation, V, X)
    second = Xdd + turning(representation, Vd, X) + turning(representation, V, Xd) + turning(representation, V, rate)
    return represent(representation, C, second)


@kernel
def jacobian_second_derivative(links: Link, body: JointScrews, frames: Frame, target: Target, out: np.ndarray) -> None:
    """Add to `out` (6, n) the second time derivative of the Jacobian along q' and q''.

    J_k' = [J_k, W], with the twist W of the joints between k and the frame, [MD] (5)."""
    parent, k, q, qd, qdd = links.parent, links.coordinate, body.q, body.qd, body.qdd
    H, meet, (V, Vd, _, _) = relative_rates(links, body, frames, target)
    o = zero(Twist, q[0])
    for of_frame in (True, False):
        i = frames.body[target.frame if of_frame else target.reference]
        W, Wd, passed, passed_rate = o, o, o, o
        while i != meet:
            J = body.J[i]
            Jd = ad(J, W)
            Jdd = ad(Jd, W) + ad(J, Wd)
            passed += qd[i] * J
            passed_rate += qdd[i] * J + qd[i] * Jd
            if not inner(q[i]):                     # the screws of one joint are constant in one frame
                W, Wd = passed, passed_rate
            if not of_frame:                        # a motion of the reference moves the frame backwards
                A, A1, A2 = -Ad_inv(H, J), -Ad_inv(H, Jd), -Ad_inv(H, Jdd)
                J, Jd = A, A1 - ad(V, A)
                Jdd = A2 - ad(V, A1) - ad(Vd, A) - ad(V, Jd)
            add_column(out, k[i], represent_second_rate(target.representation, H, V, Vd, J, Jd, Jdd))
            i = parent[i]
