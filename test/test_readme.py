"""What the README and the other pages show runs as it stands, prints what they say, and is quoted as it is."""
import ast
import importlib.util
import inspect
import json
import re
import subprocess
import sys
import textwrap
from itertools import takewhile

import numpy as np
import pytest
import yaml
from lxml import etree

import screw_dynamics as sd
from screw_dynamics.algorithms.inverse_dynamics.body_fixed import newton_euler
from support.forked import Interpreter
from support.paths import ROOT, URDF
from support.ros import needs_ros

PAGES = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
         for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))}
README, MODELS, SPEED = (PAGES[page] for page in ("README.md", "docs/conventions.md", "docs/benchmarks.md"))
BLOCKS = [(page, language, text) for page in sorted(PAGES)
          for language, text in re.findall(r"^```(\w*)\n(.*?)^```", PAGES[page], re.DOTALL | re.MULTILINE)]
WITHOUT = {f"import {name}": [pytest.mark.skip(reason=f"{name} is not installed")]
           for name in ("jax", "dask", "xarray") if importlib.util.find_spec(name) is None}
WITHOUT["isolate()"] = [needs_ros]
if importlib.util.find_spec("mcap_ros2_support_fast") is None:
    WITHOUT["sd.logs.read("] = [pytest.mark.skip(reason="the extra [logs] is not installed")]
PROGRAMS = [pytest.param(text, id=f"{page}, {k}", marks=[
                *next((marks for line, marks in WITHOUT.items() if line in text), []),
                *[pytest.mark.slow] * (page != "README.md")])
            for k, (page, language, text) in enumerate(BLOCKS) if language == "python"]


def block(start):
    """The one block with a line that begins so."""
    text, = (text for _, _, text in BLOCKS if re.search(f"^{re.escape(start)}", text, re.MULTILINE))
    return text


@pytest.fixture(scope="module")
def run():
    """What a program prints in the repository's root."""
    with Interpreter(ROOT, "screw_dynamics") as interpreter:
        yield interpreter.run


@pytest.fixture
def values(run):
    """The values of expressions after a program, which it prints as JSON."""
    def values(program, *shown):
        show = "".join(f"\nprint(json.dumps(np.asarray({value}).tolist()))" for value in shown)
        lines = run(f"{program}\nimport json\nimport numpy as np{show}").splitlines()
        return [np.array(json.loads(line)) for line in lines[-len(shown):]]
    return values


# ------------------------------------------------------------------------------------------------- Python
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_program_runs_by_itself(run, program):
    run(program)


@pytest.mark.slow
def test_the_first_program_computes_what_it_says(values):
    """Of the README's three joints; forward dynamics inverts inverse dynamics, and the controller holds the robot."""
    program = block('robot = sd.Robot.from_urdf("urdf/spherical_arm.urdf")       # a path')
    names = program.split("every vector below: ")[1].split("\n")[0].split(", ")
    first, left, qdd, J, success, motion = values(
        program.replace("J = robot", "tau = robot.inverse_dynamics(q, qd, qdd) - tau; J = robot"),
        "robot.joint_names", "tau", "qdd", "J", "found.success", "q")
    robot = sd.Robot.from_urdf(URDF / "spherical_arm.urdf")
    assert tuple(names) == robot.joint_names == tuple(first)
    assert np.abs(left).max() < 1e-12 and (qdd != 0).all() and J.shape == (6, 3) and success
    assert motion.shape == (5001, 3) and (np.abs(motion[-1]) < 0.2).all()


def test_the_robot_of_screws_is_what_the_comment_says(values):
    kinds, = values(block('builder = sd.ModelBuilder("base")'), "robot.model.screws_body")
    pitch = {"shoulder": 0.0, "slide": np.inf, "drill": 0.005}
    for (w, v), expected in zip(kinds.reshape(3, 2, 3), pitch.values(), strict=True):
        assert (w @ v / (w @ w) if w.any() else np.inf) == pytest.approx(expected, abs=1e-15)


def test_formulations_agree(values):
    code = block("from screw_dynamics.papers.formulations import closed_form")
    assert code in PAGES["docs/papers.md"]
    J, Vdd, tau, same, expected = values(code, "J", "Vdd", "tau", "same", "robot.inverse_dynamics(q, qd, qdd)")
    assert J.shape == (18, 3) and Vdd.shape == (3, 6)
    assert np.abs(tau - expected).max() < 1e-12 and np.abs(same - expected).max() < 1e-12


def test_symbolic_equations_are_what_is_printed(run):
    assert run(block('builder = sd.ModelBuilder("rail")')) == block("M(q) qdd")


def test_a_macro_joint_is_added_as_documented():
    call, = re.findall(r"`builder\.(add_macro_joint\(.+?\))`", MODELS)
    builder = sd.ModelBuilder("trunk")
    eval(f"builder.{call}", {"builder": builder})
    assert builder.build().joint_names == ("hip_rx", "hip_ry")


def test_joints_are_locked_as_documented():
    lock, = re.findall(r"`lock=(\{.+?\})`", MODELS)
    robot = sd.Robot.from_urdf(URDF / "spherical_arm.urdf", lock=ast.literal_eval(lock))
    assert robot.joint_names == ("waist", "lift")


def test_inverse_dynamics_is_quoted_whole():
    """But for the comments, the annotations and the docstring."""
    def bare(text):
        return re.sub(r" *#.*", "", text).split("):\n", 1)[1].strip()
    source = textwrap.dedent(inspect.getsource(getattr(newton_euler, "py_func", newton_euler)))
    source = re.sub(r'def newton_euler\(.*?\) -> None:\n.*?"""\n', "):\n", source, flags=re.DOTALL)
    assert bare(block("def newton_euler(links, body, acceleration, tau):")) == bare(source)


# ------------------------------------------------------------------------------------------------- commands
COMMANDS = [(page, line.partition(" #")[0].strip()) for page, language, text in BLOCKS if language == "sh"
            for line in text.splitlines()]
INLINE = [(page, command) for page, text in PAGES.items() for command in re.findall(r"`([^`\n]+)`", text)]


def every(pattern):
    """{(page, what the pattern's group found)} over all commands on the pages."""
    return {(page, found) for page, command in (*COMMANDS, *INLINE) for found in re.findall(pattern, command)}


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150


def test_blocks_say_their_language():
    """So that each is checked; what is printed has none."""
    assert {language for _, language, _ in BLOCKS} <= {"python", "sh", "c", "dockerfile", "xml", "yaml", ""}


@pytest.mark.parametrize(("page", "language", "text"), [block for block in BLOCKS if block[1] in ("xml", "yaml")])
def test_blocks_of_xml_and_yaml_can_be_read(page, language, text):
    """XML is what stands in a xacro file."""
    if language == "yaml":
        assert isinstance(yaml.safe_load(text), dict)
    else:
        etree.fromstring(f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro">{text}</robot>')


def test_targets_of_make_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    found = every(r"(?:^|\s)make (?:[A-Z]\w*=\S+ )*([a-z][\w-]*)")
    assert {("README.md", "demo"), ("README.md", "test"), ("CONTRIBUTING.md", "setup")} <= found
    assert {(page, target) for page, target in found if target not in targets} == set()


def test_launch_files_and_their_arguments_exist():
    files, arguments = every(r"ros2 launch screw_dynamics (\S+)"), every(r"(?<!-p )(?<![\w./'])(\w+):=")
    assert {name for _, name in files} == {path.name for path in (ROOT / "launch").iterdir() if path.suffix == ".py"}
    known = ast.parse((ROOT / "screw_dynamics" / "ros" / "launching.py").read_text())
    known, = (node.value for node in known.body if isinstance(node, ast.Assign) and node.targets[0].id == "ARGUMENTS")
    of_xacro = {"name", "ur_type"}      # the arguments of a xacro file, in the value of xacro_args
    assert {name for _, name in arguments} - of_xacro <= set(ast.literal_eval(known))


@pytest.mark.slow
def test_modules_and_options_of_command_lines_exist():
    modules = every(r"python -m ((?:screw_dynamics|benchmarks|comparison)[\w.]*)")
    assert ("docs/installation.md", "screw_dynamics.prepare") in modules
    assert {(page, module) for page, module in modules if not importlib.util.find_spec(module)} == set()
    options = every(r"screw_dynamics\.prepare[^`]*? (--?\w+)") | {("docs/installation.md", "--clear")}
    told = subprocess.run([sys.executable, "-m", "screw_dynamics.prepare", "--help"], cwd=ROOT, capture_output=True,
                          text=True, check=True).stdout
    assert {option for _, option in options if not re.search(rf"{option}\b", told)} == set()


def test_pip_is_told_of_this_folder_and_of_extras_that_exist():
    """The package is on no registry."""
    extras = set(re.findall(r'^        "(\w+)": ', (ROOT / "setup.py").read_text(), re.MULTILINE))
    installed = every(r'pip install ((?:-\S+ )*\S+)')
    assert {("README.md", "./screw_dynamics"), ("README.md", '".[view,plot]"'),
            ("docs/papers.md", '".[symbolic]"')} <= installed
    for page, what in installed:
        found = re.fullmatch(r'"?\.(?:/screw_dynamics)?(?:\[([\w,]+)\])?"?', what.split()[-1])
        assert found and (found[1] is None or set(found[1].split(",")) <= extras), (page, what)


def test_links_lead_somewhere():
    for page, text in PAGES.items():
        for target, anchor in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", text):
            path = (ROOT / page).parent / target if target else ROOT / page
            assert path.exists(), f"{page}: {target}"
            if anchor:
                titles = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
                assert anchor in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}, anchor


# ------------------------------------------------------------------------------------------------- speed
def table(first, page=SPEED):
    """The lines of the table that begins with this cell, as lists of cells."""
    lines = page[page.index(f"| {first} |"):].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in takewhile(lambda x: x[:1] == "|", lines)]


def speeds():
    """The rows of the table of speeds: quantity, call, target or None, and {robot: ratio}."""
    (header, _, *lines), quantity = table("times faster"), ""
    for line in lines:
        quantity = line[0] or quantity
        numbers = {robot: float(cell) for robot, cell in zip(header[4:], line[4:], strict=True) if cell}
        yield quantity, line[2], float(line[3]) if line[3] else None, numbers


def test_the_table_of_speeds_has_one_number_a_cell():
    rows = list(speeds())                       # a cell that is not a number raises
    assert len(rows) > 30 and all(numbers for *_, numbers in rows)
    assert {call for _, call, _, _ in rows} == {"plain", "`out=`", "specialized"}


def test_the_readme_has_some_rows_of_the_table():
    header, _, *lines = table("times faster", README)
    assert len(lines) > 5
    plain = {quantity: numbers for quantity, call, _, numbers in speeds() if call == "plain"}
    for quantity, _, *cells in lines:
        assert dict(zip(header[2:], map(float, cells), strict=True)).items() <= plain[quantity].items()


def test_what_is_said_of_speeds_is_what_the_table_shows():
    missed = {quantity for quantity, _, target, numbers in speeds() if target and min(numbers.values()) < target}
    of_one = {quantity for quantity in missed if "4096" not in quantity and "65536" not in quantity}
    assert of_one == {"Jacobian, one state", "floating base: derivatives of forward dynamics, one state",
                      "simulation, one robot"}
    assert {quantity for quantity, _, target, _ in speeds() if target and "1 thread" in quantity} <= missed
    text = " ".join((README + SPEED).split())
    assert ("miss them ([why](#missed-targets)): - all batches, and the simulation of thousands of robots; - the "
            "simulation of one robot on the general kernels; - Jacobians of robots with many joints, and derivatives "
            "of forward dynamics of one state on a floating base; - the speed-up of some batches by a second "
            "thread") in text
    assert not [quantity for quantity, _, _, numbers in speeds() if min(numbers.values()) < 1.0]
    against_others = [ratio for quantity, _, _, numbers in speeds() if not quantity.startswith("two threads")
                      for ratio in numbers.values()]
    assert "faster than Pinocchio's and MuJoCo's bindings in most benchmarks" in text
    assert sum(ratio > 1.0 for ratio in against_others) > 0.9 * len(against_others)
