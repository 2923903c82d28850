"""Exports of robots that nobody here wrote, and with tools that the README does not ask for."""
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from screw_dynamics.c_code.quantities import DEFAULT, QUANTITIES, SOLVED
from support.c_exports import STRICT, Built, errors, needs, run
from support.paths import ROOT
from support.real_robots import LOADED, ONE_OF_EACH, PATHS, real_robot

pytestmark = pytest.mark.slow
TOLERANCE = {"double": 1e-12, "float": 2e-4}
SMALL, LARGE = 6, 24    # degrees of freedom: up to the first all is exported, above the second the dynamics alone
RIGID = {"hector_description/robots/quadrotor_base.urdf", "iris_description/robots/iris_simple.urdf"}   # no joints
SINGULAR = "romeo_description/urdf/romeo_laas_small.urdf"       # of 33 degrees of freedom
UR5, PANDA, BOLT = ("ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf",
                    "bolt_description/robots/bolt.urdf")
DYNAMICS = "inverse_dynamics", "forward_dynamics"


def check(robot, folder, quantities=QUANTITIES, precision="double"):
    link, other = robot.link_names[-1], robot.link_names[1]
    links = [link, (link, "hybrid"), (link, "spatial"), (link, "mixed", other)]
    if not np.isfinite(robot.forward_dynamics(robot.neutral(), *np.ones((2, robot.n)))).all():
        with pytest.raises(ValueError, match="would divide by 0"):
            Built(robot, folder, quantities=["forward_dynamics"])
        quantities = [name for name in quantities if name not in SOLVED]
    built = Built(robot, folder, "-O0", quantities=quantities, links=links, precision=precision)
    wrong = {name: error for name, error in errors(built, robot).items() if not error <= TOLERANCE[precision]}
    assert not wrong


@pytest.mark.parametrize("name", [name for name in LOADED if name not in RIGID])
def test_functions_answer_as_the_robot(name, tmp_path):
    """Inverse dynamics of all; of one of each kind all functions, those of an export by default, or the dynamics."""
    robot = real_robot(name)
    several = QUANTITIES if robot.n <= SMALL else DEFAULT if robot.n <= LARGE or name == SINGULAR else DYNAMICS
    check(robot, tmp_path, several if name in {*ONE_OF_EACH, SINGULAR} else DYNAMICS[:1])


def test_floating_base(tmp_path):
    """Two legs on a base that floats."""
    check(real_robot(BOLT, floating_base=True), tmp_path)


@pytest.mark.parametrize("name", [UR5, PANDA, BOLT])
def test_single_precision(name, tmp_path):
    check(real_robot(name), tmp_path, DEFAULT, "float")


def test_loads_at_run_time(tmp_path):
    robot = real_robot(PANDA)
    built = Built(robot, tmp_path, "-O0", quantities=QUANTITIES, links=["panda_hand"],
                  external=["panda_hand", "panda_link4"], payload=["panda_hand"], gravity=True)
    assert max(errors(built, robot).values()) < 1e-12


def written(tmp_path_factory, quantities):
    folder = tmp_path_factory.mktemp("written") / "panda"
    real_robot(PANDA).export_c(folder, quantities=quantities, links=["panda_hand"])
    return folder


@pytest.fixture(scope="module")
def panda(tmp_path_factory):
    return written(tmp_path_factory, DEFAULT)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """What the programs here call alone: compilers at -O3 take seconds for the others."""
    return written(tmp_path_factory, ["inverse_dynamics", "gravity_torque", "mass_matrix", "mass_matrix_inverse"])


def self_test(panda, tmp_path, compiler, *options, runner=()):
    program = tmp_path / "self_test"
    run(compiler, *STRICT, *options, "-I", panda / "include", panda / "src" / "panda.c", panda / "test" / "self_test.c",
        "-o", program, "-lm")
    assert run(*runner, program).startswith("passed: ")
    return program


@pytest.mark.parametrize("options", [("-O3", "-march=native", "-ffp-contract=fast"), ("-O2", "-m32"),
                                     ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover")])
def test_compilers_options(panda, tmp_path, options):
    if "-m32" in options and subprocess.run(["gcc", "-m32", "-x", "c", "-", "-o", tmp_path / "empty"], text=True,
                                            input="#include <math.h>\nint main(void) { return 0; }",
                                            capture_output=True).returncode:
        pytest.skip("gcc has no libraries of 32 bits")
    self_test(panda, tmp_path, "gcc", *options)


@needs("clang")
def test_clang(panda, tmp_path):
    self_test(panda, tmp_path, "clang", "-O2")


PRINTED = """
#include <stdio.h>
#include "panda/panda.h"
int main(void) {
  double q[8], x[8], M[64];
  for (int k = 0; k < 1000; k++) {
    for (int i = 0; i < 8; i++) {
      q[i] = (k + 1) * (i - 3.3) * 0.37;
    }
    panda_inverse_dynamics(q, q, q, x);
    panda_mass_matrix_inverse(q, M);
    for (int i = 0; i < 8; i++) {
      printf("%a %a\\n", x[i], M[9 * i]);
    }
  }
  return 0;
}
"""


def printed(few, tmp_path, compiler, *options, runner=()):
    (tmp_path / "printed.c").write_text(PRINTED)
    run(compiler, "-std=c99", *options, "-I", few / "include", few / "src" / "panda.c", tmp_path / "printed.c",
        "-o", tmp_path / "printed", "-lm")
    return run(*runner, tmp_path / "printed")


def test_the_same_bits_with_any_option(few, tmp_path):
    found = {printed(few, tmp_path, "gcc", *options) for options in (["-O0"], ["-O2"], ["-O3", "-march=native"])}
    assert len(found) == 1


@needs("clang")
def test_the_same_bits_with_another_compiler(few, tmp_path):
    """Clang contracts products and sums unless told otherwise."""
    same = printed(few, tmp_path, "gcc", "-O2")
    assert printed(few, tmp_path, "clang", "-O2", "-ffp-contract=off") == same


@needs("aarch64-linux-gnu-gcc")
@needs("qemu-aarch64")
def test_aarch64_under_emulation(panda, few, tmp_path):
    runner = "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"
    compiler = "aarch64-linux-gnu-gcc"
    self_test(panda, tmp_path, compiler, "-O2", runner=runner)
    assert printed(few, tmp_path, compiler, "-O2", runner=runner) == printed(few, tmp_path, "gcc", "-O2")


def test_the_same_bytes_in_another_process(panda, tmp_path):
    program = ("import sys, warnings; warnings.simplefilter('ignore'); import screw_dynamics as sd; "
               "sd.Robot.from_urdf(sys.argv[1]).export_c(sys.argv[2], links=['panda_hand'])")
    run(sys.executable, "-c", program, PATHS[PANDA], tmp_path / "panda", env={**os.environ, "PYTHONHASHSEED": "7"})
    files = sorted(path.relative_to(panda) for path in panda.rglob("*") if path.is_file())
    other = tmp_path / "panda"
    assert files and all((panda / path).read_bytes() == (other / path).read_bytes() for path in files)


@pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is not installed")
def test_cmake_builds_tests_installs_and_finds_it(few, tmp_path):
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    run("cmake", "-S", few, "-B", build, "-DPANDA_BENCHMARK=ON", "-DCMAKE_C_FLAGS=-Werror",
        "-DCMAKE_INSTALL_LIBDIR=lib")
    run("cmake", "--build", build)
    assert "100% tests passed" in run("ctest", "--test-dir", build)
    run("cmake", "--install", build, "--prefix", prefix)
    user = tmp_path / "user"
    user.mkdir()
    (user / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.16)\nproject(user C CXX)\n"
                                         "find_package(panda 1.0 REQUIRED)\nadd_executable(user main.cpp)\n"
                                         "target_link_libraries(user panda::panda)\n"
                                         "target_compile_features(user PRIVATE cxx_std_17)\n")
    (user / "main.cpp").write_text('#include "panda/panda.hpp"\n#include <cstdio>\nint main() { '
                                   'std::printf("%.17g", panda::gravity_torque({0, 0.5, 0, -1, 0, 1, 0, 0})[1]); }\n')
    run("cmake", "-S", user, "-B", user / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", user / "build")
    expected = real_robot(PANDA).gravity_torque([0, 0.5, 0, -1, 0, 1, 0, 0])[1]
    assert float(run(user / "build" / "user")) == pytest.approx(expected, rel=1e-13)
    if shutil.which("pkg-config"):
        said = run("pkg-config", "--cflags", "--libs", "panda", env={
            **os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")})
        flags = said.split()
        run("g++", "-std=c++17", user / "main.cpp", *flags, "-lm", "-o", user / "by_pkg_config")
        assert float(run(user / "by_pkg_config")) == pytest.approx(expected, rel=1e-13)


EIGEN = """
#include "panda/panda.hpp"
#include <cstdio>
int main() {
  const Eigen::Matrix<double, 8, 1> q = Eigen::Matrix<double, 8, 1>::LinSpaced(0.1, 0.8);
  const auto M = panda::eigen::mass_matrix(q);
  const Eigen::VectorXd error = M * panda::eigen::mass_matrix_inverse(q).col(2) - Eigen::VectorXd::Unit(8, 2);
  std::printf("%g", error.cwiseAbs().maxCoeff());
}
"""


@pytest.mark.skipif(not os.path.isdir("/usr/include/eigen3"), reason="Eigen is not installed")
def test_matrices_of_eigen(panda, tmp_path):
    (tmp_path / "use.cpp").write_text(EIGEN)
    run("gcc", *STRICT, "-I", panda / "include", "-c", panda / "src" / "panda.c", "-o", tmp_path / "panda.o")
    run("g++", "-std=c++17", *STRICT[1:], "-isystem", "/usr/include/eigen3", "-I", panda / "include",
        tmp_path / "use.cpp", tmp_path / "panda.o", "-o", tmp_path / "use", "-lm")
    assert float(run(tmp_path / "use")) < 1e-11


def test_the_example_of_a_loop_in_c_reaches_its_goal():
    assert "rad from the goal" in run(sys.executable, ROOT / "examples" / "c_loop.py", "--seconds", "2")
