"""The clock of a motion that is played: its time, speed, and a thread while it runs."""
import threading
import time
from collections.abc import Callable

FRAMES = 30.0   # a second


class Player:
    """Calls show(time) while it runs, and once for each seek. Times go from 0 to `end`, in seconds of the motion.

    loop: begin again at the end, else stop there. Methods may be called from any thread."""

    def __init__(self, end: float, show: Callable[[float], None], changed: Callable[[bool], None] = lambda runs: None):
        self.end, self.time, self.speed, self.loop = end, 0.0, 1.0, True
        self._show, self._changed = show, changed
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def runs(self) -> bool:
        """Return True while time goes on."""
        return self._thread is not None

    def play(self) -> None:
        """Run, from the beginning again if it is at the end."""
        with self._lock:
            if self._thread is None:
                self.time = 0.0 if self.time >= self.end else self.time
                self._stop = threading.Event()
                self._thread = threading.Thread(target=self._run, args=(self._stop,), daemon=True, name="player")
                self._thread.start()
        self._changed(True)

    def pause(self) -> None:
        """Stand still; the last frame has been shown then. Not to be called with a lock that `show` waits for."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._stop.set()
        if thread not in (None, threading.current_thread()):
            thread.join()
        self._changed(False)

    def seek(self, time: float) -> None:
        """Go to a time."""
        self.time = min(max(time, 0.0), self.end)
        self._show(self.time)

    def advance(self, elapsed: float) -> bool:
        """Let so many seconds of real time pass; False when the end is reached."""
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
