"""The pages for those who come from another library: in each row both sides are run, and agree."""
import importlib.util
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import screw_dynamics as sd
from support.paths import ROOT

PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs/coming_from").glob("*.md"))}
SECTIONS = dict(part.split("\n", 1) for part in PAGES.pop("index").split("\n## ")[1:])       # libraries without a page
PAGES |= {title.lower().replace(" ", "_"): text for title, text in SECTIONS.items()}
# What a page imports, and where it comes from.
PEERS = {"pinocchio": ("pinocchio", "pip install pin"), "mujoco": ("mujoco", "pip install mujoco"),
         "drake": ("pydrake", "pip install drake"), "kdl": ("PyKDL", "apt install python3-pykdl"),
         "modern_robotics": ("modern_robotics", "pip install modern-robotics"),
         "robotics_toolbox": ("roboticstoolbox", "pip install roboticstoolbox-python"),
         "toppra": ("toppra", "pip install toppra")}
AGREE = {"toppra": 1e-5}         # of its results, within which its solvers keep margins; others 1e-9
# Runs the blocks of a page one after the other, and prints for each row by how much its sides differ.
RUNNER = """
import json, sys
import numpy as np
page, space, found = json.load(sys.stdin), {}, []
for block in page["blocks"]:
    exec(compile(block, "<block>", "exec"), space)
for theirs, ours in page["rows"]:
    a, b = (np.asarray(eval(side, space), dtype=float) for side in (theirs, ours))
    error = float(np.abs(a - b).max()) if a.shape == b.shape else None
    found.append([theirs, a.shape, b.shape, error, float(np.abs(a).max())])
print(json.dumps(found))
"""


def blocks(page):
    """The programs of a page."""
    return re.findall(r"^```python\n(.*?)^```", PAGES[page], re.DOTALL | re.MULTILINE)


def rows(page, late):
    """The pairs of a page: those that are compiled at their first use, or the others."""
    found = []
    table = r"^\| [^|\n]+ \| (here[^|\n]*) \|\n\|[-|]+\|\n((?:\|.*\n)+)"
    for header, lines in re.findall(table, PAGES[page], re.MULTILINE):
        if (header != "here") == late:
            found += [re.findall(r"`([^`]+)`", line) for line in lines.splitlines()]
    return found


def checked(page, late):
    """Run a page; its rows must agree to 1e-9 of what they compute, or to what AGREE says."""
    module, how = PEERS[page]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed: {how}")
    pairs = rows(page, late)
    assert all(len(pair) == 2 for pair in pairs), [pair for pair in pairs if len(pair) != 2]
    done = subprocess.run([sys.executable, "-c", RUNNER], input=json.dumps({"blocks": blocks(page), "rows": pairs}),
                          cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    wrong = [row for row in found if row[3] is None or not row[3] <= AGREE.get(page, 1e-9) * max(1.0, row[4])]
    assert len(found) == len(pairs) and not wrong


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_both_sides_of_each_row_agree(page):
    checked(page, late=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if rows(page, late=True)])
def test_what_is_compiled_at_its_first_use_agrees(page):
    checked(page, late=True)


def test_every_peer_has_a_page_with_all_that_is_asked_for():
    assert set(PAGES) == set(PEERS)
    for page, text in PAGES.items():
        for title in ("## Conventions", "nly there|Only in (?!this)", "nly here|Only in this"):
            assert re.search(title, text), (page, title)
        assert len(rows(page, late=False)) >= 8, page


URDF_OF_SIBLINGS = """<robot name="siblings"><link name="root"><inertial><mass value="4"/><origin xyz="0.1 0.2 0.3"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>{}</robot>"""
SIBLING = """<link name="{1}"><inertial><mass value="{3}"/><origin xyz="0.1 {3} 0"/><inertia ixx="1" ixy="0" ixz="0"
iyy="1" iyz="0" izz="1"/></inertial></link><joint name="{0}" type="revolute"><parent link="{2}"/><child link="{1}"/>
<origin xyz="{3} 0 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""


def test_the_order_of_siblings_and_the_totals_of_pinocchio_are_as_the_page_says():
    """Of a robot whose root has a mass, and whose siblings are in no order of names in the file."""
    pin = pytest.importorskip("pinocchio")
    siblings = [("knee", "a", "root", 1.0), ("Hip", "b", "root", 2.0), ("elbow", "c", "root", 3.0),
                ("z", "d", "a", 0.5), ("y", "e", "a", 0.25)]
    text = URDF_OF_SIBLINGS.format("".join(SIBLING.format(*sibling) for sibling in siblings))
    model, robot = pin.buildModelFromXML(text), sd.Robot.from_urdf(text)
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, robot.n))
    data, moving = model.createData(), robot.with_root_inertia()
    assert robot.joint_names == tuple(model.names)[1:] == ("Hip", "elbow", "knee", "y", "z")
    assert np.allclose(robot.inverse_dynamics(q, qd, qdd), pin.rnea(model, data, q, qd, qdd), rtol=1e-12)
    assert moving.total_mass == pytest.approx(pin.computeTotalMass(model)) == robot.total_mass - 4.0
    assert np.allclose(moving.center_of_mass(q), pin.centerOfMass(model, data, q), rtol=1e-12)
    assert moving.potential_energy(q) == pytest.approx(pin.computePotentialEnergy(model, data, q))
    assert np.array_equal(moving.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd))
