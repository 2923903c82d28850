"""The lints of ament that apply here, where they are installed. ruff, in `make lint`, checks more than the first two.

ament_copyright does not apply: the license of all files is in LICENSE, and none begins with a notice. Of ament_pep257
what would have a docstring begin on its second line, or in the imperative, does not."""
import configparser
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from support.paths import INTERFACES, ROOT

SETTINGS = configparser.ConfigParser()
SETTINGS.read(ROOT / "setup.cfg")
FLAKE8 = SETTINGS["flake8"]
PYTHON = [str(ROOT / name) for name in ("screw_dynamics", "launch", "test", "setup.py", "pytest_screw_dynamics.py",
                                         "screw_dynamics_nodes.py")]
OF_ROS = [str(ROOT / "screw_dynamics" / "ros"), *PYTHON[1:2], *PYTHON[3:]]
NOT_OURS = ["D205", "D208", "D209", "D213", "D300", "D301", "D400", "D401", "D402", "D403", "D413", "D415"]
NOT_OF_AMENT = ["D1", "D203", "D212", "D404", "D42"]       # which pep257 does not look at; D42 is ruff's alone


@pytest.mark.slow
def test_flake8():
    """In a process of its own: flake8 forks, and with it whatever other tests have loaded and started here. On what ROS
    runs; ruff looks for the same everywhere, in a second in place of 40."""
    pytest.importorskip("ament_flake8.main")
    run = "import sys; from ament_flake8.main import main; sys.exit(main())"
    ended = subprocess.run([sys.executable, "-c", run, "--config", str(ROOT / "setup.cfg"), *OF_ROS],
                           capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout.partition("Checked files")[0] + ended.stderr[-1000:]


@pytest.mark.slow
def test_pep257(capsys):
    lint = pytest.importorskip("ament_pep257.main")
    assert lint.main(argv=["--add-ignore", *NOT_OURS, "--", *OF_ROS[:2]]) == 0, capsys.readouterr()


@pytest.mark.parametrize("select, ignore, paths", [
    (FLAKE8["select"], FLAKE8["extend-ignore"], PYTHON), ("D", ",".join([*NOT_OF_AMENT, *NOT_OURS]), PYTHON[:2])],
    ids=["flake8", "pep257"])
def test_ruff_finds_nothing_that_flake8_and_pep257_look_for(select, ignore, paths):
    """Everywhere, with the rules of preview that `make lint` leaves out, by the settings of flake8 and pep257."""
    pytest.importorskip("ruff")
    ended = subprocess.run([
        sys.executable, "-m", "ruff", "check", "--no-cache", "--preview", "--config",
        "lint.explicit-preview-rules=false", "--select", select, "--ignore", ignore, *paths],
        cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout


def test_xmllint(capsys):
    """But for package.xml, whose schema it would take from the network: the next test has that."""
    lint = pytest.importorskip("ament_xmllint.main")
    if shutil.which("xmllint") is None:
        pytest.skip("the program xmllint is not installed")
    files = [*(ROOT / "urdf").iterdir(), ROOT / "screw_dynamics" / "testing" / "discovery.xml"]
    assert lint.main(argv=[str(file) for file in files]) == 0, capsys.readouterr()


@pytest.mark.parametrize("folder", [ROOT, INTERFACES], ids=lambda folder: folder.name)
def test_package_xml_is_valid(folder):
    """By catkin_pkg, the reader of colcon, rosdep and bloom, without a warning."""
    package = pytest.importorskip("catkin_pkg.package")
    warnings = []
    found = package.parse_package(str(folder / "package.xml"), warnings=warnings)
    found.validate(warnings=warnings)
    assert warnings == [] and found.package_format == 3


def test_urdf_and_xacro_files_are_well_formed():
    files = [*(ROOT / "urdf").iterdir()]
    assert len(files) > 3
    for file in files:
        assert ElementTree.parse(file).getroot().tag == "robot"
