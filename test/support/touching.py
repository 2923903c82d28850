"""Contacts of shapes at poses, by `detect`: compiled for one state and for lanes, and in plain Python."""
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import typeof

from screw_dynamics.contact.colliders import (
    CONTACT,
    Attached,
    Contact,
    Located,
    contact_rows,
    geometry_in,
    geometry_numbers,
    pack,
    rows,
)
from screw_dynamics.contact.narrow_phase import detector, kinds_of, pair_rows
from screw_dynamics.kernel_cache import cache as kernel_cache
from screw_dynamics.numba_internals.compiler import start
from screw_dynamics.numbers.lanes import WIDTH, splat
from screw_dynamics.numbers.tables import table, width
from screw_dynamics.numbers.values import PLAIN, kernel
from screw_dynamics.screws.arrays import pose

start()         # before the types of arguments are asked for

POSE = width(Located)


class Found(NamedTuple):
    """Contacts in the order of their keys, and how many more there would have been."""

    pair: np.ndarray
    key: np.ndarray
    gap: np.ndarray
    p: np.ndarray
    n: np.ndarray
    missed: int


@cache
def compiled(kinds, lanes):
    """The function that finds contacts of pairs of these kinds, for one state or for lanes; its machine code is kept
    with that of the package, as it takes some seconds to compile."""
    detect = detector(kinds)

    def one(memory, start, poses, slots, margin, most, found, repeat):
        return run(0.0, memory, start, poses, slots, margin, most, found, repeat)

    def many(memory, start, poses, slots, margin, most, found, repeat):
        return run(splat(0.0), memory, start, poses, slots, margin, most, found, repeat)

    @kernel
    def run(like, memory, start, poses, slots, margin, most, found, repeat):
        given = geometry_in(memory, 0, like, start)
        contact = table(Contact, like, contact_rows(given, most), found, 0)
        C = table(Located, like, slots, poses, 0).C
        count, missed = 0, 0
        for _ in range(repeat):
            count, missed = detect(given, C, margin, contact, most)
        return count, missed
    made = kernel_cache.compiled("contacts of a test")(many if lanes else one)

    def call(*arguments):
        return kernel_cache.prepare(made, tuple(map(typeof, arguments))).entry_point(*arguments)
    return call


def pose_numbers(C):
    """The numbers (..., 12) of poses (..., 4, 4): rotation by rows, and origin."""
    C = np.asarray(C, dtype=float)
    return np.concatenate([C[..., :3, :3].reshape(*C.shape[:-2], 9), C[..., :3, 3]], axis=-1)


class Shapes:
    """Shapes, each on a body of its own, in slots from 1 on; of all pairs those whose numbers are given."""

    def __init__(self, shapes, pairs=((0, 1),), most=64):
        colliders, data = rows([Attached(shape, i + 1, np.eye(4)) for i, shape in enumerate(shapes)])
        self.pairs = pair_rows(colliders, pairs)
        self.kinds = kinds_of(colliders, self.pairs)
        self.tables = pack(colliders, self.pairs, data)
        self.slots, self.most = len(colliders) + 1, most
        self.numbers, self.rows = geometry_numbers(len(colliders)), most + max(pair.points for pair in self.pairs)

    def memory(self, places):
        return np.concatenate([self.tables, np.zeros(places * self.numbers)])

    def _run(self, places, poses, margin, found, repeat):
        return compiled(self.kinds, places > 1)(self.memory(places), len(self.tables), poses.ravel(), self.slots,
                                                float(margin), self.most, found.ravel(), repeat)

    def one(self, poses, margin=1e3, repeat=1):
        """Contacts at the poses (shapes, 4, 4); without the JIT in plain Python."""
        if PLAIN:
            return self.plain(poses, margin)
        poses = pose_numbers([np.eye(4), *poses])
        found = np.zeros((self.rows, CONTACT))
        count, missed = self._run(1, poses, margin, found, repeat)
        return _read(found[:count], missed)

    def plain(self, poses, margin=1e3):
        """Contacts at the poses (shapes, 4, 4), in plain Python."""
        given = geometry_in(self.memory(1), 0, 0.0, len(self.tables))
        contact = table(Contact, 0.0, self.rows)
        count, missed = detector(self.kinds)(given, [pose(C) for C in (np.eye(4), *poses)], margin, contact, self.most)
        gap, p, n, pair, key = (np.array(column[:count]) for column in contact)
        return Found(pair, key, gap, p, n, missed)

    def lanes(self, poses, margin=1e3, repeat=1):
        """Contacts at poses (WIDTH, shapes, 4, 4): of each state, with masked ones, as `gap` (count, WIDTH)."""
        if PLAIN:
            pair, key, gap, p, n, missed = self.plain(poses[0], margin)
            return Found(pair, key[:, None], gap[:, None], p[None], n[None], missed)
        poses = pose_numbers([[np.eye(4), *each] for each in poses])           # (WIDTH, slots, 12)
        found = np.zeros((self.rows, 8 * WIDTH + 1))
        poses = np.ascontiguousarray(poses.transpose(1, 2, 0))
        count, missed = self._run(WIDTH, poses, margin, found, repeat)
        return _read(found[:count], missed, WIDTH)


def _read(found, missed, places=1):
    numbers = found[:, :7 * places].reshape(len(found), 7, places)
    pair = np.ascontiguousarray(found[:, 7 * places]).view(np.int64)
    key = found[:, 7 * places + 1:]
    if places == 1:
        numbers = numbers[..., 0]
        return Found(pair, key[:, 0], numbers[:, 0], numbers[:, 1:4], numbers[:, 4:], missed)
    p, n = numbers[:, 1:4].transpose(2, 0, 1), numbers[:, 4:].transpose(2, 0, 1)
    return Found(pair, key, numbers[:, 0], p, n, missed)
