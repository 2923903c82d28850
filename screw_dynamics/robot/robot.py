"""Robot: a model with names, checks, and one state or a batch of states at once. The facade of the package."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from screw_dynamics import checks, mjcf
from screw_dynamics.algorithms.choice import Choice, candidates, choice
from screw_dynamics.algorithms.jacobian import JACOBIAN
from screw_dynamics.algorithms.matrix_rows import is_deep
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.checks.peers import WithHints
from screw_dynamics.compiled.specialize import shortest, straight_line
from screw_dynamics.forces import KINDS, Element, check_fits, elements_of
from screw_dynamics.model.drive import Drive
from screw_dynamics.model.drive_numbers import following, undriven
from screw_dynamics.model.drives import with_drives
from screw_dynamics.model.model import Model
from screw_dynamics.simulation.rollout import Rollouts
from screw_dynamics.urdf import read_urdf
from screw_dynamics.urdf.constraints import left_open
from screw_dynamics.urdf.error import issue
from screw_dynamics.urdf.file import opened, save
from screw_dynamics.urdf.source import Source, kept, path_of

from .configurations import Configurations
from .inverse_kinematics import InverseKinematics
from .linearization import Linearization
from .parameters import InertialParameters
from .time_derivatives import TimeDerivatives
from .whole_robot import WholeRobot

GRAVITY = (0.0, 0.0, -9.81)


class Robot(InertialParameters, Linearization, TimeDerivatives, InverseKinematics, WholeRobot, Configurations,
            metaclass=WithHints):
    """Everything about how a robot moves, from its model and gravity (3,) in m/s^2, resolved in the root link's frame.

    Configurations q (..., nq), velocities qd, accelerations qdd and efforts tau (..., n) are array-likes in the order
    of `joint_names`; leading axes are a batch and broadcast. A joint of one degree of freedom has one number in each,
    in rad or m, and N m or N; `q_slices` and `v_slices` tell where those of others are, docs/group_joints.md what they
    are. Results are new float64 arrays, or `out` where
    one is given. A wrong shape, an unknown link or representation raises ValueError; NaN and infinities propagate as
    in NumPy. Efforts are those of the rigid bodies and gravity alone: friction is a term of its own, `friction_torque`.

    representation: the twists, "body", "spatial", "hybrid" or "mixed", in which the recursions of inverse_dynamics and
    forward_dynamics are written; None: the fastest for each, by docs/comparison.md. Results differ by rounding alone.
    With mimic joints forward dynamics uses the mass matrix in any case.

    A batch runs on SIMD lanes and on `threads` threads; by default as many as the process may use, fewer if
    NUMBA_NUM_THREADS or OMP_NUM_THREADS is less. Its results equal those of single states to rounding. A robot is
    immutable, and may be used from several threads at once. Into an `out` of float32 the methods of states compute in
    single precision, on twice as many states at once; docs/benchmarks.md has the error's bound.

    source: the path or text of the URDF that a robot was read from, None for others. Shapes and meshes, which dynamics
    does without, are looked up there by those who show a robot (`view`)."""

    _sealed = False         # True once every attribute is set

    def __init__(self, model: Model, gravity: ArrayLike = GRAVITY, representation: str | None = None,
                 source: str | None = None):
        if representation is not None:
            checks.one_of("representation", representation, REPRESENTATIONS)
        if not isinstance(source, (str, type(None))):
            raise ValueError(f"source {checks.described(source)} must be the path or text of a URDF, or None")
        super().__init__(model, gravity)
        self.representation, self.source = representation, source
        self._use(Choice(*(entry.of(model.structure) for entry in self._loops())))

    def _loops(self):
        """The algorithms that serve any robot like this one."""
        return choice(self.representation, self.model.shares_coordinates,
                      is_deep(self.model.parents, self.model.coordinates))

    def _use(self, algorithms: Choice):
        object.__setattr__(self, "_sealed", False)
        (self._inverse_dynamics, self._coriolis_torque, self._gravity_torque, self._mass_matrix, self._coriolis_matrix,
         self._forward_dynamics, _) = map(self._bind, algorithms)
        self.rollouts = Rollouts(self, algorithms, self._on_lanes)
        self._steps: dict = {}              # by options: entry point of one state, and settings
        self._sealed = True

    def __setattr__(self, name: str, *value: Any) -> None:
        if self._sealed:
            instead = {"gravity": "robot.with_gravity(gravity) returns", "model": "Robot(model, robot.gravity) is",
                       "representation": "Robot(robot.model, robot.gravity, representation) is"}.get(
                           name, "with_gravity, with_payload, with_armature, with_drives, with_forces, "
                           "with_root_inertia and specialize return")
            raise AttributeError(f"a Robot is immutable, and its {name!r} cannot be changed: {instead} another Robot")
        object.__setattr__(self, name, *value)

    __delattr__ = __setattr__

    def __dir__(self) -> list[str]:
        return sorted({*dir(type(self)), *vars(self)})

    @classmethod
    def from_urdf(cls, source: Source, base_link: str | None = None, tip_link: str | None = None,
                  gravity: ArrayLike = GRAVITY, representation: str | None = None,
                  lock: Mapping[str, ArrayLike] | None = None, floating_base: bool = False,
                  xacro_args: Mapping[str, str] | None = None) -> Robot:
        """Read a URDF: a path, XML text or an open file. Raises UrdfError; what is odd is a UrdfWarning, and so
        are loops and gears of the URDF, which a Robot, a tree, leaves open, and ClosedLoopRobot.from_urdf closes.

        See read_urdf for `base_link`, `tip_link`, `lock`, {joint name: position} of joints to be fixed,
        `floating_base`, whether the root link moves freely, and `xacro_args`, {name: value} of a xacro file."""
        source = opened(source, xacro_args)
        model = read_urdf(source, base_link, tip_link, lock, floating_base)
        path = path_of(source)
        issue([text if path is None else f"{path}: {text}" for text in left_open(
            model, "a Robot is a tree (ClosedLoopRobot.from_urdf closes them)")])
        return cls(model, gravity, representation, kept(source))

    @classmethod
    def from_mjcf(cls, source: Any, gravity: ArrayLike | None = None, representation: str | None = None,
                  folder: str | os.PathLike | None = None) -> Robot:
        """Read a model of MuJoCo, which has to be installed: MJCF text, a path, an MjSpec or an MjModel; read_mjcf says
        what becomes of it, and which files it may name: those of its folder. gravity: the model's if None. What is left
        out is an MjcfWarning."""
        mj = mjcf.compiled(source, folder)
        model = mjcf.read_mjcf(mj)
        issue(left_open(model, "a Robot is a tree (ClosedLoopRobot.from_mjcf closes them)"), mjcf.MjcfWarning)
        return cls(model, mj.opt.gravity if gravity is None else gravity, representation)

    def to_urdf(self, path: str | os.PathLike | None = None) -> str:
        """The text of a URDF of the robot as it is, which is written to a path too, if one is given, at once.

        A robot that was read from a URDF (`source`) gets its text back, with the same links, joints, meshes, order,
        comments and encoding, in which inertias, damping, friction, armature, limits, drives and forces of its own are
        those of the robot, armature and the last two in an element <screw_dynamics>. A body is a link and all that is
        fixed to it: its link takes what has changed, those fixed to it keep what they have, or have nothing, with a
        UrdfWarning, if that is more than all. Read again, with the same options, it gives the same numbers to the last
        bit: what an <inertial> cannot say of the last digits is in <screw_dynamics>. A UrdfWarning names meshes that
        are found from the source, and not from the path.

        Of another robot (a ModelBuilder's, or MJCF's) it is a URDF of the model alone, places and axes to rounding;
        joints below links that are fixed to others may come in another order.

        ValueError names what a URDF has no word for, a source that is not there any more or not that of this robot, and
        a path that cannot be; OSError where nothing can be written."""
        from screw_dynamics.urdf.model_alone import urdf_text  # when it is called: few robots are written
        from screw_dynamics.urdf.writer import written

        source = urdf_text(undriven(self.model)) if self.source is None else self.source
        text, notes = written(self.model, source)
        issue(notes)
        if path is not None:
            save(text, path, source)
        return text

    def __repr__(self):
        return f"<Robot of {len(self.link_names)} links, {len(self.joint_names)} joints: {', '.join(self.joint_names)}>"

    def __reduce__(self):
        return Robot, (self.model, self.gravity, self.representation, self.source)

    def __dask_tokenize__(self):
        """Return the token by which Dask names results of the robot: equal in all processes, wherever its URDF lies."""
        return type(self).__name__, self.model.digest, self.gravity.tolist(), self.representation

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """Return a copy of the robot under another gravity (3,)."""
        return Robot(self.model, gravity, self.representation, self.source)

    def with_payload(self, link: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0),
                     inertia: ArrayLike | None = None) -> Robot:
        """Return a copy with a load on a link: mass, com (3,), inertia (3, 3) about com; see Model.with_payload."""
        return Robot(self.model.with_payload(link, mass, com, inertia), self.gravity, self.representation, self.source)

    def with_root_inertia(self, inertia: ArrayLike | None = None) -> Robot:
        """Return a copy with another inertia (6, 6) of the root link, which stands still; None: without any. Totals, as
        total_mass, center_of_mass and potential_energy, are then of what moves, as Pinocchio's are; efforts and
        accelerations do not depend on it. See Model.with_root_inertia."""
        return Robot(self.model.with_root_inertia(inertia), self.gravity, self.representation, self.source)

    def with_armature(self, armature: Mapping[str, float]) -> Robot:
        """Return a copy with other armature of some joints, {joint: value}, kg m^2 or kg: the inertia of the motor's
        rotor times the gear ratio squared. It adds 1/2 armature qd^2 to the kinetic energy; see Model.with_armature."""
        return Robot(following(self.model.with_armature(armature)), self.gravity, self.representation, self.source)

    def with_drives(self, drives: Mapping[str, Drive]) -> Robot:
        """Return a copy with drives at some joints, {joint: Drive}: motors behind gears, rigid or behind springs.

        Of an elastic drive the motor is a coordinate more, <joint>_motor, behind all others in q, velocities and
        efforts, its position theta and its effort as the joint feels them. Its spring acts in every motion: rollout,
        step, linearize, gradients, balances, scenes, the simulator; `drive_torque` has its efforts, which those of
        inverse_dynamics and forward_dynamics do not contain. ElasticJoints(robot) of sd.elastic_joints has what such
        robots are asked for: feed-forward, equilibria, resonances. See Drive, and model/drives.py for what becomes of
        the model; docs/drives.md."""
        return Robot(with_drives(self.model, drives), self.gravity, self.representation, self.source)

    @property
    def forces(self) -> tuple[Element, ...]:
        """The elements of force that the robot has of its own, `with_forces`, without those of its drives."""
        return self.model.forces

    def with_forces(self, forces: Sequence[Element]) -> Robot:
        """Return a copy with these elements of screw_dynamics.forces as its own, in place of `forces`: they act in
        every motion, beside those that a method is given, and to_urdf writes them. Elements forces.Friction act where
        friction does, as the model's damping and Coulomb friction do, and are part of friction_torque; the others are
        part of drive_torque, as springs of drives are. ValueError names an element that does not fit the robot, and a
        function, which is no number."""
        elements = tuple(element.in_floats() for element in elements_of(forces))
        for element in elements:
            if KINDS.get(type(element).__name__) is not type(element):
                raise ValueError(f"with_forces: {element} must be one of {', '.join(sorted(KINDS))}, which are made of "
                                 "names and numbers; give it as forces= of a rollout")
        check_fits(self.model, elements)
        return Robot(replace(self.model, forces=elements), self.gravity, self.representation, self.source)

    def with_inertial_parameters(self, parameters: ArrayLike) -> Robot:
        """Return a copy with other inertial_parameters (10 b,); see Model.with_inertial_parameters."""
        return Robot(self.model.with_inertial_parameters(parameters), self.gravity, self.representation, self.source)

    def specialize(self, jacobians: Iterable[tuple[str, ...]] = ()) -> Robot:
        """Return a copy with straight-line kernels of its own, also in rollouts: up to some 30 joints twice as fast.

        jacobians: (link, representation) pairs, or triples with a reference link, whose Jacobians get kernels too. Each
        kernel is compiled at its first use, which takes seconds once on a machine. Of several algorithms, of forward
        dynamics, it is that of the fewest operations for this robot; what would need more lines than specialize.LONGEST
        remains a loop. Numbers of joints and frames within 1e-15 of 0, 1 or -1 are rounded to that. Kernels contain
        payload and gravity: with_payload and with_gravity return ordinary robots."""
        special = Robot(self.model, self.gravity, self.representation, self.source)
        pose_sources = self.model.pose_sources(self.gravity)
        special._use(Choice(*(
            shortest(entries, self.tables.links, self.tables.frames, pose_sources=pose_sources)
            or loops.of(self.model.structure) for entries, loops in zip(
                candidates(self.representation, self.model.shares_coordinates), self._loops(), strict=True))))
        for link, representation, *references in checks.jacobian_names(jacobians, self.link_names):
            reference = references[0] if references else None
            target = self._target(link, reference, representation)
            kernel = straight_line(JACOBIAN, self.tables.links, self.tables.frames, target, pose_sources)
            special._keep_jacobian(link, reference, representation,
                                   special._jacobian if kernel is JACOBIAN else special._bind(kernel))
        return special

    def export_c(self, folder: str | os.PathLike, name: str | None = None, quantities: Iterable[str] | None = None, *,
                 links: Iterable[str | Sequence[str]] | None = None, precision: str = "double",
                 external: Iterable[str] = (), payload: Iterable[str] = (), gravity: bool = False,
                 ros2_control: str | None = None) -> list[Path]:
        """Write the robot's functions as C99 to a folder, which is made if need be, with a header for C++17, a CMake
        package, a test and a README.md; returns the paths of the files. They are the same bytes in each run.

        name: the prefix of all names, by default the folder's. quantities: of docs/c_export.md, by default all but
        derivatives, regressor and step. links: those of kinematics, each a name, or (name, representation[, reference
        link]) as in `jacobian`; by default the bodies that carry no other. precision: "double" or "float". external:
        links on which wrenches act, as arguments of inverse and forward dynamics and of step. payload: links that
        carry a load, an argument of all that depends on masses. gravity: whether it is an argument, too. ros2_control:
        the name of a package of ROS 2 to write around all this, with a controller of ros2_control that carries gravity
        and holds a configuration, and a plugin of inverse_dynamics_solver; for joints of one degree of freedom. The
        prefix is then PACKAGE_dynamics by default.

        A robot is as it is now, payloads and armature included, but without springs of elastic drives. ValueError names
        what cannot be exported: a quantity with too many operations, one that would divide by 0, a step of a robot with
        springs or windings of drives or forces of its own, but friction. FileExistsError names a file of somebody
        else's."""
        from screw_dynamics.c_code.export import write  # when it is called: few robots are exported
        return write(self, folder, name, quantities, links, precision, external, payload, gravity, ros2_control)
