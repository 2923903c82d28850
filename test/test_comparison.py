"""The comparison of representations: its counts are exact and those of the page, and its algorithms agree."""
import sys
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.timing import Effort, Measurement
from comparison import accuracy, algorithms, counts, page, pictures, times
from comparison.chains import ALIGNED, DENAVIT_HARTENBERG, GENERAL, chain, rows
from comparison.exact import exact
from screw_dynamics.algorithms import inverse_dynamics
from screw_dynamics.algorithms.inverse_dynamics import balance
from screw_dynamics.compiled.counting import UNBOUNDED, Counting
from screw_dynamics.compiled.specialize import script
from screw_dynamics.numbers.values import map_numbers
from screw_dynamics.robot import GRAVITY
from screw_dynamics.screws import inertia, joint_factors
from screw_dynamics.screws.vectors import Symmetric3, Vec3
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


@pytest.mark.slow       # counts all forms
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
    """Two values look like slips of digits, and the formula gives no whole number; the other rows are as theirs."""
    for name, formula in counts.PRINTED.items():
        values = tuple(formula(n) for n in counts.PRINTED_AT)
        if name == "Walker and Orin":
            assert values == (2576, Fraction(125687, 6)) and counts.PRINTED_VALUES[name] == (2567, 18948)
        else:
            assert values == counts.PRINTED_VALUES[name]


@pytest.mark.slow       # counts all forms
def test_ours_are_no_more_than_the_published_counts(polynomials):
    """For chains in Denavit and Hartenberg's convention; of inverse dynamics one more a joint."""
    for published in counts.PUBLISHED:
        forms = algorithms.ALL[published.quantity]
        for n in range(counts.FIRST, 41):
            ours = min(counts.total(polynomials[published.quantity, form, DENAVIT_HARTENBERG])(n) for form in forms)
            if "base parameters" not in published.assumes:
                assert ours <= published.total(n) + n * (published.quantity == "inverse dynamics")
    assert str(counts.PUBLISHED[-1].total) == "n³/3 + 37n²/2 + 1387n/6 - 283"


# ------------------------------------------------------------------------------------------------- the checklist
def dynamics():
    """All algorithms of dynamics."""
    for quantity in algorithms.DYNAMICS:
        for form, entry in algorithms.ALL[quantity].items():
            yield quantity, form, entry


def test_1_screws_have_two_numbers():
    for kind in (GENERAL, ALIGNED, DENAVIT_HARTENBERG):
        for link in rows(chain(kind, 4)).links[1:]:
            assert not any((*link.X.angular[:2], *link.X.linear[:2])) and link.X.angular.z


def test_2_linear_velocities_are_held_where_the_representation_has_them_alone():
    held = {(quantity, form) for quantity, form, entry in dynamics() if "V" in entry.Body._fields}
    assert held == {("inverse dynamics", "body"), ("inverse dynamics", "spatial"), ("forward dynamics", "spatial")}


@pytest.mark.parametrize("form", algorithms.IN_EACH["inverse dynamics"])
def test_3_4_inverse_dynamics_transforms_no_inertia_and_has_binet_s_moment(form, monkeypatch):
    """Of spatial and hybrid twists S is not on the axes of Theta."""
    links, called = rows(chain(ALIGNED, 3)).links, []
    for name in ("rotate_symmetric", "shifted"):
        monkeypatch.setattr(inertia, name, lambda *_, name=name: called.append(name))
    module = sys.modules[f"{inverse_dynamics.__name__}.{'body_fixed' if form == 'body' else form}"]
    for where in (module, balance):
        if hasattr(where, "moment"):
            monkeypatch.setattr(where, "moment", lambda *x, f=balance.moment: called.append("moment") or f(*x))
    algorithms.ALL["inverse dynamics"][form].plain(links, *np.full((3, 3), 0.3).tolist())
    assert called == ["moment"] * 3 * (form not in ("spatial", "hybrid"))


def test_4_binet_s_moment_is_euler_s_with_fewer_products():
    rng = np.random.default_rng(2)
    Theta, w, wd = Symmetric3(*rng.normal(size=6)), Vec3(*rng.normal(size=3)), Vec3(*rng.normal(size=3))
    S = balance.acceleration_matrix(w, wd)
    assert np.allclose(balance.moment(Theta, S), balance.euler(Theta, w, wd), rtol=0, atol=1e-14)
    found = []
    for formula, given in ((balance.moment, (Theta, S)), (balance.euler, (Theta, w, wd))):
        Counting.done.clear()
        formula(*(map_numbers(Counting, x) for x in given))
        found.append(Counting.done["*"])
    assert found == [15 + 1, 24]                    # and the half of a trace, which straight lines know beforehand


@pytest.mark.slow       # counts all forms
def test_5_6_zeros_and_factors_serve_the_straight_lines_of_body_fixed_dynamics(polynomials, monkeypatch):
    """Without them, at n = 7: what the forms would take, and do in the frames of a robot that has neither."""
    def taken(quantity, form):
        return counts.count(quantity, form, DENAVIT_HARTENBERG, 7).total
    cases = [("forward dynamics", "body"), ("inverse dynamics", algorithms.CLASSICAL), ("mass matrix", "body")]
    with_all = [taken(*case) for case in cases]
    monkeypatch.setattr(joint_factors, "turn", lambda E, q: None)
    without_factors = [taken(*case) for case in cases]
    monkeypatch.setattr(inertia, "_frees", lambda X, armature: None)
    without_zeros = [taken(*case) for case in cases]
    assert with_all[0] < 0.85 * without_factors[0] and without_factors[0] < 0.95 * without_zeros[0]
    assert with_all[1] < without_factors[1] == without_zeros[1] and with_all[2] < without_factors[2]


@pytest.mark.parametrize("quantity, form", [case[:2] for case in dynamics()])
def test_7_straight_lines_repeat_nothing_and_hold_no_0_or_1(quantity, form):
    read = rows(accuracy.panda())
    lines = script(algorithms.ALL[quantity][form], *read, UNBOUNDED)
    right = [line.split(" = ")[1] for line in lines if not line.startswith("out[")]
    assert len(set(right)) == len(right) > 300
    for expression in right:
        terms = expression.split(" ")
        assert not (len(terms) == 3 and terms[1] in "+-*" and {terms[0], terms[2]} & {"0", "0.0", "-0.0"})
        assert not (len(terms) == 3 and terms[1] == "*" and {terms[0], terms[2]} & {"1", "1.0", "-1.0"})


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


@pytest.mark.slow       # counts all forms
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
