"""Vectors, rotations, poses, twists and wrenches, inertias, the motion of a joint. May import numbers."""
