"""The integrators: each has a stepping rule, a step function and a tableau. A new one is a new row of INTEGRATORS."""
import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.momenta import MOMENTA
from screw_dynamics.algorithms.space import integrate
from screw_dynamics.compiled.algorithm import kind_of
from screw_dynamics.forces import Element
from screw_dynamics.model.links import Structure
from screw_dynamics.numbers.values import Scalar, kernel

from .implicit_runge_kutta import implicit_runge_kutta
from .runge_kutta import Tableau, runge_kutta
from .step_data import Stages, StepData, accelerate, push
from .steps import adaptive_steps, fixed_steps
from .variational import variational


class Integrator(NamedTuple):
    """An integrator.

    advance: fixed_steps or adaptive_steps. step: a step of fixed length. tableau: its coefficients. implicit: evaluates
    friction at the end of a step, and efforts at its start. dry_friction: accepts forces that are steep near rest.
    momenta: calls algorithms/momenta.py. beforehand: compiled when the package is built, not at first use."""

    advance: Callable
    step: Callable
    tableau: Tableau
    implicit: bool = False
    dry_friction: bool = True
    momenta: bool = False
    beforehand: bool = True


@kernel
def semi_implicit_euler(tableau: Tableau, data: StepData, t: Scalar, h: Scalar, q: list, qd: list,
                        stages: Stages) -> None:
    """Make a step qd += h qdd(q, qd), then q += h qd, or g exp(h qd). Order 1; friction is implicit and stable at any
    strength."""
    qdd = stages.dv[0]
    accelerate(data, t, q, qd, h, qdd)
    for k in range(len(qd)):
        qd[k] += h * qdd[k]
    integrate(data.space, q, h, push(data, h, q, qd), stages.q)
    for k in range(len(q)):
        q[k] = stages.q[k]


EULER = Tableau(a=np.array([[0.0]]), b=np.array([1.0]), c=np.array([0.0]))

CLASSICAL = Tableau(
    a=np.array([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]),
    b=np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6]),
    c=np.array([0.0, 0.5, 0.5, 1.0]))

MIDPOINT = Tableau(a=np.array([[0.5]]), b=np.array([1.0]), c=np.array([0.5]))

# Alexander (1977): order 2, L-stable, and the last stage is the end of the step.
GAMMA = 1.0 - math.sqrt(0.5)
ALEXANDER = Tableau(a=np.array([[GAMMA, 0.0], [1.0 - GAMMA, GAMMA]]), b=np.array([1.0 - GAMMA, GAMMA]),
                    c=np.array([GAMMA, 1.0]))

# Dormand and Prince (1980): order 5 with an error estimate of order 4; dense output of order 4 by Shampine (1986).
DORMAND_PRINCE = Tableau(
    a=np.array([
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0, 0.0],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0]]),
    b=np.array([35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0]),
    c=np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0]),
    error=np.array([-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40]),
    error_order=4,
    dense=np.array([
        [1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423]]))

INTEGRATORS = {
    "semi_implicit_euler": Integrator(fixed_steps, semi_implicit_euler, EULER, implicit=True),
    "rk4": Integrator(fixed_steps, runge_kutta, CLASSICAL),
    "rk45": Integrator(adaptive_steps, runge_kutta, DORMAND_PRINCE),
    # At the midpoint, dry friction as a force would reverse a joint that it stops, at every step.
    "variational": Integrator(fixed_steps, variational, MIDPOINT, dry_friction=False, momenta=True, beforehand=False),
    "implicit_midpoint": Integrator(fixed_steps, implicit_runge_kutta, MIDPOINT, dry_friction=False, beforehand=False),
    "sdirk2": Integrator(fixed_steps, implicit_runge_kutta, ALEXANDER, beforehand=False),
}
MOST_STAGES = max((integrator.tableau for integrator in INTEGRATORS.values()), key=lambda tableau: len(tableau.c))
FIXED_STEPS = tuple(name for name, integrator in INTEGRATORS.items() if integrator.advance is fixed_steps)
WITH_CONSTRAINTS = tuple(name for name, integrator in INTEGRATORS.items() if not integrator.momenta)
LINEARIZED = "semi_implicit_euler", "rk4"           # integrators with step derivatives: linearization/


def check_elements(integrator: str, elements: Iterable[Element]) -> None:
    """Raise ValueError naming the first force element that is steep near rest if the integrator does not accept it."""
    for element in elements:
        if element.is_dry and not INTEGRATORS[integrator].dry_friction:
            takers = ", ".join(name for name, other in INTEGRATORS.items() if other.dry_friction)
            raise ValueError(f"integrator {integrator!r} takes no dry friction as a force, as {element} is: take one "
                             f"of {takers}, or the friction of the robot's model")


def momenta_address(structure: Structure, lanes: bool) -> int:
    """Return the address of algorithms/momenta.py."""
    return MOMENTA.of(structure).address(kind_of(lanes))
