"""Analysis of measurements and given motions: parameters, payloads, contacts, calibration, elastic joints. May import
robot and all that it may; scenes, simulated robots, logs and nodes import it."""
