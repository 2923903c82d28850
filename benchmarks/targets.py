"""What issue 3 asks for, and how it comes out of the measurements: rows of ratios."""
from typing import NamedTuple

from .contestants import OURS, Who

ONE_STATE = {                               # quantity: least ratio as it is, and through out=; None: not asked for
    "inverse dynamics": (1.3, 2.0),
    "inverse dynamics, a wrench": (None, None),
    "gravity": (1.3, 2.0),
    "forward dynamics": (1.3, 2.0),
    "Jacobian": (1.3, 2.0),
    "Jacobian derivative": (None, None),
    "link acceleration": (None, None),
    "mass matrix": (1.0, 1.0),
    "Coriolis matrix": (1.0, 1.0),
    "derivatives of inverse dynamics": (1.5, 1.5),
    "derivatives of forward dynamics": (1.5, 1.5),
    "torque regressor": (1.5, 1.5),
}
BATCH = {("inverse dynamics", 1): 15.0, ("forward dynamics", 1): 12.0,
         ("derivatives of inverse dynamics", 1): 10.0, ("derivatives of forward dynamics", 1): 10.0,
         ("torque regressor", 1): 10.0}
FLOATING = {                                # the same on a floating base
    "inverse dynamics": 1.5,
    "inverse dynamics, a wrench": None,
    "gravity": None,
    "forward dynamics": 1.5,
    "Jacobian": None,
    "Jacobian derivative": None,
    "link acceleration": None,
    "mass matrix": None,
    "Coriolis matrix": None,
    "derivatives of inverse dynamics": 1.5,
    "derivatives of forward dynamics": 1.5,
    "torque regressor": 1.5,
    "centroidal momentum matrix": 1.0,
}
FLOATING_BATCH = {"inverse dynamics": 12.0, "forward dynamics": 12.0,
                  "derivatives of inverse dynamics": 10.0, "derivatives of forward dynamics": 10.0,
                  "torque regressor": 10.0}
TWO_THREADS, ROLLOUT, ROLLOUTS = 1.8, 3.0, 15.0
CHAINS = {"mass matrix": 1.0, "Coriolis matrix": 1.0}
GROWTH = {"inverse dynamics": 11.0, "forward dynamics": 11.0}
GROWTH_BETWEEN = (100, 1000)
EULER = "semi-implicit Euler"


class Row(NamedTuple):
    """A line of the report: ratios {column: number} of a piece of work and a variant of our call.

    target: what they have to reach, or for growth not to exceed; None where nothing is asked for."""

    work: str
    variant: str
    label: str
    target: float | None
    cells: dict

    def met(self, column):
        """Whether a cell reaches its target; None where there is none."""
        if self.target is None or column not in self.cells:
            return None
        ratio = self.cells[column]
        return ratio <= self.target if self.work == "growth" else ratio >= self.target


def rows(measurements):
    """All rows, in the order of the issue's table."""
    parts = (one_state, batches, floating, two_threads, simulations, chains, growth)
    return [row for part in parts for row in part(measurements) if row.cells]


def ratios(measurements, work, quantity, ratio):
    """{robot: ratio(measurement)} over the robots of a piece of work, without those that have none."""
    found = {m.subject["robot"]: ratio(m) for m in measurements
             if m.subject["work"] == work and m.subject["quantity"] == quantity}
    return {robot: value for robot, value in found.items() if value is not None}


def against(library, variant="", **settings):
    """A function of a measurement: how many times as long a library's fastest variant takes as this one of ours."""
    def ratio(measurement):
        theirs, ours = measurement.fastest(library, **settings), Who(OURS, variant, **settings)
        return measurement.ratio(theirs, ours) if theirs and ours in measurement.seconds else None
    return ratio


def second_thread(library):
    """A function of a measurement: how many times as long a library takes on one thread as on two."""
    def ratio(measurement):
        one, two = Who(library, threads=1), Who(library, threads=2)
        return measurement.ratio(one, two) if {one, two} <= measurement.seconds.keys() else None
    return ratio


def one_state(measurements):
    """Calls on one state: as they are, through out=, and so of a specialized robot."""
    for k, variant in enumerate(("", "out=", "specialized")):
        for quantity, targets in ONE_STATE.items():
            target = targets[k] if k < len(targets) else None
            cells = ratios(measurements, "one state", quantity, against("Pinocchio", variant))
            yield Row("one state", variant, quantity, target, cells)


def batches(measurements):
    """Batches on one thread and on two."""
    for variant, targets in (("", BATCH), ("specialized", {})):
        for threads in (1, 2):
            for quantity, _ in BATCH:
                cells = ratios(measurements, "batch", quantity, against("Pinocchio", variant, threads=threads))
                yield Row("batch", variant, f"{quantity}, {on(threads)}", targets.get((quantity, threads)), cells)


def floating(measurements):
    """Robots on a floating base: calls on one state, and batches on one thread."""
    for variant in ("", "out="):
        for quantity, target in FLOATING.items():
            cells = ratios(measurements, "floating base, one state", quantity, against("Pinocchio", variant))
            yield Row("floating base, one state", variant, quantity, target, cells)
    for quantity, target in FLOATING_BATCH.items():
        cells = ratios(measurements, "floating base, batch", quantity, against("Pinocchio", threads=1))
        yield Row("floating base, batch", "", f"{quantity}, {on(1)}", target, cells)


def two_threads(measurements):
    """What the second thread brings, to us and to the others."""
    for library, target in ((OURS, TWO_THREADS), ("Pinocchio", None), ("MuJoCo", None)):
        for work, quantity, label in (("batch", "inverse dynamics", "inverse dynamics of 4096"),
                                      ("batch", "forward dynamics", "forward dynamics of 4096"),
                                      ("large batch", "inverse dynamics", "inverse dynamics of 65536"),
                                      ("large batch", "forward dynamics", "forward dynamics of 65536"),
                                      ("rollouts", EULER, "simulation of 4096")):
            cells = ratios(measurements, work, quantity, second_thread(library))
            yield Row("two threads", "", f"{label}, {library}", target, cells)


def simulations(measurements):
    """Simulations of one robot and of thousands."""
    for variant, one, many in (("", ROLLOUT, ROLLOUTS), ("specialized", None, None)):
        cells = ratios(measurements, "rollout", EULER, against("MuJoCo", variant))
        yield Row("simulation", variant, "one robot", one, cells)
        for threads in (1, 2):
            cells = ratios(measurements, "rollouts", EULER, against("MuJoCo", variant, threads=threads))
            yield Row("simulation", variant, f"4096 robots, {on(threads)}", many, cells)


def chains(measurements):
    """Calls on one state of chains, {number of joints: ratio}."""
    for m in measurements:
        if m.subject["work"] == "growth":
            cells = {str(n): against("Pinocchio", joints=n)(m) for n in lengths(m)}
            cells = {n: ratio for n, ratio in cells.items() if ratio is not None}
            quantity = m.subject["quantity"]
            yield Row("chains", "", quantity, CHAINS.get(quantity), cells)


def growth(measurements):
    """Our time at 1000 joints over that at 100."""
    short, long = GROWTH_BETWEEN
    for m in measurements:
        if m.subject["work"] == "growth" and {short, long} <= set(lengths(m)):
            ratio, quantity = m.ratio(Who(OURS, joints=long), Who(OURS, joints=short)), m.subject["quantity"]
            yield Row("growth", "", quantity, GROWTH.get(quantity), {"ratio": ratio})


def lengths(measurement):
    """The numbers of joints in a measurement of growth."""
    return sorted({who.joints for who in measurement.seconds})


def on(threads):
    """A number of threads in words."""
    return f"{threads} thread{'s' if threads > 1 else ''}"
