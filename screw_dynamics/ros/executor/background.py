"""Work that takes too long for a callback."""

import threading
from collections.abc import Callable
from typing import Any


async def in_background(future: Callable[[], Any], work: Callable[[], Any]) -> Any:
    """Run work() in a thread of its own. Return its result or raise its exception. The executor keeps running.

    future(): creates a future that a callback can await and that any thread can complete."""
    result, error = await begun(future, work)
    if error is not None:
        raise error
    return result


def begun(future: Callable[[], Any], work: Callable[[], Any]) -> Any:
    """Run work() as in_background does; return the future, which callbacks can await, of its result and exception."""
    done = future()

    def run():
        try:
            done.set_result((work(), None))
        except Exception as error:
            done.set_result((None, error))
    threading.Thread(target=run, daemon=True, name="background").start()
    return done
