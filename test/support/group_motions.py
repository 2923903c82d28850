"""Motions of Lie-group joints: how the numbers of a configuration change in time, by Leibniz' rule, exactly."""
from math import comb

import numpy as np


def quaternion_product(a, b):
    """Of quaternions x y z w."""
    return np.r_[a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3]), a[3] * b[3] - a[:3] @ b[:3]]


def leibniz(order, product, *factors):
    """The derivative of this order of a product, from those of its factors."""
    *first, last = factors
    if len(first) > 1:
        derivatives = [leibniz(k, product, *first) for k in range(order + 1)]
        return leibniz(order, product, derivatives, last)
    return sum(comb(order, k) * product(first[0][k], last[order - k]) for k in range(order + 1))


def numbers_in_time(robot, q, *rates):
    """[q, q', q'', ...] (nq) each, as numbers, of velocities and their derivatives (n)."""
    found = np.zeros((1 + len(rates), robot.nq))
    found[0] = q
    for name, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True):
        x, u = found[:, robot.q_slices[name]], np.array(rates)[:, robot.v_slices[name]]
        if kind == "planar":
            x[1:, 2] = u[:, 0]
            turn = [np.exp(1j * x[0, 2])]                               # e^(i angle), with its derivatives
            for k in range(len(rates)):
                turn.append(1j * leibniz(k, np.multiply, turn, u[:, 0]))
                rate = leibniz(k, np.multiply, turn, u[:, 1] + 1j * u[:, 2])
                x[k + 1, :2] = rate.real, rate.imag
        elif kind in ("free", "spherical"):
            w, z = np.c_[u[:, :3], np.zeros(len(u))], x[:, -4:]
            for k in range(len(rates)):
                z[k + 1] = 0.5 * leibniz(k, quaternion_product, z, w)
                if kind == "free":
                    v, back = np.c_[u[:, 3:], np.zeros(len(u))], z * [-1.0, -1.0, -1.0, 1.0]
                    x[k + 1, :3] = leibniz(k, quaternion_product, z, v, back)[:3]
        else:
            x[1:] = u
    return found
