"""Tasks of the command on a worker: read an episode and compute its row and table."""
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from screw_dynamics.robot import Robot

from .conversion import convert, episode_name
from .effort_residuals import residuals
from .episode import Episode
from .inspection import check
from .provenance import provenance
from .reading import read
from .recording import Recording


def residuals_of(episode: Episode, robot: Robot | None, options: Mapping[str, Any], window: float
                 ) -> tuple[dict[str, Any], Any]:
    """Return row and table of the residuals. robot: None for the robot described in the log."""
    recording = read(episode.address, **options)
    robot = robot or described_robot(recording)
    found = residuals(recording, robot, window=window)
    return found.row | provenance(robot), found.table


def check_of(episode: Episode, robot: Robot | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of the check. robot: None for the robot described in the log."""
    recording = read(episode.address, **options)
    robot = robot or described_robot(recording)
    return check(recording, robot).row | provenance(robot)


class Conversion(NamedTuple):
    """An episode and the path of its Parquet file."""

    episode: Episode
    target: str

    def __str__(self) -> str:
        return self.episode.address


def conversions(found: Sequence[Episode], folder: Path) -> list[Conversion]:
    """Return the Conversion of each episode to a file of its name; equal names are numbered."""
    seen: dict[str, int] = {}
    targets = []
    for episode in found:
        name = episode_name(episode.address)
        seen[name] = seen.get(name, 0) + 1
        targets.append(f"{name}.{seen[name]}" if seen[name] > 1 else name)
    return [Conversion(episode, str(folder / f"{name}.parquet")) for episode, name in zip(found, targets, strict=True)]


def convert_to(item: Conversion, options: Mapping[str, Any]) -> dict[str, Any]:
    """Convert an episode and return its row."""
    return {"file": convert(item.episode.address, item.target, **options)} | provenance(None)


def described_robot(recording: Recording) -> Robot:
    """Return the robot described in a recording. Raises ValueError if there is no description."""
    if not recording.description:
        raise ValueError(f"{recording.source} has no robot_description: name a URDF by --robot")
    return _of_text(recording.description)


@lru_cache(maxsize=4)
def _of_text(text):
    return Robot.from_urdf(text)
