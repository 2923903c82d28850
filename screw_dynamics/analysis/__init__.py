"""Analysis of measurements and given motions: parameters, payloads, contacts, calibration, elastic joints. May import
robot and all that it may; nothing but nodes imports it."""
