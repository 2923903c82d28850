"""The clock of a motion's playback: time, speed, and a thread while it runs."""
import threading
import time
from collections.abc import Callable

FRAMES = 30.0   # frames per second


class Player:
    """A playback clock that calls show(time) while it runs, and once per seek.

    Times are 0 to `end`, in seconds of the motion. loop: restart at the end instead of stopping. Methods may be called
    from any thread."""

    def __init__(self, end: float, show: Callable[[float], None], changed: Callable[[bool], None] = lambda runs: None):
        self.end, self.time, self.speed, self.loop = end, 0.0, 1.0, True
        self._show, self._changed = show, changed
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def runs(self) -> bool:
        """True while the clock runs."""
        return self._thread is not None

    def play(self) -> None:
        """Start the clock; restart from 0 at the end."""
        with self._lock:
            if self._thread is None:
                self.time = 0.0 if self.time >= self.end else self.time
                self._stop = threading.Event()
                self._thread = threading.Thread(target=self._run, args=(self._stop,), daemon=True, name="player")
                self._thread.start()
        self._changed(True)

    def pause(self) -> None:
        """Stop the clock after the last frame was shown. The caller must not hold a lock that `show` waits for."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._stop.set()
        if thread not in (None, threading.current_thread()):
            thread.join()
        self._changed(False)

    def seek(self, time: float) -> None:
        """Set the time and show it."""
        self.time = min(max(time, 0.0), self.end)
        self._show(self.time)

    def advance(self, elapsed: float) -> bool:
        """Advance by `elapsed` seconds of real time; return False at the end."""
        time = self.time + elapsed * self.speed
        if time >= self.end and not self.loop:
            self.seek(self.end)
            return False
        self.seek(time % self.end if time >= self.end > 0.0 else time)
        return True

    def _run(self, stop):
        last = time.monotonic()
        while not stop.wait(1.0 / FRAMES):
            now = time.monotonic()
            if not self.advance(now - last):
                self.pause()
            last = now
