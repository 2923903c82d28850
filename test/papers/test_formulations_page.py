"""docs/formulations.md: every function, test and file that it names exists, and it names every formulation."""
import inspect
import operator
import pkgutil
import re

import pytest

import screw_dynamics as sd
from screw_dynamics.papers import formulations
from support.paths import ROOT

PAGE = (ROOT / "docs/formulations.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]
ROWS = [row for row in ROWS if row[0] != "equations" and set(row[0]) != {"-"}]


def named(column, pattern):
    """What stands in quotes in a column and has the form of a name."""
    quoted = {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[column])}
    return sorted(name for name in quoted if re.fullmatch(pattern, name))


def found(name):
    """An object by its dotted name, in the formulations or in the package; AttributeError if there is none."""
    return operator.attrgetter(name)(formulations if name.split(".")[0] in formulations.__all__ else sd)


def test_rows_have_four_cells():
    assert len(ROWS) > 30 and {len(row) for row in ROWS} == {4}


@pytest.mark.parametrize("name", named(1, r"\w+(\.\w+)+"))
def test_every_function_exists(name):
    thing = found(name)
    assert not callable(thing) or thing.__doc__


@pytest.mark.parametrize("name", named(2, ".*"))
def test_every_test_exists(name):
    file, function = name.split("::")
    path, = (ROOT / "test").rglob(f"{file}.py")
    assert re.search(rf"^def {function}\(", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_file_and_link_exists():
    for name in {*named(1, r"[\w/]+\.py"), *(f"docs/{link}" for link in re.findall(r"\]\(([\w/.]+)\)", PAGE))}:
        assert (ROOT / name).is_file(), name


def test_every_row_has_a_test():
    assert all("::test_" in row[2] for row in ROWS)


def test_every_formulation_is_named():
    """Every module that the formulations offer is on the page, and in the map of the package that has it."""
    for name in formulations.__all__:
        package = getattr(formulations, name)
        assert f"\n  {name} " in formulations.__doc__
        parts = [part for part in getattr(package, "__all__", ()) if inspect.ismodule(getattr(package, part))]
        for part in parts:
            assert f"`{name}.{part}." in PAGE and re.search(rf"\b{part}\b", package.__doc__), f"{name}.{part}"
        assert f"`{name}." in PAGE, name


def test_every_package_of_formulations_is_offered():
    assert sorted(formulations.__all__) == [module.name for module in pkgutil.iter_modules(formulations.__path__)]
