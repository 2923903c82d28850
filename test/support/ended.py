"""Wait for the end of processes that a test has not started itself."""
import time
from pathlib import Path


def wait_until_ended(pid: int) -> None:
    """Return when a process has ended; what hangs fails by the limit of pytest-timeout. A zombie has ended: it has no
    command line."""
    command_line = Path(f"/proc/{pid}/cmdline")
    while command_line.exists() and command_line.read_bytes():
        time.sleep(0.01)
