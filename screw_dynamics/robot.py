"""Robot: a model with names, checks, and one state or a batch of states at once. The facade of the package."""
from math import prod
from numbers import Real

import numpy as np

from screw_dynamics.algorithms.coriolis_matrix import CORIOLIS_MATRIX
from screw_dynamics.algorithms.energy import KINETIC_ENERGY, POTENTIAL_ENERGY
from screw_dynamics.algorithms.forward_dynamics import FORWARD_DYNAMICS_BY_MASS_MATRIX, FORWARD_DYNAMICS_IN
from screw_dynamics.algorithms.friction import friction_torque
from screw_dynamics.algorithms.gravity import GRAVITY_TORQUE
from screw_dynamics.algorithms.inverse_dynamics import CORIOLIS_TORQUE, INVERSE_DYNAMICS_CLASSICAL, INVERSE_DYNAMICS_IN
from screw_dynamics.algorithms.jacobian import JACOBIAN, JACOBIAN_DERIVATIVE
from screw_dynamics.algorithms.kinematics import BODY_POSES, BODY_POSES_SPATIAL, FORWARD_KINEMATICS
from screw_dynamics.algorithms.mass_matrix import MASS_MATRIX
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.algorithms.twists import BODY_JACOBIANS_IN, BODY_TWISTS_IN
from screw_dynamics.compiled import batch
from screw_dynamics.compiled.entry import about
from screw_dynamics.compiled.specialize import straight_line
from screw_dynamics.compiled.workspace import workspace
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.simulation import rollout
from screw_dynamics.urdf import read_urdf

GRAVITY = (0.0, 0.0, -9.81)
# By representation; None: what docs/comparison.md finds fastest, and keeps its digits wherever the robot stands.
INVERSE_DYNAMICS = {None: INVERSE_DYNAMICS_CLASSICAL, **INVERSE_DYNAMICS_IN}
FORWARD_DYNAMICS = {None: FORWARD_DYNAMICS_IN["hybrid"], **FORWARD_DYNAMICS_IN}
empty = np.empty


class Robot:
    """Everything about how a robot moves, from its model and gravity (3,) in m/s^2, resolved in the root link's frame.

    Joint coordinates q (rad or m), rates qd, accelerations qdd and efforts tau (N m or N) are array-likes (..., n) in
    the order of `joint_names`; leading axes are a batch and broadcast. Results are new float64 arrays, or `out` where
    one is given. A wrong shape, an unknown link or representation is a ValueError; NaN and infinities travel through as
    they do in NumPy. Efforts are those of the rigid bodies and gravity alone: friction is a term of its own
    (`friction_torque`).

    representation: the twists, "body", "spatial", "hybrid" or "mixed", in which the recursions of inverse_dynamics and
    forward_dynamics are written; None: for each the fastest, as docs/comparison.md finds it. Results differ by rounding
    alone. Forward dynamics with mimic joints goes by the mass matrix in any case.

    A batch runs on SIMD lanes and on `threads` threads; by default as many as the process may use, fewer if
    NUMBA_NUM_THREADS or OMP_NUM_THREADS say so. Its results equal those of single states to rounding. A robot is
    immutable, and may be used from several threads at once."""

    def __init__(self, model, gravity=GRAVITY, representation=None):
        self.model = model
        if representation is not None:
            _one_of("representation", representation, REPRESENTATIONS)
        self.representation = representation
        self.gravity = _vector("gravity", gravity, 3)
        self.gravity.setflags(write=False)
        self.n = model.n
        self._twists = 6, model.n
        self.joint_names = model.joint_names
        self.link_names = tuple(model.frames)
        self.warnings = model.warnings
        self._jacobians = {}        # by link, representation and reference: entry point, and what it is told
        self._frame = {name: i for i, name in enumerate(model.frame_names) if name is not None}
        self._root = self._frame[model.root]
        links, frames = model.links(self.gravity), model.frame_rows(self.gravity)
        self._memory = workspace(links, frames, model.n)
        self._on_lanes = batch.Workspaces(lambda: workspace(links, frames, model.n, WIDTH), len(links))
        # The recursion over articulated bodies needs a coordinate for each joint; mimic joints have none of their own.
        shared = model.shares_coordinates
        self._forward_dynamics = FORWARD_DYNAMICS_BY_MASS_MATRIX if shared else FORWARD_DYNAMICS[representation]
        self._inverse_dynamics, self._coriolis_torque = INVERSE_DYNAMICS[representation], CORIOLIS_TORQUE
        self._gravity_torque, self._mass_matrix, self._coriolis_matrix = GRAVITY_TORQUE, MASS_MATRIX, CORIOLIS_MATRIX
        self._acceleration = rollout.COMPOSITE if shared else rollout.ARTICULATED
        self._integrators = rollout.BY_COMPOSITE if shared else rollout.BY_ARTICULATED

    @classmethod
    def from_urdf(cls, source, base_link=None, tip_link=None, gravity=GRAVITY, representation=None):
        """Read a URDF, given as a path or as XML text; see read_urdf for `base_link` and `tip_link`. Raises
        UrdfError."""
        return cls(read_urdf(source, base_link, tip_link), gravity, representation)

    def __repr__(self):
        return f"<Robot of {len(self.link_names)} links, {self.n} joints: {', '.join(self.joint_names)}>"

    def __reduce__(self):
        return Robot, (self.model, self.gravity, self.representation)

    def with_gravity(self, gravity):
        """The same robot under another gravity (3,)."""
        return Robot(self.model, gravity, self.representation)

    def with_payload(self, link, mass, com=(0.0, 0.0, 0.0), inertia=None):
        """The same robot with a load fixed to a link: mass (kg), centre of mass (3,) and rotational inertia (3, 3)
        about it."""
        self._link(link)
        inertia = np.zeros((3, 3)) if inertia is None else np.asarray(inertia, dtype=float)
        if not (isinstance(mass, Real) and np.isfinite(mass) and mass >= 0.0):
            raise ValueError(f"the payload's mass {mass} is not a number from 0 up")
        if inertia.shape != (3, 3) or not np.isfinite(inertia).all() or not np.allclose(inertia, inertia.T):
            raise ValueError(f"the payload's inertia {inertia.tolist()} is not a finite symmetric (3, 3) matrix")
        if np.linalg.eigvalsh(inertia)[0] < -1e-12 * max(1.0, np.abs(inertia).max()):
            raise ValueError(f"the payload's inertia {inertia.tolist()} has a negative principal value")
        model = self.model.with_payload(link, float(mass), _vector("com", com, 3), inertia)
        return Robot(model, self.gravity, self.representation)

    def specialize(self, jacobians=()):
        """The same robot with straight-line kernels of its own, also in rollouts: up to some 30 joints twice as fast.

        jacobians: (link, representation) pairs, or triples with a reference link, whose Jacobians are among them. Each
        kernel is compiled at its first use, which takes seconds once on a machine; an algorithm that would need more
        operations than specialize.LONGEST stays as it is. Numbers of joints and frames within 1e-15 of 0, 1 or -1 are
        taken for these. Payloads and gravity are part of the kernels: with_payload and with_gravity return an ordinary
        robot."""
        special = Robot(self.model, self.gravity, self.representation)
        links, frames = self.model.links(self.gravity), self.model.frame_rows(self.gravity)
        entries = {name: getattr(self, name) for name in (
            "_inverse_dynamics", "_coriolis_torque", "_gravity_torque", "_mass_matrix", "_coriolis_matrix",
            "_forward_dynamics", "_acceleration")}
        if not self.model.shares_coordinates:                   # body-fixed screws are sparse: they make short lines
            entries["_acceleration"] = rollout.BODY_FIXED
            if self.representation is None:
                entries["_forward_dynamics"] = FORWARD_DYNAMICS["body"]
        for name, entry in entries.items():
            special_entry = straight_line(entry, links)
            if special_entry is not entry:
                setattr(special, name, special_entry)
        if special._acceleration is not self._acceleration:
            special._integrators = rollout.integrators(special._acceleration)
        for link, representation, *reference in jacobians:
            reference = reference[0] if reference else None
            _, told = special._jacobian_about(link, reference, representation)
            kernel = straight_line(JACOBIAN, links, frames, told)
            special._jacobians[link][representation][reference] = kernel, told
        return special

    # --------------------------------------------------------------------------------------------- dynamics
    # Each method asks the compiled entry point first, which does nothing and answers False unless its arguments are
    # contiguous float64 arrays of one state; only then Python looks at them, which takes longer than the dynamics.

    def inverse_dynamics(self, q, qd, qdd, external=None, out=None, threads=None):
        """The efforts tau (..., n) = M(q) qdd + C(q, qd) qd + g(q) that a motion takes; [MD] (66), (67), (42).

        external: {link: wrench (..., 6)}, torque and force that act on the link at its origin, resolved in its
        frame."""
        if external is None:
            tau = empty(self.n) if out is None else out
            if self._inverse_dynamics.one(self._memory, q, qd, qdd, tau):
                return tau
        elif external:
            qdd, load = self._with_load("qdd", qdd, q, external)
            tau = self._evaluate(self._inverse_dynamics, {"q": q, "qd": qd, "qdd": qdd}, out, threads)
            return np.subtract(tau, load, out=tau)
        return self._evaluate(self._inverse_dynamics, {"q": q, "qd": qd, "qdd": qdd}, out, threads)

    def gravity_torque(self, q, out=None, threads=None):
        """The efforts g(q) (..., n) that hold the robot still: the gradient of the potential energy."""
        tau = empty(self.n) if out is None else out
        if self._gravity_torque.one(self._memory, q, tau):
            return tau
        return self._evaluate(self._gravity_torque, {"q": q}, out, threads)

    def coriolis_torque(self, q, qd, out=None, threads=None):
        """The efforts C(q, qd) qd (..., n) of Coriolis and centrifugal forces."""
        tau = empty(self.n) if out is None else out
        if self._coriolis_torque.one(self._memory, q, qd, tau):
            return tau
        return self._evaluate(self._coriolis_torque, {"q": q, "qd": qd}, out, threads)

    def forward_dynamics(self, q, qd, tau, external=None, out=None, threads=None):
        """The accelerations qdd (..., n) that efforts cause; [SY] (15). With mimic joints by way of the mass matrix.

        external as in inverse_dynamics. Where the mass matrix is singular the result is not finite."""
        if external is None:
            qdd = empty(self.n) if out is None else out
            if self._forward_dynamics.one(self._memory, q, qd, tau, qdd):
                return qdd
        elif external:
            tau = np.add(*self._with_load("tau", tau, q, external))
        return self._evaluate(self._forward_dynamics, {"q": q, "qd": qd, "tau": tau}, out, threads)

    def mass_matrix(self, q, out=None, threads=None):
        """The mass matrix M(q) (..., n, n), symmetric, by composite bodies; [MD] (81)."""
        H = empty((self.n, self.n)) if out is None else out
        if self._mass_matrix.one(self._memory, q, H):
            return H
        return self._evaluate(self._mass_matrix, {"q": q}, out, threads)

    def coriolis_matrix(self, q, qd, out=None, threads=None):
        """The matrix C(q, qd) (..., n, n) of the Christoffel symbols of M: M' - 2 C is skew; [MD] (83), (85)."""
        H = empty((self.n, self.n)) if out is None else out
        if self._coriolis_matrix.one(self._memory, q, qd, H):
            return H
        return self._evaluate(self._coriolis_matrix, {"q": q, "qd": qd}, out, threads)

    def external_torque(self, q, external, out=None, threads=None):
        """The efforts sum J^T W (..., n) to which wrenches on links amount; external as in inverse_dynamics."""
        tau = 0.0
        for link, wrench in external.items():
            wrench = _numbers(f"the wrench on link {link!r}", wrench, 6)
            tau = tau + np.einsum("...ij,...i->...j", self.jacobian(q, link, threads=threads), wrench)
        return np.add(tau, np.zeros(self.n), out=out)

    def _with_load(self, name, x, q, external):
        """A vector (..., n) and the efforts of external wrenches, over common leading axes."""
        return _broadcast({name: _numbers(name, x, self.n), "external": self.external_torque(q, external)}, self.n)

    def friction_torque(self, qd, out=None):
        """The efforts (..., n) that friction takes: damping qd + friction sign(qd). No other method includes it."""
        qd = _numbers("qd", qd, self.n)
        return np.add(friction_torque(self.model.damping, self.model.friction, qd), 0.0, out=out)

    # --------------------------------------------------------------------------------------------- kinematics
    def forward_kinematics(self, q, link, reference=None, out=None, threads=None):
        """The pose (..., 4, 4) of a link in the frame of a reference link, the root unless named; [MK] (8)."""
        told = about(self._link(link), self._reference(reference), 0)
        C = empty((4, 4)) if out is None else out
        if FORWARD_KINEMATICS.one(self._memory, told, q, C):
            return C
        return self._evaluate(FORWARD_KINEMATICS, {"q": q}, out, threads, told)

    def body_poses(self, q, form="body_fixed", reference=None, out=None, threads=None):
        """The poses (..., b, 4, 4) of all bodies in the frame of a reference link, the root unless named, in the order
        of model.body_names, by the product of exponentials in body-fixed form, [MK] (8), or spatial form, [MK]
        (10)."""
        forms = {"body_fixed": BODY_POSES, "spatial": BODY_POSES_SPATIAL}
        told = about(0, self._reference(reference), 0)
        return self._evaluate(forms[_one_of("form", form, forms)], {"q": q}, out, threads, told)

    def jacobian(self, q, link, representation="body", reference=None, out=None, threads=None):
        """The Jacobian J (..., 6, n) of a link, angular rows first: J qd is its twist against the reference link.

        representation: "body" (measured and resolved in the link's frame), "spatial" (in the reference frame), "hybrid"
        (velocity of the link's origin, resolved in the reference frame) or "mixed" (angular rows resolved in the link's
        frame, linear ones in the reference frame); [MK] (16), (28), (40), (50). reference: the root link unless
        named."""
        try:
            jacobian, told = self._jacobians[link][representation][reference]
        except (KeyError, TypeError):           # not asked before, or no name at all
            jacobian, told = self._jacobian_about(link, reference, representation)
        J = empty(self._twists) if out is None else out
        if jacobian.one(self._memory, told, q, J):
            return J
        return self._evaluate(jacobian, {"q": q}, out, threads, told)

    def jacobian_derivative(self, q, qd, link, representation="body", reference=None, out=None, threads=None):
        """The time derivative (..., 6, n) of the Jacobian of `jacobian` along qd; [MD] (3), (16), (25)."""
        try:
            _, told = self._jacobians[link][representation][reference]
        except (KeyError, TypeError):           # not asked before, or no name at all
            _, told = self._jacobian_about(link, reference, representation)
        Jd = empty(self._twists) if out is None else out
        if JACOBIAN_DERIVATIVE.one(self._memory, told, q, qd, Jd):
            return Jd
        return self._evaluate(JACOBIAN_DERIVATIVE, {"q": q, "qd": qd}, out, threads, told)

    def body_twists(self, q, qd, representation="body", out=None, threads=None):
        """The twists (..., b, 6) of all bodies, in the order of model.body_names; [MK] (14), (30), (42), (52).

        representation as in `jacobian`, about body frames and the root frame."""
        entry = BODY_TWISTS_IN[_one_of("representation", representation, BODY_TWISTS_IN)]
        return self._evaluate(entry, {"q": q, "qd": qd}, out, threads, about(0, self._root, 0))

    def body_jacobians(self, q, representation="body", out=None, threads=None):
        """The Jacobians (..., b, 6, n) of all bodies, with J qd their twists; [MK] (19), (29), (41), (51)."""
        entry = BODY_JACOBIANS_IN[_one_of("representation", representation, BODY_JACOBIANS_IN)]
        return self._evaluate(entry, {"q": q}, out, threads, about(0, self._root, 0))

    # --------------------------------------------------------------------------------------------- energy and motion
    def kinetic_energy(self, q, qd, out=None, threads=None):
        """The kinetic energy (...), J."""
        return self._number(KINETIC_ENERGY, {"q": q, "qd": qd}, out, threads)

    def potential_energy(self, q, out=None, threads=None):
        """The potential energy (...) of all links, the root too; 0 where a mass lies at the root frame's origin, J."""
        return self._number(POTENTIAL_ENERGY, {"q": q}, out, threads)

    def rollout(self, q0, qd0, effort=None, dt=1e-3, steps=1000, integrator="semi_implicit_euler", *, friction=False,
                limits=False, every=1, rtol=1e-6, atol=1e-9, threads=None):
        """Simulate: times t (samples + 1,), and q and qd (..., samples + 1, n) from the initial states (..., n) on.

        effort: None; (..., n) held; (..., steps, n) one for each interval dt, batch axes as in q0; or a feedback law, a
        function law(t, q, qd, tau) that Numba can compile, which sets tau (n,) from q and qd (n,). integrator:
        "semi_implicit_euler" (order 1, symplectic, friction implicit), "rk4" (order 4), both of step dt; or "rk45"
        (Dormand-Prince with SciPy's step control to rtol, at least 2.3e-14, and atol, sampled by dense output; NaN from
        where no step is short enough). friction: let the model's damping and Coulomb friction act. limits: stop joints
        at their position limits, without rebound, between steps, which are at most dt long then. every: keep each so
        many-th step as a sample."""
        n = self.n
        method = self._integrators[_one_of("integrator", integrator, self._integrators)]
        for name, x in (("dt", dt), ("rtol", rtol), ("atol", atol)):
            if not (isinstance(x, Real) and np.isfinite(x) and x > 0.0):
                raise ValueError(f"{name} {x!r} is not a positive number")
        steps, every = _whole("steps", steps, 0), _whole("every", every, 1)
        if steps % every:
            raise ValueError(f"steps {steps} is not a multiple of every {every}")
        q0, qd0 = _broadcast({"q0": _numbers("q0", q0, n), "qd0": _numbers("qd0", qd0, n)}, n)
        lead, count, samples = q0.shape[:-1], prod(q0.shape[:-1]), steps // every
        law = rollout.as_law(effort) if callable(effort) else None
        effort = _effort(None if law else effort, lead, steps, n)
        q, qd = empty((2, count, samples + 1, n))
        q[:, 0], qd[:, 0] = q0.reshape(count, n), qd0.reshape(count, n)
        threads = batch.available_threads() if threads is None else _whole("threads", threads, 1)
        plan = rollout.Plan(float(dt), every, max(float(rtol), 100 * np.finfo(float).eps), float(atol))
        effort = effort.reshape(count, *effort.shape[-2:])
        rollout.simulate(method, self._on_lanes, self._resisting(friction, limits), effort, law, plan, q, qd, threads)
        shape = (*lead, samples + 1, n)
        return every * dt * np.arange(samples + 1), q.reshape(shape), qd.reshape(shape)

    def _resisting(self, friction, limits):
        """What resists the joints in a rollout (4, n): damping, friction, lower and upper stop."""
        model, nothing = self.model, np.zeros(self.n)
        resistance = [model.damping, model.friction] if friction else [nothing, nothing]
        stops = [model.lower, model.upper] if limits else [nothing - np.inf, nothing + np.inf]
        return np.array(resistance + stops).reshape(4, self.n)

    # --------------------------------------------------------------------------------------------- checks
    def _number(self, entry, inputs, out, threads):
        """Evaluate an entry point whose result is a single number."""
        if out is None:
            return self._evaluate(entry, inputs, None, threads)[..., 0]
        self._evaluate(entry, inputs, out[..., None] if isinstance(out, np.ndarray) else out, threads)
        return out

    def _link(self, name):
        """The index of a link's frame."""
        try:
            return self._frame[name]
        except (KeyError, TypeError):
            raise ValueError(f"link {name!r} is not in the model; it has {', '.join(self.link_names)}") from None

    def _reference(self, name):
        """The index of a reference link's frame; the root's for None."""
        return self._root if name is None else self._link(name)

    def _jacobian_about(self, link, reference, representation):
        """The entry point of a Jacobian, and what it is told: link, reference and representation in one number."""
        kind = REPRESENTATIONS.index(_one_of("representation", representation, REPRESENTATIONS))
        told = about(self._link(link), self._reference(reference), kind)
        known = self._jacobians.setdefault(link, {}).setdefault(representation, {})
        return known.setdefault(reference, (JACOBIAN, told))

    def _evaluate(self, entry, inputs, out, threads, *options):
        """Check the inputs {name: array-like} and evaluate an entry point on one state or on each of a batch."""
        n = self.n
        arrays = _broadcast({name: _numbers(name, x, n) for name, x in inputs.items()}, n)
        lead = arrays[0].shape[:-1]
        shape = (*lead, *entry.shape(n, len(self.model.parents)))
        if out is None:
            out = empty(shape)
        elif not isinstance(out, np.ndarray) or out.dtype != float or out.shape != shape or not out.flags.writeable:
            raise ValueError(f"out must be a writable float64 array of shape {shape}, not {_describe(out)}")
        if lead:
            threads = batch.available_threads() if threads is None else _whole("threads", threads, 1)
            apart = not any(np.may_share_memory(out, a, max_work=1000) for a in arrays)
            results = out if apart else empty(shape)            # never write where a state is still to be read
            batch.evaluate(entry, self._on_lanes, options, arrays, results, threads)
            if not apart:
                out[...] = results
            return out
        result = np.require(out, requirements=["C", "A"])
        states = [np.require(a, float, ["C", "A"]).view(np.ndarray) for a in arrays]
        if not entry.one(self._memory, *options, *states, result):      # arrays of a build that borrow.py does not know
            batch.evaluate(entry, self._on_lanes, options, [a[None] for a in states], result[None], 1)
        if result is not out:
            out[...] = result
        return out


def _numbers(name, x, size):
    """An array-like (..., size) of real numbers as float64."""
    try:
        a = np.asarray(x)
        if a.dtype.kind not in "fiub" and a.size:
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be made of real numbers, not {_describe(x)}") from None
    if a.ndim == 0 or a.shape[-1] != size:
        raise ValueError(f"{name} has shape {a.shape}, but must end in {size}")
    return a


def _broadcast(arrays, n):
    """The arrays {name: (..., n)} as views over common leading axes."""
    if len({a.shape for a in arrays.values()}) == 1:
        return list(arrays.values())
    try:
        lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ValueError(f"the leading axes do not broadcast: {shapes}") from None
    return [np.broadcast_to(a, (*lead, n)) for a in arrays.values()]


def _effort(effort, lead, steps, n):
    """The efforts of a rollout as a view (*lead, 1 or steps, n)."""
    effort = _numbers("effort", np.zeros(n) if effort is None else effort, n)
    over_time = effort.ndim > 1 and effort.shape[-2] == steps and effort.shape != (*lead, n)
    numbers = np.require(effort, float, ["A"])
    try:
        if over_time:
            return np.broadcast_to(numbers, (*lead, steps, n))
        return np.broadcast_to(numbers[..., None, :], (*lead, 1, n))
    except ValueError:
        fit = f"({n},), {(*lead, n)} or {(*lead, steps, n)}"
        raise ValueError(f"effort has shape {effort.shape}; needed is {fit}") from None


def _vector(name, x, size):
    a = np.array(_numbers(name, x, size))
    if a.shape != (size,) or not np.isfinite(a).all():
        raise ValueError(f"{name} must be {size} finite numbers, not {a.tolist()}")
    return a


def _whole(name, x, least):
    if not (isinstance(x, Real) and np.isfinite(x) and x == int(x) and x >= least):
        raise ValueError(f"{name} {x!r} is not a whole number from {least} up")
    return int(x)


def _one_of(name, value, choices):
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} {value!r} is none of {', '.join(choices)}")
    return value


def _describe(x):
    return f"{x.dtype} of shape {x.shape}" if isinstance(x, np.ndarray) else repr(x)
