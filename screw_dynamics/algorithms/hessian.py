"""Kinematic Hessian: derivatives of the Jacobian of a frame by the coordinates, in the four representations of
twists."""
import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, Target
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import kernel, zero
from screw_dynamics.screws.se3 import Ad_inv, Twist, ad, inverse

from .group_rates import first_body
from .jacobian import JointScrews, keep_column
from .kinematics import climb
from .representations import represent_rate


@kernel
def between(q: list, i: int, i_moves_frame: bool, j: int, j_moves_frame: bool) -> bool:
    """Return True if joint j moves the frame relative to the child of joint i, where the screw of i is constant.

    If the joints move the reference, this includes joint i itself."""
    if i_moves_frame != j_moves_frame:
        return j_moves_frame
    a, b = first_body(q, i), first_body(q, j)
    return b > a if i_moves_frame else b <= a


@kernel
def hessian(links: Link, body: JointScrews, frames: Frame, target: Target, out: np.ndarray) -> None:
    """Add to `out` (6, n, n) the derivative of column i of the Jacobian by q_j, at [:, i, j].

    The body-fixed column i changes by [J_i, J_j] if joint j is between its child and the frame, [MD] (5)."""
    parent, k, q, J = links.parent, links.coordinate, body.q, body.J
    C, D, meet = climb(links, frames, target, q, keep_column, J)
    H, j = inverse(D) @ C, frames.body[target.reference]
    while j != meet:                                        # a motion of the reference moves the frame backwards
        J[j] = -Ad_inv(H, J[j])
        j = parent[j]
    for one in range(2):
        i = frames.body[target.frame if one == 0 else target.reference]
        while i != meet:
            for other in range(2):
                j = frames.body[target.frame if other == 0 else target.reference]
                while j != meet:
                    rate = ad(J[i], J[j]) if between(q, i, one == 0, j, other == 0) else zero(Twist, q[0])
                    X = represent_rate(target.representation, H, J[j], J[i], rate)
                    a, b, w, v = k[i], k[j], X.angular, X.linear
                    out[0, a, b] += w.x
                    out[1, a, b] += w.y
                    out[2, a, b] += w.z
                    out[3, a, b] += v.x
                    out[4, a, b] += v.y
                    out[5, a, b] += v.z
                    j = parent[j]
            i = parent[i]


HESSIAN = CompiledAlgorithm(hessian, JointScrews, "q", kernel(lambda n, b: (6, n, n)), targeted=True, rare=True)
