"""Impacts with restitution, in rounds; in each round all approaching contacts strike together.

A striking contact leaves with v_n = -e times its v_n before the round (Newton's law), or faster if other contacts push
it; its friction is that of a contact problem. Contacts that do not approach take no part in the round, even if closed:
an impulse passes through a row of balls one after the other. In the next round the contacts that then approach strike.
No round adds energy: where friction would (Kane and Levinson, 1985), the impulses are mixed with those of e = 0, which
dissipate."""
from typing import Any

from screw_dynamics.numbers.scalars import larger, some, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

from .residuals import slowness
from .solver import active_contacts, solve_cones
from .tables import DONE, LOST, SWEPT, Cones, velocities

ROUNDS = 8              # plus as many for each contact
ROUNDING = 1e-10        # times the largest velocity: slower contacts do not approach


@kernel
def approaching(given: Cones, threshold: Scalar) -> Scalar:
    """Activate the contacts that approach faster than the threshold. Return 1 on lanes with such contacts."""
    u, any_of = len(given.lower), null(threshold)
    for b in range(len(given.mu)):
        strikes = (given.may_act[b] > 0.0) & (given.before[u + 3 * b + 2] < -threshold)
        given.active[b] = where(strikes, null(threshold) + 1.0, null(threshold))
        any_of = where(strikes, null(threshold) + 1.0, any_of)
    return any_of


@kernel
def strike(given: Cones, share: Scalar) -> None:
    """Compute the impulses x of this round with a fraction `share` of the restitution."""
    u = len(given.lower)
    for i in range(len(given.x)):
        given.c[i] = given.before[i]
    for b in range(len(given.mu)):
        n = u + 3 * b + 2
        given.c[n] += share * given.restitution[b] * given.before[n]
    solve_cones(given)


@kernel
def energy(given: Cones, x: Any, y: Any) -> Scalar:
    """Return x^T G y."""
    for i in range(len(x)):
        given.fresh[i] = null(given.v[i])
    for k in range(len(x)):
        for i in range(int(given.begins[k]), int(given.ends[k])):
            given.fresh[i] += given.G[k, i] * y[k]
    work = null(given.found[0])
    for i in range(len(x)):
        work += x[i] * given.fresh[i]
    return work


@kernel
def power(given: Cones, x: Any) -> Scalar:
    """Return x^T v for the velocities before this round."""
    work = null(given.found[0])
    for i in range(len(x)):
        work += x[i] * given.before[i]
    return work


@noinline
def limit_energy(given: Cones) -> None:
    """Mix x with the impulses of e = 0 as far as needed to add no energy."""
    x, kept = given.x, given.struck
    gain = power(given, x) + 0.5 * energy(given, x, x)
    gives = gain > 0.0
    if some(gives):
        for i in range(len(x)):
            kept[i] = x[i]
        lost = given.found[LOST]
        strike(given, null(gain))
        given.found[LOST] = larger(lost, where(gives, given.found[LOST], null(lost)))
        for i in range(len(x)):
            given.z[i] = kept[i]
            kept[i] -= x[i]
        # Energy gain at x + s kept: a + b s + q s^2, a <= 0, > 0 at s = 1; by rounding a may be above 0.
        a = power(given, x) + 0.5 * energy(given, x, x)
        a = where(a < 0.0, a, null(a))
        b, q = power(given, kept) + energy(given, kept, x), 0.5 * energy(given, kept, kept)
        root = b * b - 4.0 * a * q
        below = b + sqrt(where(root > 0.0, root, null(root)))
        s = where(below > 0.0, -2.0 * a / where(below > 0.0, below, null(a) + 1.0), null(a))
        s = where(s < 1.0, s, null(s) + 1.0)
        for i in range(len(x)):
            x[i] = where(gives, x[i] + s * kept[i], given.z[i])


@kernel
def save(given: Cones, start: bool) -> None:
    """Save the fields that the rounds change, or restore them at their end."""
    for i in range(len(given.lower)):
        if start:
            given.bounds[0, i], given.bounds[1, i] = given.lower[i], given.upper[i]
        else:
            given.lower[i], given.upper[i] = given.bounds[0, i], given.bounds[1, i]
    for b in range(len(given.mu)):
        if start:
            given.may_act[b] = given.active[b]
        else:
            given.active[b] = given.may_act[b]
    for i in range(len(given.c)):
        if start:
            given.first[i], given.before[i], given.total[i] = given.c[i], given.c[i], null(given.c[i])
        else:
            given.c[i], given.x[i] = given.first[i], given.total[i]


@noinline
def solve_impacts(given: Cones, threshold: Scalar) -> None:
    """Compute x and v from the other fields, with c without gap offsets: the velocities v after impacts with each
    contact's restitution, until none approaches faster than the threshold. The initial x is ignored. found[SWEPT]:
    number of rounds; found[DONE]: 1 where they sufficed; found[LOST]: maximum over all rounds."""
    none = null(given.found[0])
    one = none + 1.0
    save(given, True)
    slow = ROUNDING * slowness(given)
    threshold = where(threshold > slow, threshold, slow)
    rounds, most, left = none, ROUNDS + active_contacts(given), approaching(given, threshold)
    live, lost = left, none
    for _ in range(ROUNDS + len(given.mu)):
        if not some(live > 0.0):
            break
        strike(given, one)
        limit_energy(given)
        rounds += live
        lost = larger(lost, where(live > 0.0, given.found[LOST], none))
        for i in range(len(given.x)):
            given.total[i] += where(live > 0.0, given.x[i], none)
            given.c[i], given.x[i] = given.first[i], given.total[i]
        for i in range(len(given.lower)):
            given.lower[i] = given.bounds[0, i] - given.total[i]
            given.upper[i] = given.bounds[1, i] - given.total[i]
        velocities(given, given.before)
        left = approaching(given, threshold)
        live = where(rounds < most, left, none)
    save(given, False)
    velocities(given, given.v)
    given.found[SWEPT], given.found[DONE], given.found[LOST] = rounds, where(left > 0.0, none, one), lost
