"""examples/demo.py, as make demo runs it: what it shows, and what it says of a robot that has nothing to show."""

import subprocess
import sys

import pytest

from support.graph import PATIENCE
from support.paths import ROOT


def demo(*arguments, timeout=PATIENCE):
    """The finished process of the demo."""
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot name='r'><link name='base'></robot>", "line 1"),
        ("<robot name='r'><link name='base'/></robot>", "no movable joint"),
        (None, "does not exist"),
    ],
)
def test_bad_urdf_ends_it_with_one_line_that_names_the_fault(tmp_path, text, message):
    path = tmp_path / "robot.urdf"
    if text is not None:
        path.write_text(text)
    ended = demo(path)
    assert ended.returncode == 1
    assert ended.stderr.strip().startswith("demo: ") and message in ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("robot", [None, ROOT / "urdf" / "double_pendulum.urdf"])
def test_robot_falls_is_held_and_falls_again(tmp_path, robot):
    picture = tmp_path / "demo.png"
    ended = demo(*([robot] if robot else []), "--picture", picture)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for line in ("it fell from", "came to rest", "it floats", "fell again", "ended cleanly", "get_jacobian"):
        assert line in ended.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
