"""Second partial derivatives of the efforts J^T w of a wrench w that is constant in its link's frame.

J_k, the screw of joint k in that frame, depends only on the joints i between it and the link: dJ_k/dq_i = [J_k, J_i] if
joint k is an ancestor of joint i, else 0; [MD] (5). The product rule for the bracket gives [MD] (12)."""
import numpy as np

from screw_dynamics.screws.groups import se3


def effort_second_derivatives(J: np.ndarray, carries: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """Return the derivatives (..., b, b, b): [..., k, i, j] is that of J_k . w along joint i, and then along joint j.

    J: screws (..., b, 6) of the joints that move the link, in its frame; carries (b, b): True at [k, i] if joint k
    is an ancestor of joint i; wrench (..., 6)."""
    H = carries[..., None] * se3.ad(J[..., :, None, :], J[..., None, :, :])                        # dJ_k/dq_i
    turned = se3.ad(H[..., :, None, :, :], J[..., None, :, None, :]) + se3.ad(
        J[..., :, None, None, :], H[..., None, :, :, :])                                           # (..., k, i, j, 6)
    return carries[..., None] * np.einsum("...kijx,...x->...kij", turned, wrench)
