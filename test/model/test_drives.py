"""Drives at the joints of a model: against MuJoCo with motors as bodies, gears as tendons, and what is refused."""
import pickle
from dataclasses import replace

import mujoco
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.model.drive import Antagonistic, Electric, Hardening, LeverArm, Table, Thermal, TorqueSpeed
from screw_dynamics.model.drive_numbers import following
from screw_dynamics.model.drives import without_drives
from screw_dynamics.model.joining import Mounted, join
from support.random_trees import GROUPS, KINDS, model_of, random_tree

RATIO, AXIAL, STIFFNESS, DAMPING = (60.0, -45.0), (2e-4, 3e-4), (900.0, 500.0), (0.7, 0.4)
# Two rotors, of symmetric inertia, turned against their joints; each spins if its joint is there.
ARM = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="upper" pos="0 0 0.3"><joint name="first" axis="0 1 0"/>
    <inertial pos="0.1 0.02 0.05" mass="2" diaginertia="0.03 0.04 0.05"/>
    <body name="rotor_2" pos="0.2 0.1 0" euler="0.3 0.2 0">{second}
      <inertial pos="0 0 0" mass="0.3" diaginertia="4e-4 4e-4 3e-4"/></body>
    <body name="lower" pos="0.4 0 0"><joint name="second" axis="1 0 0.5"/>
      <inertial pos="0.2 0 0.03" mass="1" diaginertia="0.01 0.02 0.02"/>
      <body name="rotor_1" pos="0.1 0 0.2" euler="-0.4 0.5 0">{first}
        <inertial pos="0 0 0" mass="0.2" diaginertia="3e-4 3e-4 2e-4"/></body></body></body></worldbody>{tendon}
  </mujoco>"""
TENDON = """<fixed stiffness="{}" damping="{}"><joint joint="{}" coef="1"/><joint joint="{}" coef="{}"/>
  <joint joint="{}" coef="{}"/></fixed>"""
ALONE, COUPLED = (0.0, 0.0), (0.5, -0.7)        # how much the other joint turns each motor


def arm(spins, coupling=ALONE):
    """MuJoCo's model, with rotors that spin or stand."""
    joints = {name: f'<joint name="{name}_motor" axis="0 0 1"/>' if spins else "" for name in ("first", "second")}
    tendons = "".join(TENDON.format(K, D, name, f"{name}_motor", -1.0 / ratio, other, factor)
                      for name, other, K, D, ratio, factor in zip(("first", "second"), ("second", "first"), STIFFNESS,
                                                                  DAMPING, RATIO, coupling, strict=True))
    return mujoco.MjModel.from_xml_string(ARM.format(**joints, tendon=f"<tendon>{tendons}</tendon>" if spins else ""))


@pytest.fixture
def rigid():
    return sd.Robot.from_mjcf(arm(spins=False))


def drives(mj, coupling=ALONE, **options):
    """Those of the arm: its rotors with their axes in the frames of what carries them."""
    others = dict(zip(("first", "second"), ("second", "first"), strict=True))
    factors = dict(zip(others, coupling, strict=True))
    found = {}
    for name, body, carrier, ratio, axial, K, D in zip(("first", "second"), ("rotor_1", "rotor_2"), ("lower", "upper"),
                                                       RATIO, AXIAL, STIFFNESS, DAMPING, strict=True):
        axis = np.zeros(3)
        mujoco.mju_rotVecQuat(axis, np.array([0.0, 0.0, 1.0]), mj.body(body).quat)
        spring = {} if options.get("stiff") else {"stiffness": K, "damping": D}
        found[name] = sd.Drive(axial, ratio, **spring, carrier=carrier, axis=axis,
                               coupling={others[name]: factors[name]} if factors[name] else {})
    return found


def of_mujoco(mj, ratio):
    """The places of q, then of the motors, in MuJoCo's model, and by what its numbers are more than ours."""
    names = ("first", "second", "first_motor", "second_motor")
    return [mj.joint(name).dofadr[0] for name in names], np.array([1.0, 1.0, *ratio])


@pytest.mark.parametrize("coupling", [ALONE, COUPLED])
@pytest.mark.filterwarnings("ignore:left out of the model of MuJoCo")
def test_elastic_drives_with_rotors_are_mujocos_bodies_and_tendons(rng, rigid, coupling):
    mj = arm(spins=True, coupling=coupling)
    data, (at, more) = mujoco.MjData(mj), of_mujoco(mj, RATIO)
    driven = rigid.with_drives(drives(mj, coupling))
    assert driven.joint_names == ("first", "second", "first_motor", "second_motor")
    assert driven.total_mass == pytest.approx(rigid.total_mass, rel=1e-15)
    for q, qd, tau in rng.normal(size=(20, 3, 4)):
        q[2:], tau = q[:2] + 0.01 * q[2:], 30.0 * tau
        data.qpos[at], data.qvel[at], data.qfrc_applied[at] = more * q, more * qd, tau / more
        mujoco.mj_forward(mj, data)
        expected = data.qacc[at] / more
        found = driven.forward_dynamics(q, qd, tau + driven.drive_torque(q, qd))
        assert abs(found - expected).max() <= 1e-10 * abs(expected).max()


@pytest.mark.parametrize("coupling", [ALONE, COUPLED])
@pytest.mark.filterwarnings("ignore:left out of the model of MuJoCo")
def test_rotors_of_rigid_drives_spin_as_their_gears_say(rng, rigid, coupling):
    """MuJoCo's motions of links and rotors, projected onto those of links: [MK] has no gears."""
    mj = arm(spins=True)
    data, (at, _) = mujoco.MjData(mj), of_mujoco(mj, RATIO)
    driven = rigid.with_drives(drives(mj, coupling, stiff=True))
    T = np.vstack([np.eye(2), np.diag(RATIO) @ (np.eye(2) + np.diag(coupling)[:, ::-1])])
    M = np.zeros((mj.nv, mj.nv))
    for q, qd, tau in rng.normal(size=(20, 3, 2)):
        data.qpos[at], data.qvel[at], data.qfrc_applied[:] = T @ q, T @ qd, 0.0
        mj.tendon_stiffness[:], mj.tendon_damping[:] = 0.0, 0.0
        mujoco.mj_forward(mj, data)
        mujoco.mj_fullM(mj, data, M)
        expected = np.linalg.solve(T.T @ M[np.ix_(at, at)] @ T, tau - T.T @ data.qfrc_bias[at])
        assert abs(driven.forward_dynamics(q, qd, tau) - expected).max() <= 1e-11 * abs(expected).max()
        lumped = rigid.with_drives({name: sd.Drive(axial, ratio) for name, axial, ratio in zip(
            ("first", "second"), AXIAL, RATIO, strict=True)})
        assert abs(lumped.forward_dynamics(q, qd, tau) - expected).max() > 1e-4 * abs(expected).max()


def test_a_rigid_drive_is_armature_and_friction_more(rigid):
    driven = rigid.with_drives({"first": sd.Drive(2e-4, 60.0, motor_damping=0.3, motor_friction=0.2)})
    assert (driven.armature == [60.0 * 60.0 * 2e-4, 0.0]).all() and driven.n == 2
    assert (driven.model.damping == [0.3, 0.0]).all() and (driven.model.friction == [0.2, 0.0]).all()
    q, qd, qdd = np.array([[0.3, 0.4], [1.0, -2.0], [3.0, 1.0]])
    expected = rigid.with_armature({"first": 60.0 * 60.0 * 2e-4}).inverse_dynamics(q, qd, qdd)
    assert (driven.inverse_dynamics(q, qd, qdd) == expected).all()


def test_rigid_motors_that_several_joints_turn_add_the_energy_of_their_spin_alone(rng):
    """M = M_links + T^T diag(I) T, of a transmission matrix T: nothing else changes, nor momenta nor gravity."""
    robot = sd.Robot.from_urdf("urdf/spherical_arm.urdf", floating_base=True)
    joints, T, inertia = robot.joint_names[1:], rng.normal(size=(3, 3)), np.array((1e-3, 2e-3, 4e-3))
    found = {joint: sd.Drive(axial, row[k], motor_damping=0.1, coupling={
        other: row[m] / row[k] for m, other in enumerate(joints) if m != k})
        for k, (joint, axial, row) in enumerate(zip(joints, inertia, T, strict=True))}
    driven = robot.with_drives(found)
    assert driven.n == robot.n and driven.joint_names == robot.joint_names and not driven.model.motors
    T = np.hstack([np.zeros((3, 6)), T])
    for _ in range(5):
        q, (qd, qdd) = robot.random_configuration(seed=rng), rng.normal(size=(2, robot.n))
        np.testing.assert_allclose(driven.mass_matrix(q), robot.mass_matrix(q) + T.T @ np.diag(inertia) @ T, rtol=0,
                                   atol=1e-13)
        np.testing.assert_allclose(driven.inverse_dynamics(q, qd, qdd) - robot.inverse_dynamics(q, qd, qdd),
                                   T.T @ (inertia * (T @ qdd)), rtol=0, atol=1e-12)
        np.testing.assert_allclose(driven.centroidal_momentum(q, qd), robot.centroidal_momentum(q, qd), rtol=0,
                                   atol=1e-12)
        drag = np.diag(T[:, 6:]) ** -2 * 0.1        # at the joint, of a motor's rate over its own ratio
        np.testing.assert_allclose(driven.friction_torque(qd), T.T @ (drag * (T @ qd)), rtol=0, atol=1e-12)
        assert not driven.drive_torque(q, qd).any()
    assert without_drives(driven.model).digest == robot.model.digest
    some = without_drives(driven.model, [joints[0]])
    assert [*some.drives] == [*joints[1:]]
    np.testing.assert_allclose(sd.Robot(some).mass_matrix(q), robot.with_drives(
        {joint: found[joint] for joint in joints[1:]}).mass_matrix(q), rtol=0, atol=1e-14)


@pytest.mark.parametrize("kinds", [KINDS, (*GROUPS, *KINDS)])
def test_drives_come_off_again(rng, kinds):
    robot = sd.Robot(model_of(random_tree(rng, 7, 2, kinds)))
    model = robot.model
    links = [link for link, (body, _) in model.frames.items() if body < 0 or model.is_link[body]]
    winding = Electric(0.5, 1e-3, 0.05, 48.0)
    springs = [None, 3.0, Hardening((1.0, 2.0)), Table((0.1, 0.2), (1.0, 3.0)), Antagonistic(Hardening((0.0, 1.0))),
               LeverArm((1.0, 0.0, 2.0), 0.1, 0.0, 1.0)]
    joints = [joint for joint in model.joint_names if model.kind_of(joint) not in GROUPS]
    given = {}
    for i, joint in enumerate(joints):
        spring = springs[i % len(springs)]
        carried = i % 2 and not isinstance(spring, (Antagonistic, LeverArm))
        electric = None if isinstance(spring, Antagonistic) or i % 3 else winding
        rotor = {"carrier": links[i % len(links)], "axis": (0, 1, 2)} if carried else {}
        coupled = i % 3 == 1 and not isinstance(spring, (Antagonistic, LeverArm)) and len(joints) > 1
        given[joint] = sd.Drive(1e-4, 20.0, spring, electric=electric, **rotor,
                                coupling={joints[i - 1]: 0.3} if coupled else {})
    driven = robot.with_drives(given)
    back = without_drives(driven.model)
    for name in ("joint_names", "joint_kinds", "body_names", "body_joints", "mimics"):
        assert getattr(back, name) == getattr(model, name)
    for name in ("parents", "coordinates", "screws_body", "relative_poses", "lower", "upper", "damping"):
        assert (getattr(back, name) == getattr(model, name)).all()
    assert abs(back.inertias - model.inertias).max() < 1e-14
    assert abs(back.root_inertia - model.root_inertia).max() < 1e-14
    assert {name: body for name, (body, _) in back.frames.items()} == {name: body for name, (body, _) in
                                                                        model.frames.items()}


def test_drives_are_part_of_the_model_copied_mounted_and_told_apart(rigid):
    drive = sd.Drive(2e-4, 60.0, 900.0, 0.7, carrier="lower")
    driven = rigid.with_drives({"first": drive})
    again = pickle.loads(pickle.dumps(driven))
    assert again.model.drives == {"first": drive} and again.model.digest == driven.model.digest != rigid.model.digest
    assert driven.model.digest != rigid.with_drives({"first": sd.Drive(2e-4, 60.0, 901.0, 0.7, carrier="lower")}
                                                    ).model.digest
    both = sd.Robot(join(driven.model, [Mounted(driven.model, "left/")]))
    assert both.model.motors == {"first": ("first_motor",), "left/first": ("left/first_motor",)}
    assert both.model.drives["left/first"].carrier == "left/lower"
    q = np.array([0.3, 0.4, 0.35, -0.3, -0.4, -0.45])
    one = [driven.drive_torque(x, np.zeros(3)) for x in (q[:3], q[3:])]
    assert (both.drive_torque(q, np.zeros(6)) == np.concatenate(one)).all()
    assert both.joint_names[3:] == ("left/first", "left/second", "left/first_motor")


def test_rotors_that_several_joints_turn_come_off_a_mounted_robot(rigid):
    driven = rigid.with_drives({"first": sd.Drive(2e-4, 60.0, coupling={"second": 0.5}),
                                "second": sd.Drive(1e-4, 60.0, coupling={"first": -0.5}, carrier="lower")})
    both, alone = (join(x.model, [Mounted(x.model, "left/")]) for x in (driven, rigid))
    assert both.drives["left/first"].coupling == (("left/second", 0.5),)
    back = without_drives(both)
    assert (back.body_names, back.body_joints) == (alone.body_names, alone.body_joints)


@pytest.mark.parametrize("given, message", [
    ([1.0], r"drives must be \{joint: Drive\}, not"),
    ({"elbow": sd.Drive(1.0)}, "drive of joint 'elbow': the joint does not exist; the model has first, second"),
    ({"first": 1.0}, "drive of joint 'first' must be a Drive, not 1.0"),
    ({"first": sd.Drive(1.0, carrier="lower")}, "rotor_inertia 1 is more than carrier 'lower', of which it is a part"),
    ({"first": sd.Drive(1.0, coupling={"elbow": 1.0})}, "joint 'first': joint 'elbow' of its coupling does not exist"),
    ({"first": sd.Drive(1.0, coupling={"first": 1.0})}, "joint 'first' of its coupling is the joint itself"),
    ({"first": sd.Drive(1.0, carrier="nose")}, "joint 'first': carrier 'nose' does not exist; the links are world"),
])
def test_drives_of_what_is_not_there_are_refused(rigid, given, message):
    with pytest.raises(ValueError, match=message):
        rigid.with_drives(given)


def test_drives_of_joints_that_have_one_follow_or_are_on_groups_are_refused():
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(3), 5, 2)))
    follower, (leader, *_) = next(iter(robot.model.mimics.items()))
    with pytest.raises(ValueError, match=f"{follower}.*follows '{leader}', whose drive moves both"):
        robot.with_drives({follower: sd.Drive(1.0)})
    driven = robot.with_drives({leader: sd.Drive(1.0, 1.0, 10.0)})
    with pytest.raises(ValueError, match=f"joint '{leader}': it has one"):
        driven.with_drives({leader: sd.Drive(1.0)})
    with pytest.raises(ValueError, match=f"'{leader}_motor': it is the coordinate of one"):
        driven.with_drives({f"{leader}_motor": sd.Drive(1.0)})
    floating = sd.Robot.from_urdf("urdf/spherical_arm.urdf", floating_base=True)
    with pytest.raises(ValueError, match="'floating_base': it is free, and only joints of one degree"):
        floating.with_drives({"floating_base": sd.Drive(1.0)})
    with pytest.raises(ValueError, match="'slide': the joint slides, so that the rotor needs an axis"):
        floating.with_drives({"slide": sd.Drive(1.0, carrier=floating.link_names[1])})


@pytest.mark.parametrize("make, message", [
    (lambda: sd.Drive(0.0, stiffness=1.0), "rotor_inertia of Drive is 0.0, must be > 0"),
    (lambda: sd.Drive(-1.0), "rotor_inertia of Drive is -1.0, must be >= 0"),
    (lambda: sd.Drive(True), "rotor_inertia of Drive is True, must be a finite number"),
    (lambda: sd.Drive(1.0, 0.0), "ratio of Drive is 0"),
    (lambda: sd.Drive(1e300, 1e300), r"rotor_inertia 1e\+300 of Drive at the ratio 1e\+300 is inf at the joint"),
    (lambda: sd.Drive(1e-300, 1e-300, 1.0), "is 0.0 at the joint, out of range"),
    (lambda: sd.Drive(1.0, np.nan), "ratio of Drive is nan, must be a finite number"),
    (lambda: sd.Drive(1.0, stiffness=-1.0), "stiffness of Drive is -1.0, must be > 0"),
    (lambda: sd.Drive(1.0, stiffness="soft"), "stiffness of Drive is 'soft', must be a finite number"),
    (lambda: sd.Drive(1.0, damping=1.0), "damping of Drive is 1.0, of a drive without stiffness"),
    (lambda: sd.Drive(1.0, stiffness=1.0, gear_loss=1.0), "gear_loss of Drive is 1.0, must be < 1"),
    (lambda: sd.Drive(1.0, axis=(0, 0, 1)), r"axis of Drive is \(0.0, 0.0, 1.0\), of a rotor without carrier"),
    (lambda: sd.Drive(1.0, carrier="a", axis=(0, 0, 0)), "axis of Drive is .* must not be 0"),
    (lambda: sd.Drive(1.0, stiffness=Antagonistic(Hardening((1.0,))), backlash=0.1), "backlash.*not with Antagonistic"),
    (lambda: sd.Drive(1.0, stiffness=Antagonistic(Hardening((1.0,))), coupling={"a": 1.0}), "coupling.*Antagonistic"),
    (lambda: sd.Drive(1.0, coupling={"a": 0.0}), "coupling of Drive is {'a': 0.0}, must be {joint: factor}"),
    (lambda: sd.Drive(1.0, coupling="a"), "coupling of Drive is 'a', must be {joint: factor}"),
    (lambda: sd.Drive(1.0, coupling={3: 1.0}), "coupling of Drive is {3: 1.0}, must be"),
    (lambda: sd.Drive(1.0, coupling=(("a", 1.0), ("a", 2.0))), "coupling of Drive is .*, which has a joint twice"),
    (lambda: sd.Drive(1.0, coupling=["ab"]), "coupling of Drive is .*, must be {joint: factor}"),
    (lambda: sd.Drive(1.0, electric=3.0), "electric of Drive is 3.0, must be Electric"),
    (lambda: sd.Drive(1.0, stiffness=Antagonistic(Hardening((1.0,))), electric=Electric(1.0, 1e-3, 0.1)),
     "electric of Drive is .* not with Antagonistic"),
    (lambda: TorqueSpeed(0.0, 100.0), "stall_torque of TorqueSpeed is 0.0, must be > 0"),
    (lambda: TorqueSpeed(1.0, -100.0), "no_load_speed of TorqueSpeed is -100.0, must be > 0"),
    (lambda: sd.Drive(1.0, torque_speed=3.0), "torque_speed of Drive is 3.0, must be TorqueSpeed"),
    (lambda: sd.Drive(1.0, torque_speed=TorqueSpeed(1.0, 1.0), coupling={"a": 1.0}), "torque_speed of Drive: not with"),
    (lambda: sd.Drive(1.0, torque_speed=TorqueSpeed(1.0, 1.0), electric=Electric(1.0, 1.0, 1.0)), "not with electric"),
    (lambda: Thermal(0.1, 1.0, 1.0, 20.0), "ambient 25.0 of Thermal must be below highest 20.0"),
    (lambda: Thermal(0.1, 0.0, 1.0), "resistance of Thermal is 0.0, must be > 0"),
    (lambda: sd.Drive(1.0, thermal=3.0), "thermal of Drive is 3.0, must be Thermal"),
    (lambda: Electric(0.0, 1e-3, 0.1), "resistance of Electric is 0.0, must be > 0"),
    (lambda: Electric(1.0, 1e-3, 0.1, -24.0), "voltage of Electric is -24.0, must be > 0"),
    (lambda: Hardening((0.0,)), "each must be >= 0, and one > 0"),
    (lambda: Hardening((1.0, -1.0)), "each must be >= 0"),
    (lambda: Hardening(range(5)), "must be 1 to 4 finite numbers"),
    (lambda: Table((0.1, 0.1), (1.0, 2.0)), "deflections of Table must increase: 0.1 follows 0.1"),
    (lambda: Table((0.1, 0.2), (1.0, 0.5)), "torques of Table must not decrease: 0.5 follows 1.0"),
    (lambda: Table((0.1, 0.2), (1.0, 1.0)), "torques of Table must increase in the last interval, which ends at 1.0"),
    (lambda: Table((0.1,), (1.0, 2.0)), "Table has 1 deflections and 2 torques"),
    (lambda: Antagonistic(3.0), "spring of Antagonistic is 3.0, must be Hardening or Table"),
    (lambda: LeverArm((0.0, 0.0, 1.0), 1.0, 0.0, 1.0), "stiffness of LeverArm is 0 at 0, must be > 0"),
    (lambda: LeverArm((1.0, -2.0, 1.0), 1.0, 0.5, 2.0), "stiffness of LeverArm is 0 at 1, must be > 0"),
    (lambda: LeverArm((1.0, 0.0, 1.0), 1.0, 1.0, 0.0), "lower 1.0 of LeverArm must be below upper 0.0")])
def test_what_is_no_drive_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("ratio", [80.0, -80.0])
def test_the_line_of_torque_over_speed_is_that_of_the_joint_whichever_way_the_gear_turns(ratio):
    """stall |n| (1 - |q'| |n| / no-load speed) where a motor drives, more where it brakes."""
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(1), 1, of=("revolute",))))
    joint, = robot.joint_names
    fast = robot.with_drives({joint: sd.Drive(1e-4, ratio, torque_speed=TorqueSpeed(0.5, 400.0))})
    lowest, highest = fast.effort_bounds([2.5])
    assert (lowest[0], highest[0]) == pytest.approx((-0.5 * 80.0 * 1.5, 0.5 * 80.0 * 0.5), rel=1e-14)


@pytest.mark.parametrize("total, share", [(0.7, 0.3), (0.2, 0.2)])
def test_a_rigid_motors_share_of_friction_stays_and_is_at_most_all_of_it(total, share):
    """Of a joint whose friction becomes another, what its drive says follows."""
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(1), 1, of=("revolute",)), damping=0.5, friction=0.5))
    joint, = robot.joint_names
    driven = robot.with_drives({joint: sd.Drive(1e-4, 80.0, motor_damping=0.3, motor_friction=0.3)})
    assert driven.model.damping == pytest.approx(0.8) and driven.model.friction == pytest.approx(0.8)
    rubs = np.array([total])
    drive = following(replace(driven.model, damping=rubs, friction=rubs)).drives[joint]
    assert (drive.motor_damping, drive.motor_friction) == (share, share)
