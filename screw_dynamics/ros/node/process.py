"""A process of nodes: rclpy from its start to the signal that ends it."""

import contextlib
import gc
import os
import sys
import tempfile
import threading
import traceback
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException
from rclpy.utilities import remove_ros_args

from ..signals import Asked


def arguments(program: str, description: str, args: Sequence[str] | None, **options: Mapping[str, Any]) -> Namespace:
    """Return the arguments of a node's command line, without those of ROS: `options` maps the name of each to arguments
    of add_argument. Ends the program for --help, and with a usage message for any other argument."""
    parser = ArgumentParser(program, description=description, allow_abbrev=False, epilog=(
        "Arguments of ROS follow --ros-args, such as `--ros-args -p urdf:=robot.urdf -r __ns:=/left`."))
    for name, given in options.items():
        parser.add_argument(f"--{name}", **given)
    found, rest = parser.parse_known_args(remove_ros_args(args)[1:])
    if rest:
        parser.error(f"not an argument of this node: {' '.join(rest)}. Parameters and remappings follow --ros-args, "
                     "such as --ros-args -p urdf:=robot.urdf")
    return found


@contextlib.contextmanager
def ros_process(args: Sequence[str] | None = None) -> Iterator[None]:
    """Return a context manager that runs rclpy with the arguments of a command line. SIGINT or SIGTERM ends the block
    without an exception.

    Either signal shuts rclpy down, which its executors notice between two callbacks; errors of callbacks after that are
    ignored. Further signals have no effect: the block finishes its work. Before the block, they end the process."""
    keep_logs()
    asked, context = Asked(), rclpy.get_default_context()
    # After the shutdown of rclpy, errors of threads and of half-made objects are ignored.
    threading.excepthook = lambda failed: threading.__excepthook__(failed) if lives(context) else None
    sys.unraisablehook = lambda failed: sys.__unraisablehook__(failed) if lives(context) else None
    rclpy.init(args=args)   # its handlers shut down and call those that were set before
    asked.begun()
    try:
        yield
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except Exception as error:
        if rclpy.ok():
            raise
        traceback.clear_frames(error.__traceback__)     # its frames may hold a node whose construction failed
    finally:
        rclpy.try_shutdown()
        gc.collect()        # such a node leaves the graph
        context.destroy()   # writes the rest of the log
        asked.finished()


def lives(context: Context) -> bool:
    """Return True if rclpy's context can be used. Its own ok() raises after the context is destroyed."""
    try:
        return context.ok()
    except InvalidHandle:
        return False


def keep_logs() -> None:
    """Make sure that ROS can write its log files: rclpy ends with a traceback if HOME is not set, or its folder cannot
    be written."""
    if not os.environ.get("HOME"):
        os.environ.pop("HOME", None)    # not a folder's name; without it, expanduser uses the system's entry
    chosen = os.environ.get("ROS_LOG_DIR")
    home = os.environ.get("ROS_HOME") or "~/.ros"
    try:
        folder = Path(chosen or f"{home}/log").expanduser()
        folder.mkdir(parents=True, exist_ok=True)
        usable = os.access(folder, os.W_OK | os.X_OK)
    except (OSError, RuntimeError):     # RuntimeError: a user without a home
        usable = False
    if not usable:
        folder = Path(tempfile.mkdtemp(prefix="ros_log_"))
        print(f"log files go to {folder}: {chosen or f'{home}/log'} cannot be written; ROS_LOG_DIR chooses another "
              "folder", file=sys.stderr)
    if not (usable and (chosen or os.environ.get("HOME"))):
        os.environ["ROS_LOG_DIR"] = str(folder)
