"""What export_c writes: right numbers, C without a warning, no memory, no state, the same bytes."""
import ctypes
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.c_code.export import texts
from screw_dynamics.c_code.quantities import QUANTITIES
from screw_dynamics.export_c import main
from support.c_exports import STRICT, Built, needs, pointer, run
from support.floating_robots import hopper
from support.pinocchio_oracle import oracle_of_parts, oracle_of_urdf
from support.random_trees import model_of, random_tree
from support.real_robots import PATHS, real_robot

UR5 = "ur_description/urdf/ur5_robot.urdf"
TOLERANCE = 1e-12
DYNAMICS = ("inverse_dynamics", "forward_dynamics", "gravity_torque", "coriolis_torque", "mass_matrix",
            "mass_matrix_inverse", "bias_torque")


def same(found, expected, tolerance=TOLERANCE):
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def state(robot, seed=3):
    rng = np.random.default_rng(seed)
    return robot.random_configuration(seed=rng), *rng.uniform(-1.0, 1.0, (2, robot.n))


def check_dynamics(built, oracle, q, qd, x):
    """Dynamics as another library has them."""
    same(built.call("inverse_dynamics", q, qd, x)[0], oracle.inverse_dynamics(q, qd, x))
    same(built.call("forward_dynamics", q, qd, x)[0], oracle.forward_dynamics(q, qd, x))
    same(built.call("gravity_torque", q)[0], oracle.gravity_torque(q))
    same(built.call("coriolis_torque", q, qd)[0], oracle.coriolis_torque(q, qd))
    same(built.call("bias_torque", q, qd)[0], oracle.coriolis_torque(q, qd) + oracle.gravity_torque(q))
    same(built.call("mass_matrix", q)[0], oracle.mass_matrix(q))
    same(built.call("mass_matrix_inverse", q)[0] @ oracle.mass_matrix(q), np.eye(len(qd)), 1e-11)


@pytest.fixture(scope="module")
def arm():
    return real_robot(UR5)


@pytest.fixture(scope="module")
def built(arm, tmp_path_factory):
    return Built(arm, tmp_path_factory.mktemp("ur5"), links=["tool0", ("tool0", "hybrid", "base_link")])


@pytest.fixture(scope="module")
def pendulum():
    """Two links: the second slides."""
    builder = sd.ModelBuilder("root")
    builder.add_joint("turn", "arm", "root", [0, 1, 0, 0, 0, 0], None,
                      sd.inertia_matrix(2.0, [0.3, 0, 0.1], np.diag([0.2, 0.3, 0.4])))
    builder.add_joint("slide", "tip", "arm", [0, 0, 0, 1, 0, 0], None,
                      sd.inertia_matrix(1.0, [0.1, 0.2, 0], np.diag([0.1, 0.1, 0.1])))
    return sd.Robot(builder.build())


@pytest.mark.slow
def test_dynamics_of_an_arm_are_those_of_pinocchio(arm, built):
    oracle = oracle_of_urdf(PATHS[UR5], arm)
    for seed in range(3):
        check_dynamics(built, oracle, *state(arm, seed))


def test_kinematics_of_an_arm_agree_with_each_other(arm, built):
    """J q' is the rate of the pose, and J' that of J, by central differences; the last row of a pose is 0 0 0 1."""
    q, qd, _ = state(arm)
    h = 1e-6
    C, = built.call("forward_kinematics_tool0", q)
    assert C[3].tolist() == [0.0, 0.0, 0.0, 1.0]
    same(C[:3, :3] @ C[:3, :3].T, np.eye(3))
    later, before = (built.call("forward_kinematics_tool0", q + s * h * qd)[0] for s in (1, -1))
    twist = np.linalg.solve(C, (later - before) / (2 * h))                          # C^-1 C', the body-fixed twist
    V = built.call("jacobian_tool0", q)[0] @ qd
    same(V, np.array([twist[2, 1], twist[0, 2], twist[1, 0], *twist[:3, 3]]), 1e-8)
    for name in ("tool0", "tool0_hybrid_in_base_link"):
        later, before = (built.call(f"jacobian_{name}", q + s * h * qd)[0] for s in (1, -1))
        same(built.call(f"jacobian_derivative_{name}", q, qd)[0], (later - before) / (2 * h), 1e-8)


def test_friction_is_damping_and_a_sign_that_is_0_at_rest(arm, tmp_path):
    damping, friction = np.arange(1.0, 7.0), np.arange(0.1, 0.7, 0.1)
    rubbing = sd.Robot(replace(arm.model, damping=damping, friction=friction))
    built = Built(rubbing, tmp_path, "-O0", quantities=["friction_torque"])
    for qd in (np.zeros(6), np.array([1.0, -2.0, 0.0, 3.0, -1e-9, 1e9])):
        same(built.call("friction_torque", qd)[0], damping * qd + friction * np.sign(qd))
    dry = Built(sd.Robot(replace(arm.model, damping=np.zeros(6), friction=friction)), tmp_path / "dry", "-O0",
                quantities=["friction_torque"])
    assert np.isnan(dry.call("friction_torque", np.full(6, np.nan))[0]).all()


def test_angles_of_many_turns(arm, built):
    """From 1e6 rad on sines are the C library's; below the error is that of the angle."""
    oracle = oracle_of_urdf(PATHS[UR5], arm)
    for turns in (1e5, -1e5, 1e7, -1e7, 1e12):
        q = turns * np.arange(1.0, 7.0)
        same(built.call("gravity_torque", q)[0], oracle.gravity_torque(q))
    assert np.isnan(built.call("gravity_torque", np.full(6, np.inf))[0]).any()
    assert np.isnan(built.call("gravity_torque", np.full(6, np.nan))[0]).any()


def test_results_may_be_written_over_inputs(pendulum, tmp_path):
    """Of each function the first result, over each of the inputs."""
    built = Built(pendulum, tmp_path, "-O2", quantities=[name for name in QUANTITIES if name != "step"])
    for name, function in built.functions.items():
        inputs = [*state(pendulum)][:len(function.inputs)]
        expected = built.call(name, *inputs)
        for k in range(len(inputs)):
            arrays = [np.r_[x, np.zeros(100)] for x in (*inputs, *(np.zeros(y.size) for y in function.outputs))]
            arrays[len(inputs)] = arrays[k]
            getattr(built.library, f"exported_{name}")(*(pointer(x.ctypes.data) for x in arrays))
            assert arrays[k][:expected[0].size].tobytes() == expected[0].tobytes(), (name, k)


def test_tree_with_a_mimic_joint_and_armature(tmp_path):
    parts = random_tree(np.random.default_rng(7), 3, mimics=1)
    robot = sd.Robot(model_of(parts))
    built = Built(robot, tmp_path, "-O0", quantities=DYNAMICS)
    oracle = oracle_of_parts(parts, robot)
    check_dynamics(built, oracle, *state(robot))
    geared = Built(robot.with_armature({robot.joint_names[0]: 0.5}), tmp_path / "geared", "-O0",
                   quantities="mass_matrix")
    q = state(robot)[0]
    same(geared.call("mass_matrix", q)[0], oracle.mass_matrix(q) + np.diag([0.5, *[0.0] * (robot.n - 1)]))


@pytest.mark.parametrize("precision, mass", [("float", 1e-40), ("double", 1e-310)])
def test_numbers_that_a_precision_has_not_are_refused_with_their_function(tmp_path, precision, mass):
    builder = sd.ModelBuilder("root")
    builder.add_joint("turn", "arm", "root", [0, 0, 1, 0, 0, 0], None,
                      sd.inertia_matrix(mass, [0.1, 0, 0], mass * np.eye(3)))
    with pytest.raises(ValueError, match="mass_matrix_inverse of .*: a constant is (.*e\\+39, too large|inf: )"):
        sd.Robot(builder.build()).export_c(tmp_path / "arm", quantities=["mass_matrix_inverse"], precision=precision)
    assert not (tmp_path / "arm").exists()


def test_joints_on_groups(tmp_path):
    parts = random_tree(np.random.default_rng(8), 2, of=("spherical", "helical", "free", "planar"))
    robot = sd.Robot(model_of(parts))
    check_dynamics(Built(robot, tmp_path, "-O0", quantities=DYNAMICS), oracle_of_parts(parts, robot), *state(robot))


def test_loads_at_run_time(pendulum, tmp_path):
    """Gravity, payload and wrench as arguments are those of a robot that has them."""
    quantities = "inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian"
    built = Built(pendulum, tmp_path, "-O0", quantities=quantities, links=["tip"], external=["tip"], payload=["tip"],
                  gravity=True)
    (q, qd, x), W, g = state(pendulum), np.arange(1.0, 7.0), np.array([1.0, -2.0, 3.0])
    load = np.array([1.5, 0.1, -0.2, 0.3, 0.02, 0.001, 0.03, -0.002, 0.003, 0.04])
    carrying = pendulum.with_payload("tip", 1.5, load[1:4], np.array([[0.02, 0.001, -0.002], [0.001, 0.03, 0.003],
                                                                       [-0.002, 0.003, 0.04]])).with_gravity(g)
    arguments = W, g, load
    tau, = built.call("inverse_dynamics", q, qd, x, *arguments)
    same(tau, carrying.inverse_dynamics(q, qd, x) - built.call("jacobian_tip", q)[0].T @ W)
    same(built.call("forward_dynamics", q, qd, tau, *arguments)[0], x)
    same(built.call("mass_matrix", q, load)[0], carrying.mass_matrix(q))


def test_single_precision(pendulum, tmp_path):
    single, double = (Built(pendulum, tmp_path / precision, "-O0", precision=precision)
                      for precision in ("float", "double"))
    for seed in range(5):
        q, qd, x = (y.astype(np.float32).astype(float) for y in state(pendulum, seed))
        for name, inputs in (("inverse_dynamics", (q, qd, x)), ("forward_dynamics", (q, qd, x)), ("mass_matrix", (q,))):
            found, = single.call(name, *inputs)
            assert found.dtype == np.float32
            same(found, double.call(name, *inputs)[0], 5e-6)


# ------------------------------------------------------------------------------------------------- what is written
@pytest.fixture(scope="module")
def folder(pendulum, tmp_path_factory):
    folder = tmp_path_factory.mktemp("written") / "swing"
    pendulum.export_c(folder, quantities=QUANTITIES)
    return folder


@pytest.mark.slow
def test_the_test_of_an_export_passes_under_sanitizers(folder, tmp_path):
    program = tmp_path / "self_test"
    run("gcc", *STRICT, "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover", "-I", folder / "include",
        folder / "src" / "swing.c", folder / "test" / "self_test.c", "-o", program, "-lm")
    assert run(program).startswith("passed: ")


def test_the_test_of_an_export_tells_a_wrong_number(folder, tmp_path):
    text = (folder / "src" / "swing.c").read_text()
    wrong = tmp_path / "wrong.c"
    wrong.write_text(text.replace("tau[0] = ", "tau[0] = 1.0 + ", 1))
    run("gcc", "-O0", "-I", folder / "include", wrong, folder / "test" / "self_test.c", "-o", tmp_path / "wrong", "-lm")
    done = subprocess.run([tmp_path / "wrong"], capture_output=True, text=True)
    assert done.returncode == 1 and "inverse_dynamics tau[0], state 0" in done.stdout


def needle(inertia):
    """A body with little inertia about the axis on which its center of mass is, some meters from the root."""
    builder, axis = sd.ModelBuilder("root"), np.array([0.6, 0.0, 0.8])
    for name, parent, moment in (("boom", "root", 0.1), ("needle", "boom", inertia)):
        at = np.eye(4)
        at[:2, 3] = 3.0, 1.0
        builder.add_joint(f"to {name}", name, parent, [*axis, 0, 0, 0], at,
                          sd.inertia_matrix(1.0, axis, moment * np.eye(3)))
    return sd.Robot(builder.build())


@pytest.mark.parametrize("precision", ["double", "float"])
def test_the_test_of_an_export_allows_for_the_digits_that_are_lost(tmp_path, precision):
    """In the root's frame the inertia of the needle is a difference of numbers that are 1e7, or 1e4, times as large."""
    folder = tmp_path / "needle"
    needle(1e-6 if precision == "double" else 1e-3).export_c(
        folder, quantities=["forward_dynamics_derivatives", "mass_matrix_inverse"], precision=precision)
    run("gcc", "-O0", "-I", folder / "include", folder / "src" / "needle.c", folder / "test" / "self_test.c", "-o",
        tmp_path / "self_test", "-lm")
    assert run(tmp_path / "self_test").startswith("passed: ")
    told = dict(re.findall(r"(\w+)_tolerance = ([^;f]+)", (folder / "test" / "recorded.h").read_text()))
    exact, lost = (float(told[name]) for name in ("mass_matrix_inverse_inverse",
                                                  "forward_dynamics_derivatives_qdd_by_tau"))
    assert exact == {"double": 1e-12, "float": 1e-5}[precision] and 10.0 * exact < lost < 1e6 * exact
    with pytest.raises(ValueError, match=f"has no correct digit in {precision} precision"):
        needle(1e-15).export_c(folder, quantities=["forward_dynamics_derivatives"], precision=precision)


def test_the_test_of_an_export_allows_for_slides_that_follow_turns(tmp_path):
    """A rack on a pinion: a pinion that is turned by 1e7 rad takes it as many meters away."""
    builder, pose = sd.ModelBuilder("root"), np.eye(4)
    pose[:3, 3] = 0.3, 0.2, 0.1
    body = sd.inertia_matrix(1.0, [0.2, 0.1, 0.3], np.diag([0.1, 0.2, 0.25]))
    builder.add_joint("pinion", "wheel", "root", [0.6, 0, 0.8, 0, 0, 0], pose, body)
    builder.add_joint("rack", "bar", "wheel", [0, 0, 0, 1, 0, 0], pose, body, mimic=sd.Mimic("pinion", 1.0))
    builder.add_joint("wrist", "hand", "bar", [0, 0.8, 0.6, 0, 0, 0], pose, body)
    folder = tmp_path / "rack"
    sd.Robot(builder.build()).export_c(folder, quantities=DYNAMICS)
    run("gcc", "-O0", "-I", folder / "include", folder / "src" / "rack.c", folder / "test" / "self_test.c", "-o",
        tmp_path / "self_test", "-lm")
    assert run(tmp_path / "self_test").startswith("passed: ")


TRAP = """
#include <stdio.h>
#include <stdlib.h>
static int armed = 0;
static char memory[1 << 20];
static size_t used = 0;
static void *taken(size_t size) {
  if (armed) abort();
  used = (used + size + 15) & ~(size_t)15;
  return memory + used - ((size + 15) & ~(size_t)15);
}
void *malloc(size_t size) { return taken(size); }
void *calloc(size_t count, size_t size) { return taken(count * size); }
void *realloc(void *old, size_t size) { (void)old; return taken(size); }
void free(void *old) { if (armed && old) abort(); }
#define main self_test
#include "self_test.c"
#undef main
int main(int count, char **arguments) {
  (void)arguments;
  printf("buffers are there\\n");
  armed = 1;
  if (count > 1) free(malloc(1));
  return self_test();
}
"""


def test_no_function_takes_memory(folder, tmp_path):
    """A program in which taking memory aborts: one that does so, and the test of the export."""
    (tmp_path / "trap.c").write_text(TRAP)
    run("gcc", "-O1", "-fno-builtin-malloc", "-I", folder / "include", "-I", folder / "test", tmp_path / "trap.c",
        folder / "src" / "swing.c", "-o", tmp_path / "trap", "-lm")
    assert run(tmp_path / "trap").endswith("0 numbers differ\n")
    assert subprocess.run([tmp_path / "trap", "take"], capture_output=True).returncode < 0


def test_the_object_has_no_state_and_calls_sine_cosine_and_root_alone(folder, tmp_path):
    run("gcc", "-O2", "-fno-pic", "-I", folder / "include", "-c", folder / "src" / "swing.c", "-o",
        tmp_path / "swing.o")
    symbols = [line.split() for line in run("nm", tmp_path / "swing.o").splitlines()]
    undefined = {name for kind, name in (line[-2:] for line in symbols) if kind == "U"}
    assert undefined <= {"sin", "cos", "sincos", "sqrt", "_GLOBAL_OFFSET_TABLE_"}
    assert not [line for line in symbols if line[-2] in "bBdDcC"]


def test_headers_for_cpp(folder, pendulum, tmp_path):
    (tmp_path / "use.cpp").write_text("""
#include "swing/swing.hpp"
#include <cstdio>
int main() {
  const std::array<double, swing::n> q{0.1, 0.2}, qd{0.3, 0.4}, qdd{0.5, 0.6};
  const auto tau = swing::inverse_dynamics(q, qd, qdd);
  const auto [q_next, qd_next] = swing::step(q, qd, tau, 0.5);
  std::printf("%.17g %.17g %.17g %.17g\\n", tau[0], tau[1], qd_next[0], qd_next[1]);
}""")
    run("gcc", *STRICT, "-I", folder / "include", "-c", folder / "src" / "swing.c", "-o", tmp_path / "swing.o")
    run("g++", "-std=c++17", *STRICT[1:], "-I", folder / "include", tmp_path / "use.cpp", tmp_path / "swing.o",
        "-o", tmp_path / "use", "-lm")
    found = np.array(run(tmp_path / "use").split(), dtype=float)
    same(found[:2], pendulum.inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]))
    same(found[2:], [0.3 + 0.25, 0.4 + 0.3])


@needs("cmake")
@needs("pkg-config")
@pytest.mark.parametrize("top", ["", "{prefix}/"], ids=["relative", "absolute"])
def test_pkg_config_finds_folders_wherever_cmake_installs_them(folder, tmp_path, top):
    prefix = tmp_path / "with spaces"
    run("cmake", "-S", folder, "-B", tmp_path / "build", f"-DCMAKE_INSTALL_PREFIX={prefix}",
        *(f"-DCMAKE_INSTALL_{kind}DIR={top.format(prefix=prefix)}{kind.lower()}/here" for kind in ("LIB", "INCLUDE")))
    (installed := prefix / "lib" / "here" / "pkgconfig").mkdir(parents=True)
    shutil.copy(tmp_path / "build" / "swing.pc", installed)
    for variable, kind in (("libdir", "lib"), ("includedir", "include")):
        found = run("pkg-config", f"--variable={variable}", "swing", env={
            **os.environ, "PKG_CONFIG_PATH": str(installed)}).strip().replace("\\", "")
        assert os.path.normpath(found) == str(prefix / kind / "here")


@needs("cmake")
def test_an_export_within_a_project_leaves_its_kind_of_build(folder, tmp_path):
    """Release would take the assertions of what is not the export's, too."""
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.16)\nproject(user C)\nadd_subdirectory({folder} swing)\n")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "user")
    run("cmake", "-S", folder, "-B", tmp_path / "alone")
    kinds = [re.search("CMAKE_BUILD_TYPE:STRING=(.*)", (tmp_path / of / "CMakeCache.txt").read_text())[1]
             for of in ("user", "alone")]
    assert kinds == ["", "Release"]


def test_the_program_that_measures_and_what_a_user_reads(folder, tmp_path):
    run("gcc", *STRICT, "-I", folder / "include", "-c", folder / "test" / "benchmark.c", "-o", tmp_path / "benchmark.o")
    page = (folder / "README.md").read_text()
    assert "| slide | 1 | 1 | prismatic |" in page and "### `swing_mass_matrix_inverse`" in page
    assert "swing_inverse_dynamics(q, qd, qdd, tau);" in page
    assert "find_package(swing)" in (folder / "CMakeLists.txt").read_text()


def test_the_same_bytes_each_time(pendulum, folder):
    for path, text in texts(pendulum, "swing", QUANTITIES).items():
        assert (folder / path).read_text() == text
        assert max(map(len, text.splitlines())) <= 120 or path == "README.md" or path.endswith((".h", ".hpp"))


def test_a_reader_finds_bodies_joints_and_the_algorithm(folder):
    text = (folder / "src" / "swing.c").read_text()
    for said in ("// Body 2, tip, moved by slide.", "Algorithm: inverse_dynamics.classical.", '"turn",'):
        assert said in text
    header = (folder / "include" / "swing" / "swing.h").read_text()
    assert "turn: q[0], velocities and efforts [0], revolute" in header
    assert "Gravity is (0, 0, -9.81) m/s^2 in the frame of root." in " ".join(header.replace("\n *", "").split())


@pytest.mark.slow
def test_a_reader_finds_what_follows_and_what_has_several_numbers():
    builder = sd.ModelBuilder("root")
    body = sd.inertia_matrix(1.0, [0.1, 0, 0], np.eye(3))
    builder.add_group_joint("spherical", "ball", "head", "root", np.eye(4), body)
    builder.add_joint("first", "finger", "head", [0, 0, 1, 0, 0, 0], None, body)
    builder.add_joint("second", "thumb", "head", [0, 1, 0, 0, 0, 0], None, body, mimic=sd.Mimic("first", -1.0))
    builder.add_group_joint("planar", "slab", "foot", "head", np.eye(4), body)
    found = texts(sd.Robot(builder.build()), "hand", ["gravity_torque", "torque_regressor"])
    header, page = (" ".join(found[path].replace("\n *", "").split()) for path in ("include/hand/hand.h", "README.md"))
    assert " second: no coordinate of its own, follows first" in header and "| second | follows first | | |" in page
    for kind in ("spherical: q is qx qy qz qw, velocities rx ry rz", "planar: q is x y angle, velocities rz x y"):
        assert f" {kind} " in header and f"| {kind} |" in page
    assert " ball: q[0..3], velocities and efforts [0..2], spherical" in header
    assert "| ball | 0 to 3 | 0 to 2 | spherical" in page and "| first | 4 | 3 | revolute |" in page
    bodies = "inside ball, inside ball, head, finger, thumb, inside slab, inside slab, foot"
    assert f"the bodies: {bodies}" in header and f"the bodies: {bodies}" in page


def test_names_that_would_end_a_comment_or_a_text(tmp_path):
    builder = sd.ModelBuilder("root")
    builder.add_joint('evil */ "joint"\\', "link */ /* }\n\\", "root", [0, 0, 1, 0, 0, 0], None,
                      sd.inertia_matrix(1.0, [0.1, 0, 0], np.eye(3)))
    robot = sd.Robot(builder.build())
    built = Built(robot, tmp_path, "-O0")
    names = (ctypes.c_char_p * 1).in_dll(built.library, "exported_joint_names")
    assert names[0].decode() == 'evil */ "joint"\\'
    same(built.call("mass_matrix", np.zeros(1))[0], robot.mass_matrix(np.zeros(1)))


# ------------------------------------------------------------------------------------------------- what is refused
@pytest.mark.parametrize("options, said", [
    ({"name": "2fast"}, "name '2fast' must be an identifier of C and C\\+\\+"),
    ({"name": "class"}, "name 'class' must be an identifier"),
    ({"name": "nullptr"}, "name 'nullptr' must be an identifier"),
    ({"name": "linux"}, "name 'linux' must be an identifier"),
    ({"name": 5}, "name 5 must be an identifier"),
    ({"name": "log10"}, "name 'log10' is a function of the C library, and cannot be a namespace of C"),
    ({"name": "test"}, "name 'test' is a target of CMake or of a library"),
    ({"quantities": 5}, "quantities 5 must be names"),
    ({"links": 5}, "links 5 must be names"),
    ({"links": [5]}, "links: 5 must be a name, or"),
    ({"links": [()]}, "links: \\(\\) must be a name, or"),
    ({"links": [("tip", "hybrid", "root", "arm")]}, "links: \\('tip', 'hybrid', 'root', 'arm'\\) must be a name, or"),
    ({"external": 5}, "external 5 must be names"),
    ({"quantities": ["power"]}, "quantity 'power' must be one of inverse_dynamics"),
    ({"quantities": []}, "there is nothing to export"),
    ({"quantities": ["jacobian"], "links": []}, "there is nothing to export, since no links are named"),
    ({"precision": "half"}, "precision 'half' must be one of double, float"),
    ({"links": ["toe"]}, "'toe'"),
    ({"links": [("tip", "both")]}, "representation 'both' must be one of"),
    ({"external": ["root"]}, "external: link 'root' does not move"),
    ({"payload": ["hand"]}, "'hand'"),
    ({"gravity": "down"}, "gravity"),
])
def test_wrong_options_are_refused(pendulum, tmp_path, options, said):
    with pytest.raises(ValueError, match=said):
        pendulum.export_c(tmp_path / "swing", **options)
    assert not (tmp_path / "swing").exists()


@pytest.mark.parametrize("folder", ["", 5, None, b"here", ["here"]])
def test_what_is_no_path_is_no_folder(pendulum, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="^folder .* must be a path$"):
        pendulum.export_c(folder, "swing")
    assert not list(tmp_path.iterdir())


def driven(robot, **numbers):
    return robot.with_drives({"turn": sd.Drive(rotor_inertia=1e-4, ratio=100.0, **numbers)})


def test_a_step_is_without_friction_also_that_of_drives_and_of_its_own(pendulum, tmp_path):
    rubbing = driven(pendulum, coupling={"slide": 2.0}, motor_damping=0.3).with_forces([
        sd.forces.Friction("turn", 9.0)])
    built = Built(rubbing, tmp_path, "-O0", quantities=["step"])
    q, qd, tau = state(rubbing)
    for found, expected in zip(built.call("step", q, qd, tau, 0.01), rubbing.step(q, qd, tau, 0.01, limits=False),
                               strict=True):
        same(found, expected)


def check_drives(robot, folder):
    """Efforts of drives as Robot has them, at states of which some stretch springs little, some far."""
    built = Built(robot, folder, "-O0", quantities=["drive_torque"])
    for seed in range(20):
        q, qd, _ = state(robot, seed)
        near = robot.interpolate(robot.neutral(), q, 0.01 * seed)
        same(built.call("drive_torque", near, qd)[0], robot.drive_torque(near, qd))


def test_springs_of_drives_by_hand(pendulum, tmp_path):
    built = Built(driven(pendulum, stiffness=sd.drive.Hardening((3e3, 5e4)), damping=2.0), tmp_path, "-O0",
                  quantities=["drive_torque"])
    (q, _, motor), (qd, _, turning) = (0.3, 0.1, 0.28), (0.5, 2.0, -0.7)        # behind the joints, as seen by them
    x, v = q - motor, qd - turning
    effort = 3e3 * x + 5e4 * x ** 3 + 2.0 * v
    same(built.call("drive_torque", [q, 0.1, motor], [qd, 2.0, turning])[0], np.array([-effort, 0.0, effort]))


@pytest.mark.parametrize("numbers", [
    {"stiffness": 3e3, "damping": 2.0, "backlash": 0.01, "gear_loss": 0.1},
    {"stiffness": sd.drive.Table((0.01, 0.02), (10.0, 40.0)), "gear_loss": 0.2},
    {"stiffness": sd.drive.Antagonistic(sd.drive.Hardening((1e3, 1e5)))},
    {"stiffness": sd.drive.LeverArm((1.0, 2.0, 900.0), 0.01, 0.1, 1.0), "damping": 1.0},
    {"electric": sd.drive.Electric(1.0, 1e-3, 0.1)}], ids=["backlash", "table", "antagonistic", "lever", "winding"])
def test_drives(pendulum, numbers, tmp_path):
    check_drives(driven(pendulum, **numbers), tmp_path)


def test_forces_of_a_robot_s_own(pendulum, tmp_path):
    forces = sd.forces
    check_drives(pendulum.with_forces([
        forces.Spring({"turn": 1.0, "slide": -2.0}, 10.0, 2.0, 0.3), forces.Stop("slide", 1e3, 0.3, -0.1, 0.1),
        forces.PointSpring("tip", 30.0, 1.5, 0.1, (0.0, 0.0, 0.1)), forces.Drag("tip", linear=0.4, quadratic=1.0),
        forces.LinkWrench("arm", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), frame="root")]), tmp_path)


@pytest.mark.slow
def test_forces_on_a_floating_base(tmp_path):
    robot = sd.Robot.from_urdf(hopper(), floating_base=True)
    check_drives(robot.with_forces([sd.forces.PointSpring("shin", 30.0, 1.5, 0.1, (0.0, 0.0, 0.1), "imu"),
                                    sd.forces.Drag("trunk", linear=0.4, turning=1.0)]), tmp_path)


def test_robots_that_cannot_be_exported_are_refused(tmp_path, monkeypatch, pendulum):
    with pytest.raises(ValueError, match="the robot has no joints"):
        sd.Robot(sd.ModelBuilder("root").build()).export_c(tmp_path)
    builder = sd.ModelBuilder("root")
    builder.add_joint("a", "tip", "root", [0, 1, 0, 0, 0, 0])
    massless = sd.Robot(builder.build())
    with pytest.raises(ValueError, match="forward_dynamics would divide by 0"):
        massless.export_c(tmp_path)
    massless.export_c(tmp_path / "some", quantities=["inverse_dynamics"])
    with pytest.raises(ValueError, match="step: the robot has Spring.*'turn', 1.0\\), \\('turn_motor', -1.0"):
        driven(pendulum, stiffness=1e4).export_c(tmp_path, quantities=["step"])
    with pytest.raises(ValueError, match="step: the robot has Winding"):
        driven(pendulum, electric=sd.drive.Electric(1.0, 1e-3, 0.1)).export_c(tmp_path, quantities=["step"])
    with pytest.raises(ValueError, match="friction_torque: the robot has Friction.*'turn', 1.0.*'slide', 2.0"):
        driven(pendulum, coupling={"slide": 2.0}, motor_damping=0.3).export_c(tmp_path, quantities=["friction_torque"])
    pulled = pendulum.with_forces([sd.forces.Spring("turn", 10.0)])
    with pytest.raises(ValueError, match="step: the robot has Spring"):
        pulled.export_c(tmp_path, quantities=["step"])
    monkeypatch.setattr("screw_dynamics.c_code.export.LONGEST", 10)
    with pytest.raises(ValueError, match="mass_matrix_inverse takes more than 10 operations"):
        pendulum.export_c(tmp_path, quantities=["mass_matrix_inverse"])


@pytest.mark.parametrize("links, options, said", [
    (("left-hand", "left_hand"), {}, "'forward_kinematics_left-hand' and 'forward_kinematics_left_hand' have the same"),
    (("left-hand", "left_hand"), {"quantities": ["mass_matrix"], "payload": ["left-hand", "left_hand"]},
     "'payload_left-hand' and 'payload_left_hand' have the same name in C"),
    (("hand", "hand_hybrid"), {"quantities": ["jacobian"], "links": [("hand", "hybrid"), "hand_hybrid"]},
     "'jacobian_hand_hybrid' and 'jacobian_hand_hybrid' have the same name in C"),
])
def test_what_has_one_name_in_c_is_refused(tmp_path, links, options, said):
    builder = sd.ModelBuilder("root")
    for name in links:
        builder.add_joint(f"to {name}", name, "root", [0, 0, 1, 0, 0, 0], None,
                          sd.inertia_matrix(1.0, [0.1, 0, 0], np.eye(3)))
    with pytest.raises(ValueError, match=said):
        sd.Robot(builder.build()).export_c(tmp_path, **options)


@pytest.mark.parametrize("file", ["README.md", "CMakeLists.txt"])
def test_files_of_others_stay(pendulum, tmp_path, file):
    (tmp_path / file).write_text("mine, of screw_dynamics")
    with pytest.raises(FileExistsError, match=f"{file} exists and is not a file of an earlier export"):
        pendulum.export_c(tmp_path, "swing", ["gravity_torque"])
    assert [path.name for path in tmp_path.iterdir()] == [file] and "mine" in (tmp_path / file).read_text()
    (tmp_path / file).unlink()
    assert pendulum.export_c(tmp_path, "swing", ["gravity_torque"]) == pendulum.export_c(tmp_path, "swing", [
        "gravity_torque"])


# ------------------------------------------------------------------------------------------------- the command
def test_command(arm, tmp_path, capsys):
    arguments = [str(PATHS[UR5]), str(tmp_path / "arm"), "--quantities", "gravity_torque", "jacobian", "--links",
                 "tool0:hybrid:base_link", "--precision", "float"]
    assert main(arguments) == 0
    assert str(tmp_path / "arm" / "src" / "arm.c") in capsys.readouterr().out.splitlines()
    assert "void arm_jacobian_tool0_hybrid_in_base_link(const float q[6], float J[36])" in (
        tmp_path / "arm" / "include" / "arm" / "arm.h").read_text()


def test_command_hands_its_options_on(tmp_path):
    assert main([str(PATHS[UR5]), str(tmp_path / "arm"), "--quantities", "gravity_torque", "--gravity-argument",
                 "--gravity", "0", "-3.7", "1", "--floating-base", "--payload", "tool0"]) == 0
    header = (tmp_path / "arm" / "include" / "arm" / "arm.h").read_text()
    assert "floating_base: q[0..6]" in header and "Gravity is (0, -3.7, 1) m/s^2" in header
    assert "gravity_torque(const double q[13], const double gravity[3], const double payload_tool0[10]" in header
    assert main([str(PATHS[UR5]), str(tmp_path / "part"), "--base-link", "shoulder_link", "--tip-link", "forearm_link",
                 "--quantities", "gravity_torque"]) == 0
    assert "#define PART_N 2 " in (tmp_path / "part" / "include" / "part" / "part.h").read_text()


def test_command_says_in_one_line_what_is_wrong(tmp_path, capsys):
    assert main([str(tmp_path / "none.urdf"), str(tmp_path / "arm")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("export_c: ") and "none.urdf" in said and said.count("\n") == 1


@pytest.mark.slow
def test_command_runs_as_a_module():
    assert "usage: export_c" in run(sys.executable, "-m", "screw_dynamics.export_c", "--help")
