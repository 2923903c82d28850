"""The sensors of the simulated robot: each measures a Snapshot, with its errors and faults.
May import settings, faults and snapshots of the simulator, but not the simulation."""
