"""Inverse kinematics: configurations at which frames have given poses, within the limits of the joints."""
