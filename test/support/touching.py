"""Contacts of shapes at poses, by the package's kernels of collision detection: for one state, on lanes, and in plain
Python."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.collision.colliders import CONTACT, Attached, Contact, geometry_in, geometry_numbers, pack, rows
from screw_dynamics.collision.narrow_phase import ALL_KINDS, are_simple, kinds_of, lister, locate, pair_rows
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.native import function_at
from screw_dynamics.constraints import tables as constraint_tables
from screw_dynamics.constraints.contacts import tables
from screw_dynamics.constraints.contacts.calls import detection_address
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.memory import rows_of
from screw_dynamics.numbers.tables import table
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.screws.arrays import pose
from support.pendulums import pendulum
from support.polyhedra import at

ROBOT = pendulum()          # whose workspace the colliders are in; where they are does not depend on it


class Found(NamedTuple):
    """Contacts in the order of their keys, and how many more there would have been."""

    pair: np.ndarray
    key: np.ndarray
    gap: np.ndarray
    p: np.ndarray
    n: np.ndarray
    missed: int


def pose_numbers(C):
    """The numbers (..., 12) of poses (..., 4, 4): rotation by rows, and origin."""
    C = np.asarray(C, dtype=float)
    return np.concatenate([C[..., :3, :3].reshape(*C.shape[:-2], 9), C[..., :3, 3]], axis=-1)


class Shapes:
    """Shapes, each on a body of its own, in slots from 1 on; of all pairs those whose numbers are given."""

    def __init__(self, shapes, pairs=((0, 1),), most=64):
        self.colliders, self.data = rows([Attached(shape, i + 1, np.eye(4)) for i, shape in enumerate(shapes)])
        self.pairs, self.most = pair_rows(self.colliders, pairs), most
        self.points = max(pair.points for pair in self.pairs)
        self.simple = are_simple(kinds_of(self.colliders, self.pairs))

    def one(self, poses, margin=1e3):
        """Contacts at the poses (shapes, 4, 4); without the JIT in plain Python."""
        if PLAIN:
            return self.plain(poses, margin)
        numbers, pair, key, missed = self._run(pose_numbers(poses), margin, 1)
        numbers = numbers[..., 0]
        return Found(pair, key[:, 0], numbers[:, 0], numbers[:, 1:4], numbers[:, 4:], missed)

    def lanes(self, poses, margin=1e3):
        """Contacts at poses (WIDTH, shapes, 4, 4): of each state, with masked ones, as `gap` (count, WIDTH)."""
        if PLAIN:
            pair, key, gap, p, n, missed = self.plain(poses[0], margin)
            return Found(pair, key[:, None], gap[:, None], p[None], n[None], missed)
        numbers, pair, key, missed = self._run(pose_numbers(poses).transpose(1, 2, 0), margin, WIDTH)
        p, n = numbers[:, 1:4].transpose(2, 0, 1), numbers[:, 4:].transpose(2, 0, 1)
        return Found(pair, key, numbers[:, 0], p, n, missed)

    def plain(self, poses, margin=1e3):
        """Contacts at the poses (shapes, 4, 4), in plain Python."""
        packed = pack(self.colliders, self.pairs, self.data)
        work = np.zeros(geometry_numbers(len(self.colliders), len(self.pairs)))
        given = geometry_in(np.concatenate([packed, work]), 0, 0.0, len(packed))
        contact = table(Contact, 0.0, self.most + self.points)
        locate(given, [pose(C) for C in (np.eye(4), *poses)])
        count, missed = lister(ALL_KINDS)(given, margin, contact, self.most)
        gap, p, n, pair, key = (np.array(column[:count]) for column in contact)
        return Found(pair, key, gap, p, n, missed)

    def _run(self, places, margin, lanes):
        """The kernel of a scene's step, with the colliders in these places: gap, point and normal (count, 7, lanes) of
        contacts, their pairs and keys, and how many are missed."""
        settings = tables.Settings(self.most, margin, 0.0, 0, 0)
        work = tables.contact_work(ROBOT.n, 0, settings, len(self.colliders), len(self.pairs), self.points)
        memory = ws.workspace(ROBOT.tables._replace(tables=np.concatenate([
            constraint_tables.pack([], [], []), tables.pack(settings, pack(self.colliders, self.pairs, self.data))]),
            work=work), lanes)
        start = ws.header(memory).work + lanes * constraint_tables.work(ROBOT.n, 0)
        memory[start:start + places.size] = places.ravel()
        function_at(detection_address(lanes > 1, self.simple), 1)(memory.ctypes.data)

        start += lanes * geometry_numbers(len(self.colliders), len(self.pairs))
        contact = memory[start:start + lanes * CONTACT * self.most]
        start += lanes * (CONTACT * (self.most + self.points) + tables.KEPT * self.most)
        counts = rows_of(tables.ContactTables, "counts", tables.sizes_of(ROBOT.n, 0, settings), memory, start,
                         lanes).ravel()
        row, count = (CONTACT - 1) * lanes + 1, int(counts[tables.FOUND])          # of the pair there is one number
        found = contact[:count * row].reshape(count, row)
        return (found[:, :7 * lanes].reshape(count, 7, lanes), np.ascontiguousarray(found[:, 7 * lanes]).view(np.int64),
                found[:, 7 * lanes + 1:], int(counts[tables.MISSED]))


def at_rest(rng, a, b, A, rounding):
    """Where a shape at A rests on another at the origin. Moved and turned by amounts as small as rounding, and by a
    thousand times more, it keeps its points, and the places of these."""
    S = Shapes([a, b])
    found = S.one([A, np.eye(4)], 1e-6)
    assert np.abs(found.gap).max() <= 2e-16
    for size in (1e-16, 1e-13):
        for _ in range(20):
            C = A @ at(*(size * rng.normal(size=3)), turn=size * rng.normal(size=3))
            again = S.one([C, np.eye(4)], 1e-6)
            np.testing.assert_array_equal(again.key, found.key)
            np.testing.assert_allclose(again.gap, 0.0, atol=10 * size + 1e-15)
            np.testing.assert_allclose(again.p, found.p, atol=20 * size + rounding)
            np.testing.assert_allclose(again.n, found.n, atol=100 * size + 1e-13)
    return found
