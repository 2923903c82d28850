"""Configurations of a robot: elements of a Lie group, joint by joint; see configuration_space."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.configurations import difference, integrated
from screw_dynamics.model import configuration_space
from screw_dynamics.utils import checks
from screw_dynamics.utils.array_adapters import any_foreign

from .evaluation import Evaluation


class Configurations(Evaluation):
    """Methods for configurations q (..., nq) and their differences."""

    def neutral(self) -> np.ndarray:
        """Return the neutral configuration, at which links have the poses of the model.

        Returns
        -------
        ndarray (nq,)
            0, and the identity for Lie-group joints.
        """
        return configuration_space.neutral(self.model)

    def integrate(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Integrate a constant velocity over unit time.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        v : array_like (..., n)
            Velocities.

        Returns
        -------
        ndarray (..., nq)
            Configurations q + v, or g exp(v) for Lie-group joints.
        """
        if any_foreign((q, v)):
            return self._method_on("integrate", {"q": q, "v": v}, self._axis_of_q, (self.nq,))
        return integrated(self.model, *self._states(q=q, v=v))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """Compute the velocity that leads from one configuration to another in unit time.

        Parameters
        ----------
        q0, q1 : array_like (..., nq)
            First and last configurations.

        Returns
        -------
        ndarray (..., n)
            Velocities v with integrate(q0, v) = q1: q1 - q0, or log(g0^-1 g1) for Lie-group joints, with angles of at
            most pi.
        """
        if any_foreign((q0, q1)):
            return self._method_on("difference", {"q0": q0, "q1": q1}, ("joint",), (self.n,))
        return difference(self.model, *self._states(q0=q0, q1=q1))

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, s: ArrayLike) -> np.ndarray:
        """Interpolate between two configurations at constant velocity.

        Parameters
        ----------
        q0, q1 : array_like (..., nq)
            First and last configurations.
        s : array_like (...)
            Fractions of the way from q0 to q1: 0 at q0, 1 at q1.

        Returns
        -------
        ndarray (..., nq)
            Configurations at the fractions.
        """
        if any_foreign((q0, q1, s)):
            return self._method_on("interpolate", {"q0": q0, "q1": q1, "s": (s, ())}, self._axis_of_q, (self.nq,))
        return self.integrate(q0, checks.real_numbers("s", s)[..., None] * self.difference(q0, q1))

    def distance(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """Compute the length of ``difference(q0, q1)``.

        Parameters
        ----------
        q0, q1 : array_like (..., nq)
            First and last configurations.

        Returns
        -------
        ndarray (...)
            Euclidean norms, with rad and m weighted equally.
        """
        if any_foreign((q0, q1)):
            return self._method_on("distance", {"q0": q0, "q1": q1}, (), ())
        return np.linalg.norm(self.difference(q0, q1), axis=-1)

    def normalize(self, q: ArrayLike) -> np.ndarray:
        """Normalize the quaternions of configurations.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.

        Returns
        -------
        ndarray (..., nq)
            Configurations with quaternions of unit length.

        Raises
        ------
        ValueError
            If a quaternion is 0.

        Notes
        -----
        The methods of dynamics accept quaternions of any length but 0, and normalize them.
        """
        if any_foreign((q,)):
            return self._method_on("normalize", {"q": q}, self._axis_of_q, (self.nq,))
        return configuration_space.normalized(self.model, *self._states(q=q))

    def random_configuration(self, shape: int | tuple[int, ...] = (), seed: np.random.Generator | int | None = None
                             ) -> np.ndarray:
        """Draw random configurations.

        Parameters
        ----------
        shape : int or tuple of int, optional
            Leading axes of the result; none by default, for one configuration.
        seed : numpy.random.Generator or int, optional
            Generator, or seed of ``numpy.random.default_rng``.

        Returns
        -------
        ndarray (..., nq)
            Configurations, uniform within limits. Without limits angles are in [-pi, pi] and lengths in [-1, 1] m.
            Rotations are uniform.
        """
        return configuration_space.random(self.model, checks.generator("seed", seed), checks.lengths("shape", shape))

    @property
    def _axis_of_q(self):
        """The name of the axis of configurations: coordinates of joints, or of elements of groups."""
        return ("coordinate" if self.model.on_groups else "joint",)

    def _states(self, **given):
        """Return configurations q, q0, q1 and velocities v as arrays whose leading axes broadcast."""
        found = [checks.real_numbers(name, x, self.n if name == "v" else self.nq).astype(float)
                 for name, x in given.items()]
        leads = [x.shape[:-1] for x in found]
        if leads.count(leads[0]) < len(leads):
            checks.common_lead(leads, dict(zip(given, leads, strict=True)))
        return found
