"""Drives and forces of a robot's own in <screw_dynamics>: what is written is read to the last bit, and by hand, too."""
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from lxml import etree

import screw_dynamics as sd
from screw_dynamics import forces
from screw_dynamics.model.drive import Antagonistic, Electric, Hardening, LeverArm, Table, Thermal, TorqueSpeed
from screw_dynamics.model.drive_numbers import following
from screw_dynamics.model.drives import with_drives
from support.real_robots import LOADED

ARM = "urdf/spherical_arm.urdf"
KINDS = {
    "rigid": {"waist": sd.Drive(1e-4 / 3, 60.0, motor_damping=0.1, motor_friction=0.3,
                                torque_speed=TorqueSpeed(0.5, 400.0), thermal=Thermal(0.1, 2.0, 30.0))},
    "rigid on a carrier": {"slide": sd.Drive(1e-4 / 7, 50.0, carrier="yoke", axis=(0.3, 0.2, 1.0))},
    "rigid on the root": {"waist": sd.Drive(1e-4 / 7, -50.0, carrier="floor")},
    "springs": {"lift": sd.Drive(1 / 3e4, 80.1, 2000.0 / 3, 1.0, 0.1, 0.2, backlash=1e-3, gear_loss=0.1),
                "waist": sd.Drive(1e-4, 60.0, Table((0.002, 0.006), (4.0, 20.0)))},
    "on a carrier behind a spring": {"lift": sd.Drive(1 / 3e5, 80.1, Hardening((900.0, 1e5)), carrier="column",
                                                      axis=(0.0, -1.0, 0.1))},
    "of variable stiffness": {"lift": sd.Drive(1e-4, 80.0, Antagonistic(Hardening((100.0, 3e3)))),
                              "waist": sd.Drive(1e-4, 60.0, LeverArm((20.0, 0.0, 5e4), 0.2, 0.01, 0.1, 1.0, 2.0))},
    "coupled": {"waist": sd.Drive(1e-4, 60.0, coupling={"lift": 1.0 / 3}, motor_damping=0.1, motor_friction=0.3),
                "lift": sd.Drive(1e-4, 60.0, 3000.0, coupling={"waist": -1.0, "slide": 0.2})},
    "electric": {"waist": sd.Drive(1e-4, 60.0, electric=Electric(0.4, 2e-3, 0.05, 48.0)),
                 "lift": sd.Drive(1e-4, 80.0, 2000.0, electric=Electric(0.4, 2e-3, 0.05))},
}
FORCES = [
    forces.Friction("lift", 0.2, 0.5, 0.9, 0.05), forces.Friction({"waist": 1.0, "lift": -1.0 / 3}, 0.1),
    forces.Spring({"waist": 1.0, "slide": 2.0}, 30, 0.1, 0.2), forces.Stop("lift", 1e4, 0.1, -1, 1),
    forces.NonlinearSpring("lift", Table((0.01,), (4.0,)), play=0.1), forces.Drag("boom", 0.3, flow=(1, 0, 0.5)),
    forces.PointSpring("gripper", 40.0, other="column", other_point=(0.1, 0.2, 1 / 3)),
    forces.LinkWrench("gripper", (1, 2, 3, 4, 5, 6), "root"),
    forces.LinkWrench("gripper", ((0, 0, 0, 1, 2, 3.0), (1, 0, 0, 0, 0, 0)), times=(0, 1)),
    forces.GearLoss("lift", "waist", Hardening((5.0,)), 0.1), forces.Winding("lift", "waist", 2.0, 0.3),
    forces.VariableSpring("lift", "waist", "slide", (1, 2, 3), 0.1)]


@pytest.fixture(scope="module")
def arm():
    return sd.Robot.from_urdf(ARM)


def is_kept(robot, **options):
    """The text of a robot, of which the same model is read, and which writes the same text."""
    text = robot.to_urdf()
    again = sd.Robot.from_urdf(text, **options)
    assert again.model.digest == robot.model.digest
    assert again.to_urdf() == text
    return text


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", KINDS)
def test_what_is_written_of_drives_is_read_to_the_last_bit(arm, name):
    text = is_kept(arm.with_drives(KINDS[name]))
    source = Path(ARM).read_text()
    before, _, rest = text.partition("  <screw_dynamics>")
    assert before + "</robot>\n" == source and rest.endswith("  </screw_dynamics>\n</robot>\n")


@pytest.mark.filterwarnings("error")
def test_what_is_written_of_forces_is_read_to_the_last_bit(arm):
    assert {type(x).__name__ for x in FORCES} == set(forces.KINDS)
    robot = arm.with_forces(FORCES)
    text = is_kept(robot)
    other = robot.with_forces([*FORCES[:1], replace(FORCES[1], damping=0.7), *FORCES[2:]]).to_urdf()
    changed = [pair for pair in zip(text.split("\n"), other.split("\n"), strict=True) if pair[0] != pair[1]]
    assert changed == [('    <friction damping="0.1">', '    <friction damping="0.7">')]
    assert robot.with_forces([]).to_urdf().count("<friction") == 0


@pytest.mark.filterwarnings("ignore::screw_dynamics.UrdfWarning")
@pytest.mark.parametrize("options", [{}, {"floating_base": True}])
def test_real_robots_with_drives_loads_and_friction_that_falls(options, rng, tmp_path):
    robot = sd.Robot.from_urdf(LOADED["panda_description/urdf/panda.urdf"], **options)
    joints = [x for x in robot.joint_names if x.startswith("panda_joint")]
    drives = {x: sd.Drive(*rng.uniform((1e-5, 50.0), (1e-4, 120.0)), *rng.uniform((8e3, 0.0, 0.0), (2e4, 3.0, 9.0)))
              for x in joints[:5]} | {joints[5]: sd.Drive(2e-5, 100.0 / 3, carrier="panda_link5"), joints[6]: sd.Drive(
                  1e-5, 90.0, motor_damping=0.1)}
    driven = robot.with_drives(drives).with_forces([forces.Friction(x, *rng.uniform(0.1, 0.3, 2), 0.7, 0.02)
                                                    for x in joints])
    is_kept(driven, **options)
    loaded = driven.with_payload("panda_hand", 0.3, (0.01, 0.02, 1 / 3)).with_armature({
        joints[0]: 1e-3, f"{joints[1]}_motor": 0.4, joints[6]: 0.2})
    damping = loaded.model.damping * rng.uniform(1.5, 2.0)
    loaded = sd.Robot(replace(loaded.model, damping=damping), loaded.gravity, None, loaded.source)
    with pytest.raises(ValueError, match=f"to_urdf: damping .* of joint '{joints[0]}_motor'.* cannot be expressed"):
        loaded.to_urdf()                                    # which its drive does not say
    loaded = sd.Robot(following(loaded.model), loaded.gravity, None, loaded.source)
    text = is_kept(loaded, **options)
    assert sd.Robot.from_urdf(text, **options).model.drives[joints[1]].inertia == pytest.approx(0.4, rel=1e-15)
    (tmp_path / "panda.urdf").write_text(text)              # other readers have the links and joints without drives
    theirs = pinocchio.buildModelFromUrdf(str(tmp_path / "panda.urdf"))
    assert [x for x in theirs.names if x in joints] == joints
    assert sum(x.mass for x in theirs.inertias) == pytest.approx(loaded.total_mass, rel=1e-12)


def test_a_robot_without_a_urdf_is_written_with_its_drives():
    builder = sd.ModelBuilder("base")
    builder.add_screw("lift", "arm", "base", (0, 1, 0), mass=2.0, com=(0.3, 0, 0), inertia=0.05 * np.eye(3))
    robot = sd.Robot(builder.build()).with_drives({"lift": sd.Drive(1e-4, 80.0, 2000.0)})
    again = sd.Robot.from_urdf(robot.to_urdf())
    assert dict(again.model.drives) == dict(robot.model.drives) and again.joint_names == robot.joint_names


def test_changes_are_made_where_elements_are(arm):
    text = arm.with_drives(KINDS["springs"]).to_urdf().replace("<drive", "<!-- of the data sheet -->\n <drive")
    robot = sd.Robot.from_urdf(text)
    assert robot.to_urdf() == text
    drives = dict(KINDS["springs"])
    drives["lift"] = replace(drives["lift"], stiffness=700.0)
    other = arm.with_drives(drives)
    other = sd.Robot(other.model, other.gravity, None, robot.source).to_urdf()
    assert other == text.replace('stiffness="666.6666666666666"', 'stiffness="700.0"')


def test_drives_written_by_hand_are_read_with_the_numbers_that_they_have(arm):
    text = Path(ARM).read_text().replace("</robot>", """<screw_dynamics>
      <drive joint="lift" rotor_inertia="1e-4" ratio="80" stiffness="2e3"/>
      <drive joint="slide" rotor_inertia="2e-4"><joint name="waist" factor=".5"/></drive>
      <armature joint="lift_motor" value="0.7"/> <armature joint="lift" value="0.01"/>
      <friction joint="lift_motor" coulomb="1" breakaway="2"/></screw_dynamics></robot>""")
    with pytest.warns(sd.UrdfWarning, match="<armature> in .* is not what drives say, and counts: 'lift_motor'$"):
        robot = sd.Robot.from_urdf(text)
    expected = with_drives(arm.model, {"lift": sd.Drive(1e-4, 80.0, 2000.0),
                                       "slide": sd.Drive(2e-4, coupling={"waist": 0.5})})
    expected = expected.with_armature({"lift_motor": 0.7, "lift": 0.01})
    assert replace(robot.model, forces=()).digest == expected.digest
    assert robot.forces == (forces.Friction("lift_motor", coulomb=1.0, breakaway=2.0),)
    assert robot.to_urdf() == text


@pytest.mark.parametrize(("elements", "message"), [
    ('<drive joint="lift" rotor_inertia="1e-4" ratio="100"/><armature joint="lift" value="0.5"/>',
     "<armature> in <screw_dynamics> is not what drives say, and counts: 'lift'"),
    ('<drive joint="lift" rotor_inertia="1"><electric resistance="1" inductance="0.1" torque_constant="1"/></drive>'
     '<armature joint="lift_current" value="0.2"/>', "is not what drives say, and counts: 'lift_current'"),
    ('<drive joint="lift" rotor_inertia="1"><hardening coefficients="1"/><hardening coefficients="1"/></drive>',
     "given twice, alike: 'hardening in drive'"),
])
def test_what_is_odd_of_drives_is_said(elements, message):
    text = Path(ARM).read_text().replace("</robot>", f"<screw_dynamics>{elements}</screw_dynamics></robot>")
    with pytest.warns(sd.UrdfWarning, match=message):
        robot = sd.Robot.from_urdf(text)
    with pytest.warns(sd.UrdfWarning, match=message):
        assert sd.Robot.from_urdf(robot.to_urdf()).model.digest == robot.model.digest


@pytest.mark.filterwarnings("ignore::screw_dynamics.UrdfWarning")
def test_a_part_of_a_robot_has_the_drives_of_its_joints(arm):
    driven = arm.with_drives({**KINDS["coupled"], **{"slide": sd.Drive(1e-4, 50.0, carrier="column", axis=(
        1.0, 0.0, 0.0))}}).with_forces(
        [forces.Friction("lift_motor", 0.1), forces.Spring({"waist": 1.0, "slide": 1.0}, 3.0)])
    text = driven.to_urdf()
    part = sd.Robot.from_urdf(text, base_link="yoke")
    assert dict(part.model.drives) == {"slide": sd.Drive(1e-4, 50.0)} and part.forces == ()
    assert any("leaves out what acts on joints or links that do not move: 'friction on lift_motor'" in x
               for x in part.model.warnings)
    still = sd.Robot.from_urdf(text, lock={"waist": 0.3})
    assert still.model.drives["lift"].coupling == (("slide", 0.2),) and [*still.model.drives] == ["lift", "slide"]
    assert [x for x in still.model.warnings if "leaves out" in x and "'the drive of waist'" in x and "lift" not in x]
    assert [x for x in part.model.warnings if "'the drive of lift'" in x and "drive of waist" not in x]
    assert still.to_urdf() == text and part.to_urdf() == text
    stiffer = replace(still.model.drives["slide"], rotor_inertia=2e-4)
    other = sd.Robot(replace(arm.model, forces=()), source=text)
    assert etree.fromstring(other.to_urdf().encode()).find("screw_dynamics").findall("drive") == []
    assert stiffer.inertia == 0.5


REFUSED = [
    ('<drive joint="hip" rotor_inertia="1"/>', "<drive>: joint 'hip' does not exist"),
    ('<drive joint="lift"/>', "<drive>: attribute 'rotor_inertia' is missing"),
    ('<drive rotor_inertia="1"/>', "<drive>: attribute 'joint' is missing"),
    ('<drive joint="lift" rotor_inertia="-1"/>', "<drive>: rotor_inertia of Drive is -1.0, must be >= 0"),
    ('<drive joint="lift" rotor_inertia="1" ratoi="3"/>', "<drive>: attribute 'ratoi' is not known here, only"),
    ('<drive joint="lift" rotor_inertia="1" stiffness="much"/>', "stiffness='much' is not a number"),
    ('<drive joint="lift" rotor_inertia="1" carrier="hip"/>', "<drive>: link 'hip' does not exist"),
    ('<drive joint="lift" rotor_inertia="1" stiffness="3"><hardening coefficients="1"/></drive>',
     "<drive>: stiffness is given twice"),
    ('<drive joint="lift" rotor_inertia="1"><hardening coefficients="1 x"/></drive>', "'x'"),
    ('<drive joint="lift" rotor_inertia="1"><hardening coefficients="-1"/></drive>', "<hardening>: coefficients of"),
    ('<drive joint="lift" rotor_inertia="1"><antagonistic/></drive>', "<antagonistic>: spring is missing"),
    (2 * '<drive joint="lift" rotor_inertia="1"/>', "drive of joint 'lift' is given twice"),
    ('<drive joint="lift" rotor_inertia="1"><joint name="hip" factor="1"/></drive>', "joint 'hip' does not exist"),
    ('<drive joint="lift" rotor_inertia="1"><joint name="lift" factor="1"/></drive>', "is the joint itself"),
    ('<drive joint="clamp" rotor_inertia="1"/>', "<drive>: joint 'clamp' is fixed"),
    ('<friction damping="1"/>', "<friction>: joint is missing"), ('<friction joint="hip"/>', "joint 'hip' does not"),
    ('<friction joint="lift"><joint name="waist" factor="1"/></friction>', "<friction>: joint is given twice"),
    ('<friction joint="lift" damping="-1"/>', "damping of Friction.* is -1.0, must be a finite number >= 0"),
    ('<drag link="hip"/>', "link 'hip' does not exist"), ('<armature joint="lift_motor" value="1"/>', "does not exist"),
    ('<link_wrench link="boom" wrench="1 2 3"/>', "wrench of LinkWrench.* must be 6 finite numbers"),
    ('<custom/>', "<custom> is not known here")]


@pytest.mark.parametrize(("elements", "message"), REFUSED)
def test_what_is_no_drive_and_no_force_is_refused(elements, message):
    text = Path(ARM).read_text().replace("</robot>", f"<screw_dynamics>{elements}</screw_dynamics></robot>")
    with pytest.raises(sd.UrdfError, match=message) as error:
        sd.Robot.from_urdf(text)
    assert re.match(r"line \d+: ", str(error.value)) or re.search("itself|finite number", message)


def test_numbers_that_a_drive_cannot_say_are_refused_and_friction_that_is_less_than_a_motors_is_the_joints(arm):
    driven = arm.with_drives(KINDS["rigid"])
    less = sd.Robot(replace(driven.model, damping=0.3 * driven.model.damping), driven.gravity, None, driven.source)
    with pytest.warns(sd.UrdfWarning, match="all damping is the joint's, none its motor's.*'waist'"):
        text = less.to_urdf()
    again = sd.Robot.from_urdf(text)
    assert np.array_equal(again.model.damping, less.model.damping)
    assert again.model.drives["waist"] == replace(KINDS["rigid"]["waist"], motor_damping=0.0)
    spun = arm.with_drives(KINDS["on a carrier behind a spring"])
    wrong = spun.with_inertial_parameters(1.01 * spun.inertial_parameters)
    with pytest.raises(ValueError, match="to_urdf: link 'lift_motor': inertial parameters"):
        wrong.to_urdf()
