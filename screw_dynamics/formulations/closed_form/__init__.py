"""The equations of motion in closed form, [MD] 5: Euler-Jourdain's, Lagrange's, with Christoffel symbols, and the
momentum form with an integrator of its own. All functions take a robot and coordinates (..., n) with a batch in the
leading axes; joints that share a coordinate (mimic joints) add up in its column."""
