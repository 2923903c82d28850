"""Recordings of robots, and campaigns of simulations."""
