"""`make wheels`: which Pythons it finds, what it refuses, and that a wheel compiles nothing and computes the same."""
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numba import config, njit
from numba.core import event

import screw_dynamics as sd
from screw_dynamics import prepare
from screw_dynamics.jit.kernel_cache.levels import LEVELS
from support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import installed_calls  # noqa: E402
import wheels  # noqa: E402


@pytest.fixture
def build(tmp_path, monkeypatch):
    """A folder to build in, and nothing that really builds."""
    monkeypatch.setattr(wheels, "BUILD", tmp_path / "build")
    monkeypatch.setattr(wheels, "copy_sources", lambda folder: None)
    monkeypatch.setattr(wheels.release, "git", lambda *arguments: "")
    return tmp_path / "build"


def python_at(path, version):
    """A file that answers as a Python of this version does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return path


def wheel_of(folder, version="3.11", kernels=2):
    """A file that looks like a wheel."""
    tag = f"cp{version.replace('.', '')}"
    path = folder / f"screw_dynamics-0.2.0-{tag}-{tag}-manylinux_2_27_x86_64.whl"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("screw_dynamics/__init__.py", "")
        for k in range(kernels):
            archive.writestr(f"screw_dynamics/machine_code/{k}.kernel.so", bytes(100))
    return path


def test_pythons_are_found_on_the_path_and_among_those_of_pyenv(tmp_path, monkeypatch):
    """A name on the path that stands for a Python that is not chosen does not run: a shim of pyenv."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/bin:/usr/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    on_path = python_at(tmp_path / "bin" / "python3.77", "3.77")
    shim = python_at(tmp_path / "bin" / "python3.78", "")
    shim.write_text("#!/bin/sh\nexit 127\n")
    older = python_at(tmp_path / "pyenv" / "versions" / "3.78.1" / "bin" / "python3.78", "3.78")
    newer = python_at(tmp_path / "pyenv" / "versions" / "3.78.2" / "bin" / "python3.78", "3.78")
    python_at(tmp_path / "pyenv" / "versions" / "3.79.1" / "bin" / "python3.79", "3.1")
    assert [wheels.interpreter(version) for version in ("3.77", "3.78", "3.79", "3.80")] == [on_path, newer, None, None]
    newer.unlink()
    assert wheels.interpreter("3.78") == older


def test_a_missing_python_is_said_and_the_others_are_built(build, monkeypatch, capsys):
    monkeypatch.setattr(wheels, "interpreter", lambda version: None if version == "3.14" else Path(sys.executable))
    monkeypatch.setattr(wheels, "one_wheel", lambda python, version, levels, jobs: wheel_of(build, version))
    assert wheels.main([]) == 0
    told = capsys.readouterr().out
    assert "No wheel for Python 3.14: there is no python3.14 here" in told
    sums = (build / "SHA256SUMS").read_text().splitlines()
    assert len(sums) == 4 and all(
        digest == hashlib.sha256((build / name).read_bytes()).hexdigest() for digest, name in map(str.split, sums))
    assert subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=build, capture_output=True).returncode == 0
    assert wheels.main(["3.11", "3.14"]) == 1       # by name: it must be there
    monkeypatch.setattr(wheels, "interpreter", lambda version: None)
    assert wheels.main([]) == 1


def test_a_wheel_that_fails_is_said_and_the_others_are_built(build, monkeypatch, capsys):
    def one_wheel(python, version, levels, jobs):
        if version == "3.12":
            raise wheels.WheelError("it compiles")
        wheel_of(build, version)
    monkeypatch.setattr(wheels, "interpreter", lambda version: Path(sys.executable))
    monkeypatch.setattr(wheels, "one_wheel", one_wheel)
    monkeypatch.setattr(wheels, "LOG", ROOT / "build" / "wheels" / "log")
    assert wheels.main(["3.11", "3.12"]) == 1
    assert "No wheel for Python 3.12: it compiles. The whole output is in build/wheels/log" in capsys.readouterr().out
    assert [path.name[21:26] for path in build.glob("*.whl")] == ["cp311"]


def test_other_machines_are_refused(build, monkeypatch, capsys):
    monkeypatch.setattr(wheels.platform, "machine", lambda: "riscv64")
    assert wheels.main([]) == 1 and not build.exists()
    assert "no levels of processors are known for linux on riscv64" in capsys.readouterr().err


@pytest.mark.parametrize("wrong, said", [
    (("--levels", "x86-64-v3", "x86-64-v5"), "invalid choice: 'x86-64-v5'"),
    (("--jobs", "0"), "--jobs 0 must be >= 1")])
def test_wrong_options_are_refused(build, monkeypatch, capsys, wrong, said):
    monkeypatch.setattr(wheels.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(wheels, "interpreter", lambda version: None)
    with pytest.raises(SystemExit, match="2"):
        wheels.main(["3.11", *wrong])
    assert said in capsys.readouterr().err
    if wrong[0] == "--jobs":
        with pytest.raises(SystemExit, match="2"):
            prepare.main([*wrong])
        assert said in capsys.readouterr().err


def test_the_levels_are_those_that_the_package_loads():
    assert {machine: set(levels) for machine, levels in wheels.LEVELS.items()} == {
        machine: set(levels) for machine, levels in LEVELS.items()}
    # The first one is what everything for that machine runs.
    assert all(min(LEVELS[machine], key=lambda level: len(LEVELS[machine][level])) == levels[0]
               for machine, levels in wheels.LEVELS.items())


@pytest.mark.parametrize("name, value, says", [("BUDGET", 100, "whl has 0 MB, of a budget"),
                                               ("BUDGET_INSTALLED", 150, "whl, installed, has 0 MB, of a budget")])
def test_a_wheel_beyond_the_budget_is_refused(tmp_path, monkeypatch, name, value, says):
    wheel = wheel_of(tmp_path)
    assert wheels.sizes(wheel) == (wheel.stat().st_size, 200, 2)
    monkeypatch.setattr(wheels, name, value)
    with pytest.raises(wheels.WheelError, match=says):
        wheels.sizes(wheel)


def test_a_wheel_fits_an_index():
    assert wheels.BUDGET < 100e6


@pytest.mark.slow
def test_missing_kernels_are_named(tmp_path, monkeypatch):
    """`prepare --list` of a wheel with nothing in it."""
    monkeypatch.setattr(wheels, "BUILD", tmp_path)
    path = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "SCREW_DYNAMICS_CACHE_DIR": str(tmp_path / "none")}
    with pytest.raises(wheels.WheelError, match=rf"^(\d+) of \1 kernels for {wheels.LEVELS['x86_64'][1]} are missing: "
                                                r"\['rollout.semi_implicit_euler', "):
        wheels.check_kernels(sys.executable, wheels.LEVELS["x86_64"][1:], path)


def test_sources_are_copied_anew_and_kernels_stay(tmp_path):
    folder = tmp_path / "source"
    kernel = folder / "build" / "lib.linux" / "screw_dynamics" / "machine_code" / "a.kernel.so"
    kernel.parent.mkdir(parents=True)
    kernel.write_text("code")
    (folder / "screw_dynamics").mkdir()
    (folder / "screw_dynamics" / "gone.py").touch()
    (kernel.parents[1] / "gone.py").touch()
    wheels.copy_sources(folder)
    assert kernel.read_text() == "code" and not list(folder.rglob("gone.py"))
    copied, original = (place / "screw_dynamics" / "prepare.py" for place in (folder, ROOT))
    assert copied.read_bytes() == original.read_bytes()
    assert (folder / "CHANGELOG.rst").is_file() and not (folder / ".git").exists()


@pytest.mark.slow
def test_every_method_of_a_robot_is_called_on_an_arm(tmp_path):
    """In plain Python: what is called where a wheel is installed."""
    done = subprocess.run([sys.executable, ROOT / "tools" / "installed_calls.py", ROOT / "urdf", tmp_path / "r.npz",
                           "arm"], capture_output=True, text=True, check=True, cwd=tmp_path,
                          env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)})
    told = json.loads(done.stdout)
    assert told["compiled"] == [] and told["calls"] > 200
    names = {name.partition(": ")[2].partition(" ")[0] for name in np.load(tmp_path / "r.npz").files}
    public = {name for name in dir(sd.Robot) if not name.startswith("_") and callable(getattr(sd.Robot, name))}
    assert public - names == set(installed_calls.LEFT_OUT) | {"momentum_balance"}


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_what_is_compiled_is_counted():
    def a_function_of_this_test(x):
        return x + 1

    with event.install_recorder("numba:compile") as compiled:
        jitted = njit(a_function_of_this_test)
        assert installed_calls.names_of(compiled) == []
        assert jitted(1) == 2
    assert [name.rpartition(".")[2] for name in installed_calls.names_of(compiled)] == ["a_function_of_this_test"]


@pytest.mark.parametrize("one, other, differ", [
    ((0.0, 1.0, 2.0, 3.0), (0.0, 1.0, 2.0, 3.3), 0.1), ((np.inf, np.nan, 4.0), (np.inf, np.nan, 5.0), 0.25),
    ((1.0, 2.0), (np.nan, 2.0), np.inf), ((1.0, np.nan), (1.0, 2.0), np.inf), ((np.inf, 1.0), (-np.inf, 1.0), np.inf)])
def test_what_differs_is_found(tmp_path, one, other, differ):
    numbers = {f"call {k}": np.arange(4.0) for k in range(500)}
    np.savez(tmp_path / "a.npz", **numbers | {"call 7": np.array(one)})
    np.savez(tmp_path / "b.npz", **numbers | {"call 7": np.array(other)})
    found = subprocess.run([sys.executable, "-c", wheels.DIFFERENCE, tmp_path / "a.npz", tmp_path / "b.npz"],
                           capture_output=True, text=True, check=True).stdout.split(maxsplit=1)
    assert float(found[0]) == pytest.approx(differ) and found[1] == "call 7\n"


def setup(*arguments, **environment):
    """What setup.py says of the package."""
    return subprocess.run([sys.executable, "setup.py", "-q", *arguments], cwd=ROOT, text=True, check=True,
                          capture_output=True, env={**os.environ, **environment}).stdout


@pytest.mark.parametrize("targets", ["native", "x86-64-v3 x86-64-v4"])
def test_a_wheel_takes_any_numba(tmp_path, targets):
    """Its kernels are loaded without."""
    setup("egg_info", "--egg-base", str(tmp_path), SCREW_DYNAMICS_TARGETS=targets)
    needed = (tmp_path / "screw_dynamics.egg-info" / "requires.txt").read_text().partition("\n[")[0].split("\n")
    assert not [line for line in needed if line.startswith(("numba<=", "llvmlite"))]
