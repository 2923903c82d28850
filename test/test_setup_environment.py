"""The set-up of .venv: what it notices, and what it says when something is missing."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from support.ended import wait_until_ended
from support.paths import ROOT

TOOLS = ROOT / "tools"
sys.path.insert(0, str(TOOLS))

import progress  # noqa: E402
import setup_environment as setup  # noqa: E402


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty checkout."""
    for name, path in {"ROOT": ".", "VENV": ".venv", "PYTHON": ".venv/bin/python", "STATE": ".venv/setup.json"}.items():
        monkeypatch.setattr(setup, name, tmp_path / path)
    return tmp_path


@pytest.fixture
def venv(folder):
    """A checkout with a sound, if borrowed, .venv."""
    binaries = folder / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (binaries / "python").chmod(0o755)
    (binaries / "pip3").write_text(f"#!{binaries}/python\n")
    setup.mark(root=str(folder))
    return folder


@pytest.mark.parametrize("lacking, check, says", [
    (lambda patch, path: patch.setattr(sys, "version_info", (3, 9, 18)), "python",
     r"Python 3\.9 is too old, 3\.10 or newer"),
    (lambda patch, path: patch.setattr(setup.sysconfig, "get_path", lambda name: str(path)), "python",
     r"Python\.h .*apt install python3\.\d+-dev"),
    (lambda patch, path: patch.setitem(sys.modules, "ensurepip", None), "python",
     r"ensurepip is missing .*apt install python3\.\d+-venv"),
    (lambda patch, path: patch.setenv("CC", "no-such-compiler -O2"), "compilers",
     "no C compiler: no-such-compiler .*build-essential"),
    (lambda patch, path: patch.setenv("CXX", "no-such-compiler -O2"), "compilers",
     r"no C\+\+ compiler: no-such-compiler .*build-essential"),
    (lambda patch, path: patch.setenv("CC", "'gcc -O1"), "compilers", "CC='gcc -O1 is not a command .No closing quot")],
    ids=["old Python", "no headers", "no venv", "no C", "no C++", "quotes"])
def test_what_is_missing_is_named(monkeypatch, tmp_path, lacking, check, says):
    lacking(monkeypatch, tmp_path)
    with pytest.raises(setup.SetupError, match=says):
        getattr(setup, f"check_{check}")()


@pytest.fixture
def aarch64(monkeypatch):
    """Another machine, without compilers and headers."""
    monkeypatch.setattr(setup.platform, "machine", lambda: "aarch64")
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr(setup.sysconfig, "get_path", lambda name: "/nowhere")


def test_another_machine_gets_the_core_and_is_told_once_what_it_lacks(aarch64, venv, monkeypatch, capsys):
    """What builds the interfaces is not asked for there."""
    monkeypatch.setattr(setup, "run", lambda command, *_: pytest.fail(f"{command} was called"))
    setup.check_python()
    setup.check_compilers()
    for _ in range(2):
        setup.build_interfaces(again=False)
    assert capsys.readouterr().out == (
        "==> Leaving out the ROS 2 services: the ROS 2 packages of the Python registry are for Linux on x86-64, this "
        "is linux on aarch64: the library runs here, the nodes need a ROS 2 installation and colcon\n")


def test_the_demo_says_why_it_does_not_run_on_another_machine(aarch64, folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["setup_environment.py", "demo"])
    monkeypatch.setattr(setup, "set_up", lambda *_: pytest.fail("it was set up"))
    with pytest.raises(SystemExit, match="the demo is of nodes, and .* this is linux on aarch64: the library runs"):
        setup.main()


def test_no_suitable_python_is_said_with_the_reason():
    result = subprocess.run(
        ["sh", TOOLS / "setup"], env={"PATH": os.defpath, "PYTHON": "false"}, capture_output=True, text=True
    )
    assert result.returncode == 1
    assert "No Python here is fit" in result.stderr
    assert "false: it does not run" in result.stderr


def test_sound_venv_is_kept(venv):
    assert setup.venv_fault(chosen=False) is None
    assert setup.venv_fault(chosen=True) is None


def test_venv_of_another_python_is_kept_unless_one_was_chosen(venv, monkeypatch):
    monkeypatch.setattr(setup.platform, "python_version", lambda: "3.99.0")
    assert setup.venv_fault(chosen=False) is None
    assert "asked for is 3.99.0" in setup.venv_fault(chosen=True)


def test_missing_venv_is_noticed(folder):
    assert setup.venv_fault(chosen=False) == "there is none"


@pytest.mark.parametrize("damage", ["#!/bin/sh\nexit 3\n", "#!/no/such/interpreter\n", ""])
def test_broken_venv_is_noticed(venv, damage):
    setup.PYTHON.write_text(damage)
    assert "does not run" in setup.venv_fault(chosen=False)


def test_moved_venv_is_noticed(venv):
    setup.mark(root="/somewhere/else")
    assert "another folder" in setup.venv_fault(chosen=False)


def test_copied_venv_without_marks_is_noticed(venv):
    setup.STATE.unlink()
    (setup.VENV / "bin" / "pip3").write_text("#!/somewhere/else/.venv/bin/python\n")
    assert "another folder" in setup.venv_fault(chosen=False)


@pytest.fixture
def package(venv):
    """The files that what is installed is known by."""
    (venv / "setup.py").touch()
    (venv / "tools").mkdir()
    (venv / "tools" / "build_backend.py").touch()


@pytest.mark.parametrize(("done", "wanted"), [(["dev"], ["demo"]), (["demo", "interfaces"], ["demo"])])
def test_packages_that_are_there_are_not_installed_again(package, venv, monkeypatch, done, wanted):
    setup.mark(packages=setup.fingerprint(venv / "setup.py", venv / "tools" / "build_backend.py"), extras=done)
    monkeypatch.setattr(setup, "run", lambda *_: pytest.fail("pip was called"))
    setup.install_package()
    setup.install_extras(wanted)


def test_packages_are_installed_when_setup_py_has_changed(package, venv, monkeypatch):
    setup.mark(packages="that of an older setup.py", extras=["dev"])
    commands = []
    monkeypatch.setattr(setup, "run", lambda command, *_: commands.append(command))
    setup.install_package()
    setup.install_extras(["demo"])
    assert [command[-1] for command in commands] == ["pip>=25", venv, "screw_dynamics[demo]"]
    assert setup.read_state()["extras"] == ["demo"]


def test_how_much_is_downloaded_is_printed_the_first_time_alone(package, venv, monkeypatch, capsys):
    monkeypatch.setattr(setup, "run", lambda *_: None)
    said = []
    for text in ("", "an edit"):
        (venv / "setup.py").write_text(text)
        setup.install_package()
        setup.install_extras(["demo"])
        said.append("[demo], a few hundred megabytes" in capsys.readouterr().out)
    assert said == [True, False]


def test_marks_survive_a_damaged_file(venv):
    setup.STATE.write_text('{"root": ')
    assert setup.read_state() == {}


def test_fingerprint_follows_names_and_contents(folder):
    files = folder / "srv"
    files.mkdir()
    (files / "A.srv").write_text("---\n")
    seen = {setup.fingerprint(files), setup.fingerprint(files, extra="ros")}
    (files / "A.srv").write_text("bool b\n---\n")
    seen.add(setup.fingerprint(files))
    (files / "A.srv").rename(files / "B.srv")
    seen.add(setup.fingerprint(files))
    assert len(seen) == 4
    assert setup.fingerprint(files) in seen


def test_interfaces_are_built_again_when_what_they_were_built_with_changes_and_not_for_more(venv, monkeypatch):
    site, built = setup.VENV / "lib" / "python3.11" / "site-packages", []
    (site / "ros_std_msgs-5.5.0.dist-info").mkdir(parents=True)
    monkeypatch.setattr(setup, "build_interface_package", lambda package: built.append(package.name))
    monkeypatch.setattr(setup, "has_ros_wheels", lambda: True)
    monkeypatch.setattr(setup, "check_compilers", lambda: None)
    monkeypatch.delenv("EXTRA_INTERFACES", raising=False)
    setup.build_interfaces(again=False)
    (site / "ros_tf2-0.4.0.dist-info").mkdir()
    (site / "pandas-3.0.dist-info").mkdir()
    setup.build_interfaces(again=False)
    assert built == [setup.INTERFACES.name]
    (site / "ros_std_msgs-5.5.0.dist-info").rename(site / "ros_std_msgs-5.5.1.dist-info")
    setup.build_interfaces(again=False)
    setup.build_interfaces(again=True)
    assert len(built) == 3


@pytest.mark.parametrize(
    ("output", "hint"),
    [
        ("NewConnectionError: Failed to establish a new connection", "no network"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: No matching distribution found for numba", "another interpreter may do"),
        ("error: subprocess-exited-with-error", "says why"),
    ],
)
def test_failure_of_pip_is_explained(output, hint):
    assert hint in setup.pip_hint(output)


def test_foreign_environment_is_left_out(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/opt/ros/jazzy/lib/python3.12/site-packages")
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/opt/ros/jazzy")
    assert "PYTHONPATH" not in setup.environment()
    assert setup.environment()["AMENT_PREFIX_PATH"] == str(setup.VENV)


def test_output_of_a_step_goes_to_the_log(tmp_path, capfd):
    log = tmp_path / "log"
    progress.run([sys.executable, "-c", "print('all is well')"], dict(os.environ), log)
    assert "all is well" in log.read_text()
    assert capfd.readouterr().out == ""


def test_a_step_runs_while_something_else_is_done(tmp_path):
    flag, log = tmp_path / "flag", tmp_path / "log"
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(flag)!r}).exists(): time.sleep(0.01)\nprint('seen')"
    with progress.running([sys.executable, "-c", wait], dict(os.environ), log):
        flag.touch()
    assert log.read_text().endswith("seen\n")


def test_an_error_meanwhile_ends_the_step(tmp_path):
    pid = tmp_path / "pid"
    sleep = f"import os, pathlib, time; pathlib.Path({str(pid)!r}).write_text(str(os.getpid())); time.sleep(600)"
    command = [sys.executable, "-c", sleep]
    with pytest.raises(ZeroDivisionError), progress.running(command, dict(os.environ), tmp_path / "log"):
        while not (pid.exists() and pid.read_text()):
            time.sleep(0.01)
        raise ZeroDivisionError
    wait_until_ended(int(pid.read_text()))


def test_failing_step_shows_its_end(tmp_path, capfd):
    command = [sys.executable, "-c", "print('what went wrong'); raise SystemExit(3)"]
    with pytest.raises(progress.StepFailed, match="exit code 3") as caught:
        progress.run(command, dict(os.environ), tmp_path / "log")
    assert "what went wrong" in caught.value.output
    assert "what went wrong" in capfd.readouterr().err


@pytest.mark.slow
def test_silent_step_shows_that_it_lives(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(progress, "HEARTBEAT", 0.1)
    command = [sys.executable, "-c", "import time; print('compiling', flush=True); time.sleep(1)"]
    progress.run(command, dict(os.environ), tmp_path / "log")
    assert "s  compiling" in capfd.readouterr().out


@pytest.mark.parametrize(("extras", "steps"), [
    (["plot"], ["install_extras"]),
    (["bench"], ["kernels begin", "install_extras", "build_interfaces", "kernels end"])])
def test_studies_that_are_plain_numpy_wait_for_no_interfaces_and_kernels(venv, monkeypatch, extras, steps):
    """Others have extras installed and the interfaces built while the kernels are compiled."""
    done = []

    @contextmanager
    def compiling_kernels(extras):
        done.append("kernels begin")
        yield
        done.append("kernels end")
    monkeypatch.setattr(setup, "compiling_kernels", compiling_kernels)
    for step in ("make_venv", "install_package", "install_extras", "build_interfaces"):
        monkeypatch.setattr(setup, step, lambda *_, step=step: done.append(step))
    setup.set_up(extras, False, False)
    assert done == ["make_venv", "install_package", *steps]


def test_kernels_are_compiled_again_when_a_source_changes_and_not_for_bytecode(venv, monkeypatch):
    """All of them serve the demo too; where they cannot be kept, the set-up goes on."""
    package, calls = venv / "screw_dynamics", []
    (package / "__pycache__").mkdir(parents=True)
    (package / "a.py").write_text("1")
    monkeypatch.setattr(setup, "PACKAGE", package)

    def compile_for(*extras):
        with setup.compiling_kernels(list(extras)):
            calls.append("meanwhile")

    @contextmanager
    def succeed(command, *_):
        calls.append(command[3:])
        yield
    monkeypatch.setattr(setup, "running", succeed)
    compile_for("demo")
    (package / "__pycache__" / "a.pyc").write_text("bytecode")
    compile_for("demo")
    compile_for("dev")
    compile_for("demo")
    assert calls == [setup.DEMO_KERNELS, "meanwhile", "meanwhile", [], "meanwhile", "meanwhile"]
    (package / "a.py").write_text("2")

    @contextmanager
    def fail(*_):
        yield
        raise setup.StepFailed("prepare", 1, "")
    monkeypatch.setattr(setup, "running", fail)
    compile_for("dev")
    assert setup.read_state()["kernels"].endswith(" all")


def test_interfaces_of_others_are_found_below_the_folders_of_extra_interfaces(monkeypatch, tmp_path):
    for name in ("b_msgs", "a_msgs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "package.xml").touch()
    monkeypatch.setenv("EXTRA_INTERFACES", f"{tmp_path / 'b_msgs'}:{tmp_path / 'a_msgs'}")
    assert setup.extra_interfaces() == [tmp_path / "b_msgs", tmp_path / "a_msgs"]
    monkeypatch.setenv("EXTRA_INTERFACES", str(tmp_path))
    assert setup.extra_interfaces() == [tmp_path / "a_msgs", tmp_path / "b_msgs"]
    monkeypatch.delenv("EXTRA_INTERFACES")
    assert setup.extra_interfaces() == []


@pytest.mark.parametrize(("folders", "message"), [
    ("nowhere", "EXTRA_INTERFACES names nowhere, which is not a folder"),
    ("{0}:{0}", "EXTRA_INTERFACES has a package {1} that already exists"),
])
def test_extra_interfaces_that_cannot_be_meant_are_refused(folders, message, monkeypatch, tmp_path):
    (tmp_path / "package.xml").touch()
    monkeypatch.setenv("EXTRA_INTERFACES", folders.format(tmp_path))
    with pytest.raises(setup.SetupError, match=message.format("", tmp_path.name)):
        setup.extra_interfaces()
