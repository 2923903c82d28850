"""The workflows of GitHub: what two linters and GitHub's own schema say of them, and what none of these knows."""
import re
import subprocess
import sys

import pytest
import yaml

from support.paths import ROOT

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EACH = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="workflows are in the repository alone")


def steps(file):
    """All steps of a workflow."""
    return [step for job in yaml.safe_load(file.read_text())["jobs"].values() for step in job["steps"]]


def test_there_are_workflows():
    assert [file.stem for file in FILES] == ["nightly", "test", "wheels"]


@EACH
def test_yamllint_finds_no_fault(file):
    linter = pytest.importorskip("yamllint.linter")
    from yamllint.config import YamlLintConfig
    problems = linter.run(file.read_text(), YamlLintConfig(file=str(ROOT / ".yamllint")), str(file))
    assert [str(problem) for problem in problems] == []


def test_they_are_as_githubs_schema_has_them():
    """The schema comes with check-jsonschema: nothing is fetched."""
    pytest.importorskip("check_jsonschema")
    done = subprocess.run([sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows",
                           *FILES], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@EACH
def test_actions_are_pinned_by_hash_with_their_version(file):
    """Those of GitHub alone, of which one hash of a version stands everywhere."""
    used = re.findall(r"uses: (.*)", file.read_text())
    assert len(used) == sum("uses" in step for step in steps(file)) > 0
    assert [one for one in used if not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", one)] == []


def test_an_action_has_one_hash():
    used = {one for file in FILES for one in re.findall(r"uses: (.*)", file.read_text())}
    assert len(used) == len({one.partition("@")[0] for one in used})


@EACH
def test_nothing_may_be_written_but_where_it_is_said(file):
    """At the top of the file nothing; a job that may is of releases, and no checkout keeps what it can push with."""
    workflow = yaml.safe_load(file.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert {name for name, job in workflow["jobs"].items() if "permissions" in job} <= {"release"}
    assert all(step["with"]["persist-credentials"] is False for step in steps(file)
               if step.get("uses", "").startswith("actions/checkout@"))
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())


@EACH
def test_what_they_run_exists(file):
    makefile = (ROOT / "Makefile").read_text()
    matrices = [job.get("strategy", {}).get("matrix", {}) for job in yaml.safe_load(file.read_text())["jobs"].values()]
    for step in steps(file):
        command = step.get("run", "make").split()
        assert "${{" not in step.get("run", ""), "an expression in a command is code of whoever wrote its value"
        if command[0] == "make" and len(command) > 1:
            each = [target for matrix in matrices for target in matrix.get("target", ())]
            assert each or command[1] != '"$TARGET"'
            for target in each if command[1] == '"$TARGET"' else command[1:2]:
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
        elif command[0].startswith("."):
            assert (ROOT / command[0]).is_file()


def test_the_pythons_are_those_of_make_wheels():
    sys.path.insert(0, str(ROOT / "tools"))
    import wheels
    matrix = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text())["jobs"]["wheel"]["strategy"]
    assert set(matrix["matrix"]["python"]) == set(wheels.VERSIONS)
    assert len(matrix["matrix"]["runner"]) == len(wheels.LEVELS)
