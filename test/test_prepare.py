"""Kernels that are compiled before they are needed: by the command, and while the package is built."""
import os
import re
import shutil
import subprocess
import sys
import zipfile
from sysconfig import get_platform

import pytest

import screw_dynamics as sd
from screw_dynamics import prepare
from screw_dynamics.forces.kernels import kernels_of, spec_of_derivatives, spec_of_native, spec_of_states
from screw_dynamics.jit.kernel_cache import building, shared_objects
from screw_dynamics.jit.kernel_cache.specs import file_name
from support.kernels import cache_with
from support.paths import ROOT
from support.real_robots import PATHS

PANDA = PATHS["panda_description/urdf/panda.urdf"]
FEW = "body_poses_spatial", "potential_energy"      # the quickest to compile


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache of this test's own."""
    monkeypatch.setenv("SCREW_DYNAMICS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(*arguments, **environment):
    """The command, as a user gives it."""
    return subprocess.run([sys.executable, "-m", "screw_dynamics.prepare", *arguments], cwd=ROOT, text=True,
                          env={**os.environ, **environment}, capture_output=True, timeout=300)


def test_names_choose_kernels_by_how_they_begin():
    standard, known = list(prepare.forms("core")), list(prepare.forms(*prepare.PARTS))
    assert prepare.select([], standard, known) == standard
    assert prepare.select(["gravity"], standard, known) == ["gravity_torque", "gravity_torque, batches"]
    assert prepare.select(["inverse_dynamics.c"], standard, known) == [
        "inverse_dynamics.classical", "inverse_dynamics.classical, batches"]
    assert prepare.select(["inverse_dynamics.hy"], standard, known) == [
        "inverse_dynamics.hybrid", "inverse_dynamics.hybrid, batches"]
    with pytest.raises(ValueError, match="no kernel is called 'power'; known are rollout.semi_implicit_euler, "):
        prepare.select(["gravity", "power"], standard, known)


def test_every_representation_can_be_compiled_beforehand():
    everything = prepare.forms("core", "derivatives")
    assert prepare.forms("core").keys() < everything.keys()
    for quantity in "inverse_dynamics", "forward_dynamics", "body_twists", "body_jacobians":
        for representation in "body", "spatial", "hybrid", "mixed":
            assert {f"{quantity}.{representation}", f"{quantity}.{representation}, batches"} <= everything.keys()


@pytest.mark.slow
def test_workers_end_with_a_command_that_is_killed(tmp_path):
    """Its output ends only when the last process that can write to it has ended."""
    command = subprocess.Popen([sys.executable, "-m", "screw_dynamics.prepare", "-j", "2", *FEW], cwd=ROOT, text=True,
                               stdout=subprocess.PIPE, env={**os.environ, **cache_with([], tmp_path / "cache")})
    assert command.stdout.readline().startswith("1/4")      # both workers are at work
    command.kill()
    command.communicate(timeout=60)


@pytest.mark.slow
def test_kernels_are_compiled_in_parallel_once_and_cleared(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "cache"
    shared_objects.address_of(prepare.spec_of_words(prepare.forms("core")["potential_energy"]))     # it is there now
    for name, value in cache_with(["potential_energy"], folder).items():
        monkeypatch.setenv(name, value)
    done = run("-j", "2", *FEW)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["1/3", "2/3", "3/3"]
    assert {re.split(r" s  ", line)[1] for line in lines[:-1]} == {
        name + form for name in FEW for form in ("", ", batches")} - {"potential_energy"}
    assert lines[-1] == f"kernels ready: 4, compiled now, in {folder}: 3" and done.stderr == ""
    assert len([*folder.glob("*.kernel.so")]) == 4
    for given, told in ((FEW, ["kernels ready: 4"]),
                        (("--list", "body_poses"), ["- body_poses", "+ body_poses_spatial", "- body_poses, batches",
                                                    "+ body_poses_spatial, batches"]),
                        (("--clear",), [f"kernels removed from {folder}: 4"])):
        assert prepare.main(given) == 0 and capsys.readouterr().out.splitlines() == told
    assert not list(folder.iterdir())


@pytest.mark.parametrize("given, found", [(["gravity"], ["gravity_torque"]),
                                          (["gravity_torque, batches"], ["gravity_torque, batches"])])
def test_single_leaves_out_batches_whose_whole_name_is_not_given(folder, capsys, given, found):
    assert prepare.main(["--single", "--list", *given]) == 0
    assert capsys.readouterr().out.splitlines() == [f"- {name}" for name in found]


def test_every_kernel_belongs_to_one_part():
    parts = [prepare.forms(part) for part in prepare.PARTS]
    everything = prepare.forms(*prepare.PARTS)
    assert all(parts) and sum(map(len, parts)) == len(everything)
    for name, part in {"rollout.rk45": "core", "integrate.groups": "core", "hessian, batches": "derivatives",
                       "loops.close": "loops", "contacts and loops.project.articulated": "contacts",
                       "contacts.solver, batches": "contacts", "riccati": "optimal_motions",
                       "loops.response": "loops", "mass_matrix, single precision, batches": "single_precision",
                       "to lanes, single precision, batches": "single_precision"}.items():
        assert name in prepare.forms(part), name


def pushes(t, q, qd, p, tau):
    tau[0] = 1.0


@pytest.mark.parametrize("on_groups", [False, True])
def test_forces_are_prepared_as_robots_call_them(on_groups):
    prepared = {file_name(spec.compiled, spec.signature) for name, spec in prepare.forms(*prepare.PARTS).items()
                if name.startswith("forces")}
    robot = sd.Robot.from_urdf(PATHS["ur_description/urdf/ur5_robot.urdf"], floating_base=on_groups)
    dampers = sd.forces.JointSprings((0.0,) * robot.n, (1.0,) * robot.n, (0.0,) * robot.n)
    laws = robot.total_force([sd.forces.ModelFriction(), sd.forces.ModelDamping(), dampers,
                              sd.forces.Custom(pushes)])._laws
    called = [spec_of_native(kernels_of(laws, on_groups), True), spec_of_native(kernels_of(laws, True), False),
              spec_of_derivatives(kernels_of(laws, True)),
              *(spec_of_states(kernels_of(laws, True), what) for what in ("terms", "accounts", "wrenches"))]
    assert {file_name(spec.compiled, spec.signature) for spec in called} <= prepared


@pytest.mark.parametrize("arguments, says", [
    (["--parts", "core,legs"], "there is no part 'legs'; parts are core, floating_bases, "),
    (["gravity_force"], "no kernel is called 'gravity_force'; known are ")])
def test_a_wrong_part_or_name_is_refused(folder, capsys, arguments, says):
    with pytest.raises(SystemExit, match="2"):
        prepare.main(arguments)
    assert says in capsys.readouterr().err


@pytest.mark.slow
def test_where_a_folder_cannot_be_written_another_is_used_and_named(tmp_path):
    folder, used = tmp_path / "cache", tmp_path / ".cache" / "screw_dynamics"
    folder.write_text("a file")
    cache_with([], used)
    done = run("--single", "potential_energy", HOME=str(tmp_path), SCREW_DYNAMICS_CACHE_DIR=str(folder))
    assert done.returncode == 0 and f"compiled now, in {used}: 1" in done.stdout
    assert f"machine code in {folder} is not used" in done.stderr and f"{used} is used instead" in done.stderr


def test_without_the_jit_there_is_nothing_to_compile(folder):
    done = run(NUMBA_DISABLE_JIT="1")
    assert done.stdout == "NUMBA_DISABLE_JIT is set: there is nothing to compile\n" and not folder.exists()


@pytest.mark.slow
def test_a_wheel_contains_all_kernels_and_its_first_torque_compiles_nothing(tmp_path):
    """Built from a copy, as pip builds it; installed by unpacking, and used with nowhere to write. Kernels that are
    there from an earlier build are taken again."""
    source, site, home = tmp_path / "source", tmp_path / "site", tmp_path / "home"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__"))
    build = source / "build" / f"lib.{get_platform()}-{sys.implementation.cache_tag}"
    built = build / "screw_dynamics" / "machine_code"
    core = prepare.forms("core")
    cache_with(core.keys() - {"potential_energy"}, built)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", str(tmp_path), str(source)]
    subprocess.run(pip, check=True, timeout=1200, env={**os.environ, "SCREW_DYNAMICS_PARTS": "core"})
    wheel, = tmp_path.glob("*.whl")
    assert f"cp3{sys.version_info.minor}" in wheel.name and "any" not in wheel.name
    zipfile.ZipFile(wheel).extractall(site)
    kernels = [*site.glob("screw_dynamics/machine_code/*.kernel.so")]
    assert len(kernels) == len(core)
    script = f"""
import numpy as np
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    import screw_dynamics as sd
    for robot in sd.Robot.from_urdf({str(PANDA)!r}, tip_link="panda_hand"), sd.Robot.from_urdf({str(PANDA)!r}):
        for q in np.zeros(robot.n), np.zeros((9, robot.n)):
            robot.inverse_dynamics(q, q, q), robot.forward_dynamics(q, q, q), robot.rollout(q, q, steps=2)
print(sd.__file__, len(compiled.buffer))"""
    home.write_text("no folder")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": str(site), "HOME": str(home), "PATH": os.environ["PATH"]}, cwd=tmp_path)
    assert done.stdout.split() == [str(site / "screw_dynamics" / "__init__.py"), "0"] and done.stderr == ""


def test_pip_compiles_parts_that_exist():
    parts, = re.findall(r'"SCREW_DYNAMICS_PARTS"\) or "(.*?)"', (ROOT / "setup.py").read_text())
    assert parts.split() == ["core", "floating_bases"] and set(parts.split()) < set(prepare.PARTS)


def test_an_everyday_test_compiles_no_kernel_of_other_parts(pytestconfig):
    """See compiling_little in conftest.py."""
    if pytestconfig.option.markexpr != "not slow":
        pytest.skip("slow tests compile what they need")
    with pytest.raises(pytest.fail.Exception, match="compiles loops.close must be marked as slow"):
        building.build(prepare.forms("loops")["loops.close"], "none")


def test_batches_of_joints_on_groups_have_kernels_of_their_own(capsys):
    groups = prepare.forms("floating_bases")
    assert {"rollout.rk4.groups, batches", "jacobian.groups, batches"} <= groups.keys()
    assert all(name.endswith(".groups, batches") for name in groups)
    assert prepare.main(["--parts", "core,floating_bases", "--list", "gravity"]) == 0
    assert [line[2:] for line in capsys.readouterr().out.splitlines()] == [
        f"gravity_torque{form}" for form in ("", ", batches", ".groups, batches")]
