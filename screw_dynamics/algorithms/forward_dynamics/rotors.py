"""Inertias that act on a joint alone, as a geared rotor does: none, unless an integrator adds some."""
from screw_dynamics.numbers.values import kernel, null


@kernel
def without_rotors(body):
    """No joint has an inertia of its own."""
    for i in range(1, len(body.q)):
        body.rotor[i] = null(body.q[0])
