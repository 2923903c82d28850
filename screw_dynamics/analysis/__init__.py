"""What measurements and given motions say of a robot: parameters, payloads, contacts, calibration, elastic joints.
May import robot and all that it may; nothing but nodes imports it."""
