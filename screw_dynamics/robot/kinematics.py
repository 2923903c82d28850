"""Kinematics of a robot: poses, Jacobians and twists of its links and bodies."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.algorithms.jacobian import JACOBIAN, JACOBIAN_DERIVATIVE
from screw_dynamics.algorithms.kinematics import BODY_POSES, BODY_POSES_SPATIAL, FORWARD_KINEMATICS
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.algorithms.twists import BODY_JACOBIANS_IN, BODY_TWISTS_IN
from screw_dynamics.compiled.entry import Target
from screw_dynamics.model.model import Model

from .evaluation import Evaluation, Out, Threads
from .points import Moved, Point, stored


class Kinematics(Evaluation):
    """Methods of kinematics; what is the same in the next call is kept, which saves a call some microseconds."""

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        self._forward_kinematics, self._jacobian, self._jacobian_derivative = map(
            self._of, (FORWARD_KINEMATICS, JACOBIAN, JACOBIAN_DERIVATIVE))
        self._jacobians: dict = {}          # by link, representation and reference: entry point, and packed target

    def forward_kinematics(self, q: ArrayLike, link: str, reference: str | None = None, out: Out = None,
                           threads: Threads = None, point: Point = None) -> np.ndarray:
        """The pose (..., 4, 4) of a link in the frame of a reference link, the root unless named; [MK] (8).

        point (..., 3): the pose of a frame with the link's orientation at this point of it, in m in the link's frame;
        leading axes broadcast with those of q."""
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

    def body_poses(self, q: ArrayLike, form: str = "body_fixed", reference: str | None = None, out: Out = None,
                   threads: Threads = None) -> np.ndarray:
        """The poses (..., b, 4, 4) of all bodies in the frame of a reference link, the root unless named, in the order
        of model.body_names, by the product of exponentials in body-fixed, [MK] (8), or spatial form, [MK] (10)."""
        forms = {"body_fixed": BODY_POSES, "spatial": BODY_POSES_SPATIAL}
        target = self._target(self.model.root, reference, "body").packed
        return self._evaluate(self._of(forms[checks.one_of("form", form, forms)]), {"q": q}, out, threads, target)

    def jacobian(self, q: ArrayLike, link: str, representation: str = "body", reference: str | None = None,
                 out: Out = None, threads: Threads = None, point: Point = None) -> np.ndarray:
        """The Jacobian J (..., 6, n) of a link, angular rows first: J qd is its twist relative to a reference link.

        representation: "body" (measured and resolved in the link's frame), "spatial" (in the reference frame), "hybrid"
        (velocity of the link's origin, resolved in the reference frame) or "mixed" (angular rows resolved in the link's
        frame, linear ones in the reference frame); [MK] (16), (28), (40), (50). reference: the root by default. point
        (..., 3): that of a frame with the link's orientation at this point of the link, as in forward_kinematics."""
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
                            reference: str | None = None, out: Out = None, threads: Threads = None,
                            point: Point = None) -> np.ndarray:
        """The time derivative (..., 6, n) of the Jacobian of `jacobian` along qd; [MD] (5), (16), (25).

        point: as in `jacobian`, fixed to the link."""
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

    def body_twists(self, q: ArrayLike, qd: ArrayLike, representation: str = "body", out: Out = None,
                    threads: Threads = None) -> np.ndarray:
        """The twists (..., b, 6) of all bodies, in the order of model.body_names; [MK] (14), (30), (42), (52).

        representation as in `jacobian`, of body frames relative to the root frame."""
        entry = self._of(BODY_TWISTS_IN[checks.one_of("representation", representation, BODY_TWISTS_IN)])
        return self._evaluate(entry, {"q": q, "qd": qd}, out, threads, self._root)

    def body_jacobians(self, q: ArrayLike, representation: str = "body", out: Out = None,
                       threads: Threads = None) -> np.ndarray:
        """The Jacobians (..., b, 6, n) of all bodies, with J qd their twists; [MK] (19), (29), (41), (51)."""
        entry = self._of(BODY_JACOBIANS_IN[checks.one_of("representation", representation, BODY_JACOBIANS_IN)])
        return self._evaluate(entry, {"q": q}, out, threads, self._root)

    def _target(self, link, reference, representation):
        """The Target of a link, a reference link, the root for None, and a representation."""
        kind = REPRESENTATIONS.index(checks.one_of("representation", representation, REPRESENTATIONS))
        frame, seen_from = (self._frame[self.model.known_link(name)]
                            for name in (link, self.model.root if reference is None else reference))
        return Target(frame, seen_from, kind)

    def _keep_jacobian(self, link, reference, representation, entry=None):
        """The entry point of a Jacobian and its packed target, kept for the next call."""
        found = entry or self._jacobian, self._target(link, reference, representation).packed
        return self._jacobians.setdefault(link, {}).setdefault(representation, {}).setdefault(reference, found)
