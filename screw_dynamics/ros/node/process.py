"""What a process of nodes is: rclpy from its start to the signal that ends it."""

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence

import rclpy
from rclpy.executors import ExternalShutdownException


@contextlib.contextmanager
def ros_process(args: Sequence[str] | None = None) -> Iterator[None]:
    """rclpy with the arguments of a command line, for a block that SIGINT or SIGTERM ends without an exception.

    Either signal shuts rclpy down, which its executors notice between two callbacks; what a callback cannot do any
    more then is no fault. A second SIGINT raises KeyboardInterrupt wherever the program is."""
    _take_the_first_interrupt()
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


def _take_the_first_interrupt():
    """Have the first SIGINT raise nothing in Python.

    KeyboardInterrupt comes up in whatever line runs. If that is the constructor of a message which rclpy's C++ is
    making, it is lost, and a RuntimeError about an argument comes in its place."""
    if threading.current_thread() is not threading.main_thread():
        return   # where Python lets nobody set a handler, nor raises KeyboardInterrupt

    def first(number, frame):
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, first)
