"""SIGINT and SIGTERM ask a process to end, however many of them come: it finishes what it has begun, and its exit code
is that of success. `ros2 launch` without a terminal sends two SIGINTs, a millisecond apart.

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
    """Takes both signals in Python from now on: until `begun` they end the process, which has nothing to finish, and
    after it do nothing.

    What Python does by default, KeyboardInterrupt, comes up in whatever line runs. If that is the constructor of a
    message which rclpy's C++ is making, it is lost, and a RuntimeError about an argument comes in its place; if it is
    the end of a file, the file is cut. rclpy has handlers of its own, which shut it down and then call these."""

    def __init__(self):
        self._begun = False
        _take(self._on_signal)

    def begun(self) -> None:
        """There is something to finish: whoever runs it sees the signals in another way."""
        self._begun = True

    def finished(self) -> None:
        """Nothing is left but the end of the process, which neither signal disturbs: the system ignores them."""
        _take(signal.SIG_IGN)

    def _on_signal(self, number, frame) -> None:
        if not self._begun:
            os._exit(0)


def interrupted_once() -> None:
    """Have the first signal raise KeyboardInterrupt in the main thread, and the others nothing: what a program does in
    its `finally` is done to the end."""
    def first(number, frame):
        _take(lambda number, frame: None)
        raise KeyboardInterrupt
    _take(first)


@contextlib.contextmanager
def put_off() -> Iterator[None]:
    """Have a signal that comes in the block do at its end what it would have done: a process that is started, and what
    is to end it, are there together."""
    if threading.current_thread() is not threading.main_thread():   # which alone gets signals
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
    if threading.current_thread() is threading.main_thread():   # elsewhere Python lets nobody set a handler
        for number in ENDING:
            signal.signal(number, handler)


def end(code: int) -> NoReturn:
    """End the process at once; what it had to finish is finished.

    Not by sys.exit: while Python takes down the interpreter a signal kills, and a thread that comes back from C++ then,
    of rclpy or of the compiler, aborts the process."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:     # nobody reads it any more
            pass
    os._exit(code)
