"""Models of MuJoCo: the same mass matrix, bias forces and equality constraints as MuJoCo's own."""
import os
import subprocess
import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, Distance
from support.paths import ROOT

LARGE = Path(mujoco.__file__).parent / "testdata" / "model.xml"
BODY = '<inertial pos="0.05 -0.02 0.1" quat="0.9 0.1 -0.2 0.3" mass="{}" diaginertia="0.03 0.02 0.04"/>'
LIGHT, HEAVY = BODY.format(0.7), BODY.format(2.5)
TREE = f"""
<worldbody>
  <body name="trunk" pos="0.3 0 1">{HEAVY}<freejoint name="base"/><site name="eye" pos="0.2 0 0.1" quat="1 0 1 0"/>
    <body name="arm" pos="0.1 0.2 0" quat="1 0.3 0 0.2">{LIGHT}
      <joint name="slide" type="slide" axis="1 0 1" ref="0.2" damping="0.3"/>
      <joint name="turn" axis="0 1 0.5" pos="0.05 0 0.1" ref="-0.4" frictionloss="0.2" range="-90 60" limited="true"/>
      <body name="cap" pos="0 0 0.2">{LIGHT}
        <body name="tip" pos="0.1 0 0" euler="0 30 0">{LIGHT}<joint name="bend" axis="1 0 0"/></body></body></body>
    <body pos="-0.1 0 0">{LIGHT}<joint name="ball" type="ball" pos="0 0.1 0"/>
      <body name="foot" pos="0 0 -0.3">{LIGHT}<joint axis="0 1 0"/></body></body></body>
  <body name="lever" pos="0 0.4 0.8">{LIGHT}<joint name="crank" axis="0 1 0"/>
    <site name="hole" pos="0 0.1 0.1" euler="10 20 30"/></body>
</worldbody>"""
EQUALITIES = {
    "pin": '<connect name="pin" body1="tip" body2="foot" anchor="0.02 0.1 -0.05"/>',
    "nail": '<connect name="nail" body1="tip" anchor="0.02 0.1 -0.05"/>',
    "grip": '<weld name="grip" body1="cap" body2="lever" relpose="0.1 0 0.2 0.8 0.1 0.5 0.2" anchor="0.05 0 0.1"/>',
    "hook": '<connect name="hook" site1="eye" site2="hole"/>',
    "plug": '<weld name="plug" site1="eye" site2="hole"/>',
    "belt": '<joint name="belt" joint1="bend" joint2="turn" polycoef="0.1 -2 0 0 0"/>',
    "clamp": '<joint name="clamp" joint1="turn" polycoef="0.3 0 0 0 0"/>',
}


def mjcf(*parts):
    return f'<mujoco><option gravity="0.5 0 -9" jacobian="dense"/>{TREE}{"".join(parts)}</mujoco>'


def models(*equalities):
    """MuJoCo's model, its data, and the ClosedLoopRobot."""
    model = mujoco.MjModel.from_xml_string(mjcf("<equality>", *equalities, "</equality>"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model, mujoco.MjData(model), ClosedLoopRobot.from_mjcf(model)


def turned(model, q, by):
    """Configurations with quaternions as MuJoCo has them, w first, from those with w last (by 1), or back (by -1)."""
    q = q.copy()
    for kind, at in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind < 2:
            at += 3 * (kind == 0)
            q[at:at + 4] = np.roll(q[at:at + 4], by)
    return q


def velocities(model, q):
    """T with qd = T qvel: twists of free joints in the body's frame of what MuJoCo has in the world's."""
    R, T = np.zeros(9), np.eye(model.nv)
    for joint in np.flatnonzero(model.jnt_type == 0):
        at, dof = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        mujoco.mju_quat2Mat(R, q[at + np.array((6, 3, 4, 5))])
        T[dof:dof + 6, dof:dof + 6] = np.block([[np.zeros((3, 3)), np.eye(3)], [R.reshape(3, 3).T, np.zeros((3, 3))]])
    return T


def mass_matrix(model, data):
    M = np.zeros((model.nv, model.nv))
    for row, column in zip(M, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, column)
    return M


def anywhere(model, rng):
    q = model.qpos0.copy()
    mujoco.mj_integratePos(model, q, rng.normal(size=model.nv), 1.0)
    return turned(model, q, -1)


def test_mass_matrix_bias_forces_and_poses_are_those_of_mujoco(rng):
    model, data, loops = models()
    robot = loops.robot
    for _ in range(5):
        q, data.qvel[:] = anywhere(model, rng), rng.normal(size=model.nv)
        data.qpos[:], T = turned(model, q, 1), velocities(model, q)
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(T.T @ robot.mass_matrix(q) @ T, mass_matrix(model, data), atol=1e-12)
        qd, qdd = T @ data.qvel, np.zeros(model.nv)
        qdd[3:6] = -np.cross(qd[:3], qd[3:6])       # MuJoCo's acceleration 0 of the base is that in the world's axes
        np.testing.assert_allclose(T.T @ robot.inverse_dynamics(q, qd, qdd), data.qfrc_bias, atol=1e-11)
        for name, there in (("tip", data.body("tip")), ("foot", data.body("foot")), ("eye", data.site("eye"))):
            pose = robot.forward_kinematics(q, name)
            np.testing.assert_allclose(pose[:3, 3], there.xpos, atol=1e-14)
            np.testing.assert_allclose(pose[:3, :3].ravel(), there.xmat, atol=1e-14)


@pytest.mark.skipif(not LARGE.exists(), reason="MuJoCo came without its test data")
def test_a_model_of_43_degrees_of_freedom_that_comes_with_mujoco(rng):
    model = mujoco.MjModel.from_xml_path(str(LARGE))
    with pytest.warns(sd.MjcfWarning, match="left out of the model of MuJoCo: "):
        robot = ClosedLoopRobot.from_mjcf(LARGE).robot
    q, data = anywhere(model, rng), mujoco.MjData(model)
    data.qpos[:], T = turned(model, q, 1), velocities(model, q)
    mujoco.mj_forward(model, data)
    left_out = np.isin(model.jnt_type[model.dof_jntid], (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL))
    M = mass_matrix(model, data) - np.diag(model.dof_armature * left_out)
    assert robot.armature.any()
    np.testing.assert_allclose(T.T @ robot.mass_matrix(q) @ T, M, atol=1e-12 * np.abs(M).max())
    np.testing.assert_allclose(T.T @ robot.gravity_torque(q), data.qfrc_bias, atol=1e-12 * np.abs(M).max())


@pytest.mark.slow
def test_equalities_hold_in_plain_python_what_they_hold_in_mujoco():
    """The same kernels, not compiled: those of loops in trees with Lie-group joints are of no other fast test."""
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-m", "slow", "-p", "no:cacheprovider", "-k",
                    test_equalities_hold_what_they_hold_in_mujoco.__name__, __file__], cwd=ROOT, check=True,
                   env=os.environ | {"NUMBA_DISABLE_JIT": "1"})


@pytest.mark.slow
@pytest.mark.parametrize("name", EQUALITIES)
def test_equalities_hold_what_they_hold_in_mujoco(name, rng):
    model, data, loops = models(EQUALITIES[name])
    q, m = anywhere(model, rng), loops.m
    data.qpos[:] = turned(model, q, 1)
    mujoco.mj_forward(model, data)
    if name in ("belt", "clamp"):                   # between bodies, residuals here are logarithms
        np.testing.assert_allclose(loops.residual(q), data.efc_pos[:m], atol=1e-12)
    q = loops.project(q)
    data.qpos[:] = turned(model, q, 1)
    mujoco.mj_forward(model, data)
    assert list(loops.rows) == [name] and np.abs(data.efc_pos[:m]).max() < 1e-11
    J, own = data.efc_J.reshape(-1, model.nv)[:m], loops.jacobian(q) @ velocities(model, q)
    np.testing.assert_allclose(np.linalg.pinv(own) @ own, np.linalg.pinv(J) @ J, atol=1e-9)     # the directions held


def test_joints_keep_their_limits_and_friction_and_unnamed_ones_get_names():
    model = sd.read_mjcf(mjcf())
    assert model.root == "world" and list(model.v_slices) == [
        "base", "slide", "turn", "bend", "ball", "joint_5", "crank"]
    assert {"world", "arm", "arm/slide", "body_5", "eye", "hole"} <= set(model.frames)
    turn, slide = model.v_slices["turn"].start, model.v_slices["slide"].start
    np.testing.assert_allclose((model.lower[turn], model.upper[turn]), np.radians((-90, 60)))
    assert model.lower[slide] == -np.inf and model.damping[slide] == 0.3 and model.friction[turn] == 0.2


def test_what_is_left_out_is_named():
    text = mjcf(
        "<equality>", EQUALITIES["pin"].replace("/>", ' active="false"/>'),
        EQUALITIES["belt"].replace("-2 0", "-2 1"), "</equality>",
        '<tendon><fixed name="cord"><joint joint="turn" coef="1"/></fixed></tendon>',
        '<actuator><motor name="drive" joint="turn"/><motor joint="bend"/></actuator>').replace(
            'name="bend"', 'name="bend" armature="0.1" stiffness="2"').replace(
            'name="ball"', 'name="ball" armature="0.2"').replace(
            'name="lever"', 'name="lever" gravcomp="1"').replace("</worldbody>", '<geom size="1"/></worldbody>')
    with pytest.warns(sd.MjcfWarning) as caught:
        robot = sd.Robot.from_mjcf(text)
    assert [str(w.message) for w in caught] == list(robot.warnings) == [
        "left out of the model of MuJoCo: armature of ball and free joints 'ball'; springs of joints 'bend'; gravity "
        "compensation of bodies 'lever'; actuators 'actuator_1', 'drive'; tendons 'cord'; equalities 'belt', 'pin'; "
        "contacts"]
    assert caught[0].filename == __file__
    assert robot.gravity.tolist() == [0.5, 0.0, -9.0] and robot.model.constraints == ()
    assert np.flatnonzero(robot.armature).tolist() == [robot.v_slices["bend"].start] and robot.armature.max() == 0.1


def test_a_robot_leaves_equalities_open_and_says_so(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(mjcf("<equality>", EQUALITIES["belt"], "</equality>"))
    with pytest.warns(sd.MjcfWarning, match=r"left open, .* \(ClosedLoopRobot.from_mjcf closes them\): 'belt'"):
        robot = sd.Robot.from_mjcf(path, gravity=(0, 0, 0))
    assert robot.gravity.tolist() == [0, 0, 0] and ClosedLoopRobot(robot).m == 1
    for given, gravity in ((None, [0.5, 0.0, -9.0]), ((0, 0, -1), [0, 0, -1])):
        assert ClosedLoopRobot.from_mjcf(path, given).robot.gravity.tolist() == gravity
    more = ClosedLoopRobot.from_mjcf(mujoco.MjSpec.from_file(str(path)), constraints=[Distance("rod", "tip", "lever")])
    assert list(more.rows) == ["belt", "rod"]


@pytest.mark.parametrize(("source", "message"), [
    ("<mujoco><worldbody><bodie/></worldbody></mujoco>", "MuJoCo refuses the model: XML Error"),
    ("nowhere.xml", r"MJCF: .*nowhere.xml: neither XML text nor the path of a readable file \(No such file"),
    (7, "MJCF must be text, a path, an MjSpec or an MjModel, and folder a path: expected str, bytes or os.PathLike")])
def test_what_mujoco_refuses_is_a_value_error(source, message):
    with pytest.raises(ValueError, match=message):
        sd.read_mjcf(source)


# ------------------------------------------------------------------------------------------------- files
ROD = '<mujoco><worldbody><body name="rod"><joint name="turn"/>{}</body></worldbody>{}</mujoco>'
TETRAHEDRON = "\n".join(["v 0 0 0", "v 1 0 0", "v 0 1 0", "v 0 0 1", "f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files, within one that has a model too, which nobody may read from there."""
    inside = tmp_path / "model"
    (inside / "assets").mkdir(parents=True)
    part = '<mujoco><worldbody><body name="part"><joint name="slide" type="slide"/>{}</body></worldbody></mujoco>'
    for path in tmp_path / "secret.xml", inside / "part.xml":
        path.write_text(part.format(LIGHT))
    (inside / "assets" / "rod.obj").write_text(TETRAHEDRON)
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    os.mkfifo(inside / "pipe.xml")
    monkeypatch.chdir(inside)
    return inside


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("parts, joints", [
    (('<geom type="mesh" mesh="rod"/>', '<compiler meshdir="assets"/><asset><mesh name="rod" file="rod.obj"/></asset>'),
     ("turn",)),
    ((LIGHT, '<include file="part.xml"/>'), ("turn", "slide")),
    ((LIGHT, '<include file="./assets/../part.xml"/>'), ("turn", "slide"))])
def test_files_in_the_folder_of_a_model_are_read(folder, as_text, parts, joints):
    text, path = ROD.format(*parts), folder / "main.xml"
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.MjcfWarning)
        robot = sd.Robot.from_mjcf(text if as_text else path)
    assert robot.joint_names == joints and robot.total_mass > 0.0


OUTSIDE = {
    "include": '<include file="{}.xml"/>', "mesh": '<asset><mesh name="rod" file="{}.obj"/></asset>',
    "INCLUDE": '<INCLUDE FILE="{}.xml"/>', "texture": '<asset><texture name="t" fileright="{}.obj"/></asset>',
    "model": '<asset><model name="other" file="{}.xml"/></asset>', "part of a part": '<include file="nested.xml"/>',
    "meshdir": '<compiler meshdir="{}/.."/><asset><mesh name="rod" file="secret.obj"/></asset>'}


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("element", OUTSIDE)
@pytest.mark.parametrize("path", [
    "{}/secret", "../secret", "assets/../../secret", "..\\secret", "{}/model_too/secret", "../model_too/secret"])
def test_files_outside_are_refused(folder, as_text, element, path):
    outside = path.format(folder.parent)
    (folder / "nested.xml").write_text(f'<mujoco><include file="{outside}.xml"/></mujoco>')
    text, file = ROD.format(LIGHT, OUTSIDE[element].format(outside)), folder / "main.xml"
    file.write_text(text)
    for read in sd.read_mjcf, sd.Robot.from_mjcf, ClosedLoopRobot.from_mjcf:
        with pytest.raises(ValueError, match=r"^MJCF: <\w+> names the file .*, which is outside of .*model; folder="):
            read(text if as_text else file)


def test_a_wider_folder_can_be_given(folder):
    for read in (sd.Robot.from_mjcf, ClosedLoopRobot.from_mjcf):
        robot = read(ROD.format(LIGHT, '<include file="../secret.xml"/>'), folder=folder.parent)
        assert getattr(robot, "robot", robot).joint_names == ("turn", "slide")
    with pytest.raises(ValueError, match="MJCF must be text, a path, .* and folder a path: expected str, bytes"):
        sd.read_mjcf(ROD.format(LIGHT, ""), folder=3)


def test_what_is_no_file_is_refused_at_once(folder):
    """A named pipe would wait for its other end, /dev/zero has none."""
    include = ROD.format(LIGHT, '<include file="pipe.xml"/>')
    for source, message in [("pipe.xml", "pipe.xml: not a file"), (include, "names 'pipe.xml', which is not a file"),
                            ("/dev/zero", "/dev/zero: not a file"), (".", "not a file")]:
        with pytest.raises(ValueError, match=f"^MJCF: .*{message}"):
            sd.read_mjcf(source)


@pytest.mark.parametrize("text, message", [
    ('<!DOCTYPE mujoco [<!ENTITY a "aaaa">]><mujoco model="&a;"/>', r"a document type \(DTD\) is not allowed"),
    ("<mujoco><worldbody></mujoco>", "not well-formed XML: mismatched tag: line 1"),
    (ROD.format('<inertial mass="1" diaginertia="1 1 1"\npos="nan 0 0"/>', ""),
     r"line 1: pos of <inertial> is 'nan 0 0', must be finite"),
    (ROD.format('<joint name="nan" range="-1 NaN"/>', ""), r"line 1: range of <joint> is '-1 NaN', must be finite"),
    ("<mujoco>\n<option gravity='0 -nan(0x1) 0'/></mujoco>", r"line 2: gravity of <option> is '0 -nan\(0x1\) 0'"),
    ("<mujoco>" + " " * (16 * 2**20) + "</mujoco>", "the text is larger than 16777216 bytes")])
def test_hostile_text_is_refused(text, message):
    with pytest.raises(ValueError, match=f"^MJCF: {message}"):
        sd.read_mjcf(text)


def test_a_name_may_be_nan(folder):
    """Names are no numbers."""
    assert sd.read_mjcf(ROD.format(f'<joint name="nan"/>{LIGHT}', "")).joint_names == ("turn", "nan")
    include = ROD.format(LIGHT, '<include file="part.xml"/>')
    (folder / "part.xml").write_text(f'<mujoco><worldbody><body pos="0 nan 0">{LIGHT}</body></worldbody></mujoco>')
    with pytest.raises(ValueError, match=r"line 1: pos of <body> is '0 nan 0', must be finite"):
        sd.read_mjcf(include)


def test_without_mujoco_it_says_what_to_install():
    script = ("import sys; sys.modules['mujoco'] = None\nimport screw_dynamics as sd\n"
              "try: sd.read_mjcf('robot.xml')\nexcept ValueError as error: print(error)")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "MJCF is read by MuJoCo, which is not installed: pip install mujoco\n"
