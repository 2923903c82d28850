"""Pairs of colliders that are listed as near: contacts are those of all pairs, however colliders move."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.colliders import PLANE, Attached, Contact, geometry_in, geometry_numbers, pack, rows
from screw_dynamics.collision.narrow_phase import ALL_KINDS, lister, locate, pair_rows
from screw_dynamics.collision.shapes import Box, Plane, Sphere
from screw_dynamics.numbers.tables import table
from screw_dynamics.screws.arrays import pose
from support.polyhedra import at

MARGIN = 0.02


def touches(given, poses):
    """Pairs, keys and gaps of the contacts at poses (bodies, 4, 4), by tables that may have listed pairs before."""
    contact = table(Contact, 0.0, 60)
    locate(given, [pose(C) for C in poses])
    count, missed = lister(ALL_KINDS)(given, MARGIN, contact, 50)
    assert missed == 0
    return [np.array(column[:count]) for column in (contact.pair, contact.key, contact.gap)]


def test_listed_pairs_lead_to_the_contacts_of_all_pairs(rng):
    shapes = [Sphere(0.1), Box((0.2, 0.3, 0.2)), Sphere(0.2), Box((0.1, 0.1, 0.4)), Plane()]
    colliders, data = rows([Attached(shape, i, np.eye(4)) for i, shape in enumerate(shapes)])
    pairs = pair_rows(colliders, [(i, j) for i in range(5) for j in range(i)])
    packed = pack(colliders, pairs, data)

    def tables():
        return geometry_in(np.concatenate([packed, np.zeros(geometry_numbers(len(shapes), len(pairs)))]), 0, 0.0,
                           len(packed))
    given, poses, kept, found = tables(), np.repeat(np.eye(4)[None], 5, axis=0), 0, 0
    assert colliders[4].kind == PLANE
    poses[:, :3, 3] = 0.3 * rng.normal(size=(5, 3))
    for k in range(120):                    # small moves, now and then a turn of all, and a leap
        for C in poses:
            C[:] = C @ at(*(0.004 * rng.normal(size=3)), turn=0.02 * rng.normal(size=3))
        if k % 30 == 20:
            poses[rng.integers(5), :3, 3] = 0.3 * rng.normal(size=3)
        before = given.listed.copy()
        one, all_of = touches(given, poses), touches(tables(), poses)
        kept += (given.listed == before).all()
        found += len(all_of[0])
        for a, b in zip(one, all_of, strict=True):
            np.testing.assert_array_equal(a, b)
    assert kept > 30 and found > 120       # the list served, and there was something to find


@pytest.mark.slow
def test_distances_of_one_state_and_of_many_do_not_depend_on_earlier_calls(rng):
    """Single states and batches list pairs in the same memory."""
    def scene():
        found = sd.Scene(ground=True)
        for k in range(4):
            found.add_box(f"box{k}", (0.2, 0.3, 0.2), mass=1.0, pose=at(0.6 * k, 0.0, 0.5))
            found.add_sphere(f"ball{k}", 0.1, mass=1.0, pose=at(0.6 * k, 0.7, 0.5))
        return found
    used = scene()
    q = used.neutral()
    for k in range(6):
        many = np.stack([used.integrate(q, (0.3 + k) * rng.normal(size=used.n)) for _ in range(24)])
        for states in (many[0], many, many[1]):
            np.testing.assert_array_equal(used.distances(states).gap, scene().distances(states).gap)
