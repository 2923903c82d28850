"""Contact problems of rigid boxes, G = J M^-1 J^T and c: stacks, walls and random heaps; and what solutions hold."""
from typing import NamedTuple

import numpy as np

STEP, GRAVITY = 1e-3, (0.0, 0.0, -9.81)
CLOSE = 1e-11           # of the largest velocity


class Scene(NamedTuple):
    """Jacobian J (3 m, n) of contacts (t1, t2, n), inverse inertias (n), c (3 m) without impulses, mu (m)."""

    J: np.ndarray
    inverse: np.ndarray
    c: np.ndarray
    mu: np.ndarray

    @property
    def G(self):
        Y = self.J * np.sqrt(self.inverse)
        return Y @ Y.T


def axes(normal):
    """Rows t1, t2, n."""
    n = np.asarray(normal, float) / np.linalg.norm(normal)
    t = np.cross(n, (1.0, 0.0, 0.0) if abs(n[0]) < 0.9 else (0.0, 1.0, 0.0))
    t /= np.linalg.norm(t)
    return np.array([t, np.cross(n, t), n])


class Boxes:
    """Boxes, and where they touch each other or the world, None."""

    def __init__(self):
        self.places, self.inverse, self.v, self.touches = [], [], [], []

    def add(self, mass, size, place, v=(0.0,) * 3, w=(0.0,) * 3):
        squares = np.square(size)
        self.inverse.append(np.r_[12.0 / (mass * (squares.sum() - squares)), [1.0 / mass] * 3])
        self.places.append(np.array(place, float))
        self.v.append(np.r_[w, v])
        return len(self.places) - 1

    def touch(self, a, b, point, normal, mu, gap=0.0):
        self.touches.append((a, b, np.array(point, float), axes(normal), mu, gap))

    def scene(self, gravity=GRAVITY):
        J = np.zeros((3 * len(self.touches), 6 * len(self.places)))
        for k, (a, b, point, R, *_) in enumerate(self.touches):
            for body, sign in ((a, 1.0), (b, -1.0)):
                if body is not None:
                    r = point - self.places[body]
                    J[3 * k:3 * k + 3, 6 * body:6 * body + 6] = sign * np.hstack([np.cross(r, R), R])
        free = np.concatenate([v + STEP * np.r_[0.0, 0.0, 0.0, gravity] for v in self.v])
        c = J @ free
        c[2::3] += [touch[-1] / STEP for touch in self.touches]
        return Scene(J, np.concatenate(self.inverse), c, np.array([touch[4] for touch in self.touches]))


def stack(masses, mu=0.5, v=(0.0,) * 3, gravity=GRAVITY, size=0.1):
    """Cubes on each other, on four corners each; the k-th moves with k v."""
    boxes, below = Boxes(), None
    for k, mass in enumerate(masses):
        box = boxes.add(mass, (size,) * 3, (0.0, 0.0, size * (k + 0.5)), (k + 1) * np.array(v))
        for x in (-0.5, 0.5):
            for y in (-0.5, 0.5):
                boxes.touch(box, below, (size * x, size * y, size * k), (0.0, 0.0, 1.0), mu)
        below = box
    return boxes.scene(gravity)


def row_of_boxes(count, push, mu=0.5, edge=0.2):
    """Cubes of 1 kg in a row along x on the ground, face on face, the first of which is pushed by so many N."""
    boxes = Boxes()
    for k in range(count):
        boxes.add(1.0, (edge,) * 3, (edge * k, 0.0, edge / 2), (push * STEP if k == 0 else 0.0, 0.0, 0.0))
    corners = [(a, b) for a in (-edge / 2, edge / 2) for b in (-edge / 2, edge / 2)]
    for k in range(count):
        for a, b in corners:
            boxes.touch(k, None, (edge * k + a, b, 0.0), (0.0, 0.0, 1.0), mu)
    for k in range(count - 1):
        for a, b in corners:
            boxes.touch(k, k + 1, (edge * k + edge / 2, a, edge / 2 + b), (-1.0, 0.0, 0.0), mu)
    return boxes.scene()


def heap(rng, bodies, contacts, ratio=1.0, mu=(0.0, 1.0)):
    """Moving boxes that touch each other and the world anyhow, with masses between 1 / sqrt(ratio) and sqrt(ratio)."""
    boxes = Boxes()
    for _ in range(bodies):
        boxes.add(ratio ** rng.uniform(-0.5, 0.5), rng.uniform(0.1, 0.4, 3), rng.normal(size=3),
                  0.3 * rng.normal(size=3), rng.normal(size=3))
    for _ in range(contacts):
        a, b = rng.integers(bodies), rng.integers(-1, bodies)
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        boxes.touch(a, None if b in (-1, a) else b, boxes.places[a] - 0.2 * normal + 0.05 * rng.normal(size=3), normal,
                    rng.uniform(*mu), max(0.0, 1e-4 * rng.normal()))
    return boxes.scene()


def row_of_balls(masses, velocities):
    """Balls in a row along x that touch their neighbors, the later one first."""
    n = len(masses)
    J = np.zeros((3 * (n - 1), 3 * n))
    for k in range(n - 1):
        for row, axis in enumerate((1, 2, 0)):
            J[3 * k + row, [3 * (k + 1) + axis, 3 * k + axis]] = 1.0, -1.0
    v = np.zeros(3 * n)
    v[::3] = velocities
    return Scene(J, np.repeat(1.0 / np.asarray(masses, float), 3), J @ v, np.full(n - 1, 0.4)), v


def holds(scene, found, close=CLOSE):
    """The conditions of contacts, written once more, in units of velocity; and that no energy comes in."""
    G, c, mu = scene.G, scene.c, scene.mu
    x, v = found.x.reshape(-1, 3), (c + G @ found.x).reshape(-1, 3)
    g, speed = G.diagonal()[2::3], close * (abs(c).max() + abs(G.diagonal() * found.x).max() * 1e-3)
    np.testing.assert_allclose(found.v, v.ravel(), atol=speed)
    t, s = np.linalg.norm(x[:, :2], axis=1), np.linalg.norm(v[:, :2], axis=1)
    assert (x[:, 2] >= 0.0).all()
    assert (v[:, 2] >= -speed).all()
    assert (np.minimum(g * x[:, 2], v[:, 2]) <= speed).all()
    assert (g * (t - mu * x[:, 2]) <= speed).all()
    power = (x * v).sum(axis=1)                     # of sliding friction mu x_n |v_t| goes
    np.testing.assert_allclose(power, -mu * x[:, 2] * s, atol=speed * (1.0 + abs(x).max()))
    assert found.x @ (c + 0.5 * G @ found.x) - (found.x[2::3] * c[2::3].clip(0.0)).sum() <= speed * abs(x).max()


def scenes(rng, count):
    """Of every kind: heaps, redundant contacts, mass ratios, towers, slopes, no friction, and much of it."""
    made = [lambda: heap(rng, 4, 10), lambda: heap(rng, 1, 8), lambda: heap(rng, 3, 6, 1e4), lambda: heap(rng, 6, 6),
            lambda: heap(rng, 2, 4, 1.0, (0.0, 0.0)), lambda: heap(rng, 1, 3, 1.0, (1.0, 3.0)),
            lambda: stack(10.0 ** rng.uniform(-1, 1, 3), rng.uniform(0.1, 1.0), 0.1 * rng.normal(size=3) * (1, 1, 0)),
            lambda: stack([1.0], 0.5, (0.0, 0.0, 0.0), (rng.uniform(0, 9), rng.uniform(0, 3), -9.81))]
    return [made[k % len(made)]() for k in range(count)]
