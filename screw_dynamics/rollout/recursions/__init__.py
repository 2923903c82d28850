"""Backward and forward recursions along a motion: Riccati recursion, adjoint states, constraint responses.

Inputs are linear models of steps, x+ = F (x, u) + gap, and costs to second order, of one motion or of several on SIMD
lanes; for constraint responses, derivatives of a step of several states. Imports constraints, compiled and the packages
below."""
