"""Dependence of failures on parameters: the distributions of values in cases that failed and in those that passed."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Dependence(NamedTuple):
    """Dependence of failures on a parameter.

    The largest difference of the distributions of its values in failed and passed cases, in [0, 1], and the p-value
    under independence. Numbers are compared by the Kolmogorov-Smirnov test, choices by the chi-squared test, with half
    the sum of the differences."""

    parameter: str
    difference: float
    p: float


def dependences(campaign: Any) -> list[Dependence]:
    """Return the dependence of failures on each parameter of a Campaign, in increasing order of p.

    Returns an empty list if all cases failed, or none did."""
    table = campaign.table
    failed = ~table["passed"]
    if failed.all() or not failed.any():
        return []
    found = [Dependence(parameter.name, *(_of_choices if parameter.choices is not None else _of_numbers)(
        table[parameter.name], failed)) for parameter in campaign.plan.parameters]
    return sorted(found, key=lambda dependence: (dependence.p, -dependence.difference))


def _of_numbers(values, failed):
    from scipy.stats import ks_2samp
    result = ks_2samp(values[failed], values[~failed], method="asymp")
    return float(result.statistic), float(result.pvalue)


def _of_choices(values, failed):
    from scipy.stats import chi2_contingency
    kinds, where = np.unique(values.astype(str), return_inverse=True)
    counts = np.array([np.bincount(where[mask], minlength=len(kinds)) for mask in (failed, ~failed)])
    shares = counts / counts.sum(axis=1, keepdims=True)
    p = float(chi2_contingency(counts).pvalue) if len(kinds) > 1 else 1.0
    return float(np.abs(shares[0] - shares[1]).sum() / 2.0), p
