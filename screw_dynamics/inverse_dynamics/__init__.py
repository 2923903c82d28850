"""Inverse dynamics, O(n): the recursive Newton-Euler algorithm, a file for each representation of twists."""
from .body_fixed import CORIOLIS_TORQUE, INVERSE_DYNAMICS

__all__ = ["CORIOLIS_TORQUE", "INVERSE_DYNAMICS"]
