"""The declarations of both packages by REP 2004 are linked, whole, and agree with what can be looked up."""
import re
import xml.etree.ElementTree as ElementTree

import pytest

from support.paths import INTERFACES, ROOT

BOTH = pytest.mark.parametrize("folder", [ROOT, INTERFACES], ids=lambda folder: folder.name)
# What REP 2004 has a level judged by, in its order.
SUBJECTS = ["Version policy", "Change control", "Documentation", "Testing", "Dependencies", "Platforms"]


def declaration(folder):
    return (folder / "QUALITY_DECLARATION.md").read_text()


@BOTH
def test_each_subject_is_declared_and_one_level_claimed(folder):
    text = declaration(folder)
    name = ElementTree.parse(folder / "package.xml").findtext("name")
    assert text.startswith(f"# Quality declaration of {name}\n")
    assert re.findall(r"^\| \d \| \*\*([^*]+)\*\*", text, re.MULTILINE) == SUBJECTS
    assert re.findall(r"\*\*Quality Level (\d)\*\*", text) == ["4"]


def test_the_readme_leads_to_it():
    assert "(QUALITY_DECLARATION.md)" in (ROOT / "README.md").read_text()


def test_the_dependencies_of_the_interfaces_are_all_named():
    row = re.search(r"\| 5 \|.*", declaration(INTERFACES))[0]
    tree = ElementTree.parse(INTERFACES / "package.xml")
    assert set(re.findall(r"`(\w+)`", row)) == {element.text for element in tree.findall("depend")}
    assert {element.text for element in tree.findall("exec_depend")} == {"rosidl_default_runtime"}


@BOTH
def test_a_version_that_is_not_stable_claims_no_level_that_needs_one(folder):
    version = ElementTree.parse(folder / "package.xml").findtext("version")
    assert version.startswith("0.") and f" {version.rpartition('.')[0]}" in declaration(folder)
