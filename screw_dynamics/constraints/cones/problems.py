"""Contact problems given as arrays, for tests and studies: `solve_contacts` and `solve_impacts`."""
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import lane, number
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.samples import load_rows, store_rows
from screw_dynamics.jit.kernel_cache.specs import BATCHES, KernelSpec, compiled
from screw_dynamics.numbers.lanes import WIDTH, lane_count
from screw_dynamics.numbers.memory import room
from screw_dynamics.numbers.tables import block
from screw_dynamics.utils import checks

from .at_address import solve_contacts_at, solve_impacts_at, solver_address
from .tables import COMPLEMENTARITY, DISSIPATION, DONE, FOUND, SWEPT, Cones, cones, sizes_of


class ContactSolution(NamedTuple):
    """Impulses x (..., N) and velocities v (..., N) after them; residuals (..., 3) of complementarity, cones and
    dissipation, velocities as defined by `residuals.measure`; sweeps (...); converged: True where these residuals are
    rounding."""

    x: np.ndarray
    v: np.ndarray
    residuals: np.ndarray
    sweeps: np.ndarray
    converged: np.ndarray


def spec_of_problems(lanes: bool) -> KernelSpec:
    """Return the KernelSpec of contact problems. Arguments: address of the solver; numbers of rows within bounds and of
    contacts; contact indices of spins and rolls; flag for impacts and their threshold; problems (B, 1, the numbers from
    G to roll_mu); memory; and results (B, 1, 2 N + FOUND)."""
    like = lane if lanes else number

    @compiled(f"contacts.arrays{BATCHES * lanes}", nogil=True)
    def problems_of(solver, u, m, spin_of, roll_of, impacts, threshold, problems, memory, results):
        spins, rolls, unit = len(spin_of), len(roll_of), lane_count(like())
        given, many = cones(like(), u, m, memory, 0, spins, rolls), problems.shape[2]
        inputs = block(like(), (many,), memory, 0)
        found = block(like(), (2 * len(given.x) + FOUND,), memory, unit * many)
        for k in range(spins):
            given.spin_of[k] = spin_of[k]
        for k in range(rolls):
            given.roll_of[k] = roll_of[k]
        for first in range(0, len(problems), unit):
            load_rows(problems, first, 0, inputs)
            for k in range(len(given.ends)):
                given.ends[k] = float(len(given.ends))
            if impacts:
                solve_impacts_at(solver, given, threshold)
            else:
                solve_contacts_at(solver, given)
            store_rows(results, first, 0, found)
    line = ws.read_type(1)
    return KernelSpec(problems_of, ("intp", "int64", "int64", line, line, "boolean", "float64", ws.read_type(3),
                                    ws.numbers_type(1), ws.numbers_type(3)))


@cache
def entry_of_problems(lanes: bool) -> Callable:
    """Return the entry point of spec_of_problems."""
    return function(spec_of_problems(lanes))


def contact_numbers(name: str, x: ArrayLike | None, m: int) -> np.ndarray:
    """Return the contact indices (k) of additional rows; empty for None."""
    of = np.zeros(0) if x is None else checks.finite_numbers(name, x).astype(float).ravel()
    if ((of < 0) | (of >= m) | (of % 1.0 != 0.0)).any():
        raise ValueError(f"{name} must be numbers of contacts, 0 to {m - 1}, not {of.tolist()}")
    return of


def coefficients(name: str, x: ArrayLike | None, size: int) -> np.ndarray:
    """Return coefficients of friction (..., size)."""
    found = checks.finite_numbers(name, np.zeros(0) if x is None else x, size)
    if (found < 0.0).any():
        raise ValueError(f"{name} must be >= 0, but the least is {found.min()}")
    return found


class Contacts(NamedTuple):
    """Rows besides those of contacts, and the active contacts; as for `solve_contacts`."""

    lower: ArrayLike | None = None
    upper: ArrayLike | None = None
    active: ArrayLike | None = None
    spin_mu: ArrayLike | None = None
    spin_of: ArrayLike | None = None
    roll_mu: ArrayLike | None = None
    roll_of: ArrayLike | None = None


def solved(impacts: bool, G: ArrayLike, c: ArrayLike, mu: ArrayLike, rest: Contacts, restitution: ArrayLike = 0.0,
           threshold: float = 0.0) -> ContactSolution:
    """Solve contact problems, or impacts."""
    m = np.shape(mu)[-1] if np.ndim(mu) else 0
    if np.ndim(mu) == 0:
        raise ValueError(f"mu must have a number for each contact, (..., m), not {checks.described(mu)}")
    spin_of, roll_of = contact_numbers("spin_of", rest.spin_of, m), contact_numbers("roll_of", rest.roll_of, m)
    u = 0 if rest.lower is None else np.shape(rest.lower)[-1]
    sizes = sizes_of(u, m, len(spin_of), len(roll_of))
    N = sizes.N
    G, c = checks.finite_numbers("G", G, N, N), checks.finite_numbers("c", c, N)
    lower, upper = (checks.real_numbers(name, np.zeros(0) if x is None else x, u)
                    for name, x in (("lower", rest.lower), ("upper", rest.upper)))
    if not (lower <= upper).all():
        raise ValueError("lower must be <= upper in each row")
    bounce = np.broadcast_to(restitution, np.broadcast_shapes(np.shape(restitution), (m,)))
    if not ((bounce >= 0.0) & (bounce <= 1.0)).all():
        raise ValueError(f"restitution must be in [0, 1], not {checks.described(restitution)}")
    parts = dict(G=G.reshape(*G.shape[:-2], N * N), c=c, size=G.diagonal(axis1=-2, axis2=-1), lower=lower, upper=upper,
                 mu=coefficients("mu", mu, m),
                 active=checks.real_numbers("active", np.ones(m) if rest.active is None else rest.active, m),
                 restitution=bounce, spin_mu=coefficients("spin_mu", rest.spin_mu, len(spin_of)),
                 roll_mu=coefficients("roll_mu", rest.roll_mu, len(roll_of)))
    together = np.concatenate(checks.broadcast(parts), axis=-1, dtype=float)
    lead, many = together.shape[:-1], int(np.prod(together.shape[:-1]))
    results = np.empty((many, 1, 2 * N + FOUND))
    memory = np.zeros(room(Cones, sizes, WIDTH))
    entry = entry_of_problems(bool(lead))
    entry(solver_address(bool(lead)), u, m, spin_of, roll_of, impacts, float(threshold), together.reshape(many, 1, -1),
          memory, results)
    results = results.reshape(*lead, -1)
    found = results[..., 2 * N:]
    return ContactSolution(results[..., :N], results[..., N:2 * N], found[..., COMPLEMENTARITY:DISSIPATION + 1],
                           found[..., SWEPT].astype(int), found[..., DONE] > 0.0)


def solve_contacts(G: ArrayLike, c: ArrayLike, mu: ArrayLike, lower: ArrayLike | None = None,
                   upper: ArrayLike | None = None, *, active: ArrayLike | None = None,
                   spin_mu: ArrayLike | None = None, spin_of: ArrayLike | None = None,
                   roll_mu: ArrayLike | None = None, roll_of: ArrayLike | None = None) -> ContactSolution:
    """Compute impulses x (..., N) with velocities v = c + G x for rows within bounds, contacts, and torsional and
    rolling friction.

    G (..., N, N): Delassus operator J M^-1 J^T, symmetric and positive semidefinite. c (..., N): velocities without
    impulses; gap / h added to normal velocities. Rows: u with lower <= x <= upper (..., u); three for each of m
    contacts, t1, t2, n, with friction mu (..., m) and active (..., m), by default all; one for each spin, torsional
    friction spin_mu (..., spins), in m, of the contacts spin_of (spins); two for each roll, roll_mu and roll_of.
    Leading axes are independent problems. Raises ValueError for non-finite numbers, friction < 0, upper < lower."""
    return solved(False, G, c, mu, Contacts(lower, upper, active, spin_mu, spin_of, roll_mu, roll_of))


def solve_impacts(G: ArrayLike, c: ArrayLike, mu: ArrayLike, restitution: ArrayLike, threshold: float = 0.0,
                  lower: ArrayLike | None = None, upper: ArrayLike | None = None, *, active: ArrayLike | None = None,
                  spin_mu: ArrayLike | None = None, spin_of: ArrayLike | None = None,
                  roll_mu: ArrayLike | None = None, roll_of: ArrayLike | None = None) -> ContactSolution:
    """Compute impulses x and velocities v after impacts, for true velocities c before them. Other arguments as for
    `solve_contacts`.

    restitution (..., m) in [0, 1]: for contacts that approach faster than a threshold (m/s). They strike in rounds, see
    cones/impacts.py; `sweeps` counts the rounds, and `converged` is False if contacts still approach after the last
    one."""
    return solved(True, G, c, mu, Contacts(lower, upper, active, spin_mu, spin_of, roll_mu, roll_of),
                  restitution=restitution, threshold=threshold)
