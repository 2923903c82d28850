"""The comparison of representations: its counts are exact and those of the page, and its algorithms agree."""
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.timing import Effort, Measurement
from comparison import accuracy, algorithms, counts, page, pictures, times
from comparison.chains import ALIGNED, DENAVIT_HARTENBERG, GENERAL
from comparison.exact import exact
from screw_dynamics.robot import GRAVITY
from support.paths import ROOT

PAGE = (ROOT / "docs" / "comparison.md").read_text()


@pytest.fixture(scope="module")
def polynomials():
    return counts.table()


# ------------------------------------------------------------------------------------------------- operations
@pytest.mark.slow
@pytest.mark.parametrize("part", ["totals", "details", "printed"])
def test_page_has_the_exact_counts(polynomials, part):
    """If a kernel was changed on purpose: make comparison."""
    assert getattr(page, part)(polynomials) in PAGE


@pytest.mark.slow
def test_page_has_the_exact_counts_of_real_robots():
    assert page.real_counts() in PAGE


@pytest.mark.slow
@pytest.mark.parametrize("column", counts.COLUMNS)
@pytest.mark.parametrize("quantity, form", [
    ("inverse dynamics", "spatial"), ("forward dynamics", "hybrid"), ("mass matrix", "body"),
    ("forward dynamics", algorithms.BY_MASS_MATRIX), ("twists", "spatial"), ("Jacobians", "mixed")])
def test_polynomials_hold_for_a_long_chain(polynomials, quantity, form, column):
    counted = counts.count(quantity, form, column, 12)
    assert tuple(p(12) for p in polynomials[quantity, form, column]) == tuple(counted)


def test_every_zero_that_is_known_saves_operations(polynomials):
    for quantity, forms in algorithms.ALL.items():
        for form in forms:
            found = {column: counts.total(polynomials[quantity, form, column])(12) for column in counts.COLUMNS}
            lines = [found[column] for column in (counts.GENERAL_LOOPS, GENERAL, ALIGNED, DENAVIT_HARTENBERG)]
            assert lines == sorted(lines, reverse=True)
            assert found[counts.GENERAL_LOOPS] > found[counts.LOOPS] > found[ALIGNED]


def test_counts_that_are_no_polynomial_are_refused(monkeypatch):
    count = counts.count
    monkeypatch.setattr(counts, "count", lambda *case: count(*case)._replace(additions=2 ** case[-1]))
    with pytest.raises(ArithmeticError, match="inverse dynamics, body, loops: the operations at n = 6"):
        counts.polynomials("inverse dynamics", "body", counts.LOOPS)


def test_polynomials():
    cubic = counts.Polynomial((Fraction(-33), Fraction(197, 6), Fraction(65), Fraction(1, 3)))
    assert counts.through([4, 5, 6, 7], [cubic(n) for n in (4, 5, 6, 7)]) == cubic
    assert str(cubic) == "n³/3 + 65n² + 197n/6 - 33"
    assert str(counts.Polynomial((Fraction(0), Fraction(-1)))) == "-n"
    assert str(counts.Polynomial((Fraction(0), Fraction(0)))) == "0"


def test_sy_table_1_walker_and_orin_is_misprinted():
    """A count is a whole number; the other rows are as their formulas."""
    for name, formula in counts.PRINTED.items():
        values = tuple(formula(n) for n in counts.PRINTED_AT)
        if name == "Walker and Orin":
            assert values == (2576, Fraction(125687, 6)) and counts.PRINTED_VALUES[name] == (2567, 18948)
        else:
            assert values == counts.PRINTED_VALUES[name]


# ------------------------------------------------------------------------------------------------- results
@pytest.mark.parametrize("quantity", algorithms.DYNAMICS)
def test_all_forms_agree_to_40_digits_also_far_from_the_origin(quantity):
    state = accuracy.states(1)[:, 0]
    forms = algorithms.ALL[quantity]
    near = exact(forms[algorithms.BODY], accuracy.panda().links(GRAVITY), *state)
    for entry in forms.values():
        far = exact(entry, accuracy.panda(100.0).links(GRAVITY), *state)
        assert max(abs(a - b) for a, b in zip(near, far, strict=True)) < 1e-40 * max(map(abs, near))


def test_forms_that_disagree_are_not_measured():
    class Found:
        def __init__(self, *numbers):
            self.value = lambda: np.array(numbers)
    with pytest.raises(ArithmeticError, match="gravity in the form 'mixed' differs by 1.0e-09"):
        times.agree("gravity", {"body": Found(1.0, 2.0), "mixed": Found(1.0, 2.0 + 2e-9)})


# ------------------------------------------------------------------------------------------------- the page
def made_up():
    """Measurements in which every form takes twice as long as the one before."""
    for robot, joints in (("chain 2", 2), ("chain 10", 10), ("UR5", 6)):
        for quantity, forms in algorithms.IN_EACH.items():
            for way in (times.ONE, times.BATCH):
                subject = {"quantity": quantity, "robot": robot, "joints": joints, "way": way, "specialized": False}
                yield Measurement(subject, {form: [2.0**k * 1e-6] * 3 for k, form in enumerate(forms)})


def test_page_and_pictures_are_complete(polynomials, tmp_path):
    measurements, distances = list(made_up()), [0.0, 100.0]
    errors = {(quantity, form): [1e-16, 1e-14] for quantity in algorithms.DYNAMICS
              for form in algorithms.ALL[quantity]}
    text = page.text(polynomials, measurements, errors, distances, {"processor": "none"})
    assert "{{" not in text and "body (1.00)" in text and "4.00 to 4.00" in text
    drawn = pictures.draw(polynomials, measurements, errors, distances, "none", tmp_path)
    assert all(f"images/{picture.name}" in text and picture.stat().st_size > 10_000 for picture in drawn)


@pytest.mark.slow
def test_every_form_is_measured(monkeypatch):
    monkeypatch.setattr(times, "QUICK", Effort(repeats=2, seconds=0.0, least=2))
    found = list(times.measurements(quick=True))
    for quantity, forms in algorithms.IN_EACH.items():
        assert all(set(m.seconds) == set(forms) for m in found if m.subject["quantity"] == quantity)
