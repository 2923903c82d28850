"""Functions that steps with contacts call at addresses: collision detection and the solver, compiled once for all
robots, and accelerations that leave M^-1 in the workspace for contacts."""
from functools import cache

import numpy as np

from screw_dynamics.algorithms.group_rates import forward_on_groups
from screw_dynamics.collision.narrow_phase import ALL_KINDS, SIMPLE_KINDS, lister
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import CompiledAlgorithm, lane, number, per_joint
from screw_dynamics.compiled.native import address_of
from screw_dynamics.jit.kernel_cache.specs import BATCHES, KernelSpec, compiled
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import kernel

from .. import articulated
from ..cones.at_address import solver_address, spec_of_solver
from .motion import OF_STEPS, with_motion
from .tables import FOUND, MISSED, contacts_in


def spec_of_detection(lanes: bool, simple: bool) -> KernelSpec:
    """Return the KernelSpec of `list_touches` for the located colliders of the workspace at an address. simple: see
    `are_simple`."""
    like, list_touches = lane if lanes else number, lister(SIMPLE_KINDS if simple else ALL_KINDS)

    @compiled(f"contacts.detect{'.simple' * simple}{BATCHES * lanes}")
    def native(where):
        given = contacts_in(ws.memory_at(where), like())
        count, missed = list_touches(given.geometry, given.settings.margin[0], given.contact, given.settings.most[0])
        given.counts[FOUND], given.counts[MISSED] = float(count), float(missed)
    return KernelSpec(native, ("intp",))


def specs(lanes: bool) -> tuple[KernelSpec, ...]:
    """Return the KernelSpecs of collision detection, simple and general, and of the solver."""
    return spec_of_detection(lanes, True), spec_of_detection(lanes, False), spec_of_solver(lanes)


@cache
def detection_address(lanes: bool, simple: bool) -> int:
    """Return the address of collision detection."""
    return address_of(spec_of_detection(lanes, simple))


def contact_addresses(lanes: bool, simple: bool) -> tuple[int, int]:
    """Return the addresses of collision detection and of the solver."""
    return detection_address(lanes, simple), solver_address(lanes)


@kernel
def factors_and_accelerations(links: Link, body: articulated.InverseFactors, qdd: np.ndarray) -> None:
    """Add to qdd the joint accelerations, and fill the columns of InverseFactors."""
    articulated.factorize(links, body, None)
    articulated.add_free(links, body, None, qdd)


LEAVES_FACTORS = "contacts.acceleration"        # prefix of the names of such entry points
ACCELERATION = CompiledAlgorithm(forward_on_groups(factors_and_accelerations), with_motion(articulated.InverseFactors),
                                 " ".join(OF_STEPS), per_joint, name=LEAVES_FACTORS, rare=True)
