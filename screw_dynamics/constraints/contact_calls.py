"""What steps with contacts call at addresses: detection and the solver, compiled once for all robots."""
from functools import cache

from numba import types

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.entry import lane, number
from screw_dynamics.compiled.native import address
from screw_dynamics.contact.detection import list_touches
from screw_dynamics.kernel_cache.cache import BATCHES, Form, compiled, prepare

from .cones import cones_in, solve_cones
from .contact_tables import FOUND, MISSED, contacts_in


def form_of_detection(lanes: bool) -> Form:
    """What is compiled of `list_touches`, for solids in their places in the workspace at an address."""
    like = lane if lanes else number

    @compiled(f"contacts.detect{BATCHES * lanes}")
    def native(where):
        given = contacts_in(ws.memory_at(where), like())
        count, missed = list_touches(given.geometry, given.settings.margin[0], given.contact, given.settings.most[0])
        given.counts[FOUND], given.counts[MISSED] = float(count), float(missed)
    return Form(native, (types.intp,))


def form_of_solver(lanes: bool) -> Form:
    """What is compiled of `solve_cones`, for u rows of joints and a number of contacts in the workspace."""
    like = lane if lanes else number

    @compiled(f"contacts.solve{BATCHES * lanes}")
    def native(where, u, count):
        given = contacts_in(ws.memory_at(where), like())
        solve_cones(cones_in(like(), u, count, given.memory, given.cones))
    return Form(native, (types.intp,) * 3)


@cache
def contact_addresses(lanes: bool) -> tuple[int, int]:
    """The addresses of both."""
    made = []
    for form in (form_of_detection(lanes), form_of_solver(lanes)):
        _kept.append(form)
        made.append(address(prepare(*form)))
    return made[0], made[1]


_kept: list[Form] = []          # what holds the code
