"""Cholesky factors of an articulated inertia: M = L L^T, hence M^-1 = L^-T L^-1, by blocks of three."""
from typing import NamedTuple

from screw_dynamics.numbers.scalars import sqrt
from screw_dynamics.numbers.values import Scalar, kernel

from .inertia import Articulated
from .se3 import Twist, Wrench
from .vectors import Matrix3, Symmetric3, Vec3, transpose


class CholeskyFactor3(NamedTuple):
    """Cholesky factor L of a symmetric 3 x 3 matrix: the inverses of its diagonal, and its entries yx, zx, zy."""

    x: Scalar
    y: Scalar
    z: Scalar
    yx: Scalar
    zx: Scalar
    zy: Scalar


class CholeskyFactor(NamedTuple):
    """Cholesky factor L = [[A, 0], [K, D]] of an inertia."""

    A: CholeskyFactor3
    K: Matrix3
    D: CholeskyFactor3


@kernel
def cholesky3(S: Symmetric3) -> CholeskyFactor3:
    """Return L with L L^T = S, for a positive definite S."""
    x = 1.0 / sqrt(S.xx)
    yx, zx = x * S.xy, x * S.xz
    y = 1.0 / sqrt(S.yy - yx * yx)
    zy = y * (S.yz - yx * zx)
    return CholeskyFactor3(x, y, 1.0 / sqrt(S.zz - zx * zx - zy * zy), yx, zx, zy)


@kernel
def forward_substitution(L: CholeskyFactor3, b: Vec3) -> Vec3:
    """Return L^-1 b."""
    x = L.x * b.x
    y = L.y * (b.y - L.yx * x)
    return Vec3(x, y, L.z * (b.z - L.zx * x - L.zy * y))


@kernel
def back_substitution(L: CholeskyFactor3, b: Vec3) -> Vec3:
    """Return L^-T b."""
    z = L.z * b.z
    y = L.y * (b.y - L.zy * z)
    return Vec3(L.x * (b.x - L.yx * y - L.zx * z), y, z)


@kernel
def cholesky(M: Articulated) -> CholeskyFactor:
    """Return L with L L^T = M, for a positive definite M."""
    A, Bt, D = cholesky3(M.A), transpose(M.B), M.D
    K = Matrix3(forward_substitution(A, Bt.x), forward_substitution(A, Bt.y), forward_substitution(A, Bt.z))
    return CholeskyFactor(A, K, cholesky3(Symmetric3(
        D.xx - K.x @ K.x, D.xy - K.x @ K.y, D.xz - K.x @ K.z, D.yy - K.y @ K.y, D.yz - K.y @ K.z, D.zz - K.z @ K.z)))


@kernel
def solve_lower(L: CholeskyFactor, W: Wrench) -> Wrench:
    """Return L^-1 W."""
    t = forward_substitution(L.A, W.torque)
    return Wrench(t, forward_substitution(L.D, W.force - L.K @ t))


@kernel
def solve_upper(L: CholeskyFactor, y: Wrench) -> Twist:
    """Return L^-T y."""
    v = back_substitution(L.D, y.force)
    return Twist(back_substitution(L.A, y.torque - v @ L.K), v)
