"""Whole turns: joints with a larger range end as near to the first start as limits allow.

Errors are evaluated again after a turn of a joint: if the start is far away, rounding errors may be too large, and the
solution is kept then."""
import math
from collections.abc import Callable

import numpy as np

from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.lanes import extract, insert
from screw_dynamics.numbers.values import kernel, noinline

from ..jacobian import JointScrews
from .errors import errors
from .problems import ANGLE, ANGLE_LEFT, DISTANCE, DISTANCE_LEFT, LOWER, METER, SUCCESS, TURN, UPPER, LaneStates, Search
from .step import Work


@kernel
def nearest_turn(x: float, near: float, turn: float, lower: float, upper: float) -> float:
    """Return x, changed by whole turns to be as near to another position as limits allow."""
    near = max(lower, min(upper, near))         # nearest allowed x: turns of two small numbers are exact
    x -= turn * np.rint((x - near) / turn)
    if x < lower:
        return x + turn * np.ceil((lower - x) / turn)
    return x - turn * np.ceil((x - upper) / turn) if x > upper else x


@kernel
def load_turned(search: Search, at: LaneStates, lane: int, row: int) -> bool:
    """Load the solution of a problem into a lane, turned as near to its first start as limits allow. Return True if
    that is another configuration."""
    joints, turned = search.joints, False
    for i in range(len(at.q)):
        at.q[i] = insert(at.q[i], lane, search.q[row, i])
    for i in range(len(at.goals)):
        at.goals[i] = insert(at.goals[i], lane, search.goals[row, i])
    for k in range(len(search.q_indices)):
        i, turn = search.q_indices[k], joints[TURN, k]
        x = search.q[row, i]
        if turn > 0.0 and abs(x) < math.inf:
            y = nearest_turn(x, search.q0[row, i], turn, joints[LOWER, k], joints[UPPER, k])
            at.q[i], turned = insert(at.q[i], lane, y), turned or y != x
    return turned


@noinline
def keep_turned(search: Search, at: LaneStates, lane: int, row: int, angle: float, distance: float) -> None:
    """Store the configuration of a lane if a solved problem stays solved, or errors of an unsolved one do not grow."""
    found, options = search.found[row], search.options
    unsolved = 1.0 - found[SUCCESS]
    if (angle <= unsolved * found[ANGLE_LEFT] + options[ANGLE]
            and distance <= unsolved * found[DISTANCE_LEFT] + options[DISTANCE]):
        for i in range(len(at.q)):
            search.q[row, i] = extract(at.q[i], lane)
        found[ANGLE_LEFT], found[DISTANCE_LEFT] = angle, distance


@kernel
def turn_to_starts(links: Link, memory: np.ndarray, fill: Callable, body: JointScrews, frames: Frame, search: Search,
                   at: LaneStates, work: Work) -> None:
    """Change solutions by whole turns towards the first start."""
    count, N = len(at.row), len(search.q0)
    for first in range(0, N, count):
        turned = False
        for lane in range(count):
            turned = load_turned(search, at, lane, min(first + lane, N - 1)) or turned
        if turned:
            fill(links, memory, at.q, body.q)
            angle, distance = errors(links, body, frames, search.tasks, search.weights, search.columns, at.goals,
                                     work.e, work.J)
            for lane in range(min(count, N - first)):
                keep_turned(search, at, lane, first + lane, math.sqrt(extract(angle, lane)),
                            math.sqrt(extract(distance, lane)) / search.options[METER])
