"""Search for configurations: steps from a sequence of starts, for as many problems at once as there are lanes.

A lane whose problem has ended takes the next one: none waits for the slowest."""
import math
from collections.abc import Callable
from functools import cache

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import ending, number
from screw_dynamics.compiled.algorithm import lane as lane_value
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.tiles import gather
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.model.group_joints import configure
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.lanes import extract, insert, lane_count
from screw_dynamics.numbers.memory import arranged
from screw_dynamics.numbers.scalars import absolute, some, where
from screw_dynamics.numbers.tables import taking
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null
from screw_dynamics.screws.joint import Placement, pose
from screw_dynamics.screws.vectors import cross

from ..jacobian import JointScrews
from .errors import GOAL, errors, pose_at
from .problems import (
    ANGLE,
    ANGLE_LEFT,
    ATTEMPTS,
    BEFORE,
    DAMPING,
    DESCENDS,
    DISTANCE,
    DISTANCE_LEFT,
    FACTOR,
    GAIN,
    GIVEN,
    GOOD,
    LEAST,
    LONGEST,
    LOWER,
    MADE,
    METER,
    MOVED,
    NOT_RIGID,
    PASSES,
    PATIENCE,
    REST,
    SETTLED,
    SINCE,
    STARTS,
    STEPS,
    STIFFER,
    SUCCESS,
    UPPER,
    LaneStates,
    Search,
    lane_states_in,
    sizes_of,
)
from .step import Work, step_in_box
from .turns import turn_to_starts

DESCENT = 100           # largest number of steps from the best configuration of a problem that no attempt has solved


@kernel
def fill_coordinates(links: Link, memory: np.ndarray, q: list, column: list) -> None:
    """Fill a column with the coordinates of all joints."""
    gather(links.coordinate, q, column)


@kernel
def update_coordinates(links: Link, memory: np.ndarray, slots: np.ndarray, q: list, column: list) -> None:
    """Update the moving coordinates in a column."""
    for i in slots:
        column[i] = q[links.coordinate[i]]


@kernel
def fill_placements(links: Link, memory: np.ndarray, q: list, column: list) -> None:
    """Fill a column with the placements of a configuration."""
    configure(links, ws.pose_sources_in(memory), q, column)


@kernel
def update_placements(links: Link, memory: np.ndarray, slots: np.ndarray, q: list, column: list) -> None:
    """Update the moving placements in a column."""
    start = ws.pose_sources_in(memory).start
    for i in slots:
        column[i] = Placement(pose(links.E[i], q[start[i]]), 0)


@kernel
def is_needed(search: Search, e: list, lane: int, i: int) -> bool:
    """Return True if a coordinate moves a frame that is not at its goal."""
    for t in range(len(search.moves)):
        if search.moves[t, i]:
            for r in range(6):
                tolerance = search.options[ANGLE] if r < 3 else search.options[METER] * search.options[DISTANCE]
                if not abs(extract(e[6 * t + r], lane)) <= tolerance:
                    return True
    return False


@noinline
def begin(search: Search, at: LaneStates, e: list, lane: int) -> None:
    """Begin an attempt in a lane.

    The first begins at q0 if it is given. Others begin at the next start, but coordinates that move only frames at
    their goals stay. After the last start, a descent begins at the best configuration."""
    joints, moving, row, attempt = search.joints, search.q_indices, at.row[lane], at.attempt[lane]
    last = attempt == int(search.options[ATTEMPTS])
    if last:
        for i in moving:
            at.q[i] = insert(at.q[i], lane, search.q[row, i])
    elif attempt > 0 or search.options[GIVEN] == 0.0:
        for i in range(len(moving)):
            if attempt == 0 or is_needed(search, e, lane, i):
                at.q[moving[i]] = insert(at.q[moving[i]], lane, search.starts[attempt, i])
    for i in range(len(moving)):
        x = extract(at.q[moving[i]], lane)
        at.q[moving[i]] = insert(at.q[moving[i]], lane, max(joints[LOWER, i], min(joints[UPPER, i], x)))
    for i, x in ((GOOD, math.inf), (SINCE, 0.0), (MADE, search.options[STEPS] - DESCENT if last else 0.0),
                 (MOVED, math.inf), (DESCENDS, 1.0 if last else 0.0), (BEFORE, math.inf), (STIFFER, 1.0)):
        at.state[i] = insert(at.state[i], lane, x)


@kernel
def not_rigid(x: np.ndarray, k: int) -> float:
    """Return the largest deviation from a rotation of the rows of three numbers at x[k], x[k + 4] and x[k + 8]."""
    C = pose_at(x, k).R
    z = cross(C.x, C.y) - C.z
    return max(abs(C.x @ C.x - 1.0), abs(C.y @ C.y - 1.0), abs(C.x @ C.y), abs(z.x), abs(z.y), abs(z.z))


@noinline
def load(search: Search, at: LaneStates, e: list, lane: int, row: int) -> None:
    """Load a problem into a lane, and begin its first attempt."""
    at.row[lane], at.attempt[lane], at.best[lane] = row, 0, math.inf
    search.found[row, SUCCESS] = search.found[row, NOT_RIGID] = 0.0
    for k in range(0, len(at.goals), GOAL):
        search.found[row, NOT_RIGID] = max(search.found[row, NOT_RIGID], not_rigid(search.goals[row], k))
    for i in range(len(at.q)):
        at.q[i] = insert(at.q[i], lane, search.q0[row, i])
    for i in range(len(at.goals)):
        at.goals[i] = insert(at.goals[i], lane, search.goals[row, i])
    begin(search, at, e, lane)


@noinline
def keep(search: Search, at: LaneStates, lane: int, within: bool, cost: float, angle: float, distance: float) -> None:
    """Store the configuration of a lane if it is the first solution, or nearer to the preferred configuration than
    other solutions; without a solution, if it is nearer to the goals."""
    row, joints = at.row[lane], search.joints
    solved = search.found[row, SUCCESS] == 1.0
    if within:
        cost = 0.0
        for k in range(len(search.q_indices)):
            cost += joints[GAIN, k] * (extract(at.q[search.q_indices[k]], lane) - joints[REST, k]) ** 2
    first = at.attempt[lane] == 0 and not solved
    if (within and not solved) or (within == solved and (first or cost < at.best[lane])):
        at.best[lane] = cost
        for i in range(len(at.q)):
            search.q[row, i] = extract(at.q[i], lane)
        search.found[row, SUCCESS] = 1.0 if within else 0.0
        search.found[row, ANGLE_LEFT] = math.sqrt(angle)
        search.found[row, DISTANCE_LEFT] = math.sqrt(distance) / search.options[METER]


@kernel
def go_back(search: Search, at: LaneStates, cost: Scalar) -> Scalar:
    """Return to the previous configuration and raise the damping if a descent is required and the error has not
    decreased; else lower the damping.

    Returns 1 where it went back, else 0."""
    descends, moving, state = at.state[DESCENDS] > 0.0, search.q_indices, at.state
    worse = descends & (cost > state[BEFORE])
    for k in range(len(moving)):
        at.q[moving[k]] = where(worse, at.past[k], at.q[moving[k]])
        at.past[k] = at.q[moving[k]]
    lower = where(state[STIFFER] > 3.0, state[STIFFER] / 3.0, null(cost) + 1.0)
    state[STIFFER], state[BEFORE] = where(worse, 8.0 * state[STIFFER], lower), where(worse, state[BEFORE], cost)
    state[SINCE] = where(descends, null(cost), state[SINCE])
    return where(worse, null(cost) + 1.0, null(cost))


@kernel
def advance(search: Search, at: LaneStates, work: Work, cost: Scalar, fresh: Scalar) -> None:
    """Make a step in all lanes that have not just begun."""
    joints, options, moving, q = search.joints, search.options, search.q_indices, at.q
    longest, moved = options[LONGEST], null(cost)
    for k in range(len(moving)):
        x = q[moving[k]]
        down, up = joints[LOWER, k] - x, joints[UPPER, k] - x
        work.z[k] = joints[GAIN, k] * (joints[REST, k] - x)
        work.least[k], work.most[k] = where(down < -longest, -longest, down), where(up > longest, longest, up)
    damping = at.state[STIFFER] * (options[DAMPING] * cost + options[LEAST])
    step_in_box(work, search.moves, damping, int(options[PASSES]))
    for k in range(len(moving)):
        d, x = where(fresh > 0.0, null(cost), work.d[k]), q[moving[k]]
        moved = where(absolute(d) > moved, absolute(d), moved)
        x += d
        q[moving[k]] = where(x < joints[LOWER, k], joints[LOWER, k], where(x > joints[UPPER, k], joints[UPPER, k], x))
    at.state[MOVED] = where(fresh > 0.0, at.state[MOVED], moved)


@kernel
def run(Table: type, fill: Callable, update: Callable, like: Scalar, memory: np.ndarray, work_memory: np.ndarray,
        search: Search) -> None:
    """Search for all problems.

    Table: the table of `errors`; fill(links, memory, q, column) and update(links, memory, slots, q, column): compute
    its first column from q, for all slots, and for slots with moving joints."""
    links, frames, options, N = ws.links_in(memory), ws.frames_in(memory), search.options, len(search.q0)
    body = ws.body_on_lanes(Table, memory, like)
    sizes = sizes_of(search)
    work, at = arranged(Work, like, sizes, work_memory, 0), lane_states_in(like, sizes, work_memory)
    state, attempts = at.state, int(options[ATTEMPTS])
    following, alive = 0, 0
    for lane in range(lane_count(like)):
        load(search, at, work.e, lane, min(lane, N - 1))      # those past the end are idle, but need numbers
        if lane < N:
            following, alive = following + 1, alive + 1
        else:
            at.row[lane] = -1
    fill(links, memory, at.q, body.q)
    while alive:
        update(links, memory, search.slots, at.q, body.q)
        angle, distance = errors(links, body, frames, search.tasks, search.weights, search.columns, at.goals, work.e,
                                 work.J)
        cost = null(like)
        for x in work.e:
            cost += x * x
        within = ((angle <= options[ANGLE] ** 2) & (distance <= (options[METER] * options[DISTANCE]) ** 2)
                  & (cost < math.inf))
        falls = cost < options[FACTOR] * state[GOOD]
        state[GOOD] = where(within, null(like) + math.inf, where(falls, cost, state[GOOD]))
        state[SINCE] = where(falls | within, null(like), state[SINCE] + 1.0)
        state[MADE] += 1.0
        settled = within & (state[MOVED] <= options[SETTLED])
        fresh, loaded = null(like), False
        if some(state[DESCENDS] > 0.0):
            fresh = go_back(search, at, cost)
        ended = settled | (state[SINCE] > options[PATIENCE]) | (state[MADE] > options[STEPS]) & (fresh < 1.0)
        if some(ended | within):
            for lane in range(lane_count(like)):
                row = at.row[lane]
                if row >= 0 and (extract(ended, lane) or extract(within, lane)):
                    keep(search, at, lane, extract(within, lane), extract(cost, lane), extract(angle, lane),
                         extract(distance, lane))
                    if extract(ended, lane):
                        fresh = insert(fresh, lane, 1.0)
                        at.attempt[lane] += 1
                        if search.found[row, SUCCESS] == 0.0 and at.attempt[lane] <= attempts:
                            begin(search, at, work.e, lane)
                        else:
                            search.found[row, STARTS] = min(at.attempt[lane], attempts)
                            if following < N:
                                load(search, at, work.e, lane, following)
                                following, loaded = following + 1, True
                            else:
                                at.row[lane] = -1
                                alive -= 1
        if loaded:
            fill(links, memory, at.q, body.q)
        advance(search, at, work, cost, fresh)
    turn_to_starts(links, memory, fill, body, frames, search, at, work)


# ------------------------------------------------------------------------------------------------- entry points
_NUMBERS, _ROWS, _READ = ws.numbers_type(1), ws.numbers_type(2), ws.read_type(2)
_WORDS, _WORD_ROWS = ws.read_type(1, dtype="int64"), ws.read_type(2, dtype="int64")
SIGNATURE = (_NUMBERS, _NUMBERS, _WORD_ROWS, _WORD_ROWS, _READ, _WORDS, _WORDS, _WORDS, _READ, ws.read_type(1), _READ,
             _READ, _READ, _ROWS, _ROWS)


def spec(lanes: bool, on_groups: bool = False) -> KernelSpec:
    """Return the specialization of the search: for one problem at a time and all robots; or on lanes, for robots with
    Lie-group joints, or without."""
    Table = taking(JointScrews, ("q",))
    Table, fill, update = ((ws.placed(Table), fill_placements, update_placements) if on_groups or not lanes else
                           (Table, fill_coordinates, update_coordinates))
    like = lane_value if lanes else number

    @compiled(f"inverse_kinematics{ending(lanes, on_groups)}", nogil=True)
    def search(memory, work, tasks, moves, weights, columns, q_indices, slots, joints, options, goals, q0, starts, q,
               found):
        run(Table, fill, update, like(), memory, work, Search(
            tasks, moves, weights, columns, q_indices, slots, joints, options, goals, q0, starts, q, found))
    return KernelSpec(search, SIGNATURE)


@cache
def entry_point(lanes: bool, on_groups: bool) -> Callable:
    """Return the compiled search."""
    return function(spec(lanes, on_groups))
