"""Timing of several contestants side by side."""
import math
import statistics
import time
from typing import NamedTuple

SLOT = 2e-3             # s: a contestant's turn lasts at least so long, by calling often enough
LONG = 0.1              # s: a call that takes longer needs no other one before it to fill the caches


class Effort(NamedTuple):
    """How much is measured: repeats of a comparison, no more than fit into so many seconds, and at least so many."""

    repeats: int
    seconds: float
    least: int


FULL, QUICK = Effort(repeats=101, seconds=6.0, least=11), Effort(repeats=7, seconds=0.3, least=3)


class Measurement(NamedTuple):
    """What was measured of one piece of work.

    subject: what it is, a dictionary of plain values; seconds: {Who: [seconds per unit, one a repeat]}, where the k-th
    of all contestants were taken one right after the other."""

    subject: dict
    seconds: dict

    def median(self, who):
        """The median of a contestant's times."""
        return statistics.median(self.seconds[who])

    def fastest(self, library, **settings):
        """The contestant of a library, with these settings, whose variant takes least; None where there is none."""
        found = [who for who in self.seconds if who.library == library
                 and all(getattr(who, name) == value for name, value in settings.items())]
        return min(found, key=self.median, default=None)

    def ratio(self, slow, fast):
        """How many times as long `slow` takes as `fast`: the median over the repeats, in each of which both ran."""
        return statistics.median(a / b for a, b in zip(self.seconds[slow], self.seconds[fast], strict=True))


def measure(subject, calls, effort, units=1, prepare=lambda k: None, pause=0.0, warm=0.0):
    """Time calls {Who: Call}, round robin within each repeat; each begins another one's round in turn.

    units: how many states or steps a call works off. prepare(k) is called before repeat k, untimed. pause: seconds of
    rest before each turn, so that another's threads, which spin for a while after work, have let go of the cores. warm:
    seconds at least that a turn goes on untimed before it counts: after another kind of code a core takes some
    milliseconds until it runs wide vectors at full speed."""
    timers = {who: call.timer() for who, call in calls.items()}
    numbers, lasting = {}, {}
    for who, timer in timers.items():
        timer.timeit(1)
        numbers[who], lasting[who] = calls_per_turn(timer)
    idle = {who: math.ceil(warm / lasting[who]) * numbers[who] if lasting[who] < LONG else 0 for who in calls}
    spent = sum(lasting[who] * (1 + idle[who] / numbers[who]) + pause for who in calls)
    repeats = max(effort.least, min(effort.repeats, int(effort.seconds / spent)))
    seconds, order = {who: [] for who in calls}, list(calls)
    for k in range(repeats):
        prepare(k)
        order = order[1:] + order[:1]
        for who in order:
            time.sleep(pause)
            if lasting[who] < LONG:
                timers[who].timeit(max(1, idle[who]))       # what the others have pushed out of the caches comes back
            n = numbers[who]
            seconds[who].append(timers[who].timeit(n) / (n * units))
    return Measurement(subject, seconds)


def calls_per_turn(timer):
    """How many calls fill a slot, and how long they take."""
    n = 1
    while (taken := timer.timeit(n)) < SLOT:
        n = max(2 * n, int(1.2 * n * SLOT / max(taken, 1e-9)))
    return n, taken
