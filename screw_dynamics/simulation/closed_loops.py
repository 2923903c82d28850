"""Motion that keeps constraints: configurations in which loops are closed, and velocities that keep them so, after each
step of an integrator.

Loops close by Gauss and Newton's steps, damped by the square of the residual (Levenberg, Marquardt): the shortest step
x with G x + |h| e = -h, G the gradient of the residual h and e whatever it takes, which vanishes as h does."""
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba import types

from screw_dynamics.algorithms.closed_loops import articulated, mass_matrix, rows
from screw_dynamics.algorithms.closed_loops.dynamics import LEAST, kernels
from screw_dynamics.algorithms.closed_loops.ends import place
from screw_dynamics.algorithms.closed_loops.entries import fill_coordinates, fill_placements
from screw_dynamics.algorithms.closed_loops.kinematics import Body, fill_transpose, put_residuals
from screw_dynamics.algorithms.closed_loops.shortest import combine, orthogonalize
from screw_dynamics.algorithms.closed_loops.tables import Constraints, constraints_in
from screw_dynamics.algorithms.space import coordinates_alone, displace, groups
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.cache import BATCHES, Form, compiled, prepare
from screw_dynamics.compiled.entry import lane, number
from screw_dynamics.compiled.native import address, array_at
from screw_dynamics.compiled.tiles import gather
from screw_dynamics.model.links import Link, Structure
from screw_dynamics.numbers.lanes import places
from screw_dynamics.numbers.scalars import some, sqrt, where
from screw_dynamics.numbers.tables import block, table
from screw_dynamics.numbers.values import Scalar, kernel, null

from .steps import BEGIN, load_rows, store_rows

LONGEST = 0.5           # of a step of the projection, in rad and m alike: loops are linear no further than that
TOLERANCE, STEPS = 1e-12, 20        # of the projection after a step of an integrator
# What is brought back after a step of an integrator; with NOTHING, ranks are those at the beginning.
NOTHING, VELOCITIES, CONFIGURATIONS = range(BEGIN + 1, BEGIN + 4)


class Tree(NamedTuple):
    """A robot in a workspace, and what its configurations are: fill(links, memory, q, column) fills the column of
    coordinates or Placements of `body`; space as of Motion."""

    links: Link
    body: Any
    given: Constraints
    memory: np.ndarray
    space: Any


@kernel
def close(fill: Callable, tree: Tree, free: np.ndarray, tolerance: float, steps: int, q: np.ndarray,
          scratch: np.ndarray) -> Scalar:
    """Move q (nq) to where the constraints hold, in the velocities in which free (n) is not 0. Returns the norm of the
    residual that is left, which is above the tolerance if `steps` are too few."""
    links, body, given, memory, space = tree
    problem, n, h = given.damped, len(free), given.h
    for taken in range(steps + 1):
        fill(links, memory, q, body.q)
        place(links, body)
        put_residuals(links, body, given, h)
        square = null(q[0])
        for j in range(given.m):
            square += h[j] * h[j]
        size = sqrt(square)
        wide = size > tolerance
        if taken == steps or not some(wide):
            break
        fill_transpose(links, body, given, rows.gradient, problem.Y)
        for j in range(given.m):
            for k in range(n):
                problem.Y[k, j] *= free[k]
            problem.Y[n + j, j], problem.b[0, j] = size, -h[j]
        count, _ = orthogonalize(problem, null(size) + LEAST, null(size) + np.inf)
        combine(problem, count)
        step, length = problem.x[:n], null(size)
        for k in range(n):
            length += step[k] * step[k]
        length = sqrt(length)
        share = where(wide, LONGEST / where(length > LONGEST, length, null(size) + LONGEST), null(size))
        displace(space, q, share, step, scratch)
        for k in range(len(q)):
            q[k] = scratch[k]
    return size


def settling(by: ModuleType) -> Callable:
    """The kernel `settle` for robots whose M^-1 is found in a way."""
    _, strike = kernels(by)

    @kernel
    def settle(fill, tree, what, free, q, qd, scratch):
        """Bring back what a step of an integrator has moved off the constraints, and keep the rank that they have where
        they hold, for the next step. Velocities become NaN where loops do not close."""
        links, body, given, memory, space = tree
        if what == NOTHING:
            return
        failed = null(q[0]) > 0.0
        if what == CONFIGURATIONS:
            failed = close(fill, tree, free, TOLERANCE, STEPS, q, scratch) > TOLERANCE
        fill(links, memory, q, body.q)
        gather(links.coordinate, qd, body.qd)
        most = given.most[0] if what == VELOCITIES else null(q[0]) + np.inf
        for k in range(len(qd)):
            scratch[k] = qd[k]
        rank = strike(links, body, given, most, qd)
        if what != VELOCITIES:
            given.most[0] = rank
        for k in range(len(qd)):        # at the beginning the rank alone is asked for
            qd[k] = scratch[k] if what == BEGIN else where(failed, null(qd[k]) + np.nan, qd[k])
    return settle


# ------------------------------------------------------------------------------------------------- entry points
@kernel
def scratch_in(like: Scalar, memory: np.ndarray) -> np.ndarray:
    """Memory (nq) that neither integrators nor recursions use."""
    return block(like, (int(memory[ws.CONFIGURATION]),), memory, int(memory[ws.LANES]))


@kernel
def tree_in(links_in: Callable, Body: type, space: Callable, like: Scalar, memory: np.ndarray) -> Tree:
    """The Tree in a workspace."""
    return Tree(links_in(memory), table(Body, like, int(memory[ws.SLOTS]), memory, int(memory[ws.BODY])),
                constraints_in(memory, like), memory, space(memory))


def form_of_settling(structure: Structure, lanes: bool) -> Form:
    """What is compiled of `settle`, for calls from compiled code with addresses: of workspace, what is brought back, q
    and qd."""
    by = mass_matrix if structure.shares_coordinates else articulated
    Body, fill, space = ((ws.placed(by.Body), fill_placements, groups) if structure.on_groups else
                         (by.Body, fill_coordinates, coordinates_alone))
    links_in = ws.geared_links_in if structure.geared else ws.links_in
    settle, like = settling(by), lane if lanes else number
    name = (f"loops.settle.{by.__name__.rpartition('.')[2]}{'.groups' * structure.on_groups}"
            f"{'.armature' * structure.geared}{BATCHES * lanes}")

    @compiled(name)
    def native(where_, what, q, qd):
        memory, free = ws.memory_at(where_), np.ones(int(ws.memory_at(where_)[ws.COORDINATES]))
        settle(fill, tree_in(links_in, Body, space, like(), memory), what, free,
               array_at(like(), q, (int(memory[ws.CONFIGURATION]),)), array_at(like(), qd, (len(free),)),
               scratch_in(like(), memory))
    return Form(native, (types.intp,) * 4)


@cache
def settle_address(structure: Structure, lanes: bool) -> int:
    """The address of `settle`."""
    form = form_of_settling(structure, lanes)
    _kept.append(form)
    return address(prepare(*form))


_kept: list[Form] = []          # what holds the code


def form_of_projection(on_groups: bool, lanes: bool) -> Form:
    """What is compiled of `close` for calls from Python: of workspace, configurations (N, 1, nq), which change, free
    (n,), tolerance, steps, and what is left of residuals (N, 1, 1)."""
    Table, fill, space = ((ws.placed(Body), fill_placements, groups) if on_groups else
                          (Body, fill_coordinates, coordinates_alone))
    like = lane if lanes else number

    @compiled(f"loops.project{'.groups' * on_groups}{BATCHES * lanes}", nogil=True)
    def project(memory, configurations, free, tolerance, steps, left):
        tree, scratch = tree_in(ws.links_in, Table, space, like(), memory), scratch_in(like(), memory)
        rows_ = block(like(), (2, len(scratch)), memory, int(memory[ws.RESULT]))
        q, size = rows_[0], rows_[1][:1]
        for first in range(0, len(configurations), places(like())):
            load_rows(configurations, first, 0, q)
            size[0] = close(fill, tree, free, tolerance, steps, q, scratch)
            store_rows(configurations, first, 0, q)
            store_rows(left, first, 0, size)
    numbers = ws.numbers_type(3)
    return Form(project, (ws.numbers_type(1), numbers, ws.numbers_type(1), types.float64, types.int64, numbers))


@cache
def projection(on_groups: bool, lanes: bool) -> Callable:
    """The entry point project(memory, configurations, free, tolerance, steps, left)."""
    return prepare(*form_of_projection(on_groups, lanes)).entry_point
