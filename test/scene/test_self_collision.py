"""Which shapes of a robot may touch: structure, an SRDF as Pinocchio reads it, and samples against closed forms."""
from itertools import combinations

import numpy as np
import pinocchio
import pytest

import screw_dynamics as sd
from screw_dynamics.collision.on_links import CollisionShape
from screw_dynamics.collision.shapes import Sphere
from screw_dynamics.description.urdf.collisions import read_collisions
from screw_dynamics.description.urdf.srdf import read_srdf
from screw_dynamics.model.joining import Mounted, join
from screw_dynamics.scene.self_collision import self_collision
from support.real_robots import PATHS, real_robot

AT = np.eye(4)


def chain(count, limits=None, root="base"):
    """Links 0.5 m long in a plane, each with a ball at its end, and one on the root."""
    builder = sd.ModelBuilder(root)
    for k in range(count):
        parent, x = (root, 0.0) if k == 0 else (f"link {k - 1}", 0.5)
        at = np.eye(4)
        at[0, 3] = x
        builder.add_joint(f"joint {k}", f"link {k}", parent, (0, 0, 1, 0, 0, 0), at, np.eye(6), limits=limits)
    end = np.eye(4)
    end[0, 3] = 0.5
    moving = [CollisionShape(f"link {k}", Sphere(0.1), end) for k in range(count)]
    return builder.build(), [CollisionShape(root, Sphere(0.1), AT), *moving]


def gaps_of(model, shapes):
    """Of balls: distances of centers less radii."""
    robot = sd.Robot(model)

    def gaps(q, pairs):
        centers = [(robot.forward_kinematics(q, shape.link) @ shape.pose)[:, :3, 3] for shape in shapes]
        return np.stack([np.linalg.norm(centers[i] - centers[j], axis=1) - shapes[i].shape.radius
                         - shapes[j].shape.radius for i, j in pairs], axis=1)
    return gaps


def links_of(found, shapes):
    return {tuple(sorted((shapes[i].link, shapes[j].link))) for i, j in found.pairs}


# ------------------------------------------------------------------------------------------------- structure
def test_neighbors_and_shapes_of_one_body_are_left_out():
    model, shapes = chain(4)
    found = self_collision(model, [*shapes, shapes[1]])
    assert links_of(found, [*shapes, shapes[1]]) == {
        ("base", "link 1"), ("base", "link 2"), ("base", "link 3"), ("link 0", "link 2"), ("link 0", "link 3"),
        ("link 1", "link 3")}
    assert (1, 5) not in found.pairs and (3, 5) in found.pairs and (1, 3) in found.pairs
    assert found.left_out["link 0", "link 1"] == "joined by a joint"


def test_links_fixed_to_each_other_are_one_body():
    builder = sd.ModelBuilder("base")
    builder.add_screw("a", "upper", "base", (0, 0, 1), mass=1.0)
    builder.add_fixed("tool", "upper")
    builder.add_fixed("table", "base")
    shapes = [CollisionShape(link, Sphere(0.1), AT) for link in ("upper", "tool", "table", "base")]
    found = self_collision(builder.build(), shapes)
    assert found.pairs == () and found.left_out["tool", "upper"] == found.left_out["base", "table"] == "one body"
    assert found.left_out["table", "tool"] == "joined by a joint"


@pytest.mark.parametrize("add, kind, pairs", [
    ("group", "spherical", ()), ("group", "planar", ()), ("group", "free", ((0, 1),)), ("macro", "universal", ())])
def test_a_joint_of_several_degrees_joins_two_links_and_a_free_one_does_not(add, kind, pairs):
    """Links without inertia inside a macro joint belong to it."""
    builder = sd.ModelBuilder("base")
    getattr(builder, f"add_{add}_joint")(kind, "joint", "body", "base", inertia=np.eye(6))
    shapes = [CollisionShape(link, Sphere(0.1), AT) for link in ("base", "body")]
    assert self_collision(builder.build(), shapes).pairs == pairs


def test_users_disable_and_enable_pairs_and_groups():
    model, shapes = chain(4)
    groups = [("link 0", "link 2", "link 3"), ["base"]]
    found = self_collision(model, shapes, disable=[("link 3", "base")], groups=groups,
                           enable=[("link 1", "link 0"), ("link 3", "link 0")])
    assert links_of(found, shapes) == {("base", "link 1"), ("base", "link 2"), ("link 0", "link 1"),
                                       ("link 0", "link 3"), ("link 1", "link 3")}
    assert found.left_out["base", "link 3"] == "disabled" and found.left_out["link 0", "link 2"] == "one group"


# ------------------------------------------------------------------------------------------------- samples
def test_samples_leave_out_what_never_touches():
    """Two links with 0.5 m between joints: balls 0.5 m apart about a joint come as near as the limits let them,
    2 * 0.5 sin(angle / 2) with the angle pi - |q| between links; they touch below 0.2 m."""
    touching = np.pi - 2.0 * np.arcsin(0.2)
    for reach, kept in ((touching - 0.05, False), (touching + 0.3, True)):
        model, shapes = chain(3, sd.Limits(-reach, reach))
        pairs = links_of(self_collision(model, shapes, gaps_of(model, shapes)), shapes)
        assert (("link 0", "link 2") in pairs) is kept and (("base", "link 1") in pairs) is kept


def test_links_that_touch_at_rest_or_always_are_left_out():
    model, shapes = chain(3)
    big = [shape._replace(shape=Sphere(0.6)) if k in (0, 2) else shape for k, shape in enumerate(shapes)]
    found = self_collision(model, big, gaps_of(model, big))
    assert found.left_out["base", "link 1"] == "touch in the neutral configuration"
    model, shapes = chain(3, sd.Limits(2.0, 3.0))
    big = [shape._replace(shape=Sphere(0.4)) if k in (0, 2) else shape for k, shape in enumerate(shapes)]
    found = self_collision(model, big, gaps_of(model, big))
    assert found.left_out["base", "link 1"] == "touch in 1000 of 1000 configurations"


def test_one_shape_of_a_link_speaks_for_all():
    """A link of two balls, of which one touches at rest: neither is looked at."""
    model, shapes = chain(3)
    near = shapes[2]._replace(pose=shapes[0].pose)           # of link 1, at its joint: 0.5 m from the root
    near = near._replace(shape=Sphere(0.45))
    all_of = [*shapes, near]
    found = self_collision(model, all_of, gaps_of(model, all_of))
    assert "neutral" in found.left_out["base", "link 1"] and not any({0, 2} == set(pair) for pair in found.pairs)


def test_samples_are_the_same_with_the_same_seed_and_go_with_the_srdf():
    model, shapes = chain(4, sd.Limits(-2.9, 2.9))
    gaps = gaps_of(model, shapes)
    found = [self_collision(model, shapes, gaps, samples=40, seed=seed) for seed in (1, 1, 2)]
    assert found[0] == found[1]
    text = '<robot><disable_collisions link1="base" link2="link 3"/></robot>'
    assert ("link 0", "link 2") in links_of(self_collision(model, shapes, gaps, srdf=text), shapes)
    enabled = self_collision(model, shapes, gaps, enable=[("base", "link 0")])
    assert ("base", "link 0") in links_of(enabled, shapes)


# ------------------------------------------------------------------------------------------------- SRDF
@pytest.mark.parametrize("urdf, srdf", [
    ("panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf"),
    ("ur_description/urdf/ur5_robot.urdf", "ur_description/srdf/ur5.srdf"),
    ("anymal_b_simple_description/robots/anymal.urdf", "anymal_b_simple_description/srdf/anymal.srdf"),
    ("solo_description/robots/solo12.urdf", "solo_description/srdf/solo.srdf")])
def test_pairs_of_links_are_those_of_pinocchio(urdf, srdf):
    path, robot = PATHS[urdf], real_robot(urdf)
    srdf = path.parents[2] / srdf
    model = pinocchio.buildModelFromUrdf(str(path))
    theirs = pinocchio.buildGeomFromUrdf(model, str(path), pinocchio.COLLISION,
                                         package_dirs=[str(path.parents[4])])
    theirs.addAllCollisionPairs()
    pinocchio.removeCollisionPairs(model, theirs, str(srdf))
    names = [each.name.rpartition("_")[0] for each in theirs.geometryObjects]
    expected = {tuple(sorted((names[pair.first], names[pair.second]))) for pair in theirs.collisionPairs}
    shapes = read_collisions(path, robot.link_names)
    found = self_collision(robot.model, shapes, srdf=srdf)
    joined = {pair for pair, why in found.left_out.items() if why != "SRDF"}
    assert links_of(found, shapes) == expected - joined
    assert {pair for pair in combinations(sorted({shape.link for shape in shapes}), 2)} == (
        links_of(found, shapes) | set(found.left_out))


def test_an_srdf_disables_links_but_for_pairs_that_it_enables():
    text = """<robot><group name="arm"/><disable_default_collisions link="a"/>
        <enable_collisions link1="b" link2="a"/><disable_collisions link1="c" link2="b" reason="Never"/></robot>"""
    found = read_srdf(text, "abcd")
    assert [found.holds(*pair) for pair in ("ab", "ba", "ac", "bc", "bd")] == [False, False, True, True, False]


@pytest.mark.parametrize("text, says", [
    ("<robot><disable_collisions link1='a' link2='leg'/></robot>",
     "SRDF: line 1: <disable_collisions>: link2 'leg' does not exist; the links are 'a', 'b'"),
    ("<robot><disable_collisions link1='a'/></robot>", "attribute 'link2' is missing"),
    ("<robot><disable_collisions link1='a' link2='a'/></robot>", "link1 and link2 are both 'a'"),
    ("<robot><disable_default_collisions link=''/></robot>", "link '' does not exist"),
    ("<srdf/>", "root element of an SRDF is 'srdf', not 'robot'"),
    ("<robot>", "not well-formed"),
    ("<!DOCTYPE r [<!ENTITY a 'b'>]><robot/>", "document type"),
    ("none.srdf", "SRDF: none.srdf: neither XML text nor"),
])
def test_what_is_wrong_with_an_srdf_is_named(text, says):
    with pytest.raises(sd.UrdfError, match=says):
        read_srdf(text, ["a", "b"])


@pytest.mark.parametrize("given, says", [
    (dict(disable=[("link 0", "leg")]), "'leg' does not exist"),
    (dict(disable=["ab"]), "disable must be pairs of links, not 'ab'"),
    (dict(enable=[("link 0",)]), "enable must be pairs of links"),
    (dict(groups=["link 0"]), "groups must be lists of links, not 'link 0'"),
    (dict(groups="ab"), "groups must be lists of links"),
    (dict(groups=[["leg"]]), "'leg' does not exist"),
    (dict(gaps=lambda q, pairs: np.full((len(q), len(pairs)), np.nan)), "must be numbers of shape"),
    (dict(gaps=lambda q, pairs: np.zeros(3)), r"gaps of 3 pairs at 1 configurations must be numbers of shape \(1, 3\)"),
    (dict(gaps=lambda q, pairs: np.ones((len(q), len(pairs))), samples=0), "samples 0 must be a whole number >= 1"),
])
def test_what_is_wrong_with_pairs_is_named(given, says):
    model, shapes = chain(3)
    with pytest.raises(ValueError, match=says):
        self_collision(model, shapes, **given)
    with pytest.raises(ValueError, match="'leg' does not exist"):
        self_collision(model, [CollisionShape("leg", Sphere(1.0), AT)])


# ------------------------------------------------------------------------------------------------- several robots
def test_two_robots_on_one_world_have_srdfs_of_their_own_and_no_joint_between_them():
    model, shapes = chain(3)
    apart = np.eye(4)
    apart[1, 3] = 0.6
    both = join(sd.ModelBuilder("world").build(), [Mounted(model, "left/"), Mounted(model, "right/", apart)])
    all_of = [shape._replace(link=prefix + shape.link) for prefix in ("left/", "right/") for shape in shapes]
    text = '<robot><disable_collisions link1="base" link2="link 2"/></robot>'
    found = self_collision(both, all_of, gaps_of(both, all_of), srdf={"left/": text}, prefixes=("left/", "right/"))
    pairs = links_of(found, all_of)
    assert ("left/base", "right/link 0") in pairs and found.left_out["left/base", "left/link 0"] == "joined by a joint"
    assert found.left_out["left/base", "left/link 2"] == "SRDF"
    assert ("left/base", "left/link 1") in pairs            # by the SRDF
    assert ("right/base", "right/link 2") in pairs          # by samples
    assert found.left_out["left/base", "right/base"] == "one body"
    with pytest.raises(ValueError, match="srdf: prefix 'up/' must be one of"):
        self_collision(both, all_of, srdf={"up/": text}, prefixes=("left/",))
    with pytest.raises(sd.UrdfError, match="link1 'left/base' does not exist; the links are 'base'"):
        self_collision(both, all_of, srdf={"left/": text.replace('"base"', '"left/base"')}, prefixes=("left/",))
