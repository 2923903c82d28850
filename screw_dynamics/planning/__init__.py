"""Trajectory optimization, and time-optimal motions along paths."""
