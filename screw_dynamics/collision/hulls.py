"""Reduction of convex hulls: contact kernels iterate over vertices, and scanned meshes have thousands."""
import numpy as np


def simplified(points: np.ndarray, vertices: int, tolerance: float = 1e-4) -> np.ndarray:
    """Return at most `vertices` of the points (N, 3), with a hull inside that of all points.

    The point farthest from the hull is added repeatedly, until the remaining distance is less than `tolerance` times
    the overall size. Raises ValueError if the points span no volume."""
    from scipy.spatial import ConvexHull as Hull  # lazy: scipy.linalg is slow to import
    from scipy.spatial import QhullError
    points = np.asarray(points, dtype=float)
    try:
        hull = Hull(points)
    except (QhullError, ValueError):
        extent = np.ptp(points, axis=0).tolist() if len(points) else []
        raise ValueError(f"{len(points)} points with extents {extent} m span no body") from None
    points = points[np.sort(hull.vertices)]
    if len(points) <= vertices:
        return points
    chosen = _tetrahedron(points)
    inner = Hull(points[chosen], incremental=True)
    least = tolerance * np.ptp(points, axis=0).max()
    while len(chosen) < vertices:
        outside = (points @ inner.equations[:, :3].T + inner.equations[:, 3]).max(axis=1)
        farthest = int(outside.argmax())
        if outside[farthest] <= least:
            break
        chosen.append(farthest)
        inner.add_points(points[farthest:farthest + 1])
    return points[np.sort(chosen)]


def _tetrahedron(points):
    """Return four distant points: two ends, the point farthest from their line, and the point farthest from the plane
    of these three."""
    a = int(points[:, np.ptp(points, axis=0).argmax()].argmin())
    b = int(np.linalg.norm(points - points[a], axis=1).argmax())
    along = points[b] - points[a]
    c = int(np.linalg.norm(np.cross(points - points[a], along), axis=1).argmax())
    d = int(np.abs((points - points[a]) @ np.cross(along, points[c] - points[a])).argmax())
    return [a, b, c, d]
