"""The site that `make docs` builds: without a warning, with every public name, and with links that lead somewhere."""
import json
import os
import re
import subprocess
import sys

import pytest

import screw_dynamics as sd
from support.paths import ROOT
from support.tutorials import TUTORIALS, cells

pytestmark = pytest.mark.slow
EXECUTED = "gravity_compensation", "symbolic_equations"     # with a picture, and with a formula
BUILD = """if True:
    import json, os, sys
    from sphinx.application import Sphinx
    source, target, settings = sys.argv[1:]
    site = Sphinx(source, source, target, f"{target}/.doctrees", "html", json.loads(settings), status=None,
                  warningiserror=True, parallel=os.cpu_count())
    site.builder.search = False
    site.build()
    sys.exit(site.statuscode)
"""


def sphinx(source, target, *options):
    """Build a site as `make docs` does."""
    return subprocess.run([sys.executable, "-m", "sphinx", "-q", "--fail-on-warning", "--keep-going", *options,
                           str(source), str(target)], cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """As `make docs` builds it, but that of the tutorials, which have tests as programs, it executes only EXECUTED; in
    a plain theme, and without an index of words, which take a third of the time."""
    pytest.importorskip("sphinx")
    folder, notebooks = (tmp_path_factory.mktemp(name) for name in ("site", "notebooks"))
    # As JSON: no -D can give a list.
    settings = {"html_theme": "basic", "nb_execution_cache_path": str(notebooks),
                "nb_execution_excludepatterns": [f"tutorials/{page}.md" for page in TUTORIALS if page not in EXECUTED]}
    done = subprocess.run([sys.executable, "-c", BUILD, str(ROOT / "docs"), str(folder), json.dumps(settings)],
                          cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_public_name_is_in_the_reference(site):
    reference = "".join(path.read_text() for path in (site / "reference").glob("*.html"))
    anchors = set(re.findall(r'id="(screw_dynamics\.[\w.]+)"', reference))
    methods = {f"screw_dynamics.Robot.{name}" for name in dir(sd.Robot)
               if not name.startswith("_") and callable(getattr(sd.Robot, name))}
    assert methods <= anchors
    named = {name for name in sd.__all__ if callable(getattr(sd, name))}
    elsewhere = {"identify": "analysis.identification.identify",
                 "ElasticJoints": "analysis.elastic_joints.ElasticJoints",
                 "ClosedLoopRobot": "robot.closed_loops.ClosedLoopRobot"}
    assert {f"screw_dynamics.{elsewhere.get(name, name)}" for name in named} <= anchors


def test_signatures_have_names_that_users_know(site):
    """Not how Sphinx, NumPy and Python write an alias out."""
    text = "".join(re.sub(r"<[^>]+>", "", path.read_text()) for path in (site / "reference").glob("*.html"))
    assert text.count("ArrayLike |") > 10
    for internal in ("ForwardRef", "TypeAlias", "_SupportsArray", "_NestedSequence", "numpy._typing", "TypeVar"):
        assert internal not in text, internal


def needed_from_the_network(site):
    """What pages load from elsewhere."""
    return {(page.name, tag) for page in site.rglob("*.html") for tag in re.findall(
        r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?:https?:)?//[^>]*>', page.read_text())}


def test_the_site_reads_offline(site, tmp_path):
    """In the theme of `make docs` too, which no page has a part in, and formulas, which are pictures."""
    assert needed_from_the_network(site) == set()
    assert "<svg xmlns" in (site / "derivatives.html").read_text()
    pages, themed = tmp_path / "pages", tmp_path / "themed"
    pages.mkdir()
    (pages / "index.md").write_text("# A page\n\nWith $x^2$, and `code`.\n")
    done = sphinx(pages, themed, "-c", "docs")
    assert done.returncode == 0, done.stderr
    page = (themed / "index.html").read_text()
    assert "furo" in page and "<svg xmlns" in page and needed_from_the_network(themed) == set()


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


def test_tutorials_are_notebooks_that_are_executed(site):
    for page in TUTORIALS:
        shown = (site / "tutorials" / f"{page}.html").read_text()
        assert shown.count('class="cell docutils container"') == len(cells(page)), page
        assert ("cell_output" in shown) == (page in EXECUTED), page


def test_a_cell_that_fails_fails_the_site(tmp_path):
    """So the checks of the tutorials do."""
    pages = tmp_path / "pages"
    pages.mkdir()
    head = TUTORIALS["symbolic_equations"].partition("# ")[0]
    (pages / "index.md").write_text(f"{head}# A page\n\n```{{code-cell}}\nassert 1 == 2, 'too far'\n```\n")
    done = sphinx(pages, tmp_path / "site", "-c", "docs", "-D", "html_theme=basic", "-D",
                  f"nb_execution_cache_path={tmp_path / 'notebooks'}")
    assert done.returncode != 0 and re.search("AssertionError.*: too far", done.stderr)     # between them colors


def test_the_page_of_the_nodes_is_up_to_date_with_and_without_ros():
    """Its tables import message packages, for which there are stand-ins. If not: PYTHONPATH=. python
    docs/ros_reference.py writes it."""
    pytest.importorskip("rclpy")
    program = """if True:
        import sys
        import ros_reference, stand_ins
        if "without" in sys.argv:
            stand_ins.installed = lambda name: False
        print(ros_reference.page(), "rclpy" in sys.modules)
    """
    path = {**os.environ, "PYTHONPATH": f"{ROOT / 'docs'}:{ROOT}"}
    pages = [subprocess.run([sys.executable, "-c", program, which], cwd=ROOT, capture_output=True, text=True,
                            check=True, env=path).stdout for which in ("with", "without")]
    written = (ROOT / "docs" / "reference" / "ros.md").read_text(encoding="utf-8")
    assert pages == [f"{written} True\n", f"{written} False\n"] and "`~/gravity` sensor_msgs" in written
