"""Exported control laws: the C against the law in Python, and the controller with stand-ins for what it calls of ROS.

That it fits the real classes was seen by compiling it with their headers: docs/tutorials/law_to_controller.md."""
import ctypes
import re
from dataclasses import make_dataclass
from pathlib import Path

import numpy as np
import pytest
import yaml

import screw_dynamics as sd
from screw_dynamics import control
from screw_dynamics.c_code.recorded import inputs_of
from screw_dynamics.c_code.tracing import NumberTrace, TracedRobot
from screw_dynamics.control import law, parameter
from screw_dynamics.control.traced import function_of
from support import planar_arm
from support.c_exports import STRICT, Built, run
from support.laws import with_integral
from support.real_robots import real_robot
from support.ros_stand_ins import write_stand_ins

PANDA, HAND = "panda_description/urdf/panda.urdf", "panda_hand"
LAWS = (control.gravity_compensation, control.pd_with_gravity, control.computed_torque, control.joint_impedance,
        control.cartesian_impedance(HAND), control.collision_reaction, control.admittance(HAND), with_integral)
CPP = "g++", "-std=c++17", *STRICT[1:], "-fPIC"


@pytest.fixture(scope="module")
def panda():
    return real_robot(PANDA, lock={"panda_finger_joint1": 0.0, "panda_finger_joint2": 0.0})


def by_python(law, robot, function, inputs):
    """The results of a law in NumPy for the inputs of its exported function."""
    given = dict(zip((x.name.partition("_")[2] or x.name for x in function.inputs), inputs, strict=True))
    reference, state, parameters = law.tuples
    dt = [float(given["dt"])] if law.state else []
    tau, after = law.cycle(robot, float(given["t"]), given["q"], given["qd"], reference(*(
        given[x] for x in law.reference)), state(*(given[x] for x in law.state), *dt), parameters(*(
            given[row.name] if row.per_joint else float(given[row.name]) for row in law.rows)))
    return [tau, *after]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_the_c_of_a_law_is_the_law(panda, tmp_path, law):
    function = function_of(law, panda)
    built = Built(panda, tmp_path, quantities=(), links=(), more=[function])
    tolerance = 1e-12 if law.name == "cartesian_impedance" else 1e-13     # it solves with two matrices
    for inputs in list(inputs_of(panda, function, "double"))[:4]:
        for found, expected in zip(built.call(law.name, *inputs), by_python(law, panda, function, inputs), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("law", LAWS[2:6], ids=lambda law: law.name)
def test_the_exported_test_of_a_law_passes(panda, tmp_path, law):
    sd.export_controller(panda, law, tmp_path / "arm_control")
    c = tmp_path / "arm_control" / "arm_control_law"
    run("gcc", *STRICT, "-I", c / "include", "-I", c / "test", c / "test" / "self_test.c", c / "src" /
        "arm_control_law.c", "-o", tmp_path / "test", "-lm")
    assert run(tmp_path / "test").startswith("passed")


TRAPPED = """
#include <cstdlib>
#include <new>
static bool armed = false;
void *operator new(std::size_t size) { if (armed) std::abort(); return std::malloc(size); }
void operator delete(void *x) noexcept { std::free(x); }
void operator delete(void *x, std::size_t) noexcept { std::free(x); }
#include "held/src/controller.cpp"
extern "C" void *__libc_malloc(std::size_t);
extern "C" void *malloc(std::size_t size) { if (armed) std::abort(); return __libc_malloc(size); }

class Opened : public held::@Class@ {
 public:
  using held::@Class@::export_reference_interfaces;
};
static Opened controller;
static double q[7], qd[7], efforts[7], wrench[6];
static const rclcpp_lifecycle::State none;
static std::vector<hardware_interface::CommandInterface::SharedPtr> references;

extern "C" {
const char *logged() { return told; }
double *positions() { return q; }
double *velocities() { return qd; }
double *written() { return efforts; }
void busy(int i) { controller.state_interfaces_[static_cast<std::size_t>(i)].value = nullptr; }
int init() { return static_cast<int>(controller.on_init()); }
int configure() { return static_cast<int>(controller.on_configure(none)); }
void lend() {
  controller.state_interfaces_.clear();
  controller.command_interfaces_.clear();
  for (std::size_t i = 0; i < 7; i++) {
    controller.state_interfaces_.push_back({q + i});
    controller.state_interfaces_.push_back({qd + i});
    controller.command_interfaces_.push_back({efforts + i});
  }
  for (std::size_t i = 7; i < controller.state_interface_configuration().names.size() - 7; i++) {
    controller.state_interfaces_.push_back({wrench + i - 7});
  }
  references = controller.export_reference_interfaces();
}
int named(const char *name) {
  for (std::size_t i = 0; i < references.size(); i++) {
    if (references[i]->name == name) return static_cast<int>(i);
  }
  return -1;
}
void refer(int i, double x) { (void)references[static_cast<std::size_t>(i)]->set_value(x); }
int activate() { return static_cast<int>(controller.on_activate(none)); }
int deactivate() { return static_cast<int>(controller.on_deactivate(none)); }
int update(double period) {
  armed = true;
  const auto found = controller.update({}, {period});
  armed = false;
  return static_cast<int>(found);
}
}
"""


def listener_of(text, package):
    """A stand-in for the header that generate_parameter_library makes of the declaration of parameters."""
    kinds = {"double": "double", "double_array": "std::vector<double>", "string": "std::string"}
    members = []
    for name, row in yaml.safe_load(text)[package].items():
        bounds = [bound for given in row.get("validation", {}).values() for bound in given]
        assert all(isinstance(bound, (int, float)) for bound in bounds), name      # not 1e-06, a text in YAML
        default = str(row["default_value"]).replace("[", "{").replace("]", "}")
        members.append(f"{kinds[row['type']]} {name} = {'{}' if row['type'] == 'string' else default};")
    return (f"#pragma once\n#include <memory>\n#include <string>\n#include <vector>\nnamespace {package} {{\n"
            f"struct Params {{ {' '.join(members)} }};\nstatic Params given;\nstruct ParamListener {{\n  template "
            "<typename Node> explicit ParamListener(std::shared_ptr<Node>) {}\n  Params get_params() const { return "
            "given; }\n};\n}\n")


def built(robot, law, folder):
    """The controller of a law, as a library that is loaded anew."""
    sd.export_controller(robot, law, folder / "held")
    (folder / "ros" / "held").mkdir(parents=True)
    write_stand_ins(folder / "ros")
    declared = (folder / "held" / "src" / "held_parameters.yaml").read_text()
    (folder / "ros" / "held" / "held_parameters.hpp").write_text(listener_of(declared, "held"))
    c, name = folder / "held" / "held_law", "".join(part.capitalize() for part in law.name.split("_"))
    run("gcc", *STRICT, "-fPIC", "-I", c / "include", "-c", c / "src" / "held_law.c", "-o", folder / "law.o")
    sensor = '(held::given.sensor = "fts", 0)' if "wrench" in law.reference else "0"
    (folder / "controller.cpp").write_text(TRAPPED.replace("@Class@", name)
                                           + f"[[maybe_unused]] static const int set = {sensor};\n")
    run(*CPP, "-fno-builtin-malloc", "-shared", "-I", folder, "-I", folder / "held" / "include", "-I", c / "include",
        "-I", folder / "ros", folder / "controller.cpp", folder / "law.o", "-o", folder / "controller.so", "-lm")
    library = ctypes.CDLL(str(folder / "controller.so"))
    for array in ("positions", "velocities", "written"):
        getattr(library, array).restype = ctypes.POINTER(ctypes.c_double)
    library.logged.restype = ctypes.c_char_p
    library.update.argtypes, library.refer.argtypes = (ctypes.c_double,), (ctypes.c_int, ctypes.c_double)
    assert library.init() == 0 and library.configure() == 0
    library.lend()
    return library


def arrays(library):
    """Positions, velocities and efforts of the hardware, which can be written."""
    return [np.ctypeslib.as_array(getattr(library, name)(), (7,)) for name in ("positions", "velocities", "written")]


START = np.array([0.1, -0.5, 0.2, -2.0, -0.1, 1.5, 0.7])


@pytest.fixture(scope="module")
def tracking(panda, tmp_path_factory):
    return built(panda, control.computed_torque, tmp_path_factory.mktemp("tracking"))


@pytest.fixture
def controller(tracking):
    tracking.lend()
    q, qd, _ = arrays(tracking)
    q[:], qd[:] = START, 0.0
    assert tracking.activate() == 0
    return tracking


@pytest.mark.slow
@pytest.mark.parametrize("law", [LAWS[0], *LAWS[4:]], ids=lambda law: law.name)
def test_a_controller_holds_the_robot_where_it_was_activated(panda, tmp_path, law):
    library = built(panda, law, tmp_path)
    q, qd, efforts = arrays(library)
    q[:], qd[:] = START, 0.0
    assert library.activate() == 0
    for _ in range(3):                  # without an allocation
        assert library.update(1e-3) == 0
    gravity = 0.0 if law is with_integral else panda.gravity_torque(START)
    np.testing.assert_allclose(efforts, gravity * np.ones(7), atol=1e-9)
    assert library.deactivate() == 0 and not efforts.any()


def test_references_of_a_preceding_controller_are_those_of_the_law(controller, panda):
    q, qd, efforts = arrays(controller)
    names, rng = panda.joint_names, np.random.default_rng(0)
    position, velocity, acceleration = START + rng.uniform(-0.05, 0.05, 7), *rng.uniform(-1.0, 1.0, (2, 7))
    for kind, values in (("position", position), ("velocity", velocity), ("acceleration", acceleration)):
        for name, x in zip(names, values, strict=True):
            controller.refer(controller.named(f"own/{name}/{kind}".encode()), x)
    assert controller.update(1e-3) == 0
    reference = control.computed_torque.references(panda, {
        "position": position, "velocity": velocity, "acceleration": acceleration})
    limits = panda.model.effort_limit
    expected, _ = control.computed_torque.cycle(panda, 0.0, q, qd, reference, (), control.computed_torque.values(panda))
    np.testing.assert_allclose(efforts, np.clip(expected, -limits, limits), atol=1e-11)
    controller.refer(controller.named(f"own/{names[0]}/velocity".encode()), np.nan)          # stays
    assert controller.update(1e-3) == 0
    np.testing.assert_allclose(efforts, np.clip(expected, -limits, limits), atol=1e-11)
    for _ in range(101):                # and stands still after reference_timeout
        assert controller.update(1e-3) == 0
    reference = control.computed_torque.references(panda, {
        "position": position, "velocity": np.zeros(7), "acceleration": np.zeros(7)})
    expected, _ = control.computed_torque.cycle(panda, 0.0, q, qd, reference, (), control.computed_torque.values(panda))
    np.testing.assert_allclose(efforts, np.clip(expected, -limits, limits), atol=1e-11)


def refer(controller, panda, kind, x):
    controller.refer(controller.named(f"own/{panda.joint_names[2]}/{kind}".encode()), x)


@pytest.mark.parametrize(("kind", "x", "says"), [
    ("position", 0.5, "own/panda_joint3"), ("velocity", np.inf, "panda_joint3/velocity is inf, which is no valid"),
    ("acceleration", 1e308, "gives no finite effort")])
def test_references_that_jump_or_are_not_finite_end_in_an_error(controller, panda, kind, x, says):
    q, qd, efforts = arrays(controller)
    assert controller.update(1e-3) == 0
    before = efforts.copy()
    refer(controller, panda, kind, x)
    assert controller.update(1e-3) == 1 and (efforts == before).all()
    assert controller.deactivate() == 0 and not efforts.any()
    assert says.removeprefix("own/") in controller.logged().decode()


def test_states_that_are_not_finite_end_in_an_error_and_missed_cycles_keep_the_efforts(controller, panda):
    q, qd, efforts = arrays(controller)
    assert controller.update(1e-3) == 0
    before = efforts.copy()
    q[1] += 0.1
    assert [controller.update(1.0) for _ in range(10)] == [0] * 9 + [1] and (efforts == before).all()
    assert controller.update(1e-3) == 0 and not (efforts == before).all()
    controller.busy(3)
    assert controller.update(1e-3) == 0
    controller.lend()
    qd[4] = np.nan
    assert controller.update(1e-3) == 1
    assert controller.deactivate() == 0
    assert controller.logged().decode().startswith(f"the state of joint {panda.joint_names[4]} is not finite")
    q[4] = np.nan
    assert controller.activate() == 1


# ------------------------------------------------------------------------------------------------- what is refused
def branching(robot, t, q, qd, reference, state, parameters):
    """A law with a branch."""
    return q if q[0] > 0.0 else -q


def of_energy(robot, t, q, qd, reference, state, parameters):
    """A law that calls what cannot be exported."""
    return q * robot.potential_energy(q)


def of_dt(robot, t, q, qd, reference, state, parameters):
    """A law of the time since the cycle before, without a state."""
    return q * state.dt + qd


def of_ufunc(robot, t, q, qd, reference, state, parameters):
    """A law that calls a function of NumPy."""
    return np.sin(q)


def of_norm(robot, t, q, qd, reference, state, parameters):
    """A law that calls linear algebra of NumPy."""
    return q / np.linalg.norm(q)


def of_items(robot, t, q, qd, reference, state, parameters):
    """A law that writes into an array that is not made from its arguments."""
    found = np.zeros(2)
    found[0] = q[0]
    return found


def of_half_power(robot, t, q, qd, reference, state, parameters):
    """A law with a power that is not whole."""
    return q ** 0.5


def of_chance(robot, t, q, qd, reference, state, parameters):
    """A law of random numbers."""
    return q + np.random.default_rng().uniform()


def line_of(function, k):
    """The line, k after that of def, of a function."""
    return rf"law {function.__name__}, line {function.__code__.co_firstlineno + k}:.*"


def named(name):
    """A law of this name."""
    def function(robot, t, q, qd, reference, state, parameters):
        return q
    function.__name__ = name
    return law()(function)


def with_parameter(name, description="gain"):
    """A law with a parameter of this name."""
    @law(parameters=make_dataclass("Own", [(name, float, parameter(1.0, description))], frozen=True))
    def one(robot, t, q, qd, reference, state, parameters):
        return q * getattr(parameters, name)
    return one


@pytest.fixture(scope="module")
def planar():
    return sd.Robot.from_urdf(planar_arm.urdf())


@pytest.mark.parametrize(("given", "name", "says"), [
    (control.gravity_compensation, "Arm", "name 'Arm'"), (branching, "arm", "must be a control.Law"),
    (law()(branching), "arm", line_of(branching, 2) + "where"),
    (law()(of_energy), "arm", line_of(of_energy, 2) + "robot.potential_energy"),
    (law()(of_dt), "arm", line_of(of_dt, 2) + "dt"), (law()(of_ufunc), "arm", line_of(of_ufunc, 2) + "sin"),
    (law()(of_norm), "arm", line_of(of_norm, 2)), (law()(of_items), "arm", line_of(of_items, 3)),
    (law()(of_half_power), "arm", line_of(of_half_power, 2) + "whole"),
    (law()(of_chance), "arm", "law of_chance: tau differs between two calls"),
    (law(state={"double": 1})(branching), "arm", "'double'"), (named("<lambda>"), "arm", "'<lambda>'"),
    (named("joint_names"), "arm", "'joint_names'"), (named("_arm"), "arm", "'_arm'"),
    *((with_parameter(x), "arm", f"'{x}'") for x in ("update_rate", "is_async", "use_sim_time", "sensor", "Array",
                                                     "yes"))])
def test_what_cannot_be_exported_is_refused_by_name(planar, tmp_path, given, name, says):
    with pytest.raises(ValueError, match=says):
        sd.export_controller(planar, given, tmp_path, name)
    assert not list(tmp_path.iterdir())


def test_laws_whose_class_is_a_type_of_the_controller_are_refused(planar, tmp_path):
    templates = Path(sd.__file__).parent / "c_code" / "templates" / "controller"
    text = "".join((templates / name).read_text() for name in ("law.hpp", "controller.cpp"))
    types = set(re.findall(r"(?:struct|class|using|enum class) (?:\w+::)?([A-Z]\w+)", text))
    assert {"Law", "State", "Reference", "Parameters", "Fault", "Array", "Pose", "Wrench", "CallbackReturn"} <= types
    for x in types:
        name = re.sub("(?<!^)([A-Z])", r"_\1", x).lower()
        with pytest.raises(ValueError, match=f"'{name}'"):
            sd.export_controller(planar, named(name), tmp_path, "arm")


def test_a_path_is_no_robot(tmp_path):
    with pytest.raises(ValueError, match="robot must be a Robot, not 'x.urdf'"):
        sd.export_controller("x.urdf", control.gravity_compensation, tmp_path, "arm")


def test_whole_powers_are_products(planar):
    @law()
    def cubic(robot, t, q, qd, reference, state, parameters):
        return -q ** 3 - 2.0 * qd[0] ** 2 * qd
    way, = function_of(cubic, planar).ways.values()
    q, qd = np.array([0.3, -0.7]), np.array([1.1, 0.2])
    trace = NumberTrace()
    x = np.array([trace.input("x") for _ in range(2)], dtype=object)
    way(TracedRobot(planar.model, planar.gravity, trace, {}), np.array(0.0), x, x)
    assert {operation.symbol for operation in trace.operations} <= {"input", "*", "+", "-"}
    np.testing.assert_allclose(way(None, np.array(0.0), q, qd)[0], -q ** 3 - 2.0 * qd[0] ** 2 * qd, rtol=1e-15)


def test_descriptions_are_those_of_the_yaml(planar, tmp_path):
    sd.export_controller(planar, with_parameter("gain", 'see "x" \\ | */\n# of 1'), tmp_path, "arm")
    declared = yaml.safe_load((tmp_path / "src" / "arm_parameters.yaml").read_text())
    assert declared["arm"]["gain"]["description"] == 'see "x" \\ | */ # of 1'


def test_another_name_in_the_folder_of_an_export_is_refused(planar, tmp_path):
    written = sd.export_controller(planar, control.gravity_compensation, tmp_path, "arm")
    with pytest.raises(FileExistsError, match="package 'arm'.*'other'"):
        sd.export_controller(planar, control.gravity_compensation, tmp_path, "other")
    assert sorted(x for x in tmp_path.rglob("*") if x.is_file()) == sorted(written)
    assert sd.export_controller(planar, control.pd_with_gravity, tmp_path, "arm") == written
