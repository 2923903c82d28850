"""Disks without room, as the kernel has them."""
import resource
from contextlib import contextmanager


@contextmanager
def room_for(size):
    """This process can write no file of more bytes: the kernel refuses, as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
