"""Plots and texts about the robots of a failed test."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from screw_dynamics.model.floating_base import RATES, coordinate_joints

from .recording import Recording, matrix


def draw(recording: Recording, robot: Any, path: Path) -> None:
    """Plot positions, velocities and efforts over time into a file. Raises ImportError without matplotlib."""
    joints = coordinate_joints(robot.model)
    q, qd, effort = (matrix(recording, field, joints) for field in ("position", "velocity", "effort"))
    if recording.odometry:
        samples = min(len(q), len(recording.odometry))
        answered = len(recording.wrenches) >= samples      # else efforts on the base are unknown at some samples
        wrench = recording.base_wrench[:samples] if answered else np.full((samples, RATES), np.nan)
        base = recording.base_pose[:samples], recording.base_twist[:samples], wrench
        q, qd, effort = (np.concatenate((x, y[:samples]), axis=1) for x, y in zip(base, (q, qd, effort), strict=True))
    robot.plot(recording.time[:len(q)], q, qd, effort, path=path)


def describe(simulators: Sequence[Any], folder: Path | None = None) -> tuple[list[Path], str]:
    """Return plots of the runs of RobotSimulators, and a text with their paths, states and the end of each log.

    folder: the folder for plots and logs, by default that of each simulator."""
    pictures, lines = [], []
    for k, simulator in enumerate(simulators):
        place = simulator.folder if folder is None else folder / f"robot_{k}"
        place.mkdir(parents=True, exist_ok=True)
        lines.append(f"robot {simulator.namespace or '/'}: {simulator.recording}")
        path = place / "run.png"
        try:
            draw(simulator.recording, simulator.robot, path)
            pictures.append(path)
            lines.append(f"picture: {path}")
        except Exception as error:   # the test's own failure must stay visible
            lines.append(f"no picture: {error}")
        for process in simulator.processes:
            if place != simulator.folder:
                shutil.copy(process.log, place)
            lines += [f"--- {place / process.log.name}: {process}", process.tail() or "(no output)"]
    return pictures, "\n".join(lines)
