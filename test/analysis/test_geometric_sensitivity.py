"""Geometric sensitivities of efforts and accelerations: against differences over robots of other geometry, and laws of
moved bases and of gears."""
from dataclasses import replace

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.analysis.geometric_sensitivity import acceleration_sensitivities, effort_sensitivities
from support.differences import slopes
from support.floating_robots import hopper
from support.matrices import error
from support.plain import ENTRIES
from support.random_trees import model_of, random_tree

pytestmark = pytest.mark.slow     # under loads, with armature, in batches


@pytest.fixture(params=["tree", "1 mimic, armature"])
def robot(request, rng):
    mimics = int(request.param != "tree")
    robot = sd.Robot(model_of(random_tree(rng, 4, mimics)), rng.uniform(-10, 10, 3))
    return robot.with_armature(dict.fromkeys(robot.joint_names, 0.3)) if mimics else robot


@pytest.fixture
def motion(robot, rng):
    """q, qd, qdd or tau, of two states, and wrenches on all links."""
    return *rng.uniform(-1, 1, (3, 2, robot.n)), {link: rng.standard_normal(6) for link in robot.link_names}


def test_sensitivities_are_the_derivatives_by_geometry(robot, motion):
    """Of the classical recursion in plain Python, by every parameter."""
    model, b, (q, qd, qdd, _) = robot.model, len(robot.model.parents), motion

    def changed(**arrays):
        links, recursion = replace(model, **arrays).links(robot.gravity), ENTRIES["inverse_dynamics_classical"]
        return np.array([recursion.plain(links, *state) for state in zip(q, qd, qdd, strict=True)], dtype=float)

    def by_screws(p):
        return changed(screws_body=model.screws_body + p.reshape(b, 6))

    def by_poses(p):
        return changed(relative_poses=model.relative_poses @ sd.se3.exp(p.reshape(b, 6)))
    found = effort_sensitivities(robot, q, qd, qdd)
    for by, f in zip(found, (by_screws, by_poses), strict=True):
        assert by.shape == (2, robot.n, b, 6)
        assert error(by.reshape(2, robot.n, 6 * b), slopes(f, 6 * b, 5e-3)) < 1e-10
    for many, one in zip(found, effort_sensitivities(robot, q[1], qd[1], qdd[1]), strict=True):
        assert error(one, many[1]) < 1e-13


@pytest.mark.parametrize("method, sensitivities", [("inverse_dynamics", effort_sensitivities),
                                                   ("forward_dynamics", acceleration_sensitivities)])
def test_sensitivities_of_both_under_wrenches(robot, motion, method, sensitivities, rng):
    """Which stay the same on their links, two sets for one state. Along a random change of all screws and poses."""
    last, (dX, m) = robot.link_names[-1], rng.standard_normal((2, len(robot.model.parents), 6))
    away = {last: (robot.model.frames[last][0], sd.se3.exp(rng.standard_normal(6)))}       # a link away from its body
    model, (q, qd, x, external) = replace(robot.model, frames=dict(robot.model.frames) | away), motion
    (q, qd, x), external = (a[0] for a in (q, qd, x)), external | {last: rng.standard_normal((2, 6))}

    def changed(s):
        found = replace(model, screws_body=model.screws_body + s[0] * dX,
                        relative_poses=model.relative_poses @ sd.se3.exp(s[0] * m))
        return getattr(sd.Robot(found, robot.gravity), method)(q, qd, x, external)
    by = sensitivities(sd.Robot(model, robot.gravity), q, qd, x, external)
    along = np.einsum("...bk,bk->...", by.by_screws, dX) + np.einsum("...bk,bk->...", by.by_poses, m)
    assert error(along, slopes(changed, 1, 2e-3)[..., 0]) < 1e-10


def test_a_moved_base_changes_nothing_and_a_turned_one_is_turned_gravity(robot, motion):
    q, qd, qdd, _ = motion
    roots = np.flatnonzero(np.asarray(robot.model.parents) < 0)
    by = effort_sensitivities(robot, q, qd, qdd).by_poses
    assert len(roots) and np.abs(by[..., roots, 3:]).max() < 1e-13 * np.abs(by).max()
    turns = np.zeros((2, robot.n, 3))
    for root in roots:                                          # of the whole robot about the world's axes
        turns += by[..., root, :3] @ robot.model.relative_poses[root][:3, :3].T
    gravity = slopes(lambda w: sd.Robot(robot.model, sd.so3.exp(-w) @ robot.gravity).inverse_dynamics(q, qd, qdd), 3)
    assert error(turns, gravity) < 1e-11


def test_a_gear_changes_rates_and_efforts(robot, motion):
    """Screws (1 + s) X of the joints of coordinate k make its motion and its effort 1 + s times as large."""
    (q, qd, qdd, _), model = motion, robot.model
    by = effort_sensitivities(robot, q, qd, qdd).by_screws
    for k in range(robot.n):
        longer, e = np.einsum("...bx,bx,b->...", by, model.screws_body, model.coordinates == k), np.eye(robot.n)[k]

        def geared(s, e=e):
            scale = 1.0 + s[0] * e
            rotors = scale * qdd * model.joint_inertia                          # they turn as before
            return scale * (robot.inverse_dynamics(scale * q, scale * qd, scale * qdd) - rotors)
        assert error(longer, slopes(geared, 1)[..., 0]) < 1e-11


def test_arguments_are_checked(robot):
    zero, n, floating = np.zeros(robot.n), robot.n, sd.Robot.from_urdf(hopper(), floating_base=True)
    for function in (effort_sensitivities, acceleration_sensitivities):
        with pytest.raises(ValueError, match="joints of one degree of freedom"):
            function(floating, *np.zeros((3, floating.n)))
        with pytest.raises(ValueError, match="q"):
            function(robot, np.zeros(n + 1), zero, zero)
        with pytest.raises(ValueError, match=r"do not broadcast: .*, (the wrench on .*|external) \(3, \d+\)$"):
            function(robot, *np.zeros((3, 2, n)), {robot.link_names[-1]: np.zeros((3, 6))})
        with pytest.raises(ValueError, match="gripper"):
            function(robot, zero, zero, zero, {"gripper": np.zeros(6)})
