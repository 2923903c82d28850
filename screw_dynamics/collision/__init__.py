"""Shapes of bodies and collision detection: geometry only."""
