"""Data of an inverse kinematics search: its options, its problems, and the lanes that work on them."""
from collections import namedtuple
from typing import Annotated, NamedTuple

import numpy as np

from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.memory import arranged, room
from screw_dynamics.numbers.values import Scalar, kernel

from .errors import GOAL
from .step import Work

# Rows of a table of joints (JOINTS, a), of the coordinates that move: limits, what a turn is of joints that can make
# more than one, else 0, preferred position, and the share of the way to it that is wanted in a step.
LOWER, UPPER, TURN, REST, GAIN = range(5)
JOINTS = 5
# Numbers of a search: tolerances, rad and m; what a meter counts; damping per squared error and its least; the longest
# step of a coordinate; the factor by which an error must fall, and in how many steps; steps of an attempt at most;
# attempts at most; solves of a step; 1 where the first start is given; the longest step of a search that has settled.
ANGLE, DISTANCE, METER, DAMPING, LEAST, LONGEST, FACTOR, PATIENCE, STEPS, ATTEMPTS, PASSES, GIVEN, SETTLED = range(13)
OPTIONS = 13
# Columns of what is found of each problem, beside q.
SUCCESS, ANGLE_LEFT, DISTANCE_LEFT, STARTS, NOT_RIGID = range(5)    # by how much the goals are no poses
FOUND = 5
GOOD, SINCE, MADE, MOVED, DESCENDS, BEFORE, STIFFER = range(7)      # rows of Places.state
STATES = 7


class Search(NamedTuple):
    """The input of a search: tasks (T, 2), which coordinates move their frames (T, a), and the weights (T, 6) of their
    errors; columns (n), in which a coordinate is, or -1; q indices (a) of those that move; slots of the bodies that
    they move; joints (JOINTS, a) and options as above; N problems: goals (N, T GOAL), and q0 (N, nq), the first start
    and what does not move; starts (attempts, a). Results: q (N, nq) and found (N, FOUND)."""

    tasks: np.ndarray
    moves: np.ndarray
    weights: np.ndarray
    columns: np.ndarray
    places: np.ndarray
    slots: np.ndarray
    joints: np.ndarray
    options: np.ndarray
    goals: np.ndarray
    q0: np.ndarray
    starts: np.ndarray
    q: np.ndarray
    found: np.ndarray


# Rows of errors, coordinates that move, numbers in q, and numbers of goals.
Sizes = namedtuple("Sizes", "m a nq goals")


class Places(NamedTuple):
    """The state of each lane: its problem, -1 for none; its attempt, from 0 on; and the cost of the best configuration
    of its problem so far. Rows of lanes: the configuration q, what moves of it one step before, the goals, and state:
    the error to fall below, since how many steps it has not, steps made, and the length of the last; 1 where the error
    must fall with each step, the error one step before, and by how much the damping is raised for that."""

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
    return Sizes(6 * T, len(search.places), search.q0.shape[1], GOAL * T)


def memory_size(sizes: Sizes) -> int:
    """Return the count of numbers that a search needs for each lane."""
    return room(Work, sizes) + room(Places, sizes)


@kernel
def places_in(like: Scalar, sizes: Sizes, memory: np.ndarray) -> Places:
    """Idle places."""
    count = lane_count(like)
    return arranged(Places, like, sizes, memory, count * room(Work, sizes),
                    np.full(count, -1), np.zeros(count, np.int64), np.zeros(count))
