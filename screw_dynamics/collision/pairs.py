"""Contact kernels by pairs of kinds of shapes, and the largest numbers of points."""
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from screw_dynamics.numbers.values import kernel

from . import boxes, capsules, convex_pairs, on_height_field, on_plane, spheres
from .colliders import BOX, CAPSULE, CONVEX_HULL, CYLINDER, HEIGHT_FIELD, NUMBERS, PLANE, SPHERE, Collider

KINDS = len(NUMBERS)


class PairKernel(NamedTuple):
    """A contact kernel. touches(given, a, b, touch, row, margin) writes the touches of collider a with b from a row on:
    `points` of them, plus `of_vertices` for each vertex of the first. Each touch has a fixed row, FAR if it does not
    exist."""

    touches: Callable
    points: int
    of_vertices: int = 0


SIMPLE = {
    (SPHERE, SPHERE): PairKernel(spheres.sphere_sphere, 1),
    (SPHERE, CAPSULE): PairKernel(spheres.sphere_capsule, 1),
    (SPHERE, BOX): PairKernel(spheres.sphere_box, 1),
    (SPHERE, CYLINDER): PairKernel(spheres.sphere_cylinder, 1),
    (SPHERE, PLANE): PairKernel(on_plane.sphere_on_plane, 1),
    (CAPSULE, CAPSULE): PairKernel(capsules.capsule_capsule, capsules.CAPSULE_POINTS),
    (CAPSULE, BOX): PairKernel(capsules.capsule_box, capsules.CAPSULE_POINTS),
    (BOX, BOX): PairKernel(boxes.box_box, boxes.BOX_POINTS),
    (CAPSULE, PLANE): PairKernel(on_plane.capsule_on_plane, 2),
    (BOX, PLANE): PairKernel(on_plane.box_on_plane, 8),
    (CYLINDER, PLANE): PairKernel(on_plane.cylinder_on_plane, on_plane.CYLINDER_POINTS),
    (CONVEX_HULL, PLANE): PairKernel(on_plane.hull_on_plane, 0, 1),
}
TOUCHING = {
    **SIMPLE,
    (SPHERE, CONVEX_HULL): PairKernel(convex_pairs.sphere_convex, convex_pairs.SPHERE_POINTS),
    **{(CAPSULE, kind): PairKernel(convex_pairs.capsule_convex, convex_pairs.CAPSULE_POINTS)
       for kind in (CYLINDER, CONVEX_HULL)},
    **{pair: PairKernel(convex_pairs.convex_convex, convex_pairs.CONVEX_POINTS)
       for pair in ((BOX, CYLINDER), (BOX, CONVEX_HULL), (CYLINDER, CYLINDER), (CYLINDER, CONVEX_HULL),
                    (CONVEX_HULL, CONVEX_HULL))},
    (SPHERE, HEIGHT_FIELD): PairKernel(on_height_field.sphere_on_height_field, on_height_field.BALL),
    (CAPSULE, HEIGHT_FIELD): PairKernel(on_height_field.capsule_on_height_field, on_height_field.CAPSULE_POINTS),
    (BOX, HEIGHT_FIELD): PairKernel(on_height_field.box_on_height_field, on_height_field.BOX_POINTS),
    (CYLINDER, HEIGHT_FIELD): PairKernel(on_height_field.cylinder_on_height_field, on_height_field.CYLINDER_POINTS),
    (CONVEX_HULL, HEIGHT_FIELD): PairKernel(on_height_field.hull_on_height_field, on_height_field.PEAKS, 1),
}


def most_points(a: Collider, b: Collider) -> int:
    """Return the largest number of points of two colliders, the first of the lower kind. Raises ValueError for an
    unsupported pair."""
    if (a.kind, b.kind) not in TOUCHING:
        names = {number: name.replace("_", " ") for name, number in NUMBERS.items()}
        raise ValueError(f"no contacts between a {names[a.kind]} and a {names[b.kind]}, which both have no end: give "
                         "one of the two a convex shape, which touches all others, or keep them apart (disable)")
    case = TOUCHING[a.kind, b.kind]
    return case.points + case.of_vertices * a.count


def _dispatch(cases):
    """Return the kernel (number, ...) that calls the function with this number, out of [(number, function)]."""
    (number, function), *others = cases
    if not others:
        return kernel(lambda case, given, a, b, touch, row, margin: function(given, a, b, touch, row, margin))
    rest = _dispatch(others)

    def call(case, given, a, b, touch, row, margin):
        if case == number:
            function(given, a, b, touch, row, margin)
        else:
            rest(case, given, a, b, touch, row, margin)
    return kernel(call)


@cache
def writer(kinds: frozenset[tuple[int, int]]) -> Callable:
    """Return the kernel (given, a, b, touch, row, margin) that writes the touches of collider a with b from a row on,
    for pairs of these kinds, each with the lower first. Other kinds are omitted to save compile time."""
    chosen = [(KINDS * a + b, case.touches) for (a, b), case in TOUCHING.items() if (a, b) in kinds]
    by_kinds = _dispatch(chosen)

    def write(given, a, b, touch, row, margin):
        by_kinds(KINDS * given.collider.kind[a] + given.collider.kind[b], given, a, b, touch, row, margin)
    return kernel(write)
