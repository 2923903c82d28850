"""Vectors and matrices of R^3, over any scalar."""
from typing import NamedTuple

from screw_dynamics.numbers.values import Nil, Scalar, form_of, infix, kernel, linear


@linear
class Vec3(NamedTuple):
    """A vector of R^3."""

    x: Scalar
    y: Scalar
    z: Scalar


@form_of(Vec3)
class AlongZ(NamedTuple):
    """A vector along the z axis."""

    x: Nil
    y: Nil
    z: Scalar


@linear
class Matrix3(NamedTuple):
    """A 3 x 3 matrix by rows."""

    x: Vec3
    y: Vec3
    z: Vec3


@form_of(Vec3)
class InPlaneXY(NamedTuple):
    """A vector in the x-y plane."""

    x: Scalar
    y: Scalar
    z: Nil


@form_of(Vec3)
class Nothing(NamedTuple):
    """The vector 0."""

    x: Nil
    y: Nil
    z: Nil


@form_of(Matrix3)
class ColumnZ(NamedTuple):
    """A matrix with only its third column."""

    x: AlongZ
    y: AlongZ
    z: AlongZ


@form_of(Matrix3)
class ColumnsXY(NamedTuple):
    """A matrix without its third column."""

    x: InPlaneXY
    y: InPlaneXY
    z: InPlaneXY


@linear
class Symmetric3(NamedTuple):
    """A symmetric 3 x 3 matrix by its upper triangle."""

    xx: Scalar
    xy: Scalar
    xz: Scalar
    yy: Scalar
    yz: Scalar
    zz: Scalar


@infix("@")
def inner(a: Vec3, b: Vec3) -> Scalar:
    """Return the scalar product a . b."""
    return a.x * b.x + a.y * b.y + a.z * b.z


@kernel
def cross(a: Vec3, b: Vec3) -> Vec3:
    """Return the vector product a x b = a~ b."""
    return Vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


@kernel
def tilde(a: Vec3) -> Matrix3:
    """Return the skew matrix a~, with a~ b = a x b."""
    zero = 0.0 * a.x
    return Matrix3(Vec3(zero, -a.z, a.y), Vec3(a.z, zero, -a.x), Vec3(-a.y, a.x, zero))


@kernel
def cross_columns(a: Vec3, B: Matrix3) -> Matrix3:
    """Return a~ B: a crossed with every column of B."""
    return Matrix3(a.y * B.z - a.z * B.y, a.z * B.x - a.x * B.z, a.x * B.y - a.y * B.x)


@kernel
def cross_rows(B: Matrix3, a: Vec3) -> Matrix3:
    """Return B a~: every row of B crossed with a."""
    return Matrix3(cross(B.x, a), cross(B.y, a), cross(B.z, a))


@kernel
def outer(a: Vec3, b: Vec3) -> Matrix3:
    """Return the dyad a b^T."""
    return Matrix3(a.x * b, a.y * b, a.z * b)


@infix("@")
def multiply_vector(A: Matrix3, b: Vec3) -> Vec3:
    """Return A b."""
    return Vec3(A.x @ b, A.y @ b, A.z @ b)


@infix("@")
def multiply_transposed(a: Vec3, B: Matrix3) -> Vec3:
    """Return a^T B, which is B^T a."""
    return a.x * B.x + a.y * B.y + a.z * B.z


@infix("@")
def multiply_matrix(A: Matrix3, B: Matrix3) -> Matrix3:
    """Return A B."""
    return Matrix3(A.x @ B, A.y @ B, A.z @ B)


@infix("@")
def multiply_symmetric(S: Symmetric3, b: Vec3) -> Vec3:
    """Return S b."""
    return Vec3(S.xx * b.x + S.xy * b.y + S.xz * b.z,
                S.xy * b.x + S.yy * b.y + S.yz * b.z,
                S.xz * b.x + S.yz * b.y + S.zz * b.z)


@kernel
def transpose(A: Matrix3) -> Matrix3:
    """Return A^T."""
    return Matrix3(Vec3(A.x.x, A.y.x, A.z.x), Vec3(A.x.y, A.y.y, A.z.y), Vec3(A.x.z, A.y.z, A.z.z))


@kernel
def full(S: Symmetric3) -> Matrix3:
    """Return the symmetric matrix S with all nine entries."""
    return Matrix3(Vec3(S.xx, S.xy, S.xz), Vec3(S.xy, S.yy, S.yz), Vec3(S.xz, S.yz, S.zz))


@kernel
def symmetric(A: Matrix3) -> Symmetric3:
    """Return a matrix that is symmetric, from its upper triangle."""
    return Symmetric3(A.x.x, A.x.y, A.x.z, A.y.y, A.y.z, A.z.z)


@kernel
def symmetric_outer(a: Vec3, b: Vec3) -> Symmetric3:
    """Return a b^T by its upper triangle, for a multiple a of b."""
    return Symmetric3(a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.y, a.y * b.z, a.z * b.z)


@kernel
def symmetric_product(a: Vec3, b: Vec3) -> Symmetric3:
    """Return (a b^T + b a^T) / 2, whose quadratic form is (a . u)(b . u)."""
    return Symmetric3(a.x * b.x, 0.5 * (a.x * b.y + a.y * b.x), 0.5 * (a.x * b.z + a.z * b.x),
                      a.y * b.y, 0.5 * (a.y * b.z + a.z * b.y), a.z * b.z)


@kernel
def multiple_of_identity(a: Scalar) -> Symmetric3:
    """Return a I, symmetric."""
    zero = 0.0 * a
    return Symmetric3(a, zero, zero, a, zero, a)
