"""What both nodes are made of: lifecycle, parameters, diagnostics, the robot's description, messages.
May import robot; knows neither of the two nodes."""
