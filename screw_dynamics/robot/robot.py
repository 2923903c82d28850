"""Robot, the facade of the package: methods with names and checks, for one state or a batch of states."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from screw_dynamics.algorithms.choice import Choice, candidates, choice
from screw_dynamics.algorithms.jacobian import JACOBIAN
from screw_dynamics.algorithms.matrix_rows import is_deep
from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.compiled.specialize import shortest, straight_line
from screw_dynamics.description import mjcf
from screw_dynamics.description.urdf import read_urdf
from screw_dynamics.description.urdf.constraints import left_open
from screw_dynamics.description.urdf.error import issue
from screw_dynamics.description.urdf.file import opened, save
from screw_dynamics.description.urdf.source import Source, kept, path_of
from screw_dynamics.forces import KINDS, Element, check_fits, elements_of
from screw_dynamics.model.drive import Drive
from screw_dynamics.model.drive_numbers import following, undriven
from screw_dynamics.model.drives import with_drives
from screw_dynamics.model.model import Model
from screw_dynamics.utils import checks
from screw_dynamics.utils.checks.hints import WithHints

from .configurations import Configurations
from .inverse_kinematics import InverseKinematics
from .linearization import Linearization
from .parameters import InertialParameters
from .time_derivatives import TimeDerivatives
from .whole_robot import WholeRobot

GRAVITY = (0.0, 0.0, -9.81)


class Robot(InertialParameters, Linearization, TimeDerivatives, InverseKinematics, WholeRobot, Configurations,
            metaclass=WithHints):
    """A robot model under gravity, with its kinematics, dynamics and simulation.

    Parameters
    ----------
    model : Model
        Model of the robot.
    gravity : array_like (3,), optional
        Gravity, m/s^2, resolved in the root link's frame.
    representation : {"body", "spatial", "hybrid", "mixed"}, optional
        Twists in which the recursions of ``inverse_dynamics`` and ``forward_dynamics`` are computed. The default is the
        fastest for each; docs/comparison.md. Results differ by rounding errors only. With mimic joints, forward
        dynamics always uses the mass matrix.
    source : str, optional
        Path or text of the URDF of the robot, None for others. Visualization (``view``) reads shapes and meshes there,
        which dynamics does not need.

    Notes
    -----
    Configurations q (..., nq), velocities qd, accelerations qdd and efforts tau (..., n) are array-likes in the order
    of ``joint_names``; leading axes are a batch and broadcast. A single-DoF joint has one number in each, in rad or m,
    and N m or N. The numbers of other joints are at ``q_slices`` and ``v_slices``; see docs/group_joints.md.

    Results are new float64 arrays, or ``out`` if given. A wrong shape, an unknown link or representation raises
    ValueError. NaN and infinities propagate as in NumPy. Efforts are those of rigid bodies and gravity only: friction
    is separate, ``friction_torque``.

    A batch is computed on SIMD lanes and on ``threads`` threads: by default as many as the process may use, or fewer if
    NUMBA_NUM_THREADS or OMP_NUM_THREADS is less. Its results equal those of single states to machine precision. A robot
    is immutable and thread-safe. For an ``out`` of float32 the methods of states compute in single precision, on twice
    as many states at once; docs/benchmarks.md has the bound of the error.
    """

    _sealed = False         # True after __init__

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
        """Return the algorithms that any robot of this structure can use."""
        return choice(self.representation, self.model.shares_coordinates,
                      is_deep(self.model.parents, self.model.coordinates))

    def _use(self, algorithms: Choice):
        object.__setattr__(self, "_sealed", False)
        (self._inverse_dynamics, self._coriolis_torque, self._gravity_torque, self._mass_matrix, self._coriolis_matrix,
         self._forward_dynamics, _) = map(self._bind, algorithms)
        self._algorithms = algorithms
        self._steps: dict = {}              # by options: CompiledAlgorithm for one state, and settings
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

    @classmethod
    def from_urdf(cls, source: Source, base_link: str | None = None, tip_link: str | None = None,
                  gravity: ArrayLike = GRAVITY, representation: str | None = None,
                  lock: Mapping[str, ArrayLike] | None = None, floating_base: bool = False,
                  xacro_args: Mapping[str, str] | None = None) -> Robot:
        """Read a robot from a URDF.

        Parameters
        ----------
        source : str, path-like, bytes or file object
            Path, XML text or open file.
        base_link : str, optional
            Link that becomes the root, as in ``read_urdf``.
        tip_link : str, optional
            Last link: only the path to it is kept, as in ``read_urdf``.
        gravity : array_like (3,), optional
            Gravity, m/s^2, resolved in the root link's frame.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Twists of the recursions, as in ``Robot``.
        lock : dict of str to array_like, optional
            Positions of named joints that are fixed, as in ``read_urdf``.
        floating_base : bool, optional
            If true, the root link moves freely, as in ``read_urdf``.
        xacro_args : dict of str to str, optional
            Arguments of a xacro file by name, as in ``read_urdf``.

        Returns
        -------
        Robot
            The robot.

        Raises
        ------
        UrdfError
            If the URDF cannot be read.

        Warns
        -----
        UrdfWarning
            If the URDF has oddities, or if it has loops or gears. A Robot, a tree, ignores these;
            ``ClosedLoopRobot.from_urdf`` closes them.
        """
        source = opened(source, xacro_args)
        model = read_urdf(source, base_link, tip_link, lock, floating_base)
        path = path_of(source)
        issue([text if path is None else f"{path}: {text}" for text in left_open(
            model, "a Robot is a tree (ClosedLoopRobot.from_urdf closes them)")])
        return cls(model, gravity, representation, kept(source))

    @classmethod
    def from_mjcf(cls, source: Any, gravity: ArrayLike | None = None, representation: str | None = None,
                  folder: str | os.PathLike | None = None) -> Robot:
        """Read a robot from a MuJoCo model. MuJoCo must be installed.

        Parameters
        ----------
        source : str, path-like, MjSpec or MjModel
            MJCF text, a path, or a MuJoCo object.
        gravity : array_like (3,), optional
            Gravity, m/s^2; the model's by default.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Twists of the recursions, as in ``Robot``.
        folder : str or path-like, optional
            Folder of the files to which the model may refer, as in ``read_mjcf``.

        Returns
        -------
        Robot
            The robot, converted as ``read_mjcf`` describes.

        Warns
        -----
        MjcfWarning
            If an element is ignored, or if the model has loops. A Robot, a tree, ignores these;
            ``ClosedLoopRobot.from_mjcf`` closes them.
        """
        mj = mjcf.compiled(source, folder)
        model = mjcf.read_mjcf(mj)
        issue(left_open(model, "a Robot is a tree (ClosedLoopRobot.from_mjcf closes them)"), mjcf.MjcfWarning)
        return cls(model, mj.opt.gravity if gravity is None else gravity, representation)

    def to_urdf(self, path: str | os.PathLike | None = None) -> str:
        """Return the URDF of the robot in its current state.

        Parameters
        ----------
        path : str or path-like, optional
            File to which the text is also written, atomically.

        Returns
        -------
        str
            Text of the URDF.

        Raises
        ------
        ValueError
            If URDF cannot express something, the source is missing or belongs to another robot, or the path is not
            possible. The error names it.
        OSError
            If the file cannot be written.

        Warns
        -----
        UrdfWarning
            If links fixed to a body have more inertia than the body has now, or if meshes are relative to the source,
            and not to the path.

        Notes
        -----
        A robot that was read from a URDF (``source``) keeps its text, with the same links, joints, meshes, order,
        comments and encoding. Inertias, damping, friction, armature, limits, drives and its own forces are the robot's
        current ones; armature, drives and forces are in an element ``<screw_dynamics>``.

        A body is a link with all links that are fixed to it. Changes of inertia are written to its link. The fixed
        links keep theirs, or have none, with a UrdfWarning, if theirs is more than that of the body.

        Read again, with the same options, the text gives the same numbers to the last bit: digits that an
        ``<inertial>`` cannot represent are in ``<screw_dynamics>``.

        For another robot (from a ModelBuilder or MJCF) the result is a URDF of the model only, with origins and axes
        to machine precision. Joints below fixed links may be in another order.
        """
        from screw_dynamics.description.urdf.model_alone import urdf_text  # when it is called: few robots are written
        from screw_dynamics.description.urdf.writer import written

        source = urdf_text(undriven(self.model)) if self.source is None else self.source
        text, notes = written(self.model, source)
        issue(notes)
        if path is not None:
            save(text, path, source)
        return text

    def __repr__(self):
        links, joints = len(self.link_names), self.joint_names
        return (f"<Robot of {links} link{'s' * (links != 1)}, {len(joints)} joint{'s' * (len(joints) != 1)}"
                f"{': ' if joints else ''}{', '.join(joints)}>")

    def __reduce__(self):
        return Robot, (self.model, self.gravity, self.representation, self.source)

    def __dask_tokenize__(self):
        """Return the token by which Dask names results of the robot: equal in all processes, wherever its URDF is."""
        return type(self).__name__, self.model.digest, self.gravity.tolist(), self.representation

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """Return a copy of the robot under another gravity.

        Parameters
        ----------
        gravity : array_like (3,)
            Gravity, m/s^2, resolved in the root link's frame.

        Returns
        -------
        Robot
            The copy.
        """
        return Robot(self.model, gravity, self.representation, self.source)

    def with_payload(self, link: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0),
                     inertia: ArrayLike | None = None) -> Robot:
        """Return a copy of the robot with a payload on a link.

        Parameters
        ----------
        link : str
            Name of the link.
        mass : float
            Mass, kg.
        com : array_like (3,), optional
            Center of mass in the link's frame, m.
        inertia : array_like (3, 3), optional
            Inertia about the center of mass, in the link's frame, kg m^2.

        Returns
        -------
        Robot
            The copy.

        See Also
        --------
        Model.with_payload
        """
        return Robot(self.model.with_payload(link, mass, com, inertia), self.gravity, self.representation, self.source)

    def with_root_inertia(self, inertia: ArrayLike | None = None) -> Robot:
        """Return a copy of the robot with another inertia of the root link, which does not move.

        Parameters
        ----------
        inertia : array_like (6, 6), optional
            Inertia of the root link, and of links fixed to it, about the root's origin; zero by default.

        Returns
        -------
        Robot
            The copy.

        See Also
        --------
        Model.with_root_inertia

        Notes
        -----
        Without inertia of the root, totals such as total_mass, center_of_mass and potential_energy are those of the
        moving links, as in Pinocchio. Efforts and accelerations do not depend on it.
        """
        return Robot(self.model.with_root_inertia(inertia), self.gravity, self.representation, self.source)

    def with_armature(self, armature: Mapping[str, float]) -> Robot:
        """Return a copy of the robot with another armature of some joints.

        Parameters
        ----------
        armature : dict of str to float
            Armature of each named joint, kg m^2 or kg: the inertia of the motor's rotor times the gear ratio squared.

        Returns
        -------
        Robot
            The copy.

        See Also
        --------
        Model.with_armature

        Notes
        -----
        Armature adds 1/2 armature qd^2 to the kinetic energy.
        """
        return Robot(following(self.model.with_armature(armature)), self.gravity, self.representation, self.source)

    def with_drives(self, drives: Mapping[str, Drive]) -> Robot:
        """Return a copy of the robot with drives at some joints.

        Parameters
        ----------
        drives : dict of str to Drive
            Drive of each named joint: a motor with gears, rigid or with a spring.

        Returns
        -------
        Robot
            The copy.

        See Also
        --------
        Drive

        Notes
        -----
        The motor of an elastic drive adds a coordinate, ``<joint>_motor``, after all others in q, velocities and
        efforts. Its position theta and its effort are on the joint side of the gears. Its spring acts in every motion:
        rollout, step, linearize, gradients, balances, scenes, the simulator. ``drive_torque`` returns the spring's
        efforts, which inverse_dynamics and forward_dynamics do not include.

        ElasticJoints(robot) of sd.elastic_joints computes feed-forward, equilibria and resonances of such robots.
        model/drives.py describes the resulting model; docs/drives.md.
        """
        return Robot(with_drives(self.model, drives), self.gravity, self.representation, self.source)

    @property
    def forces(self) -> tuple[Element, ...]:
        """The robot's own force elements, of `with_forces`, without those of its drives."""
        return self.model.forces

    def with_forces(self, forces: Sequence[Element]) -> Robot:
        """Return a copy of the robot with its own force elements, which replace ``forces``.

        Parameters
        ----------
        forces : sequence of Element
            Force elements of screw_dynamics.forces.

        Returns
        -------
        Robot
            The copy.

        Raises
        ------
        ValueError
            If an element does not fit the robot, or contains a function, as `Custom` does. The error names the
            element.

        Notes
        -----
        The elements act in every motion, in addition to the ``forces`` of a method, and to_urdf writes them. Elements
        ``forces.Friction`` act wherever friction does, like the model's damping and Coulomb friction, and are part of
        friction_torque. The others are part of drive_torque, like springs of drives.
        """
        elements = tuple(element.in_floats() for element in elements_of(forces))
        for element in elements:
            if KINDS.get(type(element).__name__) is not type(element):
                raise ValueError(f"with_forces: {element} must be one of {', '.join(sorted(KINDS))}, which are made of "
                                 "names and numbers; give it as forces= of a rollout")
        check_fits(self.model, elements)
        return Robot(replace(self.model, forces=elements), self.gravity, self.representation, self.source)

    def with_inertial_parameters(self, parameters: ArrayLike) -> Robot:
        """Return a copy of the robot with other inertial parameters.

        Parameters
        ----------
        parameters : array_like (10 b,)
            Parameters, in the order of ``inertial_parameters``.

        Returns
        -------
        Robot
            The copy.

        See Also
        --------
        Model.with_inertial_parameters
        """
        return Robot(self.model.with_inertial_parameters(parameters), self.gravity, self.representation, self.source)

    def specialize(self, jacobians: Iterable[tuple[str, ...]] = ()) -> Robot:
        """Return a copy of the robot with straight-line kernels, generated for this robot, also in rollouts.

        Parameters
        ----------
        jacobians : iterable of tuple of str, optional
            Pairs (link, representation), or triples with a reference link, whose Jacobians also get kernels.

        Returns
        -------
        Robot
            The copy, twice as fast for up to about 30 joints.

        Notes
        -----
        Each kernel is compiled at its first use, which takes seconds once on a machine. Forward dynamics uses the
        algorithm with the fewest operations for this robot. Algorithms that would need more lines than
        specialize.LONGEST remain loops. Numbers of joints and frames within 1e-15 of 0, 1 or -1 are rounded to these.

        Kernels contain payload and gravity: with_payload and with_gravity return robots without such kernels.
        """
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
        """Write the robot's functions as C99 to a folder.

        Parameters
        ----------
        folder : str or path-like
            Folder, which is created if missing.
        name : str, optional
            Prefix of all names; by default the folder's name, or PACKAGE_dynamics with ``ros2_control``.
        quantities : iterable of str, optional
            Quantities of docs/c_export.md; by default all but derivatives, regressor and step.
        links : iterable of str or tuple of str, optional
            Links of kinematics, each a name, or (name, representation[, reference link]) as in ``jacobian``; by default
            the links of the bodies without children.
        precision : {"double", "float"}, optional
            Type of all numbers.
        external : iterable of str, optional
            Links with external wrenches, which are arguments of inverse and forward dynamics and of step.
        payload : iterable of str, optional
            Links with a payload, an argument of all functions that depend on masses.
        gravity : bool, optional
            If true, gravity is an argument, too.
        ros2_control : str, optional
            Name of a ROS 2 package to write around the code, with a ros2_control controller for gravity compensation
            that holds a configuration, and a plugin of inverse_dynamics_solver. It requires single-DoF joints.

        Returns
        -------
        list of pathlib.Path
            Paths of the files.

        Raises
        ------
        ValueError
            If something cannot be exported: a quantity with too many operations, one that would divide by 0, a step of
            a robot with springs or windings of drives or its own forces, except friction. The error names it.
        FileExistsError
            If the folder has a file of that name that was not exported, or an exported ROS package of another name. The
            error names it.

        Notes
        -----
        Besides the functions, the folder has a C++17 header, a CMake package, a test and a README.md. The files are the
        same bytes in each run. The robot is exported in its current state, payloads and armature included, but without
        springs of elastic drives.
        """
        from screw_dynamics.c_code.export import write  # when it is called: few robots are exported
        return write(self, folder, name, quantities, links, precision, external, payload, gravity, ros2_control)
