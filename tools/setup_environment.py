"""Sets up .venv: packages from the Python registry, and screw_dynamics_interfaces built from its .srv files.

EXTRA_INTERFACES in the environment, folders separated by colons, has interface packages of others that the registry
lacks (control_msgs, simulation_interfaces): they are built and installed alike.

ROS 2 and the interfaces only where the registry has ROS 2, on Linux on x86-64: elsewhere the core alone.
Called by the Makefile through tools/setup, with nothing but the standard library. Each step leaves a mark in
.venv/setup.json and runs again only when what it depends on has changed: the environment itself when it is broken or
its folder has moved, the packages when setup.py has, the interfaces when a .srv file or a ROS package has, the kernels,
which are compiled in parallel so that nobody waits for one after another, when a source has that they come from.
"""

import argparse
import fcntl
import hashlib
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from contextlib import contextmanager
from pathlib import Path

from progress import StepFailed, run, running

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STATE = VENV / "setup.json"
BUILD = ROOT / "build"
LOG = BUILD / "setup.log"
# In this folder, in a checkout; beside it, in the tree of a release.
INTERFACES = next(folder / "screw_dynamics_interfaces" for folder in (ROOT, ROOT.parent)
                  if folder == ROOT.parent or (folder / "screw_dynamics_interfaces").is_dir())
INTERFACES_CMAKE = ROOT / "tools" / "interfaces.cmake"
PACKAGE = ROOT / "screw_dynamics"
# What the nodes of the demo call; tests and benchmarks call everything.
DEMO_KERNELS = [
    "--single", "gravity", "external_torque", "coriolis", "inverse_dynamics.classical", "mass_matrix", "forward",
    "jacobian", "kinetic", "potential", "rollout.semi_implicit_euler", "acceleration", "wrenches on bodies",
    "body_poses", "driven.semi_implicit_euler", "driven.hybrid_dynamics", "joints.project",
    *(f"{name}, batches" for name in (
        "inverse_dynamics.classical", "mass_matrix", "forward_kinematics", "jacobian", "jacobian_derivative",
        "to lanes", "to rows"))]
PLAIN = ["plot"]    # for studies in plain NumPy, without nodes and kernels, which take minutes

# Of a sourced ROS installation, another environment or a user's pip settings: each would lead the build astray.
FOREIGN_VARIABLES = (
    "AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH LD_LIBRARY_PATH PYTHONHOME PYTHONPATH VIRTUAL_ENV "
    "PIP_PREFIX PIP_TARGET PIP_USER _ROS_WHEELS_BOOTSTRAP_COMPLETE"
).split()


class SetupError(Exception):
    """Something on this machine is missing; the message says what, and what to install."""


def say(text):
    """Print one line of what is going on."""
    print(f"==> {text}", flush=True)


def environment():
    """Environment variables for everything that is run here: those of the user, without the foreign ones."""
    clean = {name: value for name, value in os.environ.items() if name not in FOREIGN_VARIABLES}
    clean["PATH"] = os.pathsep.join([str(VENV / "bin"), clean.get("PATH", os.defpath)])
    clean["AMENT_PREFIX_PATH"] = str(VENV)
    return clean


# --- is this machine fit? ---------------------------------------------------------------------------------------------


def check_python():
    """Raise SetupError if the running interpreter cannot carry the environment."""
    if sys.version_info < (3, 10):
        raise SetupError("Python %d.%d is too old, 3.10 or newer is needed" % sys.version_info[:2])
    if platform.python_implementation() != "CPython":
        raise SetupError(f"{platform.python_implementation()} will not do, CPython 3.10 or newer is needed")
    version = "{}.{}".format(*sys.version_info)
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        raise SetupError(
            f"its module venv or ensurepip is missing (Debian, Ubuntu: apt install python{version}-venv)"
        ) from None
    headers = Path(sysconfig.get_path("include"))
    if has_ros_wheels() and not (headers / "Python.h").exists():
        raise SetupError(
            f"its C headers are missing, {headers}/Python.h "
            f"(Debian, Ubuntu: apt install python{version}-dev; Fedora: dnf install python3-devel)"
        )


def has_ros_wheels():
    """Tell whether the registry has ROS 2 for this machine; the requirements in setup.py are marked alike."""
    return (sys.platform, platform.machine()) == ("linux", "x86_64")


def no_ros():
    """Why there is no ROS 2 here, and what does run."""
    return (f"the ROS 2 packages of the Python registry are for Linux on x86-64, this is {sys.platform} on "
            f"{platform.machine()}: the library runs here, the nodes need a ROS 2 installation and colcon")


def check_compilers():
    """Raise SetupError if there is no compiler to build the interfaces."""
    if not has_ros_wheels():
        return
    for variable, language, names in (("CC", "C", ("cc", "gcc", "clang")), ("CXX", "C++", ("c++", "g++", "clang++"))):
        try:
            chosen = shlex.split(os.environ.get(variable, ""))
        except ValueError as error:
            raise SetupError(f"{variable}={os.environ[variable]} is not a command ({error})") from None
        if not any(map(shutil.which, chosen[:1] or names)):
            raise SetupError(
                f"no {language} compiler: {' '.join(chosen) or ', '.join(names)} not found "
                "(Debian, Ubuntu: apt install build-essential; Fedora: dnf install gcc gcc-c++)"
            )


# --- what has been done already? --------------------------------------------------------------------------------------


def read_state():
    """Return the marks of the steps done in .venv; empty if there are none."""
    try:
        return json.loads(STATE.read_text())
    except (OSError, ValueError):
        return {}


def mark(**done):
    """Remember that steps are done."""
    STATE.write_text(json.dumps({**read_state(), **done}, indent=2) + "\n")


def fingerprint(*paths, extra=""):
    """Return a hash of the names and contents of files and of all files below folders."""
    digest = hashlib.sha256(extra.encode())
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(f"{os.path.relpath(file, ROOT)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def venv_fault(chosen):
    """Return why .venv has to be made anew, or None. chosen: the user named the interpreter that runs this."""
    if not VENV.is_dir():
        return "there is none"
    try:
        probe = "import pip, sys; print(*sys.version_info[:3], sep='.'); print(sys.base_prefix)"
        version, base = subprocess.run(
            [PYTHON, "-c", probe], env=environment(), capture_output=True, text=True, check=True, timeout=60
        ).stdout.splitlines()
    except (OSError, subprocess.SubprocessError, ValueError):
        return "its Python or its pip does not run"
    if tuple(map(int, version.split("."))) < (3, 10):
        return f"its Python {version} is too old"
    if read_state().get("root", str(ROOT)) != str(ROOT) or not script_belongs_here():
        return "it was made in another folder"
    if chosen and (version, base) != (platform.python_version(), sys.base_prefix):
        return f"it has Python {version}, asked for is {platform.python_version()}"
    return None


def script_belongs_here():
    """Tell whether the scripts in .venv/bin start this .venv's interpreter, which they name by its absolute path."""
    scripts = list((VENV / "bin").glob("pip3*"))
    return bool(scripts) and all(str(VENV).encode() in script.read_bytes()[:400] for script in scripts)


# --- the steps --------------------------------------------------------------------------------------------------------


def make_venv(chosen):
    """Make .venv unless there is a sound one."""
    fault = venv_fault(chosen)
    if fault is None:
        return
    check_compilers()
    say(f"Creating .venv with Python {platform.python_version()} ({sys.executable}): {fault}")
    if VENV.is_symlink():
        VENV.unlink()
    shutil.rmtree(VENV, ignore_errors=True)
    run([sys.executable, "-m", "venv", "--prompt", ROOT.name, VENV], environment(), LOG)
    mark(root=str(ROOT))


def install_package():
    """Install this package in place, with what it needs at run time: all that kernels are compiled with."""
    extension = sorted((ROOT / PACKAGE.name).rglob("*.c"))
    key = fingerprint(ROOT / "setup.py", ROOT / "tools" / "build_backend.py", *extension)
    if read_state().get("packages") == key:
        return
    check_compilers()  # before the long download, not after it
    say("Installing the package")
    pip("pip>=25")  # that of Python 3.10 gets lost among the versions that could fit
    pip("--editable", ROOT)
    mark(packages=key, **({"extras": []} if "extras" in read_state() else {}))      # which may need others now


def install_extras(extras):
    """Install what these extras of the installed package need from the Python registry, as far as it is not there."""
    state = read_state()
    before = state.get("extras", [])
    if "dev" in before or set(extras) <= set(before):  # dev holds all others
        return
    extras = sorted({*before, *extras})
    size = "" if "extras" in state else ", a few hundred megabytes"
    say(f"Installing the Python packages of [{', '.join(extras)}]{size}")
    pip(f"{PACKAGE.name}[{','.join(extras)}]")
    mark(extras=extras)


def pip(*wanted):
    """Install packages."""
    # Bytecode is made when a module is first imported: of these packages most never are, and it takes a quarter.
    command = [PYTHON, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check", "--progress-bar", "off",
               "--no-input", "--prefer-binary", *wanted]
    try:
        run(command, environment(), LOG)
    except StepFailed as failure:
        raise SetupError(f"pip could not install the packages. {pip_hint(failure.output)}") from failure


def pip_hint(output):
    """Return what pip's output says about the cause of its failure, for someone who does not know pip."""
    offline = ("NewConnectionError", "Temporary failure in name resolution", "Connection refused", "ConnectTimeout",
               "Network is unreachable", "ProxyError", "Read timed out", "SSLError")
    if any(sign in output for sign in offline):
        return "There seems to be no network, or no way to the package index that pip is configured for"
    if "No space left on device" in output:
        return "The disk is full"
    if "No matching distribution found" in output:
        return (f"A package has no version for Python {platform.python_version()} on this machine; another interpreter "
                "may do: PYTHON=python3.12 make setup")
    return "Its output above says why"


def extra_interfaces():
    """Return the interface packages, folders with a package.xml, of the folders that EXTRA_INTERFACES names."""
    folders = [Path(part).expanduser() for part in os.environ.get("EXTRA_INTERFACES", "").split(os.pathsep) if part]
    for folder in folders:
        if not folder.is_dir():
            raise SetupError(f"EXTRA_INTERFACES names {folder}, which is not a folder")
    packages = [manifest.parent.resolve() for folder in folders for manifest in sorted(folder.rglob("package.xml"))]
    names = [INTERFACES.name, *(package.name for package in packages)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SetupError(f"EXTRA_INTERFACES has a package {twice[0]} that already exists")
    return packages


def build_interfaces(again):
    """Build screw_dynamics_interfaces, and the packages of EXTRA_INTERFACES, into .venv, where there is ROS 2."""
    if not has_ros_wheels():
        if again or read_state().get("interfaces") != "none":
            say(f"Leaving out the ROS 2 services: {no_ros()}")
            mark(interfaces="none")
        return
    installed = (path.name for path in VENV.glob("lib/python3*/site-packages/*.dist-info"))
    ros = sorted(name for name in installed if name.startswith(("ros_", "numpy-")))
    done = read_state().get("interfaces", {})
    done = dict(done) if isinstance(done, dict) else {}
    for package in [INTERFACES, *extra_interfaces()]:
        sources, before = fingerprint(package, INTERFACES_CMAKE), done.get(package.name)
        # More packages than there were, as of another extra, change nothing.
        kept = isinstance(before, dict) and before["sources"] == sources and set(before["packages"]) <= set(ros)
        if again or not kept:
            check_compilers()
            say(f"Building the ROS 2 interfaces of {package.name}")
            build_interface_package(package)
            done[package.name] = {"sources": sources, "packages": ros}
            mark(interfaces=done)


def build_interface_package(package):
    """Generate, compile and install one package of .msg, .srv and .action files into .venv."""
    build = BUILD / "interfaces" / package.name
    remove_installed(build / "install_manifest.txt")
    shutil.rmtree(build, ignore_errors=True)
    cmake = VENV / "bin" / "cmake"
    configure = [
        cmake, "-S", package, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF",
        f"-DCMAKE_PREFIX_PATH={VENV}", f"-DCMAKE_INSTALL_PREFIX={VENV}", f"-DPython3_EXECUTABLE={PYTHON}",
        f"-DCMAKE_PROJECT_INCLUDE={INTERFACES_CMAKE}",
    ]
    try:
        for command in (configure, [cmake, "--build", build], [cmake, "--install", build]):
            run(command, environment(), LOG)
    except StepFailed as failure:
        raise SetupError(
            f"the interfaces of {package.name} could not be built; the compiler's output above says why") from failure


@contextmanager
def compiling_kernels(extras):
    """Compile what is going to be called, into the user's cache, while the body of the with statement does something
    else; if it cannot be kept there, it is compiled at its first use."""
    sources = fingerprint(*sorted(PACKAGE.rglob("*.py")))
    names, key = (DEMO_KERNELS, f"{sources} {' '.join(DEMO_KERNELS)}") if extras == ["demo"] else ([], f"{sources} all")
    if read_state().get("kernels") in (key, f"{sources} all"):
        yield
        return
    say("Compiling the kernels")
    try:
        with running([PYTHON, "-m", "screw_dynamics.prepare", *names], environment(), LOG):
            yield
    except StepFailed:
        say("The kernels could not be compiled beforehand, and will be in each process")
    mark(kernels=key)


def remove_installed(manifest):
    """Remove what an earlier build has installed, so that a service that was renamed does not live on."""
    if manifest.is_file():
        for line in manifest.read_text().splitlines():
            if Path(line).is_relative_to(VENV):
                Path(line).unlink(missing_ok=True)


def set_up(extras, chosen, again):
    """Do the steps that are due, one process at a time."""
    started = time.monotonic()
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / "setup.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("Waiting for another set-up of this folder")
            fcntl.flock(lock, fcntl.LOCK_EX)
        before = read_state()
        make_venv(chosen)
        install_package()
        if extras == PLAIN and not again:
            install_extras(extras)
        else:
            with compiling_kernels(extras):     # pip waits for the network, compilers leave cores idle at their ends
                install_extras(["interfaces", *extras])
                build_interfaces(again)
        if read_state() != before:
            say(f"The environment is ready, after {time.monotonic() - started:.0f} s")


def main():
    """Parse the command line and run the set-up; faults end with one clear sentence and exit code 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*", help="groups of packages of setup.py, beside interfaces")
    parser.add_argument("--check", action="store_true", help="only tell whether this interpreter is fit")
    parser.add_argument("--chosen", action="store_true", help="the user chose this interpreter: .venv must have it")
    parser.add_argument("--rebuild-interfaces", action="store_true", help="build the services even if they are there")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Terminated."))  # ends the running step too
    try:
        check_python()
        if options.check:
            return
        if Path(sys.prefix) == VENV:  # called with .venv active, which may have to be deleted
            os.execv(sys._base_executable, [sys._base_executable, *sys.argv])
        if "demo" in options.extras and not has_ros_wheels():
            raise SetupError(f"the demo is of nodes, and {no_ros()}")
        set_up(options.extras, options.chosen, options.rebuild_interfaces)
    except SetupError as error:
        sys.exit(f"{error}." if not options.check else str(error))
    except StepFailed as failure:
        sys.exit(f"{failure}. The whole output is in {LOG.relative_to(ROOT)}.")
    except KeyboardInterrupt:
        sys.exit("\nInterrupted; the next run goes on from here.")


if __name__ == "__main__":
    main()
