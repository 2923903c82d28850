"""What constraints between links hold.

A constraint between two links is a function of D (4, 4), the pose of the joint frame of the link in the joint frame of
the other. Its rows (m, 6) times the relative twist V, with D' = D V^, are 0 along every motion that keeps it."""
import numpy as np

from screw_dynamics import se3
from screw_dynamics.model import macro_joints
from screw_dynamics.model.constraints import LoopJoint

X_AXIS, Y_AXIS = np.eye(3)[:2]


class Subgroup:
    """D is in the subgroup that some screws of the joint frame span, so log(D) and V are in their span: the rows P
    annihilate it. `lead` (m): what a whole turn of a helical joint slides."""

    def __init__(self, screws: np.ndarray, lead: float):
        pivots = [int(np.flatnonzero(Z)[0]) for Z in screws]
        others = [k for k in range(6) if k not in pivots]
        self.P = np.eye(6)[others]
        self.P[:, pivots] = -screws[:, others].T
        self.m, self._wraps = len(others), lead * (self.P[:, 2] != 0.0)

    def residual(self, D: np.ndarray) -> np.ndarray:
        """P log(D), of a helical joint by whole turns nearest to 0."""
        h = se3.log(D) @ self.P.T
        if not self._wraps.any():
            return h
        turns = np.round(np.divide(h, self._wraps, where=self._wraps != 0.0, out=np.zeros_like(h)))
        return h - turns * self._wraps

    def gradient(self, D: np.ndarray) -> np.ndarray:
        """(..., m, 6): its product with V is the rate of the residual, P dexp^-1_-X V with X = log(D)."""
        images = se3.dexp_inv(-se3.log(D)[..., None, :], np.eye(6))
        return self.P @ np.swapaxes(images, -1, -2)

    def rows(self, D: np.ndarray) -> np.ndarray:
        """(m, 6), constant. Where D is in the subgroup their span is that of the gradient: dexp^-1 leaves the screws'
        span invariant."""
        return self.P

    def rows_rate(self, D: np.ndarray, V: np.ndarray) -> np.ndarray:
        """0."""
        return np.zeros_like(self.P)


class Universal:
    """The origins coincide, and the x axis of the other frame stays perpendicular to the y axis of the link's: no
    subgroup."""

    m = 4

    def residual(self, D: np.ndarray) -> np.ndarray:
        """The distance of the origins and the cosine of the angle."""
        return np.concatenate((D[..., :3, 3], D[..., 0, 1:2]), axis=-1)

    def gradient(self, D: np.ndarray) -> np.ndarray:
        """(..., 4, 6): rates of the residual are R v and (y x R^T x) . omega."""
        G = np.zeros((*D.shape[:-2], 4, 6))
        G[..., :3, 3:] = D[..., :3, :3]
        G[..., 3, :3] = np.cross(Y_AXIS, D[..., 0, :3])
        return G

    def rows(self, D: np.ndarray) -> np.ndarray:
        """(..., 4, 6)"""
        return self.gradient(D)

    def rows_rate(self, D: np.ndarray, V: np.ndarray) -> np.ndarray:
        """(..., 4, 6), along V: R' = R omega~, and (R^T x)' = R^T x x omega."""
        G, w = np.zeros((*D.shape[:-2], 4, 6)), V[..., None, :3]
        G[..., :3, 3:] = np.cross(D[..., :3, :3], w)
        G[..., 3, :3] = np.cross(Y_AXIS, np.cross(D[..., 0, :3], V[..., :3]))
        return G


class Length:
    """The origins keep a distance."""

    m = 1

    def __init__(self, length: float):
        self.length = length

    def residual(self, D: np.ndarray) -> np.ndarray:
        """|p| less the length."""
        return np.linalg.norm(D[..., :3, 3], axis=-1, keepdims=True) - self.length

    def _direction(self, D):
        """u = R^T p / |p|, and |p|."""
        p = (np.swapaxes(D[..., :3, :3], -1, -2) @ D[..., :3, 3:])[..., 0]
        length = np.linalg.norm(p, axis=-1, keepdims=True)
        return p / length, length

    def gradient(self, D: np.ndarray) -> np.ndarray:
        """(..., 1, 6): the rate of |p| is u . v."""
        u, _ = self._direction(D)
        return np.concatenate((np.zeros_like(u), u), axis=-1)[..., None, :]

    def rows(self, D: np.ndarray) -> np.ndarray:
        """(..., 1, 6)"""
        return self.gradient(D)

    def rows_rate(self, D: np.ndarray, V: np.ndarray) -> np.ndarray:
        """(..., 1, 6), along V: u' = u x omega + (v - u (u . v)) / |p|."""
        (u, length), w, v = self._direction(D), V[..., :3], V[..., 3:]
        rate = np.cross(u, w) + (v - u * (u * v).sum(axis=-1, keepdims=True)) / length
        return np.concatenate((np.zeros_like(u), rate), axis=-1)[..., None, :]


Form = Subgroup | Universal | Length


def form(joint: LoopJoint) -> Form:
    """The constraints of a joint, checked by model.constraints."""
    if joint.kind == "universal":
        return Universal()
    if joint.kind == "fixed":
        return Subgroup(np.zeros((0, 6)), 0.0)
    degrees = macro_joints.degrees(joint.kind, None, joint.pitch)
    return Subgroup(np.array([degree.screw for degree in degrees]), 2.0 * np.pi * (joint.pitch or 0.0))
