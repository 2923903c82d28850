"""Robot: a model with names, checks, and one state or a batch of states at once. The facade of the package."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks, configuration_space
from screw_dynamics.algorithms.centroidal import CENTRE_OF_MASS, CENTROIDAL_MOMENTUM_MATRIX
from screw_dynamics.algorithms.choice import Choice, choice
from screw_dynamics.algorithms.energy import KINETIC_ENERGY, POTENTIAL_ENERGY
from screw_dynamics.algorithms.friction import friction_torque
from screw_dynamics.algorithms.jacobian import JACOBIAN, JACOBIAN_DERIVATIVE
from screw_dynamics.algorithms.kinematics import BODY_POSES, BODY_POSES_SPATIAL, FORWARD_KINEMATICS
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.algorithms.twists import BODY_JACOBIANS_IN, BODY_TWISTS_IN
from screw_dynamics.compiled.batch import Workspaces, evaluate
from screw_dynamics.compiled.entry import Entry, Target
from screw_dynamics.compiled.specialize import straight_line
from screw_dynamics.compiled.workspace import Rows, workspace
from screw_dynamics.model.model import Model
from screw_dynamics.peers import WithHints
from screw_dynamics.simulation.rollout import Rollouts
from screw_dynamics.urdf import read_urdf
from screw_dynamics.urdf.source import Source, kept

GRAVITY = (0.0, 0.0, -9.81)
Out: TypeAlias = np.ndarray | None
Threads: TypeAlias = int | None
Wrenches: TypeAlias = Mapping[str, ArrayLike]
empty = np.empty


class Robot(metaclass=WithHints):
    """Everything about how a robot moves, from its model and gravity (3,) in m/s^2, resolved in the root link's frame.

    Joint coordinates q (rad or m), rates qd, accelerations qdd and efforts tau (N m or N) are array-likes (..., n) in
    the order of `joint_names`; leading axes are a batch and broadcast. Results are new float64 arrays, or `out` where
    one is given. A wrong shape, an unknown link or representation raises ValueError; NaN and infinities propagate as
    in NumPy. Efforts are those of the rigid bodies and gravity alone: friction is a term of its own, `friction_torque`.

    representation: the twists, "body", "spatial", "hybrid" or "mixed", in which the recursions of inverse_dynamics and
    forward_dynamics are written; None: the fastest for each, by docs/comparison.md. Results differ by rounding alone.
    With mimic joints forward dynamics uses the mass matrix in any case.

    A batch runs on SIMD lanes and on `threads` threads; by default as many as the process may use, fewer if
    NUMBA_NUM_THREADS or OMP_NUM_THREADS is less. Its results equal those of single states to rounding. A robot is
    immutable, and may be used from several threads at once.

    source: the path or text of the URDF that a robot was read from, None for others. Shapes and meshes, which dynamics
    does without, are looked up there by those who show a robot (`view`)."""

    _sealed = False         # True once every attribute is set

    def __init__(self, model: Model, gravity: ArrayLike = GRAVITY, representation: str | None = None,
                 source: str | None = None):
        if representation is not None:
            checks.one_of("representation", representation, REPRESENTATIONS)
        self.model, self.representation, self.source = checks.model(model, Model), representation, source
        self.gravity = checks.vector("gravity", gravity, 3)
        self.gravity.setflags(write=False)
        self.n, self.nq, self._twists = model.n, model.nq, (6, model.n)
        self.q_slices, self.v_slices = model.q_slices, model.v_slices
        self.joint_names, self.link_names, self.warnings = model.joint_names, tuple(model.frames), model.warnings
        self._frame = {name: i for i, name in enumerate(model.frame_names) if name is not None}
        self._root = Target(0, self._frame[model.root]).packed       # of all bodies, in the frame of the root
        self._links, self._frames = model.links(self.gravity), model.frame_rows(self.gravity)
        rows = Rows(self._links, self._frames, self.n, self.nq, model.places())
        self._memory, self._on_lanes = workspace(rows), Workspaces(rows)
        (self._forward_kinematics, self._jacobian, self._jacobian_derivative, self._centroidal_momentum_matrix) = map(
            self._of, (FORWARD_KINEMATICS, JACOBIAN, JACOBIAN_DERIVATIVE, CENTROIDAL_MOMENTUM_MATRIX))
        self._jacobians: dict = {}          # by link, representation and reference: entry point, and packed target
        self._use(Choice(*map(self._of, choice(representation, model.shares_coordinates))))

    def _use(self, algorithms: Choice):
        object.__setattr__(self, "_sealed", False)
        (self._inverse_dynamics, self._coriolis_torque, self._gravity_torque, self._mass_matrix, self._coriolis_matrix,
         self._forward_dynamics, _) = algorithms
        self._rollouts = Rollouts(self, algorithms, self._on_lanes)
        self._steps: dict = {}              # by options: entry point of one state, and plan
        self._sealed = True

    def _of(self, entry: Entry) -> Entry:
        """The entry points of an algorithm for this robot."""
        return entry.on_groups if self.model.on_groups else entry

    def __setattr__(self, name: str, *value: Any) -> None:
        if self._sealed:
            instead = {"gravity": "robot.with_gravity(gravity) returns", "model": "Robot(model, robot.gravity) is",
                       "representation": "Robot(robot.model, robot.gravity, representation) is"}.get(
                           name, "with_gravity, with_payload and specialize return")
            raise AttributeError(f"a Robot is immutable, and its {name!r} cannot be changed: {instead} another Robot")
        object.__setattr__(self, name, *value)

    __delattr__ = __setattr__

    def __dir__(self) -> list[str]:
        return sorted({*dir(type(self)), *vars(self)})

    @classmethod
    def from_urdf(cls, source: Source, base_link: str | None = None, tip_link: str | None = None,
                  gravity: ArrayLike = GRAVITY, representation: str | None = None,
                  lock: Mapping[str, float] | None = None, floating_base: bool = False) -> Robot:
        """Read a URDF: a path, XML text or an open file. Raises UrdfError; what is odd is a UrdfWarning.

        See read_urdf for `base_link`, `tip_link`, `lock`, {joint name: position} of joints to be fixed, and
        `floating_base`."""
        return cls(read_urdf(source, base_link, tip_link, lock, floating_base), gravity, representation, kept(source))

    def __repr__(self):
        return f"<Robot of {len(self.link_names)} links, {self.n} joints: {', '.join(self.joint_names)}>"

    def __reduce__(self):
        return Robot, (self.model, self.gravity, self.representation, self.source)

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """The same robot under another gravity (3,)."""
        return Robot(self.model, gravity, self.representation, self.source)

    def with_payload(self, link: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0),
                     inertia: ArrayLike | None = None) -> Robot:
        """The same robot with a load on a link: mass, com (3,), inertia (3, 3) about com; see Model.with_payload."""
        return Robot(self.model.with_payload(link, mass, com, inertia), self.gravity, self.representation, self.source)

    def specialize(self, jacobians: Iterable[tuple[str, ...]] = ()) -> Robot:
        """The same robot with straight-line kernels of its own, also in rollouts: up to some 30 joints twice as fast.

        jacobians: (link, representation) pairs, or triples with a reference link, whose Jacobians get kernels too. Each
        kernel is compiled at its first use, which takes seconds once on a machine; an algorithm that would need more
        operations than specialize.LONGEST remains a loop, as do all of a robot with joints on groups. Numbers of joints
        and frames within 1e-15 of 0, 1 or -1 are rounded to that. Kernels contain payload and gravity: with_payload and
        with_gravity return ordinary robots."""
        special = Robot(self.model, self.gravity, self.representation, self.source)
        if self.model.on_groups:
            return special
        loops, lines = (choice(self.representation, self.model.shares_coordinates, lines) for lines in (False, True))
        special._use(lines.specialized(lambda entry: straight_line(entry, self._links, self._frames), loops))
        for link, representation, *references in checks.jacobian_names(jacobians, self.link_names):
            reference = references[0] if references else None
            kernel = straight_line(JACOBIAN, self._links, self._frames, self._target(link, reference, representation))
            special._keep_jacobian(link, reference, representation, kernel)
        return special

    # --------------------------------------------------------------------------------------------- configurations
    def neutral(self) -> np.ndarray:
        """The configuration (nq,) of the model's poses: 0, and the identity of joints on groups."""
        return configuration_space.neutral(self.model)

    def integrate(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """The configuration (..., nq) to which a constant velocity v (..., n) leads in unit time: q + v, or g
        exp(v)."""
        return configuration_space.integrated(self.model, *self._states(q=q, v=v))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """The velocity v (..., n) with integrate(q0, v) = q1: q1 - q0, or log(g0^-1 g1), its angles at most pi."""
        return configuration_space.difference(self.model, *self._states(q0=q0, q1=q1))

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, s: ArrayLike) -> np.ndarray:
        """The configurations (..., nq) at the shares s (...) of the way from q0 to q1, at constant velocity."""
        return self.integrate(q0, np.asarray(s, dtype=float)[..., None] * self.difference(q0, q1))

    def distance(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """The length (...) of difference(q0, q1), of radians and metres alike."""
        return np.linalg.norm(self.difference(q0, q1), axis=-1)

    def normalize(self, q: ArrayLike) -> np.ndarray:
        """The same configurations (..., nq) with quaternions of unit length; ValueError for the quaternion 0.

        Dynamics takes quaternions of any length but 0, and divides it out."""
        return configuration_space.normalized(self.model, *self._states(q=q))

    def random_configuration(self, rng: np.random.Generator | int | None = None, shape: int | tuple[int, ...] = ()
                             ) -> np.ndarray:
        """Configurations (*shape, nq): uniform within limits, angles in [-pi, pi] and lengths in [-1, 1] m without;
        uniform rotations."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return configuration_space.random(self.model, np.random.default_rng(rng), shape)

    def _states(self, **given):
        """Configurations q, q0, q1 and velocities v, as arrays."""
        return [checks.real_numbers(name, x, self.n if name == "v" else self.nq).astype(float)
                for name, x in given.items()]

    # --------------------------------------------------------------------------------------------- dynamics
    # Each method calls the compiled entry point first, which does nothing and returns False unless its arguments are
    # contiguous float64 arrays of one state; only then Python checks them, which takes longer than the dynamics.

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, external: Wrenches | None = None,
                         out: Out = None, threads: Threads = None) -> np.ndarray:
        """The efforts tau (..., n) = M(q) qdd + C(q, qd) qd + g(q) that a motion requires; [MD] (66), (67), (42).

        external: {link: wrench (..., 6)}, torque and force on the link at its origin, resolved in its frame."""
        if external is None:
            tau = empty(self.n) if out is None else out
            if self._inverse_dynamics.one(self._memory, q, qd, qdd, tau):
                return tau
        elif checks.wrenches(external, self.link_names):
            qdd, load = self._with_load("qdd", qdd, q, external)
            tau = self._evaluate(self._inverse_dynamics, {"q": q, "qd": qd, "qdd": qdd}, out, threads)
            return np.subtract(tau, load, out=tau)
        return self._evaluate(self._inverse_dynamics, {"q": q, "qd": qd, "qdd": qdd}, out, threads)

    def gravity_torque(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The efforts g(q) (..., n) that hold the robot still: the gradient of the potential energy."""
        tau = empty(self.n) if out is None else out
        if self._gravity_torque.one(self._memory, q, tau):
            return tau
        return self._evaluate(self._gravity_torque, {"q": q}, out, threads)

    def coriolis_torque(self, q: ArrayLike, qd: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The efforts C(q, qd) qd (..., n) of Coriolis and centrifugal forces."""
        tau = empty(self.n) if out is None else out
        if self._coriolis_torque.one(self._memory, q, qd, tau):
            return tau
        return self._evaluate(self._coriolis_torque, {"q": q, "qd": qd}, out, threads)

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, external: Wrenches | None = None,
                         out: Out = None, threads: Threads = None) -> np.ndarray:
        """The accelerations qdd (..., n) that efforts cause; [SY] (15), or the mass matrix with mimic joints.

        external as in inverse_dynamics. Where the mass matrix is singular the result is not finite."""
        if external is None:
            qdd = empty(self.n) if out is None else out
            if self._forward_dynamics.one(self._memory, q, qd, tau, qdd):
                return qdd
        elif checks.wrenches(external, self.link_names):
            tau = np.add(*self._with_load("tau", tau, q, external))
        return self._evaluate(self._forward_dynamics, {"q": q, "qd": qd, "tau": tau}, out, threads)

    def mass_matrix(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The mass matrix M(q) (..., n, n), symmetric, by composite bodies; [MD] (81)."""
        H = empty((self.n, self.n)) if out is None else out
        if self._mass_matrix.one(self._memory, q, H):
            return H
        return self._evaluate(self._mass_matrix, {"q": q}, out, threads)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The matrix C(q, qd) (..., n, n) of the Christoffel symbols of M: M' - 2 C is skew; [MD] (83), (85)."""
        H = empty((self.n, self.n)) if out is None else out
        if self._coriolis_matrix.one(self._memory, q, qd, H):
            return H
        return self._evaluate(self._coriolis_matrix, {"q": q, "qd": qd}, out, threads)

    def external_torque(self, q: ArrayLike, external: Wrenches, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The efforts sum J^T W (..., n) that are equivalent to wrenches on links; external as in inverse_dynamics."""
        tau = 0.0
        for link, wrench in checks.wrenches(external, self.link_names).items():
            wrench = checks.real_numbers(f"the wrench on link {link!r}", wrench, 6)
            tau = tau + np.einsum("...ij,...i->...j", self.jacobian(q, link, threads=threads), wrench)
        return np.add(tau, np.zeros(self.n), out=out)

    def _with_load(self, name, x, q, external):
        """A vector (..., n) and the efforts of external wrenches, over common leading axes."""
        load = self.external_torque(q, external)
        return checks.broadcast({name: checks.real_numbers(name, x, self.n), "external": load})

    def friction_torque(self, qd: ArrayLike, out: Out = None) -> np.ndarray:
        """The efforts (..., n) that friction takes: damping qd + friction sign(qd). No other method includes it."""
        qd = checks.real_numbers("qd", qd, self.n)
        return np.add(friction_torque(self.model.damping, self.model.friction, qd), 0.0, out=out)

    # --------------------------------------------------------------------------------------------- kinematics
    def forward_kinematics(self, q: ArrayLike, link: str, reference: str | None = None, out: Out = None,
                           threads: Threads = None) -> np.ndarray:
        """The pose (..., 4, 4) of a link in the frame of a reference link, the root unless named; [MK] (8)."""
        try:
            _, target = self._jacobians[link]["body"][reference]
        except (KeyError, TypeError):
            _, target = self._keep_jacobian(link, reference, "body")
        C = empty((4, 4)) if out is None else out
        if self._forward_kinematics.one(self._memory, target, q, C):
            return C
        return self._evaluate(self._forward_kinematics, {"q": q}, out, threads, target)

    def body_poses(self, q: ArrayLike, form: str = "body_fixed", reference: str | None = None, out: Out = None,
                   threads: Threads = None) -> np.ndarray:
        """The poses (..., b, 4, 4) of all bodies in the frame of a reference link, the root unless named, in the order
        of model.body_names, by the product of exponentials in body-fixed, [MK] (8), or spatial form, [MK] (10)."""
        forms = {"body_fixed": BODY_POSES, "spatial": BODY_POSES_SPATIAL}
        target = self._target(self.model.root, reference, "body").packed
        return self._evaluate(self._of(forms[checks.one_of("form", form, forms)]), {"q": q}, out, threads, target)

    def jacobian(self, q: ArrayLike, link: str, representation: str = "body", reference: str | None = None,
                 out: Out = None, threads: Threads = None) -> np.ndarray:
        """The Jacobian J (..., 6, n) of a link, angular rows first: J qd is its twist relative to a reference link.

        representation: "body" (measured and resolved in the link's frame), "spatial" (in the reference frame), "hybrid"
        (velocity of the link's origin, resolved in the reference frame) or "mixed" (angular rows resolved in the link's
        frame, linear ones in the reference frame); [MK] (16), (28), (40), (50). reference: the root by default."""
        try:
            jacobian, target = self._jacobians[link][representation][reference]
        except (KeyError, TypeError):           # a first call, or no valid name
            jacobian, target = self._keep_jacobian(link, reference, representation)
        J = empty(self._twists) if out is None else out
        if jacobian.one(self._memory, target, q, J):
            return J
        return self._evaluate(jacobian, {"q": q}, out, threads, target)

    def jacobian_derivative(self, q: ArrayLike, qd: ArrayLike, link: str, representation: str = "body",
                            reference: str | None = None, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The time derivative (..., 6, n) of the Jacobian of `jacobian` along qd; [MD] (5), (16), (25)."""
        try:
            _, target = self._jacobians[link][representation][reference]
        except (KeyError, TypeError):
            _, target = self._keep_jacobian(link, reference, representation)
        Jd = empty(self._twists) if out is None else out
        if self._jacobian_derivative.one(self._memory, target, q, qd, Jd):
            return Jd
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

    # --------------------------------------------------------------------------------------------- the whole robot
    @property
    def total_mass(self) -> float:
        """The mass of all links, the root too, kg."""
        return float(self.model.inertias[:, 5, 5].sum() + self.model.root_inertia[5, 5])

    def center_of_mass(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The centre of mass (..., 3) of all links, the root too, in the root link's frame, m. NaN without mass."""
        return self._evaluate(self._of(CENTRE_OF_MASS), {"q": q}, out, threads, self._root)

    def center_of_mass_jacobian(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The Jacobian (..., 3, n) of the centre of mass: J qd is its velocity in the root link's frame."""
        momentum = self.centroidal_momentum_matrix(q, threads=threads)
        return np.multiply(momentum[..., 3:, :], 1.0 / self.total_mass, out=out)

    def centroidal_momentum_matrix(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The matrix A (..., 6, n): A qd is the momentum of all bodies about the centre of mass, in the root link's
        axes.

        Angular rows first; by composite bodies, O(n), Orin and Goswami (2008)."""
        A = empty(self._twists) if out is None else out
        if self._centroidal_momentum_matrix.one(self._memory, self._root, q, A):
            return A
        return self._evaluate(self._centroidal_momentum_matrix, {"q": q}, out, threads, self._root)

    def centroidal_momentum(self, q: ArrayLike, qd: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The momentum (..., 6), angular and linear, of all bodies about the centre of mass, in the root link's axes.

        Without forces but gravity the angular part, N m s, is constant, and the linear part, N s, grows by weight times
        time: for a robot with a floating base in free fall."""
        A, qd = self.centroidal_momentum_matrix(q, threads=threads), checks.real_numbers("qd", qd, self.n)
        return np.add(np.einsum("...ij,...j->...i", A, qd), 0.0, out=out)

    # --------------------------------------------------------------------------------------------- energy and motion
    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The kinetic energy (...), J."""
        return self._number(self._of(KINETIC_ENERGY), {"q": q, "qd": qd}, out, threads)

    def potential_energy(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The potential energy (...) of all links, the root too; 0 where a mass lies at the root frame's origin, J."""
        return self._number(self._of(POTENTIAL_ENERGY), {"q": q}, out, threads)

    def rollout(self, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | Callable | None = None, dt: float = 1e-3,
                steps: int = 1000, integrator: str = "semi_implicit_euler", *, friction: bool = False,
                limits: bool = False, every: int = 1, rtol: float = 1e-6, atol: float = 1e-9,
                threads: Threads = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Simulate: times t (samples + 1,), and q and qd (..., samples + 1, n) from the initial states (..., n) on.

        effort: None; (..., n) constant; (..., steps, n) one an interval dt, batch axes as in q0; or a controller, a
        function controller(robot, t, q, qd, tau), or without robot, that Numba can compile: it sets tau (n,) from q
        and qd (n,), and may call the robot's dynamics and kinematics, docs/controllers.md. integrator:
        "semi_implicit_euler" (order 1, symplectic, friction implicit), "rk4" (order 4), both of step dt; or "rk45"
        (Dormand-Prince with SciPy's step control to rtol, at least 2.3e-14, and atol, sampled by dense output; NaN from
        where the step size underflows). friction: let the model's damping and Coulomb friction act. limits: stop joints
        at their position limits, without rebound, between steps of at most dt. every: steps per sample. A state
        that ceases to be finite gives a DivergenceWarning."""
        return self._rollouts.rollout(q0, qd0, effort, dt, steps, integrator, friction, limits, every, rtol, atol,
                                      threads)

    def step(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, dt: float, integrator: str = "semi_implicit_euler", *,
             friction: bool = False, limits: bool = False, out: tuple[np.ndarray, np.ndarray] | None = None,
             threads: Threads = None) -> tuple[np.ndarray, np.ndarray]:
        """The state (q, qd) a time dt (s) later, under efforts tau: one step of `rollout` with the same options, for
        loops in Python. integrator: "semi_implicit_euler" or "rk4". out: arrays (q, qd) for it; may be the inputs."""
        key = (integrator, bool(friction), bool(limits)) if friction or limits else integrator
        try:
            here, rate = (empty(self.nq), empty(self.n)) if out is None else out
            one, plan = self._steps[key]
            if one(self._memory, plan, q, qd, tau, None, here, rate, dt):
                return here, rate
        except (KeyError, TypeError, ValueError):       # a first call, or an argument that is refused below
            self._steps[key] = self._rollouts.step_entry(integrator, friction, limits)
        return self._rollouts.step(q, qd, tau, dt, integrator, friction, limits, out, threads)

    def plot(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None,
             path: str | os.PathLike | None = None) -> Any:
        """A matplotlib figure of a motion as `rollout` returns it: positions q, velocities qd and efforts tau
        (..., samples, n) of each joint at the times t (samples,), what is beyond its limits shaded, and the energy.

        tau: also (n,), or one fewer than samples, one for each interval. Of a batch the first motion is in colour, of
        others the first eleven in grey. path: a file to write, by its name a PNG, PDF or SVG; the figure is closed
        then. ImportError without matplotlib, the extra [plot]."""
        from .plot import plot  # when it is called: few robots are drawn
        return plot(self, t, q, qd, tau, path)

    # --------------------------------------------------------------------------------------------- evaluation
    def _number(self, entry, inputs, out, threads):
        """Evaluate an entry point whose result is a single number."""
        if out is None:
            return self._evaluate(entry, inputs, None, threads)[..., 0]
        self._evaluate(entry, inputs, out[..., None] if isinstance(out, np.ndarray) else out, threads)
        return out

    def _target(self, link, reference, representation):
        """The Target of a link, a reference link, the root for None, and a representation."""
        kind = REPRESENTATIONS.index(checks.one_of("representation", representation, REPRESENTATIONS))
        frame, seen_from = (self._frame[checks.known_link(name, self.link_names)]
                            for name in (link, self.model.root if reference is None else reference))
        return Target(frame, seen_from, kind)

    def _keep_jacobian(self, link, reference, representation, entry=None):
        """The entry point of a Jacobian and its packed target, kept for the next call."""
        found = entry or self._jacobian, self._target(link, reference, representation).packed
        return self._jacobians.setdefault(link, {}).setdefault(representation, {}).setdefault(reference, found)

    def _evaluate(self, entry: Entry, inputs: Mapping[str, ArrayLike], out, threads, *target: int) -> np.ndarray:
        """Check the inputs {name: array-like} and evaluate an entry point on one state or on each of a batch."""
        n = self.n
        arrays = checks.broadcast({
            name: checks.real_numbers(name, x, self.nq if name == "q" else n) for name, x in inputs.items()})
        out = checks.result_array(out, (*arrays[0].shape[:-1], *entry.shape(n, len(self.model.parents))))
        return evaluate(entry, self._memory, self._on_lanes, target, arrays, out, threads)
