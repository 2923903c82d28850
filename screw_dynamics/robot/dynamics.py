"""Dynamics of a robot: inverse and forward dynamics, and the matrices of the equations of motion.

Each method calls its BoundKernel first. It returns None unless the arguments are contiguous float64 arrays. Only then
does Python check and convert them, which takes longer than the dynamics."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.external_wrenches import FORWARD_UNDER_LOAD, UNDER_LOAD
from screw_dynamics.algorithms.friction import friction_torque
from screw_dynamics.algorithms.hybrid_dynamics import HYBRID_DYNAMICS
from screw_dynamics.forces import ForceSum, friction_of
from screw_dynamics.model import configuration_space
from screw_dynamics.model.model import Model
from screw_dynamics.screws.arrays import Ad_matrix, inverse_pose, pose_matrix
from screw_dynamics.utils import checks
from screw_dynamics.utils.array_adapters import any_foreign

from .evaluation import Out, Threads, Wrenches
from .kinematics import Kinematics


class Dynamics(Kinematics):
    """Methods for dynamics. Wrenches on links are added to the wrenches of bodies in the recursions; [MD] (77)."""

    _inverse_dynamics: Any        # selected by representation, Choice
    _coriolis_torque: Any
    _gravity_torque: Any
    _mass_matrix: Any
    _coriolis_matrix: Any
    _forward_dynamics: Any

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        self._under = {name: self._of(entry) for name, entry in (
            *UNDER_LOAD.items(), ("forward_dynamics", FORWARD_UNDER_LOAD[model.shares_coordinates]))}
        self._carriers: dict = {}           # cache of _carried_to, by link
        self._hybrid_dynamics = self._of(HYBRID_DYNAMICS[model.shares_coordinates])

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, external: Wrenches | None = None,
                         *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the efforts that a motion requires: tau = M(q) qdd + C(q, qd) qd + g(q).

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n)
            Accelerations, rad/s^2 or m/s^2.
        external : dict of str to array_like (..., 6), optional
            Wrench on each named link at its origin, torque and force, resolved in the link's frame, N m and N.
        out : ndarray (..., n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., n)
            Efforts, N m or N.

        References
        ----------
        [MD] (66), (67), (42).
        """
        if external is not None:
            return self._under_load("inverse_dynamics", ("q", "qd", "qdd"), (q, qd, qdd), external, out, threads)
        tau = self._inverse_dynamics(q, qd, qdd, out, threads)
        return tau if tau is not None else self._evaluate(
            self._inverse_dynamics, {"q": q, "qd": qd, "qdd": qdd}, out, threads)

    def gravity_torque(self, q: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the efforts g(q) that hold the robot still.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        out : ndarray (..., n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., n)
            Gradient of the potential energy, N m or N.
        """
        tau = self._gravity_torque(q, out, threads)
        return tau if tau is not None else self._evaluate(self._gravity_torque, {"q": q}, out, threads)

    def coriolis_torque(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the efforts C(q, qd) qd of Coriolis and centrifugal forces.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        out : ndarray (..., n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., n)
            Efforts, N m or N.
        """
        tau = self._coriolis_torque(q, qd, out, threads)
        return tau if tau is not None else self._evaluate(self._coriolis_torque, {"q": q, "qd": qd}, out, threads)

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, external: Wrenches | None = None,
                         *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the accelerations that efforts cause.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        tau : array_like (..., n)
            Efforts, N m or N.
        external : dict of str to array_like (..., 6), optional
            Wrenches on links, as in ``inverse_dynamics``.
        out : ndarray (..., n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., n)
            Accelerations, rad/s^2 or m/s^2.

        Notes
        -----
        Where the mass matrix is singular, the result is not finite. Robots with mimic joints use the mass matrix.

        References
        ----------
        [SY] (15).
        """
        if external is not None:
            return self._under_load("forward_dynamics", ("q", "qd", "tau"), (q, qd, tau), external, out, threads)
        qdd = self._forward_dynamics(q, qd, tau, out, threads)
        return qdd if qdd is not None else self._evaluate(
            self._forward_dynamics, {"q": q, "qd": qd, "tau": tau}, out, threads)

    def hybrid_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, tau: ArrayLike,
                        driven: ArrayLike | Iterable[str], external: Wrenches | None = None,
                        *, out: tuple[np.ndarray, np.ndarray] | None = None,
                        threads: Threads = None) -> tuple[np.ndarray, np.ndarray]:
        """Compute the accelerations of some joints and the efforts of the others.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n)
            Accelerations of the joints ``driven``, rad/s^2 or m/s^2. Other entries are ignored, and may be NaN.
        tau : array_like (..., n)
            Efforts of the other joints, N m or N. Other entries are ignored, and may be NaN.
        driven : array_like (..., n) or iterable of str
            Joints with given accelerations: their names, or a mask of velocities, which can also select single
            velocities of a Lie-group joint.
        external : dict of str to array_like (..., 6), optional
            Wrenches on links, as in ``inverse_dynamics``.
        out : tuple of ndarray (..., n), optional
            Arrays (qdd, tau) for the result. They may be the inputs.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        qdd : ndarray (..., n)
            Accelerations of all joints, rad/s^2 or m/s^2.
        tau : ndarray (..., n)
            Efforts of all joints, N m or N.

        Notes
        -----
        The cost is O(n). Robots with mimic joints use the mass matrix.

        References
        ----------
        Featherstone (2008) 9.
        """
        mask = checks.joint_mask("driven", driven, self.v_slices, self.n)
        if (external is None and out is None and threads is None and type(qdd) is type(tau) is np.ndarray
                and qdd.shape == tau.shape == mask.shape == (self.n,)):
            found = self._hybrid_dynamics(q, qd, np.where(mask, qdd, tau), mask.astype(float), None, None)
            if found is not None:
                return np.where(mask, qdd, found[0]), np.where(mask, found[1], tau)
        given: dict[str, ArrayLike] = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
        if self._foreign(given.values(), external):
            found = self._method_on("hybrid_dynamics", given, ("result", "joint"), (2, self.n), external=external,
                                    out=out, threads=threads, inner=1, driven=mask)
            return found[..., 0, :], found[..., 1, :]
        arrays = {name: checks.real_numbers(name, x, self.nq if name == "q" else self.n) for name, x in given.items()}
        arrays["driven"] = mask
        if external is not None:
            arrays["external"] = self.external_torque(q, external, threads=threads)
        q, qd, qdd, tau, mask, *load = checks.broadcast(arrays)
        results = checks.result_pair(out, "qdd, tau", qdd.shape, tau.shape)
        effort = np.add(tau, *load) if load else tau
        found = self._evaluate(self._hybrid_dynamics, {"q": q, "qd": qd, "given": np.where(mask, qdd, effort),
                                                       "driven": mask}, None, threads)
        effort = np.subtract(found[..., 1, :], *load) if load else found[..., 1, :]
        acceleration, effort = np.where(mask, qdd, found[..., 0, :]), np.where(mask, effort, tau)
        results[0][...], results[1][...] = acceleration, effort
        return results

    def mass_matrix(self, q: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the mass matrix M(q) by the composite rigid body algorithm.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        out : ndarray (..., n, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., n, n)
            Symmetric matrix.

        References
        ----------
        [MD] (81).
        """
        H = self._mass_matrix(q, out, threads)
        return H if H is not None else self._evaluate(self._mass_matrix, {"q": q}, out, threads)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the Coriolis matrix C(q, qd) from the Christoffel symbols of M.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        out : ndarray (..., n, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., n, n)
            Matrix with which M' - 2 C is skew-symmetric.

        Notes
        -----
        For Lie-group joints the Christoffel symbols are those of velocities, and M' is along the motion;
        docs/group_joints.md.

        References
        ----------
        [MD] (83), (85).
        """
        C = self._coriolis_matrix(q, qd, out, threads)
        return C if C is not None else self._evaluate(self._coriolis_matrix, {"q": q, "qd": qd}, out, threads)

    def external_torque(self, q: ArrayLike, external: Wrenches, *, out: Out = None,
                        threads: Threads = None) -> np.ndarray:
        """Compute the joint efforts of wrenches on links: the sum of J^T W.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        external : dict of str to array_like (..., 6)
            Wrenches on links, as in ``inverse_dynamics``.
        out : ndarray (..., n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., n)
            Efforts, N m or N.
        """
        return self._under_load("external_torque", ("q",), (q,), external, out, threads)

    def _under_load(self, method, names, inputs, external, out, threads):
        """Evaluate a kernel whose last input is wrenches on bodies. It reads a dict {link: array (6,)} directly."""
        bound = self._under[method]
        if type(external) is dict and (found := bound(*inputs, external, out, threads)) is not None:
            return found
        given = dict(zip(names, inputs, strict=True))
        if self._foreign(inputs, checks.wrenches(external, self.link_names)):
            return self._method_on(method, given, ("joint",), (self.n,), external=external, out=out, threads=threads)
        F = self._wrenches_on_bodies(inputs[0], external)
        if (found := bound(*inputs, F, out, threads)) is not None:
            return found
        arrays = checks.broadcast({name: checks.real_numbers(name, x, self.nq if name == "q" else self.n)
                                   for name, x in given.items()} | {"external": F})
        return self._evaluate_arrays(bound, arrays, (self.n,), out, threads)

    def _wrenches_on_bodies(self, q, external):
        """Return the sums (..., 6 b) of wrenches {link: (..., 6)} on each body, in the frame of its Link. Constant
        wrenches are repeated for each state of a batch q (N, nq)."""
        wrenches = checks.broadcast({name: checks.real_numbers(name, W, 6) for name, W in (
            (f"the wrench on link {link!r}", W) for link, W in checks.wrenches(external, self.link_names).items())})
        F = np.zeros((*(wrenches[0].shape[:-1] if wrenches else ()), 6 * self._bodies))
        for link, W in zip(external, wrenches, strict=True):
            body, to_body = self._carried_to(self.model.known_link(link))
            if body:                            # the root's, with slot 0, is omitted
                F[..., 6 * body - 6:6 * body] += W @ to_body
        return np.tile(F, (len(q), 1)) if F.ndim == 1 and isinstance(q, np.ndarray) and q.ndim == 2 else F

    def _carried_to(self, link):
        """Return the slot of a link's body, and the matrix that transforms a wrench (..., 6) on the link, as a row
        vector, to the frame of the Link. The result is cached."""
        if link not in self._carriers:
            row = self.tables.frames[self._frame[link]]
            self._carriers[link] = row.body, Ad_matrix(inverse_pose(pose_matrix(row.C)))
        return self._carriers[link]

    def _with_load(self, name, x, q, external):
        """Return a vector (..., n) and the efforts of external wrenches, broadcast over their leading axes."""
        load = self.external_torque(q, external)
        return checks.broadcast({name: checks.real_numbers(name, x, self.n), "external": load})

    def friction_torque(self, qd: ArrayLike, *, out: Out = None) -> np.ndarray:
        """Compute the efforts of friction.

        Parameters
        ----------
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        out : ndarray (..., n), optional
            Array for the result.

        Returns
        -------
        ndarray (..., n)
            Efforts damping qd + friction sign(qd), plus those of the robot's own elements ``forces.Friction``, N m or
            N.

        Notes
        -----
        The robot's own elements are those in ``forces``, and rigid motors that are coupled to several joints. Their
        sign function is linear within 1e-3 rad/s or m/s of rest.

        No other method includes friction, except with ``friction=True``.
        """
        if any_foreign((qd,)):
            return self._method_on("friction_torque", {"qd": qd}, ("joint",), (self.n,), out=out)
        qd = checks.real_numbers("qd", qd, self.n)
        found = friction_torque(self.model.damping, self.model.friction, qd)
        if own := friction_of(self.model):
            found = found - ForceSum(self.model, self.tables, own).efforts(configuration_space.neutral(self.model), qd)
        return checks.filled(out, found)
