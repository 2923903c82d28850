"""Runs tests of the core as an AArch64 program, emulated: one state, batches on lanes, rollouts; needs no root.

All of it lies in build/arm: the emulator and Python from Debian's packages, fetched by this machine's apt into folders
of its own, and wheels for AArch64 from the index that pip is configured for. What is there is not fetched again."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from build_backend import requirements
from packaging.requirements import Requirement
from progress import StepFailed, run

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "arm"
LOG = BUILD / "log"
SYSROOT, SITE = BUILD / "sysroot", BUILD / "site"
EMULATOR = "qemu-aarch64-static"
DEBIAN = "python3", "libstdc++6", "zlib1g"
# What the tests import beside the package's requirements; of the robots their files alone.
TESTING, FILES = ("pytest>=8", "mpmath", "pyyaml"), ("example-robot-data",)
SOURCES = "urdf-parser-py",             # pure Python, without a wheel
GLIBC = range(36, 16, -1)               # minor versions that wheels may be for, the best first
# Ten minutes: every kernel is compiled by an emulated compiler.
TESTS = [
    "test/numbers/test_lanes.py",
    "test/compiled/test_tiles.py",
    "test/algorithms/test_closed_form.py",
    "test/compiled/test_batch.py::test_leading_axes_broadcast",
    "test/compiled/test_batch.py::test_a_state_that_is_not_finite_spoils_no_other",
    *(f"test/rollout/test_rollout.py::test_a_state_moves_in_a_batch_as_alone[{robot}-{integrator}]"
      for robot in ("pendulum", "tree") for integrator in ("semi_implicit_euler", "rk4", "rk45")),
]


def say(text):
    """Print one line of what is going on."""
    print(f"==> {text}", flush=True)


def apt(architecture, *command):
    """Run apt-get with lists, a cache and a list of installed packages of its own, as nobody in particular."""
    state = BUILD / "apt" / architecture
    for folder in ("lists/partial", "cache/archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = {"APT::Architecture": architecture, "APT::Architectures": architecture, "APT::Sandbox::User": "root",
               "Dir::State::Lists": state / "lists", "Dir::State::status": state / "status",
               "Dir::Cache": state / "cache", "Debug::NoLocking": "true", "Acquire::Languages": "none"}
    run(["apt-get", *(part for name, value in options.items() for part in ("-o", f"{name}={value}")), *command],
        dict(os.environ), LOG)
    return sorted((state / "cache" / "archives").glob("*.deb"))


def unpacked(architecture, packages, folder, with_dependencies):
    """Unpack Debian's packages into a folder, unless they are there."""
    if folder.is_dir():
        return
    say(f"Fetching {', '.join(packages)} for {architecture} from Debian")
    apt(architecture, "update")
    # With no package installed, all that these depend on are fetched too.
    found = apt(architecture, "install", "-y", "--download-only", "--no-install-recommends", *packages)
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    for package in found:
        if with_dependencies or package.name.startswith(tuple(f"{name}_" for name in packages)):
            run(["dpkg-deb", "-x", package, partial], dict(os.environ), LOG)
    partial.rename(folder)


def emulator():
    """The emulator's path: the one that is installed, or one from Debian's package."""
    installed = shutil.which(EMULATOR)
    if installed:
        return Path(installed)
    architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout
    unpacked(architecture.strip(), ["qemu-user-static"], BUILD / "qemu", with_dependencies=False)
    return BUILD / "qemu" / "usr" / "bin" / EMULATOR


def emulated(emulator):
    """The beginning of a command line that runs AArch64's Python."""
    return [emulator, "-L", SYSROOT, SYSROOT / "usr" / "bin" / "python3"]


def install_wheels(python):
    """Have this machine's pip unpack what the tests import, for the other's Python."""
    there = {"platform_machine": "aarch64", "sys_platform": "linux", "extra": ""}
    needed = [Requirement(text) for text in requirements()]
    needed = [f"{r.name}{r.specifier}" for r in needed if r.marker is None or r.marker.evaluate(there)]
    mark, wanted = SITE / "wheels", " ".join([python, *needed, *TESTING, *FILES])
    if mark.is_file() and mark.read_text() == wanted:
        return
    say(f"Fetching wheels for AArch64 and Python {python}")
    shutil.rmtree(SITE, ignore_errors=True)
    platforms = [part for minor in GLIBC for part in ("--platform", f"manylinux_2_{minor}_aarch64")]
    foreign = ["--only-binary=:all:", "--python-version", python, *platforms, "--platform", "manylinux2014_aarch64"]
    pip = [sys.executable, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check", "--no-input",
           "--progress-bar", "off", "--target", SITE]
    binary = [text for text in needed if not text.startswith(SOURCES)]
    run([*pip, *foreign, *binary, *TESTING], dict(os.environ), LOG)
    run([*pip, *foreign, "--no-deps", *FILES], dict(os.environ), LOG)
    run([*pip, "--no-deps", *(text for text in needed if text.startswith(SOURCES))], dict(os.environ), LOG)
    mark.write_text(wanted)


def main():
    """Fetch what is missing and run the tests; the exit code is pytest's."""
    if platform.machine() == "aarch64":
        sys.exit("This is AArch64 itself: make test.")
    missing = [name for name in ("apt-get", "dpkg", "dpkg-deb") if shutil.which(name) is None]
    if missing:
        sys.exit(f"{', '.join(missing)} not found: the emulator and Python for AArch64 come from Debian's packages.")
    BUILD.mkdir(parents=True, exist_ok=True)
    try:
        command = emulated(emulator())
        unpacked("arm64", DEBIAN, SYSROOT, with_dependencies=True)
        version = [*command, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        install_wheels(subprocess.run(version, capture_output=True, text=True, check=True).stdout.strip())
    except StepFailed as failure:
        sys.exit(f"{failure}. Packages of Debian come from where apt is configured for, which must have them for arm64 "
                 f"too, and wheels from the index of pip. The whole output is in {LOG.relative_to(ROOT)}.")
    say("Running tests on an emulated AArch64, ten minutes or more")
    environment = {"PATH": os.defpath, "HOME": str(BUILD), "PYTHONPATH": f"{ROOT}:{SITE}", "OPENBLAS_NUM_THREADS": "1",
                   "PYTHONDONTWRITEBYTECODE": "1", "SCREW_DYNAMICS_CACHE_DIR": str(BUILD / "cache")}
    tests = sys.argv[1:] or TESTS
    command += ["-m", "pytest", "-p", "no:cacheprovider", *tests]
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment).returncode)


if __name__ == "__main__":
    main()
