"""Points of links: against the kernels on a robot with a link fixed there, infinitesimals of these, and Pinocchio."""
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.hessian import HESSIAN
from screw_dynamics.algorithms.jacobian import JACOBIAN, JACOBIAN_DERIVATIVE
from screw_dynamics.algorithms.kinematics import FORWARD_KINEMATICS
from screw_dynamics.algorithms.time_derivatives import JACOBIAN_SECOND_DERIVATIVE, LINK_DERIVATIVES
from screw_dynamics.robot.points import Moved
from support.matrices import error
from support.pinocchio_oracle import oracle_of_parts
from support.plain import target_of
from support.random_trees import GROUPS, KINDS, builder_of, model_of, random_tree

REPRESENTATIONS = "body", "spatial", "hybrid", "mixed"
ENTRIES = {"forward_kinematics": FORWARD_KINEMATICS, "jacobian": JACOBIAN, "jacobian_derivative": JACOBIAN_DERIVATIVE,
           "jacobian_second_derivative": JACOBIAN_SECOND_DERIVATIVE, "kinematic_hessian": HESSIAN,
           "link_acceleration": LINK_DERIVATIVES[1], "link_jerk": LINK_DERIVATIVES[2],
           "link_snap": LINK_DERIVATIVES[3]}
POINT = np.array([0.3, -0.2, 0.7])
LINK = "link 5"


def pair(kinds, mimics):
    """A robot, and the same with a link fixed to LINK at POINT."""
    parts, placement = random_tree(np.random.default_rng(0), 8, mimics, kinds), np.eye(4)
    placement[:3, 3] = POINT
    builder = builder_of(parts)
    builder.add_fixed("point", LINK, placement)
    return sd.Robot(model_of(parts)), sd.Robot(builder.build())


def method(robot, name):
    """The kernel of a method of robots, in plain Python, which compiles nothing."""
    entry = ENTRIES[name]
    entry = entry.on_groups if robot.model.on_groups else entry

    def evaluate(*given, threads=None):
        states, (link, *form, reference) = given[:entry.inputs], given[entry.inputs:]
        return entry.plain(robot.model.links(robot.gravity), *(np.asarray(x).tolist() for x in states),
                           target=target_of(robot, link, reference, *form),
                           frames=robot.model.frame_rows(robot.gravity),
                           pose_sources=robot.model.pose_sources(robot.gravity)).astype(float)
    return evaluate


def in_plain(robot):
    """The methods of a robot that those at points call."""
    return SimpleNamespace(n=robot.n, nq=robot.nq, **{name: method(robot, name) for name in ENTRIES})


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize(("kinds", "mimics"), [(KINDS, 0), ((*GROUPS, *KINDS), 0), (KINDS, 2)])
@pytest.mark.parametrize("reference", [None, "link 7"])
def test_points_are_as_links_fixed_there(rng, representation, kinds, mimics, reference):
    robot, other = pair(kinds, mimics)
    states = robot.random_configuration(seed=rng), *rng.standard_normal((4, robot.n))
    moved, of_link = Moved(in_plain(robot), LINK, representation, reference, POINT), in_plain(other)

    def of(name, count):
        return getattr(of_link, name)(*states[:count], "point", representation, reference)
    assert np.abs(of("jacobian_derivative", 2)).max() > 0.01       # not rounding alone
    assert error(moved.pose(states[0]), of_link.forward_kinematics(states[0], "point", reference)) < 1e-15
    for count, name in enumerate(("jacobian", "jacobian_derivative", "jacobian_second_derivative"), 1):
        assert error(moved.jacobian(*states[:count]), of(name, count)) < 1e-14
    for count, name in enumerate(("link_acceleration", "link_jerk", "link_snap"), 3):
        assert error(moved.twist_derivative(*states[:count]), of(name, count)) < 1e-14
    assert error(moved.hessian(states[0]), of("kinematic_hessian", 1)) < 1e-14


def test_batches_of_points_are_those_of_pinocchio(rng):
    parts = random_tree(rng, 5)
    robot = sd.Robot(model_of(parts))
    oracle = oracle_of_parts(parts, robot)
    q, qd = rng.standard_normal((2, 3, 1, robot.n))
    points, link = rng.standard_normal((4, 3)), parts[-1].link
    C = robot.forward_kinematics(q, link, point=points)
    J = robot.jacobian(q, link, "hybrid", point=points)
    Jd = robot.jacobian_derivative(q, qd, link, "hybrid", point=points)
    assert J.shape == Jd.shape == (3, 4, 6, robot.n)
    frame = oracle.model.frames[oracle.model.getFrameId(link, pin.FrameType.BODY)]
    for j, p in enumerate(points):
        here = frame.placement * pin.SE3(np.eye(3), p)
        oracle.model.addFrame(pin.Frame(f"point {j}", frame.parentJoint, here, pin.FrameType.BODY))
    oracle.data = oracle.model.createData()
    for i, j in np.ndindex(3, 4):
        assert error(C[i, j], oracle.forward_kinematics(q[i, 0], f"point {j}")) < 1e-14
        assert error(J[i, j], oracle.jacobian(q[i, 0], f"point {j}", "hybrid")) < 1e-14
        assert error(Jd[i, j], oracle.jacobian_derivative(q[i, 0], qd[i, 0], f"point {j}", "hybrid")) < 1e-13


def test_arguments(rng):
    robot = sd.Robot(model_of(random_tree(rng, 5)))
    q, link, out = rng.standard_normal(robot.n), "link 4", np.empty((2, 6, robot.n), np.float32)
    assert robot.jacobian(q, link, point=np.eye(3)[:2], out=out) is out
    assert np.abs(out[0, 4] - robot.jacobian(q, link)[4] - robot.jacobian(q, link)[2]).max() < 1e-6     # v + w x e_x
    with pytest.raises(ValueError, match=r"point has shape \(2,\), but must end in 3"):
        robot.jacobian(q, link, point=(0.0, 1.0))
    with pytest.raises(ValueError, match=r"point must be finite, but point\[1\] is nan"):
        robot.forward_kinematics(q, link, point=(0.0, np.nan, 1.0))
    with pytest.raises(ValueError, match=r"point must be finite, but point\[0, 2\] is inf"):
        robot.jacobian(q, link, point=[(0.0, 0.0, np.inf)])
    with pytest.raises(ValueError, match=r"the leading axes do not broadcast: point \(2, 3\), q \(3, "):
        robot.forward_kinematics(np.zeros((3, robot.n)), link, point=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="out must be a writable float64 or float32 array of shape"):
        robot.jacobian(q, link, point=np.zeros((2, 3)), out=np.empty((6, robot.n)))
    with pytest.raises(ValueError, match="representation 'world'"):
        robot.jacobian(q, link, "world", point=np.zeros(3))


@pytest.mark.slow
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_methods_are_as_on_a_link_fixed_there(rng, representation):
    robot, other = pair(KINDS, 0)
    states = rng.standard_normal((5, 2, robot.n))
    for name, count in (("jacobian_second_derivative", 3), ("kinematic_hessian", 1), ("link_acceleration", 3),
                        ("link_jerk", 4), ("link_snap", 5)):
        found = getattr(robot, name)(*states[:count], LINK, representation, point=POINT)
        assert error(found, getattr(other, name)(*states[:count], "point", representation)) < 1e-13
