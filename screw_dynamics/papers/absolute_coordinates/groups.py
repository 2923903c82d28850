"""Lie groups for a rigid body's configuration: SE(3), SO(3) x R^3, and products of these, selected for each body; [MT]
appendix A.

An element is the pose (R, r) as a homogeneous matrix (4, 4) in either group. The groups differ in the product of
elements, and hence in exp, ad and dexp. A vector of the algebra is (6,), angular part first: in SE(3) a body-fixed
twist (omega, v), in SO(3) x R^3 a mixed velocity (omega body-fixed, r' in the inertial frame)."""
from collections.abc import Sequence

import numpy as np

from screw_dynamics.screws.arrays import ad_matrix, inverse_pose
from screw_dynamics.screws.groups import lie_group, se3
from screw_dynamics.screws.groups.lie_group import LieGroup

SEMIDIRECT, DIRECT = "SE(3)", "SO(3) x R^3"
BODY_FIXED, MIXED = "body-fixed", "mixed"


class ConfigurationGroup(LieGroup):
    """A product of SE(3) and SO(3) x R^3, one factor for each body.

    Parameters
    ----------
    kinds : sequence of {"SE(3)", "SO(3) x R^3"}
        Group of each body: SEMIDIRECT, which is "SE(3)", or DIRECT, which is "SO(3) x R^3".

    Raises
    ------
    ValueError
        If a group does not exist.

    Notes
    -----
    Elements are (..., n, 4, 4), vectors of the algebra (..., n, 6).
    """

    def __init__(self, kinds: Sequence[str]):
        for kind in kinds:
            if kind not in (SEMIDIRECT, DIRECT):
                raise ValueError(f"the group {kind!r} must be one of {SEMIDIRECT!r}, {DIRECT!r}")
        self.kinds = tuple(kinds)
        self.semidirect = np.array([kind == SEMIDIRECT for kind in kinds], dtype=bool)
        self.direct = np.flatnonzero(~self.semidirect)
        self._moves = self.semidirect[:, None, None] * 1.0

    def __repr__(self) -> str:
        runs = {kind: self.kinds.count(kind) for kind in dict.fromkeys(self.kinds)}
        return "<" + " x ".join(f"({kind})^{count}" for kind, count in runs.items()) + ">"

    @property
    def n(self) -> int:
        """The number of bodies."""
        return len(self.kinds)

    @property
    def representations(self) -> tuple[str, ...]:
        """The representation of the velocity of each body: BODY_FIXED in SE(3), MIXED in SO(3) x R^3."""
        return tuple(BODY_FIXED if kind == SEMIDIRECT else MIXED for kind in self.kinds)

    def _replace(self, vectors, others):
        """Replace the vectors (..., n, 3) of the bodies in SO(3) x R^3 by others, in place."""
        if self.direct.size:
            vectors[..., self.direct, :] = others[..., self.direct, :]

    def compose(self, g: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Return (R1 R2, r1 + R1 r2) in SE(3), or (R1 R2, r1 + r2) in SO(3) x R^3; [MT] (47), (60)."""
        product = g @ h
        if self.direct.size:
            self._replace(product[..., :3, 3], g[..., :3, 3] + h[..., :3, 3])
        return product

    def inverse(self, g: np.ndarray) -> np.ndarray:
        """Return (R^T, -R^T r) in SE(3), or (R^T, -r) in SO(3) x R^3."""
        result = inverse_pose(g)
        self._replace(result[..., :3, 3], -g[..., :3, 3])
        return result

    def exp(self, X: np.ndarray) -> np.ndarray:
        """Return (exp xi, dexp_xi eta) of X = (xi, eta) in SE(3), or (exp xi, eta) in SO(3) x R^3; [MT] (51), (65)."""
        g = lie_group.exp(X)
        self._replace(g[..., :3, 3], X[..., 3:])
        return g

    def log(self, g: np.ndarray) -> np.ndarray:
        """Return the vectors X = (xi, eta) with exp X = g and ``|xi| <= pi``."""
        X = np.array(se3.log(g))
        self._replace(X[..., 3:], g[..., :3, 3])
        return X

    def ad(self, X: np.ndarray) -> np.ndarray:
        """Return the matrices ad_X (..., n, 6, 6) of the Lie bracket; [MT] (50), (63)."""
        matrix = ad_matrix(X)
        matrix[..., 3:, :] *= self._moves
        return matrix

    def dexp(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Apply the right-trivialized differential of exp: dexp_X Y; [MT] (54), (67)."""
        result = np.array(se3.dexp(X, Y))
        self._replace(result[..., 3:], np.broadcast_to(Y, result.shape)[..., 3:])
        return result

    def dexp_inv(self, X: np.ndarray, Y: np.ndarray, order: int | None = None) -> np.ndarray:
        """Apply dexp_X^-1 in the closed form [MT] (58), which holds in both groups, or by the truncated series (43)."""
        if order is not None:
            return super().dexp_inv(X, Y, order)
        A, term = self.ad(X), Y[..., None]
        c = lie_group.exp_coefficients((X[..., :3] ** 2).sum(axis=-1))[..., None, None]
        first = A @ term
        second = A @ first
        return (term - 0.5 * first + c[..., 3, :, :] * second + c[..., 4, :, :] * (A @ (A @ second)))[..., 0]
