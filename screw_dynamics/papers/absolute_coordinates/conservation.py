"""Energy and momentum balances of a motion in absolute coordinates, as in rollout/conservation.py for robots. The
residuals are the error of the integrator."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screw_dynamics.rollout.conservation import EnergyBalance, MomentumBalance, accumulated, middles, simpson
from screw_dynamics.screws.arrays import cross, mass_moment_rotational, times

if TYPE_CHECKING:
    from .system import MultibodySystem


def energy_balance(system: MultibodySystem, t: np.ndarray, poses: np.ndarray, velocities: np.ndarray) -> EnergyBalance:
    """Return the EnergyBalance of samples (k,), (k, n, 4, 4) and (k, n, 6).

    `work` is that of the user's wrenches, `friction` the loss in dampers. Joints do no work."""
    kinetic, potential, powers = [], [], []
    for moment in zip(t, poses, velocities, strict=True):
        kinetic.append(system.kinetic_energy(*moment[1:]))
        potential.append(system.potential_energy(moment[1]))
        twists, (springs, resting, users) = system.twists(*moment[1:]), system.applied_parts(*moment)
        powers.append(((users * twists).sum(), ((resting - springs) * twists).sum()))
    work, heat = integrated(t, np.array(powers).reshape(len(t), 2)).T
    return EnergyBalance(np.array(kinetic), np.array(potential), work, heat, np.zeros(len(t)))


def momentum_balance(system: MultibodySystem, t: np.ndarray, poses: np.ndarray, velocities: np.ndarray
                     ) -> MomentumBalance:
    """Return the MomentumBalance of samples, about the origin of the inertial frame.

    `impulse` is that of gravity, springs to the ground and the user's wrenches. Raises ValueError naming a joint to the
    ground, which transmits momentum."""
    for joint in system.joints:
        if joint.on is None:
            raise ValueError(f"momentum is conserved only by floating systems: joint {joint.name!r} holds the body "
                             f"{joint.body!r} to the ground")
    (masses, moments, _), momentum, forces = mass_moment_rotational(system.inertias), [], []
    for moment in zip(t, poses, velocities, strict=True):
        springs, _, users = system.applied_parts(*moment)
        R, r = moment[1][:, :3, :3], moment[1][:, :3, 3]
        W = springs + users
        f = times(R, W[:, 3:])
        fall = cross(masses * r + times(R, moments), np.broadcast_to(system.gravity, r.shape))
        momentum.append(system.momentum(*moment[1:]))
        forces.append(np.concatenate(((times(R, W[:, :3]) + cross(r, f) + fall).sum(axis=0),
                                      (f + masses * system.gravity).sum(axis=0))))
    return MomentumBalance(np.array(momentum), integrated(t, np.reshape(forces, (len(t), 6))))


def integrated(t: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return the integrals (k, numbers) of rates, from the first sample to each, by cubic Hermite polynomials, of order
    4."""
    return accumulated(simpson(np.diff(t)[:, None], rates[:-1], middles(t, rates), rates[1:]), axis=0)
