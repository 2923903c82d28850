"""CHANGELOG.md as catkin_pkg reads it, by its own parser and by docutils, which knows the markup."""
import re
import sys

import pytest

from support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import changelog  # noqa: E402

MARKDOWN = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
RELEASED = MARKDOWN.replace(changelog.NOT_RELEASED, "2026-12-01")


def read(package, markdown):
    """{version: its items} and {version: its date}, of what catkin_pkg makes of a changelog."""
    catkin = pytest.importorskip("catkin_pkg.changelog")
    found = catkin.populate_changelog_from_rst(catkin.Changelog(package), changelog.page(package, markdown))
    every = list(found.foreach_version(reverse=True))
    assert all(len(blocks) == 1 for _, _, blocks in every)
    return ({version: [str(item) for item in blocks[0].bullets] for version, _, blocks in every},
            {version: f"{date:%Y-%m-%d}" for version, date, _ in every})


def test_catkin_pkg_reads_every_item_of_every_version():
    items, dates = read("screw_dynamics", RELEASED)
    # Before the second "## " there is one version; its items begin a line.
    expected = {part.split()[0]: len(re.findall("^- ", part, re.MULTILINE)) for part in RELEASED.split("\n## ")[1:]}
    assert {version: len(those) for version, those in items.items()} == expected and expected["0.2.0"] > 100
    assert dates == dict(re.findall(r"^## (\S+) \((\S+)\)$", RELEASED, re.MULTILINE)) and dates["0.1.0"] == "2026-11-22"
    assert list(items) == list(expected)
    assert {item.partition(": ")[0] for item in items["0.2.0"]} == {"Added", "Changed", "Fixed"}
    text = "\n".join(items["0.2.0"])
    assert "``robot.export_c(folder)`` and ``ros2 run screw_dynamics export_c robot.urdf folder``:" in text
    assert "See docs/c_export.md." in text and "](" not in text


def test_what_is_not_released_is_forthcoming():
    markdown = f"## 0.2.1 ({changelog.NOT_RELEASED})\n### Added\n- a\n  b\n\n## 0.2.0 (2026-12-01)\n- c\n"
    items, _ = read("screw_dynamics", markdown)
    assert items == {"0.2.0": ["c"]}
    page = changelog.page("screw_dynamics", markdown)
    assert "\nForthcoming\n-----------\n* Added: a b\n\n0.2.0 (2026-12-01)\n" in page


def test_that_of_the_interfaces_names_the_versions():
    items, _ = read("screw_dynamics_interfaces", RELEASED)
    assert "0.1.0" in items and all(
        those == [f"Released with screw_dynamics {version}, whose changelog says what changed."]
        for version, those in items.items())


@pytest.mark.parametrize("package", ["screw_dynamics", "screw_dynamics_interfaces"])
def test_docutils_finds_no_fault(package):
    core = pytest.importorskip("docutils.core")
    strict = {"report_level": 1, "halt_level": 2}
    assert core.publish_doctree(changelog.page(package, MARKDOWN), settings_overrides=strict).children


@pytest.mark.parametrize("markdown", ["a `step`s b", "x_ and *y* | z\\", "`a` `b`c, [`sd.f`](docs/f.md#g), d", "*"])
def test_words_and_code_come_out_as_they_went_in(markdown):
    """The text that docutils shows is the text, without the marks of code and links."""
    core = pytest.importorskip("docutils.core")
    shown = core.publish_doctree(f"p {changelog.inline(markdown)}", settings_overrides={"halt_level": 2}).astext()
    assert shown == "p " + re.sub(r"\[`?([^]`]+)`?\]\([^)]*\)|`", r"\1", markdown)


def test_a_link_to_a_page_keeps_its_address():
    core = pytest.importorskip("docutils.core")
    tree = core.publish_doctree(changelog.inline("by [semver](https://semver.org)s"))
    reference, = (node for node in tree.findall() if node.tagname == "reference")
    assert (reference.astext(), reference["refuri"]) == ("semver", "https://semver.org")


@pytest.mark.parametrize("line", ["## 0.1", "## 0.3.0", "## 0.3.0 (soon)", "## 0.3.0 (2026-1-2)"])
def test_a_title_without_a_version_and_a_date_is_refused(line):
    says = f"CHANGELOG.md: {line!r} must be '## <version> (not released yet)'"
    with pytest.raises(ValueError, match=re.escape(says)):
        changelog.versions(f"# Changelog\n\n{line}\n- x\n")


def test_a_line_that_belongs_to_no_item_is_refused():
    with pytest.raises(ValueError, match="'loose' belongs to no item"):
        changelog.versions("## 0.3.0 (2026-01-02)\nloose\n")
