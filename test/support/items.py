"""What tests have done to many items: functions that workers import."""
import os
import resource
import signal
import time
from pathlib import Path


def doubled(item, factor=2.0):
    """A row and a table."""
    return {"result": factor * item}, {"t": [0.0, 1.0], "x": [float(item), factor * item]}


def counted(item, folder, seconds=0.0):
    """Leaves a line in a file each time that it is computed to its end."""
    time.sleep(seconds)
    with Path(folder, "computed").open("a") as file:
        print(item, file=file)
    return {"result": item**2}


def refused(item):
    """Fails for odd items."""
    if item % 2:
        raise ValueError(f"{item} is odd")
    return {"result": item}


def of_kind(item):
    """An item that hangs, or kills its worker, or is harmless."""
    kind, number = item
    if kind == "sleeps":
        time.sleep(1e6)
    if kind == "spins":
        (10 ** 7) ** (10 ** 7)          # holds the interpreter's lock
    if kind == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"number": number}


def odd_row(item):
    """What is not a row, or has a column that is taken."""
    return {"text": "words", "taken": {"error": "mine"}, "object": {"x": object()}}[item]


def without_room(item):
    """After this item the process cannot write files of more than two bytes."""
    if item == 5:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    return {"result": item}
