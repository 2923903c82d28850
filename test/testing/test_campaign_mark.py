"""Tests marked `campaign`: as many as they have cases, the same ones each time, and a command for each that fails."""
import os
import re
import shlex
import subprocess
import sys

import pytest

from support.paths import ROOT

pytestmark = pytest.mark.slow

TESTS = """
import pytest

SEEN = {"a": (0.0, 1.0), "mode": ["x", "y"]}

@pytest.mark.campaign(SEEN, seed=3)
def test_small(campaign):
    print("seen", campaign.index, campaign.a, campaign.mode, campaign.rng.normal())
    assert campaign.a < 0.75, "too large"

@pytest.mark.campaign(SEEN, cases=2)
@pytest.mark.parametrize("other", [1, 2])
def test_both(campaign, other):
    assert 0.0 <= campaign.a <= 1.0 and campaign.values["mode"] in "xy"
"""
WRONG = """
import pytest

@pytest.mark.campaign({"a": 3.0})
def test_wrong_parameter(campaign):
    pass

@pytest.mark.campaign({"rng": [1]})
def test_wrong_name(campaign):
    pass

@pytest.mark.campaign({"a": (0, 1)}, design="grid")
def test_wrong_design(campaign):
    pass

def test_no_mark(campaign):
    pass
"""
WITHOUT_CASES = """
import pytest

@pytest.mark.campaign({{"a": (0, 1)}}, cases={})
def test_it(campaign):
    pass
"""


def run(folder, *arguments):
    """pytest with the plugin in a folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run([sys.executable, "-m", "pytest", "-p", "pytest_screw_dynamics", "-p", "no:cacheprovider",
                           "--strict-markers", "-rA", *arguments], cwd=folder, capture_output=True, text=True,
                          env={**environment, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])
                               if "PYTHONPATH" in os.environ else str(ROOT)}).stdout


def seen(output):
    """What each case printed, by its number."""
    return {words[0]: words[1:] for words in map(str.split, re.findall(r"^seen (.*)$", output, re.MULTILINE))}


def refused(found):
    """What is no campaign is refused by name."""
    assert "mark campaign: parameter 'a' is 3.0, but must be a range" in found
    assert "mark campaign: parameter 'rng': the name is reserved" in found
    assert "mark campaign: design 'grid' must be one of latin_hypercube, sobol, random" in found
    assert "the fixture campaign is for tests marked" in found


def test_a_mark_without_cases_is_refused_and_not_skipped(tmp_path):
    """pytest skips what has no parameters, and a test that is skipped has not failed."""
    for cases in "0", "-1", "'4'", "2.5":
        (tmp_path / "test_none.py").write_text(WITHOUT_CASES.format(cases))
        found = run(tmp_path)
        assert f"test_none.py::test_it: mark campaign: cases {cases} must be a whole number >= 1" in found, found


def test_each_case_is_a_test_and_a_failure_has_its_command(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    few = run(tmp_path, "--collect-only", "-q")
    assert [f"test_it.py::test_small[case{k}]" in few for k in range(5)] == [True] * 4 + [False]
    assert few.count("::test_both[") == 4
    (tmp_path / "test_wrong.py").write_text(WRONG)
    many = run(tmp_path, "--campaign", "16")
    refused(many)
    found = seen(many)
    assert len(found) == 16 and "4 failed, 44 passed" in many       # a hypercube: each sixteenth of [0, 1] once
    assert sorted(int(16 * float(a)) for a, *_ in found.values()) == list(range(16))
    commands = re.findall(r"to run this case again: python -m pytest (.*)", many)
    assert len(commands) == 4 and f"a = {next(a for a, *_ in found.values() if float(a) >= 0.75)}" in many
    case = commands[0].rpartition(" ")[2]
    alone = run(tmp_path, *shlex.split(commands[0]))
    assert "1 failed" in alone and seen(alone) == {case: found[case]}
