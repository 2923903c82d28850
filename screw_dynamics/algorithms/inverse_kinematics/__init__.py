"""Inverse kinematics: configurations within the joint limits at which frames have given poses."""
