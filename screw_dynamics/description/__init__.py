"""Descriptions of robots: URDF and MJCF."""
