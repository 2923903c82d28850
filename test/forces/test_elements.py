"""What each force element is: against MuJoCo, against formulas of the textbook in NumPy, and what is refused."""
import pickle
import subprocess
import sys

import mujoco
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics import forces
from screw_dynamics.forces import custom
from screw_dynamics.numbers.values import PLAIN
from support.paths import URDF
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.users_force import swirl

BOUND = 1e-12
ARM = """<mujoco><option gravity="0 0 -9.81"><flag energy="enable"/></option><worldbody>
  <site name="wall" pos="0.4 -0.3 0.6"/>
  <body name="upper" pos="0 0.1 0.2" euler="20 30 10"><joint name="first" axis="0.2 1 0.3"/>
    <inertial pos="0.1 0 0.05" mass="1.2" diaginertia="0.02 0.03 0.04"/><site name="a" pos="0.2 0.1 -0.1"/>
    <body name="slider" pos="0.3 0 0.1" euler="-40 10 0"><joint name="second" type="slide" axis="1 0.5 0"/>
      <inertial pos="0 0.1 0" mass="0.7" diaginertia="0.01 0.02 0.015"/>
      <body name="fore" pos="0.2 0 0" euler="0 0 50"><joint name="third" axis="0 0 1"/>
        <inertial pos="0.15 0 0" mass="0.5" diaginertia="0.005 0.01 0.01"/><site name="b" pos="0.3 0 0.05"/>
  </body></body></body></worldbody>
  <tendon>
    <spatial stiffness="80" damping="3" springlength="0.2"><site site="wall"/><site site="b"/></spatial>
    <spatial stiffness="40" damping="1" springlength="0.1"><site site="a"/><site site="b"/></spatial>
    <fixed stiffness="25" damping="2" springlength="0.3"><joint joint="first" coef="1"/><joint joint="third" coef="-2"/>
    </fixed></tendon></mujoco>"""


def sum_of(robot, *elements, **options):
    return robot.total_force(elements, **options)


@pytest.mark.filterwarnings("ignore:left out of the model of MuJoCo")
def test_springs_are_mujocos_tendons(rng):
    mj = mujoco.MjModel.from_xml_string(ARM)
    robot, data = sd.Robot.from_mjcf(ARM), mujoco.MjData(mj)
    total = sum_of(
        robot,
        forces.PointSpring("fore", 80.0, 3.0, 0.2, (0.3, 0.0, 0.05), other_point=(0.4, -0.3, 0.6)),
        forces.PointSpring("fore", 40.0, 1.0, 0.1, (0.3, 0.0, 0.05), "upper", (0.2, 0.1, -0.1)),
        forces.Spring({"first": 1.0, "third": -2.0}, 25.0, 2.0, 0.3))
    for q, qd in rng.normal(size=(20, 2, 3)):
        data.qpos[:], data.qvel[:] = q, qd
        mujoco.mj_forward(mj, data)
        assert abs(total.efforts(q, qd) - data.qfrc_passive).max() <= BOUND * abs(data.qfrc_passive).max()
        stored = total.potential_energy(q) + robot.potential_energy(q)
        assert abs(stored - data.energy[0]) <= BOUND * abs(stored)


@pytest.mark.parametrize("kinds", [KINDS, pytest.param((*GROUPS, *KINDS), marks=pytest.mark.slow)])
def test_a_wrench_on_a_link_is_an_external_wrench(rng, kinds):
    """External wrenches of dynamics are in recursions of their own."""
    robot = sd.Robot(model_of(random_tree(rng, 6, 0, kinds)))
    q, qd = robot.integrate(robot.neutral(), rng.normal(size=robot.n)), rng.normal(size=robot.n)
    for link in robot.link_names:
        wrench = rng.normal(size=6)
        expected = robot.external_torque(q, {link: wrench})
        assert abs(sum_of(robot, forces.LinkWrench(link, tuple(wrench))).efforts(q, qd) - expected).max() <= 1e-12
        R = robot.forward_kinematics(q, link)[:3, :3]
        turned = np.r_[R @ wrench[:3], R @ wrench[3:]]
        found = sum_of(robot, forces.LinkWrench(link, tuple(turned), frame="root")).efforts(q, qd)
        assert abs(found - expected).max() <= 1e-12


@pytest.mark.slow
def test_wrenches_on_links_at_many_states_are_those_at_each_and_give_the_same_efforts(rng):
    """What their joint efforts are, external_torque says."""
    robot = sd.Robot(model_of(random_tree(rng, 5, 0, (*GROUPS, *KINDS))))
    first, *_, last = robot.link_names[1:]
    total = sum_of(robot, forces.PointSpring(last, 30.0, 0.5, 0.2, (0.1, 0.2, 0.3), first), forces.Drag(first, 0.3),
                   forces.LinkWrench(last, rng.normal(size=(2, 6)), "root", (0.0, 1.0)))
    q = robot.integrate(robot.neutral(), rng.normal(size=(2, 3, robot.n)))
    qd, t = rng.normal(size=(3, robot.n)), np.array([[0.2], [0.7]])
    many = total.link_wrenches(q, qd, t)
    assert abs(robot.external_torque(q, many) - total.efforts(q, qd, t)).max() <= 1e-11
    for i, k in np.ndindex(2, 3):
        one = total.link_wrenches(q[i, k], qd[k], t[i, 0])
        assert all((many[link][i, k] == W).all() and W.shape == (6,) for link, W in one.items())


def test_a_wrench_of_time_is_linear_between_its_times_and_else_0(rng):
    robot = sd.Robot(model_of(random_tree(rng, 3)))
    link, times, wrenches = robot.link_names[-1], (0.1, 0.4, 0.5), rng.normal(size=(3, 6))
    total, q = sum_of(robot, forces.LinkWrench(link, wrenches, times=times)), rng.normal(size=3)
    t = np.array([0.0, 0.0999, 0.1, 0.2, 0.35, 0.4, 0.45, 0.499, 0.5, 3.0])
    W = np.stack([np.interp(t, times, column) for column in wrenches.T], axis=-1)
    W[(t < 0.1) | (t >= 0.5)] = 0.0
    expected = np.stack([robot.external_torque(q, {link: w}) for w in W])
    assert abs(total.efforts(q, np.zeros(3), t) - expected).max() <= 1e-13
    assert abs(expected[3]).max() > 0.1


def test_drag_opposes_the_motion_through_the_fluid(rng):
    robot = sd.Robot(model_of(random_tree(rng, 5)))
    turned = {link: abs(robot.jacobian(robot.neutral(), link, "hybrid")[:3]).max() for link in robot.link_names}
    link, point, flow = max(turned, key=turned.get), np.array([0.2, -0.1, 0.3]), np.array([1.0, 2.0, -0.5])
    total = sum_of(robot, forces.Drag(link, 0.7, 1.3, 0.2, tuple(point), tuple(flow)))
    for q, qd in rng.normal(size=(5, 2, 5)):
        C, J = robot.forward_kinematics(q, link), robot.jacobian(q, link, "hybrid")
        arm, V = C[:3, :3] @ point, J @ qd
        u = V[3:] + np.cross(V[:3], arm) - flow
        force = -(0.7 + 1.3 * np.linalg.norm(u)) * u
        expected = J.T @ np.r_[np.cross(arm, force) - 0.2 * V[:3], force]
        assert abs(V[:3]).max() > 0.1
        assert abs(total.efforts(q, qd) - expected).max() <= 1e-12
        account = total.account(q, qd)
        assert abs(account.lost - (-force @ u + 0.2 * V[:3] @ V[:3])) <= 1e-12
        assert abs(account.given - (force @ (u + flow) - force @ u)) <= 1e-12       # what the fluid's flow gives


@pytest.mark.slow
@pytest.mark.parametrize("drag", [{"linear": 0.7}, {"quadratic": 1.3}, {"turning": 0.2}])
def test_a_fluid_at_rest_never_gives_power(rng, drag):
    robot = sd.Robot(model_of(random_tree(rng, 6, 0, (*GROUPS, *KINDS))))
    for link in robot.link_names[1:]:
        total, q = sum_of(robot, forces.Drag(link, **drag, point=(0.2, -0.1, 0.3))), robot.neutral()
        for qd in rng.normal(size=(5, robot.n)):
            power, account = total.efforts(q, qd) @ qd, total.account(q, qd)
            assert power <= 0.0 and abs(power + account.lost) <= 1e-12 and abs(account.given) <= 1e-12


def one_joint(kind="prismatic", mass=2.0, **options):
    """A mass on a slide, or on a hinge about its center."""
    screw = [0, 0, 0, 1, 0, 0] if kind == "prismatic" else [1, 0, 0, 0, 0, 0]
    inertia = sd.inertia_matrix(mass, np.zeros(3), np.eye(3))
    builder = sd.ModelBuilder("root")
    builder.add_joint("joint", "mass", "root", screw, inertia=inertia, **options)
    return sd.Robot(builder.build(), (0.0, 0.0, 0.0))


def test_friction_by_numbers():
    total = sum_of(one_joint(), forces.Friction("joint", 0.5, 2.0, 3.0, 0.1))
    near_rest = -(2.5e-4 + 0.5 * (2.0 + 1.0 / (1.0 + 25e-6)))
    for v, expected in (0.2, -(0.1 + 2.0 + 1.0 / 5.0)), (-0.2, 0.1 + 2.2), (0.0, 0.0), (5e-4, near_rest):
        assert abs(total.efforts([0.0], [v])[0] - expected) <= 1e-14
        assert abs(total.account([0.0], [v]).lost + expected * v) <= 1e-14
    rising = sum_of(one_joint(), forces.Friction("joint", 0.0, 2.0, 3.0, 0.1)).efforts([[0.0], [0.0]], [[1e4], [0.02]])
    assert abs(rising[0, 0] + 2.0) < 1e-6 and rising[1, 0] < -2.7


@pytest.mark.slow
def test_the_models_friction_is_what_friction_means():
    robot = one_joint(damping=0.4, friction=1.5)
    found = sum_of(robot, friction=True).efforts([0.0], [0.3])
    assert abs(found[0] + 0.4 * 0.3 + 1.5) <= 1e-15
    assert sum_of(robot, friction=True).efforts([0.0], [[0.0], [-1e-9]])[:, 0].tolist() == [0.0, 1.5 + 4e-10]
    assert not sum_of(one_joint(), friction=True)


def test_a_stop_pushes_back_never_pulls_and_knows_the_models_limits():
    stop = forces.Stop("joint", 1000.0, 0.5)
    total = sum_of(one_joint(limits=sd.Limits(-0.1, 0.2)), stop)
    for q, v, expected in ((0.1, 5.0, 0.0), (0.25, 1.0, -50.0 * 1.5), (0.25, -1.0, -50.0 * 0.5), (0.25, -3.0, 0.0),
                           (-0.14, -1.0, 40.0 * 1.5), (-0.14, 4.0, 0.0)):
        assert abs(total.efforts([q], [v])[0] - expected) <= 1e-10, (q, v)
    assert abs(total.potential_energy([0.25]) - 1.25) <= 1e-12 and total.potential_energy([0.0]) == 0.0
    assert sum_of(one_joint(), forces.Stop("joint", 1.0, upper=0.3)).efforts([0.5], [0.0])[0] == -0.2


@pytest.mark.slow
def test_an_impact_on_a_stop_gives_back_what_hunt_and_crossley_say():
    """The speed after a slow impact at v is (1 - 2/3 loss v) v, to first order in the loss."""
    robot, v, loss = one_joint(), 1e-2, 1.0
    stop = forces.Stop("joint", 1e3, loss, lower=-10.0, upper=0.0)
    t, q, qd = robot.rollout([-1e-4], [v], None, 1e-4, 4000, "rk4", limits=False, forces=[stop])
    assert q[-1] < -1e-3 and abs(-qd[-1, 0] / v - (1.0 - 2.0 / 3.0 * loss * v)) < 2.0 * (loss * v)**2


@pytest.mark.slow
def test_a_users_force_is_its_function(rng):
    robot = sd.Robot(model_of(random_tree(rng, 4)))
    total = sum_of(robot, forces.Custom(swirl, (0.3, 0.2, 0)), forces.Custom(swirl, (0.1, 0.5, 2)),
                   forces.Spring(robot.joint_names[0], 2.0))
    t, q, qd = rng.normal(size=6), *rng.normal(size=(2, 6, 4))
    expected = np.zeros((6, 4))
    for k in range(6):
        for p in (0.3, 0.2, 0), (0.1, 0.5, 2):
            tau = np.zeros(4)
            swirl(t[k], q[k], qd[k], p, tau)
            expected[k] += tau
    assert abs(total.efforts(q, qd, t) - expected + 2.0 * q * (1, 0, 0, 0)).max() <= 1e-14
    assert abs(total.account(q, qd, t).given - (expected * qd).sum(axis=-1)).max() <= 1e-13


def of_any_python(t, q, qd, p, tau):
    def half(x):
        return 0.5 * x
    if p[0] < 0.0:
        raise ValueError("a gain is", p[0])
    gains = [p[0] * k for k in range(len(tau))]
    tau[:] = -half(qd)
    for k in range(len(tau)):
        tau[k] -= gains[k] * q[k]


@pytest.mark.slow
def test_a_users_force_has_functions_lists_expressions_and_errors_of_its_own(rng):
    """For which Numba has passes that kernels of this package compile without."""
    robot = sd.Robot(model_of(random_tree(rng, 3)))
    q, qd = rng.normal(size=(2, 3))
    tau = sum_of(robot, forces.Custom(of_any_python, (0.7,))).efforts(q, qd)
    np.testing.assert_allclose(tau, -0.5 * qd - 0.7 * np.arange(3) * q, rtol=1e-14)
    with pytest.raises(ValueError, match="a gain is"):
        sum_of(robot, forces.Custom(of_any_python, (-1.0,))).efforts(q, qd)


def pulls(t, q, qd, p, tau):
    tau[0] = p[len(p) - 1]


def test_one_function_serves_any_count_of_parameters_in_any_company():
    robot, q, still = one_joint(), [0.1], [0.0]
    spring = forces.Spring("joint", 10.0)
    for _ in range(2):
        assert sum_of(robot, forces.Custom(pulls, (3.0,))).efforts(q, still) == 3.0
        assert sum_of(robot, forces.Custom(pulls, (1.0, 4.0))).efforts(q, still) == 4.0
        assert sum_of(robot, forces.Custom(pulls, (3.0,)), spring).efforts(q, still) == 2.0
        assert sum_of(robot, forces.Custom(pulls, (1.0, 4.0)), forces.Custom(pulls, (5.0,)), spring).efforts(
            q, still) == 8.0
        assert sum_of(robot, forces.Custom(pulls)).efforts(q, still) == 0.0
        custom._address.cache_clear()                       # from disk, then


@pytest.mark.skipif(PLAIN, reason="NUMBA_DISABLE_JIT is set: nothing is compiled")
def test_a_function_that_is_kept_needs_no_numba(tmp_path):
    file = tmp_path / "pull.py"
    file.write_text(f"""
import sys
import screw_dynamics as sd
def pull(t, q, qd, p, tau):
    tau[0] = p[0] - 2.0 * q[0]
robot = sd.Robot.from_urdf({str(URDF / "double_pendulum.urdf")!r})
total = robot.total_force([sd.forces.Custom(pull, (3.0,))])
print(total.efforts([0.5, 0.1], [0.0, 0.0]), "numba" in sys.modules)""")
    said = [subprocess.run([sys.executable, file], check=True, capture_output=True, text=True).stdout for _ in range(2)]
    assert said[1] == "[2. 0.] False\n" and said[0] in ("[2. 0.] True\n", said[1])


GAIN = 1.0


def gained(t, q, qd, p, tau):
    tau[0] = GAIN * q[0]


def test_a_function_whose_constant_has_changed_is_another(monkeypatch):
    """Numba takes globals for constants."""
    for gain in 1.0, 3.0, 1.0:
        monkeypatch.setitem(globals(), "GAIN", gain)
        total = sum_of(one_joint(), forces.Custom(gained))
        assert total.efforts([0.5], [0.0]) == 0.5 * gain


def test_a_copy_of_a_sum_finds_addresses_of_functions_anew():
    """Those of another process lead nowhere."""
    total = sum_of(one_joint(), forces.Custom(pulls, (3.0,)))
    assert total.efforts([0.1], [0.0]) == 3.0
    text = pickle.dumps(total)
    addresses = {x for x in total.p if x > 2**20}
    other = pickle.loads(text)
    assert not addresses & {*other._numbers} and "p" not in vars(other)
    assert other.efforts([0.1], [0.0]) == 3.0
