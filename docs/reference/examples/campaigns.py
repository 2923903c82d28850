"""Examples of campaigns."""
import numpy as np

import screw_dynamics as sd
from screw_dynamics import campaigns


def scenario(p, rng):
    """A decay from a height."""
    t = np.linspace(0.0, 1.0, 50)
    return {"t": t, "x": p.height * np.exp(-p.rate * t)}


def low(motion):
    """The margin to 1."""
    return 1.0 - motion["x"].max()


# %% campaign, campaigns.campaign
found = sd.campaign(scenario, {"height": (0.0, 1.2), "rate": [1.0, 2.0]}, [low], count=20, seed=0)
found.failures                                              # numbers of cases

# %% campaigns.Campaign
found.table["low"].min(), found.probability_of_failure()    # the least margin; share, and ends of its interval

# %% campaigns.Replay
motion, case, same_bits = found.replay(found.failures[0])

# %% campaigns.Case
case.parameters, case.margins, case.holds                   # {name: value} each

# %% campaigns.load
# The campaign in a folder, with its cases: found = sd.campaign(..., out="night")
campaigns.load                                              # campaigns.load("night").command(17)
