"""The table of numbers in docs/integration.md: the largest error of each figure for each step size."""
import re

import numpy as np

from .examples import FORMULATIONS, examples

BEGIN, END = "<!-- numbers: make figures -->", "<!-- end of numbers -->"
ROUNDING = 1e-11        # of the scale of a quantity: errors below it may be of rounding


def with_numbers(text, motions):
    """The page with its table of numbers renewed."""
    if BEGIN not in text or END not in text:
        raise ValueError(f"the page lacks the lines {BEGIN!r} and {END!r}")
    return re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n{table(motions)}\n{END}", text, flags=re.DOTALL)


def table(motions):
    """A row a figure: largest values in both formulations for each dt."""
    steps = sorted({dt for _, dt in motions}, reverse=True)
    heads = [f"{group}, dt = {dt:g} s" for group in FORMULATIONS for dt in steps]
    lines = [f"| figure | what | {' | '.join(heads)} | order |", "|---" * (len(heads) + 3) + "|"]
    for example in examples():
        for quantity in example.quantities:
            peaks = {group: [largest(motions[example.name, dt][1][quantity.figure, group]) for dt in steps]
                     for group in FORMULATIONS}
            cells = [f"{peak:.1e}" for group in FORMULATIONS for peak in peaks[group]]
            orders = ", ".join(order(peaks[group], steps, ROUNDING * quantity.scale) for group in FORMULATIONS)
            lines.append(f"| {quantity.figure} | {example.title}: {quantity.caption} [{quantity.unit}] | "
                         f"{' | '.join(cells)} | {orders} |")
    return "\n".join(lines)


def largest(values):
    """The largest value, NaN counting as such."""
    return float(np.max(values))


def order(peaks, steps, rounding):
    """By the two shortest steps whose errors are above rounding; "exact" if no error is."""
    if max(peaks) < rounding:
        return "exact"
    above = [(peak, dt) for peak, dt in zip(peaks, steps, strict=True) if peak > rounding]
    if len(above) < 2:
        return "-"
    (coarse, long), (fine, short) = above[-2:]
    return f"{np.log(coarse / fine) / np.log(long / short):.1f}"
