"""The summary and the conclusion of docs/comparison.md: each sentence follows from the tables of the page, or is known
to be about something else. A sentence that is not listed here fails, and so does one that the tables contradict.

That the tables are right is another matter: test_comparison.py counts again."""
import re

import pytest

from screw_dynamics.algorithms import matrix_rows
from screw_dynamics.algorithms.choice import candidates, choice
from screw_dynamics.algorithms.coriolis_matrix import CORIOLIS_MATRIX
from screw_dynamics.algorithms.coriolis_matrix_in_common_frame import CORIOLIS_MATRIX_IN_COMMON_FRAME
from screw_dynamics.algorithms.forward_dynamics import FORWARD_DYNAMICS_BY, FORWARD_DYNAMICS_BY_MASS_MATRIX
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS_CLASSICAL
from support.comparison_page import (
    BODY_FIXED,
    COLUMNS,
    DH,
    LOOPS,
    NEAR,
    STRAIGHT,
    answers,
    at,
    by_quantity,
    closed_forms,
    counted,
    errors,
    fewest,
    formula,
    mean_times,
    of_joints,
    of_trees,
    on_floating_bases,
    section,
    sentences,
    span,
    span_of_target,
    tree_shape,
    with_header,
)

ARM, LONG = 7, 60                       # joints of an arm, and of a chain that is long for certain
LENGTHS = range(4, LONG + 1)
SPATIAL = {"spatial", NEAR}
QUANTITIES = list(dict.fromkeys(quantity for quantity, _ in answers()))


def always(quantity, form, columns, lengths, without=()):
    """Whether a form takes no more operations than any other, but for those without."""
    for column in columns:
        kept = {f: terms for f, terms in counted()[quantity, column].items() if f not in without}
        if not all(at(kept[form], n) == min(at(terms, n) for terms in kept.values()) for n in lengths):
            return False
    return True


def from_on(quantity, column, n, wanted, table=None):
    """Whether forms among `wanted` take the fewest operations from n joints on, and not at n - 1 (or n is 4)."""
    table = table or counted()
    return (all(fewest(table, quantity, column, k) & wanted for k in range(n, LONG + 1))
            and (n == 4 or not fewest(table, quantity, column, n - 1) & wanted))


def fastest(quantity, *among):
    """The form of the least mean time, for one call and in batches."""
    return {min((form for form in of if not among or form in among), key=of.get)
            for (q, way), of in mean_times().items() if q == quantity and "specialized" not in way}


def same(text, *formulas):
    """Whether polynomials printed in a sentence are those of the tables."""
    return [formula(t) for t in text] == list(formulas)


# ------------------------------------------------------------------------------------------------- the answer
def body_frames_for_most():
    cells = [cell for (_, column), cell in answers().items() if column.startswith("fewest") and cell]
    return sum(cell in BODY_FIXED for cell in cells) > len(cells) / 2


def most_quantities_in_straight_lines():
    return all(2 * sum(answers()[quantity, f"fewest, {column}"] in BODY_FIXED for quantity in QUANTITIES)
               > len(QUANTITIES) for column in STRAIGHT)


def spatial_forward_dynamics_in_loops(n):
    return from_on("forward dynamics", LOOPS, int(n), {"spatial"})


def spatial_errors_grow_with_the_square():
    near_origin, *far = errors()["forward dynamics", "spatial"]
    growths = [b / a for a, b in zip(far, far[1:], strict=False)]                   # for ten times the distance
    return near_origin < far[0] and all(10.0 ** 1.5 < growth < 10.0 ** 2.5 for growth in growths)


def near_point_keeps_digits(near, hybrid):
    found = errors()["forward dynamics", NEAR]
    ours, theirs = (counted()["forward dynamics", LOOPS][form] for form in (NEAR, "hybrid"))
    return (max(found) < 1.5 * min(found) and max(found) < 10.0 * max(errors()["forward dynamics", "hybrid"])
            and same((near, hybrid), ours, theirs) and all(at(ours, n) < at(theirs, n) for n in range(4, LONG)))


def spatial_where_pairs_count():
    return (always("Jacobians", "spatial", COLUMNS, range(ARM, LONG)) and all(
        fewest(counted(), quantity, column, LONG) <= SPATIAL for quantity in ("mass matrix", "Coriolis matrix")
        for column in COLUMNS))


def mixed_for_one_thing(n):
    """Over all tables of counts: chains of all columns, of prismatic joints, on floating bases, closed forms."""
    found = {(quantity, column) for table in (counted(), of_joints(), on_floating_bases(), closed_forms())
             for quantity, column in table
             if any(fewest(table, quantity, column, k) == {"mixed"} for k in range(6, LONG + 1, 2))}
    kinds = {("forward dynamics", f"prismatic, {kind}") for kind in STRAIGHT}
    shapes = tree_shape(24, 4, 4), tree_shape(24, 1, 5)
    on_trees = {quantity for quantity, column in of_trees() for shape in shapes
                if fewest(of_trees(), quantity, column, shape) == {"mixed"}}
    return found == kinds and not on_trees and all(
        from_on(*case, int(n), {"mixed"}, of_joints()) for case in kinds if case[1].endswith(DH))


# ------------------------------------------------------------------------------------------------- the conclusion
def torques(low, high, low_batch, high_batch):
    """In single calls of arms classical and body-fixed recursions are equally fast to the digits that are printed."""
    return (always("inverse dynamics", "classical", COLUMNS, LENGTHS) and "classical" in fastest("inverse dynamics")
            and fastest("inverse dynamics") <= {"classical", "body"} and max(float(high), float(high_batch)) <= 1.0
            and span("inverse dynamics", "classical", "one call") == (low, high)
            and span("inverse dynamics", "classical", "batch") == (low_batch, high_batch))


def torques_by_representations():
    return (always("inverse dynamics", "body", COLUMNS, LENGTHS, {"classical"})
            and fastest("inverse dynamics", "body", "spatial", "hybrid", "mixed") == {"body"})


def near_point_in_loops():
    """Of long chains, by articulated bodies: the mass matrix is for short ones."""
    keep = {form: found for (quantity, form), found in errors().items() if quantity == "forward dynamics"
            and max(found) < 1e-14 and not form.startswith("by mass matrix")}
    of = {form: at(counted()["forward dynamics", LOOPS][form], LONG) for form in keep}
    return "spatial" not in keep and min(of, key=of.get) == NEAR and NEAR not in FORWARD_DYNAMICS_BY


def hybrid_simulation(*spans):
    return list(spans[:4]) == [*span("forward dynamics", "hybrid", "one call"),
                               *span("forward dynamics", "hybrid", "batch")] and list(spans[4:]) == [
        *span_of_target("forward dynamics", "hybrid", "one call"),
        *span_of_target("forward dynamics", "hybrid", "batch")]


def spatial_simulation(*spans):
    return list(spans) == [*span("forward dynamics", "spatial", "one call"),
                           *span_of_target("forward dynamics", "spatial", "one call")]


def one_robot():
    by_mass_matrix = {"by mass matrix", "by mass matrix, body"}
    return (all(fewest(counted(), "forward dynamics", column, n) <= by_mass_matrix for column in STRAIGHT
                for n in range(4, ARM + 1))
            and all(fewest(counted(), "forward dynamics", DH, n) == {"body"} for n in range(10, LONG)))


def one_long_robot():
    return fewest(counted(), "forward dynamics", "aligned", LONG) == {"hybrid"}


def gravity():
    return always("gravity torque", "body", COLUMNS, LENGTHS) and fastest("gravity torque") == {"body"}


def mass_matrix():
    return (always("mass matrix", "body", (LOOPS, "aligned", DH), [ARM])
            and fewest(of_trees(), "mass matrix", "aligned", tree_shape(24, 4, 4)) == {"body"}
            and all(fewest(counted(), "mass matrix", column, n) <= SPATIAL for column in COLUMNS
                    for n in range(24, LONG)))


def coriolis_matrix():
    return (all(fewest(counted(), "Coriolis matrix", LOOPS, n) <= SPATIAL for n in range(ARM, LONG))
            and max(errors()["Coriolis matrix", NEAR]) < 1e-14 < max(errors()["Coriolis matrix", "spatial"])
            and choice(None, False).coriolis_matrix is CORIOLIS_MATRIX_IN_COMMON_FRAME
            and fewest(counted(), "Coriolis matrix", DH, ARM) == {"body"})


def deep(n):
    rows = choice(None, False, deep=True)
    return int(n) == matrix_rows.DEEP and rows.mass_matrix is not choice(None, False).mass_matrix


def motions():
    return all(answers()[quantity, f"fewest, {column}"] in ("body", "classical") for column in (LOOPS, *STRAIGHT)
               for quantity in ("twists", "accelerations", "jerks"))


def all_jacobians():
    return always("Jacobians", "spatial", COLUMNS, [ARM, 20]) and fastest("Jacobians") == {"spatial"}


def one_jacobian(*spans):
    values = [at(counted()["Jacobian of the last body", LOOPS][form], ARM) for form in ("spatial", "body")]
    return (list(spans) == [*span("Jacobian of the last body", "spatial", "one call"),
                            *span("Jacobian of the last body", "spatial", "batch")]
            and fastest("Jacobian of the last body") == {"spatial"} and abs(values[0] / values[1] - 1) < 0.05)


def what_robot_uses():
    found, shared = choice(None, False), choice(None, True)
    return (found.inverse_dynamics is INVERSE_DYNAMICS_CLASSICAL
            and found.forward_dynamics is FORWARD_DYNAMICS_BY["hybrid"]
            and shared.forward_dynamics is FORWARD_DYNAMICS_BY_MASS_MATRIX)


def what_specialize_uses():
    found = dict(zip(choice(None, False)._fields, candidates(None, False), strict=True))
    return (found["forward_dynamics"] == [FORWARD_DYNAMICS_BY[form] for form in ("body", "mass_matrix.body", "hybrid")]
            and found["coriolis_matrix"] == [CORIOLIS_MATRIX, CORIOLIS_MATRIX_IN_COMMON_FRAME])


SPAN = r"(\d\.\d\d) to (\d\.\d\d)"
CLAIMS = {
    "Summary": {
        r"Body-fixed twists take the fewest operations for most uses\.": body_frames_for_most,
        r"In straight-line code for one known robot, body-fixed recursions \(classical is one\) take the fewest "
        r"operations of most quantities\.": most_quantities_in_straight_lines,
        r"In loops for any robot, forward dynamics takes the fewest operations in spatial twists, for chains of (\d+) "
        r"joints and more\.": spatial_forward_dynamics_in_loops,
        r"About the world's origin the error of spatial twists grows with the square of the robot's distance\.":
            spatial_errors_grow_with_the_square,
        r"About a point near the robot it does not grow, and forward dynamics takes (.*) operations; hybrid twists "
        r"take (.*)\.": near_point_keeps_digits,
        r"Spatial twists take the fewest operations of quantities with one entry per pair of bodies, such as Jacobians "
        r"of all bodies and matrices of long chains\.": spatial_where_pairs_count,
        r"Mixed twists take the fewest operations of only one quantity: forward dynamics of prismatic chains, in "
        r"Denavit-Hartenberg convention of (\d+) joints and more\.": mixed_for_one_thing,
        r"Fewest operations of a chain of 7 revolute joints, .*": lambda: ARM == 7,         # what the table is
        r"The \[conclusion\]\S* lists the form for each use\.": lambda: section("Conclusion by use")},
    "Conclusion by use": {
        r"`test_comparison_conclusion\.py` verifies each sentence .*": lambda: True,
        rf"Inverse dynamics \(control\): classical takes {SPAN} of the time of the body-fixed form on the real robots, "
        rf"{SPAN} in batches\.": torques,
        r"Among the four representations body-fixed\.": torques_by_representations,
        r"Simulation of any robot, in loops: spatial about a point near the robot takes the fewest operations of the "
        r"forms whose error does not grow with the distance; it is only in `comparison/recursions`\.":
            near_point_in_loops,
        rf"Hybrid takes {SPAN} of the time of the body-fixed form, {SPAN} in batches, on this processor; with only "
        rf"AVX2 {SPAN} and {SPAN}\.": hybrid_simulation,
        rf"Spatial twists about the world's origin take {SPAN} and {SPAN}, for a robot that stays near it\.":
            spatial_simulation,
        r"Simulation of one robot, in straight-line code: the mass matrix for short chains, body-fixed articulated "
        r"bodies for longer ones in Denavit-Hartenberg convention\.": one_robot,
        r"Hybrid for long chains with frames on their axes that are otherwise general\.": one_long_robot,
        r"Gravity compensation: first moments in the body frames\.": gravity,
        r"Mass matrix, in frames on the axes: body-fixed for arms and for robots with short branches, spatial for long "
        r"chains\.": mass_matrix,
        r"Coriolis matrix: in loops spatial about a point near the robot, as in `Robot`; in straight-line code of arms "
        r"in Denavit-Hartenberg convention body-fixed\.": coriolis_matrix,
        r"If the mean depth of the bodies is (\d+) or more, `Robot` uses the spatial form of both matrices, and writes "
        r"them by rows\.": deep,
        r"Twists, accelerations, jerks of arms: body-fixed, or classical if accelerations of points are needed\.":
            motions,
        r"Jacobians of all bodies: spatial\.": all_jacobians,
        rf"Of one body: spatial too, {SPAN} of the time of the body-fixed form in single calls and {SPAN} in batches, "
        rf"with about as many operations in loops\.": one_jacobian,
        r"By default `Robot` uses the classical recursion for inverse dynamics, and hybrid twists for forward dynamics "
        r"and simulation; if joints share a coordinate, the mass matrix in hybrid twists\.": what_robot_uses,
        r"`Robot\.specialize` counts the operations of the straight-line code of its robot, and selects the form with "
        r"the fewest: for forward dynamics among articulated bodies in body-fixed and hybrid twists and the mass "
        r"matrix in the body frames, for the Coriolis matrix among the body frames and a common frame\.":
            what_specialize_uses}}
SENTENCES = [(title, sentence) for title in CLAIMS for sentence in sentences(section(title))]


@pytest.mark.parametrize("title, sentence", SENTENCES, ids=[s[:40] for _, s in SENTENCES])
def test_each_sentence_follows_from_the_tables(title, sentence):
    held = [(match, check) for pattern, check in CLAIMS[title].items() if (match := re.fullmatch(pattern, sentence))]
    assert len(held) == 1, f"nothing is known of the sentence: {sentence}"
    (match, check), = held
    assert check(*match.groups()), sentence


def test_each_claim_is_on_the_page():
    for title, patterns in CLAIMS.items():
        for pattern in patterns:
            assert any(re.fullmatch(pattern, s) for t, s in SENTENCES if t == title), pattern


def test_tables_that_say_the_same_agree():
    """Chains in Denavit and Hartenberg's convention on this page and in its tables."""
    found = by_quantity(with_header("quantity", "twists", "revolute", "prismatic", "alternating"),
                        ("revolute", "prismatic", "alternating"))
    assert len(found) == 6
    for (quantity, joints), of in found.items():
        assert of == (counted()[quantity, DH] if joints == "revolute" else of_joints()[quantity, f"{joints}, {DH}"])


def test_formulas_are_read():
    assert at(formula("n³/3 + 31n²/2 + 2941n/6 - 60"), 6) == 72 + 558 + 2941 - 60
    assert at(formula("-n"), 4) == -4 and at(formula("0"), 4) == 0 and formula("42S + 63n - 175r - 12e") == {
        "S": 42, "n": 63, "r": -175, "e": -12}
