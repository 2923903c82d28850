"""Do all compute the same? Nobody is measured against us who does not."""
import numpy as np

from .contestants import LIBRARIES, OURS, Who

NEEDED = {library.name for library in LIBRARIES if library.needed}


class Disagreement(Exception):
    """Results differ by more than rounding."""


def tolerance(library, quantity, joints):
    """The greatest difference that counts as rounding, relative to the greatest number of the result.

    It grows with the number of bodies, and for forward dynamics, which solves a system of equations, with its square;
    those who are not needed get 1e-9, since PyBullet turns inertias to principal axes with ten digits."""
    rounding = 1e-12 * joints ** (2 if "forward" in quantity else 1)
    return rounding if library in NEEDED else max(rounding, 1e-9)


def those_who_agree(calls, quantity, case, absent, **settings):
    """The calls {Who: Call} of one quantity of those whose results equal ours.

    calls: {library: {variant: Call}} with ours among them; settings: those of Who. Who is not needed and differs, or
    fails, goes into `absent` with the reason; who is needed raises Disagreement."""
    reference, agreed = calls[OURS][""].value(), {}
    for library, variants in calls.items():
        for variant, call in variants.items():
            who = Who(library, variant, **settings)
            try:
                error = difference(call.value(), reference)
                if not error <= tolerance(library, quantity, case.joints):
                    raise Disagreement(f"{who}: {quantity} of {case.name} differs from ours by {error:.1e}")
                agreed[who] = call
            except Exception as fault:
                if library in NEEDED:
                    raise
                absent[f"{library}, {case.name}, {quantity}"] = str(fault) or repr(fault)
    return agreed


def difference(result, reference):
    """The greatest difference, relative to the reference's greatest number or 1; NaN where the shapes differ."""
    if result.shape != reference.shape:
        return float("nan")
    return float(np.abs(result - reference).max() / max(1.0, np.abs(reference).max()))
