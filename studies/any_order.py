"""Derivatives of any order of inverse dynamics: what they cost by Taylor series, and by nested differentiation.

python -m studies.any_order from the root of the repository, or make figures. Counts the multiplications of the same
recursion on both kinds of numbers, and draws the picture of docs/derivatives.md."""
import argparse
import operator
from numbers import Real
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.pictures import BLUE, GRAY, ORANGE, SETTINGS
from benchmarks.robots import real
from screw_dynamics import Robot
from screw_dynamics.algorithms.inverse_dynamics import INVERSE_DYNAMICS_IN
from screw_dynamics.numbers.dual import Dual
from screw_dynamics.numbers.scalars import sincos
from screw_dynamics.numbers.taylor import Tape

PICTURE, BUILD = Path("docs") / "images" / "any_order.png", Path("build") / "studies"
ORDERS, NESTED = 16, 6          # highest orders by series, and by nesting


class Counted:
    """A number that counts multiplications and divisions."""

    count = 0
    __array_ufunc__ = None

    def __init__(self, x):
        self.x = float(x)


def _number(x):
    return x.x if isinstance(x, Counted) else x


def _counted(operation, multiplies):
    """An operator between Counted and numbers; of others, values say, it is theirs."""
    def apply(a, b):
        if not isinstance(b, (Counted, Real)):
            return NotImplemented
        if operation is operator.mul and not isinstance(b, Counted) and b in (0.0, 1.0):      # left out, as Series do
            return a if b else 0.0
        Counted.count += multiplies
        return Counted(operation(a.x, _number(b)))
    return apply


for _name, _operation, _multiplies in (("add", operator.add, 0), ("sub", operator.sub, 0), ("mul", operator.mul, 1),
                                       ("truediv", operator.truediv, 1)):
    setattr(Counted, f"__{_name}__", _counted(_operation, _multiplies))
    setattr(Counted, f"__r{_name}__", _counted(lambda a, b, of=_operation: of(b, a), _multiplies))
Counted.__rmul__ = Counted.__mul__
Counted.__neg__ = lambda self: Counted(-self.x)


@sincos.register(Counted)
def _sincos(x):
    return tuple(map(Counted, sincos(x.x)))


def nested(derivatives):
    """A number whose derivatives in time up to order r are given, as dual numbers in dual numbers, r deep: f(nested)
    has d^r f / dt^r as its innermost derivative."""
    if len(derivatives) == 1:
        return Counted(derivatives[0])
    return Dual(nested(derivatives[:-1]), nested(derivatives[1:]))


def evaluate(robot, q, qd, qdd):
    """Inverse dynamics in plain Python on any numbers."""
    return INVERSE_DYNAMICS_IN["body"].plain(robot.model.links(robot.gravity), q, qd, qdd)


def motion(robot, orders):
    """q and its derivatives, (orders + 3, n)."""
    return np.random.default_rng(0).uniform(-1.0, 1.0, (orders + 3, robot.n))


def by_nesting(robot, order):
    """Multiplications, and the derivative (n,) of the efforts of an order."""
    x, Counted.count = motion(robot, order), 0
    tau = evaluate(robot, *([nested(x[shift:shift + order + 1, i]) for i in range(robot.n)] for shift in range(3)))
    for _ in range(order):
        tau = [effort.dx for effort in tau]
    return Counted.count, np.array([_number(effort) for effort in tau], dtype=float)


def by_series(robot, orders):
    """Multiplications up to each order (orders + 1,), and the derivatives (orders + 1, n) of the efforts."""
    x, tape, factorial, Counted.count = motion(robot, orders), Tape(), 1.0, 0
    columns = [[tape.variable(Counted(number)) for number in x[shift]] for shift in range(3)]
    tau = evaluate(robot, *columns)
    counts, found = [Counted.count], [[effort.c[0].x for effort in tau]]
    for k in range(1, orders + 1):
        factorial *= k
        for shift, column in enumerate(columns):
            for series, number in zip(column, x[shift + k], strict=True):
                series.c.append(Counted(number / factorial))
        tape.extend()
        counts.append(Counted.count)
        found.append([factorial * effort.c[k].x for effort in tau])
    return np.array(counts), np.array(found)


def draw(counts, path):
    """The multiplications of each robot by both ways, {name: (by series, by nesting)}."""
    with plt.rc_context(SETTINGS):
        figure, axes = plt.subplots(1, len(counts), figsize=(4.2 * len(counts), 3.6), squeeze=False, sharey=True)
        figure.subplots_adjust(left=0.1, right=0.98, top=0.84, bottom=0.17, wspace=0.1)
        for axis, (name, (series, nests)) in zip(axes[0], counts.items(), strict=True):
            axis.semilogy(range(len(nests)), nests, "o-", color=ORANGE, label="nested dual numbers", markersize=4)
            axis.semilogy(range(len(series)), series, "o-", color=BLUE, label="Taylor series, all orders up to it",
                          markersize=4)
            axis.set_title(name, fontsize=9)
            axis.set_xlabel("order of the time derivative")
            axis.grid(True, color="#e4e4e4", linewidth=0.6)
        axes[0][0].set_ylabel("multiplications")
        axes[0][-1].legend(fontsize=8, frameon=False, loc="lower right")
        figure.suptitle("Time derivatives of the efforts of inverse dynamics", x=0.1, ha="left", fontsize=11,
                        fontweight="bold")
        figure.text(0.01, 0.01, "screw_dynamics, python -m studies.any_order: counted", fontsize=7, color=GRAY)
        figure.savefig(path, dpi=90)
        plt.close(figure)


def main():
    """Count, draw and print."""
    parser = argparse.ArgumentParser(prog="python -m studies.any_order", description=__doc__.partition(":")[0])
    parser.add_argument("--quick", action="store_true", help=f"see that it works; draws into {BUILD}")
    quick = parser.parse_args().quick
    counts, orders, deepest = {}, (4, 2) if quick else (ORDERS, NESTED), None
    for name in ("UR5", "Panda"):
        robot = Robot.from_urdf(real(name, False).urdf)
        series, nests = by_series(robot, orders[0])[0], [by_nesting(robot, k)[0] for k in range(orders[1] + 1)]
        counts[name], deepest = (series, nests), orders[1]
        print(f"{name}: to order {deepest} {series[deepest]:,} multiplications by series, {nests[-1]:,} for that order "
              f"by nesting; to order {orders[0]} {series[-1]:,}")
    BUILD.mkdir(parents=True, exist_ok=True)
    draw(counts, BUILD / PICTURE.name if quick else PICTURE)


if __name__ == "__main__":
    main()
