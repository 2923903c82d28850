"""Second partial derivatives of forward dynamics, from those of inverse dynamics, without finite differences; [MD] 6.1.

Forward dynamics f(q, q', tau) solves ID(q, q', f) = tau. This equation is differentiated twice, and solved for the
second derivatives of f, which are multiplied by M. ID is linear in q'': only H = dM/dq, H[a, i, b] = dM[a, b]/dq_i,
couples the two arguments:
    M f_qq = -(ID_qq + H f_q + (H f_q)^T),    M f_qq' = -(ID_qq' + H f_q'),    M f_q'q' = -ID_q'q',
    M f_qtau = -H M^-1,
where ^T exchanges the two derivatives. Others are zero. f_qtau = d(M^-1)/dq."""
from collections.abc import Sequence

import numpy as np


def forward_dynamics_second_derivatives(second: Sequence[np.ndarray], first: Sequence[np.ndarray]) -> np.ndarray:
    """Return f_qq, f_qq', f_q'q' and f_qtau (..., 4, n, n, n), [..., a, i, j] of acceleration a by entries i and j.

    second: ID_qq, ID_qq', ID_q'q' and dM/dq (..., n, n, n) of inverse dynamics at the acceleration f; first: f_q, f_q'
    and M^-1 (..., n, n)."""
    by_q_q, by_q_qd, by_qd_qd, H = second
    of_q, of_qd, inverse = (H @ X[..., None, :, :] for X in first)             # sum_b H[a, i, b] X[b, j]
    missing = np.stack([by_q_q + of_q + of_q.swapaxes(-1, -2), by_q_qd + of_qd, by_qd_qd, inverse], axis=-4)
    *lead, n, _, _ = missing.shape
    return -(first[2][..., None, :, :] @ missing.reshape(*lead, n, n * n)).reshape(missing.shape)
