"""What the sensors of the simulated robot report: each measures a Moment, with its errors and faults.
May import settings, faults and moments of the simulator, but not the simulation."""
