"""Every real robot loads, as Pinocchio loads it; the oracle is Pinocchio's own reader (urdfdom) and model."""
import random

import numpy as np
import pinocchio
import pytest
from lxml import etree

from screw_dynamics import UrdfError, read_urdf
from screw_dynamics.screws.arrays import pose_matrix, twist
from screw_dynamics.screws.se3 import exp
from support.real_robots import LOADED, PATHS, REFUSED

pytestmark = pytest.mark.filterwarnings("ignore::screw_dynamics.UrdfWarning")
LINEAR_FIRST = [3, 4, 5, 0, 1, 2]
ROUNDING = 1e-14


def screw(joint):
    return np.asarray(joint.createData().S).reshape(6, -1)[LINEAR_FIRST, 0]


def inertia(of):
    return of.matrix()[np.ix_(LINEAR_FIRST, LINEAR_FIRST)]


def assert_close(ours, theirs):
    assert np.abs(ours - theirs).max() <= ROUNDING * max(1.0, np.abs(theirs).max())


def test_there_are_all_the_robots():
    assert len(PATHS) == 69 and REFUSED.keys() <= PATHS.keys()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_robot_is_refused(name):
    with pytest.raises(UrdfError) as refusal:
        read_urdf(PATHS[name])
    assert REFUSED[name] in str(refusal.value) and str(refusal.value).startswith(str(PATHS[name]))


@pytest.mark.parametrize("name", LOADED)
def test_real_robot_is_read_as_pinocchio_reads_it(name):
    ours, theirs = read_urdf(LOADED[name]), pinocchio.buildModelFromUrdf(str(LOADED[name]))
    assert list(ours.body_joints) == list(theirs.names)[1:]
    assert_close(ours.root_inertia, inertia(theirs.inertias[0]))
    for i, joint in enumerate(ours.body_joints):
        k = theirs.getJointId(joint)
        X = screw(theirs.joints[k])
        # Pinocchio leaves mimic joints free by default.
        _, multiplier, offset = ours.mimics.get(joint, (joint, 1.0, 0.0))
        assert ours.parents[i] == theirs.parents[k] - 1
        assert_close(ours.screws_body[i], multiplier * X)
        at_zero = pose_matrix(exp(twist(offset * X)))
        assert_close(ours.relative_poses[i], theirs.jointPlacements[k].homogeneous @ at_zero)
        assert_close(ours.inertias[i], inertia(theirs.inertias[k]))


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADED)
def test_links_of_real_robots_are_where_pinocchio_has_them(name):
    ours, theirs = read_urdf(LOADED[name]), pinocchio.buildModelFromUrdf(str(LOADED[name]))
    links = {frame.name: frame for frame in theirs.frames if frame.type == pinocchio.FrameType.BODY}
    assert links.keys() == ours.frames.keys()
    for link, (body, C) in ours.frames.items():
        assert body == links[link].parentJoint - 1
        assert_close(C, links[link].placement.homogeneous)


@pytest.mark.parametrize("name", LOADED)
def test_limits_of_real_robots_are_pinocchios_but_for_zeros(name):
    ours, theirs = read_urdf(LOADED[name]), pinocchio.buildModelFromUrdf(str(LOADED[name]))
    for i, joint in enumerate(ours.joint_names):
        k = theirs.getJointId(joint)
        q, v = theirs.joints[k].idx_q, theirs.joints[k].idx_v
        if ours.joint_kinds[i] != "continuous" and np.isfinite(ours.lower[i]):
            assert (ours.lower[i], ours.upper[i]) == (theirs.lowerPositionLimit[q], theirs.upperPositionLimit[q])
        for limit, other in ((ours.velocity_limit[i], theirs.upperVelocityLimit[v]),
                             (ours.effort_limit[i], theirs.upperEffortLimit[v])):
            assert limit == other or (other == 0 and limit == np.inf)
        friction, damping = theirs.upperDryFrictionLimit[v], theirs.damping[v]
        for follower, (leader, multiplier, _) in ours.mimics.items():              # free joints to Pinocchio
            if leader == joint:
                v = theirs.joints[theirs.getJointId(follower)].idx_v
                friction += abs(multiplier) * theirs.upperDryFrictionLimit[v]
                damping += multiplier**2 * theirs.damping[v]
        assert ours.friction[i] == friction and ours.damping[i] == damping


@pytest.mark.parametrize("name", LOADED)
def test_no_real_robot_is_taken_for_a_mistake(name):
    """Of units, which its warnings would only guess at; what else they say of it is so."""
    assert [text for text in read_urdf(LOADED[name]).warnings if "?" in text] == []


def test_followers_of_joints_that_do_not_exist_are_free():
    """This file's leaders have lost their prefix."""
    model = read_urdf(PATHS["alex_description/urdf/alex_psyonic_hands.urdf"])
    assert not model.mimics and {"Left_index_q2", "Right_thumb_q2"} <= set(model.joint_names)
    assert any(text.startswith("mimic of a joint that does not exist, taken as free: 'Left_index_q2 of index_q1'")
               for text in model.warnings)


@pytest.mark.parametrize("name", ["panda_description/urdf/panda.urdf", "talos_data/robots/talos_full_v2.urdf",
                                  "tiago_pro_description/robots/tiago_pro.urdf", "pr2_description/urdf/pr2.urdf"])
def test_order_of_elements_is_no_matter(name):
    root, shuffle = etree.parse(LOADED[name]).getroot(), random.Random(7)
    models = [read_urdf(LOADED[name])]
    for _ in range(3):
        for parent in [element for element in root.iter("robot", "link", "joint", "inertial")]:
            children = list(parent)
            shuffle.shuffle(children)
            parent[:] = children
        models.append(read_urdf(etree.tostring(root)))
    for model in models[1:]:
        assert_same(model, models[0])


def assert_same(model, other):
    """The same, bit for bit, the order of names included."""
    for field, value in vars(model).items():
        expected = vars(other)[field]
        if isinstance(value, np.ndarray):
            assert value.tobytes() == expected.tobytes(), field
        elif field == "frames":
            assert [(name, body, C.tobytes()) for name, (body, C) in value.items()] == [
                (name, body, C.tobytes()) for name, (body, C) in expected.items()]
        else:
            assert value == expected, field
