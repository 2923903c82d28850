"""The package's files tell the same story: to pip, to colcon, and about ROS staying at the edge."""

import os
import pkgutil
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from importlib.metadata import entry_points, metadata, version
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import screw_dynamics
from support.paths import INTERFACES, ROOT
from support.ros import PACKAGES, needs_ros, reason_to_skip

IMPORT_WITHOUT_ROS = """
import importlib.abc, sys

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root == "rclpy" or root.endswith(("_msgs", "_srvs", "_interfaces")):
            raise ModuleNotFoundError(f"{name} is not here", name=name)

sys.meta_path.insert(0, Refuse())
import importlib
for module in sys.argv[1:]:
    importlib.import_module(module)
"""


def core_modules():
    """Names of all modules of the package but those that need ROS, screw_dynamics.ros and what drives its nodes, or a
    library to which they are bridges, where that is missing."""
    found = pkgutil.walk_packages(screw_dynamics.__path__, "screw_dynamics.", onerror=lambda name: None)
    left_out = ("screw_dynamics.ros", "screw_dynamics.testing.driver", "screw_dynamics.testing.simulator", *(
        f"screw_dynamics.backends.{name}" for name in ("jax", "casadi") if find_spec(name) is None))
    return [module.name for module in found if not module.name.startswith(left_out)]


def import_without_ros(*modules):
    return subprocess.run([sys.executable, "-c", IMPORT_WITHOUT_ROS, *modules], capture_output=True, text=True)


@pytest.mark.slow
def test_core_imports_without_ros():
    modules = core_modules()
    assert {"screw_dynamics.model", "screw_dynamics.description.urdf"} <= set(modules)
    result = import_without_ros("screw_dynamics", *modules)
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_import_without_ros_would_notice():
    assert " is not here" in import_without_ros("screw_dynamics.ros.dynamics.node").stderr


def package_xml(folder):
    return ElementTree.parse(folder / "package.xml").getroot()


@pytest.mark.parametrize("folder", [ROOT, INTERFACES], ids=lambda folder: folder.name)
def test_package_xml_agrees_with_the_installed_package(folder):
    package = package_xml(folder)
    assert package.findtext("version") == version("screw_dynamics")
    assert package.findtext("license") == metadata("screw_dynamics")["License"] == "Apache-2.0"


def test_citation_and_changelog_are_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (version("screw_dynamics"), "Apache-2.0")
    assert all(paper["title"] and paper["authors"] and paper["year"] for paper in citation["references"])
    latest, *_ = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert latest == version("screw_dynamics")


def test_a_source_distribution_contains_all_that_is_tracked(tmp_path):
    """So that its tests run. What serves the repository alone is left out."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no repository but a source distribution, or a copy of one")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    subprocess.run([sys.executable, "setup.py", "-q", "egg_info", "--egg-base", tmp_path], cwd=ROOT, check=True)
    listed = (tmp_path / "screw_dynamics.egg-info" / "SOURCES.txt").read_text().splitlines()
    left_out = {path for path in set(tracked.splitlines()) - set(listed) if not path.startswith(".github/")}
    assert left_out == {".ci/run", ".gitignore", ".yamllint"}
    assert not [file for file in listed if file.endswith((".pyc", ".o", ".so"))]


def test_a_wheel_contains_all_of_the_package_that_is_tracked(tmp_path):
    """Templates too; without kernels and the extension, which are made where it is built."""
    shutil.copytree(ROOT, tmp_path / "tree", ignore=shutil.ignore_patterns(".*", "build", "__pycache__", "*.egg-info"))
    subprocess.run([sys.executable, "setup.py", "-q", "build_py", "--build-lib", tmp_path / "built"],
                   cwd=tmp_path / "tree", env={**os.environ, "SCREW_DYNAMICS_TARGETS": "none"}, check=True)

    def files(folder):
        return {str(path.relative_to(folder)) for path in (folder / "screw_dynamics").rglob("*")
                if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".c", ".so")}
    built = files(tmp_path / "built")
    assert built == files(tmp_path / "tree") and "screw_dynamics/c_code/templates/ros2_control/law.hpp" in built


@pytest.mark.slow
def test_an_editable_install_is_found_by_scripts_beside_the_checkout(tmp_path):
    """The checkout's folder has the package's name: on sys.path it is a namespace package, which is empty."""
    wheels, site = tmp_path / "wheels", tmp_path / "site"
    (tmp_path / "work" / "screw_dynamics").mkdir(parents=True)
    wheels.mkdir()
    build = "import sys, build_backend; build_backend.build_editable(sys.argv[1])"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-c", build, wheels], cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
                   env={**environment, "PYTHONPATH": str(ROOT / "tools")})
    wheel, = wheels.iterdir()
    zipfile.ZipFile(wheel).extractall(site)
    look = "import site, sys; site.addsitedir(sys.argv[1]); import screw_dynamics; print(screw_dynamics.__file__)"
    found = subprocess.run([sys.executable, "-c", look, site], cwd=tmp_path / "work", env=environment,
                           capture_output=True, text=True, check=True).stdout
    assert Path(found.strip()).is_file()


def test_every_service_file_is_built():
    listed = re.findall(r'"(srv/\w+\.srv)"', (INTERFACES / "CMakeLists.txt").read_text())
    assert sorted(listed) == sorted(f"srv/{path.name}" for path in (INTERFACES / "srv").iterdir())


@needs_ros
def test_every_service_is_importable():
    import screw_dynamics_interfaces.srv as services

    assert all(hasattr(services, path.stem) for path in (INTERFACES / "srv").iterdir())


@needs_ros
@pytest.mark.parametrize("node", ["dynamics_node", "simulator_node"])
def test_node_is_an_executable(node):
    (entry,) = entry_points(group="console_scripts", name=node)
    assert callable(entry.load())
    assert (Path(sys.prefix) / "bin" / node).is_file()


def test_requirements_of_ros_are_for_the_machine_that_has_its_wheels():
    """So that [test] and [demo] install elsewhere; the core's are for every machine, with a Numba that works there."""
    found = [Requirement(text) for text in metadata("screw_dynamics").get_all("Requires-Dist")]

    def needed(extra, machine):
        there = {"extra": extra, "platform_machine": machine, "sys_platform": "linux"}
        return {f"{r.name}{r.specifier}" for r in found if r.marker is None or r.marker.evaluate(there)}

    for extra in "test", "demo", "dev":
        assert any(name.startswith("ros-rclpy") for name in needed(extra, "x86_64"))
        assert not any(name.startswith("ros-") for name in needed(extra, "aarch64"))
    assert {"pin", "mujoco>=3.2"} < needed("test", "aarch64") and "example-robot-data" in needed("demo", "aarch64")
    assert "numba<0.70,>=0.58" in needed("", "x86_64") and "numba<0.70,>=0.59" in needed("", "aarch64")
    assert needed("", "x86_64") ^ needed("", "aarch64") == {"numba<0.70,>=0.58", "numba<0.70,>=0.59"}


def test_tests_of_nodes_are_skipped_where_there_is_no_ros_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert reason_to_skip(lambda name: name, "aarch64") is None
    assert reason_to_skip(lambda name: None, "aarch64") == (
        "rclpy and screw_dynamics_interfaces cannot be imported: the nodes need ROS 2")
    assert reason_to_skip(lambda name: name if name == "rclpy" else None, "x86_64").startswith(PACKAGES[1])
    (tmp_path / "setup.json").touch()                     # what tools/setup made must have it
    assert reason_to_skip(lambda name: None, "x86_64") is None
    assert reason_to_skip(lambda name: None, "aarch64") is not None


def trial_of(plugin, tests, folder):
    """Pytest's run of some tests with this text as a plugin, made in a folder."""
    (folder / "trial.py").write_text(plugin)
    path = os.pathsep.join([str(folder), str(ROOT / "test"), str(ROOT)])
    return subprocess.run([sys.executable, "-m", "pytest", "-p", "trial", "-p", "no:cacheprovider", "-q", tests],
                          cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)


@pytest.mark.slow
def test_files_of_tests_of_nodes_are_skipped_with_the_reason(tmp_path):
    """None is imported, and none is left out in silence."""
    done = trial_of("from support import ros; ros.REASON = 'there is no ROS in this trial'", "test/ros", tmp_path)
    files = len(list((ROOT / "test" / "ros").glob("test_*.py")))
    assert f"{files} skipped" in done.stdout and "there is no ROS in this trial" in done.stdout
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.slow
@pytest.mark.parametrize("set_up, code, says", [
    (False, pytest.ExitCode.NO_TESTS_COLLECTED, "sympy is not installed"),
    (True, pytest.ExitCode.INTERRUPTED, "import of sympy halted")])
def test_files_of_tests_are_skipped_without_what_comes_by_pip_alone(tmp_path, set_up, code, says):
    """But not in the environment of tools/setup, which has everything."""
    plugin = f"import sys\nsys.modules['sympy'] = None\nfrom support import skipped\nskipped.SET_UP = {set_up}"
    done = trial_of(plugin, "test/papers/symbolic/test_symbolic.py", tmp_path)
    assert done.returncode == code and says in done.stdout, done.stdout


def test_class_variables_say_of_what_they_are():
    """Python 3.10 cannot read the annotations of a class where one is ClassVar alone: importing the package failed."""
    alone = [path.name for path in (ROOT / "screw_dynamics").rglob("*.py")
             if re.search(r": ClassVar( =|$)", path.read_text(encoding="utf-8"), re.MULTILINE)]
    assert alone == []
