"""Visualization of a scene on a web page: collision shapes, contact points, and forces as arrows."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.collision.shapes import Shape
from screw_dynamics.screws import arrays
from screw_dynamics.utils import checks
from screw_dynamics.viewer import glyphs
from screw_dynamics.viewer.meshes import Part
from screw_dynamics.viewer.page import View

from .contact_model import Contacts

MOST = 64                                           # drawn contacts
FIXED, CONTACT, FORCE = (0.72, 0.75, 0.79, 1.0), (30, 30, 30), (214, 39, 40)
COLORS = ((0.90, 0.47, 0.18, 1.0), (0.20, 0.47, 0.74, 1.0), (0.30, 0.62, 0.42, 1.0), (0.80, 0.66, 0.24, 1.0),
           (0.55, 0.38, 0.65, 1.0))
LONGEST, DOT = 0.35, 0.008  # relative to the page's size: arrow of the largest force, dot of a contact
FLAT = 4.0                                          # m, edge of the drawn part of a plane


def mesh_of(shape: Shape) -> glyphs.Mesh:
    """Return the surface of a shape in its frame; for a plane a square."""
    kind: Any = shape
    if shape.kind == "box":
        return glyphs.box_mesh(np.asarray(kind.size))
    if shape.kind == "sphere":
        return glyphs.sphere_mesh(kind.radius)
    if shape.kind == "cylinder":
        return glyphs.cylinder_mesh(kind.radius, kind.length)
    if shape.kind == "capsule":
        return capsule_mesh(kind.radius, kind.length)
    if shape.kind == "plane":
        return height_mesh(np.zeros((2, 2)), (FLAT, FLAT))
    if shape.kind == "height_field":
        return height_mesh(kind.heights, kind.size)
    return glyphs.Mesh(np.asarray(kind.points if shape.kind == "convex_hull" else kind.vertices), kind.faces)


def capsule_mesh(radius: float, length: float) -> glyphs.Mesh:
    """Return the mesh of a capsule along z about the origin."""
    angle = np.linspace(0.0, np.pi, 20)
    shift = np.where(angle < 0.5 * np.pi, 0.5 * length, -0.5 * length)
    return glyphs.revolved(list(zip(radius * np.sin(angle), radius * np.cos(angle) + shift, strict=True)), sides=32,
                           sharp=False)


def height_mesh(heights: np.ndarray, size: tuple[float, float]) -> glyphs.Mesh:
    """Return the mesh of heights (rows, columns) over a rectangle about the origin, columns along x."""
    rows, columns = heights.shape
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, columns) * size[0], np.linspace(-0.5, 0.5, rows) * size[1])
    at = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (x_.ravel() for x_ in (at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1]))
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return glyphs.Mesh(np.stack([x, y, heights], axis=-1).reshape(-1, 3), faces)


class SceneView(View):
    """A View of a Scene: its bodies, and the contacts of the step that ends at the shown time."""

    def use_scene(self, scene: Any, source: str | None, q: ArrayLike | None = None) -> None:
        """Show a scene at q (nq,), by default its neutral configuration. source: the URDF of its robot."""
        self._of, self._recorded, self._most = scene, None, 0.0
        self._dots: list[Any] = []
        q = scene.neutral() if q is None else checks.vector("q", q, scene.nq)
        self.use(scene.robot, source, q, self._parts(source))
        size, add = self.scene.size, self.server.scene.add_mesh_simple
        for k in range(min(scene.contact_model.most, MOST)):
            self._dots.append((
                add(f"/contacts/point{k}", *glyphs.sphere_mesh(DOT * size), color=CONTACT, visible=False),
                add(f"/contacts/force{k}", *glyphs.arrow_mesh(LONGEST * size), color=FORCE, visible=False,
                    cast_shadow=False)))
        with self.server.gui.add_folder("Contacts"):
            self._contacts = self.server.gui.add_checkbox("contacts", True)
            self._contacts.on_update(lambda event: self._change(self._draw, self._now))
        self._draw(scene.contacts(q))

    def play_scene(self, motion: Any, speed: float = 1.0, loop: bool = True) -> SceneView:
        """Play a SceneMotion. For a batch, forces are those of the first motion."""
        recorded = motion.contacts
        if recorded is not None:
            recorded = Contacts(*(x.reshape(-1, *x.shape[recorded.pair.ndim - 2:])[0] for x in recorded))
            self._most = float(np.linalg.norm(recorded.force, axis=-1).max(initial=0.0))
        self._recorded = recorded
        self.play(motion.t, motion.q, motion.qd, speed=speed, loop=loop)
        return self

    def _at(self, time: float) -> None:
        super()._at(time)
        with self._lock, self.server.atomic():
            if self.player is None:
                return
            if self._recorded is None:
                found = self._of.contacts(self.q)
            else:
                k = min(int(np.searchsorted(self._t, time, side="right")) - 2, len(self._t) - 2)
                found = Contacts(*(x[max(k, 0)] for x in self._recorded))
            self._draw(found)

    def _draw(self, found: Contacts) -> None:
        """Draw dots at closed contacts, and arrows along the forces."""
        self._now = found
        slots = len(found.pair)
        for k, (dot, arrow) in enumerate(self._dots):
            there = k < slots and found.pair[k] >= 0 and self._contacts.value and (
                found.gap[k] < 1e-4 or bool(found.force[k].any()))
            dot.visible = bool(there)
            force = float(np.linalg.norm(found.force[k])) if there else 0.0
            self._most = max(self._most, force)
            arrow.visible = force > 0.0
            if there:
                dot.position = found.point[k]
            if force > 0.0:
                share = max(force / self._most, 0.02)
                C = arrays.pose_along(found.force[k] / force, found.point[k])
                arrow.position, arrow.wxyz = C[:3, 3], np.roll(arrays.quaternion(C[:3, :3]), 1)
                arrow.scale = (share**0.5, share**0.5, share)

    def _parts(self, source: str | None) -> list[tuple[int, np.ndarray, Part]]:
        """Return (slot, pose in the body, part) of objects, and of the links of robots unless a URDF shows them."""
        found, model, names = [], self._of.robot.model, list(self._of.objects)
        for collider in self._of.contact_model.colliders:
            mine = collider.name in self._of.objects
            if not mine and source is not None or collider.shape.kind == "plane" and level(collider.pose):
                continue
            body, C = model.frames[collider.link]
            moves = mine and self._of.objects[collider.name].free
            color = COLORS[names.index(collider.name) % len(COLORS)] if moves else FIXED
            found.append((body + 1, C @ collider.pose, Part(mesh_of(collider.shape), color)))
        return found


def level(C: np.ndarray) -> bool:
    """Return True if the z axis of a pose is that of the world: the page draws its own floor."""
    return bool(C[2, 2] > 1.0 - 1e-12)


def view(scene: Any, motion: Any = None, *, q: ArrayLike | None = None, urdf: str | None = None,
         host: str = "127.0.0.1", port: int = 8080, speed: float = 1.0) -> SceneView:
    """Open the page; arguments as for Scene.view."""
    page = SceneView(host, port)
    try:
        page.use_scene(scene, urdf, q if motion is None or q is not None else motion.q.reshape(-1, scene.nq)[0])
        if motion is not None:
            page.play_scene(motion, speed=speed)
    except BaseException:
        page.close()
        raise
    print(f"view: {page.url}", flush=True)
    return page
