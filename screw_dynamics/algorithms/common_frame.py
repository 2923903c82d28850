"""Common frame for the screws of all bodies: axes of the world, origin of the last body."""
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Pose, identity


@kernel
def place(links: Link, q: list, C: list) -> None:
    """Fill C with the poses of the world and of the bodies in the common frame.

    Positions are summed from that of the first body: the distance of a robot from the world's origin costs no
    precision."""
    parent, n, one = links.parent, len(links.parent) - 1, identity(q[0])
    C[0] = one if n == 0 else Pose(one.R, -pose(links.E[1], q[1]).p)
    for i in range(1, n + 1):
        C[i] = C[parent[i]] @ pose(links.E[i], q[i])
    origin = C[n].p
    for i in range(n + 1):
        C[i] = Pose(C[i].R, C[i].p - origin)
