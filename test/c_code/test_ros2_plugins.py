"""Controller and solver of a package for ros2_control, compiled with stand-ins for what they call of ROS.

That they fit the real classes was seen by building them with these: docs/c_export.md."""
import ctypes

import numpy as np
import pytest

from screw_dynamics.c_code.ros2_control import NEEDED
from support.c_exports import STRICT, pointer, run
from support.pinocchio_oracle import oracle_of_urdf
from support.real_robots import PATHS, real_robot
from support.ros_stand_ins import write_solver_headers, write_stand_ins

UR5 = "ur_description/urdf/ur5_robot.urdf"
ORDER = np.array([3, 0, 5, 1, 4, 2])        # of joints in the parameter: their places in the export
N = 6

CONTROLLER = """
#include "../held/src/controller.cpp"

static held::GravityCompensation controller;
static double q[6], qd[6], efforts[6];
static const rclcpp_lifecycle::State none;

extern "C" {
const char *logged() { return told; }
double *positions() { return q; }
double *velocities() { return qd; }
double *written() { return efforts; }
void busy(int joint) { controller.state_interfaces_[2 * static_cast<std::size_t>(joint)].value = nullptr; }
void hold(int joint) { controller.command_interfaces_[static_cast<std::size_t>(joint)].value = nullptr; }

// As the controller manager: interfaces are found by their names.
void lend() {
  controller.command_interfaces_.clear();
  controller.state_interfaces_.clear();
  for (const auto &name : controller.command_interface_configuration().names) {
    for (int i = 0; i < 6; i++) {
      if (name == std::string(ur5_joint_names[i]) + "/effort") {
        controller.command_interfaces_.push_back({efforts + i});
      }
    }
  }
  for (const auto &name : controller.state_interface_configuration().names) {
    for (int i = 0; i < 6; i++) {
      if (name == std::string(ur5_joint_names[i]) + "/position") {
        controller.state_interfaces_.push_back({q + i});
      } else if (name == std::string(ur5_joint_names[i]) + "/velocity") {
        controller.state_interfaces_.push_back({qd + i});
      }
    }
  }
}

int init() { return static_cast<int>(controller.on_init()); }
int init_with(const char *of_another_type) {
  held::GravityCompensation other;
  other.get_node()->of_another_type = of_another_type;
  return static_cast<int>(other.on_init());
}
void set(const char *name, const double *numbers, int count) {
  controller.get_node()->parameters[name].numbers.assign(numbers, numbers + count);
}
void set_joints(const int *order, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; i++) {
    names.push_back(ur5_joint_names[order[i]]);
  }
  controller.get_node()->parameters["joints"].names = names;
}
int configure() { return static_cast<int>(controller.on_configure(none)); }
int activate() { return static_cast<int>(controller.on_activate(none)); }
int deactivate() { return static_cast<int>(controller.on_deactivate(none)); }
int update() { return static_cast<int>(controller.update({}, {})); }
}
"""

SOLVER = """
#include <cstring>
#include "../held/src/solver.cpp"

static held::Solver solver;
static Eigen::VectorXd vector(const double *x, int n = 6) {
  Eigen::VectorXd found(static_cast<std::size_t>(n));
  std::copy(x, x + n, found.begin());
  return found;
}

extern "C" {
// 0, or 1 for a parameter that is refused, 2 for vectors that are, 3 before the solver is initialized. count: -1 for a
// parameter of another type.
int initialize(const int *order, int count) {
  auto parameters = std::make_shared<rclcpp::node_interfaces::NodeParametersInterface>();
  for (int i = 0; i < count; i++) {
    parameters->parameters["arm.joints"].names.push_back(ur5_joint_names[order[i]]);
  }
  if (count < 0) {
    parameters->parameters["arm.joints"].of_another_type = true;
  }
  try {
    solver.initialize(parameters, "arm", "");
  } catch (const inverse_dynamics_solver::InvalidParameterValueException &error) {
    return std::strncmp(error.what(), "arm.joints: ", 12) ? 4 : 1;
  }
  return 0;
}

int call(const double *q, const double *qd, const double *qdd, int count, double *M, double *vectors) {
  try {
    const auto q_ = vector(q, count), qd_ = vector(qd, count), qdd_ = vector(qdd, count);
    std::memcpy(M, solver.getInertiaMatrix(q_).numbers.data(), 36 * sizeof *M);
    for (const auto &x : {solver.getCoriolisVector(q_, qd_), solver.getGravityVector(q_),
        solver.getFrictionVector(qd_), solver.getTorques(q_, qd_, qdd_)}) {
      vectors = std::copy(x.begin(), x.end(), vectors);
    }
  } catch (const std::invalid_argument &) {
    return 2;
  } catch (const inverse_dynamics_solver::UninitializedException &) {
    return 3;
  }
  return 0;
}
}
"""


@pytest.fixture(scope="module")
def arm():
    return real_robot(UR5)


@pytest.fixture(scope="module")
def oracle(arm):
    return oracle_of_urdf(PATHS[UR5], arm)


@pytest.fixture(scope="module")
def folder(arm, tmp_path_factory):
    """A package in held/, and stand-ins in ros/."""
    folder = tmp_path_factory.mktemp("plugins")
    arm.export_c(folder / "held", "ur5", NEEDED, ros2_control="held")
    (folder / "ros").mkdir()
    write_stand_ins(folder / "ros")
    c = folder / "held" / "ur5"
    run("gcc", "-O1", *STRICT, "-fPIC", "-I", c / "include", "-c", c / "src" / "ur5.c", "-o", folder / "ur5.o")
    return folder


def built(folder, name, text, *includes):
    """A plugin and calls to it, as a library that is loaded anew."""
    (folder / "ros" / f"{name}.cpp").write_text(text)
    library = folder / f"{name}.so"
    run("g++", "-O1", "-std=c++17", *STRICT[1:], "-fPIC", "-shared", "-I", folder / "held" / "include", "-I",
        folder / "held" / "ur5" / "include", "-I", folder / "ros", *includes, folder / "ros" / f"{name}.cpp",
        folder / "ur5.o", "-o", library, "-lm")
    return ctypes.CDLL(str(library))


@pytest.fixture(scope="module")
def library(folder):
    found = built(folder, "controller", CONTROLLER)
    assert found.init() == 0
    found.logged.restype = ctypes.c_char_p
    for name in ("positions", "velocities", "written"):
        getattr(found, name).restype = ctypes.POINTER(ctypes.c_double)
    return found


@pytest.fixture
def controller(library):
    """Configured as by default, with its interfaces."""
    library.set_joints((ctypes.c_int * N)(*range(N)), N)
    for name, size in (("kp", N), ("kd", N), ("reference", 0)):
        put(library, name, np.zeros(size))
    assert library.configure() == 0
    library.lend()
    return library


def put(library, name, numbers):
    numbers = np.array(numbers, dtype=float)
    library.set(name.encode(), pointer(numbers.ctypes.data), len(numbers))


def arrays(library):
    """Positions, velocities and efforts of the hardware, which can be written."""
    return [np.ctypeslib.as_array(getattr(library, name)(), (N,)) for name in ("positions", "velocities", "written")]


@pytest.mark.slow
def test_without_gains_gravity_is_carried(controller, oracle):
    q, qd, efforts = arrays(controller)
    for seed in range(5):
        q[:], qd[:] = np.random.default_rng(seed).uniform(-2.0, 2.0, (2, N))
        assert controller.activate() == 0 and controller.update() == 0
        np.testing.assert_allclose(efforts, oracle.gravity_torque(q), rtol=0.0, atol=1e-11)
        assert controller.deactivate() == 0 and not efforts.any()


@pytest.mark.slow
def test_gains_in_another_order_hold_where_the_robot_was_or_the_reference(controller, oracle):
    q, qd, efforts = arrays(controller)
    rng = np.random.default_rng(5)
    kp, kd, reference = rng.uniform(0.0, 5.0, (3, N))
    for given in ([], reference):
        controller.set_joints((ctypes.c_int * N)(*ORDER), N)
        put(controller, "kp", kp[ORDER])
        put(controller, "kd", kd[ORDER])
        put(controller, "reference", reference[ORDER] if len(given) else [])
        assert controller.configure() == 0
        q[:], qd[:] = rng.uniform(-1.0, 1.0, (2, N))
        held = reference if len(given) else q.copy()
        assert controller.activate() == 0
        q += rng.uniform(-0.1, 0.1, N)
        assert controller.update() == 0
        np.testing.assert_allclose(efforts, oracle.gravity_torque(q) + kp * (held - q) - kd * qd, rtol=0.0, atol=1e-11)


def test_what_cannot_be_configured_is_refused_by_name(controller, arm):
    for name, numbers, said in (("kp", [1.0] * 5 + [-1.0], f"kp of {arm.joint_names[5]} is -1.000000"),
                                ("kd", [np.nan] + [1.0] * 5, f"kd of {arm.joint_names[0]} is nan"),
                                ("kd", [1.0], "kd has 1 numbers, not 6"),
                                ("reference", [np.inf] * 6, f"reference of {arm.joint_names[0]} is inf")):
        before = [0.0] * (6 if name != "reference" else 0)
        put(controller, name, numbers)
        assert controller.configure() == 1 and controller.logged().decode() == said
        put(controller, name, before)
        assert controller.configure() == 0
    controller.set_joints((ctypes.c_int * 5)(*range(5)), 5)
    assert controller.configure() == 1
    assert controller.logged().decode().endswith(f" missing: {arm.joint_names[5]};")


def test_states_that_are_not_finite_stop_it_and_busy_ones_keep_the_efforts(controller, arm):
    q, qd, efforts = arrays(controller)
    q[:], qd[:] = 0.3, 0.0
    qd[4] = np.nan
    said = f"the state of joint {arm.joint_names[4]} is not finite: position 0.3, velocity nan"
    assert controller.activate() == 1 and controller.logged().decode() == said
    qd[4] = 0.0
    assert controller.activate() == 0 and controller.update() == 0
    before = efforts.copy()
    q[2] = np.inf
    assert controller.update() == 1 and (efforts == before).all()
    assert controller.deactivate() == 0 and not efforts.any()
    said = f"the state of joint {arm.joint_names[2]} is not finite: position inf, velocity 0"
    assert controller.logged().decode() == said
    q[2] = 0.3
    assert controller.activate() == 0 and controller.update() == 0 and (efforts == before).all()
    q[1] = 2.0
    controller.busy(5)
    assert controller.update() == 0 and (efforts == before).all()
    assert controller.activate() == 1 and controller.logged() == b"states cannot be read"


def test_a_first_cycle_that_finds_states_held_has_the_efforts_of_the_activation(controller, oracle):
    q, qd, efforts = arrays(controller)
    q[:], qd[:] = 0.3, 0.0
    efforts[:] = np.nan                 # what another controller, or none, has left
    assert controller.activate() == 0
    controller.busy(2)
    assert controller.update() == 0
    np.testing.assert_allclose(efforts, oracle.gravity_torque(q), rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("held", ["busy", "hold"])
def test_what_stays_held_ends_in_an_error_in_the_tenth_cycle(controller, held):
    q, qd, efforts = arrays(controller)
    q[:], qd[:] = 0.3, 0.0
    assert controller.activate() == 0
    for _ in range(2):                  # cycles are counted anew after one that finds them free
        getattr(controller, held)(3)
        assert [controller.update() for _ in range(9)] == [0] * 9
        controller.lend()
        assert controller.update() == 0
    getattr(controller, held)(3)
    assert [controller.update() for _ in range(12)] == [0] * 9 + [1] * 3
    assert controller.deactivate() == (0 if held == "busy" else 2)
    said = "efforts cannot be written: they are not 0"
    if held == "busy":
        said = "states or efforts were held by others in 10 cycles in a row"
        assert not efforts.any()
    assert controller.logged().decode() == said


def test_efforts_held_at_activation_are_written_by_the_update(controller, oracle):
    q, qd, efforts = arrays(controller)
    q[:], qd[:], efforts[:] = 0.4, 0.0, np.nan
    controller.hold(1)
    assert controller.activate() == 0 and np.isnan(efforts[1])
    assert [controller.update() for _ in range(9)] == [0] * 8 + [1]
    controller.lend()
    assert controller.update() == 0
    np.testing.assert_allclose(efforts, oracle.gravity_torque(q), rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("parameter", ["joints", "kp", "kd", "reference"])
def test_parameters_of_another_type_are_told_and_end_the_loading(library, parameter):
    assert library.init_with(parameter.encode()) == 2
    assert library.logged().decode() == f"parameter '{parameter}' has invalid type"


def test_states_whose_efforts_overflow_are_told(controller, arm):
    q, qd, efforts = arrays(controller)
    q[:], qd[:] = 0.3, 0.0
    put(controller, "kp", [1e10] * N)
    put(controller, "kd", [1e10] * N)
    assert controller.configure() == 0 and controller.activate() == 0
    before = efforts.copy()
    q[3], qd[3] = -1e300, 1e300         # infinite kp e less infinite kd qd
    assert controller.update() == 1 and (efforts == before).all()
    assert controller.deactivate() == 0 and not efforts.any()
    assert controller.logged().decode() == (
        f"the state of joint {arm.joint_names[3]} gives no finite effort: position -1e+300, velocity 1e+300")


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".h", ".hpp"])
def test_solver_in_both_orders_with_the_headers_of_each_version(folder, arm, oracle, ending):
    headers = write_solver_headers(folder / f"solver{ending}", ending)
    library = built(folder, f"solver_with{ending}", SOLVER, "-I", headers)
    q, qd, qdd = np.random.default_rng(6).uniform(-1.0, 1.0, (3, N))
    M, vectors = np.zeros((N, N)), np.zeros((4, N))

    def call(*inputs):
        inputs = [np.ascontiguousarray(x) for x in inputs]
        return library.call(*(pointer(x.ctypes.data) for x in inputs), len(inputs[0]), pointer(M.ctypes.data),
                            pointer(vectors.ctypes.data))

    assert call(q, qd, qdd) == 3
    assert library.initialize((ctypes.c_int * 5)(*range(5)), 5) == 1
    for order in (range(N), ORDER):
        order = np.array(order)
        assert library.initialize((ctypes.c_int * N)(*order), N) == 0
        assert call(q[order], qd[order], qdd[order]) == 0
        coriolis, gravity = oracle.coriolis_torque(q, qd), oracle.gravity_torque(q)
        for found, expected in zip(vectors, (coriolis, gravity, arm.model.damping * qd,
                                             oracle.mass_matrix(q) @ qdd + coriolis + gravity), strict=True):
            np.testing.assert_allclose(found, expected[order], rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(M, oracle.mass_matrix(q)[np.ix_(order, order)], rtol=0.0, atol=1e-12)
    assert call(q[:5], qd[:5], qdd[:5]) == 2
    for count in (5, -1):               # of the order before nothing is left
        assert library.initialize((ctypes.c_int * 5)(*range(5)), count) == 1
        assert call(q, qd, qdd) == 3
    assert library.initialize((ctypes.c_int * 0)(), 0) == 0
    assert call(q, qd, qdd) == 0
    np.testing.assert_allclose(M, oracle.mass_matrix(q), rtol=0.0, atol=1e-12)
