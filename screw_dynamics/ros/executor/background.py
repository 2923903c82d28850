"""Work that takes longer than a callback should."""

import threading
from collections.abc import Callable
from typing import Any


async def in_background(future: Callable[[], Any], work: Callable[[], Any]) -> Any:
    """Run work() in a thread of its own; return its result or raise its exception. The executor goes on meanwhile.

    future(): one to await in a callback, whichever thread completes it."""
    done = future()

    def run():
        try:
            done.set_result((work(), None))
        except Exception as error:
            done.set_result((None, error))
    threading.Thread(target=run, daemon=True, name="background").start()
    result, error = await done
    if error is not None:
        raise error
    return result
