"""Times are integer nanoseconds; parameters and texts have seconds."""

SECOND = 1_000_000_000   # nanoseconds
NEVER = 2**63 - 1


def timeout(seconds: float) -> int:
    """Return the nanoseconds of a timeout parameter; 0 s means never."""
    return round(seconds * SECOND) if seconds > 0.0 else NEVER
