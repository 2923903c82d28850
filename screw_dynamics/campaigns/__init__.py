"""Campaigns: thousands of simulated scenarios with varied parameters, and which of them violate a property.

`parameters` are what varies, `designs` how often and where, `cases` runs one and says what its motion is worth,
`campaign` all of them, here or on a cluster, `results` holds and keeps what came out, `report` shows it. A scenario is
any function: nothing here knows robots."""
from .cases import Case, Replay
from .designs import DESIGNS
from .results import Campaign, load
from .running import campaign

__all__ = ["DESIGNS", "Campaign", "Case", "Replay", "campaign", "load"]
