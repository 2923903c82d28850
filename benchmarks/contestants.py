"""Who takes part: the libraries, how they are installed, and who has reason not to."""
import importlib
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

OURS = "screw_dynamics"
FOLDER = Path("build") / "benchmarks"


class Library(NamedTuple):
    """A contestant: its module in benchmarks.peers, its package of the Python registry, whether it must be there."""

    name: str
    module: str
    package: str
    needed: bool


LIBRARIES = (
    Library(OURS, "ours", "screw_dynamics", True),
    Library("Pinocchio", "pinocchio", "pin", True),
    Library("MuJoCo", "mujoco", "mujoco", True),
    Library("Drake", "drake", "drake", False),
    Library("adam", "adam", "adam-robotics[casadi]", False),
    Library("PyBullet", "pybullet", "pybullet", False),
    Library("modern_robotics", "modern_robotics", "modern_robotics", False),
    Library("PyKDL", "pykdl", "PyKDL", False),
)


class Who(NamedTuple):
    """Who is timed: a library, a variant of its call, and where a measurement has several, the threads or joints."""

    library: str
    variant: str = ""
    threads: int | None = None
    joints: int | None = None

    def __str__(self):
        threads = self.threads and f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        settings = [self.variant, threads, self.joints and f"n={self.joints}"]
        return ", ".join(filter(None, [self.library, *settings]))


class Cannot(Exception):
    """A contestant cannot take part in a case; the message says why."""


class Contestants:
    """The libraries that are there, and `absent`, {who or what: why not}."""

    def __init__(self, may_install=True):
        self.modules, self.versions, self.absent = {}, {}, {}
        for library in LIBRARIES:
            try:
                if not library.needed:
                    install(library.package, may_install)
                self.modules[library.name] = importlib.import_module(f".peers.{library.module}", __package__)
                self.versions[library.name] = version(bare(library.package))
            except (Cannot, ImportError) as error:
                if library.needed:
                    raise
                self.absent[library.name] = str(error)

    def peers(self, case, names=None):
        """The Peer of each library, or of those named, for a case; who cannot is put down with the reason."""
        peers = {}
        for name, module in self.modules.items():
            if names is None or name in names:
                try:
                    peers[name] = module.Peer(case)
                except Cannot as reason:
                    self.absent[f"{name}, {case.name}"] = str(reason)
        return peers


def install(package, allowed):
    """Install a package, unless it is there, without a change to what is; Cannot says why not."""
    if installed(package):
        return
    if not allowed:
        raise Cannot("not installed")
    print(f"==> Installing {package} to compare with", flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    constraints = FOLDER / "constraints.txt"
    freeze = [*pip, "list", "--format=freeze", "--exclude-editable"]
    constraints.write_text(subprocess.run(freeze, capture_output=True, text=True, check=True).stdout)
    command = [*pip, "install", "--quiet", "--only-binary", ":all:", "--constraint", constraints, package]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
        reason = errors[-1].removeprefix("ERROR: ") if errors else done.stderr[-200:]
        raise Cannot(f"pip does not install it: {reason}")
    importlib.invalidate_caches()


def bare(package):
    """A package without its extras."""
    return package.partition("[")[0]


def installed(package):
    """Tell whether a package is there."""
    try:
        return bool(version(bare(package)))
    except PackageNotFoundError:
        return False
