"""Sweeps along a motion: backwards, what its end asks of its steps, and forwards, what these make of it.

Of linear models of steps, x+ = F (x, u) + gap, and costs to second order, of one motion or of as many as a lane has
places; and what constraints make of the derivatives of a step, of as many states.
Imports constraints, compiled and what is below."""
