"""The solver of contact problems as machine code at an address: compiled once for all callers."""
from functools import cache

from screw_dynamics.compiled.algorithm import lane, number
from screw_dynamics.compiled.native import address_of, array_at, at, call
from screw_dynamics.jit.kernel_cache.specs import BATCHES, KernelSpec, compiled
from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.values import kernel

from .impacts import solve_impacts
from .solver import solve_cones
from .tables import Cones, cones, numbers


def spec_of_solver(lanes: bool) -> KernelSpec:
    """Return the KernelSpec of the solver. Arguments: address of a Cones; the numbers u, m, spins and rolls of its
    rows; 1 for impacts or 0; and the threshold of impacts."""
    like = lane if lanes else number

    @compiled(f"contacts.solver{BATCHES * lanes}")
    def native(where_, u, m, spins, rolls, impacts, threshold):
        memory = array_at(0.0, where_, (lane_count(like()) * numbers(u, m, spins, rolls),))
        given = cones(like(), u, m, memory, 0, spins, rolls)
        if impacts != 0:
            solve_impacts(given, like() + threshold)
        else:
            solve_cones(given)
    return KernelSpec(native, ("intp",) * 6 + ("float64",))


@cache
def solver_address(lanes: bool) -> int:
    """Return the address for `solve_contacts_at` and `solve_impacts_at`. lanes: for a Cones on lanes."""
    return address_of(spec_of_solver(lanes))


@kernel
def solve_contacts_at(solver: int, given: Cones) -> None:
    """Call `solve_cones` at an address."""
    call(solver, (at(given.G), len(given.lower), len(given.mu), len(given.spin_of), len(given.roll_of), 0, 0.0))


@kernel
def solve_impacts_at(solver: int, given: Cones, threshold: float) -> None:
    """Call `solve_impacts` at an address."""
    call(solver, (at(given.G), len(given.lower), len(given.mu), len(given.spin_of), len(given.roll_of), 1, threshold))
