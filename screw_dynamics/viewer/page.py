"""The web page: a server, the scene of a robot, and the control panel."""
import atexit
import contextlib
import io
import signal
import threading
import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws import arrays
from screw_dynamics.utils import checks

from .meshes import Part
from .player import Player
from .scene import Scene, home
from .server import start

GHOSTS = 5              # largest number of further robots in a batch, drawn transparent
LONGEST_WARNING = 500   # characters
READOUT = 0.15          # s between updates of sliders and numbers
FIELD_OF_VIEW = np.radians(38.0)
LABELS = {"visual": "shapes", "collision": "collision shapes", "screws": "joint screws", "centers": "centers of mass",
          "efforts": "efforts", "names": "joint names"}


class View:
    """A web page with a robot, served at `url` until `close()`. `view(robot)` opens one.

    live: the robot is moved by calls of `show`; the sliders only display positions."""

    def __init__(self, host: str = "127.0.0.1", port: int = 8080, title: str = "screw_dynamics", live: bool = False):
        self.server = start(host, port, title)
        atexit.unregister(self.server.stop)     # it prints a message
        atexit.register(self.close)
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(22, 104, 189))
        self._live, self._lock, self._closed = live, threading.RLock(), threading.Event()
        self.robot: Robot | None = None
        self.player: Player | None = None
        self.notes: list[str] = []

    @property
    def url(self) -> str:
        """The URL of the page."""
        host = self.server.get_host()
        name = "localhost" if host in ("0.0.0.0", "127.0.0.1", "::") else f"[{host}]" if ":" in host else host
        return f"http://{name}:{self.server.get_port()}"

    @property
    def watched(self) -> bool:
        """True if the page is open in a browser. A browser that opens it later shows the last state."""
        return bool(self.server.get_clients())

    def __repr__(self):
        return f"<View of {self.robot!r} at {self.url}>"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        """Close the page and stop the server."""
        if not self._closed.is_set():
            self._closed.set()
            atexit.unregister(self.close)
            self.stop()
            with contextlib.redirect_stdout(io.StringIO()):     # suppress its message
                self.server.stop()

    def wait(self) -> None:
        """Block until Ctrl-C or `close()`, for scripts. Further Ctrl-C are ignored during the shutdown."""
        asked = threading.Event()
        if threading.current_thread() is not threading.main_thread():   # only the main thread gets signals
            self._closed.wait()
            return
        before = signal.signal(signal.SIGINT, lambda number, frame: asked.set())
        try:
            while not asked.is_set() and not self._closed.wait(0.5):
                pass
            if asked.is_set():
                self.close()
        finally:
            signal.signal(signal.SIGINT, before)

    # --------------------------------------------------------------------------------------------- the robot
    def use(self, robot: Robot, source: str | None = None, q: ArrayLike | None = None,
            parts: Iterable[tuple[int, np.ndarray, Part]] = ()) -> None:
        """Show another robot.

        source: its URDF, a path or text; by default the one from which it was read. q (nq,): initial configuration,
        for which the camera is placed. parts: shapes in addition to those of the URDF, as in viewer.scene.Scene."""
        self.stop()
        with self._lock, self.server.atomic():
            self.server.scene.reset()
            self.server.gui.reset()
            self.robot, self._told, self._qd = robot, 0.0, None
            self.q = home(robot.model) if q is None else checks.vector("q", q, robot.nq)
            self.scene = Scene(self.server, robot, robot.source if source is None else source, self.q,
                               parts)
            self.notes = self.scene.notes
            self._stage()
            self._panel()
            self.show(self.q)

    def show(self, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None) -> None:
        """Move the robot to the positions q (nq,); show the kinetic energy for rates qd, and the arrows of efforts tau.

        The robot does not move if q is not finite. By default the arrows show gravity torques."""
        q = checks.real_numbers("q", q, self.robot.nq).reshape(self.robot.nq)
        with self._lock, self.server.atomic():
            if np.isfinite(q).all():
                self.q = q
                self.scene.place(q)
            self.scene.push(self.robot.gravity_torque(self.q) if tau is None else checks.real_numbers("tau", tau))
            now, self._qd = time.monotonic(), qd
            if now - self._told > READOUT or not (self._live or self.player and self.player.runs):
                self._told = now
                self._tell(qd)

    def layer(self, name: str, visible: bool = True) -> None:
        """Show or hide a layer, as its checkbox does: visual, collision, screws, centers, efforts or names."""
        self._boxes[checks.one_of("layer", name, self._boxes)].value = checks.flag("visible", visible)

    def status(self, text: str) -> None:
        """Show a line of text or Markdown at the top of the panel, and update the displayed numbers."""
        with self._lock, self.server.atomic():
            self._status.content = text
            self._tell(self._qd)

    def play(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None,
             speed: float = 1.0, loop: bool = True) -> "View":
        """Play a motion as returned by `rollout`.

        t (samples,): times; q (..., samples, nq): positions; qd (..., samples, n): rates. The first motion of a batch
        moves the robot, the next GHOSTS ones transparent copies. tau (samples, n): efforts shown as arrows, by
        default those of gravity. speed: relative to real time. Returns the view itself."""
        t = checks.real_numbers("t", t).astype(float)
        sizes = {"q": self.robot.nq, "qd": self.robot.n, "tau": self.robot.n}
        if t.ndim != 1 or not len(t) or (np.diff(t) < 0.0).any():
            raise ValueError(f"t must be ascending times (samples,), but has the shape {t.shape}")
        speed, loop = checks.positive("speed", speed), checks.flag("loop", loop)
        motions = {name: checks.real_numbers(name, x, sizes[name]) for name, x in (("q", q), ("qd", qd), ("tau", tau))
                   if x is not None}
        for name, x in motions.items():
            if x.ndim < 2 or x.shape[-2] != len(t):
                raise ValueError(f"{name} has the shape {x.shape}, not (..., {len(t)}, {sizes[name]})")
        motions = {name: x.reshape(-1, len(t), sizes[name]) for name, x in motions.items()}
        self.stop()
        with self._lock, self.server.atomic():
            self._t, self._motions = t - t[0], motions
            self.scene.ghosts(min(len(motions["q"]) - 1, GHOSTS))
            self.player = Player(float(self._t[-1]), self._at, self._show_playing)
            self.player.speed, self.player.loop = speed, loop
            self._motion_panel()
            self._at(0.0)
        self.player.play()
        return self

    def stop(self) -> None:
        """Stop the playback of a motion."""
        player, self.player = self.player, None
        if player is not None:
            player.pause()
            with self._lock:
                self._motion.remove()
                self.scene.ghosts(0)

    def _at(self, time: float) -> None:
        """Show the motion at a time, interpolated between samples."""
        k = int(np.clip(np.searchsorted(self._t, time, side="right") - 1, 0, max(len(self._t) - 2, 0)))
        last = min(k + 1, len(self._t) - 1)
        step = self._t[last] - self._t[k]
        s = min(max((time - self._t[k]) / step, 0.0), 1.0) if step > 0.0 else 0.0
        now = {name: (1.0 - s) * x[:, k] + s * x[:, last] for name, x in self._motions.items() if name != "q"}
        now["q"] = self.robot.interpolate(self._motions["q"][:, k], self._motions["q"][:, last], s)
        with self._lock, self.server.atomic():
            if self.player is None:
                return
            self.show(now["q"][0], *(now[name][0] if name in now else None for name in ("qd", "tau")))
            others = now["q"][1:1 + GHOSTS]
            self.scene.place_ghosts(np.where(np.isfinite(others).all(axis=1, keepdims=True), others, self.q))
            self._time.value = float(time)

    # --------------------------------------------------------------------------------------------- the panel
    def _stage(self) -> None:
        """Set floor, camera and light for the robot's size; up is opposite to gravity."""
        scene, size = self.server.scene, self.scene.size
        g = self.robot.gravity
        up = -g / np.linalg.norm(g) if g.any() else np.array([0.0, 0.0, 1.0])
        center = (self.scene.low + self.scene.high) / 2.0
        frame = arrays.pose_along(up, center)
        corners = np.array(np.meshgrid(*np.stack([self.scene.low, self.scene.high]).T)).reshape(3, -1)
        floor = center + up * ((up @ corners).min() - up @ center)
        section = 10.0 ** np.floor(np.log10(size))      # m
        scene.set_up_direction(tuple(up))
        scene.add_grid("/floor", infinite_grid=True, cell_size=section / 5.0, section_size=section,
                       cell_color=(222, 226, 231),
                       section_color=(196, 203, 211), fade_distance=12.0 * size, shadow_opacity=0.25, position=floor,
                       plane_color=(238, 241, 244), plane_opacity=1.0,
                       wxyz=np.roll(arrays.quaternion(frame[:3, :3]), 1))
        scene.add_frame("/root", axes_length=0.08 * size, axes_radius=0.004 * size)
        scene.configure_environment_map("studio", background=False, environment_intensity=0.25)
        # Front right view, because robots face x. The target is beside the robot: the panel covers the right side.
        front = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 0.0, 1.0])
        front = front - (front @ up) * up
        front /= np.linalg.norm(front)
        side = np.cross(up, front)
        towards = front - 0.75 * side + 0.45 * up
        distance = 0.52 * size / np.tan(FIELD_OF_VIEW / 2.0)
        camera = self.server.initial_camera
        camera.fov, camera.up = FIELD_OF_VIEW, tuple(up)
        right = np.cross(-towards, up)
        target = center + 0.17 * size * right / np.linalg.norm(right)
        camera.look_at, camera.position = target, target + distance * towards / np.linalg.norm(towards)

    def _panel(self) -> None:
        gui, model = self.server.gui, self.robot.model
        masses = sum(arrays.inertia(M).mass for M in (model.root_inertia, *model.inertias))
        with gui.add_folder("Robot"):
            self._status = gui.add_markdown(f"{len(self.robot.joint_names)} joints, {masses:.4g} kg")
            self._numbers = gui.add_markdown("")
            for note in self.notes[:3]:
                gui.add_markdown(f"*{note[:300]}*")
        self._boxes: dict[str, Any] = {}
        with gui.add_folder("Show"):
            for layer, label in LABELS.items():
                if layer == "collision" and not self.scene.shapes.collision:
                    continue
                self._checkbox(label, layer)
            transparent = gui.add_checkbox("see through", False)
            transparent.on_update(lambda event: self._change(self.scene.see_through, transparent.value))
        with gui.add_folder("Joints (rad or m)"):
            self._slid = [name for name, v_slice in model.v_slices.items() if model.q_indices[v_slice.start] >= 0]
            self._sliders = [self._slider(k) for k in range(len(self._slid))]
            if not self._live and self.robot.n:
                gui.add_button("reset").on_click(lambda event: self._reset())

    def _checkbox(self, label: str, layer: str) -> None:
        box = self.server.gui.add_checkbox(label, layer in ("visual", "screws"))
        box.on_update(lambda event: self._change(self.scene.show, layer, box.value))
        self._boxes[layer] = box

    def _change(self, change, *values) -> None:
        with self._lock, self.server.atomic():
            change(*values)

    def _slider(self, k: int) -> Any:
        """Return the slider of a joint, within its limits, or +-pi or +-1 m without limits.

        Lie-group joints have no slider."""
        model, name = self.robot.model, self._slid[k]
        q, velocity = float(self.q[model.q_slices[name].start]), model.v_slices[name].start
        reach = 1.0 if model.kind_of(name) == "prismatic" else np.pi
        low, high = (float(np.clip(x, -100.0, 100.0)) if np.isfinite(x) else sign * reach
                     for x, sign in ((model.lower[velocity], -1.0), (model.upper[velocity], 1.0)))
        low, high = min(low, q), max(high, q, low + 1e-6)
        slider = self.server.gui.add_slider(name, low, high, max((high - low) / 1000.0, 1e-7), q, disabled=self._live)
        slider.on_update(lambda event: self._slide(k, event))
        return slider

    def _slide(self, k: int, event: Any) -> None:
        if event.client is None:        # set by _tell, not by the user
            return
        if self.player is not None and self.player.runs:
            self.player.pause()
        q = self.q.copy()
        q[self.robot.q_slices[self._slid[k]]] = self._sliders[k].value
        self.show(q)

    def _reset(self) -> None:
        if self.player is not None:
            self.player.pause()
        self.show(home(self.robot.model))

    def _tell(self, qd: ArrayLike | None) -> None:
        """Update sliders and energies."""
        for slider, name in zip(self._sliders, self._slid, strict=True):
            slider.value = float(np.clip(self.q[self.robot.q_slices[name].start], slider.min, slider.max))
        potential = float(self.robot.potential_energy(self.q))
        if qd is None:
            self._numbers.content = f"potential energy {potential:.4g} J"
        else:
            kinetic = float(self.robot.kinetic_energy(self.q, qd))
            self._numbers.content = (f"energy {kinetic + potential:.4g} J: kinetic {kinetic:.4g} J, potential "
                                     f"{potential:.4g} J")

    def _motion_panel(self) -> None:
        gui, player = self.server.gui, self.player
        with gui.add_folder("Motion", order=-1.0) as self._motion:
            self._play = gui.add_button("pause")
            self._play.on_click(lambda event: player.pause() if player.runs else player.play())
            end = max(player.end, 1e-3)
            self._time = gui.add_slider("time (s)", 0.0, end, end / 1000.0, 0.0)
            self._time.on_update(lambda event: self._seek(player, event))
            speeds = sorted({0.1, 0.25, 0.5, 1.0, 2.0, 5.0, player.speed})
            speed = gui.add_dropdown("speed", tuple(f"{x:g} x" for x in speeds), initial_value=f"{player.speed:g} x")
            speed.on_update(lambda event: setattr(player, "speed", float(speed.value.split()[0])))
            loop = gui.add_checkbox("again and again", player.loop)
            loop.on_update(lambda event: setattr(player, "loop", loop.value))

    def _seek(self, player: Player, event: Any) -> None:
        if event.client is not None:
            player.pause()
            player.seek(self._time.value)

    def _show_playing(self, runs: bool) -> None:
        with self._lock:
            if self.player is not None:
                self._play.label = "pause" if runs else "play"


def view(robot: Any, t: Any = None, q: ArrayLike | None = None, *, urdf: str | None = None,
         host: str = "127.0.0.1", port: int = 8080, speed: float = 1.0) -> View:
    """Open a web page with a robot.

    Parameters
    ----------
    robot : Robot or Scene
        Robot. For a Scene, ``view(scene, motion)`` is ``scene.view(motion)``.
    t : array_like (samples,), optional
        Times of a motion to play, as ``rollout`` returns them.
    q : array_like (..., samples, nq) or (nq,), optional
        Positions of the motion. Without times, the positions (nq,) to show.
    urdf : str, optional
        Path or text of the URDF whose shapes are shown. By default the one from which the robot was read. Without a
        URDF, and for missing meshes, bodies are shown as inertia boxes.
    host : str, optional
        Address of the server. 127.0.0.1 accepts only this machine, 0.0.0.0 all.
    port : int, optional
        Port. The first free port from this one on is used.
    speed : float, optional
        Speed of the motion relative to real time.

    Returns
    -------
    View
        The page, served in the background. ``view(robot).wait()`` in a script serves it until Ctrl-C.

    Raises
    ------
    ImportError
        If viser, of the extra [view], is not installed.
    ValueError
        If robot is another object, such as a ClosedLoopRobot, or if times come without positions, or several positions
        without times.

    Warns
    -----
    UserWarning
        If shapes or meshes cannot be shown.
    """
    if hasattr(robot, "contact_model"):
        return robot.view(t, q=q, urdf=urdf, host=host, port=port, speed=speed)
    if not isinstance(robot, Robot):
        raise ValueError(f"robot must be a Robot or a Scene, not a {type(robot).__name__}; a ClosedLoopRobot shows its "
                         "tree: view(loops.robot, t, q)")
    if t is not None and q is None:
        raise ValueError(f"t {checks.described(t)} must be times (samples,) of positions q: view(robot, t, q) plays a "
                         "motion, view(robot, q=q) shows one configuration")
    start = None if q is None else checks.real_numbers("q", q, robot.nq)
    if start is not None and t is not None:
        start = start.reshape(-1, robot.nq)[0]
    elif start is not None and start.ndim > 1:
        raise ValueError(f"q has shape {start.shape}, but must be ({robot.nq},) without times: view(robot, t, q) plays "
                         "a motion")
    page = View(host, port)
    try:
        page.use(robot, urdf, start)
        if t is not None:
            page.play(t, q, speed=speed)
    except BaseException:
        page.close()
        raise
    if page.notes:
        warnings.warn(f"view: {'; '.join(page.notes)}"[:LONGEST_WARNING], stacklevel=2)
    print(f"view: {page.url}", flush=True)
    return page
