"""The comparison of representations: its counts are exact and those of the page, and its algorithms agree."""
import subprocess
import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import screw_dynamics as sd
from benchmarks.timing import Effort, Measurement
from comparison import accuracy, algorithms, counts, page, pictures, targets, timed, times
from comparison.__main__ import MEASURED, text_of
from comparison.__main__ import read as read_measured
from comparison.exact import exact
from comparison.recursions import closed_forms, printed
from comparison.structures import (
    ALIGNED,
    ALTERNATING,
    DENAVIT_HARTENBERG,
    GENERAL,
    KINDS,
    PRISMATIC,
    REVOLUTE,
    Shape,
    chain,
    rows,
    rows_as_given,
    shape,
    tree,
)
from comparison.structures import robot as robot_of
from screw_dynamics.algorithms import inverse_dynamics
from screw_dynamics.algorithms.inverse_dynamics import newton_euler
from screw_dynamics.compiled.counting import UNBOUNDED, Counting
from screw_dynamics.compiled.specialize import script
from screw_dynamics.numbers.values import map_numbers
from screw_dynamics.screws import inertia, joint_factors
from screw_dynamics.screws.vectors import Symmetric3, Vec3
from support import comparison_page as written
from support.matrices import error
from support.paths import ROOT

PAGE, TABLES_PAGE = ((ROOT / "docs" / f"{name}.md").read_text() for name in ("comparison", "comparison_tables"))


@pytest.fixture(scope="module")
def tables():
    """All counts, a minute."""
    return page.Tables()


@pytest.fixture(scope="module")
def polynomials(tables):
    return tables.chains


# ------------------------------------------------------------------------------------------------- operations
def of_chain(column, n=counts.FIRST, **options):
    """Return the argument of the formulas, the column that is counted, and the robot for `operations_of`."""
    return n, column, {"parents": tuple(range(n)), **options}


def of_joints(column):
    joints, kind = column.split(", ")
    return of_chain(kind, counts.FIRST_EVEN if joints == ALTERNATING else counts.FIRST, joints=joints)


def of_tree(column):
    parents = tuple(tree(1, 4, 2, 4))
    return shape(parents)._asdict(), column, {"parents": parents}


@pytest.mark.slow
@pytest.mark.parametrize("table, entries, robot", [
    (written.counted, algorithms.ALL, of_chain), (written.of_joints, algorithms.ALL, of_joints),
    (written.of_trees, algorithms.ON_TREES, of_tree),
    (written.on_floating_bases, algorithms.ALL, partial(of_chain, floating=True)),
    (written.closed_forms, closed_forms.CLOSED_FORMS, of_chain),
    (written.as_printed, {"inverse dynamics": printed.PRINTED_IN}, of_chain)])
def test_pages_have_the_counts_of_short_robots(table, entries, robot):
    """If a kernel was changed on purpose: make comparison OPTIONS="--keep-times --keep-errors". Slow tests prove the
    formulas, which need longer robots."""
    assert table()
    for (quantity, column), forms in table().items():
        n, counted, options = robot(column)
        found = {form: counts.operations_of(entries[quantity][form], counted, **options).total for form in forms}
        assert {form: written.at(terms, n) for form, terms in forms.items()} == found, f"{quantity}, {column}"


@pytest.mark.slow
@pytest.mark.parametrize("part, given", [
    ("on_trees", [(ALIGNED,)]), ("hands", []), ("floating", []), ("tallies", []), ("as_printed", []), ("closed", []),
    ("published", []), ("of_joints", [algorithms.DYNAMICS, (DENAVIT_HARTENBERG,)]), ("totals", [algorithms.DYNAMICS]),
    ("totals", [algorithms.MATRICES]), ("totals", [("twists", *algorithms.MOTIONS, "Jacobians")]),
    ("totals", [algorithms.LAST])])
def test_page_has_the_exact_counts(tables, part, given):
    assert getattr(page, part)(tables, *given) in PAGE


@pytest.mark.slow
def test_pages_are_those_of_the_templates_the_counts_and_what_was_measured(tables):
    """No word of them is written by hand."""
    texts = page.texts(tables, *read_measured(MEASURED.read_text()))
    assert texts == {"comparison": PAGE, "comparison_tables": TABLES_PAGE}


@pytest.mark.slow
@pytest.mark.parametrize("part", ["on_trees", "of_joints", "sy", "details"])
def test_page_of_tables_has_the_exact_counts(tables, part):
    given = {"on_trees": [counts.TREE_COLUMNS], "of_joints": [algorithms.ALL, KINDS]}
    assert getattr(page, part)(tables, *given.get(part, ())) in TABLES_PAGE


@pytest.mark.slow
def test_page_has_the_exact_counts_of_real_robots():
    assert page.real_counts() in TABLES_PAGE


@pytest.mark.slow
@pytest.mark.parametrize("column", counts.COLUMNS)
@pytest.mark.parametrize("quantity, form", [
    ("inverse dynamics", "spatial"), ("forward dynamics", "hybrid"), ("mass matrix", "body"),
    ("forward dynamics", algorithms.BY_MASS_MATRIX), ("twists", "spatial"), ("Jacobians", "mixed"),
    ("Coriolis matrix", "spatial"), ("jerks", "mixed"), ("Jacobian of the last body", "body")])
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
    monkeypatch.setattr(counts, "count", lambda *case: count(*case)._replace(additions=2 ** case[3]))
    with pytest.raises(ArithmeticError, match="inverse dynamics, body, loops: the operations at n = 6"):
        counts.polynomials("inverse dynamics", "body", counts.LOOPS)


@pytest.mark.parametrize("quantity, form, formula", [
    ("mass matrix", "spatial", "11S + 286n - 63r"), pytest.param("forward dynamics", algorithms.SPARSE,
                                                                "P + 51S + 340n", marks=pytest.mark.slow)])
def test_operations_on_trees_are_linear_in_bodies_root_s_children_ends_and_pairs(quantity, form, formula):
    assert str(counts.on_trees(quantity, form, counts.LOOPS)) == formula


@pytest.mark.slow       # counts all forms
def test_a_chain_is_a_tree(tables):
    for case, formula in tables.trees.items():
        if case[1] in algorithms.ALL[case[0]]:
            assert [formula(shape(range(n))) for n in (4, 9)] == [tables.total(*case)(n) for n in (4, 9)]


def test_shape_of_a_tree():
    parents = tree(2, 1, 2, 2)
    assert parents == [0, 1, 2, 1, 4, 0, 6, 7, 6, 9]
    assert shape(parents) == Shape(n=10, r=2, e=4, S=22, G=4, P=54)


def test_formulas_that_do_not_hold_are_refused():
    with pytest.raises(ArithmeticError, match="a tree: the operations of Shape"):
        counts.fitted_on_trees("a tree", ("n", "r"), {shape(range(n)): n * n for n in (2, 3, 4)})
    with pytest.raises(ArithmeticError, match="leave unknown 1 open"):
        counts.fitted_on_trees("a tree", ("r", "e"), {shape(range(n)): n for n in (2, 3, 4)})


def test_alternating_and_prismatic_chains_have_polynomials_too():
    found = [str(counts.total(counts.polynomials("inverse dynamics", "body", ALIGNED, joints)))
             for joints in (PRISMATIC, ALTERNATING)]
    assert found == ["37n - 56", "241n - 315"]


def test_mass_matrix_of_a_tree_beside_featherstone_s():
    """His formula gives his count of a chain, of table 10.1, and has as many operations for a pair as ours."""
    book, ours = counts.book_on_trees(), "32S + 10G + 23n - 152r + 55e"
    composite = next(p for p in counts.PUBLISHED if p.quantity == "mass matrix")
    assert [book(shape(range(n))) for n in (4, 9)] == [composite.total(n) for n in (4, 9)]
    assert str(book) == "32S + 10G + 43n - 105r + 30e" and str(book) in PAGE and ours in PAGE


# ------------------------------------------------------------------------------------------------- [MD] 4.1 to 4.3
@pytest.mark.parametrize("form, calls", [
    ("body", {printed.MAPS: 3 * 6 + 1, printed.BRACKETS: 2 * 7 - 1}),                   # one map is that of gravity
    ("spatial", {printed.MAPS: 7, printed.INERTIAS: 7, printed.BRACKETS: 2 * 7 - 1}),
    ("hybrid", {printed.SHIFTS: 3 * 6, printed.TURNS: 7, printed.TURNED: 7, printed.BRACKETS: 3 * 7 - 1})])
def test_md_4_estimates_are_what_the_printed_recursions_call(form, calls):
    entry, model = printed.PRINTED_IN[form], chain(GENERAL, 7)
    assert {kind: n for kind, n in counts.calls_of(entry, 7).items() if n} == calls
    robot, state = sd.Robot(model), np.random.default_rng(3).uniform(-1.0, 1.0, (3, 7))
    assert error(entry.plain(rows(model).links, *state.tolist()), robot.inverse_dynamics(*state)) < 1e-13


# ------------------------------------------------------------------------------------------------- the same results
STATE = np.random.default_rng(4).uniform(-1.0, 1.0, (4, 6))
KNOWN = {        # {quantity: what Robot says of all forms, or of a representation and a link}
    "inverse dynamics": lambda robot: robot.inverse_dynamics(*STATE[:3]),
    "forward dynamics": lambda robot: robot.forward_dynamics(*STATE[:3]),
    "gravity torque": lambda robot: robot.gravity_torque(STATE[0]),
    "mass matrix": lambda robot: robot.mass_matrix(STATE[0]),
    "Coriolis matrix": lambda robot: robot.coriolis_matrix(*STATE[:2]),
    "accelerations": lambda robot, form, link: robot.link_acceleration(*STATE[:3], link, form),
    "jerks": lambda robot, form, link: robot.link_jerk(*STATE, link, form),
    "pose of the last body": lambda robot, form, link: robot.forward_kinematics(STATE[0], link),
    "twist of the last body": lambda robot, form, link: robot.jacobian(STATE[0], link, form) @ STATE[1],
    "acceleration of the last body": lambda robot, form, link: robot.link_acceleration(*STATE[:3], link, form),
    "jerk of the last body": lambda robot, form, link: robot.link_jerk(*STATE, link, form),
    "Jacobian of the last body": lambda robot, form, link: robot.jacobian(STATE[0], link, form),
}


@pytest.mark.parametrize("kind, joints", [(GENERAL, REVOLUTE), (GENERAL, ALTERNATING), (DENAVIT_HARTENBERG, REVOLUTE)])
@pytest.mark.parametrize("quantity", [pytest.param(quantity, marks=[pytest.mark.slow] * (
    "jerk" in quantity or "acceleration" in quantity)) for quantity in KNOWN])
def test_all_forms_compute_what_robot_does(quantity, kind, joints):
    """In frames on the axes and in any others, and one axis at a time; on a tree, of the last body on a chain.
    Classical accelerations and jerks are the hybrid ones, resolved in the body."""
    alone = quantity in algorithms.LAST
    model = robot_of(kind, range(6) if alone else tree(2, 1, 2, 1), joints)
    robot, links = sd.Robot(model), [f"link {i}" for i in range(1, 7)]
    for form, entry in (algorithms.ALL[quantity] | algorithms.ON_TREES.get(quantity, {})).items():
        if quantity in algorithms.SAME:
            expected = KNOWN[quantity](robot)
        else:
            named = "hybrid" if form == algorithms.CLASSICAL else form
            expected = np.array([KNOWN[quantity](robot, named, link) for link in links[-1 if alone else 0:]])
            if form == algorithms.CLASSICAL:
                R = robot.body_poses(STATE[0])[-len(expected):, None, :3, :3]
                expected = (expected.reshape(-1, 2, 1, 3) @ R).reshape(-1, 6)
            expected = expected[0] if alone else expected
        for read in (rows(model), rows_as_given(model)):
            found = entry.plain(read.links, *STATE[:entry.inputs].tolist(), frames=read.frames, target=read.target)
            assert error(found, expected) < 1e-12


@pytest.mark.parametrize("kind, joints", [(GENERAL, REVOLUTE), (GENERAL, ALTERNATING), (DENAVIT_HARTENBERG, REVOLUTE)])
def test_closed_forms_are_robot_s_mass_matrix_and_efforts_of_velocities(kind, joints):
    """The Coriolis matrix of (84) is not that of the Christoffel symbols, but C q' is the same."""
    model = robot_of(kind, tree(2, 1, 2, 1), joints)
    robot, (q, qd, _, _) = sd.Robot(model, gravity=(0.0, 0.0, 0.0)), STATE
    for read in (rows(model), rows_as_given(model)):
        for entry in closed_forms.CLOSED_FORMS["mass matrix"].values():
            assert error(entry.plain(read.links, q.tolist()), robot.mass_matrix(q)) < 1e-13
        for entry in closed_forms.CLOSED_FORMS["Coriolis matrix"].values():
            C = np.asarray(entry.plain(read.links, q.tolist(), qd.tolist()), dtype=float)
            assert error(C @ qd, robot.inverse_dynamics(q, qd, np.zeros(6))) < 1e-13


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
def test_ours_are_fewer_than_the_published_counts(tables, polynomials):
    """For chains in Denavit and Hartenberg's convention; than those with regrouped inertias for long ones alone."""
    longest = page.regrouped(tables)
    for published in counts.PUBLISHED:
        forms = algorithms.ALL[published.quantity]
        for n in range(counts.FIRST, 41):
            ours = min(counts.total(polynomials[published.quantity, form, DENAVIT_HARTENBERG])(n) for form in forms)
            assert ours < published.total(n) or "base parameters" in published.assumes and n <= longest
    assert f"of up to {longest} joints" in PAGE
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
    held = {(quantity, form) for quantity, form, entry in dynamics() if "V" in entry.Table._fields}
    assert held == {("inverse dynamics", "body"), ("inverse dynamics", "spatial"), ("forward dynamics", "spatial"),
                    ("forward dynamics", algorithms.NEAR)}


@pytest.mark.parametrize("form", algorithms.IN_EACH["inverse dynamics"])
def test_3_4_inverse_dynamics_transforms_no_inertia_and_has_binet_s_moment(form, monkeypatch):
    """Of spatial and hybrid twists S is not on the axes of Theta."""
    links, called = rows(chain(ALIGNED, 3)).links, []
    for name in ("rotate_symmetric", "shifted"):
        monkeypatch.setattr(inertia, name, lambda *_, name=name: called.append(name))
    module = sys.modules[f"{inverse_dynamics.__name__}.{'body_fixed' if form == 'body' else form}"]
    for where in (module, newton_euler):
        if hasattr(where, "moment"):
            monkeypatch.setattr(where, "moment", lambda *x, f=newton_euler.moment: called.append("moment") or f(*x))
    algorithms.ALL["inverse dynamics"][form].plain(links, *np.full((3, 3), 0.3).tolist())
    assert called == ["moment"] * 3 * (form not in ("spatial", "hybrid"))


def test_4_binet_s_moment_is_euler_s_with_fewer_products():
    rng = np.random.default_rng(2)
    Theta, w, wd = Symmetric3(*rng.normal(size=6)), Vec3(*rng.normal(size=3)), Vec3(*rng.normal(size=3))
    S = newton_euler.acceleration_matrix(w, wd)
    assert np.allclose(newton_euler.moment(Theta, S), newton_euler.euler(Theta, w, wd), rtol=0, atol=1e-14)
    found = []
    for formula, given in ((newton_euler.moment, (Theta, S)), (newton_euler.euler, (Theta, w, wd))):
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
    monkeypatch.setattr(counts, "operations_of", counts.operations_of.__wrapped__)      # counts anew
    with_all = [taken(*case) for case in cases]
    monkeypatch.setattr(joint_factors, "turn", lambda E, q: None)
    without_factors = [taken(*case) for case in cases]
    monkeypatch.setattr(inertia, "_frees", lambda X, added: None)
    without_zeros = [taken(*case) for case in cases]
    assert with_all[0] < 0.85 * without_factors[0] and without_factors[0] < 0.95 * without_zeros[0]
    assert with_all[1] < without_factors[1] == without_zeros[1] and with_all[2] < without_factors[2]


@pytest.mark.parametrize("quantity, form", [case[:2] for case in dynamics()])
def test_7_straight_lines_repeat_nothing_and_hold_no_0_or_1(quantity, form):
    read = rows(accuracy.panda())
    lines = script(algorithms.ALL[quantity][form], *read[:3], UNBOUNDED)
    right = [line.split(" = ")[1] for line in lines if not line.startswith("out[")]
    assert len(set(right)) == len(right) > 300
    for expression in right:
        terms = expression.split(" ")
        assert not (len(terms) == 3 and terms[1] in "+-*" and {terms[0], terms[2]} & {"0", "0.0", "-0.0"})
        assert not (len(terms) == 3 and terms[1] == "*" and {terms[0], terms[2]} & {"1", "1.0", "-1.0"})
        assert not (len(terms) == 3 and terms[1] != "/" and terms[0] > terms[2])        # nor repeat it in another order
        assert "-" not in (terms[0][0], terms[-1][0])                                   # or with another sign


# ------------------------------------------------------------------------------------------------- results
@pytest.mark.parametrize("quantity", algorithms.SAME)
def test_all_forms_agree_to_40_digits_also_far_from_the_origin(quantity):
    state = accuracy.states(1)[:, 0]
    forms = algorithms.ALL[quantity]
    near = exact(forms[algorithms.BODY], rows(accuracy.panda()), *state[:forms[algorithms.BODY].inputs]).ravel()
    for entry in forms.values():
        far = exact(entry, rows(accuracy.panda(100.0)), *state[:entry.inputs]).ravel()
        assert max(abs(a - b) for a, b in zip(near, far, strict=True)) < 1e-40 * max(map(abs, near))


@pytest.mark.parametrize("quantity", ["forward dynamics", "mass matrix", "Coriolis matrix"])
def test_about_a_near_point_digits_do_not_depend_on_where_the_robot_stands(quantity):
    """Also where positions are summed: about the world's origin the same recursion loses them."""
    state = accuracy.states(1)[:, 0]

    def result(form, distance):
        entry = algorithms.ALL[quantity][form]
        return entry.plain(rows(accuracy.panda(distance)).links, *state[:entry.inputs].tolist()).astype(float)
    expected = result(algorithms.BODY, 0.0)
    for distance in (0.0, 1000.0):
        assert error(result(algorithms.NEAR, distance), expected) < 1e-14
    assert error(result("spatial", 1000.0), expected) > 1e-11


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


def made_up_for_targets():
    """A case that takes twice as long for the other target."""
    subject = {"quantity": "inverse dynamics", "robot": "UR5", "joints": 6, "way": times.BATCH, "specialized": False}
    seconds = {form: [1e-6] for form in algorithms.ALL["inverse dynamics"]}
    return [[subject, {targets.WIDE: seconds, targets.NARROW: {form: [2e-6] for form in seconds}}]]


@pytest.mark.slow       # counts all forms
def test_pages_and_pictures_are_complete(tables, tmp_path):
    errors = {(quantity, form): [1e-16, 2e-16, 1e-15, 1e-14, 1e-13] for quantity in algorithms.DYNAMICS
              for form in algorithms.ALL[quantity]}
    facts = dict.fromkeys(page.FACTS, "none")
    found = list(made_up())
    errors = {case: [1e-16] * 5 for case in read_measured(MEASURED.read_text())[1].values} | errors
    measured = (page.Times(facts, timed.texts(page.places(), found, made_up_for_targets())),
                page.Errors(facts, errors, list(accuracy.DISTANCES)))
    assert read_measured(text_of(*measured)) == measured
    texts = page.texts(tables, *measured)
    assert not any("{{" in text for text in texts.values()) and set(texts) == {"comparison", "comparison_tables"}
    text = texts["comparison"]
    assert "body (1.00)" in text and "4.00 to 4.00" in text and "Batches take 2.00 to 2.00 of the time" in text
    drawn = pictures.draw(tables.chains, found, errors, accuracy.DISTANCES, "none", tmp_path)
    assert len(drawn) == 3
    assert all(f"images/{picture.name}" in text and picture.stat().st_size > 10_000 for picture in drawn)


def test_sentences_that_a_change_of_counts_would_make_wrong():
    """Where one form takes fewer operations from some length on, the page says from which; else it is not written."""
    class Two:
        total = staticmethod(lambda quantity, form, column: {"a": lambda n: 3 * n, "b": lambda n: 2 * n + 10}[form])
    assert page.least(Two, "", "b", "a", "") == 11
    with pytest.raises(ArithmeticError, match="a does not take fewer operations than b"):
        page.least(Two, "", "a", "b", "")


@pytest.mark.parametrize("calls, attempts", [([1.0, 1.0], 1), ([3.0, 1.0], 2), ([3.0] * times.AGAIN, times.AGAIN)])
def test_a_case_whose_times_scatter_is_measured_again(monkeypatch, calls, attempts):
    found = [Measurement({}, {"body": [1.0] * 4 + [x] * 6}) for x in calls]
    made = iter(found)
    monkeypatch.setattr(times, "measure", lambda *_, **__: next(made))
    m = times.of_case("twists", "chain 2", times.BATCH, False, times.FULL)
    assert m is found[attempts - 1] and times.scattered(m) == (calls[attempts - 1] > 1.0)


@pytest.mark.slow
def test_every_form_is_measured(monkeypatch):
    monkeypatch.setattr(times, "QUICK", Effort(repeats=2, seconds=0.0, least=2))
    for m in times.measurements(quick=True):
        assert set(m.seconds) == set(algorithms.ALL[m.subject["quantity"]])


@pytest.mark.slow       # compiles for two processors
def test_code_for_a_processor_without_wide_instructions_is_timed_too():
    if not targets.environments():
        pytest.skip("this processor has no AVX-512")
    found = targets.measurements(quick=True)
    assert len(found) == 4
    for subject, seconds in found:
        assert set(seconds) == {targets.WIDE, targets.NARROW}
        assert all(set(of) == set(algorithms.ALL[subject["quantity"]]) for of in seconds.values())


def test_the_narrow_target_differs_in_its_wide_instructions_alone(monkeypatch):
    monkeypatch.setattr(targets.llvm, "get_host_cpu_features", lambda: {"avx2": True, "avx512f": True, "sse4a": False})
    narrow = targets.environments()[targets.NARROW]
    assert narrow["NUMBA_CPU_FEATURES"] == "+avx2,-avx512f,-sse4a" and narrow["NUMBA_CPU_NAME"]
    monkeypatch.setattr(targets.llvm, "get_host_cpu_features", lambda: {"avx2": True})
    assert targets.environments() == {}


def test_a_process_that_ends_is_said_to_have():
    worker = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"], text=True, stdout=subprocess.PIPE)
    with pytest.raises(RuntimeError, match="ended with status 3 before it answered"):
        targets.answer(worker)
