"""The referee: each numbered equation of the five papers has a row in docs/formulations.md, or a reason there."""
import re

import pytest

from support.paths import ROOT

PAGE = (ROOT / "docs/formulations.md").read_text(encoding="utf-8")
# The last number of each paper, appendices included; none is left out. Of [PK] we have the opening pages, to (44).
LAST = {"MK": 82, "MD": 120, "MT": 83, "SY": 15, "PK": 44}
# What has numbers of its own, as our texts of the papers have them, and has rows too.
BESIDE = {("MK", "remark"): range(1, 18), ("MD", "remark"): (1, 2, 8), ("MT", "remark"): range(1, 10),
          ("PK", "propert"): range(1, 5), ("MK", "figure"): range(1, 10), ("SY", "figure"): (1, 2),
          ("PK", "figure"): (1,)}
REASONS = "## Equations that are not computed"
EACH = pytest.mark.parametrize("paper", LAST)


def numbers(text):
    """The equations that a text names: of (65a-c) 65, of (16)-(20), (16) to (20) and (16-20) all between, of (3, 5)
    both."""
    found, end, last = set(), 0, None
    for group in re.finditer(r"\((\d[\d\sa-z,–-]*)\)", text):
        items = [re.fullmatch(r"(\d+)[a-z]?(?:\s*[–-]\s*(\d*)[a-z]?)?", item.strip()) for item in group[1].split(",")]
        spans = [(int(item[1]), int(item[2] or item[1])) for item in items if item]         # no item: the b of (65a, b)
        if spans:
            between = last and re.fullmatch(r"\s*(?:-|–|to)\s*", text[end:group.start()])
            for span in [*([(last, spans[0][0])] if between else []), *spans]:
                found.update(range(span[0], span[1] + 1))
        end, last = group.end(), spans[-1][1] if spans else None
    return found


def named(text, paper):
    """The equations of a paper that a text names: between [paper] and the next paper."""
    return {n for name, part in re.findall(r"\[([A-Z]{2})\]([^[]*)", text) if name == paper for n in numbers(part)}


def rows(page, paper):
    """The equations of a paper that rows of tables have in their first cell."""
    return {n for line in page.splitlines() if line.startswith("| [")
            for n in named(line.strip("|").split("|")[0], paper)}


def beside(page, paper, word):
    """The remarks, properties or figures of a paper that rows have in their first cell."""
    cells = [line.strip("|").split("|")[0] for line in page.splitlines() if line.startswith("| [")]
    parts = [part for cell in cells for name, part in re.findall(r"\[([A-Z]{2})\]([^[]*)", cell) if name == paper]
    lists = [x for part in parts for x in re.findall(rf"{word}(?:s|y|ies)? (\d+(?:(?:, | to )\d+(?![.\d]))*)", part)]
    return set().union(*(numbers(f"({x.replace(' to ', '-')})") for x in lists))


def reasons(page, paper):
    """{equation: the reason} of a paper: of lines "- [paper] (3), (4): the reason"."""
    lines = page.partition(REASONS)[2].partition("\n## ")[0].splitlines()
    given = [line.partition(":") for line in lines if line.startswith("- [")]
    return {n: reason.strip() for equations, _, reason in given for n in named(equations, paper)}


# ------------------------------------------------------------------------------------------------- the page
@EACH
def test_every_equation_has_a_row_or_a_reason(paper):
    missing = set(range(1, LAST[paper] + 1)) - rows(PAGE, paper) - set(reasons(PAGE, paper))
    assert not missing, f"[{paper}] {sorted(missing)}"


@pytest.mark.parametrize("paper, word", BESIDE)
def test_every_remark_property_and_figure_has_a_row(paper, word):
    assert beside(PAGE, paper, word) >= set(BESIDE[paper, word])


def test_the_three_remarks_on_forward_dynamics_have_rows():
    assert re.findall(r"^\| \[MD\] (4\.\d), remark on forward dynamics \|", PAGE, re.MULTILINE) == ["4.1", "4.2", "4.3"]


@EACH
def test_equations_on_the_page_exist(paper):
    assert rows(PAGE, paper) | set(reasons(PAGE, paper)) <= set(range(1, LAST[paper] + 1))


@EACH
def test_a_reason_is_a_sentence_and_stands_for_what_has_no_row(paper):
    given = reasons(PAGE, paper)
    assert not set(given) & rows(PAGE, paper)
    assert all(reason.endswith(".") and len(reason.split()) > 3 for reason in given.values())


# ------------------------------------------------------------------------------------------------- how it is read
@pytest.mark.parametrize("text, expected", [
    ("(7)", {7}), ("(3), (5), remark 2", {3, 5}), ("(16)-(20)", {16, 17, 18, 19, 20}),
    ("(16) to (18), (21)", {16, 17, 18, 21}), ("(16–18)", {16, 17, 18}), ("(65a-c), (69)", {65, 69}),
    ("(65a, b)", {65}), ("(3 bodies) to (5)", {5}),
    ("(66a) to (67b)", {66, 67}), ("(1)-(3), (8)-(10)", {1, 2, 3, 8, 9, 10}), ("3.5, 4.1 to 4.3, table 3", set()),
    ("(12), (14) in the state (q, p), at n (n + 1)", {12, 14}), ("(2, 4)", {2, 4}), ("after (67)", {67})])
def test_ranges_and_lists_are_read(text, expected):
    assert numbers(text) == expected


def test_what_has_no_row_is_missed():
    page = f"""| equations | functions |
|---|---|
| [MD] (2)-(4), [MK] (1), (3) | `f` for (9) |
The text has [MK] (2).
{REASONS}
- [MK] (4), (5), [MD] (7): steps of a proof.
## Next
- [MK] (6): is elsewhere.
"""
    assert rows(page, "MK") == {1, 3} and rows(page, "MD") == {2, 3, 4}
    assert reasons(page, "MK") == {4: "steps of a proof.", 5: "steps of a proof."}
    assert set(reasons(page, "MD")) == {7}


def test_remarks_are_read():
    page = ("| [MK] (1), remark 2, figures 3 to 5 | [MK] remark 9 |\n| [MK] remarks 4, 6, [MT] remark 7, 3.2 | |\n"
            "[MT] remark 8")
    assert beside(page, "MK", "remark") == {2, 4, 6} and beside(page, "MK", "figure") == {3, 4, 5}
    assert beside(page, "MT", "remark") == {7} and beside("| [PK] properties 1 to 3 |", "PK", "propert") == {1, 2, 3}
