"""Screws and inertias as arrays, for the equations of every representation. Real or complex numbers."""
import numpy as np


def checked(**arrays: tuple) -> list[np.ndarray]:
    """Return the named arguments, name=(value, *lengths), as arrays. Raises ValueError if their last axes differ from
    the lengths."""
    found = []
    for name, (value, *lengths) in arrays.items():
        array = np.asarray(value)
        if array.shape[-len(lengths):] != tuple(lengths):
            wanted = ", ".join(map(str, lengths))
            raise ValueError(f"{name} has the shape {array.shape}, not (..., {wanted})")
        found.append(array)
    return found


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return A x for matrices (..., m, n) and vectors (..., n)."""
    return np.einsum("...ij,...j->...i", A, x)


def transpose_times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return A^T x for matrices (..., m, n) and vectors (..., m)."""
    return np.einsum("...ji,...j->...i", A, x)


def joined(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return (..., 6) from two (..., 3), whose leading axes broadcast."""
    return np.concatenate(np.broadcast_arrays(first, last), axis=-1)


def split(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two parts (..., 3) of a screw (..., 6)."""
    return X[..., :3], X[..., 3:]


def angular(X: np.ndarray) -> np.ndarray:
    """Return the angular part (xi, 0) of a screw (xi, eta)."""
    return joined(X[..., :3], np.zeros(3))


def linear(X: np.ndarray) -> np.ndarray:
    """Return the linear part (0, eta) of a screw (xi, eta)."""
    return joined(np.zeros(3), X[..., 3:])


def ad(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return ad_X Y, the screw product; [MD] (114)."""
    (xi, eta), (a, b) = split(X), split(Y)
    return joined(np.cross(xi, a), np.cross(eta, a) + np.cross(xi, b))


def ad_dual(V: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return ad_V^T W."""
    (w, v), (t, f) = split(V), split(W)
    return joined(np.cross(t, w) + np.cross(f, v), np.cross(f, w))


def ad_matrix(X: np.ndarray) -> np.ndarray:
    """Return ad_X (..., 6, 6); [MD] (115)."""
    return np.swapaxes(ad(X[..., None, :], np.eye(6)), -1, -2)


def Ad_inv(C: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return Ad_C^-1 V."""
    (w, v), R = split(V), C[..., :3, :3]
    return joined(transpose_times(R, w), transpose_times(R, v + np.cross(w, C[..., :3, 3])))


def Ad_dual(C: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return Ad_C^-T W: a wrench of the frame C, in the reference frame."""
    (t, f), R = split(W), C[..., :3, :3]
    force = times(R, f)
    return joined(times(R, t) + np.cross(C[..., :3, 3], force), force)


def moved(C: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Return Ad_C^-T M Ad_C^-1, (..., 6, 6): an inertia of the frame C, in the reference frame; [MD] (34)."""
    to_frame = np.swapaxes(Ad_inv(C[..., None, :, :], np.eye(6)), -1, -2)
    return np.swapaxes(to_frame, -1, -2) @ M @ to_frame


def rotation(C: np.ndarray) -> np.ndarray:
    """Return the pose (R, 0) for a pose (R, r)."""
    pose = np.array(C)
    pose[..., :3, 3] = 0.0
    return pose


def mass_moment_rotational(M: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return m (..., 1), m d (..., 3) and Theta (..., 3, 3) of inertias (..., 6, 6)."""
    moment = np.stack([M[..., 2, 4], M[..., 0, 5], M[..., 1, 3]], axis=-1)
    return M[..., 5, 5, None], moment, M[..., :3, :3]


def relative_acceleration(w: np.ndarray, wd: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return S x, S = w'~ + w~ w~: the acceleration of a point x of the body relative to the frame's origin."""
    return np.cross(wd, x) + np.cross(w, np.cross(w, x))


def inverse(C: np.ndarray) -> np.ndarray:
    """Return C^-1 of poses (..., 4, 4)."""
    pose = np.array(C)
    pose[..., :3, :3] = np.swapaxes(C[..., :3, :3], -1, -2)
    pose[..., :3, 3] = -transpose_times(C[..., :3, :3], C[..., :3, 3])
    return pose
