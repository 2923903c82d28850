"""Islands of bodies in contact: the connected components of the graph of contacts, each solved as if it were alone."""
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

import screw_dynamics as sd
from screw_dynamics.constraints.contacts.islands import CONTACTS, COORDINATES, JOINTS, PASSIVE, ends_of, find_islands
from screw_dynamics.screws.vectors import Vec3


def tables(parent, pairs, joints):
    """The links of a tree with a coordinate for each joint, and contacts of these pairs of bodies."""
    n, m = len(parent) - 1, len(pairs)
    links = SimpleNamespace(parent=parent, coordinate=[-1, *range(n)])
    vectors = [Vec3(float(k), 0.0, 0.0) for k in range(m)]
    words = {name: np.full(size, -9) for name, size in dict(
        trees=n, sets=n, island_of=n, coordinates=n, joints=2 * n, reported=m, moves=m + len(joints)).items()}
    contact = SimpleNamespace(pair=list(range(m)), gap=np.arange(m, dtype=float), p=[*vectors], n=[*vectors],
                              key=np.arange(m, dtype=float))
    kept = SimpleNamespace(t=[*vectors], s=[*vectors], a=[*vectors], b=[*vectors], before=np.arange(m, dtype=float))
    pair = SimpleNamespace(first=2 * np.arange(m), second=2 * np.arange(m) + 1)
    geometry = SimpleNamespace(pair=pair, collider=SimpleNamespace(body=np.ravel(pairs)))
    return links, SimpleNamespace(contact=contact, kept=kept, geometry=geometry, ends=np.full((n + 1, 4), -9), **words)


def test_islands_are_connected_components(rng):
    for _ in range(100):
        n, m = int(rng.integers(1, 12)), int(rng.integers(0, 10))
        parent = [-1, *(int(rng.integers(0, k + 1)) * int(rng.random() < 0.3) for k in range(n))]
        pairs = np.stack([rng.integers(1, n + 1, m), rng.integers(0, n + 1, m)], axis=-1)
        of = rng.permutation(np.arange(1, n + 1))[:int(rng.integers(0, n + 1))]
        passive = int(rng.integers(0, len(of) + 1))
        links, given = tables(parent, pairs, of)
        count = find_islands(links, given, of, passive, m, False)
        edges = [(k, k + 1) for i, p in enumerate(parent) if p > 0 for k in range(p, i)]    # of interleaved trees, too
        edges += [(a, b) for a, b in pairs if b > 0]
        a, b = np.array(edges, dtype=int).reshape(-1, 2).T
        _, label = connected_components(coo_matrix((np.ones(len(a)), (a, b)), shape=(n + 1, n + 1)), directed=False)
        wanted = {label[i] for i in (*pairs[:, 0], *of)}
        assert count == len(wanted)
        seen = set()
        for island in range(count):
            (first, last), (start, end), (low, high) = (ends_of(given, island, what)
                                                        for what in (CONTACTS, JOINTS, COORDINATES))
            own, joints = given.reported[first:last], given.joints[start:end]
            of_island, = {label[i] for i in (*pairs[own, 0], *joints)}
            seen.add(of_island)
            np.testing.assert_array_equal(own, np.flatnonzero(label[pairs[:, 0]] == of_island))
            for column in (given.contact.pair, given.contact.gap, given.kept.before, [p.x for p in given.kept.b]):
                np.testing.assert_array_equal(column[first:last], own)      # contacts are sorted with all their data
            np.testing.assert_array_equal(joints, of[label[of] == of_island])
            assert given.ends[island, PASSIVE] == (label[of[:passive]] == of_island).sum()
            np.testing.assert_array_equal(given.coordinates[low:high], np.flatnonzero(label[1:] == of_island))
        assert seen == wanted


def boxes(places, size=0.2):
    """A scene of boxes on the ground, and one at each place."""
    scene = sd.Scene(ground=True)
    for k, p in enumerate(places):
        scene.add_box(f"box{k}", (size, size, size), mass=1.0 + 0.1 * k, pose=np.block([
            [np.eye(3), np.reshape(p, (3, 1))], [np.zeros(3), 1.0]]))
    return scene


@pytest.mark.slow
def test_bodies_apart_move_as_if_they_were_alone(rng):
    """Bit for bit: the decisions of the solver for one island do not depend on the others."""
    places = [(1.0, 0.0, 0.11), (-1.0, 0.3, 0.1), (-1.0, 0.32, 0.3), (0.0, 2.0, 0.5)]
    groups, together = [[0], [1, 2], [3]], boxes(places)
    v = 0.3 * rng.normal(size=(4, 6))
    motion = together.rollout(together.neutral(), v.ravel(), steps=300)
    for group in groups:
        alone = sd.Scene(ground=True)
        for k in group:
            C = np.eye(4)
            C[:3, 3] = places[k]
            alone.add_box(f"box{k}", (0.2, 0.2, 0.2), mass=1.0 + 0.1 * k, pose=C)
        own = alone.rollout(alone.neutral(), v[group].ravel(), steps=300)
        for i, k in enumerate(group):
            np.testing.assert_array_equal(own.q[:, 7 * i:7 * i + 7], motion.q[:, 7 * k:7 * k + 7])


def among_others(scene, q, v, others, **options):
    """The motion of a state in a batch of copies of it, and in a batch with other states."""
    alone = scene.rollout(np.repeat(q[None], len(others) + 1, 0), np.repeat(v[None], len(others) + 1, 0), **options)
    among = scene.rollout(np.concatenate([q[None], others]), np.repeat(v[None], len(others) + 1, 0), **options)
    return (np.concatenate([m.q[0].ravel(), m.qd[0].ravel(), m.residuals.complementarity[0]]) for m in (alone, among))


@pytest.mark.slow
def test_islands_of_a_state_do_not_depend_on_the_other_states_of_a_batch(rng):
    """Boxes that touch each other in some states of a batch are apart in others."""
    scene = boxes([(0.0, 0.0, 0.1), (0.0, 0.0, 0.3), (0.6, 0.0, 0.1)])
    first, second, third = (scene.q_slices[f"box{k}"] for k in range(3))
    q, v = np.repeat(scene.neutral()[None], 13, axis=0), 0.4 * rng.normal(size=scene.n)
    beside, against = q[::2], q[::3]
    beside[:, second.stop - 3:second.stop] += [0.5, 0.5, -0.2]              # beside the first, not on it
    against[:, third.stop - 3] -= 0.395
    for k in (0, 1, 2, 3, 5):
        alone, among = among_others(scene, q[k], v, np.delete(q, k, axis=0), steps=150)
        np.testing.assert_array_equal(among, alone)


@pytest.mark.slow
@pytest.mark.parametrize("torsion", [0.0, 0.02])
def test_dry_friction_of_another_island_is_no_velocity_to_reach(torsion):
    """A fast joint with dry friction, and a box that touches its link, or the ground, only in other states."""
    builder, place = sd.ModelBuilder("world"), np.eye(4)
    place[2, 3] = 0.1
    builder.add_joint("joint", "link", "world", [0, 0, 1, 0, 0, 0], place, np.eye(6), friction=1.0)
    scene = sd.Scene(sd.Robot(builder.build()), ground=True, shapes={"link": sd.shapes.Sphere(0.09)}, torsion=torsion)
    place[:3, 3] = 1.0, 0.0, 0.1
    scene.add_box("box", (0.2, 0.2, 0.2), 1.0, place)
    q, v = scene.neutral(), np.zeros(scene.n)
    v[0], v[scene.v_slices["box"]] = 1e3, [0.3, 0.2, 0.5, 0.1, 0.4, -0.2]
    others, at = np.repeat(q[None], 7, 0), scene.q_slices["box"].stop
    if torsion:
        q[at - 1] = 2.0                                                     # in the air
    else:
        others[:, at - 3] -= 0.81                                           # against the link
    alone, among = among_others(scene, q, v, others, steps=50, friction=True)
    np.testing.assert_array_equal(among, alone)


@pytest.mark.slow
def test_arms_whose_joints_are_listed_in_turn_move_as_those_listed_one_after_the_other():
    def ends(order):
        builder = sd.ModelBuilder("world")
        for arm, k in order:
            place = np.eye(4)
            place[:3, 3] = [0.0, 0.8 * (arm == "b"), 0.7] if k == 0 else [0.4, 0.0, 0.0]
            builder.add_joint(f"{arm}{k}", f"{arm}{k}_link", "world" if k == 0 else f"{arm}{k - 1}_link",
                              [0, 1, 0, 0, 0, 0], place, np.diag([0.02, 0.02, 0.02, 1.0, 1.0, 1.0]))
        scene = sd.Scene(sd.Robot(builder.build()), ground=True,
                         shapes={f"{arm}2_link": sd.shapes.Sphere(0.1) for arm in "ab"})
        q, values = np.zeros(scene.nq), dict(a0=0.9, a1=0.5, a2=-0.4, b0=0.8, b1=0.7, b2=-0.3)
        for name, value in values.items():
            q[scene.q_slices[name]] = value
        motion = scene.rollout(q, dt=5e-3, steps=40)
        assert (motion.contacts.pair >= 0).any()
        return [motion.q[-1, scene.q_slices[name]].item() for name in values]
    one_after_the_other, in_turn = [(arm, k) for arm in "ab" for k in range(3)], [(arm, k) for k in range(3)
                                                                                  for arm in "ab"]
    np.testing.assert_allclose(ends(in_turn), ends(one_after_the_other), atol=1e-12)


@pytest.mark.slow
def test_many_bodies_at_rest_stay_at_rest():
    """Two hundred boxes apart: the four corners of each carry its weight."""
    scene = boxes([(0.5 * (k % 20), 0.5 * (k // 20), 0.1) for k in range(200)])
    motion = scene.rollout(scene.neutral(), steps=3)
    np.testing.assert_allclose(motion.q[-1], scene.neutral(), atol=1e-15)
    carried = motion.contacts.force[-1, :, 2].reshape(200, 4).sum(axis=-1)
    np.testing.assert_allclose(carried, 9.81 * (1.0 + 0.1 * np.arange(200)), rtol=1e-9)
