"""Functions that are too long for straight lines: loops over a table of links."""
import re

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.c_code.export import texts
from support.c_exports import Built, errors
from support.random_trees import model_of, random_tree
from support.real_robots import real_robot

QUANTITIES = "inverse_dynamics", "forward_dynamics", "gravity_torque", "coriolis_torque", "bias_torque"
TOLERANCE = {"double": 1e-12, "float": 2e-4}
KINDS = "revolute", "prismatic", "helical"


def tree(seed, n=9):
    return sd.Robot(model_of(random_tree(np.random.default_rng(seed), n, 0, KINDS)))


def chain(n):
    """Links of a screw each, of unequal masses, one on the other."""
    rng, builder = np.random.default_rng(n), sd.ModelBuilder("root")
    for i in range(n):
        builder.add_joint(f"j{i}", f"l{i}", f"l{i - 1}" if i else "root", [*np.roll([1.0, 0.0, 0.0], i), 0.1, 0.0, 0.0],
                          None, sd.inertia_matrix(rng.uniform(0.5, 2.0), rng.uniform(-0.1, 0.1, 3), np.eye(3)))
    return sd.Robot(builder.build())


def with_rotors(robot):
    return robot.with_armature(dict(zip(robot.joint_names[1::3], (0.3, 0.1), strict=False)))


ROBOTS = {"UR5": lambda: real_robot("ur_description/urdf/ur5_robot.urdf"),
          "ANYmal": lambda: real_robot("anymal_b_simple_description/robots/anymal.urdf"),
          "tree of all joints": lambda: tree(1), "another": lambda: tree(2),
          "rotors": lambda: with_rotors(tree(3)), "one joint": lambda: chain(1)}


def alike(n, slides=False, parents=None, turned=(1.0, 1.0, 1.0), gravity=(0.0, -9.81, 0.0)):
    """Links that are all the same, of 1 kg at the next joint, 1 m away, on parallel axes unless they are turned."""
    pose, builder = np.eye(4), sd.ModelBuilder("l0")
    pose[:3, :3], pose[0, 3] = np.diag(turned), 1.0
    for i in range(n):
        builder.add_joint(f"j{i}", f"l{i + 1}", f"l{parents[i] if parents else i}",
                          np.roll([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], 3 * slides), pose,
                          sd.inertia_matrix(1.0, [1.0, 0, 0], 0.1 * np.eye(3)))
    return sd.Robot(builder.build(), gravity)


ALIKE = {"chain": {"n": 4}, "one": {"n": 1}, "star": {"n": 4, "parents": [0] * 4},
         "branches": {"n": 6, "parents": [0, 1, 1, 2, 3, 0], "gravity": (1.0, 2.0, 3.0)},
         "upside down in turn": {"n": 4, "turned": (1.0, -1.0, -1.0), "gravity": (0.0, 0.0, -9.81)},
         "slides": {"n": 4, "slides": True, "turned": (1.0, -1.0, -1.0), "gravity": (0.0, 0.0, -9.81)},
         "no gravity": {"n": 3, "gravity": (0.0, 0.0, 0.0)}}


@pytest.fixture
def short(monkeypatch):
    """What is long here is a line."""
    monkeypatch.setattr("screw_dynamics.c_code.export.LONGEST", 0)


@pytest.mark.slow
@pytest.mark.parametrize("name, precision", [*((name, "double") for name in ROBOTS), ("rotors", "float")])
def test_loops_answer_as_the_robot(short, name, precision, tmp_path):
    robot = ROBOTS[name]()
    built = Built(robot, tmp_path, "-O0", quantities=QUANTITIES, precision=precision)
    source = (built.folder / "exported.c").read_text()
    assert source.count("for (int i = 1;") >= len(QUANTITIES)
    wrong = {quantity: error for quantity, error in errors(built, robot).items() if not error <= TOLERANCE[precision]}
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", ALIKE)
def test_what_all_links_have_in_common_adds_up_from_body_to_body(short, name, tmp_path):
    """Masses and moments are sums, and gravity is the world's: constants there are no constants of each body."""
    robot = alike(**ALIKE[name])
    wrong = {quantity: error for quantity, error in errors(Built(robot, tmp_path, "-O0", quantities=QUANTITIES),
                                                           robot).items() if not error <= 1e-12}
    assert not wrong


@pytest.mark.slow
def test_the_text_is_one_body_s_whatever_their_number(short):
    """Of robots of one kind the loops are the same, and only the table is longer."""
    files = [texts(chain(n), "long_one", ["forward_dynamics"]) for n in (5, 7)]
    assert all("They have loops over bodies where" in each["README.md"] for each in files)
    lines = [re.sub(r"\d+(?=[;\]])", "N", re.sub(r"static const struct [^;]*;", "", each["src/long_one.c"]).split(
        "Algorithm:")[1]) for each in files]
    assert re.sub(r"int i = \d+", "", lines[0]) == re.sub(r"int i = \d+", "", lines[1])


@pytest.mark.parametrize("quantity, options", [
    ("mass_matrix", {}), ("jacobian", {}), ("step", {}), ("inverse_dynamics", {"gravity": True}),
    ("forward_dynamics", {"payload": ["l3"]}), ("inverse_dynamics", {"external": ["l3"]}), ("friction_torque", {}),
    ("drive_torque", {})])
def test_others_are_refused_by_name(short, quantity, options, tmp_path):
    with pytest.raises(ValueError, match=f"{quantity}.* takes more than 0 operations"):
        chain(5).export_c(tmp_path, "long_one", [quantity], links=["l4"], **options)


def test_mimic_joints_and_floating_bases_are_refused(short, tmp_path):
    for robot in (real_robot("panda_description/urdf/panda.urdf"),
                  real_robot("ur_description/urdf/ur5_robot.urdf", floating_base=True)):
        with pytest.raises(ValueError, match="inverse_dynamics takes more than 0 operations"):
            robot.export_c(tmp_path, "arm", ["inverse_dynamics"])


@pytest.mark.slow
def test_of_a_long_chain_only_what_is_too_long_has_loops(monkeypatch, tmp_path):
    monkeypatch.setattr("screw_dynamics.c_code.export.LONGEST", 10_000)
    robot = chain(50)
    built = Built(robot, tmp_path, "-O0", quantities=["inverse_dynamics", "forward_dynamics"])
    source = (built.folder / "exported.c").read_text()
    assert "static const struct exported_forward_dynamics_link" in source
    assert "inverse_dynamics_link" not in source                        # straight lines
    q, qd, tau = np.random.default_rng(1).uniform(-1.0, 1.0, (3, robot.n))
    found = built.call("forward_dynamics", q, qd, tau)[0]
    assert np.abs(built.call("inverse_dynamics", q, qd, found)[0] - tau).max() < 1e-8 * np.abs(found).max()
