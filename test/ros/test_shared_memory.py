"""What a killed process of Fast DDS leaves in shared memory is removed, and what a living one has is not."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.shared_memory import FOLDER, remove_what_was_left

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not FOLDER.is_dir(), reason="shared memory is elsewhere")]
NODE = "import rclpy; rclpy.init(); node = rclpy.create_node('some'); print('ready', flush=True); rclpy.spin(node)"


def segments(process):
    """The segments that a process has locked, and their locks; ports may be shared with other processes."""
    opened = {os.readlink(file) for file in Path("/proc", str(process.pid), "fd").iterdir()}
    locks = [Path(name) for name in opened if name.endswith("_el") and "fastdds_port" not in name]
    return [*locks, *(lock.with_name(lock.name[:-len("_el")]) for lock in locks)]


def test_files_of_the_dead_are_removed_and_those_of_the_living_stay():
    node = subprocess.Popen([sys.executable, "-c", NODE], stdout=subprocess.PIPE, text=True)
    assert node.stdout.readline() == "ready\n"
    own = segments(node)
    remove_what_was_left()
    assert own and all(file.exists() for file in own)
    node.kill()
    node.wait()
    assert remove_what_was_left() and not any(file.exists() for file in own)
