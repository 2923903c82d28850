"""Data of an inverse kinematics search: its options, its problems, and the lanes that solve them."""
from collections import namedtuple
from typing import Annotated, NamedTuple

import numpy as np

from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.memory import arranged, room
from screw_dynamics.numbers.values import Scalar, kernel

from .errors import GOAL
from .step import Work

# Rows of a table of joints (JOINTS, a), for the moving coordinates: limits; a full turn for joints with a larger
# range, else 0; preferred position; and fraction of the way to it in a step.
LOWER, UPPER, TURN, REST, GAIN = range(5)
JOINTS = 5
# Options of a search: tolerances, rad and m; weight of a meter, in rad; damping per squared error and its minimum;
# largest step of a coordinate; required factor of decrease of the error, and in how many steps; largest number of steps
# of an attempt, and of attempts; solves per step; 1 if the first start is given; largest step of a settled search.
ANGLE, DISTANCE, METER, DAMPING, LEAST, LONGEST, FACTOR, PATIENCE, STEPS, ATTEMPTS, PASSES, GIVEN, SETTLED = range(13)
OPTIONS = 13
# Columns of the result of each problem, beside q.
SUCCESS, ANGLE_LEFT, DISTANCE_LEFT, STARTS, NOT_RIGID = range(5)    # deviation of the goals from poses
FOUND = 5
GOOD, SINCE, MADE, MOVED, DESCENDS, BEFORE, STIFFER = range(7)      # rows of LaneStates.state
STATES = 7


class Search(NamedTuple):
    """The input of a search, for N problems.

    Tasks (T, 2), masks of the coordinates that move their frames (T, a), and weights (T, 6) of their errors; columns
    (n) of coordinates, or -1; q indices (a) of the moving coordinates; slots of the bodies that they move; joints
    (JOINTS, a) and options as above; goals (N, T GOAL), and q0 (N, nq), the first start and the coordinates that do not
    move; starts (attempts, a). Results: q (N, nq) and found (N, FOUND)."""

    tasks: np.ndarray
    moves: np.ndarray
    weights: np.ndarray
    columns: np.ndarray
    q_indices: np.ndarray
    slots: np.ndarray
    joints: np.ndarray
    options: np.ndarray
    goals: np.ndarray
    q0: np.ndarray
    starts: np.ndarray
    q: np.ndarray
    found: np.ndarray


# Rows of errors, moving coordinates, numbers in q, and numbers of goals.
Sizes = namedtuple("Sizes", "m a nq goals")


class LaneStates(NamedTuple):
    """The state of each lane: its problem, -1 for none; its attempt, from 0; the lowest cost of its problem so far.

    Rows of lanes: the configuration q, its moving coordinates one step before, the goals, and state: the error to fall
    below, number of steps since the last decrease, number of steps, and length of the last; 1 if the error must
    decrease in each step, the error one step before, and the factor by which the damping is raised for that."""

    row: np.ndarray
    attempt: np.ndarray
    best: np.ndarray
    q: Annotated[np.ndarray, "nq"]
    past: Annotated[np.ndarray, "a"]
    goals: Annotated[np.ndarray, "goals"]
    state: Annotated[np.ndarray, STATES]


@kernel
def sizes_of(search: Search) -> Sizes:
    """Return the Sizes of a search."""
    T = len(search.tasks)
    return Sizes(6 * T, len(search.q_indices), search.q0.shape[1], GOAL * T)


def memory_size(sizes: Sizes) -> int:
    """Return the count of numbers per lane that a search needs."""
    return room(Work, sizes) + room(LaneStates, sizes)


@kernel
def lane_states_in(like: Scalar, sizes: Sizes, memory: np.ndarray) -> LaneStates:
    """Return idle lanes."""
    count = lane_count(like)
    return arranged(LaneStates, like, sizes, memory, count * room(Work, sizes),
                    np.full(count, -1), np.zeros(count, np.int64), np.zeros(count))
