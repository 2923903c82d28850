"""Makes the README's animation, docs/images/contacts.webp: python tools/animation.py [file] [--frame seconds ...]

A ball is thrown at a quadruped, which stands on its servos, another at a tower of blocks. Drawn without a screen, as
triangles with a buffer of depths, and a second one as the light sees them, for shadows."""
import argparse
import sys
from pathlib import Path

import numpy as np
from numba import njit
from PIL import Image

from screw_dynamics.scene.view import mesh_of
from screw_dynamics.screws import arrays
from screw_dynamics.viewer import glyphs
from screw_dynamics.viewer.meshes import parts_of
from screw_dynamics.viewer.shapes import read_shapes

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "examples"))
from quadruped_pushed import DAMPING, STIFFNESS, URDF, standing  # noqa: E402

SIZE, FINER = (760, 428), 2                 # pixels; drawn so many times finer
RATE, SECONDS, DT = 25, 4.4, 1e-3           # frames a second of the motion, s
BEGIN = 1.0                                 # s: the quadruped has come to rest on its servos
BLOCKS, EDGE = 7, 0.13                      # m
TOWER = np.array([0.98, -0.12])             # m
EYE, TARGET, VIEW = np.array([1.75, -2.35, 1.05]), np.array([0.62, 0.0, 0.34]), 34.5        # m, degrees
LIGHT = np.array([0.45, -0.55, 1.0]) / np.linalg.norm((0.45, -0.55, 1.0))
SKY, GROUND, ARROW = np.array([0.965, 0.972, 0.98]), np.array([0.90, 0.915, 0.93]), np.array([0.84, 0.15, 0.16])
WARM = [(0.90, 0.47, 0.18), (0.20, 0.47, 0.74)]
NEWTONS, LONGEST, WIDE = 260.0, 0.25, 0.075     # of an arrow of 1 m; m, m: an arrow of 1 m is as wide as one of WIDE
SHADOW, HALF = 1400, 2.3                    # pixels of the light's buffer, m that it sees to each side


# ------------------------------------------------------------------------------------------------- what moves
def scene_of_both():
    """The scene, where it begins, and the velocities."""
    scene, q_robot = standing()
    for k in range(BLOCKS):
        pose = np.eye(4)
        pose[:3, 3] = *TOWER, (k + 0.5) * EDGE
        scene.add_box(f"block_{k}", (EDGE,) * 3, mass=0.8, pose=pose, friction=0.5)
    balls = {"first": (0.085, 1.2, (0.02, -2.05, 0.50), (0.0, 4.12, 1.9)),
             "second": (0.10, 2.5, (-1.0, -1.75, 0.62), (3.1, 2.54, 2.99))}
    for name, (radius, mass, at, _) in balls.items():
        pose = np.eye(4)
        pose[:3, 3] = at
        scene.add_sphere(name, radius, mass=mass, pose=pose, friction=0.5, rolling=0.005)
    q = scene.neutral()
    q[:19] = q_robot
    return scene, q, balls


def motion():
    """The scene; configurations, points and forces of contacts after each step. Balls wait in the air to be thrown."""
    scene, q, balls = scene_of_both()
    throws = dict(zip(balls, (BEGIN + 0.1, BEGIN + 1.5), strict=True))
    qd, goal, found = np.zeros(scene.n), q[7:19].copy(), []
    for begin, end in zip((0.0, *throws.values()), (*throws.values(), BEGIN + SECONDS), strict=True):
        carried = [mass * 9.81 * (throws[name] > begin) for name, (_, mass, _, _) in balls.items()]
        for name, (_, _, _, velocity) in balls.items():
            if throws[name] == begin:
                qd[scene.v_slices[name]][3:] = velocity
        piece = scene.rollout(q, qd, held(goal, *carried, *(scene.v_slices[name].start + 5 for name in balls)), dt=DT,
                              steps=round((end - begin) / DT))
        found.append((piece.q[1:], piece.contacts.point, piece.contacts.force))
        q, qd = piece.q[-1].copy(), piece.qd[-1].copy()
    return scene, *(np.concatenate(x) for x in zip(*found, strict=True))


def held(goal, first, second, a, b):
    """The quadruped's servos, and what carries balls that wait."""
    def effort(robot, t, q, qd, tau):
        for k in range(12):
            tau[6 + k] = STIFFNESS * (goal[k] - q[7 + k]) - DAMPING * qd[6 + k]
        tau[a] = first
        tau[b] = second
    return effort


# ------------------------------------------------------------------------------------------------- what is seen
def parts(scene):
    """(link, pose in it, Mesh, color) of all that is seen but the ground."""
    found = []
    for shape in read_shapes(str(URDF)).visual:
        for part in parts_of(shape, Path):
            found.append((shape.link, shape.pose, part.mesh, np.array(part.color[:3])))
    for k, (name, thing) in enumerate(scene.objects.items()):
        if thing.free:
            color = (0.30, 0.62, 0.42) if name in ("first", "second") else WARM[k % 2]
            found += [(name, pose, mesh_of(shape), np.array(color)) for shape, pose in thing.shapes]
    return found


def triangles(placed):
    """Corners (t, 3, 3), their normals (t, 3, 3) and colors (t, 3) of (Mesh, pose or linear map (4, 4), color)."""
    corners, normals, colors = [np.zeros((0, 3, 3))], [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
    for mesh, C, color in placed:
        v = mesh.vertices @ C[:3, :3].T + C[:3, 3]
        corners.append(v[mesh.faces])
        normals.append(vertex_normals(v, mesh.faces)[mesh.faces])
        colors.append(np.broadcast_to(color, (len(mesh.faces), 3)))
    return np.concatenate(corners), np.concatenate(normals), np.concatenate(colors)


def arrows(points, forces):
    """Forces at their points as meshes, those that point down as what the other body gets."""
    for point, force in zip(points, forces, strict=True):
        size = np.linalg.norm(force)
        if size > 1.0:
            C = arrays.pose_along(force / size * (1.0 if force[2] >= 0.0 else -1.0), point)
            C[:3, :3] = C[:3, :3] * (WIDE, WIDE, min(size / NEWTONS, LONGEST))
            yield glyphs.arrow_mesh(1.0), C, ARROW


def vertex_normals(v, faces):
    """Unit normals (n, 3) of vertices, the mean of their faces'; those of one box side are that side's."""
    a, b, c = (v[faces[:, k]] for k in range(3))
    of_faces, n = np.cross(b - a, c - a), np.zeros_like(v)
    for k in range(3):
        np.add.at(n, faces[:, k], of_faces)
    return n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-30)


@njit(cache=False)
def rasterize(corners, depth, number, bary):
    """Fill depth (h, w) with the least z of triangles (t, 3, 3) in pixels, number with which it is, and bary with the
    shares of its first two corners."""
    h, w = depth.shape
    for t in range(len(corners)):
        a, b, c = corners[t, 0], corners[t, 1], corners[t, 2]
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area == 0.0:
            continue
        x0, x1 = max(int(min(a[0], b[0], c[0])), 0), min(int(max(a[0], b[0], c[0])) + 1, w - 1)
        y0, y1 = max(int(min(a[1], b[1], c[1])), 0), min(int(max(a[1], b[1], c[1])) + 1, h - 1)
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                px, py = x + 0.5, y + 0.5
                wa = ((b[0] - px) * (c[1] - py) - (b[1] - py) * (c[0] - px)) / area
                wb = ((c[0] - px) * (a[1] - py) - (c[1] - py) * (a[0] - px)) / area
                wc = 1.0 - wa - wb
                if wa < 0.0 or wb < 0.0 or wc < 0.0:
                    continue
                z = wa * a[2] + wb * b[2] + wc * c[2]
                if z < depth[y, x]:
                    depth[y, x], number[y, x], bary[y, x, 0], bary[y, x, 1] = z, t, wa, wb


def looking(eye, target):
    """The rotation (3, 3) whose rows are right, down and forwards."""
    forwards = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forwards, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(forwards, right), forwards])


def buffers(corners, height, width):
    """Depths, numbers and shares of what is nearest at each pixel."""
    depth, number, bary = np.full((height, width), np.inf), np.full((height, width), -1), np.zeros((height, width, 2))
    rasterize(corners, depth, number, bary)
    return depth, number, bary


def focal_length():
    """In pixels."""
    return 0.5 * FINER * SIZE[1] / np.tan(np.radians(VIEW) / 2.0)


def rays_of_pixels():
    """The vectors (h, w, 3) from the eye through pixels, to where the depth is 1 m."""
    width, height = (FINER * k for k in SIZE)
    x, y = np.meshgrid(np.arange(width) + 0.5 - 0.5 * width, np.arange(height) + 0.5 - 0.5 * height)
    return np.stack([x, y, np.full_like(x, focal_length())], axis=-1) / focal_length() @ looking(EYE, TARGET)


def seen_by_eye(corners, normals, rays):
    """Of the pixels (h, w) where there is a triangle: its depths, the pixels, which triangle, normals to the eye."""
    height, width = rays.shape[:2]
    at = (corners - EYE) @ looking(EYE, TARGET).T
    flat = focal_length() * at[..., :2] / at[..., 2:] + (0.5 * width, 0.5 * height)
    flat = np.concatenate([flat, at[..., 2:]], axis=-1)
    depth, number, bary = buffers(flat, height, width)
    there = number >= 0
    t, shares = number[there], np.concatenate([bary[there], 1.0 - bary[there].sum(axis=1, keepdims=True)], axis=1)
    n = np.einsum("pk,pki->pi", shares, normals[t])
    n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-9)
    return depth[there], there, t, n * -np.sign(np.einsum("pi,pi->p", n, rays[there]))[:, None]


def lit(points, light_depth):
    """The share of light (...) that reaches points (..., 3), between 0 and 1 at the edges of shadows."""
    R = looking(LIGHT, np.zeros(3))
    p = (points - TARGET) @ R.T
    x, y = ((p[..., k] / HALF + 1.0) * 0.5 * SHADOW for k in (0, 1))
    share, spread = np.zeros(points.shape[:-1]), (-2.4, -1.2, 0.0, 1.2, 2.4)
    for dx in spread:
        for dy in spread:
            i, j = (np.clip((u + d).astype(int), 0, SHADOW - 1) for u, d in ((y, dy), (x, dx)))
            share += p[..., 2] < light_depth[i, j] + 0.012
    return share / len(spread)**2


def picture(scene, q, seen, points, forces):
    """An Image of a configuration."""
    corners, normals, colors = triangles((mesh, scene.robot.forward_kinematics(q, link) @ pose, color)
                                          for link, pose, mesh, color in seen)
    from_light = (corners - TARGET) @ looking(LIGHT, np.zeros(3)).T
    from_light[..., :2] = (from_light[..., :2] / HALF + 1.0) * 0.5 * SHADOW
    light_depth = buffers(from_light, SHADOW, SHADOW)[0]
    rays = rays_of_pixels()
    image = ground(rays, light_depth)
    depth, there, t, n = seen_by_eye(corners, normals, rays)
    light = lit(EYE + rays[there] * depth[:, None] + 0.004 * n, light_depth)
    image[there] = colors[t] * (0.42 + 0.16 * n[:, 2] + 0.55 * np.maximum(n @ LIGHT, 0.0) * light)[:, None]
    corners, normals, colors = triangles(arrows(points, forces))           # through what hides them
    _, there, t, n = seen_by_eye(corners, normals, rays)
    image[there] = 0.15 * image[there] + 0.85 * colors[t] * (0.7 + 0.3 * np.abs(n @ LIGHT))[:, None]
    small = np.clip(image, 0.0, 1.0).reshape(SIZE[1], FINER, SIZE[0], FINER, 3).mean(axis=(1, 3))
    return Image.fromarray((255.0 * small + 0.5).astype(np.uint8))


def ground(rays, light_depth):
    """Colors (h, w, 3) of the ground with a grid of 0.25 m, in shadow where it is, and fading to the sky."""
    down = np.minimum(rays[..., 2], -1e-6)
    reach = -EYE[2] / down
    p = EYE + rays * reach[..., None]
    away = np.linalg.norm(p[..., :2] - TARGET[:2], axis=-1)
    line = np.abs((p[..., :2] / 0.25 + 0.5) % 1.0 - 0.5) * 0.25
    thin = np.clip(1.0 - (line.min(axis=-1) - 0.0015) / (0.0012 * reach), 0.0, 1.0)
    shade = 1.0 - 0.30 * (1.0 - lit(p, light_depth)) * (away < 2.0)
    color = (GROUND - 0.075 * thin[..., None]) * shade[..., None]
    fade = np.clip((away - 1.3) / 2.2, 0.0, 1.0)[..., None]
    return np.where(rays[..., 2:] < 0.0, color * (1.0 - fade) + SKY * fade, SKY)


def main():
    """Write the animation, or a frame of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", default=str(ROOT / "docs" / "images" / "contacts.webp"))
    parser.add_argument("--frame", type=float, nargs="+", help="only these, in s, as PNG files beside it")
    options = parser.parse_args()
    scene, q, points, forces = motion()
    seen = parts(scene)

    def frame(seconds):
        k = min(round((BEGIN + seconds) / DT), len(q)) - 1
        return picture(scene, q[k], seen, points[k], forces[k])
    if options.frame:
        for seconds in options.frame:
            frame(seconds).save(Path(options.file).with_suffix(f".{seconds:g}.png"))
        return
    frames = [frame(k / RATE) for k in range(1, round(SECONDS * RATE) + 1)]
    frames[0].save(options.file, save_all=True, append_images=frames[1:], duration=round(1000 / RATE), loop=0,
                   quality=70, method=6)
    print(f"{options.file}: {len(frames)} frames, {Path(options.file).stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
