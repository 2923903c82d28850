"""The pages for those who come from another library: in each row both sides are run, and agree."""
import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest

from support.paths import ROOT

PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs/coming_from").glob("*.md"))
         if path.stem != "index"}
# What a page imports, and where it comes from.
PEERS = {"pinocchio": ("pinocchio", "pip install pin"), "mujoco": ("mujoco", "pip install mujoco"),
         "drake": ("pydrake", "pip install drake"), "kdl": ("PyKDL", "apt install python3-pykdl"),
         "modern_robotics": ("modern_robotics", "pip install modern-robotics"),
         "roboticstoolbox": ("roboticstoolbox", "pip install roboticstoolbox-python")}
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
    """Run a page; its rows must agree to 1e-9 of what they compute."""
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
    wrong = [row for row in found if row[3] is None or not row[3] <= 1e-9 * max(1.0, row[4])]
    assert len(found) == len(pairs) and not wrong


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
        for title in ("## Conventions", "## What it has and we have not", "## What we have and it has not"):
            assert title in text, (page, title)
        assert len(rows(page, late=False)) >= 8, page
