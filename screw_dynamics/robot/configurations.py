"""Configurations of a robot: elements of a group, joint by joint; see configuration_space."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.algorithms.configurations import difference, integrated
from screw_dynamics.foreign_arrays import any_foreign
from screw_dynamics.model import configuration_space

from .evaluation import Evaluation


class Configurations(Evaluation):
    """Methods about configurations q (..., nq) and what leads from one to another."""

    def neutral(self) -> np.ndarray:
        """The configuration (nq,) of the model's poses: 0, and the identity of joints on groups."""
        return configuration_space.neutral(self.model)

    def integrate(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """The configuration (..., nq) to which a constant velocity v (..., n) leads in unit time: q + v, or g
        exp(v)."""
        if any_foreign((q, v)):
            return self._method_on("integrate", {"q": q, "v": v}, self._axis_of_q, (self.nq,))
        return integrated(self.model, *self._states(q=q, v=v))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """The velocity v (..., n) with integrate(q0, v) = q1: q1 - q0, or log(g0^-1 g1), its angles at most pi."""
        if any_foreign((q0, q1)):
            return self._method_on("difference", {"q0": q0, "q1": q1}, ("joint",), (self.n,))
        return difference(self.model, *self._states(q0=q0, q1=q1))

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, s: ArrayLike) -> np.ndarray:
        """The configurations (..., nq) at the shares s (...) of the way from q0 to q1, at constant velocity."""
        if any_foreign((q0, q1, s)):
            return self._method_on("interpolate", {"q0": q0, "q1": q1, "s": (s, ())}, self._axis_of_q, (self.nq,))
        return self.integrate(q0, checks.real_numbers("s", s)[..., None] * self.difference(q0, q1))

    def distance(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """The length (...) of difference(q0, q1), of radians and meters alike."""
        if any_foreign((q0, q1)):
            return self._method_on("distance", {"q0": q0, "q1": q1}, (), ())
        return np.linalg.norm(self.difference(q0, q1), axis=-1)

    def normalize(self, q: ArrayLike) -> np.ndarray:
        """Return the configurations (..., nq) with quaternions of unit length; raises ValueError for the quaternion 0.

        Dynamics takes quaternions of any length but 0, and divides it out."""
        if any_foreign((q,)):
            return self._method_on("normalize", {"q": q}, self._axis_of_q, (self.nq,))
        return configuration_space.normalized(self.model, *self._states(q=q))

    def random_configuration(self, shape: int | tuple[int, ...] = (), seed: np.random.Generator | int | None = None
                             ) -> np.ndarray:
        """Configurations (*shape, nq): uniform within limits, angles in [-pi, pi] and lengths in [-1, 1] m without;
        uniform rotations. seed: as of numpy.random.default_rng, also a Generator."""
        return configuration_space.random(self.model, checks.generator("seed", seed), checks.lengths("shape", shape))

    @property
    def _axis_of_q(self):
        """The name of the axis of configurations: coordinates are those of joints, or of elements of groups."""
        return ("coordinate" if self.model.on_groups else "joint",)

    def _states(self, **given):
        """Configurations q, q0, q1 and velocities v, as arrays whose leading axes broadcast."""
        found = [checks.real_numbers(name, x, self.n if name == "v" else self.nq).astype(float)
                 for name, x in given.items()]
        leads = [x.shape[:-1] for x in found]
        if leads.count(leads[0]) < len(leads):
            checks.common_lead(leads, dict(zip(given, leads, strict=True)))
        return found
