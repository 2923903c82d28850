"""Runs a long command, keeps its output in a log, and shows that it lives."""

import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

HEARTBEAT = 10.0  # seconds between two lines where output is not a terminal


class StepFailed(Exception):
    """A command ended with an error; `output` is everything it printed."""

    def __init__(self, command, code, output):
        """Keep the output for whoever can read more out of it."""
        super().__init__(f"'{command}' failed with exit code {code}")
        self.output = output


def run(command, environment, log):
    """Run a command to its end, append its output to the file `log`, and print the end of it if it fails.

    Raises StepFailed if the command's exit code is not zero.
    """
    with running(command, environment, log):
        pass


@contextmanager
def running(command, environment, log):
    """Run a command while the body of the with statement does something else, then show and log it as `run` does.

    An error in the body ends the command.
    """
    command = [str(part) for part in command]
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # a group of its own, so that its children can be ended with it
    )
    lines, output = queue.Queue(), []
    threading.Thread(target=read, args=(process.stdout, lines), daemon=True).start()
    try:
        yield
        with open(log, "a") as file:
            file.write(f"\n$ {' '.join(command)}\n")
            for line in shown(lines_as_they_come(lines)):
                file.write(line)
                output.append(line)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    if process.wait() != 0:
        sys.stderr.writelines("    " + line for line in output[-30:])
        raise StepFailed(os.path.basename(command[0]), process.returncode, "".join(output))


def read(stream, lines):
    """Put the lines of a stream into a queue, and an empty one after the last."""
    for line in stream:
        lines.put(line)
    lines.put("")


def lines_as_they_come(lines):
    """Yield the lines of a queue up to the empty one, and None at least four times a second while there is none."""
    while True:
        try:
            line = lines.get(timeout=0.25)
        except queue.Empty:
            line = None
        if line == "":
            return
        yield line


def shown(lines):
    """Pass lines on, without the Nones, and show the latest with the time since the first.

    On a terminal as one line that changes; elsewhere (a build server) a new line after every HEARTBEAT.
    """
    started = time.monotonic()
    terminal = sys.stdout.isatty()
    latest, due = "", started + (0.0 if terminal else HEARTBEAT)
    for line in lines:
        if line is not None:
            latest = line.strip() or latest
            yield line
        now = time.monotonic()
        if now < due:
            continue
        text = f"    {now - started:4.0f} s  {latest}"[: shutil.get_terminal_size().columns - 1]
        print(f"\r\033[K{text}" if terminal else text, end="" if terminal else "\n", flush=True)
        due = now + (0.2 if terminal else HEARTBEAT)
    if terminal:
        print("\r\033[K", end="", flush=True)
