"""The site that `make docs` builds: without a warning, with every public name, with links that lead somewhere, and with
tutorials that run. `make docs` executes these as notebooks; here their cells are run as programs, which takes less."""
import os
import re
import subprocess
import sys

import pytest

import screw_dynamics as sd
from support.paths import ROOT
from support.ros import needs_ros

TUTORIALS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs/tutorials").glob("*.md"))
             if path.stem != "index"}
SHORT = "gravity_compensation"      # what the others call is not all compiled by make
OF_NODES = "robot_in_ci", "ros2_control_and_moveit"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "--fail-on-warning", "--keep-going", "-D",
                           "nb_execution_mode=off", "docs", str(folder)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_public_name_is_in_the_reference(site):
    reference = "".join(path.read_text() for path in (site / "reference").glob("*.html"))
    anchors = set(re.findall(r'id="(screw_dynamics\.[\w.]+)"', reference))
    methods = {f"screw_dynamics.Robot.{name}" for name in dir(sd.Robot)
               if not name.startswith("_") and callable(getattr(sd.Robot, name))}
    assert methods <= anchors
    named = {name for name in sd.__all__ if callable(getattr(sd, name))}
    assert {f"screw_dynamics.{name}" for name in named - {"identify"}} <= anchors      # a function of identification
    assert "screw_dynamics.identification.identify" in anchors


def test_links_lead_somewhere(site):
    """Within the site: pages, files to download, and places on them."""
    ids, lost = {}, set()
    for page in site.rglob("*.html"):
        for link in re.findall(r'href="([^"]+)"', page.read_text()):
            path, _, place = re.sub(r"\?v=\w+", "", link).partition("#")
            if ":" in path or page.name in ("genindex.html", "search.html"):
                continue
            target = (page.parent / path).resolve() if path else page
            if target.suffix == ".html" and target.exists() and target not in ids:
                ids[target] = set(re.findall(r'id="([^"]+)"', target.read_text()))
            if not target.exists() or (place and target in ids and place not in ids[target]):
                lost.add((page.relative_to(site).as_posix(), link))
    assert not lost


def cells(page):
    """The code of a notebook's cells."""
    return re.findall(r"^```{code-cell}[^\n]*\n(?::[^\n]*\n)*(.*?)^```", TUTORIALS[page], re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", [
    pytest.param(page, marks=[pytest.mark.slow] * (page != SHORT) + [needs_ros] * (page in OF_NODES))
    for page in TUTORIALS])
def test_tutorials_run(page):
    done = subprocess.run([sys.executable, "-"], input="\n".join(cells(page)), cwd=ROOT / "docs/tutorials", text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_tutorials_say_what_comes_out_and_check_it():
    listed = re.findall(r"^\| \[.*?\]\((\w+)\.md\)", (ROOT / "docs/tutorials/index.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(TUTORIALS)
    for page, text in TUTORIALS.items():
        assert "At the end you have" in text.split("\n## ")[0], page
        assert "assert " in cells(page)[-1] and "## Check" in text, page


def test_the_page_of_the_nodes_is_the_same_without_ros():
    """Its tables import message packages, for which there are stand-ins."""
    pytest.importorskip("rclpy")
    program = """if True:
        import sys
        import ros_reference, stand_ins
        if "without" in sys.argv:
            stand_ins.installed = lambda name: False
        print(ros_reference.ros_reference(), "rclpy" in sys.modules)
    """
    path = {**os.environ, "PYTHONPATH": f"{ROOT / 'docs'}:{ROOT}"}
    pages = [subprocess.run([sys.executable, "-c", program, which], cwd=ROOT, capture_output=True, text=True,
                            check=True, env=path).stdout for which in ("with", "without")]
    assert pages[0].removesuffix("True\n") == pages[1].removesuffix("False\n") and "`~/gravity` sensor_msgs" in pages[0]
