"""Collision geometry of a MuJoCo model: geoms as shapes on links, and pairs with their friction."""
import os
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.collision.hulls import simplified
from screw_dynamics.collision.materials import Material
from screw_dynamics.collision.on_links import CollisionShape
from screw_dynamics.collision.shapes import Box, Capsule, ConvexHull, Cylinder, HeightField, Plane, Shape, Sphere
from screw_dynamics.description import mjcf
from screw_dynamics.description.mjcf.reader import model_of, names_of, pose_of
from screw_dynamics.description.urdf.collisions import VERTICES
from screw_dynamics.description.urdf.error import issue, listed
from screw_dynamics.model.model import Model

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)               # mjtGeom
SLIDING, TORSION, ROLLING = 3, 4, 6             # least condim with this kind of friction
DEFAULTS = {"solref": (0.02, 1.0), "solimp": (0.9, 0.95, 0.001, 0.5, 2.0)}


class MjcfScene(NamedTuple):
    """The content of a MuJoCo model: the Model, with its free bodies; gravity (3,); its shapes; the pairs (i, j), i <
    j, of shapes that may touch, and the Material of each pair."""

    model: Model
    gravity: np.ndarray
    shapes: tuple[CollisionShape, ...]
    pairs: tuple[tuple[int, int], ...]
    materials: tuple[Material, ...]


def read_mjcf_scene(source: Any, folder: str | os.PathLike | None = None, vertices: int = VERTICES) -> MjcfScene:
    """Return the MjcfScene of MJCF text, a path, an MjSpec or an MjModel; source and folder as for read_mjcf.

    Shapes are the geoms of pairs, or with contype or conaffinity for other geoms: planes, spheres, capsules, boxes,
    cylinders, height fields; for a mesh its convex hull, as in MuJoCo, with at most `vertices` vertices. Pairs are
    MuJoCo's: by contype and conaffinity, without those of one body or of a body and its parent, and without <exclude>;
    and each <pair>. Friction is that of the geom with the higher priority, or the maximum: sliding, torsional and
    rolling, according to condim.

    Contacts are rigid without rebound. An MjcfWarning names ignored margins, gaps, solref and solimp, and omitted
    geoms: ellipsoids, signed distances, flat meshes."""
    mj = mjcf.compiled(source, folder)
    model = model_of(mj, touching=True)
    bodies, geoms = names_of(mj.nbody, mj.body, "body"), names_of(mj.ngeom, mj.geom, "geom")
    pairs, touching = {}, set()
    if _has_contacts(mj):
        pairs = {**_dynamic_pairs(mj), **_given_pairs(mj)}
        touching = {k for pair in pairs for k in pair} | set(np.flatnonzero(mj.geom_contype | mj.geom_conaffinity))
    shapes, left_out = {}, []
    for k in sorted(map(int, touching)):
        try:
            shape = _shape(mj, k, vertices)
        except ValueError as error:
            left_out.append(f"{geoms[k]} ({error})")
            continue
        at = pose_of(mj.geom_pos[k], mj.geom_quat[k])
        shapes[k] = CollisionShape(bodies[mj.geom_bodyid[k]], shape, at, _material(mj.geom_friction[k],
                                                                                    mj.geom_condim[k]), geoms[k])
    number = {k: i for i, k in enumerate(shapes)}
    kept = {(number[i], number[j]): material for (i, j), material in sorted(pairs.items())
            if i in number and j in number}
    issue([*model.warnings, *_ignored(mj, geoms, shapes, left_out)], mjcf.MjcfWarning)
    return MjcfScene(model, np.array(mj.opt.gravity), tuple(shapes.values()), tuple(kept), tuple(kept.values()))


# ------------------------------------------------------------------------------------------------- pairs
def _has_contacts(mj):
    from mujoco import mjtDisableBit
    return not mj.opt.disableflags & (mjtDisableBit.mjDSBL_CONTACT | mjtDisableBit.mjDSBL_CONSTRAINT)


def _dynamic_pairs(mj):
    """Return {(geom, geom): Material} by contype and conaffinity."""
    from mujoco import mjtDisableBit  # their numbers depend on the version

    excluded = {frozenset((int(signature) >> 16, int(signature) & 0xffff)) for signature in mj.exclude_signature}
    welded, parent = mj.body_weldid, mj.body_weldid[mj.body_parentid[mj.body_weldid]]
    no_parents = mj.opt.disableflags & mjtDisableBit.mjDSBL_FILTERPARENT
    body, found = mj.geom_bodyid, {}
    for i in range(mj.ngeom):
        for j in range(i):
            if not (mj.geom_contype[i] & mj.geom_conaffinity[j] or mj.geom_contype[j] & mj.geom_conaffinity[i]):
                continue
            a, b = welded[body[i]], welded[body[j]]
            related = a and b and not no_parents and (parent[body[i]] == b or parent[body[j]] == a)
            ground = mj.geom_type[i] <= HFIELD and mj.geom_type[j] <= HFIELD
            if a != b and not related and not ground and frozenset((int(body[i]), int(body[j]))) not in excluded:
                found[j, i] = _between(mj, j, i)
    return found


def _between(mj, i, j):
    """Return the combined material of two geoms."""
    if mj.geom_priority[i] != mj.geom_priority[j]:
        k = i if mj.geom_priority[i] > mj.geom_priority[j] else j
        return _material(mj.geom_friction[k], mj.geom_condim[k])
    return _material(np.maximum(mj.geom_friction[i], mj.geom_friction[j]), max(mj.geom_condim[i], mj.geom_condim[j]))


def _given_pairs(mj):
    """Return {(geom, geom): Material} of each <pair>; for anisotropic friction the smaller coefficient."""
    found = {}
    for k in range(mj.npair):
        along, across, torsion, *rolling = mj.pair_friction[k]
        pair = sorted((int(mj.pair_geom1[k]), int(mj.pair_geom2[k])))
        found[tuple(pair)] = _material((min(along, across), torsion, min(rolling)), mj.pair_dim[k])
    return found


def _material(friction, condim):
    sliding, torsion, rolling = (float(x) for x in friction)
    return Material(sliding if condim >= SLIDING else 0.0, 0.0, torsion if condim >= TORSION else 0.0,
                    rolling if condim >= ROLLING else 0.0)


# ------------------------------------------------------------------------------------------------- shapes
def _shape(mj, k, vertices) -> Shape:
    kind, size = mj.geom_type[k], mj.geom_size[k].tolist()
    if kind == PLANE:
        return Plane()
    if kind == HFIELD:
        return _height_field(mj, mj.geom_dataid[k])
    if kind == SPHERE:
        return Sphere(size[0])
    if kind == CAPSULE:
        return Capsule(size[0], 2.0 * size[1])
    if kind == CYLINDER:
        return Cylinder(size[0], 2.0 * size[1])
    if kind == BOX:
        return Box([2.0 * x for x in size])
    if kind == MESH:
        mesh = mj.geom_dataid[k]
        first, count = mj.mesh_vertadr[mesh], mj.mesh_vertnum[mesh]
        return ConvexHull(simplified(mj.mesh_vert[first:first + count].astype(float), vertices))
    raise ValueError("an ellipsoid" if kind == ELLIPSOID else "a signed distance")


def _height_field(mj, k):
    rows, columns, first = mj.hfield_nrow[k], mj.hfield_ncol[k], mj.hfield_adr[k]
    x, y, top, _ = mj.hfield_size[k]
    heights = mj.hfield_data[first:first + rows * columns].reshape(rows, columns).astype(float)
    return HeightField(top * heights, (2.0 * x, 2.0 * y))


def _ignored(mj, geoms, shapes, left_out):
    """Return the text of the warning about ignored features."""
    used = list(shapes)
    named = {what: [geoms[k] for k in used if not np.allclose(getattr(mj, f"geom_{what}")[k], usual, atol=1e-12)]
             for what, usual in {"margin": 0.0, "gap": 0.0, **DEFAULTS}.items()}
    for what, names in named.items():
        names += [f"pair {k}" for k in range(mj.npair) if not np.allclose(getattr(mj, f"pair_{what}")[k], {
            "margin": 0.0, "gap": 0.0, **DEFAULTS}[what], atol=1e-12)]
    texts = [f"{what} of {listed(names)}" for what, names in named.items() if names]
    across = [f"pair {k}" for k in range(mj.npair) if mj.pair_friction[k, 0] != mj.pair_friction[k, 1]]
    if across:
        texts.append(f"the larger friction of {listed(across)}")
    parts = [f"ignored: {'; '.join(texts)}"] if texts else []
    parts += [f"geoms that are left out: {', '.join(left_out)}"] if left_out else []
    return [f"contacts of the model of MuJoCo: {'; '.join(parts)}"] if parts else []
