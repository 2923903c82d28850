"""Malformed and hostile descriptions: a UrdfError names the fault of each; none hangs, crashes or loads.

They are those of support.faulty_urdfs, and what would be too large for a table is made here. All are read in another
process, because a parser's crash or hang in C would take this one with it. Those whose fault leaves dynamics defined
load, with warnings.
"""
import json
import re
import subprocess
import sys
from math import inf

import pytest

from screw_dynamics.description.urdf import UrdfError, read_urdf
from screw_dynamics.description.urdf.source import LARGEST_SOURCE
from support.faulty_urdfs import LOADED, MALFORMED, SOUND
from support.paths import ROOT

HANGS = 600     # seconds for all files together, which take a few; only a hang reaches it

READ = """
import json, sys, warnings
from screw_dynamics.description.urdf import UrdfWarning, read_urdf
warnings.simplefilter("ignore", UrdfWarning)
for path in json.load(sys.stdin):
    try:
        model = read_urdf(path)
        print(json.dumps(["loaded", f"{model.n} joints"]), flush=True)
    except Exception as error:
        print(json.dumps([type(error).__name__, str(error)]), flush=True)
"""


def verdicts(folder, descriptions):
    """What reading each of {name: bytes} in another process comes to: {name: (type of error or "loaded", message)}."""
    paths = [folder / f"{name}.urdf" for name in descriptions]
    for path in paths:
        path.write_bytes(descriptions[path.stem])
    done = subprocess.run([sys.executable, "-c", READ], input=json.dumps([str(path) for path in paths]), text=True,
                          capture_output=True, timeout=HANGS, cwd=ROOT)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"the reader died of {paths[len(answers)].name}: {done.stderr[-500:]}"
    assert done.stderr == ""
    return {path.stem: (kind, message.removeprefix(f"{path}: "))
            for path, (kind, message) in zip(paths, answers, strict=True)}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return verdicts(tmp_path_factory.mktemp("malformed"), {name: data for name, (data, _) in MALFORMED.items()})


def test_sound_description_loads(tmp_path):
    path = tmp_path / "sound.urdf"
    path.write_text(SOUND)
    model = read_urdf(path)
    assert model.warnings == () and model.joint_names == ("shoulder",) and model.mimics.keys() == {"wrist"}


def test_corpus_is_large_and_its_files_are_small():
    assert len(MALFORMED) >= 60
    assert max(len(data) for data, _ in MALFORMED.values()) < 20_000


@pytest.mark.parametrize("name", sorted(MALFORMED))
def test_malformed_description_is_refused_by_name(name, corpus):
    assert corpus[name] == ("UrdfError", MALFORMED[name][1])


@pytest.mark.filterwarnings("ignore::screw_dynamics.UrdfWarning")
@pytest.mark.parametrize("name", LOADED)
def test_odd_description_loads_with_a_warning(name):
    text, warnings = LOADED[name]
    model = read_urdf(text)
    assert " | ".join(model.warnings) == warnings
    assert model.joint_names[:1] == (() if name == "robot_without_joints_that_move" else ("shoulder",))
    # Faults of limits are those of limits alone.
    sound = read_urdf(SOUND)
    if name.startswith("limit") and "prismatic" not in name:
        assert (model.screws_body == sound.screws_body).all() and (model.inertias == sound.inertias).all()


@pytest.mark.filterwarnings("ignore::screw_dynamics.UrdfWarning")
@pytest.mark.parametrize("name, limits", [      # lower, upper, effort, velocity
    ("limit_lower_above_upper", (-inf, inf, 10, 2)), ("limit_word", (-inf, 1, 10, 2)), ("limit_empty", (-1, 1, inf, 2)),
    ("limit_infinite", (-1, inf, 10, 2)), ("limit_nan", (-1, 1, inf, 2)), ("limit_negative_velocity", (-1, 1, 10, inf)),
    ("limit_without_effort", (-1, 1, inf, 2)), ("limit_missing_revolute", (-inf, inf, inf, inf)),
    ("limit_in_degrees", (-90, 120, 10, 2))])
def test_a_faulty_limit_is_none_and_the_others_stay(name, limits):
    model = read_urdf(LOADED[name][0])
    assert (model.lower[0], model.upper[0], model.effort_limit[0], model.velocity_limit[0]) == limits


@pytest.mark.parametrize("limit", ["lower", "upper", "effort", "velocity"])
def test_a_limit_that_xacro_should_have_written_is_refused(limit):
    """It is no limit that is missing: what it would be is not known."""
    text = re.sub(rf'{limit}="[^"]*"', f'{limit}="${{reach}}"', SOUND)
    with pytest.raises(UrdfError, match=rf"{limit}='\$\{{reach\}}' is unexpanded xacro: run xacro on the file first"):
        read_urdf(text)


def chain(links):
    """A chain of this many links, each joint but the first a mimic of the one before."""
    parts = ['<robot name="chain"><link name="l0"/>']
    for i in range(1, links):
        parts.append(f'<link name="l{i}"/><joint name="j{i}" type="continuous"><parent link="l{i - 1}"/>'
                     f'<child link="l{i}"/>' + (f'<mimic joint="j{i - 1}"/>' if i > 1 else "") + "</joint>")
    return "".join(parts) + "</robot>"


GIANTS = {
    "larger_than_the_limit": (lambda: SOUND + " " * LARGEST_SOURCE, f"the URDF is larger than {LARGEST_SOURCE} bytes"),
    "million_elements": (lambda: "<robot>" + "<a/>" * 1_000_000 + "</robot>",
                         "too many elements and attributes"),
    "million_attributes": (lambda: "<robot " + " ".join(f'a{i}=""' for i in range(1_000_000)) + "/>",
                           "too many elements and attributes"),
    "many_attributes": (lambda: "<robot " + " ".join(f'a{i}=""' for i in range(90_000)) + "/>", "there is no <link>"),
    "deep_nesting": (lambda: "<robot>" + "<a>" * 200 + "</a>" * 200 + "</robot>", "nested more than 100 deep"),
    "deeper_nesting": (lambda: "<robot>" + "<a>" * 40_000 + "</a>" * 40_000 + "</robot>", "xcessive depth"),
    "unclosed_nesting": (lambda: "<robot>" + "<a>" * 40_000, "not well-formed XML"),
    "quadratic_blowup": (lambda: f'<!DOCTYPE r [<!ENTITY a "{"x" * 100_000}">]><robot>{"&a;" * 10_000}</robot>',
                         "a document type (DTD) is not allowed"),
    "long_name": (lambda: SOUND.replace('<link name="base"/>', f'<link name="{"b" * 5_000_000}"/>'),
                  "parent link 'base' does not exist"),
    "long_number": (lambda: SOUND.replace('mass value="2"', f'mass value="{"1" * 5_000_000}"'),
                    "is not a number: '1111"),
    "many_numbers": (lambda: SOUND.replace('xyz="0 0 1"', f'xyz="{"0 " * 200_000}"'), "has 200000 numbers, not 3"),
    "long_comment": (lambda: "<!--" + "<!- " * 20_000 + "-->", "Start tag expected"),
    "unclosed_comment": (lambda: "<!--" + "- " * 1_000_000, "not well-formed XML"),
    "declarations": (lambda: "<?xml " * 20_000, "not well-formed XML"),
    "long_mimic_loop": (lambda: chain(2_000).replace('<child link="l1"/>', '<child link="l1"/><mimic joint="j1999"/>'),
                        "mimic in a loop of 'j1', 'j10', 'j100'"),
    "growing_mimics": (lambda: chain(50).replace("<mimic", '<mimic multiplier="1e14"'),
                       "joint 'j3': mimic multiplier 1e+28 and offset 0, through its chain of leaders, are out"),
    "long_loop": (lambda: chain(2_000).replace('<link name="l0"/>', "").replace('"l0"', '"l1999"'),
                  "every link is a joint's child: a loop of"),
    "many_undeclared_prefixes": (lambda: "<robot>" + "<x:a/>" * 200 + "<link></robot>", "not well-formed XML"),
    "prefixes_beyond_the_parser_s_list": (lambda: "<robot>" + "<x:a/>" * 100 + "</robot>", "not well-formed XML"),
    "many_roots": (lambda: "<robot>" + "".join(f'<link name="l{i}"/>' for i in range(10_000)) + "</robot>",
                   "there are 10000 root links"),
}


@pytest.mark.slow
def test_long_chain_of_mimics_is_read(tmp_path):
    """Neither a refusal nor a hang: none of the steps is quadratic, or recursive, in the chain's length."""
    assert verdicts(tmp_path, {"chain": chain(2_000).encode()}) == {"chain": ("loaded", "1 joints")}


@pytest.fixture(scope="module")
def giants(tmp_path_factory):
    return verdicts(tmp_path_factory.mktemp("giants"), {name: made().encode() for name, (made, _) in GIANTS.items()})


@pytest.mark.slow
@pytest.mark.parametrize("name", GIANTS)
def test_giant_description_is_refused(name, giants):
    kind, message = giants[name]
    assert kind == "UrdfError" and GIANTS[name][1] in message
    assert len(message) < 500
