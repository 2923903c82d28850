"""Times are integer nanoseconds; parameters and texts are in seconds."""

SECOND = 1_000_000_000   # nanoseconds
NEVER = 2**63 - 1


def timeout(seconds: float) -> int:
    """Return a timeout parameter in nanoseconds; NEVER for 0 s."""
    return round(seconds * SECOND) if seconds > 0.0 else NEVER
