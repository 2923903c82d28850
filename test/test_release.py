"""In the tree that `make release` writes, catkin_pkg, colcon and rosdep find both packages; in the repository one."""
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import release  # noqa: E402

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no repository of git")
BOTH = {"screw_dynamics": "ros.ament_python", "screw_dynamics_interfaces": "ros.ament_cmake"}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The tree and the two tarballs."""
    return release.write(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module", params=["tree", "tarball"])
def tree(request, written, tmp_path_factory):
    """The tree as it is, and as somebody unpacks it."""
    folder, archive, _ = written
    if request.param == "tree":
        return folder
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(archive) as file:
        file.extractall(unpacked, filter="data")
    found, = unpacked.iterdir()
    return found


def colcon(*arguments, **options):
    """What colcon prints."""
    return subprocess.run([sys.executable, "-m", "colcon", *map(str, arguments)], check=True, text=True, cwd="/",
                          stdout=subprocess.PIPE, **options).stdout


@pytest.mark.slow
def test_catkin_pkg_finds_both(tree):
    packages = pytest.importorskip("catkin_pkg.packages")
    assert {package.name for package in packages.find_packages(str(tree)).values()} == set(BOTH)
    assert {package.name for package in packages.find_packages(str(ROOT)).values()} == {"screw_dynamics"}


@pytest.mark.slow
def test_colcon_finds_both_and_builds_the_interfaces_first(tree, tmp_path):
    pytest.importorskip("colcon_ros")
    environment = {**os.environ, "COLCON_LOG_PATH": str(tmp_path)}
    lines = colcon("list", "--topological-order", "--base-paths", tree, env=environment).splitlines()
    listed = {name: kind.strip("()") for name, _, kind in (line.split("\t") for line in lines)}
    assert listed == BOTH and list(listed) == ["screw_dynamics_interfaces", "screw_dynamics"]
    assert colcon("list", "--base-paths", ROOT, "--names-only", env=environment).split() == ["screw_dynamics"]


def test_rosdep_has_the_keys_of_both(tree, tmp_path):
    """Those that catkin_pkg reads in the two files, but for the packages themselves."""
    pytest.importorskip("rosdep2")
    from catkin_pkg.packages import find_packages

    rules, index, sources = tmp_path / "rules.yaml", tmp_path / "index-v4.yaml", tmp_path / "sources.list.d"
    rules.write_text("a_key: {ubuntu: [a-package]}\n")
    index.write_text("%YAML 1.1\n---\ndistributions: {}\ntype: index\nversion: 4\n")
    sources.mkdir()
    (sources / "rules.list").write_text(f"yaml {rules.as_uri()}\n")
    environment = {name: value for name, value in os.environ.items() if name not in ("AMENT_PREFIX_PATH", "ROS_DISTRO")}
    environment |= {"ROSDEP_SOURCE_PATH": str(sources), "ROS_HOME": str(tmp_path / "home"), "ROS_PYTHON_VERSION": "3",
                    "ROSDISTRO_INDEX_URL": index.as_uri()}

    def rosdep(*arguments):
        command = [sys.executable, "-c", "from rosdep2.main import rosdep_main; rosdep_main()", *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd="/").stdout

    rosdep("update")
    keys = set(rosdep("keys", "--from-paths", tree, "--ignore-src").split())
    both = [{dependency.name for kind in ("build", "buildtool", "buildtool_export", "build_export", "exec", "test")
             for dependency in package[f"{kind}_depends"]} for package in find_packages(str(tree)).values()]
    assert keys == set.union(*both) - set(BOTH) and all(len(names & keys) > 5 for names in both)


def test_a_release_has_all_that_is_tracked_and_a_license_in_each_package(written):
    folder, archive, interfaces = written
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    there = {path for path in tracked.splitlines() if (ROOT / path).exists()}
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    moved = {path.removeprefix("screw_dynamics/") for path in found}
    assert {path for path in there - moved if not path.startswith(".github/")} == {".ci/run", ".gitignore"}
    assert moved - there == {"CHANGELOG.rst", *(f"screw_dynamics_interfaces/{name}" for name in (
        "LICENSE", "CHANGELOG.rst"))}
    for path in moved & there:
        copy = folder / path if path.startswith("screw_dynamics_interfaces/") else folder / "screw_dynamics" / path
        assert os.access(copy, os.X_OK) == os.access(ROOT / path, os.X_OK), path
    with tarfile.open(archive) as file:
        modes = {member.name.partition("/")[2]: bool(member.mode & 0o100) for member in file.getmembers()}
    assert modes == {path: os.access(folder / path, os.X_OK) for path in found} and any(modes.values())
    with tarfile.open(interfaces) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert names == {path.partition("/")[2] for path in found if path.startswith("screw_dynamics_interfaces/")}
    assert {"package.xml", "CMakeLists.txt", "LICENSE", "CHANGELOG.rst"} < names


@pytest.mark.slow
def test_the_same_files_give_the_same_bytes(written, tmp_path):
    _, *again = release.write(tmp_path)
    for before, after in zip(written[1:], again, strict=True):
        assert before.name == after.name and before.read_bytes() == after.read_bytes()


def test_different_versions_and_a_folder_without_git_are_refused(tmp_path, monkeypatch, capsys):
    files = release.packages()
    other = tmp_path / "package.xml"
    other.write_text(Path(files["screw_dynamics"]["package.xml"]).read_text().replace("<version>", "<version>9."))
    files["screw_dynamics"]["package.xml"] = other
    with pytest.raises(release.ReleaseError, match=r"the versions differ: screw_dynamics 9\.\d.*, .*_interfaces \d"):
        release.version_of(files)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["release", str(tmp_path)])
    assert release.main() == 1
    assert capsys.readouterr().err == (
        f"make release: {tmp_path} is no repository of git, which says what belongs to a release\n")


@pytest.mark.slow
def test_colcon_builds_both(written, tmp_path):
    """On the ROS 2 of this environment, in place of an installation; kernels are left to their first use."""
    pytest.importorskip("colcon_ros")
    pytest.importorskip("rosidl_generator_py")
    colcon("--log-base", tmp_path / "log", "build", "--base-paths", written[0], "--build-base", tmp_path / "build",
           "--install-base", tmp_path / "install", "--cmake-args", "-DBUILD_TESTING=OFF",
           f"-DPython3_EXECUTABLE={sys.executable}", f"-DCMAKE_PROJECT_INCLUDE={ROOT / 'tools' / 'interfaces.cmake'}",
           env={**os.environ, "AMENT_PREFIX_PATH": sys.prefix, "CMAKE_PREFIX_PATH": sys.prefix,
                "SCREW_DYNAMICS_TARGETS": "none", "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}"})
    install = tmp_path / "install"
    assert os.access(install / "screw_dynamics" / "lib" / "screw_dynamics" / "dynamics_node", os.X_OK)
    share = install / "screw_dynamics" / "share" / "screw_dynamics"
    assert (share / "launch" / "simulation.launch.py").is_file() and (share / "config" / "dynamics.yaml").is_file()
    site, = (install / "screw_dynamics_interfaces").glob("lib/python3*/site-packages")
    code = "import screw_dynamics_interfaces.srv as s; print(s.__file__, s.GetJacobian)"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(site)}, check=True,
                          capture_output=True, text=True)
    assert done.stdout.startswith(str(site))
