"""SIGINT and SIGTERM request the end of a process, however often they arrive: it finishes its work, and exits with the
code for success. `ros2 launch` without a terminal sends two SIGINTs, a millisecond apart.

Imports no ROS."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import NoReturn

ENDING = signal.SIGINT, signal.SIGTERM


class Asked:
    """A handler of both signals, installed from its construction on: until `begun` a signal ends the process, which has
    nothing to finish; after `begun` it has no effect.

    Python's default, KeyboardInterrupt, is raised at an arbitrary line. In the constructor of a message that rclpy's
    C++ makes, it is replaced by a RuntimeError about an argument; while a file is being completed, the file is
    truncated. rclpy has handlers of its own, which shut it down and then call these."""

    def __init__(self):
        self._begun = False
        _take(self._on_signal)

    def begun(self) -> None:
        """Note that there is work to finish: from now on, the running code handles the signals in another way."""
        self._begun = True

    def finished(self) -> None:
        """Ignore both signals: only the end of the process is left."""
        _take(signal.SIG_IGN)

    def _on_signal(self, number, frame) -> None:
        if not self._begun:
            os._exit(0)


def interrupted_once() -> None:
    """Let the first signal raise KeyboardInterrupt in the main thread, and ignore later ones, so that `finally` blocks
    are completed."""
    def first(number, frame):
        _take(lambda number, frame: None)
        raise KeyboardInterrupt
    _take(first)


@contextlib.contextmanager
def put_off() -> Iterator[None]:
    """Delay a signal that arrives in the block until its end: a started process and the handler that ends it exist
    together."""
    if threading.current_thread() is not threading.main_thread():   # only the main thread gets signals
        yield
        return
    before, came = [signal.getsignal(number) for number in ENDING], []
    _take(lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in zip(ENDING, before, strict=True):
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)


def _take(handler: Callable | signal.Handlers) -> None:
    if threading.current_thread() is threading.main_thread():   # only the main thread can set handlers
        for number in ENDING:
            signal.signal(number, handler)


def end(code: int) -> NoReturn:
    """End the process at once, when its work is finished.

    It does not use sys.exit: while Python shuts down the interpreter, a signal kills the process, and a thread that
    returns from C++ code of rclpy or the compiler aborts it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:     # the reader has closed the stream
            pass
    os._exit(code)
