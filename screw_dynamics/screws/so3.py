"""The rotation group SO(3): exp, log and the differential of exp. Rotation vectors xi in rad, |xi| the angle.

Every function accepts all arguments: coefficients near the angles 0 and pi are handled in `stumpff` and `log`.
Sources: [MT] appendix A.1 (38)-(45), [MK] appendix A.1."""
from typing import NamedTuple

from screw_dynamics.numbers.scalars import atan2, sincos, sqrt, where
from screw_dynamics.numbers.values import Scalar, infix, kernel, null, value

from .vectors import Matrix3, Symmetric3, Vec3, cross, full, multiply_matrix, multiply_vector

SERIES = 6.0     # |xi|^2 below which the coefficients are summed as a series


@value
class Rotation(NamedTuple):
    """A rotation R in SO(3) by rows: x_reference = R x_body.

    Parameters
    ----------
    x, y, z : Vec3
        Rows of the rotation matrix.
    """

    x: Vec3
    y: Vec3
    z: Vec3


@infix("@")
def rotate(R: Rotation, a: Vec3) -> Vec3:
    """Rotate a vector: R a, from components in the body frame to components in the reference frame."""
    return multiply_vector(R, a)


@infix("@")
def rotate_back(a: Vec3, R: Rotation) -> Vec3:
    """Rotate a vector back: a^T R = R^T a, from the reference frame's components to the body frame's."""
    return a.x * R.x + a.y * R.y + a.z * R.z


@infix("@")
def compose(R: Rotation, S: Rotation) -> Rotation:
    """Return the product R S of two rotations."""
    M = multiply_matrix(R, Matrix3(S.x, S.y, S.z))
    return Rotation(M.x, M.y, M.z)


@infix("@")
def rotate_columns(R: Rotation, A: Matrix3) -> Matrix3:
    """Rotate the columns of a matrix: R A."""
    return multiply_matrix(R, A)


@kernel
def inverse(R: Rotation) -> Rotation:
    """Return the inverse rotation R^-1 = R^T."""
    return Rotation(Vec3(R.x.x, R.y.x, R.z.x), Vec3(R.x.y, R.y.y, R.z.y), Vec3(R.x.z, R.y.z, R.z.z))


@kernel
def matrix(R: Rotation) -> Matrix3:
    """Return the rotation as a plain matrix."""
    return Matrix3(R.x, R.y, R.z)


@kernel
def rotation(A: Matrix3) -> Rotation:
    """Return the rotation of matrix A, which must be orthogonal."""
    return Rotation(A.x, A.y, A.z)


@kernel
def rotate_matrix(R: Rotation, A: Matrix3) -> Matrix3:
    """Return R A R^T, for a matrix A."""
    X = R @ A
    return Matrix3(Vec3(X.x @ R.x, X.x @ R.y, X.x @ R.z), Vec3(X.y @ R.x, X.y @ R.y, X.y @ R.z),
                   Vec3(X.z @ R.x, X.z @ R.y, X.z @ R.z))


@kernel
def rotate_symmetric(R: Rotation, S: Symmetric3) -> Symmetric3:
    """Return R S R^T, for a symmetric S.

    Parameters
    ----------
    R : Rotation
        Rotation.
    S : Symmetric3
        Symmetric matrix by its upper triangle.

    Returns
    -------
    Symmetric3
        Rotated matrix.
    """
    X = R @ full(S)
    return Symmetric3(X.x @ R.x, X.x @ R.y, X.x @ R.z, X.y @ R.y, X.y @ R.z, X.z @ R.z)


class Stumpff(NamedTuple):
    """The Stumpff numbers c_k of x = ``|xi|^2``, k = 1 ... 6, for exp and dexp.

    Parameters
    ----------
    c1, c2, c3, c4, c5, c6 : float
        Stumpff numbers.

    Notes
    -----
    ``c_k = sum_j (-x)^j / (2j + k)!``. With n = ``|xi|``, ``c_1 = sin n / n``, ``c_2 = (1 - cos n) / n^2``,
    ``c_3 = (n - sin n) / n^3``, and ``c_k = 1/k! - x c_(k+2)``.
    """

    c1: float
    c2: float
    c3: float
    c4: float
    c5: float
    c6: float


@kernel
def stumpff(x: Scalar) -> Stumpff:
    """Compute the Stumpff numbers of x >= 0.

    Parameters
    ----------
    x : float
        Square of an angle, ``|xi|^2`` in rad^2.

    Returns
    -------
    Stumpff
        Numbers c_1 to c_6.

    Notes
    -----
    The error is below 2e-15 / k!, also where the closed forms cancel.
    """
    near = x < SERIES
    one = 0.0 * x + 1.0                                                  # makes constants exact for any kind of scalar
    y, far = where(near, x, 0.0 * x), where(near, one, x)                # each form only gets suitable arguments
    odd = even = one
    for k in (28.0, 26.0, 24.0, 22.0, 20.0, 18.0, 16.0, 14.0, 12.0, 10.0, 8.0, 6.0):
        odd = 1.0 - y * odd / (k * (k + 1.0))
        even = 1.0 - y * even / ((k + 1.0) * (k + 2.0))
    c5, c6 = odd / 120.0, even / 720.0
    c3, c4 = one / 6.0 - y * c5, one / 24.0 - y * c6
    c1, c2 = 1.0 - y * c3, 0.5 - y * c4

    n = sqrt(far)
    sine, cosine = sincos(0.5 * n)                                   # of the half angle: 1 - cos n without cancellation
    d1, d2 = 2.0 * sine * cosine / n, 2.0 * sine * sine / far
    d3, d4 = (1.0 - d1) / far, (0.5 - d2) / far
    d5, d6 = (one / 6.0 - d3) / far, (one / 24.0 - d4) / far
    return Stumpff(where(near, c1, d1), where(near, c2, d2), where(near, c3, d3),
                   where(near, c4, d4), where(near, c5, d5), where(near, c6, d6))


@kernel
def exp(xi: Vec3) -> Rotation:
    """Return the rotation about xi by the angle ``|xi|``: exp xi~ = I + c_1 xi~ + c_2 xi~^2.

    References
    ----------
    [MT] (38).
    """
    c = stumpff(xi @ xi)
    a, b = c.c1 * xi, c.c2 * xi
    one = 1.0 - b @ xi                                             # I + c_2 xi~^2 = (1 - c_2 |xi|^2) I + c_2 xi xi^T
    return Rotation(Vec3(one + b.x * xi.x, b.x * xi.y - a.z, b.x * xi.z + a.y),
                    Vec3(b.x * xi.y + a.z, one + b.y * xi.y, b.y * xi.z - a.x),
                    Vec3(b.x * xi.z - a.y, b.y * xi.z + a.x, one + b.z * xi.z))


@kernel
def quaternion(R: Rotation) -> tuple[Vec3, Scalar]:
    """Return a quaternion (v, w) of R of any length, with the vector part v and w >= 0.

    It is computed from its largest component, which is accurate at all angles."""
    xx, yy, zz = R.x.x, R.y.y, R.z.z
    w = 1.0 + xx + yy + zz
    v = Vec3(R.z.y - R.y.z, R.x.z - R.z.x, R.y.x - R.x.y)                # the quaternion (w, v) times 4w
    for scalar, vector in (
            (v.x, Vec3(1.0 + xx - yy - zz, R.x.y + R.y.x, R.x.z + R.z.x)),       # the same times 4x
            (v.y, Vec3(R.x.y + R.y.x, 1.0 + yy - xx - zz, R.y.z + R.z.y)),       # 4y
            (v.z, Vec3(R.x.z + R.z.x, R.y.z + R.z.y, 1.0 + zz - xx - yy))):      # 4z
        larger = scalar * scalar + vector @ vector > w * w + v @ v
        w = where(larger, scalar, w)
        v = Vec3(where(larger, vector.x, v.x), where(larger, vector.y, v.y), where(larger, vector.z, v.z))
    sign = where(w < 0.0, 0.0 * w - 1.0, 0.0 * w + 1.0)
    return sign * v, sign * w


@kernel
def log(R: Rotation) -> Vec3:
    """Return the rotation vector of R, the inverse of exp: ``|log R| <= pi``.

    Notes
    -----
    At the angle pi the result is either of the two vectors.
    """
    v, w = quaternion(R)
    n = sqrt(v @ v)
    none = n <= 0.0
    small, ratio = 2.0 / where(none, w, 1.0 + n), 2.0 * atan2(n, w) / where(none, 1.0 + n, n)
    return where(none, small, ratio) * v


class Turn(NamedTuple):
    """xi = log R, and c with dexp_(-xi)^-1 w = w + xi x w / 2 + c xi x (xi x w)."""

    xi: Vec3
    c: Scalar


@kernel
def turn(R: Rotation) -> Turn:
    """Return log R and its differential."""
    v, w = quaternion(R)
    return turn_of_quaternion(v, w)


@kernel
def turn_of_quaternion(v: Vec3, w: Scalar) -> Turn:
    """Return log R and c of a quaternion w + v of any length but 0.

    The half angle h is 8 arctan of tan h/8, by its series, as lanes have no arctan2. c = (1 - h cot h) / (4 h^2)."""
    unit = 1.0 / sqrt(w * w + v @ v)
    unit = where(w < 0.0, -unit, unit)
    v, w = unit * v, unit * w
    first = 1.0 / (1.0 + w)
    t = (v @ v) * first * first                             # tan^2 h/2, of h <= pi/2
    second = 1.0 / (1.0 + sqrt(1.0 + t))
    t = t * second * second
    third = 1.0 / (1.0 + sqrt(1.0 + t))
    t = t * third * third                                   # tan^2 h/8 <= 0.04
    series = null(t) + 1.0 / 25.0
    for k in (23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0):
        series = 1.0 / k - t * series
    ratio = 8.0 * first * second * third * series           # h / sin h
    x = ratio * ratio * (v @ v)                             # h^2
    near = x < 0.04
    y = where(near, x, null(x))
    c = 1.0 / 12.0 + y * (1.0 / 180.0 + y * (1.0 / 1890.0 + y * (1.0 / 18900.0 + y * (
        1.0 / 187110.0 + y * (691.0 / 1277025750.0)))))
    return Turn((2.0 * ratio) * v, where(near, c, (1.0 - ratio * w) / (4.0 * where(near, null(x) + 1.0, x))))


@kernel
def of_quaternion(v: Vec3, w: Scalar) -> Rotation:
    """Return R of the quaternion w + v of any length but 0: I + s (w v~ + v~^2), s = 2 / (w^2 + |v|^2)."""
    s = 2.0 / (w * w + v @ v)
    a, b = (s * w) * v, s * v
    one = 1.0 - b @ v                                              # s v~^2 = s v v^T - s |v|^2 I
    return Rotation(Vec3(one + b.x * v.x, b.x * v.y - a.z, b.x * v.z + a.y),
                    Vec3(b.x * v.y + a.z, one + b.y * v.y, b.y * v.z - a.x),
                    Vec3(b.x * v.z - a.y, b.y * v.z + a.x, one + b.z * v.z))


@kernel
def dexp(xi: Vec3, a: Vec3) -> Vec3:
    """Apply the right-trivialized differential of exp: dexp_xi a = a + c_2 xi x a + c_3 xi x (xi x a).

    Notes
    -----
    The angular velocity of R = exp xi is ``dexp_xi xi'`` in the reference frame, ``dexp_(-xi) xi'`` in the body frame.

    References
    ----------
    [MT] (40).
    """
    c = stumpff(xi @ xi)
    b = cross(xi, a)
    return a + c.c2 * b + c.c3 * cross(xi, b)


@kernel
def dexp_inv(xi: Vec3, a: Vec3) -> Vec3:
    """Apply the inverse of the differential of exp: dexp_xi^-1 a, for ``|xi| < 2 pi``.

    Notes
    -----
    ``dexp_xi^-1 a = a - xi x a / 2 + (c_3 - 2 c_4) / (2 c_2) xi x (xi x a)``.

    References
    ----------
    [MT] (44).
    """
    c = stumpff(xi @ xi)
    b = cross(xi, a)
    return a - 0.5 * b + ((c.c3 - 2.0 * c.c4) / (2.0 * c.c2)) * cross(xi, b)
