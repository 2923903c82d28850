"""Analysis of measurements and motions: identification, payloads, contacts, calibration, elastic joints. May import
robot and everything that robot may import; scenes, simulated robots, logs and nodes import it."""
