"""Commands that run beside a test, with their output in files."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import LockstepError

TAIL = 20        # lines of output in a message
LONG = 300       # characters of a command line in a message
PATIENCE = 10.0  # seconds in which a process must end by itself
# Linux kills the process when its parent dies: a process left by a killed run must not use the next run's domain.
_UNTIL_PARENT_ENDS = [
    sys.executable, "-IS", "-c",
    "import ctypes, os, signal, sys; ctypes.CDLL(None).prctl(1, signal.SIGKILL)\n"
    "if os.getppid() != int(sys.argv[1]): sys.exit(1)\n"
    "try: os.execvp(sys.argv[2], sys.argv[2:])\n"
    "except OSError as error: sys.exit(f'{sys.argv[2]} does not start: {error}. A list has one command in each entry: '"
    "'a command is a string, or a list [program, argument] in this list')",
] if sys.platform == "linux" else []


def killed_with_parent(command: Sequence[str]) -> list[str]:
    """Return a command that, on Linux, the system kills when this process ends, also by SIGKILL."""
    return [*_UNTIL_PARENT_ENDS, str(os.getpid()), *command] if _UNTIL_PARENT_ENDS else [*command]


class Process:
    """A command as a process, with arguments appended. Its output is written to the file `log`."""

    def __init__(self, command: Sequence[str] | str, log: Path, arguments: Sequence[str] = ()):
        self.command = shlex.split(command) if isinstance(command, str) else [str(part) for part in command]
        self.command += arguments
        self.log = log
        with open(log, "wb") as output:
            self._process = subprocess.Popen(
                killed_with_parent(self.command), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"})

    def __str__(self) -> str:
        program, *arguments = self.command
        if "--ros-args" in arguments:
            arguments = arguments[:arguments.index("--ros-args")]
        text = shlex.join([Path(program).name, *arguments])
        return text if len(text) < LONG else f"{text[:LONG]}..."

    def tail(self) -> str:
        """Return the last lines of the output."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-TAIL:])

    def check(self) -> None:
        """Raise LockstepError if the process has ended."""
        code = self._process.poll()
        if code is not None:
            raise LockstepError(f"{self} has ended with exit code {code}:\n{self.tail()}")

    def interrupt(self) -> None:
        """Send SIGINT to the process, as Ctrl-C does."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """Wait until the process has ended, and kill it after PATIENCE."""
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
