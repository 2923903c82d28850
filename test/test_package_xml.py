"""package.xml names what is imported and launched, no less and no more, in the keys of rosdep."""
import ast
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

from support.paths import INTERFACES, ROOT

sys.path.insert(0, str(ROOT / "tools"))

import rosdep_keys  # noqa: E402

# Modules whose rosdep key is another; those of ROS packages are their own keys.
KEYS = {
    "catkin_pkg": "python3-catkin-pkg", "collada": "python3-collada", "colcon_ros": "python3-colcon-common-extensions",
    "docutils": "python3-docutils", "hypothesis": "python3-hypothesis", "llvmlite": "python3-numba",
    "lxml": "python3-lxml", "matplotlib": "python3-matplotlib", "numba": "python3-numba", "numpy": "python3-numpy",
    "packaging": "python3-packaging", "pytest": "python3-pytest", "rosdep2": "python3-rosdep", "scipy": "python3-scipy",
    "sphinx": "python3-sphinx", "sympy": "python3-sympy", "urdf_parser_py": "urdfdom_py", "yaml": "python3-yaml",
    "yamllint": "yamllint",
}
# Without a key that stands for a Debian package, which a released package may not depend on: imported where they are
# used, or looked for, and installed by pip.
BY_PIP = {"casadi", "check_jsonschema", "clarabel", "cloudpickle", "coal", "coverage", "cupy", "daqp", "dask",
          "distributed", "fsspec", "jax", "lz4", "mcap", "mcap_ros2", "mcap_ros2_support_fast", "mpmath", "msgspec",
          "mujoco", "numpydoc", "pandas", "playwright", "psutil", "pyarrow", "pydrake", "rosbags", "ruff", "toppra",
          "tqdm", "trimesh", "viser", "websockets", "xarray", "zstandard"}
IF_THERE = {"imageio", "rosidl_generator_py", "torch"}      # which a test takes where they are
OWN = {"screw_dynamics", "pytest_screw_dynamics", "screw_dynamics_nodes"}
BESIDE = {"benchmarks", "changelog", "comparison", "fault_injection", "installed_calls", "mutations",
          "predictive_control", "progress", "release", "rosdep_keys", "setup_environment", "studies", "support",
          "test_numba", "wheels"}
LOOKS = {"import_module", "importorskip", "find_spec", "optional_interfaces"}      # functions that take a module's name
MESSAGE = re.compile(r'"(\w+)/(?:msg|srv|action)/\w+"')      # as the tables of endpoints name a type


def imported(*folders):
    """The modules, by their first names, that the Python files of folders import, at the top or anywhere."""
    files = [file for folder in folders for file in ([folder] if folder.is_file() else sorted(folder.rglob("*.py")))]
    names = set()
    for file in files:
        text = file.read_text(encoding="utf-8")
        names |= {name for node in ast.walk(ast.parse(text)) for name in modules(node)} | set(MESSAGE.findall(text))
    return {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)


def modules(node):
    """Those that a node of a syntax tree imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module]
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        function = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return [node.args[0].value] if function in LOOKS and isinstance(node.args[0].value, str) else []
    return []


def launched():
    """The packages of the executables that launch files start, of the controllers, and of the hardware."""
    files = [*(ROOT / "launch").glob("*.py"), ROOT / "screw_dynamics" / "ros" / "launching.py"]
    text = "\n".join(file.read_text() for file in files)
    sections = yaml.safe_load((ROOT / "config" / "ros2_control.yaml").read_text()).values()
    types = [section["ros__parameters"].get("type", "") for section in sections]
    plugin = ElementTree.parse(ROOT / "urdf" / "ros2_control.xacro").getroot().find(".//plugin").text
    return {*re.findall(r'package="(\w+)"', text), *re.findall(r'Program\("(\w+)"', text),
            *(kind.partition("/")[0] for kind in types if kind), plugin.strip().partition("/")[0]}


def declared(*tags):
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    return {element.text for tag in tags for element in package.findall(tag)}


def keys(names):
    return {KEYS.get(name, name) for name in names - OWN - BESIDE - BY_PIP - IF_THERE}


@pytest.mark.slow
def test_what_is_imported_and_launched_is_named():
    run = imported(ROOT / "screw_dynamics", ROOT / "launch", ROOT / "pytest_screw_dynamics.py")
    assert {"rclpy", "nav_msgs", "tf2_msgs", "control_msgs", "sympy"} < run, "the search finds less than there is"
    assert {"robot_state_publisher", "controller_manager", "joint_state_broadcaster"} < launched()
    assert keys(run) | launched() == declared("depend", "exec_depend")


@pytest.mark.slow
def test_what_tests_import_is_named():
    tests = imported(ROOT / "test")
    assert {"pinocchio", "hypothesis", "launch_testing"} < tests
    # launch_testing_ros registers itself with pytest.
    assert keys(tests) - declared("depend", "exec_depend") | {"launch_testing_ros"} == declared("test_depend")


@pytest.mark.slow
def test_what_comes_by_pip_is_optional():
    """Nothing that is imported when the package, or one of its nodes, is imported."""
    at_the_top = {
        name for file in sorted((ROOT / "screw_dynamics").rglob("*.py")) for node in ast.parse(file.read_text()).body
        for name in modules(node) if not file.is_relative_to(ROOT / "screw_dynamics" / "backends")}
    assert not {name.partition(".")[0] for name in at_the_top} & BY_PIP


def test_a_key_is_named_once():
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    names = [element.text for element in package if element.tag.endswith("depend")]
    assert len(names) == len(set(names))
    assert Path(ROOT, "resource", package.findtext("name")).is_file()


@pytest.mark.parametrize("folder", [ROOT, INTERFACES], ids=lambda folder: folder.name)
def test_catkin_pkg_finds_no_fault(folder):
    """Neither by REP 149 nor by its own taste: it warns of what bloom would stumble over."""
    package = pytest.importorskip("catkin_pkg.package")
    warnings = []
    found = package.parse_package(str(folder / "package.xml"), warnings=warnings)
    found.validate(warnings=warnings)
    assert warnings == [] and found.package_format == 3 and found.licenses == ["Apache-2.0"]
    assert {export.tagname for export in found.exports} == {"build_type"}


def test_every_key_is_known_to_rosdistro():
    """As tools/rosdep_keys.py found it; run it when a dependency is added."""
    lines = rosdep_keys.TABLE.read_text().splitlines()[1:]
    table = {key: where.split() for key, where in (line.split(": ") for line in lines)}
    both = rosdep_keys.packages()
    assert set(both) == {"screw_dynamics", "screw_dynamics_interfaces"}
    assert table.keys() == set.union(*both.values()) - set(both)
    assert [key for key, where in table.items() if not {"ubuntu", "debian"} <= set(where)
            and set(where) != set(rosdep_keys.DISTRIBUTIONS)] == []


def test_keys_are_looked_up_as_rosdistro_has_them():
    rules = {"a": {"ubuntu": ["python3-a"], "debian": {"*": ["python3-a"], "stretch": None}, "rhel": None},
             "by pip": {"ubuntu": {"pip": {"packages": ["a"]}}, "debian": {"bookworm": ["b"], "buster": None}},
             "gone": {"ubuntu": {"*": None, "focal": ["c"]}}}
    entries = {"many": {"release": {"packages": ["one", "two"], "version": "1.0.0-1"}}, "three": {"release": {
        "version": "2.0.0-1"}}, "four": {"release": {"packages": ["four"]}}, "five": {"source": {"version": "main"}}}
    names = rosdep_keys.released({"repositories": entries})
    assert names == {"one", "two", "three"}
    found = rosdep_keys.rows(["a", "by pip", "gone", "two", "four"], rules, {"kilted": names})
    assert found == {"a": ["ubuntu", "debian"], "by pip": ["debian"], "gone": [], "two": ["kilted"], "four": []}
