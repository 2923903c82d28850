"""Entry point for contact queries without motion, for one or many configurations."""
from collections.abc import Callable
from functools import cache

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import ending, lane, number, per_joint
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.samples import load_rows, store_rows
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import null, zero
from screw_dynamics.screws.vectors import Vec3

from ..ends import compute_poses
from ..entries import fill_placements
from ..kinematics import ConstraintKinematics
from .motion import locate_colliders, put_origins, with_motion
from .reports import put_touch
from .search import detect_contacts, reset_report
from .tables import FOUND, MISSED, RESIDUALS, contacts_in


def spec_of_touches(lanes: bool) -> KernelSpec:
    """Return the KernelSpec of collision detection for calls from Python. Arguments: workspace; addresses, the first
    that of detection; configurations (N, 1, nq); and reports (N, 1, numbers) as in tables.py, without residuals and
    forces."""
    Table, like = ws.placed(with_motion(ConstraintKinematics)), lane if lanes else number

    @compiled(f"contacts.touches{ending(lanes, False)}", nogil=True)
    def touches(memory, calls, configurations, reports):
        links, body, given = ws.links_in(memory), ws.body_on_lanes(Table, memory, like()), contacts_in(memory, like())
        q = block(like(), (configurations.shape[2],), memory, ws.header(memory).lanes)
        for start in range(0, len(configurations), lane_count(like())):
            load_rows(configurations, start, 0, q)
            fill_placements(links, memory, q, body.q)
            compute_poses(links, body)
            put_origins(links, body)
            reset_report(given)
            locate_colliders(body, given.geometry)
            detect_contacts(given, calls)
            given.report[RESIDUALS] = null(given.report[0]) + given.counts[MISSED]
            for k in range(int(given.counts[FOUND])):
                put_touch(given, k, k, zero(Vec3, q[0]))
            store_rows(reports, start, 0, given.report)
    return KernelSpec(touches, (ws.numbers_type(1), ws.read_type(1, dtype="int64"), ws.read_type(3),
                                ws.numbers_type(3)))


for _Table in (with_motion(ConstraintKinematics),):
    ws.reserve(_Table, per_joint)


@cache
def entry_of_touches(lanes: bool) -> Callable:
    """Return the entry point touches(memory, calls, configurations, reports)."""
    return function(spec_of_touches(lanes))
