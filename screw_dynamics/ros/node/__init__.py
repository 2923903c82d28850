"""What both nodes are made of: lifecycle, parameters, diagnostics, the robot's description, messages.
May import robot, but neither of the two nodes."""
