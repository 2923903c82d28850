"""Where spatial twists are: in the world, or in a frame of the same axes near the robot.

About the world's origin digits are lost with the robot's distance from it; about a point near it they are not."""
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import composed
from screw_dynamics.screws.se3 import Pose, identity


@kernel
def about_world(links: Link, q: list, C: list) -> None:
    """Fill C with the poses of the bodies in the world."""
    C[0] = identity(q[0])
    for i in range(1, len(q)):
        C[i] = composed(links.E[i], q[i], C[links.parent[i]], pose(links.E[i], q[i]))


@kernel
def near(links: Link, q: list, C: list) -> None:
    """Fill C with the poses of the bodies about the origin of the last one, as the package's common frame has it.
    Positions are summed from that of the first body on, whose distance from the world's origin does not enter."""
    n = len(q) - 1
    C[0] = Pose(identity(q[0]).R, -pose(links.E[1], q[1]).p)
    for i in range(1, n + 1):
        C[i] = composed(links.E[i], q[i], C[links.parent[i]], pose(links.E[i], q[i]))
    origin = C[n].p
    for i in range(1, n + 1):
        C[i] = Pose(C[i].R, C[i].p - origin)
