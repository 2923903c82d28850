"""Contacts: total wrenches and points of pressure, and efforts and wrenches that cause a motion together."""
import numpy as np
import pytest

import screw_dynamics as sd
from support.real_robots import real_robot

ANYMAL = "anymal_b_simple_description/robots/anymal.urdf"
FEET = ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]
contacts = sd.contacts


@pytest.fixture(scope="module")
def robot():
    return real_robot(ANYMAL, floating_base=True)


@pytest.fixture
def motion(robot, rng):
    return robot.random_configuration(seed=rng), *rng.standard_normal((2, robot.n))


# ------------------------------------------------------------------------------------------------- wrenches and points
def test_the_required_wrench_is_that_of_the_contacts(robot, motion, rng):
    q, v, _ = motion
    external, others = ({link: 10.0 * rng.standard_normal(6) for link in links} for links in (FEET[:2], ["base"]))
    tau = np.r_[np.zeros(6), rng.standard_normal(robot.n - 6)]
    vd = robot.forward_dynamics(q, v, tau, {**external, **others})
    found, expected = contacts.required_wrench(robot, q, v, vd, others), contacts.total_wrench(robot, q, external)
    assert np.allclose(found, expected, atol=1e-11 * robot.total_mass * 9.81)
    point, normal = rng.standard_normal((2, 3))
    for f in (contacts.zero_moment_point, contacts.center_of_pressure):
        assert np.allclose(f(found, point, normal), f(expected, point, normal), atol=1e-9, equal_nan=True)


def test_the_torque_about_the_zero_moment_point_is_along_the_normal(rng):
    wrench, point, normal = rng.standard_normal((9, 6)), *rng.standard_normal((2, 9, 3))
    found = contacts.zero_moment_point(wrench, point, normal)
    torque = wrench[:, :3] - np.cross(found, wrench[:, 3:])
    assert np.allclose(np.cross(torque, normal), 0.0, atol=1e-11 * np.abs(found).max())
    assert np.allclose(((found - point) * normal).sum(axis=-1), 0.0, atol=1e-12 * np.abs(found).max())
    assert np.allclose(contacts.zero_moment_point(wrench, point, -3.0 * normal), found)
    assert np.isnan(contacts.zero_moment_point([1.0, 2.0, 3.0, 1.0, 0.0, 0.0])).all()
    with pytest.raises(ValueError, match="normal must not be 0 0 0"):
        contacts.zero_moment_point(wrench, point, 0.0 * normal)


def test_the_center_of_pressure_is_the_mean_of_the_points_of_forces(rng):
    """Points on a plane that push along its normal; friction in the plane moves nothing. Pulling is no pressure."""
    normal, origin = rng.standard_normal((2, 3))
    normal /= np.linalg.norm(normal)
    points, push = rng.standard_normal((5, 3)), rng.uniform(0.1, 2.0, 5)
    points -= np.outer((points - origin) @ normal, normal)
    forces = np.outer(push, normal) + (side := rng.standard_normal((5, 3))) - np.outer(side @ normal, normal)
    wrenches = np.c_[np.cross(points, forces), forces]
    mean = push @ points / push.sum()
    assert np.allclose(contacts.center_of_pressure(wrenches.sum(axis=0), origin, normal), mean, atol=1e-13)
    assert np.allclose(contacts.center_of_pressure(wrenches, origin, normal), points, atol=1e-12)
    assert np.isnan(contacts.center_of_pressure(-wrenches, origin, normal)).all()


# ------------------------------------------------------------------------------------------------- inverse dynamics
STANCES = {"one surface": [FEET[0]], "two surfaces": FEET[1:3],
           "a surface and points": {FEET[0]: None, FEET[3]: [[0, 0, 0]]},
           "points": {link: [[0.0, 0.0, 0.0]] for link in FEET},
           "one sole": {FEET[2]: [[0.1, 0, 0], [-0.1, 0.1, 0], [-0.1, -0.1, 0.02]]}}


@pytest.mark.parametrize("stance", STANCES.values(), ids=STANCES)
def test_forward_dynamics_gives_the_motion_again(robot, motion, stance, rng):
    q, v, vd = motion
    external = {"base": rng.standard_normal(6)}
    found = contacts.contact_inverse_dynamics(robot, q, v, vd, stance, external=external)
    assert (found.tau[:6] == 0.0).all() and list(found.wrenches) == list(stance)
    again = robot.forward_dynamics(q, v, found.tau, {**found.wrenches, **external})
    assert np.allclose(again, vd, atol=1e-9 * max(1.0, np.abs(found.tau).max()))
    left = robot.inverse_dynamics(q, v, vd, {**found.wrenches, **external})[:6]
    assert np.abs(left).max() < 1e-12 * np.abs(robot.inverse_dynamics(q, v, vd, external)).max()
    for link, forces in found.forces.items():
        points = np.array(stance[link])
        wrench = np.r_[np.cross(points, forces).sum(axis=0), forces.sum(axis=0)]
        assert np.allclose(found.wrenches[link], wrench, atol=1e-12 * np.abs(wrench).max())


def test_the_weighted_sum_is_least(robot, motion, rng):
    """Against the same problem as one of linear algebra: in the null space of the base's equations."""
    q, v, vd = motion
    weights, of_wrenches = rng.uniform(0.0, 2.0, robot.n), {link: rng.uniform(0.1, 2.0, 6) for link in FEET[:3]}
    points = rng.uniform(-0.1, 0.1, (2, 3))                             # of the third foot, each with a force
    found = contacts.contact_inverse_dynamics(robot, q, v, vd, {FEET[0]: None, FEET[1]: None, FEET[2]: points}, weights,
                                              of_wrenches)
    of_points = np.concatenate([np.hstack([np.cross(p, np.eye(3)), np.eye(3)]) for p in points])    # (p x e, e) each
    G = np.concatenate([robot.jacobian(q, FEET[0]), robot.jacobian(q, FEET[1]),
                        of_points @ robot.jacobian(q, FEET[2])]).T
    scale = np.sqrt(np.concatenate([of_wrenches[FEET[0]], of_wrenches[FEET[1]], *[of_wrenches[FEET[2]][3:]] * 2]))
    required = robot.inverse_dynamics(q, v, vd)
    least = np.linalg.pinv(G[:6]) @ required[:6]
    null = np.linalg.svd(G[:6])[2][6:].T
    A = np.concatenate([np.sqrt(weights[6:, None]) * (-G[6:] @ null), scale[:, None] * null])
    b = -np.concatenate([np.sqrt(weights[6:]) * (required[6:] - G[6:] @ least), scale * least])
    x = least + null @ np.linalg.lstsq(A, b)[0]
    mine = np.concatenate([found.wrenches[FEET[0]], found.wrenches[FEET[1]], found.forces[FEET[2]].ravel()])
    assert np.allclose(mine, x, atol=1e-9 * np.abs(x).max())
    assert np.allclose(found.tau[6:], (required - G @ x)[6:], atol=1e-9 * np.abs(required).max())


def test_a_symmetric_stance_shares_the_weight(robot):
    q, still = robot.neutral(), np.zeros(robot.n)
    found = contacts.contact_inverse_dynamics(robot, q, still, still, {link: [[0.0, 0.0, 0.0]] for link in FEET})
    up = sum((robot.forward_kinematics(q, link)[:3, :3] @ force[0])[2] for link, force in found.forces.items())
    assert up == pytest.approx(robot.total_mass * 9.81, rel=1e-12)
    pressed = contacts.center_of_pressure(contacts.total_wrench(robot, q, found.wrenches))
    assert np.allclose(pressed[:2], robot.center_of_mass(q)[:2], atol=1e-12)     # nothing moves


@pytest.mark.slow
def test_batches(robot, rng):
    q, (v, vd) = robot.random_configuration((2, 3), rng), rng.standard_normal((2, 2, 3, robot.n))
    stance = {FEET[0]: None, FEET[1]: [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]]}
    found = contacts.contact_inverse_dynamics(robot, q, v, vd, stance)
    assert found.forces[FEET[1]].shape == (2, 3, 2, 3) and contacts.required_wrench(robot, q, v, vd).shape == (2, 3, 6)
    for k in np.ndindex(2, 3):
        one = contacts.contact_inverse_dynamics(robot, q[k], v[k], vd[k], stance)
        assert np.allclose(found.tau[k], one.tau, atol=1e-9 * np.abs(one.tau).max())
        assert np.allclose(found.wrenches[FEET[1]][k], one.wrenches[FEET[1]], atol=1e-9 * np.abs(one.tau).max())


def test_without_passive_joints_contacts_relieve_the_motors(rng):
    arm = real_robot("panda_description/urdf/panda.urdf", tip_link="panda_hand")
    q, (v, vd) = arm.random_configuration(seed=rng), rng.standard_normal((2, arm.n))
    alone, link = arm.inverse_dynamics(q, v, vd), "panda_hand"
    found = contacts.contact_inverse_dynamics(arm, q, v, vd, [link], 1.0, 1e-6)
    assert np.linalg.norm(found.tau) < 0.5 * np.linalg.norm(alone)
    assert np.allclose(arm.inverse_dynamics(q, v, vd, found.wrenches), found.tau, atol=1e-11)
    swinging = contacts.contact_inverse_dynamics(arm, q, v, 0.0 * vd, {}, passive=[])
    assert np.allclose(swinging.tau, arm.inverse_dynamics(q, v, 0.0 * vd)) and swinging.wrenches == {}


@pytest.mark.slow
def test_what_cannot_be_met_is_refused_with_the_stance(robot, motion):
    q, v, vd = motion
    one, two = [[0, 0, 0]], [[0, 0, 0], [0.1, 0, 0]]
    for stance, named in (({FEET[0]: one}, r"LF_FOOT \(1 point\)"), ([], "none"),
                          ({FEET[0]: two}, r"LF_FOOT \(2 points\)"),
                          ({FEET[0]: one, FEET[1]: one}, r"LF_FOOT \(1 point\), RF_FOOT \(1 point\)")):
        with pytest.raises(ValueError, match=f"contacts {named}: they cannot give the efforts that joint "
                                             "'floating_base' requires; .* N or N m are left"):
            contacts.contact_inverse_dynamics(robot, q, v, vd, stance)
    free = robot.forward_dynamics(q, v, 0 * v)
    assert np.allclose(contacts.contact_inverse_dynamics(robot, q, v, free, []).tau, 0.0, atol=1e-9)     # it falls
    batch = np.stack([free, vd])
    with pytest.raises(ValueError, match=r"are left in state \[1\]"):
        contacts.contact_inverse_dynamics(robot, q, v, batch, [])


def test_arguments_that_do_not_fit_are_refused(robot, motion):
    with pytest.raises(ValueError, match="q, qd, qdd and the efforts of this motion must be finite"):
        contacts.contact_inverse_dynamics(robot, *motion[:2], np.nan * motion[2], FEET)
    for contact, options, message in (
            (["foot"], {}, "link 'foot' does not exist"),
            ("LF_FOOT", {}, "contacts must be names of links, or map them to points"),
            ({"LF_FOOT": [1.0, 2.0]}, {}, r"the points of link 'LF_FOOT' has shape \(2,\), but must end in 3"),
            ({"LF_FOOT": np.zeros((0, 3))}, {}, "contacts: link 'LF_FOOT' has no points"),
            ({"LF_FOOT": [[0.0, np.inf, 0.0]]}, {}, r"the points of link 'LF_FOOT'.*\[0, 1\] is inf"),
            (FEET, {"effort_weights": -1.0}, r"effort_weights \[-1.0, .*\] must be >= 0"),
            (FEET, {"wrench_weights": 0.0}, r"wrench_weights of link 'LF_FOOT' \[0.0, .*\] must be > 0"),
            (FEET, {"wrench_weights": [1.0]}, r"wrench_weights of link 'LF_FOOT' has shape \(1,\), but must end in 6"),
            (FEET, {"wrench_weights": {"LF_FOOT": 1.0}}, "link 'RF_FOOT' is in contact, but has no weights"),
            (FEET, {"passive": ["base"]}, "passive: joint 'base' does not exist; the robot has floating_base, ")):
        with pytest.raises(ValueError, match=message):
            contacts.contact_inverse_dynamics(robot, *motion, contact, **options)
