"""Builds the wheels of a release: for each Python that is here, with kernels for every level of processors.

Called by `make wheels`, with nothing but the standard library and git; pip needs the index that it is configured for.
Each wheel is built from the tracked files alone, in an environment of its own, held against a budget of size, installed
into a fresh environment without a compiler, and called: nothing may be compiled there, and the numbers of every level
must be those of plain Python. Kernels that an earlier run compiled from the same sources are taken again."""

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import release
from progress import StepFailed, run

ROOT = release.ROOT
BUILD = ROOT / "build" / "wheels"
LOG = BUILD / "log"
VERSIONS = "3.10", "3.11", "3.12", "3.13", "3.14"
LEVELS = {"x86_64": ("x86-64-v3", "x86-64-v4"), "aarch64": ("generic",)}    # of jit/kernel_cache/levels.py
# Bytes of a wheel, and of what it is installed as: two fifths more than they have now.
BUDGET, BUDGET_INSTALLED = 20_000_000, 50_000_000
TOLERANCE = 1e-9        # of the largest number of a result, between levels and plain Python
IN_PLAIN_PYTHON = "arm", "mimic", "floating mimic", "groups"       # robots whose calls take a minute there
CODE = "machine_code"


class WheelError(Exception):
    """A wheel that must not be released; the message says why."""


def say(text):
    """Print one line of what is going on."""
    print(f"==> {text}", flush=True)


def interpreter(version):
    """The path of a Python of this version that can make environments; None if there is none: on the path, or among
    those of pyenv, whose names on the path run only where they are chosen."""
    name = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    for found in [shutil.which(name), *sorted(pyenv.glob(f"{version}.*/bin/{name}"), reverse=True)]:
        probe = "import ensurepip, sys, venv; print('{}.{}'.format(*sys.version_info))"
        if found and subprocess.run([found, "-c", probe], capture_output=True, text=True).stdout.strip() == version:
            return Path(found)
    return None


def clean(**more):
    """The variables of this process without what would lead a build or a trial astray."""
    foreign = "PYTHON", "NUMBA_", "SCREW_DYNAMICS_", "PIP_TARGET", "PIP_PREFIX", "VIRTUAL_ENV"
    return {name: text for name, text in os.environ.items() if not name.startswith(foreign)} | more


def copy_sources(folder):
    """Write the tracked files of the package into a folder, and remove all else but kernels compiled before, of which
    setup.py takes those that fit."""
    kept = [path for path in folder.glob(f"build/lib*/{release.NAME}/{CODE}") if path.is_dir()]
    aside = [path.rename(folder.parent / f"kept_{path.parents[1].name}") for path in kept]
    shutil.rmtree(folder, ignore_errors=True)
    release.put(release.packages()[release.NAME], folder)
    for before, now in zip(kept, aside, strict=True):
        before.parent.mkdir(parents=True)
        now.rename(before)


def environment_at(folder, python):
    """A fresh environment; its interpreter."""
    run([python, "-m", "venv", "--clear", folder], clean(), LOG)
    return folder / "bin" / "python"


def build(python, version, levels, jobs):
    """Build a wheel for a Python; its path. pip is verbose, or it hides how many kernels there are by now."""
    made = environment_at(BUILD / f"build_{version}", python)
    out = BUILD / f"out_{version}"
    shutil.rmtree(out, ignore_errors=True)
    run([made, "-m", "pip", "wheel", "--verbose", "--no-deps", "--wheel-dir", out, BUILD / "source"],
        clean(SCREW_DYNAMICS_TARGETS=" ".join(levels), SCREW_DYNAMICS_PARTS="all", SCREW_DYNAMICS_JOBS=str(jobs)), LOG)
    wheel, = out.iterdir()
    shutil.rmtree(made.parents[1])
    return Path(shutil.move(wheel, BUILD / wheel.name))


def sizes(wheel):
    """Bytes of a wheel, of what it is installed as, and how many kernels it has; WheelError beyond the budget."""
    with zipfile.ZipFile(wheel) as archive:
        files = archive.infolist()
    found = wheel.stat().st_size, sum(file.file_size for file in files)
    for what, is_, most in zip(("", ", installed,"), found, (BUDGET, BUDGET_INSTALLED), strict=True):
        if is_ > most:
            raise WheelError(f"{wheel.name}{what} has {is_ / 1e6:.0f} MB, of a budget of {most / 1e6:.0f} MB")
    return *found, sum(f"/{CODE}/" in file.filename for file in files)


def check_kernels(python, levels, environment):
    """WheelError unless an installed wheel has all kernels of all levels."""
    for level in levels:
        command = [python, "-m", "screw_dynamics.prepare", "--parts", "all", "--list"]
        listed = subprocess.run(command, cwd=BUILD, text=True,
                                env={**environment, "NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""},
                                capture_output=True, check=True).stdout.splitlines()
        missing = [line[2:] for line in listed if not line.startswith("+ ")]
        if missing or not listed:
            raise WheelError(f"{len(missing)} of {len(listed)} kernels for {level} are missing: {missing[:5]}")


def calls(python, name, environment, robots=()):
    """What installed_calls.py prints, under these variables, of all or of some robots; its results are in
    BUILD/name.npz."""
    command = [python, ROOT / "tools" / "installed_calls.py", ROOT / "urdf", BUILD / f"{name}.npz", *robots]
    done = subprocess.run(command, cwd=BUILD, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise WheelError(f"calls of {name} fail: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


DIFFERENCE = '''
import sys, numpy as np

def apart(a, b):
    """The largest difference, of the largest number that is finite; infinite where one alone is, or is no number."""
    assert a.shape == b.shape, "results of other shapes"
    same = (a == b) | np.isnan(a) & np.isnan(b)
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.nan_to_num(np.abs(a - b), nan=np.inf, posinf=np.inf))
    return difference.max(initial=0.0) / np.abs(a[np.isfinite(a)]).max(initial=1.0)

one, other = map(np.load, sys.argv[1:])
assert len(one.files) > 400 and set(one.files) <= set(other.files), "results of other calls"
print(*max((apart(one[name], other[name]), name) for name in one.files))
'''


def try_wheel(wheel, python, version, levels):
    """Install a wheel into a fresh environment and call everything, with nothing to compile by; a line of what was
    seen, WheelError for what must not be."""
    fresh = environment_at(BUILD / f"try_{version}", python)
    home = BUILD / f"home_{version}"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    no_compiler = {"PATH": str(fresh.parent), "CC": "false", "CXX": "false"}
    run([fresh, "-m", "pip", "install", wheel], clean(**no_compiler), LOG)
    bare = {**no_compiler, "HOME": str(home), "SCREW_DYNAMICS_CACHE_DIR": str(home / "kernels")}
    check_kernels(fresh, levels, bare)
    forms = {"here": {}, levels[0]: {"NUMBA_CPU_NAME": levels[0], "NUMBA_CPU_FEATURES": ""}}
    seen = []
    for name, variables in forms.items():
        started, told = time.monotonic(), calls(fresh, f"{version}_{name}", {**bare, **variables})
        if not Path(told["package"]).is_relative_to(fresh.parents[1]):
            raise WheelError(f"{told['package']} was called, which is not the wheel's")
        if told["compiled"] or list(home.glob("kernels/*")):
            raise WheelError(f"with the kernels for {name} these were compiled: {', '.join(told['compiled'])}")
        seen.append(f"{name}: {told['calls']} calls compiled nothing, {time.monotonic() - started:.0f} s")
    calls(fresh, f"{version}_plain", {**bare, "NUMBA_DISABLE_JIT": "1"}, IN_PLAIN_PYTHON)
    for pair in (levels[0], "here"), ("plain", "here"), ("plain", levels[0]):
        files = [BUILD / f"{version}_{name}.npz" for name in pair]
        worst, _, call = subprocess.run([fresh, "-c", DIFFERENCE, *files], capture_output=True, text=True,
                                        check=True).stdout.strip().partition(" ")
        if not float(worst) <= TOLERANCE:
            raise WheelError(f"{' and '.join(pair)} differ by {worst}, in {call}")
        seen.append(f"{' and '.join(pair)} differ by {float(worst):.1e}")
    shutil.rmtree(fresh.parents[1])
    return "; ".join(seen)


def write_sums(folder):
    """Write SHA256SUMS of the wheels in a folder, as `sha256sum --check` reads it; its path."""
    lines = [f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {wheel.name}\n"
             for wheel in sorted(folder.glob("*.whl"))]
    (folder / "SHA256SUMS").write_text("".join(lines))
    return folder / "SHA256SUMS"


def options_of(arguments):
    """The command line."""
    parser = argparse.ArgumentParser(prog="wheels", description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs="*", metavar="version", help=f"of Python; by default {' '.join(VERSIONS)}")
    parser.add_argument("--levels", nargs="+", metavar="level", choices=LEVELS.get(platform.machine()),
                        help="of processors, for a trial of a build; a release has all of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many processes compile")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs} must be >= 1")
    return options


def main(arguments=None):
    """Build what can be built; 0, or 1 if a wheel that was asked for by name, or any at all, is not there."""
    options = options_of(arguments)
    levels = LEVELS.get(platform.machine())
    if levels and options.levels:
        levels = [level for level in levels if level in options.levels]
    if sys.platform != "linux" or not levels:
        print(f"make wheels: no levels of processors are known for {sys.platform} on {platform.machine()}; they are "
              f"for Linux on {' and '.join(LEVELS)}", file=sys.stderr)
        return 1
    BUILD.mkdir(parents=True, exist_ok=True)
    pythons = {version: interpreter(version) for version in options.versions or VERSIONS}
    missing = [version for version, python in pythons.items() if python is None]
    for version in missing:
        say(f"No wheel for Python {version}: there is no python{version} here, with ensurepip and venv")
    failed = []
    try:
        changed = release.git("status", "--porcelain", "--untracked-files=no").splitlines()
        if changed:
            say(f"{len(changed)} files differ from the last commit")
        copy_sources(BUILD / "source")
        for version in [version for version in pythons if version not in missing]:
            try:
                one_wheel(pythons[version], version, levels, options.jobs)
            except (StepFailed, WheelError, subprocess.CalledProcessError) as failure:
                failed.append(version)
                say(f"No wheel for Python {version}: {failure}. The whole output is in {LOG.relative_to(ROOT)}")
    except (release.ReleaseError, ValueError, OSError) as error:
        print(f"make wheels: {error}", file=sys.stderr)
        return 1
    say(f"Kernels for {' '.join(levels)}; wheels for other processors are built on a machine that has one of them")
    print(write_sums(BUILD))
    return 1 if failed or missing == list(pythons) or missing and options.versions else 0


def one_wheel(python, version, levels, jobs):
    """Build a wheel, check it, try it, and say what it is."""
    say(f"Building a wheel for Python {version}, with kernels for {' and '.join(levels)}")
    for old in BUILD.glob(f"*-cp{version.replace('.', '')}-*.whl"):
        old.unlink()
    started = time.monotonic()
    wheel = build(python, version, levels, jobs)
    took = time.monotonic() - started
    try:
        size, installed, kernels = sizes(wheel)
        say(f"{wheel.name}: {size / 1e6:.1f} MB, installed {installed / 1e6:.0f} MB, {kernels} kernels, {took:.0f} s")
        say(try_wheel(wheel, python, version, levels))
    except BaseException:
        wheel.unlink()
        raise


if __name__ == "__main__":
    sys.exit(main())
