"""Shapes of bodies, and where they touch: geometry alone."""
