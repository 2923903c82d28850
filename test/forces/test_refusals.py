"""Force elements that cannot be: each is refused, by its name and the value, before anything is computed."""
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics import forces
from screw_dynamics.simulator.simulation import Simulation
from support.random_trees import GROUPS, model_of, random_tree
from support.users_force import swirl

ARM = """<mujoco><worldbody><body name="upper"><joint name="first" axis="0 1 0"/>
  <inertial pos="0.1 0 0" mass="1.2" diaginertia="0.02 0.03 0.04"/>
  <body name="slider" pos="0.3 0 0.1"><joint name="second" type="slide"/>
    <inertial pos="0 0.1 0" mass="0.7" diaginertia="0.01 0.02 0.015"/>
    <body name="fore" pos="0.2 0 0"><joint name="third" axis="0 0 1"/>
      <inertial pos="0.15 0 0" mass="0.5" diaginertia="0.005 0.01 0.01"/>
  </body></body></body></worldbody></mujoco>"""


CONSTANT = np.zeros(3)
CONSTANT.flags.writeable = False        # as in compiled code


def magnet(t, q, qd, p, tau):
    """A force that is good."""
    tau[1] = p[1] * (p[0] - q[1])


def rebinding(t, q, qd, p, tau):
    tau = -q            # noqa: F841


def accumulating(t, q, qd, p, tau):
    CONSTANT[:] += q


def unknown_name(t, q, qd, p, tau):
    tau[0] = nothing_of_the_kind(q)     # noqa: F821


def without_numbers(t, q, qd, tau):
    pass


def with_a_default(t, q, qd, p, tau=None):
    pass


@dataclass(frozen=True)
class Spring(forces.Element):
    """An element of somebody else's with a name of this package."""

    law = forces.Drag.law

    def rows(self, robot):
        return []


@dataclass
class Changing(forces.Element):
    """An element that can change, and so cannot be told from others."""

    law = forces.Spring.law


def returning(t, q, qd, p, tau):
    return 3.0


def moving_the_robot(t, q, qd, p, tau):
    q[0] = 1.0


def stopping_the_robot(t, q, qd, p, tau):
    for k in range(len(qd)):
        qd[k] *= 0.0


def changing_its_numbers(t, q, qd, p, tau):
    p[0] += 1.0


def wrench(wrench=(0.0,) * 6, *frame, **options):
    return forces.LinkWrench("fore", wrench, *frame, **options)


SIX, TWICE, HUGE = (0.0,) * 6, ((0.0,) * 6,) * 2, 10**400
MASKED = np.ma.masked_array(np.ones(6), [1, 0, 0, 0, 0, 0])
NUMBERS = {                     # what no number of an element is; by how messages call it
    "nan": np.nan, "inf": np.inf, "-inf": -np.inf, "'3'": "3", "1j": 1j, "None": None, "10000": HUGE,
    r"\(3.0,\)": np.array([3.0]), r"Decimal\('1'\)": Decimal(1), "<class": float}
VECTORS = {                     # what no six of its numbers are
    "'abcdef'": "abcdef", "None": None, "3.0": 3.0, r"\(\)": [], r"\(1, 2\)": (1, 2),
    r"\('1', ": np.array(["1"] * 6),
    r"\(1j, ": (1j,) * 6, r"\(\(0.0, ": np.zeros((1, 6)), r"\(nan, ": np.full(6, np.nan),
    r"\(1000": (HUGE,) * 6, "<generator": (x for x in SIX)}
OF_NUMBERS = {
    "damping of Friction": lambda x: forces.Friction("first", x),
    "coulomb of": lambda x: forces.Friction("first", 0.0, x),
    "stribeck of": lambda x: forces.Friction("first", 0.0, 1.0, 2.0, x),
    "stiffness of Spring": lambda x: forces.Spring("first", x),
    "damping of Spring": lambda x: forces.Spring("first", 1.0, x),
    "rest of": lambda x: forces.Spring("first", 1.0, rest=x),
    "stiffness of Stop": lambda x: forces.Stop("first", x, upper=1.0),
    "loss of": lambda x: forces.Stop("first", 1.0, x, 0, 1),
    "stiffness of PointSpring": lambda x: forces.PointSpring("fore", x),
    "damping of PointSpring": lambda x: forces.PointSpring("fore", 1.0, x),
    "length of": lambda x: forces.PointSpring("fore", 1.0, length=x),
    "linear of": lambda x: forces.Drag("fore", x), "quadratic of": lambda x: forces.Drag("fore", 0.0, x),
    "turning of": lambda x: forces.Drag("fore", turning=x)}
OF_VECTORS = {
    "point of PointSpring": lambda x: forces.PointSpring("fore", 1.0, point=x),
    "other_point of": lambda x: forces.PointSpring("fore", 1.0, other_point=x),
    "point of Drag": lambda x: forces.Drag("fore", 1.0, point=x), "flow of": lambda x: forces.Drag("fore", 1.0, flow=x),
    "wrench of": wrench, "times of": lambda x: wrench(TWICE, times=x),
    "stiffness of JointSprings": lambda x: forces.JointSprings(x, (0.0,) * 3, (0.0,) * 3),
    "damping of JointSprings": lambda x: forces.JointSprings((0.0,) * 3, x, (0.0,) * 3),
    "rest of JointSprings": lambda x: forces.JointSprings((0.0,) * 3, (0.0,) * 3, x)}
REFUSED = {
    "Spring.*: joint 'x' does not exist; the joints are": forces.Spring("x", 1.0),
    "Spring.*: joint None does not exist": forces.Spring(None, 1.0),
    r"Stop.*: joint \('first',\) does not exist": forces.Stop(["first"], 1.0),
    "Friction.*: joint 3 does not exist": forces.Friction(3, 1.0),
    r"joint of Spring.* is \(\), must be a name or {name: factor}": forces.Spring({}, 1.0),
    r"joint of Spring.* is \('first', 3.0\), must be a name or": forces.Spring(["first", 3.0], 1.0),
    "stiffness of .* is -1.0, must be a finite number >= 0": forces.Spring("first", -1.0),
    "stiffness of Stop.* is 0.0, must be a finite number > 0": forces.Stop("first", 0.0, lower=0.0),
    "Spring.* names a joint twice": forces.Spring((("first", 1.0), ("first", 2.0)), 1.0),
    "factor of joint 'third' in .* is 0.0, must be a finite number, not 0": forces.Spring(
        {"first": 1.0, "third": 0.0}, 1.0),
    "factor of joint 'third' in .* is nan, must be a finite number, not 0": forces.Spring(
        {"first": 1.0, "third": np.nan}, 1.0),
    "factor of joint 'first' in .* is 'x', must be": forces.Spring({"first": "x"}, 1.0),
    "Drag.*: link 'x' does not exist": forces.Drag("x", 1.0),
    "Drag.*: link None does not exist": forces.Drag(None, 1.0),
    "PointSpring.*: link 3 does not exist": forces.PointSpring("fore", 1.0, other=3),
    "link and other of PointSpring.* are the same": forces.PointSpring("fore", 1.0, point=(1, 0, 0), other="fore"),
    "link and other of PointSpring.*'world'.* are the same": forces.PointSpring("world", 1.0),
    "frame of LinkWrench.* 'world' must be one of": wrench(SIX, "world"),
    "frame of LinkWrench.* None must be one of": wrench(SIX, None),
    "times of LinkWrench.* two or more, and increase": wrench(TWICE, times=(1.0, 1.0)),
    "times of LinkWrench.* two or more, and increase.*": wrench((), times=()),
    "times of LinkWrench.* increase, by finite numbers": wrench(TWICE, times=(-1e308, 1e308)),
    r"wrench of LinkWrench.* must be \(2, 6\) finite numbers": wrench(SIX, times=(0.0, 1.0)),
    r"wrench of LinkWrench.* must be \(2, 6\) finite .*": wrench((SIX, SIX[1:]), times=(0.0, 1.0)),
    "breakaway of .* is 1.0, must be a finite number >= 2": forces.Friction("first", 0.0, 2.0, 1.0),
    "joint 'first' has no position limits": forces.Stop("first", 1.0),
    "upper of .* is inf, must be a finite number": forces.Stop("first", 1.0, lower=0.0, upper=np.inf),
    "the lower end, 1, must be less than the upper one, 0": forces.Stop("first", 1.0, 0.0, 1.0, 0.0),
    "stiffness of JointSprings.* is .*, must be 3 finite numbers": forces.JointSprings((1.0,), (1.0,), (1.0,)),
    "stiffness and damping of JointSprings.* must be >= 0": forces.JointSprings((0, 0, -1.0), (0, 0, 0), (0, 0, 0)),
    "must be a function.t, q, qd, p, tau.$": forces.Custom(42),
    "is a method; it must be a function": forces.Custom(Spring().rows),
    "without_numbers.*must be a function": forces.Custom(without_numbers),
    "with_a_default.*without defaults": forces.Custom(with_a_default),
    "parameters of .*nan.* must be finite numbers": forces.Custom(magnet, (1.0, np.nan)),
    "parameters of .*None.* must be finite numbers": forces.Custom(magnet, None),
    "parameters of .*3.0.* must be finite numbers": forces.Custom(magnet, 3.0),
    "forces must be elements of screw_dynamics.forces, not 'spring'": "spring",
    "forces must be elements of screw_dynamics.forces, not None": None,
    "forces must be elements of screw_dynamics.forces, not .*Element object": forces.Element(),
    "forces must be elements of screw_dynamics.forces, not <class": forces.Spring,
    "Spring.*: 'Spring' is the name of another law too": Spring(),
    "Changing.*must be made of names and numbers": Changing(),
}
LISTS = {"'Spring'": "Spring", "''": "", "Spring": forces.Spring("first", 1.0), "{'a': 1}": {"a": 1}, "{}": {}, "0": 0,
         "False": False, "float64 of shape": np.zeros(3), "<list_iterator": iter([forces.Spring("first", 1.0)]),
         "<generator": (x for x in [forces.Spring("first", 1.0)]), "<.*ForceSum": None}
Q = np.zeros(3)
ENTRIES = {
    "rollout": lambda robot, x: robot.rollout(Q, Q, steps=2, forces=x),
    "recorded": lambda robot, x: robot.rollout(Q, Q, steps=2, forces=x, record="energy"),
    "step": lambda robot, x: robot.step(Q, Q, Q, 1e-3, forces=x),
    "linearize": lambda robot, x: robot.linearize(Q, Q, Q, forces=x),
    "rollout_derivatives": lambda robot, x: robot.rollout_derivatives(Q, Q, None, 1e-3, 2, forces=x),
    "rollout_gradient": lambda robot, x: robot.rollout_gradient(None, Q, Q, None, 1e-3, 2, forces=x),
    "energy_balance": lambda robot, x: robot.energy_balance([0.0, 1e-3], [Q, Q], [Q, Q], forces=x),
    "momentum_balance": lambda robot, x: robot.momentum_balance([0.0, 1e-3], [Q, Q], [Q, Q], forces=x),
    "total_force": lambda robot, x: robot.total_force(x),
    "Simulation": lambda robot, x: Simulation(robot, forces=x)}


@pytest.fixture(scope="module")
def robot():
    return sd.Robot.from_mjcf(ARM)


def refused(robot, element, reason):
    with pytest.raises(ValueError, match=reason):
        robot.total_force([element])


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_is_refused_by_name_and_value(robot, reason):
    refused(robot, REFUSED[reason], reason)


@pytest.mark.parametrize("what", OF_NUMBERS)
def test_what_is_no_number_is_refused_by_name_and_value(robot, what):
    for called, x in NUMBERS.items():
        refused(robot, OF_NUMBERS[what](x), f"{what}.* is {called}.*, must be a finite number")
    with pytest.raises(ValueError, match=f"^{what}.* is True, must not be True or False"):
        OF_NUMBERS[what](True)


@pytest.mark.parametrize("what", OF_VECTORS)
def test_what_is_no_vector_is_refused_by_name_and_value(robot, what):
    for called, x in VECTORS.items():
        if what != "times of" or type(x) is not tuple and x is not None:            # which are times
            refused(robot, OF_VECTORS[what](x), f"{what}.* is {called}.*, must be .*finite numbers|two or more")
    for refusal, x in (("is .*True.*, must not be True or False", (0.0, True, 0.0)), ("is masked at", MASKED)):
        with pytest.raises(ValueError, match=f"^{what}.* {refusal}"):
            OF_VECTORS[what](x)


def test_numbers_of_numpy_are_numbers_and_names_names(robot):
    q, qd = np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.2, 0.1])
    plain = robot.total_force([forces.Spring("first", 3.0), wrench((1, 2, 3, 4, 5, 6))]).efforts(q, qd)
    for kind in np.float32, np.float64, np.int64, np.array:
        acting = [forces.Spring(np.str_("first"), kind(3)), wrench(np.arange(1, 7, dtype=np.float16))]
        assert (robot.total_force(acting).efforts(q, qd) == plain).all()


@pytest.mark.parametrize("given", LISTS)
@pytest.mark.parametrize("entry", ENTRIES)
def test_forces_are_a_list(robot, entry, given):
    """An iterator, too, is refused, which would give its elements to the first of several that ask."""
    x = robot.total_force([]) if LISTS[given] is None else LISTS[given]
    with pytest.raises(ValueError, match=f"^forces must be a list of elements of screw_dynamics.forces, not {given}"):
        ENTRIES[entry](robot, x)


@pytest.mark.parametrize("entry", ENTRIES)
def test_whatever_takes_forces_refuses_an_element_by_its_name(robot, entry):
    with pytest.raises(ValueError, match="^stiffness of Spring.* is nan, must be a finite number >= 0"):
        ENTRIES[entry](robot, [forces.Spring("first", np.nan)])


@pytest.mark.parametrize("entry", ["total_force", "Simulation"])
def test_none_is_no_list_where_forces_must_be_given(robot, entry):
    with pytest.raises(ValueError, match="forces must be a list of elements of screw_dynamics.forces, not None"):
        ENTRIES[entry](robot, None)


def test_states_and_times_of_a_sum_are_checked(robot):
    total, q = robot.total_force([forces.Spring("first", 1.0), wrench(TWICE, times=(0.0, 1.0))]), np.zeros(3)
    for t in np.nan, np.inf, [0.0, np.nan]:
        for method in total.efforts, total.terms, total.account, total.link_wrenches, total.derivatives:
            with pytest.raises(ValueError, match="^t must be finite, but t"):
                method(q, q, t)
    for ahead in np.nan, np.inf, "a", None, np.zeros(2), True:
        with pytest.raises(ValueError, match="^ahead .* must be finite"):
            total.derivatives(q, q, 0.0, ahead)
    with pytest.raises(ValueError, match=r"do not broadcast: t\[..., None\] \(2, 1\), q \(4, 3\)"):
        total.efforts(np.zeros((4, 3)), q, np.zeros(2))


@pytest.mark.parametrize("element", [forces.Spring, forces.Stop, forces.Friction])
@pytest.mark.parametrize("kind", GROUPS)
def test_a_joint_on_a_group_has_no_spring_stop_or_friction(rng, kind, element):
    robot = sd.Robot(model_of(random_tree(rng, 1, 0, (kind,))))
    with pytest.raises(ValueError, match=rf"^{element.__name__}.*is {kind}, not of one degree of freedom"):
        robot.total_force([element(robot.joint_names[0], 1.0)])


@pytest.mark.slow
@pytest.mark.parametrize("entry", [
    *(x for x in ENTRIES if x not in ("momentum_balance", "total_force", "Simulation")), "efforts", "derivatives",
    "account", "step of many"])
def test_an_error_of_a_users_force_has_its_name(robot, entry):
    given = [forces.Spring("first", 1.0), forces.Custom(swirl, (0.7, 0.2, 7))]      # of three joints
    with pytest.raises(IndexError, match="in the force swirl$"):
        if entry == "step of many":
            robot.step(np.zeros((9, 3)), Q, Q, 1e-3, forces=given)
        elif entry in ENTRIES:
            ENTRIES[entry](robot, given)
        else:
            getattr(robot.total_force(given), entry)(Q, Q)


@pytest.mark.slow
def test_what_a_users_force_does_wrong_is_said(robot):
    q = np.zeros(3)
    with pytest.raises(ValueError, match=r"force rebinding.* assigns to the name tau, .*tau\[:\] = .*\n.*: tau = -q"):
        robot.rollout(q, q, forces=[forces.Custom(rebinding)])
    with pytest.raises((ValueError, NameError), match="nothing_of_the_kind"):
        robot.rollout(q, q, forces=[forces.Custom(unknown_name)])
    with pytest.raises(ValueError, match="force returning (?s:.*)returns .*; it must return nothing, and set tau"):
        robot.total_force([forces.Custom(returning)]).efforts(q, q)


@pytest.mark.slow
@pytest.mark.parametrize("function", [moving_the_robot, stopping_the_robot, changing_its_numbers, accumulating])
def test_a_users_force_writes_efforts_alone(robot, function):
    """Not the state that it is given, nor its own numbers, which other elements and steps read, nor a constant."""
    for entry in "rollout", "step", "linearize":
        with pytest.raises(ValueError, match="force .* cannot be compiled(?s:.*)it must set tau alone|read-only"):
            ENTRIES[entry](robot, [forces.Custom(function, (2.0,))])
