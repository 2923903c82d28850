"""What issue 3 asks for, and how it comes out of the measurements: rows of ratios."""
from typing import NamedTuple

from .contestants import OURS, Who

ONE_STATE = {                               # quantity: least ratio as it is, and through out=; None: not asked for
    "inverse dynamics": (1.3, 2.0),
    "gravity": (1.3, 2.0),
    "forward dynamics": (1.3, 2.0),
    "Jacobian": (1.3, 2.0),
    "Jacobian derivative": (None, None),
    "mass matrix": (1.0, 1.0),
    "Coriolis matrix": (1.0, 1.0),
}
BATCH = {("inverse dynamics", 1): 15.0, ("forward dynamics", 1): 12.0}
TWO_THREADS, ROLLOUT, ROLLOUTS = 1.8, 3.0, 15.0
GROWTH = {"inverse dynamics": 11.0, "forward dynamics": 11.0}
GROWTH_BETWEEN = (100, 1000)


class Row(NamedTuple):
    """A line of the table: ratios {column: number} and the target they have to reach, or for growth not to exceed."""

    section: str
    label: str
    target: float | None
    cells: dict
    at_most: bool = False

    def met(self, column):
        """Whether a cell reaches its target; None where there is none."""
        if self.target is None or column not in self.cells:
            return None
        return self.cells[column] <= self.target if self.at_most else self.cells[column] >= self.target


def rows(measurements):
    """All rows, in the order of the issue's table."""
    return [row for row in [*one_state(measurements), *batches(measurements), *two_threads(measurements),
                            *rollouts(measurements), *chains(measurements), *growth(measurements)] if row.cells]


def ratios(measurements, work, quantity, ratio):
    """{robot: ratio(measurement)} over the robots of a piece of work, without those that have none."""
    found = {m.subject["robot"]: ratio(m) for m in measurements
             if m.subject["work"] == work and m.subject["quantity"] == quantity}
    return {robot: value for robot, value in found.items() if value is not None}


def against(library, variant="", **settings):
    """A function of a measurement: how many times as long the fastest variant of a library takes as ours."""
    def ratio(measurement):
        theirs, ours = measurement.fastest(library, **settings), Who(OURS, variant, **settings)
        return measurement.ratio(theirs, ours) if theirs and ours in measurement.seconds else None
    return ratio


def one_state(measurements):
    """One state, as it is and through out=."""
    for k, (variant, how) in enumerate((("", "checked public method"), ("out=", "through out="))):
        for quantity, targets in ONE_STATE.items():
            cells = ratios(measurements, "one state", quantity, against("Pinocchio", variant))
            yield Row(f"One state, {how}, against Pinocchio's binding", quantity, targets[k], cells)


def batches(measurements):
    """Batches on one thread and on two."""
    for threads in (1, 2):
        for quantity in ("inverse dynamics", "forward dynamics"):
            cells = ratios(measurements, "batch", quantity, against("Pinocchio", threads=threads))
            yield Row("Batch of 4096 states, against Pinocchio's parallel functions", f"{quantity}, {on(threads)}",
                      BATCH.get((quantity, threads)), cells)


def two_threads(measurements):
    """What the second thread brings, to us and to the others."""
    section = "Two threads over one"
    for library, target in ((OURS, TWO_THREADS), ("Pinocchio", None)):
        for quantity in ("inverse dynamics", "forward dynamics"):
            cells = ratios(measurements, "batch", quantity, second_thread(library))
            yield Row(section, f"{quantity}, {library}", target, cells)
    for library, target in ((OURS, TWO_THREADS), ("MuJoCo", None)):
        cells = ratios(measurements, "rollouts", "semi-implicit Euler", second_thread(library))
        yield Row(section, f"rollout of 4096, {library}", target, cells)


def second_thread(library):
    """A function of a measurement: how many times as long a library takes on one thread as on two."""
    def ratio(measurement):
        one, two = Who(library, threads=1), Who(library, threads=2)
        return measurement.ratio(one, two) if {one, two} <= measurement.seconds.keys() else None
    return ratio


def rollouts(measurements):
    """Simulations of one robot and of thousands."""
    section, euler = "Simulation, against MuJoCo without contact", "semi-implicit Euler"
    yield Row(section, "one robot", ROLLOUT, ratios(measurements, "rollout", euler, against("MuJoCo")))
    for threads in (1, 2):
        cells = ratios(measurements, "rollouts", euler, against("MuJoCo", threads=threads))
        yield Row(section, f"4096 robots, {on(threads)}", ROLLOUTS, cells)


def chains(measurements):
    """One state of chains, against Pinocchio."""
    for m in measurements:
        if m.subject["work"] == "growth":
            cells = {str(n): against("Pinocchio", joints=n)(m) for n in lengths(m)}
            cells = {n: ratio for n, ratio in cells.items() if ratio is not None}
            yield Row("Chains by number of joints, one state, against Pinocchio", m.subject["quantity"], None, cells)


def growth(measurements):
    """Our time at 1000 joints over that at 100."""
    short, long = GROWTH_BETWEEN
    for m in measurements:
        if m.subject["work"] == "growth" and {short, long} <= set(lengths(m)):
            ratio = m.ratio(Who(OURS, joints=long), Who(OURS, joints=short))
            section, quantity = f"Our time at {long} joints over that at {short}", m.subject["quantity"]
            yield Row(section, quantity, GROWTH.get(quantity), {"ratio": ratio}, at_most=True)


def lengths(measurement):
    """The numbers of joints in a measurement of growth."""
    return sorted({who.joints for who in measurement.seconds})


def on(threads):
    """A number of threads in words."""
    return f"{threads} thread{'s' if threads > 1 else ''}"
