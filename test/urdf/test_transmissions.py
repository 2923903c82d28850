"""Transmissions of URDFs: against the equations of ROS's transmission_interface, virtual work, and what is refused."""
import re

import numpy as np
import pytest

import screw_dynamics as sd
from support.paths import ROOT

ROS2 = """<robot name="r"><link name="base"/><ros2_control name="arm" type="system">
  <transmission name="lone"><plugin>transmission_interface/SimpleTransmission</plugin>
    <joint name="slide" role="joint1"><mechanical_reduction>-325.949</mechanical_reduction><offset>0.02</offset></joint>
    <actuator name="spindle" role="actuator1"/></transmission>
  <transmission name="wrist"><plugin>transmission_interface/{kind}Transmission</plugin>
    <actuator name="right" role="actuator2"><mechanical_reduction>{b}</mechanical_reduction></actuator>
    <actuator name="left" role="actuator1"><mechanical_reduction>{a}</mechanical_reduction></actuator>
    <joint name="waist" role="joint1"><offset>0.5</offset><mechanical_reduction>{m}</mechanical_reduction></joint>
    <joint name="lift" role="joint2"><mechanical_reduction>{n}</mechanical_reduction></joint></transmission>
  </ros2_control></robot>"""
ROS1 = """<robot name="r"><link name="base"/>
  <transmission name="lone"><type>transmission_interface/SimpleTransmission</type>
    <joint name="slide"><hardwareInterface>hardware_interface/EffortJointInterface</hardwareInterface></joint>
    <actuator name="spindle"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>
  <transmission name="wrist"><type>transmission_interface/DifferentialTransmission</type>
    <actuator name="left"><role>actuator1</role><mechanicalReduction>20.0</mechanicalReduction></actuator>
    <actuator name="right"><role>actuator2</role><mechanicalReduction>-30</mechanicalReduction></actuator>
    <joint name="waist"><role>joint1</role><offset>0.5</offset></joint>
    <joint name="lift"><role>joint2</role><mechanicalReduction>2.0</mechanicalReduction></joint></transmission>
  </robot>"""
NUMBERS = {"a": 20.0, "b": -30.0, "m": 1.5, "n": 2.0}


def joints_of(kind, x, a, b, m, n):
    """Positions of joints, but for offsets, as ROS's transmission_interface documents them."""
    if kind == "Differential":
        return np.array([(x[0] / a + x[1] / b) / (2.0 * m), (x[0] / a - x[1] / b) / (2.0 * n)])
    return np.array([x[0] / (m * a), (x[1] / b - x[0] / (m * a)) / n])


@pytest.mark.parametrize("kind", ["Differential", "FourBarLinkage"])
def test_actuators_move_joints_as_ros_says_and_work_is_kept(kind, rng):
    lone, wrist = sd.transmissions(ROS2.format(kind=kind, **NUMBERS))
    assert (wrist.name, wrist.joints, wrist.actuators) == ("wrist", ("waist", "lift"), ("left", "right"))
    assert lone.matrix.tolist() == [[-325.949]] and lone.offset.tolist() == [0.02]
    x, u = rng.normal(size=(2, 5, 2))
    expected = np.array([joints_of(kind, each, **NUMBERS) for each in x])
    np.testing.assert_allclose(wrist.joint_velocities(x), expected, rtol=1e-14)
    q = wrist.joint_positions(x)
    np.testing.assert_allclose(q, expected + [0.5, 0.0], rtol=1e-14)
    np.testing.assert_allclose(wrist.actuator_positions(q), x, rtol=1e-12)
    np.testing.assert_allclose(wrist.actuator_velocities(expected), x, rtol=1e-12)
    np.testing.assert_allclose((u * x).sum(axis=-1), (wrist.joint_efforts(u) * expected).sum(axis=-1), rtol=1e-12)
    np.testing.assert_allclose(wrist.actuator_efforts(wrist.joint_efforts(u)), u, rtol=1e-12)
    if kind == "Differential":              # the other's efforts in ROS do not keep the work
        a, b, m, n = NUMBERS.values()
        ros = np.stack([m * (a * u[:, 0] + b * u[:, 1]), n * (a * u[:, 0] - b * u[:, 1])], axis=-1)
        np.testing.assert_allclose(wrist.joint_efforts(u), ros, rtol=1e-13)


@pytest.mark.parametrize("text", [ROS1, ROS2.format(kind="Differential", **NUMBERS)])
def test_a_default_namespace_changes_nothing(text):
    plain, named = (sd.transmissions(x) for x in (text, text.replace("<robot ", '<robot xmlns="http://www.ros.org" ')))
    assert [x.name for x in named] == ["lone", "wrist"]
    assert all(np.array_equal(a.matrix, b.matrix) and a.joints == b.joints for a, b in zip(plain, named, strict=True))


def test_the_older_form_is_read_too():
    lone, wrist = sd.transmissions(ROS1)
    assert lone.matrix.tolist() == [[50.0]] and wrist.offset.tolist() == [0.5, 0.0]
    assert wrist.matrix.tolist() == [[20.0, 40.0], [-30.0, 60.0]]
    assert sd.transmissions("<robot name='r'/>") == ()


def test_drives_of_a_differential_have_the_inertia_of_its_rotors(rng):
    robot = sd.Robot.from_urdf(ROOT / "urdf/spherical_arm.urdf")
    lone, wrist = sd.transmissions(ROS2.format(kind="Differential", **NUMBERS))
    drives = {**lone.drives({"spindle": sd.Drive(1e-5)}),
              **wrist.drives({"left": sd.Drive(1e-3), "right": sd.Drive(2e-3)})}
    assert drives["waist"].coupling == (("lift", 2.0 / 1.5),) and drives["lift"].ratio == 60.0
    q, rates = rng.normal(size=(2, 3))
    x = np.r_[wrist.actuator_velocities(rates[:2]), lone.actuator_velocities(rates[2:])]
    added = robot.with_drives(drives).mass_matrix(q) - robot.mass_matrix(q)
    assert rates @ added @ rates == pytest.approx(1e-3 * x[0]**2 + 2e-3 * x[1]**2 + 1e-5 * x[2]**2, rel=1e-13)


WRONG = [
    ("</plugin>", "Foo</plugin>", "its plugin 'transmission_interface/SimpleTransmissionFoo' is none of Simple"),
    (">-325.949<", ">0<", "line 3: transmission 'lone': the reduction of joint 'slide' is 0"),
    (">-325.949<", ">nan<", "transmission 'lone': <mechanical_reduction> of joint 'slide': 'nan' is not finite"),
    (">-325.949<", ">${n}<", "is unexpanded xacro"),
    (">0.5<", "><", "<offset> of joint 'waist': '' has 0 numbers, not 1"),
    ('role="joint2"', 'role="joint1"', "roles of its <joint> are 'joint1', 'joint1', must be joint1 and joint2"),
    ('role="joint2"', "", "roles of its <joint> are 'joint1', '', must be joint1 and joint2"),
    ('name="lift"', 'name="waist"', "line 5: transmission 'wrist' must have as many actuators as joints, each once"),
    ('name="lift"', "", "line 9: transmission 'wrist': a <joint> has no name"),
    ('<transmission name="wrist"', '<transmission name="lone"', "'lone' is defined twice, first in line 2"),
    ('<actuator name="spindle" role="actuator1"/>', "", "transmission 'lone' must have 1 <actuator>, not 0")]


@pytest.mark.parametrize("old, new, message", WRONG)
def test_what_is_no_transmission_is_refused(old, new, message):
    text = ROS2.format(kind="Differential", **NUMBERS)
    assert old in text
    with pytest.raises(sd.UrdfError, match=re.escape(message)):
        sd.transmissions(text.replace(old, new, 1))


@pytest.mark.parametrize("motors, message", [
    ({"wheel": sd.Drive(1.0)}, "transmission 'wrist': actuator 'wheel' is none of left, right"),
    ({"left": 1.0}, "actuator 'left': 1.0 must be a Drive without ratio and coupling"),
    ({"left": sd.Drive(1.0, 2.0)}, "must be a Drive without ratio and coupling")])
def test_motors_that_do_not_fit_are_refused(motors, message):
    with pytest.raises(ValueError, match=message):
        sd.transmissions(ROS1)[1].drives(motors)


@pytest.mark.parametrize("change, message", [
    ({"matrix": [[1.0, 1.0], [2.0, 2.0]]}, r"'t': matrix \[\[1.0, 1.0\], \[2.0, 2.0\]\] must be \(2, 2\) and inver"),
    ({"matrix": np.eye(3)}, r"must be \(2, 2\)"), ({"offset": (0.0,)}, "'t': offset"),
    ({"actuators": ("a", "a")}, "'t' must have as many actuators as joints, each once, not actuators a, a and joi"),
    ({"joints": ("x",)}, "must have as many"), ({"joints": "xy"}, "'t': joints must be names, not 'xy'"),
    ({"joints": ("x", None)}, "'t': joints must be names"), ({"actuators": None}, "'t': actuators must be names")])
def test_transmissions_that_cannot_be_are_refused(change, message):
    given = {"name": "t", "joints": ("x", "y"), "actuators": ("a", "b"), "matrix": np.eye(2), "offset": (0.0, 0.0)}
    with pytest.raises(ValueError, match=message):
        sd.Transmission(**{**given, **change})
    assert sd.Transmission(**{**given, "joints": ["x", "y"]}).joints == ("x", "y")
    cross = sd.Transmission(**{**given, "matrix": [[0.0, 1.0], [1.0, 0.0]]})
    with pytest.raises(ValueError, match="actuator 'a' is not turned by joint 'x'"):
        cross.drives({"a": sd.Drive(1.0)})
