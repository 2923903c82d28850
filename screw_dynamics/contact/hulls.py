"""Convex hulls with few vertices: contacts compare vertex by vertex, and a scanned part has thousands."""
import numpy as np


def simplified(points: np.ndarray, vertices: int, tolerance: float = 1e-4) -> np.ndarray:
    """At most so many of the points (N, 3), whose hull is within that of all.

    The farthest points from the hull so far are added one by one, until what sticks out of it is less than `tolerance`
    times the size of the whole. Raises ValueError if points span no body."""
    from scipy.spatial import ConvexHull as Hull  # when it is called: it takes scipy.linalg, long to import
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
    """Four points far from each other: two ends, the farthest from their line, and from the plane of these three."""
    a = int(points[:, np.ptp(points, axis=0).argmax()].argmin())
    b = int(np.linalg.norm(points - points[a], axis=1).argmax())
    along = points[b] - points[a]
    c = int(np.linalg.norm(np.cross(points - points[a], along), axis=1).argmax())
    d = int(np.abs((points - points[a]) @ np.cross(along, points[c] - points[a])).argmax())
    return [a, b, c, d]
