"""The parts that nodes share: lifecycle, parameters, diagnostics, the robot's description, messages. May import robot,
but none of the nodes."""
