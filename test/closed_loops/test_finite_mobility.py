"""Finite mobility: branches from derivatives of the constraints, against continuation of the loop equations."""
import re

import numpy as np
import pytest
import scipy

import screw_dynamics as sd
from screw_dynamics.robot.closed_loops import ClosedLoopRobot, Distance, LoopJoint, tangent_cone
from screw_dynamics.robot.closed_loops.tangent_cone import Equations, cones, isolated
from screw_dynamics.screws.groups import se3
from support.linkages import Linkage, Pair, bennett, four_bar, frame, rod

pytestmark = pytest.mark.slow          # of kernels of closed loops

Z = (0, 0, 1)


def mechanism(joints, constraints):
    """Revolute joints {name: (link, parent, axis, point)}, placed at q = 0, and constraints."""
    builder = sd.ModelBuilder("ground")
    for name, (link, parent, axis, point) in joints.items():
        builder.add_screw(name, link, parent, axis, point, mass=1.0)
    return ClosedLoopRobot(sd.Robot(builder.build()), constraints)


def hinge(name, link, axis, point, on=None):
    return LoopJoint(name, "revolute", link, on, frame=frame(axis, point))


def on_a_line(*points):
    """A planar loop of revolute joints at points of the x axis."""
    *bodies, last = points
    joints = {f"J{k}": (f"L{k}", f"L{k - 1}" if k else "ground", Z, (x, 0, 0)) for k, x in enumerate(bodies)}
    return mechanism(joints, [hinge("last", f"L{len(bodies) - 1}", Z, (last, 0, 0))]), np.zeros(len(bodies))


def rssr():
    """A spatial four-bar: a rod with spherical ends, which can spin, between two revolute joints."""
    A, B, C, D = np.array(((0, 0, 0), (0, 0, 0.3), (0.9, 0.2, 0.5), (0.8, 0.4, 0)))
    linkage = Linkage({"crank": rod(A, B, 1.0), "rod": rod(B, C, 1.0), "rocker": rod(D, C, 1.0)}, [
        Pair("A", "revolute", "crank", "ground", frame((0, 1, 0), A)),
        Pair("B", "spherical", "rod", "crank", frame(Z, B)), Pair("C", "spherical", "rod", "rocker", frame(Z, C)),
        Pair("D", "revolute", "rocker", "ground", frame((1, 1, 0), D))])
    loops = linkage.closed(("C",))
    return loops, loops.robot.neutral()


def goldberg():
    """Goldberg's 5R linkage: two Bennett linkages with a common bar, which is removed, and two bars in line joined."""
    twists = np.array((0.5, 0.9, 0.7))
    (a, b, c), (A, B, C) = np.sin(twists) / 0.6, twists
    bars = [se3.exp(np.array((0, 0, 0, length, 0, 0))) @ se3.exp(np.array((twist, 0, 0, 0, 0, 0)))
            for length, twist in ((a + c, A + C), (b, B), (a, A), (c, C), (b, B))]
    builder = sd.ModelBuilder("ground")
    for k in range(4):
        builder.add_joint(f"J{k}", f"L{k}", f"L{k - 1}" if k else "ground", (0, 0, 1, 0, 0, 0),
                          bars[k - 1] if k else None, sd.inertia_matrix(1.0, (0, 0, 0), np.eye(3)))
    last = LoopJoint("J4", "revolute", "L3", frame=bars[3], frame_on=np.linalg.inv(bars[4]))
    loops = ClosedLoopRobot(sd.Robot(builder.build()), [last])
    return loops, loops.project((3.2, -1.5, 2.6, 1.4))


def rhombus():
    """A kinematotropic linkage: a rhombus O A B C with bars of 1 m that turn about O, and a rod of 2 m from B. It folds
    to B = O, about which both sides then turn; in line with the rod at Q = (2, 0) it can also open."""
    loops = mechanism({"O": ("OA", "ground", Z, (0, 0, 0)), "A": ("AB", "OA", Z, (1, 0, 0)),
                       "C": ("OC", "ground", Z, (0, 0, 0))},
                      [Distance("BC", "AB", "OC", (2, 0, 0), (1, 0, 0), 1.0),
                       Distance("BQ", "AB", None, (2, 0, 0), (2, 0, 0), 2.0)])
    return loops, np.array((0.0, np.pi, np.pi))


def sarrus():
    """Two legs of three parallel axes, which let a platform translate: one redundant constraint."""
    places = (((1, 0, 0), (0, 1, 0)), ((1.5, 0, 0.5), (0, 1, 0)), ((1, 0, 1), (0, 1, 0)), ((0, 1, 1), (1, 0, 0)),
              ((0, 1.5, 0.5), (1, 0, 0)))
    joints = {f"J{k}": (f"L{k}", f"L{k - 1}" if k else "ground", axis, point) for k, (point, axis) in enumerate(places)}
    return mechanism(joints, [hinge("last", "L4", (1, 0, 0), (0, 1, 0))]), np.zeros(5)


def three_cranks(angle):
    """A plate on three equal cranks, of which one is redundant; on a line at angle 0."""
    tip, places = 0.5 * np.array((np.cos(angle), np.sin(angle), 0)), np.eye(3)[0] * np.arange(3)[:, None]
    joints = {f"J{k}": (f"crank_{k}", "ground", Z, at) for k, at in enumerate(places)}
    joints["plate"] = ("plate", "crank_0", Z, tip)
    return mechanism(joints, [hinge(f"on_{k}", f"crank_{k}", Z, places[k] + tip, "plate") for k in (1, 2)]), np.zeros(4)


def two_parallelograms():
    """On a line, the second one on the coupler of the first: each can move as a parallelogram or as a crossed one."""
    joints = {f"J{k}": (f"L{k}", parent, Z, (x, 0, 0)) for k, (parent, x) in enumerate((
        ("ground", 0), ("L0", 0.3), ("L1", 1.3), ("L1", 0.5), ("L3", 1.3), ("L4", 1.7)))}
    given = [hinge("first", "L2", Z, (1, 0, 0)), hinge("second", "L5", Z, (0.9, 0, 0), "L1")]
    return mechanism(joints, given), np.zeros(6)


def rods(x):
    """Two points in space on three rods between (0, 0, 0), (1, 0, 0), (2, 0, 0) and (x, 0, 0)."""
    builder = sd.ModelBuilder("ground")
    for k in range(2):
        for j, axis in enumerate(np.eye(3)):
            builder.add_screw(f"{k}{j}", f"P{k}{j}", f"P{k}{j - 1}" if j else "ground", axis, pitch=np.inf, mass=1.0)
    points = np.array(((0, 0, 0), (1, 0, 0), (2, 0, 0), (x, 0, 0)))
    ends = (("P02", None, 1, 0), ("P12", "P02", 2, 1), ("P12", None, 2, 3))
    given = [Distance(f"{i}{j}", link, on, points[i], points[j]) for link, on, i, j in ends]
    return ClosedLoopRobot(sd.Robot(builder.build()), given), np.zeros(6)


def double_watt():
    """Two Watt linkages, one the mirror image of the other, with a bar between the middles of their couplers."""
    joints, given = {}, [Distance("bar", "coupler_0", "coupler_1", (0, 0, 0), (2, 0, 0))]
    for k, (x, side) in enumerate(((0.0, 1.0), (2.0, -1.0))):
        joints |= {f"crank_{k}": (f"arm_{k}", "ground", Z, (x - side, 0.5, 0)),
                   f"tip_{k}": (f"coupler_{k}", f"arm_{k}", Z, (x, 0.5, 0))}
        given.append(Distance(f"rod_{k}", f"coupler_{k}", None, (x, -0.5, 0), (x + side, -0.5, 0)))
    return mechanism(joints, given), np.zeros(4)


def bent(loops):
    return loops, loops.project(loops.robot.neutral() + 0.1)


def solutions(loops, q, radius, starts, rng):
    """Displacements (k, n) of one length to closed configurations that SciPy finds from random ones, to 1e-12."""
    found = []
    for x in rng.normal(size=(starts, loops.robot.n)):
        solved = scipy.optimize.least_squares(
            lambda x: np.append(loops.residual(loops.robot.integrate(q, x)), (x @ x - radius**2) / radius),
            radius * x / np.linalg.norm(x), xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=100)
        if np.abs(solved.fun).max() < 1e-12:
            found.append(solved.x)
    return np.reshape(found, (-1, loops.robot.n))


# Mechanism, order; degrees, instantaneous ones, dimensions of branches; proven, branches proven; regular, shaky.
CASES = {
    "planar four-bar": (lambda: bent(four_bar(0.4).closed(("D",))), 3, 1, 1, [1], True, [True], True, False),
    "spatial four-bar": (rssr, 3, 2, 2, [2], True, [True], True, False),
    "Bennett": (lambda: bent(bennett()), 5, 1, 1, [1], False, [False], True, False),
    "Goldberg 5R": (goldberg, 5, 1, 1, [1], False, [False], True, False),
    "Sarrus": (sarrus, 4, 1, 1, [1], False, [False], True, False),
    "redundant crank": (lambda: three_cranks(0.9), 4, 1, 1, [1], False, [False], True, False),
    "parallelogram on a line": (lambda: on_a_line(0, 0.3, 1.3, 1), 3, 1, 2, [1, 1], True, [True, True], False, False),
    "two parallelograms": (two_parallelograms, 3, 2, 4, [2, 2, 2, 2], False, [True] * 4, False, False),
    "cranks on a line": (lambda: three_cranks(0.0), 4, 1, 2, [1], False, [False], False, True),
    "triangle on a line": (lambda: on_a_line(0, 0.4, 1), 2, 0, 1, [], True, [], False, True),
    "rhombus": (rhombus, 3, 2, 3, [2, 1], False, [False, True], False, False),
    "stretched rods": (lambda: rods(3), 2, 0, 4, [], True, [], False, True),
    "folded rods": (lambda: rods(0.5), 2, 3, 4, [3], True, [True], False, False),
}


@pytest.mark.parametrize("name", [name if name in ("rhombus", "parallelogram on a line", "triangle on a line", "Sarrus")
                                  else pytest.param(name, marks=pytest.mark.slow) for name in CASES])
def test_branches_are_those_of_the_closed_configurations(name, rng):
    """SciPy closes the loops along every direction of a branch, and nowhere else."""
    make, order, degrees, instantaneous, dimensions, proven, each, regular, shaky = CASES[name]
    loops, q = make()
    found = loops.mobility(q, order=order)
    assert (found.degrees, found.first_order.degrees, found.order) == (degrees, instantaneous, order)
    assert [branch.dimension for branch in found.branches] == dimensions and found.dimensions[-1] == degrees
    assert (found.proven, [branch.proven for branch in found.branches]) == (proven, each)
    assert (found.regular, found.shaky) == (regular, shaky)
    near = solutions(loops, q, 0.1, 12 if dimensions else 40, rng)
    assert bool(len(near)) == bool(dimensions)
    aside = [near - near @ branch.tangents @ branch.tangents.T for branch in found.branches]
    assert np.linalg.norm(aside, axis=-1).min(axis=0, initial=1.0).max(initial=0.0) < 0.025
    for T, dimension, _, reached, rank in found.branches:
        if T.shape[1] == dimension:
            assert reached == 0.1 and loops.robot.n - rank == dimension
            for c in rng.normal(size=(3, dimension)):
                x = continued(loops, q, T, 0.1 * c / np.linalg.norm(c))
                at = loops.robot.integrate(q, x)
                assert loops.robot.n - np.linalg.matrix_rank(loops.jacobian(at), 1e-7) == dimension
        else:
            assert reached == 0.0 and rank is None


def continued(loops, q, T, c):
    """The displacement near T c, with T^T x = c, of a closed configuration that SciPy finds."""
    solved = scipy.optimize.least_squares(
        lambda x: np.concatenate((loops.residual(loops.robot.integrate(q, x)), T.T @ x - c)), T @ c,
        xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.abs(solved.fun).max() < 1e-12 and np.linalg.norm(solved.x - T @ c) < 0.02
    return solved.x


def test_tangents_of_a_folded_rhombus_are_those_computed_by_hand():
    """With angles a of OA, b of the fold and c of OC: b (b + 4 a) = 0 and b (a + b - c) = 0 at order 2."""
    loops, q = rhombus()
    both, opening = loops.mobility(q, order=3).branches
    assert np.abs(both.tangents[1]).max() < 1e-12
    assert np.abs(opening.tangents[:, 0] / opening.tangents[0, 0] - (1.0, -4.0, -3.0)).max() < 1e-9


SMALL = (-0.016526198414060136, 3.147035002225729, 0.01652619840992114)


@pytest.mark.parametrize(("size", "order", "q"), [
    (1e-4, 6, None), (1e-3, 8, None), (2e-3, 10, None), (0.01, 5, SMALL), (100.0, 5, None)])
def test_a_linkage_moves_in_any_size(size, order, q):
    """Bennett's linkage has one degree of freedom, which no finite order proves."""
    loops = bennett(size=size)
    found = loops.mobility(bent(loops)[1] if q is None else q, order=order)
    assert (found.degrees, found.proven, found.regular) == (1, False, True)


def test_closed_configurations_contradict_wrong_terms(monkeypatch):
    """Terms of errors of q are in the equations here, as those of small terms were in every size."""
    monkeypatch.setattr(tangent_cone, "VANISHES", 1e-13)
    loops, q = bent(bennett())
    found = loops.mobility(q + 1e-10 * np.array((1.0, 2.0, 0.3)), order=3)
    assert not found.proven and not found.branches and "contradiction" in found.explanation


def test_locked_joints_do_not_move():
    loops, q = on_a_line(0, 0.3, 1.3, 1)
    found = loops.mobility(q, locked=["J0"], order=2)
    assert found.proven and found.shaky and (found.degrees, found.first_order.degrees) == (0, 1)
    loops, q = rhombus()
    [branch] = loops.mobility(q, locked=["A"], order=3).branches
    assert branch.dimension == 2 and np.abs(branch.tangents[1]).max() == 0.0


def test_a_cusp_is_no_proof_of_rigidity():
    """R. Connelly, H. Servatius (1994), Higher-order rigidity: what is the proper definition?"""
    loops, q = double_watt()
    [branch] = loops.mobility(q, order=4).branches
    assert branch.dimension == 1 and branch.reached == 0.0
    found = loops.mobility(q, order=5)
    assert not found.branches and not found.proven and "cusp" in found.explanation
    one_way, other_way = (np.abs(scipy.optimize.least_squares(
        lambda x, to=to: np.append(loops.residual(x), x[0] - to), to * np.array((1, -1, -1, 1)), xtol=1e-15, ftol=1e-15,
        gtol=1e-15).fun).max() for to in (0.1, -0.1))
    assert one_way < 1e-12 and other_way > 1e-7


@pytest.mark.parametrize(("polynomials", "dimensions"), [
    ([{(1, 1): 1}], [[2], [1, 1], [1, 1], [1, 1]]),                                     # x y
    ([{(2, 0): 1, (0, 2): 1}], [[2], [], [], []]),                                      # x^2 + y^2
    ([{(0, 2): 1, (3, 0): -1}], [[2], [1], [], []]),                                    # y^2 - x^3, a cusp
    ([{(0, 2): 1, (4, 0): -1}], [[2], [1], [1], [1]]),                                  # y^2 - x^4
    ([{(0, 2): 1, (4, 0): 1}], [[2], [1], [1], []]),                                    # y^2 + x^4
    ([{(1, 1): 1}, {(3, 0): 1}], [[2], [1, 1], [1], [1]]),                              # x y, x^3
    ([{(1, 0, 1): 1}, {(0, 1, 1): 1}], [[3], [2, 1], [2, 1], [2, 1]]),                  # x z, y z
    ([{(1, 1, 1): 1}], [[3], [3], [2, 2, 2], [2, 2, 2]]),                               # x y z
    ([{(2, 0, 0): 1, (0, 2, 0): 1, (0, 0, 2): -1}], [[3], ["2"], ["2"], ["2"]]),        # x^2 + y^2 - z^2
    ([{(1, 1, 0): 1, (0, 0, 3): 1}, {(0, 2, 0): 1, (1, 0, 1): 1}], [[3], [1, 1], [1], [1]])])    # x y + z^3, y^2 + x z
def test_cones_of_polynomials(polynomials, dimensions):
    exponents = sorted({term for polynomial in polynomials for term in polynomial})
    equations = Equations(np.array(exponents), np.array([[p.get(e, 0.0) for p in polynomials] for e in exponents]))
    found, undecided = cones(equations, len(exponents[0]), 4)
    assert [[part.dimension if part.linear else str(part.dimension) for part in parts] for parts in found] == dimensions
    assert not undecided
    assert isolated(equations.up_to(equations.lowest)) == ([] in dimensions[:2])


def test_what_cannot_be_analyzed_is_refused():
    loops, q = rhombus()
    for order in (0, 1.5, "two"):
        with pytest.raises((TypeError, ValueError), match="order"):
            loops.mobility(q, order=order)
    with pytest.raises(ValueError, match="of 1 m, and the residual is 1e-07 of it; project q first"):
        on_a_line(0, 0.4, 1)[0].mobility([1e-7, 0.0], order=2)
    small, near = bent(bennett(size=0.03))
    with pytest.raises(ValueError, match="length of 0.0774 m, and the residual is"):
        small.mobility(near + 5e-9, order=3)
    with pytest.raises(ValueError, match=re.escape("order 80 of 3 admissible velocities has 3321 terms")):
        loops.mobility(q, order=80)
