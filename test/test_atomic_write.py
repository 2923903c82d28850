"""Atomic writes: a file is complete or stays as it was, and what is no file is not replaced."""
import os
import socket
import stat
from contextlib import nullcontext

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.recordings.logs.parquet_file import write as write_parquet
from screw_dynamics.recordings.logs.recording import Recording
from screw_dynamics.rollout.plot import saved
from screw_dynamics.scene.file import SceneFile, write_scene
from screw_dynamics.utils.atomic_write import atomic_write, write_atomically
from support.disks import room_for
from support.paths import URDF

ARM = sd.Robot.from_urdf(URDF / "double_pendulum.urdf")
T, Q = np.linspace(0.0, 1.0, 5), np.zeros((5, 2))


def figure(path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    saved(pyplot, pyplot.figure(), path)


def recording(path):
    pytest.importorskip("pyarrow")
    write_parquet(Recording(ARM.joint_names, T, Q, Q, Q), path)


def scene(path):
    pytest.importorskip("yaml")
    write_scene(SceneFile(), path)


# Writers by the ending of what they write.
WRITERS = {
    "x.txt": lambda path: write_atomically(path, "text"), "x.urdf": ARM.to_urdf, "x.yaml": scene, "x.png": figure,
    "x.pdf": lambda path: ARM.plot(T, Q, path=path), "x.parquet": recording,
    "CMakeLists.txt": lambda path: ARM.export_c(path.parent, quantities=["gravity_torque"])}


def pipe(path):
    os.mkfifo(path)
    return os.fdopen(os.open(path, os.O_RDWR | os.O_NONBLOCK), "rb")       # or who opens it to write would wait


def of_unix(path):
    found = socket.socket(socket.AF_UNIX)
    found.bind(path.name)           # where we are, as an address has 107 characters at most
    return found


def link_to_a_device(path):
    path.symlink_to("/dev/null")
    return nullcontext()


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("make", [pipe, of_unix, link_to_a_device])
def test_what_is_no_file_is_not_replaced(name, make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    target = tmp_path / name
    with make(target):
        kind = stat.S_IFMT(target.stat().st_mode)
        with pytest.raises(FileExistsError, match=f"exists and is not a file: it is not replaced.*{name}"):
            WRITERS[name](target)
        assert stat.S_IFMT(target.stat().st_mode) == kind != stat.S_IFREG
        assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_replaced_and_keeps_its_mode(name, tmp_path):
    if name == "CMakeLists.txt":
        ARM.export_c(tmp_path, quantities=["gravity_torque"])
    target = tmp_path / name
    if not target.exists():
        target.write_bytes(b"x" * 100_000)
    target.chmod(0o640)
    WRITERS[name](target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640 and 0 < target.stat().st_size < 100_000
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_link_stays_one(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    for text in "new", "again":
        write_atomically(link, text)
        assert link.is_symlink() and target.read_text() == text


def test_a_file_is_whole_or_as_it_was(tmp_path):
    target = tmp_path / "table.parquet"
    for size, there in (10, b"x" * 10), (1000, b"x" * 10), (20, b"x" * 20):
        with room_for(100), nullcontext() if size < 100 else pytest.raises(OSError, match=r"table\.parquet"), \
                atomic_write(target) as new:
            new.write_bytes(b"x" * size)
        assert target.read_bytes() == there and list(tmp_path.iterdir()) == [target]


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="folder"):
        write_atomically(tmp_path / "folder", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_figure_without_an_ending_is_a_png(tmp_path):
    """As matplotlib has it."""
    figure(tmp_path / "picture")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
