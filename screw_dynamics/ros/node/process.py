"""What a process of nodes is: rclpy from its start to the signal that ends it."""

import contextlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import rclpy
from rclpy.executors import ExternalShutdownException


@contextlib.contextmanager
def ros_process(args: Sequence[str] | None = None) -> Iterator[None]:
    """rclpy with the arguments of a command line, for a block that SIGINT or SIGTERM ends without an exception.

    Either signal shuts rclpy down, which its executors notice between two callbacks; what a callback cannot do any
    more then is no fault. A second SIGINT raises KeyboardInterrupt wherever the program is."""
    _take_the_first_interrupt()
    keep_logs()
    rclpy.init(args=args)   # its handlers shut down and call those that they find
    try:
        yield
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except Exception:
        if rclpy.ok():
            raise
    finally:
        rclpy.try_shutdown()


def keep_logs() -> None:
    """Have ROS keep its log files where that is possible: rclpy ends with a traceback where HOME is not set, or its
    folder cannot be written."""
    if not os.environ.get("HOME"):
        os.environ.pop("HOME", None)    # not a folder's name, and expanduser asks the system for it then
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


def _take_the_first_interrupt():
    """Have the first SIGINT raise nothing in Python.

    KeyboardInterrupt comes up in whatever line runs. If that is the constructor of a message which rclpy's C++ is
    making, it is lost, and a RuntimeError about an argument comes in its place."""
    if threading.current_thread() is not threading.main_thread():
        return   # where Python lets nobody set a handler, nor raises KeyboardInterrupt

    def first(number, frame):
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, first)
