"""A DDS domain for each process, so that robots of several test runs or workers do not communicate."""

import fcntl
import os
import tempfile
from pathlib import Path

DOMAINS = range(1, 51)   # 0 is the default, the demo has 51 to 100, and later ports are Linux's ephemeral ones
DISCOVERY = Path(__file__).with_name("discovery.xml")
_claimed: dict[str, int] = {}


def isolate() -> int:
    """Give this process and its child processes a DDS domain of their own.

    Returns
    -------
    int
        Id of the domain. No other process of this user on this machine has claimed it by this function.

    Raises
    ------
    RuntimeError
        If all domains are taken.

    Notes
    -----
    It must be called before rclpy is initialized, and may be called repeatedly. It sets ROS_DOMAIN_ID, and restricts
    discovery to this machine. A program that runs several robots at once, such as the workers of a campaign, calls it
    in each process. The fixtures of the pytest plugin do so.
    """
    if _claimed.get("process") != os.getpid():      # a fork inherits its parent's claim
        domain, lock = claim_domain()
        _claimed.update(process=os.getpid(), domain=domain, lock=lock)
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        if "FASTRTPS_DEFAULT_PROFILES_FILE" not in os.environ:   # the variable's name in older versions
            os.environ.setdefault("FASTDDS_DEFAULT_PROFILES_FILE", str(DISCOVERY))
    return _claimed["domain"]


def claim_domain() -> tuple[int, int]:
    """Return a DDS domain id that no other test run of this user on this machine has, and the descriptor of the open
    file whose lock reserves the id."""
    for shift in DOMAINS:
        domain = DOMAINS[(os.getpid() + shift) % len(DOMAINS)]
        path = Path(tempfile.gettempdir()) / f"screw_dynamics_{os.getuid()}_domain_{domain}"
        lock = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return domain, lock
        except OSError:
            os.close(lock)
    raise RuntimeError(f"test runs on this machine use all {len(DOMAINS)} DDS domains")
