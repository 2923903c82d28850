"""Armature: inertia that acts on a joint alone, as that of a geared motor's rotor does."""
from collections.abc import Callable

from screw_dynamics.numbers.values import kernel, null


def without_armature(algorithm: Callable) -> Callable:
    """The algorithm of forward dynamics for joints without armature; integrators set the column themselves."""
    @kernel
    def forward_dynamics(links, body, qdd):
        for i in range(1, len(body.q)):
            body.armature[i] = null(body.q[0])
        algorithm(links, body, qdd)
    return forward_dynamics
