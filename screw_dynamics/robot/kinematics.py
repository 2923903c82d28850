"""Kinematics of a robot: poses, Jacobians and twists of its links and bodies."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.jacobian import JACOBIAN, JACOBIAN_DERIVATIVE
from screw_dynamics.algorithms.kinematics import BODY_POSES, BODY_POSES_SPATIAL, FORWARD_KINEMATICS
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.algorithms.twists import BODY_JACOBIANS_IN, BODY_TWISTS_IN
from screw_dynamics.compiled.algorithm import Target
from screw_dynamics.model.model import Model
from screw_dynamics.utils import checks

from .evaluation import Evaluation, Out, Threads
from .points import Moved, Point, stored


class Kinematics(Evaluation):
    """Methods for kinematics. Arguments that repeat between calls are cached, which saves some microseconds per
    call."""

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        self._forward_kinematics, self._jacobian, self._jacobian_derivative = map(
            self._of, (FORWARD_KINEMATICS, JACOBIAN, JACOBIAN_DERIVATIVE))
        self._jacobians: dict = {}          # by link, representation and reference: kernel, and packed target

    def forward_kinematics(self, q: ArrayLike, link: str, reference: str | None = None, *, out: Out = None,
                           threads: Threads = None, point: Point = None) -> np.ndarray:
        """Compute the pose of a link in the frame of a reference link.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        link : str
            Name of the link.
        reference : str, optional
            Reference link, the root by default.
        out : ndarray (..., 4, 4), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.
        point : array_like (..., 3), optional
            Point of the link, in its frame, m. The pose is then that of a frame at this point with the link's
            orientation. Leading axes broadcast with those of q.

        Returns
        -------
        ndarray (..., 4, 4)
            Homogeneous transforms [[R, p], [0, 1]], p in m.

        References
        ----------
        [MK] (8).
        """
        try:
            _, target = self._jacobians[link]["body"][reference]
        except (KeyError, TypeError):
            _, target = self._keep_jacobian(link, reference, "body")
        if point is None:
            C = self._forward_kinematics(target, q, out, threads)
            if C is not None:
                return C
        else:
            return stored(Moved(self, link, "body", reference, point, threads).pose(q), out)
        return self._evaluate(self._forward_kinematics, {"q": q}, out, threads, target)

    def body_poses(self, q: ArrayLike, form: str = "body_fixed", reference: str | None = None, *, out: Out = None,
                   threads: Threads = None) -> np.ndarray:
        """Compute the poses of all bodies in the frame of a reference link.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        form : {"body_fixed", "spatial"}, optional
            Form of the product of exponentials: body-fixed or spatial.
        reference : str, optional
            Reference link, the root by default.
        out : ndarray (..., b, 4, 4), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., b, 4, 4)
            Homogeneous transforms, in the order of model.body_names.

        References
        ----------
        [MK] (8) body-fixed, (10) spatial.
        """
        forms = {"body_fixed": BODY_POSES, "spatial": BODY_POSES_SPATIAL}
        target = self._target(self.model.root, reference, "body").packed
        return self._evaluate(self._of(forms[checks.one_of("form", form, forms)]), {"q": q}, out, threads, target)

    def jacobian(self, q: ArrayLike, link: str, representation: str = "body", reference: str | None = None,
                 *, out: Out = None, threads: Threads = None, point: Point = None) -> np.ndarray:
        """Compute the Jacobian J of a link: J qd is its twist relative to a reference link.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        link : str
            Name of the link.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Representation of the twist; see Notes.
        reference : str, optional
            Reference link, the root by default.
        out : ndarray (..., 6, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.
        point : array_like (..., 3), optional
            Point of the link, in its frame, m. The Jacobian is then that of a frame at this point with the link's
            orientation, as in ``forward_kinematics``.

        Returns
        -------
        ndarray (..., 6, n)
            Jacobians, angular rows first.

        Notes
        -----
        The representations are:

        - "body": measured and resolved in the link's frame.
        - "spatial": measured and resolved in the reference frame.
        - "hybrid": velocity of the link's origin, resolved in the reference frame.
        - "mixed": angular rows resolved in the link's frame, linear ones in the reference frame.

        References
        ----------
        [MK] (16), (28), (40), (50).
        """
        try:
            jacobian, target = self._jacobians[link][representation][reference]
        except (KeyError, TypeError):           # a first call, or no valid name
            jacobian, target = self._keep_jacobian(link, reference, representation)
        if point is None:
            J = jacobian(target, q, out, threads)
            if J is not None:
                return J
        else:
            return stored(Moved(self, link, representation, reference, point, threads).jacobian(q), out)
        return self._evaluate(jacobian, {"q": q}, out, threads, target)

    def jacobian_derivative(self, q: ArrayLike, qd: ArrayLike, link: str, representation: str = "body",
                            reference: str | None = None, *, out: Out = None, threads: Threads = None,
                            point: Point = None) -> np.ndarray:
        """Compute the time derivative of the Jacobian of a link along qd.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        link : str
            Name of the link.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Representation of twists, as in ``jacobian``.
        reference : str, optional
            Reference link, the root by default.
        out : ndarray (..., 6, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.
        point : array_like (..., 3), optional
            Point fixed to the link, in its frame, m, in place of the link's origin.

        Returns
        -------
        ndarray (..., 6, n)
            Derivatives, angular rows first.

        References
        ----------
        [MD] (5), (16), (25).
        """
        try:
            _, target = self._jacobians[link][representation][reference]
        except (KeyError, TypeError):
            _, target = self._keep_jacobian(link, reference, representation)
        if point is None:
            Jd = self._jacobian_derivative(target, q, qd, out, threads)
            if Jd is not None:
                return Jd
        else:
            return stored(Moved(self, link, representation, reference, point, threads).jacobian(q, qd), out)
        return self._evaluate(self._jacobian_derivative, {"q": q, "qd": qd}, out, threads, target)

    def body_twists(self, q: ArrayLike, qd: ArrayLike, representation: str = "body", *, out: Out = None,
                    threads: Threads = None) -> np.ndarray:
        """Compute the twists of all bodies.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Representation, as in ``jacobian``, of body frames relative to the root frame.
        out : ndarray (..., b, 6), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., b, 6)
            Twists, in the order of model.body_names.

        References
        ----------
        [MK] (14), (30), (42), (52).
        """
        entry = self._of(BODY_TWISTS_IN[checks.one_of("representation", representation, BODY_TWISTS_IN)])
        return self._evaluate(entry, {"q": q, "qd": qd}, out, threads, self._root)

    def body_jacobians(self, q: ArrayLike, representation: str = "body", *, out: Out = None,
                       threads: Threads = None) -> np.ndarray:
        """Compute the Jacobians J of all bodies: J qd are their twists.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Representation, as in ``body_twists``.
        out : ndarray (..., b, 6, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., b, 6, n)
            Jacobians, in the order of model.body_names.

        References
        ----------
        [MK] (19), (29), (41), (51).
        """
        entry = self._of(BODY_JACOBIANS_IN[checks.one_of("representation", representation, BODY_JACOBIANS_IN)])
        return self._evaluate(entry, {"q": q}, out, threads, self._root)

    def _target(self, link, reference, representation):
        """Return the Target of a link, a reference link (None for the root) and a representation."""
        kind = REPRESENTATIONS.index(checks.one_of("representation", representation, REPRESENTATIONS))
        frame, seen_from = (self._frame[self.model.known_link(name)]
                            for name in (link, self.model.root if reference is None else reference))
        return Target(frame, seen_from, kind)

    def _keep_jacobian(self, link, reference, representation, entry=None):
        """Return the kernel of a Jacobian and its packed target, which are cached."""
        found = entry or self._jacobian, self._target(link, reference, representation).packed
        return self._jacobians.setdefault(link, {}).setdefault(representation, {}).setdefault(reference, found)
