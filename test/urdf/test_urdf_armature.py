"""Armature of a URDF: an element of ours, or rotor and reduction of a transmission."""
import pytest

import screw_dynamics as sd

URDF = """<robot name="r"><link name="base"/><link name="arm"/><link name="tool"/>
<joint name="lift" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
<joint name="flange" type="fixed"><parent link="arm"/><child link="tool"/></joint>{}</robot>"""
OWN = '<screw_dynamics><armature joint="{}" value="{}"/></screw_dynamics>'
TRANSMISSION = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="lift">
<hardwareInterface>EffortInterface</hardwareInterface></joint><actuator name="motor">{}</actuator></transmission>"""


@pytest.mark.parametrize(("elements", "value"), [
    ("", 0.0), (OWN.format("lift", 0.25), 0.25),
    (TRANSMISSION.format("<mechanicalReduction>-50</mechanicalReduction><rotorInertia>1e-4</rotorInertia>"), 0.25),
    (TRANSMISSION.format('<drake:rotor_inertia value="1e-4"/><drake:gear_ratio value="50"/>'), 0.25),
    (TRANSMISSION.format("<rotorInertia>1e-4</rotorInertia>"), 1e-4),
    (2 * TRANSMISSION.format("<rotorInertia>1e-4</rotorInertia>"), 1e-4),                 # of a motor in two ways
    (TRANSMISSION.format("<mechanicalReduction>50</mechanicalReduction>"), 0.0),       # of which rotor is not said
    (TRANSMISSION.format("<rotorInertia>1e-4</rotorInertia>") + OWN.format("lift", 0.5), 0.5)])
@pytest.mark.filterwarnings("ignore::screw_dynamics.UrdfWarning")
def test_a_urdf_has_it_in_an_element_or_by_its_transmissions(elements, value):
    assert sd.Robot.from_urdf(URDF.format(elements)).armature == pytest.approx([value])


@pytest.mark.parametrize(("elements", "message"), [
    (OWN.format("hip", 1), "armature: joint 'hip' does not exist"),
    (OWN.format("flange", 1), "armature: joint 'flange' is fixed, only joints of one degree of freedom have armature"),
    (OWN.format("lift", -1), "<armature>: value='-1' is negative"), (OWN.format("lift", "x"), "<armature>: value='x'"),
    (2 * OWN.format("lift", 1), "armature: joint 'lift' is given twice"),
    (TRANSMISSION.format("<rotorInertia>much</rotorInertia>"), "<rotorInertia>: 'much' is not a number: 'much'"),
    (TRANSMISSION.format("<rotorInertia>-1</rotorInertia>"), "<rotorInertia>: '-1' is negative"),
    (TRANSMISSION.format('<rotorInertia>1</rotorInertia><mechanicalReduction>inf</mechanicalReduction>'),
     "<mechanicalReduction>: 'inf' is not finite"),
    (TRANSMISSION.format('<rotorInertia>1</rotorInertia><mechanicalReduction>1e200</mechanicalReduction>'),
     "<mechanicalReduction>: '1e200' is out of range"),
    (TRANSMISSION.format('<rotorInertia>1</rotorInertia><mechanicalReduction>1e9</mechanicalReduction>'),
     r"armature: 1e\+18 of joint 'lift' is out of range"),
    (TRANSMISSION.format('<rotorInertia>${motor}</rotorInertia>'), "<rotorInertia>: '\\$.motor.' is unexpanded xacro"),
    (TRANSMISSION.replace('joint name="lift"', "joint").format('<rotorInertia>1</rotorInertia>'),
     "armature: joint '' does not exist"),
    (TRANSMISSION.format('<rotorInertia>1</rotorInertia>') + TRANSMISSION.format('<rotorInertia>2</rotorInertia>'),
     "armature: transmissions give joint 'lift' 1 and 2")])
def test_what_a_urdf_says_wrong_of_it_is_refused_with_its_line(elements, message):
    with pytest.raises(sd.UrdfError, match=rf"^line \d+: {message}"):
        sd.Robot.from_urdf(URDF.format(elements))


@pytest.mark.filterwarnings("error")
def test_a_joint_that_moves_no_inertia_but_its_rotor_s_is_no_fault():
    robot = sd.Robot.from_urdf(URDF.format(OWN.format("lift", 0.25)))
    assert robot.forward_dynamics([0.3], [2.0], [0.5]).tolist() == [2.0]


@pytest.mark.filterwarnings("ignore::screw_dynamics.UrdfWarning")
def test_that_of_a_locked_joint_and_of_one_left_out_is_left_out():
    """Their rotors stand still."""
    elements = OWN.format("lift", 0.25)
    assert sd.Robot.from_urdf(URDF.format(elements), lock={"lift": 0.3}).armature.tolist() == []
    assert sd.Robot.from_urdf(URDF.format(elements), base_link="arm").armature.tolist() == []
    assert sd.Robot.from_urdf(URDF.format(elements), floating_base=True).armature.tolist() == [0.0] * 6 + [0.25]
