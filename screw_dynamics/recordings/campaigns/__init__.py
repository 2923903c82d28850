"""Campaigns: Monte Carlo simulation of scenarios with varied parameters, and the cases that violate a property.

`parameters`: varied parameters; `designs`: sampling designs; `cases`: a single case and its margins; `running`: all
cases, here or on a cluster; `results`: the outcomes, in memory and on disk; `report`: an HTML page. A scenario is any
function: nothing here depends on robots."""
from .cases import Case, Replay
from .designs import DESIGNS
from .results import Campaign, load
from .running import campaign

__all__ = ["DESIGNS", "Campaign", "Case", "Replay", "campaign", "load"]
