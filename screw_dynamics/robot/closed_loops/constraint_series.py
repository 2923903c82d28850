"""Taylor coefficients of the constraints along curves of configurations, by nested brackets of joint screws.

The screw S of a joint moves with the body before it, whose spatial twist is V: S' = ad_V S. The body behind the joint
has the twist V + S u, with the joint's rate u. The coefficients of S = S_0 + S_1 t + ... are therefore

    k S_k = sum over l < k of ad(V_l) S_(k-1-l),

and the derivatives of the constraints of any order are sums of nested brackets of the screws S_0. A. Mueller (2019), An
overview of formulae for the higher-order kinematics of lower-pair chains, Mechanism and Machine Theory 142."""
import numpy as np

from screw_dynamics.screws.arrays import ad, ad_dual, cross
from screw_dynamics.screws.groups import se3

from .constraints import Constraints, Coupling, Loop

OUTSIDE = 1e-9      # shorter parts of a unit screw outside a space of screws count as 0
LEAST = 1e-6        # m: axes that are closer to a loop's joint pass through it, as those of a spherical linkage


class ConstraintSeries:
    """The constraints along curves through a configuration q (nq,).

    A curve has coordinates x(t) (n,), with x(0) = 0. The degrees of freedom of a Lie-group joint move as a chain of
    joints of one degree does: x are its canonical coordinates of the second kind, and x'(0) is a velocity.

    length, m: the largest rod, or distance of an axis of rotation from the joint that closes its loop, 1 without them.
    units (m,): factors of the constraints, 1 / length of lengths and 1 of the others, which make their size that of a
    mechanism of 1 m."""

    def __init__(self, constraints: Constraints, q: np.ndarray):
        robot = constraints.robot
        self.constraints, self.model = constraints, robot.model
        self.screws = se3.Ad(robot.body_poses(q), robot.model.screws_body)
        self.bodies = {name: robot.tables.frames[slot].body - 1 for name, slot in robot.tables.names.items()}
        self.frames = {name: (robot.forward_kinematics(q, part.link) @ part.held.frame,
                              robot.forward_kinematics(q, part.on) @ part.held.frame_on)
                       for name, part in constraints.parts.items() if isinstance(part, Loop)}
        longest = max((self._reach(name) for name in self.frames), default=0.0)
        self.length = longest if longest > LEAST else 1.0
        self.units = np.ones(constraints.m)
        for name in self.frames:
            self.units[constraints.rows[name]] = self._units(constraints.parts[name])

    def _reach(self, name):
        """Return the length of a rod, or the largest distance of an axis of rotation from a loop's joint."""
        part, (C, _) = self.constraints.parts[name], self.frames[name]
        if part.held.kind == "length":
            return float(part.held.size)
        chain = set(self._chain(part.link)) ^ set(self._chain(part.on))
        screws = se3.Ad(np.linalg.inv(C), self.screws[sorted(chain)])
        return float(np.linalg.norm(screws[screws[:, :3].any(axis=1), 3:], axis=1).max(initial=0.0))

    def _units(self, part):
        """Return the factors of the rows of a loop."""
        if part.held.kind == "subgroup":
            return np.where(part.held.P[:, 3:].any(axis=1), 1.0 / self.length, 1.0)
        return np.array([1.0 / self.length] * min(part.m, 3) + [1.0] * (part.m - min(part.m, 3)))

    def coefficients(self, x: np.ndarray) -> np.ndarray:
        """Return the coefficients (order, ..., m) of t, t^2, ... of the residual for those (order, ..., n) of x.

        Of a loop joint, they are those of the integral of P V: rows and the relative twist V are as in J. All vanish to
        an order if and only if those of the residual do."""
        order, lead = len(x), x.shape[1:-1]
        rates = x * np.arange(1, order + 1).reshape(-1, *[1] * (x.ndim - 1))
        V = self._twists(rates, order, lead)
        found = np.zeros((*x.shape[:-1], self.constraints.m))
        for name, part in self.constraints.parts.items():
            rows = self.constraints.rows[name]
            if isinstance(part, Coupling):
                found[..., rows.start] = x[..., part.of_v] @ part.ratios
            else:
                of_kind = {"subgroup": _of_subgroup, "universal": _of_universal, "length": _of_length}[part.held.kind]
                found[..., rows] = of_kind(part.held, *self.frames[name], *(V[self.bodies[end]]
                                                                            for end in (part.link, part.on)))
        return found

    def _twists(self, rates, order, lead):
        """Return {body: coefficients (order, ..., 6) of its spatial twist}, with -1 for the world."""
        V, rates = {-1: np.zeros((order, *lead, 6))}, rates[..., None]
        for i, (parent, k) in enumerate(zip(self.model.parents, self.model.coordinates, strict=True)):
            S = [np.broadcast_to(self.screws[i], (*lead, 6))]
            for j in range(1, order):
                S.append(sum(ad(V[parent][m], S[j - 1 - m]) for m in range(j)) / j)
            V[i] = V[parent] + np.stack([sum(S[m] * rates[j - m, ..., k, :] for m in range(j + 1))
                                         for j in range(order)])
        return V

    def rank_bound(self, free: np.ndarray) -> int:
        """Return an upper bound of the number of independent equations near q, with the other joints locked.

        The relative motions of the links of a loop, and those of the joint that closes it, are in the group of the
        smallest screw algebra with all screws of the loop: the loop has as many equations as this algebra has
        dimensions beyond those of the joint."""
        bound = 0
        for name, part in self.constraints.parts.items():
            if isinstance(part, Coupling) or part.held.kind == "length":
                bound += 1
                continue
            C, C_on = self.frames[name]
            if part.held.kind == "universal":
                closing = np.stack((se3.Ad(C_on, np.eye(6)[0]), se3.Ad(C, np.eye(6)[1])))
            else:
                closing = se3.Ad(C, np.linalg.svd(part.held.P)[2][part.m:])
            chain = set(self._chain(part.link)) ^ set(self._chain(part.on))
            moved = [self.screws[i] for i in sorted(chain) if free[self.model.coordinates[i]]]
            bound += len(_algebra([*closing, *moved])) - len(closing)
        return bound

    def _chain(self, link):
        """Return the bodies from a link to the root."""
        body, found = self.bodies[link], []
        while body >= 0:
            found.append(body)
            body = self.model.parents[body]
        return found


def _algebra(screws):
    """Return an orthonormal basis of the smallest algebra with all these screws (6,)."""
    basis, left = [], list(screws)
    while left:
        X = left.pop()
        X = X / max(np.linalg.norm(X), OUTSIDE)
        for _ in range(2):
            X = X - sum(Y * (Y @ X) for Y in basis)
        if np.linalg.norm(X) > OUTSIDE:
            left += [ad(Y, X) for Y in basis]
            basis.append(X / np.linalg.norm(X))
    return basis


def _moved(x, velocities, step):
    """Return the coefficients of a quantity with x' = step(V, x), from those of V and from x_0."""
    found = [x]
    for k in range(1, len(velocities) + 1):
        found.append(sum(step(velocities[j], found[k - 1 - j]) for j in range(k)) / k)
    return found


def _dot(a, b, k):
    """Return coefficient k of the scalar product of two series of vectors."""
    return sum((a[j] * b[k - j]).sum(axis=-1) for j in range(k + 1))


def _point(p, V):
    """Return the coefficients of a point p of a body, with x' = omega x x + v."""
    found = [p]
    for k in range(1, len(V) + 1):
        found.append((sum(cross(V[j, ..., :3], found[k - 1 - j]) for j in range(k)) + V[k - 1, ..., 3:]) / k)
    return found


def _of_subgroup(held, C, C_on, V, V_on):
    """Return the coefficients of the integral of P V. The rows of P are wrenches W on the link: W' = -ad_V^T W."""
    W = _moved(se3.Ad_dual(C, held.P), V[..., None, :], lambda V, W: -ad_dual(V, W))
    Z = (V - V_on)[..., None, :]
    return np.stack([_dot(W, Z, k) / (k + 1) for k in range(len(V))])


def _of_universal(held, C, C_on, V, V_on):
    """Return the coefficients of the distance of the origins, and of the cosine of the angle of the two axes."""
    p, p_on = _point(C[:3, 3], V), _point(C_on[:3, 3], V_on)
    y, x = (_moved(axis, twist[..., :3], cross) for axis, twist in ((C[:3, 1], V), (C_on[:3, 0], V_on)))
    return np.stack([np.concatenate(((p[k] - p_on[k]) @ C_on[:3, :3], _dot(x, y, k)[..., None]), axis=-1)
                     for k in range(1, len(V) + 1)])


def _of_length(held, C, C_on, V, V_on):
    """Return the coefficients of half the square of the distance, over the length."""
    apart = [a - b for a, b in zip(_point(C[:3, 3], V), _point(C_on[:3, 3], V_on), strict=True)]
    return np.stack([_dot(apart, apart, k)[..., None] for k in range(1, len(V) + 1)]) / (2.0 * held.size)
