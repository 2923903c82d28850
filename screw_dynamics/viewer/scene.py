"""A robot in a viser scene: shapes, screws, centers of mass and efforts on frames that follow the bodies."""
import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from screw_dynamics.description.urdf.error import UrdfError, listed
from screw_dynamics.description.urdf.meshes import locate
from screw_dynamics.model import configuration_space
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot
from screw_dynamics.screws import arrays

from . import glyphs
from .meshes import Part, parts_of
from .shapes import Shape, Shapes, read_shapes

SCREWS = {"turns": (22, 104, 189), "slides": (226, 120, 18), "helical": (140, 60, 170)}
EFFORT, CENTER, TOTAL, BOX, GHOST = (214, 39, 40), (245, 190, 20), (30, 30, 30), (160, 176, 190), (120, 150, 185)
LAYERS = ("visual", "collision", "screws", "centers", "efforts", "names")
SEE_THROUGH = 0.35      # opacity


def home(model: Model) -> np.ndarray:
    """Return initial positions (nq,): neutral, or the middle of a joint's range if it does not contain zero."""
    q, at = configuration_space.neutral(model), model.q_indices
    outside = (at >= 0) & ~((model.lower <= 0.0) & (0.0 <= model.upper))
    q[at[outside]] = (model.lower[outside] + model.upper[outside]) / 2.0
    return q


def preload(robot: Robot) -> None:
    """Read a robot's mesh files into the cache, so that its scene opens quickly; errors are left to the scene."""
    if robot.source is not None:
        with contextlib.suppress(ValueError, OSError):
            for shape in read_shapes(robot.source).visual:
                with contextlib.suppress(ValueError, OSError):
                    parts_of(shape, lambda file: locate(file, robot.source))


class Scene:
    """The scene nodes of one robot.

    layers: handles that are shown or hidden together, by name. notes: missing shapes. parts: (slot, pose (4, 4) in
    the body, Part) of shapes in addition to those of the URDF; slot 0 is the root. low, high (3,): corners of the
    bounding box in the root frame, at the positions `q`."""

    def __init__(self, server: Any, robot: Robot, source: str | None, q: np.ndarray,
                 parts: Iterable[tuple[int, np.ndarray, Part]] = ()):
        self._scene, self._robot, self._source = server.scene, robot, source
        self.model, self.notes = robot.model, []
        self.layers: dict[str, list[Any]] = defaultdict(list)
        self._shown = Counter({"visual": 1, "screws": 1})
        self.shapes = self._read()
        # Slot 0 is the root, as in the recursions.
        self._frames = [self._scene.add_frame(f"/robot/{slot}", show_axes=False)
                        for slot in range(1 + len(self.model.parents))]
        parts = list(parts)
        self._drawn = {kind: self._load(kind, parts) for kind in ("visual", "collision")}
        self._show_shapes()
        bodies = self._poses(q)
        self.low, self.high = self._corners(bodies)
        self.size = float(np.linalg.norm(self.high - self.low))
        # arrow length: the typical distance of joints; longer arrows would hide a hand
        steps = np.linalg.norm(self.model.relative_poses[:, :3, 3], axis=1)
        steps = steps[steps > 0.01 * self.size]
        self._length = float(np.clip(1.1 * np.median(steps) if len(steps) else 0.0, 0.07 * self.size, 0.2 * self.size))
        self._show_glyphs()
        self._total = self._scene.add_icosphere("/total", 0.02 * self.size, TOTAL, visible=False)
        self.layers["centers"].append(self._total)
        self._ghosts: list[list[Any]] = []
        self.place(q)

    # --------------------------------------------------------------------------------------------- motion
    def place(self, q: np.ndarray) -> None:
        """Move the robot to the positions q (nq,)."""
        poses = self._poses(q)
        _move(self._frames, poses)
        masses, centers = glyphs.centers(self.model)
        if masses.sum() > 0.0:
            at = np.einsum("bij,bj->bi", poses[1:, :3, :3], centers) + poses[1:, :3, 3]
            self._total.position = masses @ at / masses.sum()

    def push(self, tau: np.ndarray) -> None:
        """Show efforts tau (n,) as arrows along the joint axes.

        The length is relative to the effort limit, or to the largest effort so far without a limit."""
        self._largest = np.maximum(self._largest, np.where(np.isfinite(tau), np.abs(tau), 0.0))
        self._tau = tau
        if self._shown["efforts"]:
            self._draw_efforts()

    def _draw_efforts(self) -> None:
        tau, limit = self._tau, self.model.effort_limit
        fractions = np.divide(tau, np.where(np.isfinite(limit), limit, self._largest), out=np.zeros(len(tau)),
                              where=np.isfinite(tau) & (np.where(np.isfinite(limit), limit, self._largest) > 0.0))
        for k, handle, axis, outside in self._arrows:
            share = max(min(abs(fractions[k]), 1.5), 1e-4)
            back = fractions[k] < 0.0
            along = -axis.direction if back else axis.direction
            _set(handle, arrays.pose_along(along, axis.point + outside[int(back)] * along))
            handle.scale = (float(np.sqrt(share)),) * 2 + (float(share),)   # keeps small efforts visible

    def show(self, layer: str, visible: bool) -> None:
        """Show or hide a layer."""
        self._shown[layer] = int(visible)
        if layer == "collision" and visible and not self.layers["collision"]:
            self._add_parts("collision")
        if layer == "efforts" and visible:
            self._draw_efforts()
        for handle in self.layers[layer]:
            handle.visible = visible

    def see_through(self, on: bool) -> None:
        """Make the shapes transparent, or restore their opacity."""
        for handle, opacity in self._opacities:
            handle.opacity = SEE_THROUGH if on else opacity

    def ghosts(self, count: int) -> None:
        """Create `count` transparent copies of the shapes, and remove the previous copies."""
        for frames in self._ghosts:
            for frame in frames:
                frame.remove()
        self._ghosts = []
        for k in range(count):
            frames = [self._scene.add_frame(f"/ghost{k}/{slot}", show_axes=False) for slot in range(len(self._frames))]
            for i, (slot, C, part) in enumerate(self._drawn["visual"]):
                handle = self._scene.add_mesh_simple(f"/ghost{k}/{slot}/{i}", *part.mesh, color=GHOST, opacity=0.25,
                                                     cast_shadow=False, receive_shadow=False)
                _set(handle, C)
            self._ghosts.append(frames)

    def place_ghosts(self, q: np.ndarray) -> None:
        """Move the copies to positions (ghosts, nq)."""
        for frames, positions in zip(self._ghosts, q, strict=True):
            _move(frames, self._poses(positions))

    def _poses(self, q):
        """Return the poses (1 + b, 4, 4) of the root and the bodies."""
        return np.concatenate([np.eye(4)[None], self._robot.body_poses(np.asarray(q, dtype=float))])

    # --------------------------------------------------------------------------------------------- shapes
    def _read(self) -> Shapes:
        if self._source is None:
            return Shapes()
        try:
            shapes = read_shapes(self._source)
        except (UrdfError, OSError) as error:
            self.notes.append(f"no shapes: {error}")
            return Shapes()
        self.notes += shapes.notes
        return shapes

    def _load(self, kind: str, more: list) -> list[tuple[int, np.ndarray, Part]]:
        """Return (slot, pose in the body, part) of each shape of a kind. Boxes replace missing meshes."""
        found, missing, boxes = [], {}, set()
        shapes: Iterable[Shape] = getattr(self.shapes, kind)
        for shape in shapes:
            if shape.link not in self.model.frames:     # above base_link, or cut off by tip_link
                continue
            body, C = self.model.frames[shape.link]
            try:
                parts = parts_of(shape, lambda file: locate(file, self._source))
            except (ValueError, OSError) as error:
                missing[shape.file or shape.link] = str(error)
                boxes.add(body + 1)
                continue
            found += [(body + 1, C @ shape.pose, part) for part in parts]
        if kind == "visual":
            found += more
            self._note(missing)
            slots = range(len(self._frames))
            found += [part for slot in (boxes if found or boxes else slots) for part in self._box(slot)]
        return found

    def _note(self, missing: Mapping[str, str]) -> None:
        if missing:
            reasons = Counter(missing.values()).most_common(1)[0][0]
            self.notes.append(f"{len(missing)} of the robot's meshes are boxes: {listed(missing)} ({reasons})")

    def _box(self, slot: int) -> list[tuple[int, np.ndarray, Part]]:
        matrix = self.model.inertias[slot - 1] if slot else self.model.root_inertia
        if arrays.inertia(matrix).mass <= 0.0:
            return []
        sides, C = glyphs.inertia_box(matrix)
        return [(slot, C, Part(glyphs.box_mesh(sides), (*(x / 255.0 for x in BOX), 1.0)))]

    def _show_shapes(self) -> None:
        self._opacities: list[tuple[Any, float | None]] = []
        self._add_parts("visual")

    def _add_parts(self, kind: str) -> None:
        for i, (slot, C, part) in enumerate(self._drawn[kind]):
            *rgb, alpha = part.color
            opacity = 0.5 if kind == "collision" else None if alpha > 0.99 or alpha <= 0.0 else alpha
            color = (120, 200, 120) if kind == "collision" else tuple(round(255 * x) for x in rgb)
            handle = self._scene.add_mesh_simple(
                f"/robot/{slot}/{kind}{i}", *part.mesh, color=color, opacity=opacity, side="double")
            _set(handle, C)
            self.layers[kind].append(handle)
            if kind == "visual":
                self._opacities.append((handle, opacity))

    def _corners(self, bodies) -> tuple[np.ndarray, np.ndarray]:
        """Return the corners (3,), (3,) of the bounding box of all visual shapes and frames."""
        points = [bodies[:, :3, 3]]
        for slot, C, part in self._drawn["visual"]:
            corners = np.array(np.meshgrid(*np.stack([part.mesh.vertices.min(0), part.mesh.vertices.max(0)]).T))
            T = bodies[slot] @ C
            points.append(corners.reshape(3, -1).T @ T[:3, :3].T + T[:3, 3])
        cloud = np.concatenate(points)
        low, high = cloud.min(0), cloud.max(0)
        least = max(0.1, 0.1 * float(np.linalg.norm(high - low)))      # a single body must not have zero size
        return np.minimum(low, high - least), high

    # --------------------------------------------------------------------------------------------- glyphs
    def _show_glyphs(self) -> None:
        model, size = self.model, self._length
        masses, centers = glyphs.centers(model)
        heaviest = masses.max(initial=0.0)
        self._largest = self._tau = np.zeros(model.n)
        self._arrows = []
        for i, X in enumerate(model.screws_body):
            parent, axis = f"/robot/{i + 1}", arrays.screw_axis(X)
            outside = [self._way_out(i, axis.point, side) for side in (axis.direction, -axis.direction)]
            base = axis.point + max(0.0, outside[0] - 0.25 * size) * axis.direction
            kind = glyphs.kind_of(axis)
            self._add("screws", f"{parent}/screw", glyphs.screw_mesh(kind, size),
                      arrays.pose_along(axis.direction, base), SCREWS[kind])
            if model.body_names[i] in model.frames:     # the last body of a Lie-group joint
                label = self._scene.add_label(f"{parent}/name", model.body_joints[i], position=axis.point,
                                              visible=False, font_screen_scale=0.8, anchor="center-left")
                self.layers["names"].append(label)
            if masses[i] > 0.0:
                radius = 0.1 * size * (0.4 + 0.6 * (masses[i] / heaviest) ** (1 / 3))
                self._add("centers", f"{parent}/center", glyphs.sphere_mesh(radius),
                          arrays.pose_matrix((np.eye(3), centers[i])), CENTER)
            if model.body_joints[i] not in model.mimics:
                arrow = self._add("efforts", f"{parent}/effort", glyphs.arrow_mesh(1.6 * size), np.eye(4), EFFORT)
                self._arrows.append((int(model.coordinates[i]), arrow, axis, outside))

    def _way_out(self, i, point, direction):
        """Return the distance along a ray from a point of body i to its exit from the link's and the parent's shapes.

        It is at most 6 times the length of the glyphs."""
        ways = [0.0]
        of_joint = [k for k, joint in enumerate(self.model.body_joints) if joint == self.model.body_joints[i]]
        to_parent = self.model.relative_poses[of_joint[0]]
        for slot, C, part in self._drawn["visual"]:
            if slot == of_joint[-1] + 1:
                frame = arrays.inverse_pose(C)
            elif slot == self.model.parents[of_joint[0]] + 1:
                frame = arrays.inverse_pose(C) @ to_parent
            else:
                continue
            ways.append(glyphs.way_out(part.mesh, frame[:3, :3] @ point + frame[:3, 3], frame[:3, :3] @ direction))
        return min(max(ways), 6.0 * self._length)

    def _add(self, layer, name, mesh, C, color):
        handle = self._scene.add_mesh_simple(name, *mesh, color=color, visible=bool(self._shown[layer]), side="double",
                                             cast_shadow=False, receive_shadow=False)
        _set(handle, C)
        self.layers[layer].append(handle)
        return handle


def _set(handle, C):
    """Set the pose (4, 4) of a node."""
    _move([handle], C[None])


def _move(handles, C):
    """Set the poses (k, 4, 4) of nodes."""
    for handle, position, rotation in zip(handles, C[:, :3, 3], arrays.quaternion(C[:, :3, :3]), strict=True):
        handle.position, handle.wxyz = position, np.roll(rotation, 1)
