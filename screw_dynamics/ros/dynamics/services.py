"""The services of dynamics_node: each decodes its request, calls the core, and encodes the response.

For a bad request, a handler raises ValueError; the response is then `success = false` with the error's text. The
comments of the .srv files in screw_dynamics_interfaces are the specification."""

from collections.abc import Sequence
from itertools import compress

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped

from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.model.floating_base import (
    NUMBERS,
    RATES,
    FloatingBase,
    coordinate_joints,
    floating_base,
    velocity_names,
)
from screw_dynamics.model.inertial_parameters import COUNT
from screw_dynamics.model.model import Model
from screw_dynamics.model.multi_dof_joints import coordinate_indices, multi_dof_joints, without_joints
from screw_dynamics.robot import Robot
from screw_dynamics.simulator.actuators import singular_joint

from ..executor.background import in_background
from ..node import messages
from ..node.base_state import read_pose, read_twist
from ..node.joint_state import JointMap
from ..node.preparation import OnDemand
from ..node.services import Service, serve
from . import inverse_kinematics
from .joint_request import JointRequest, non_negative
from .torque_stream import StampedState

MOST_WRENCHES = 1000   # in a request
LINEAR_ROWS_FIRST = [3, 4, 5, 0, 1, 2]


class DynamicsServices:
    """The services of `node`. The node provides `robot()`, `fresh_state(joints, base) -> StampedState` (raises
    ValueError if there is none), `root_frame`, `set_payload(link, mass, com, inertia)`, `set_gravity(vector)`,
    `future()`, and the attributes that `serve` requires."""

    def __init__(self, node):
        self._node = node
        self._joints = JointMap(())
        self._model: Model | None = None            # that of the last request
        self._base: FloatingBase | None = None
        self._in_q, self._in_v, self._others = (np.arange(0) for _ in range(3))  # of joints; of other velocities
        self._on_demand = OnDemand(node.future, node.log.info)
        serve(node, node.robot, (
            Service("get_jacobian", self._jacobian),
            Service("get_mass_matrix", self._mass_matrix),
            Service("get_gravity", self._gravity),
            Service("get_coriolis", self._coriolis),
            Service("get_regressor", self._regressor),
            Service("inverse_dynamics", self._inverse_dynamics),
            Service("forward_dynamics", self._forward_dynamics),
            Service("linearize", self._linearize),
            Service("get_forward_kinematics", self._forward_kinematics),
            Service("solve_inverse_kinematics", self._inverse_kinematics,
                    encode=inverse_kinematics.encode),
            Service("get_joint_screws", self._joint_screws),
            Service("set_payload", self._set_payload),
            Service("set_gravity", self._set_gravity),
        ))

    # --------------------------------------------------------------------------------------------- requests
    def _request(self, robot: Robot, request) -> JointRequest:
        if self._model is not robot.model:
            self._model, self._base = robot.model, floating_base(robot.model, others=True)
            self._in_q, self._in_v = coordinate_indices(robot.model)
            self._others = without_joints(robot.model)
            self._joints = JointMap(coordinate_joints(robot.model))
        if self._base is None and getattr(request, "base", ()):
            raise ValueError("base: the robot has no floating base, must be empty")
        names = velocity_names(robot.model)
        return JointRequest(self._joints, request.joint_names, [names[i] for i in self._others],
                            (self._in_v, self._others))

    def _position(self, request, joints: JointRequest) -> StampedState:
        """Return the request's position at rest, or the latest state if the request has none."""
        if not len(request.position):
            return self._with_base(request, None)
        position = joints.read(request.position, "position")
        return self._with_base(request, StampedState(position, np.zeros(len(position)), Time()))

    def _motion(self, request, joints: JointRequest, velocity_needed: bool) -> StampedState:
        """Return the request's position and velocity, or the latest state if both are empty."""
        if not len(request.position) and not len(request.velocity):
            return self._with_base(request, None)
        if not len(request.position):
            raise ValueError("position: empty, must be given with velocity")
        if not len(request.velocity) and velocity_needed:
            raise ValueError("velocity: empty, must be given with position for this service")
        position = joints.read(request.position, "position")
        velocity = joints.read_or_zero(request.velocity, "velocity")
        return self._with_base(request, StampedState(position, velocity, Time()))

    def _with_base(self, request, given: StampedState | None) -> StampedState:
        """Return a state of the joints of one degree of freedom (None: the latest) and of a floating base: the
        request's, or the latest. Joints of several degrees of freedom have their latest state."""
        if not len(self._others):
            return self._node.fresh_state() if given is None else given
        latest, own = given is None and bool(self._joints.joint_names), RATES if self._base else 0
        q, v, stamp = np.zeros(self._model.nq), np.zeros(self._model.n), Time()
        if latest or own and not request.base or len(self._others) > own:
            q, v, stamp = self._node.fresh_state(latest, bool(own) and not request.base)
        if given is not None:
            q[self._in_q], v[self._in_v], stamp = given
        if request.base:
            state = request.base[0]
            q[:NUMBERS] = self._base.numbers(read_pose(state.pose, "base[0].pose"))
            v[:RATES] = read_twist(state.twist, "base[0].twist")
        return StampedState(q, v, stamp)

    def _acceleration(self, request, joints: JointRequest) -> np.ndarray:
        """Return the accelerations (n,) of a request; zero if it has none."""
        qdd = self._spread(joints, request.acceleration, "acceleration")
        if self._base is not None:
            qdd[:RATES] = read_twist(request.base[0].acceleration, "base[0].acceleration") if request.base else 0.0
        return qdd

    def _effort(self, request, joints: JointRequest) -> np.ndarray:
        """Return the efforts (n,) of a request; zero if it has none."""
        return self._spread(joints, request.effort, "effort")

    def _spread(self, joints: JointRequest, values: Sequence[float], field: str) -> np.ndarray:
        """Return a field (n,) of the request, for the joints and other named velocities; zero where the request has no
        value."""
        found = np.zeros(self._model.n)
        found[self._in_v], found[self._others] = joints.read_or_zero(values, field), joints.of_others(values, field)
        return found

    def _link(self, robot: Robot, name: str, field: str) -> str:
        """Return the link of this name; "" and the parameter frame_id stand for the root."""
        if name in robot.link_names:
            return name
        if name in ("", self._node.root_frame):
            return robot.model.root
        raise ValueError(f"{field}: '{name}' is not a link of the robot")

    def _frame(self, robot: Robot, link: str) -> str:
        """Return the name of a link's frame in a response."""
        return self._node.root_frame if link == robot.model.root else link

    def _external(self, robot: Robot, wrenches: Sequence[WrenchStamped]) -> dict[str, np.ndarray]:
        if len(wrenches) > MOST_WRENCHES:
            raise ValueError(f"external: {len(wrenches)} entries, at most {MOST_WRENCHES} are allowed")
        external: dict[str, np.ndarray] = {}
        for k, stamped in enumerate(wrenches):
            if not stamped.header.frame_id:
                raise ValueError(f"external[{k}].header.frame_id: empty, must name the link that the wrench acts on")
            link = self._link(robot, stamped.header.frame_id, f"external[{k}].header.frame_id")
            wrench = messages.wrench(stamped.wrench)
            if not np.isfinite(wrench).all():
                raise ValueError(f"external[{k}].wrench: {wrench.tolist()} (torque, force) on '{link}' is not finite")
            external[link] = external.get(link, 0.0) + wrench
        return external

    # --------------------------------------------------------------------------------------------- handlers
    def _jacobian(self, robot: Robot, request, response) -> None:
        joints = self._request(robot, request)
        if request.representation >= len(REPRESENTATIONS):
            raise ValueError(f"representation: {request.representation}, must be BODY 0, SPATIAL 1, HYBRID 2, MIXED 3")
        if request.row_order not in (request.ANGULAR_FIRST, request.LINEAR_FIRST):
            raise ValueError(f"row_order: {request.row_order}, must be ANGULAR_FIRST 0 or LINEAR_FIRST 1")
        link = self._named_link(robot, request.link)
        reference = self._link(robot, request.reference_link, "reference_link")
        q, qd, _ = self._motion(request, joints, True) if request.derivative else self._position(request, joints)
        rows = LINEAR_ROWS_FIRST if request.row_order == request.LINEAR_FIRST else slice(None)
        arguments = link, REPRESENTATIONS[request.representation], reference
        jacobian = joints.arrange(robot.jacobian(q, *arguments)[rows])
        if request.derivative:
            derivative = robot.jacobian_derivative(q, qd, *arguments)[rows]
            response.derivative = messages.floats(joints.arrange(derivative))
        response.joint_names = joints.joint_names
        response.frame_id = self._frame(robot, reference)
        response.rows, response.cols = jacobian.shape
        response.data = messages.floats(jacobian)

    def _mass_matrix(self, robot: Robot, request, response) -> None:
        joints = self._request(robot, request)
        q, _, _ = self._position(request, joints)
        matrix = joints.arrange_square(robot.mass_matrix(q))
        response.joint_names = joints.joint_names
        response.rows, response.cols = matrix.shape
        response.data = messages.floats(matrix)

    def _gravity(self, robot: Robot, request, response) -> None:
        joints = self._request(robot, request)
        q, _, _ = self._position(request, joints)
        response.joint_names = joints.joint_names
        response.effort = messages.floats(joints.arrange(robot.gravity_torque(q)))

    def _coriolis(self, robot: Robot, request, response) -> None:
        joints = self._request(robot, request)
        q, qd, _ = self._motion(request, joints, velocity_needed=True)
        response.joint_names = joints.joint_names
        response.effort = messages.floats(joints.arrange(robot.coriolis_torque(q, qd)))
        if request.matrix:
            matrix = joints.arrange_square(robot.coriolis_matrix(q, qd))
            response.rows, response.cols = matrix.shape
            response.data = messages.floats(matrix)

    async def _regressor(self, robot: Robot, request, response) -> None:
        await self._on_demand.ready("torque regressor", robot)
        joints = self._request(robot, request)
        q, qd, _ = self._motion(request, joints, velocity_needed=False)
        qdd = self._acceleration(request, joints)
        Y = robot.torque_regressor(q, qd, qdd, request.friction)[joints.order]
        names, p = robot.inertial_parameter_names, robot.inertial_parameters
        if request.friction:
            names, p = names + robot.friction_parameter_names, np.append(p, robot.friction_parameters)
        kept = np.repeat(robot.model.is_link, COUNT).tolist() + [True] * (len(names) - len(robot.inertial_parameters))
        response.joint_names = joints.joint_names
        response.parameter_names = list(compress(names, kept))
        response.parameters = messages.floats(p[kept])
        response.rows, response.cols = len(Y), len(response.parameter_names)
        response.data = messages.floats(Y[:, kept])

    def _inverse_dynamics(self, robot: Robot, request, response) -> None:
        joints = self._request(robot, request)
        q, qd, _ = self._motion(request, joints, velocity_needed=False)
        qdd = self._acceleration(request, joints)
        terms = {
            "inertial": robot.mass_matrix(q) @ qdd,
            "coriolis": robot.coriolis_torque(q, qd),
            "gravity": robot.gravity_torque(q),
            "external": robot.external_torque(q, self._external(robot, request.external)),
            "friction": robot.friction_torque(qd),
        }
        effort = terms["inertial"] + terms["coriolis"] - terms["external"]
        if request.include_gravity:
            effort = effort + terms["gravity"]
        response.joint_names = joints.joint_names
        for field, values in (*terms.items(), ("effort", effort)):
            setattr(response, field, messages.floats(joints.arrange(values)))

    def _forward_dynamics(self, robot: Robot, request, response) -> None:
        joints = self._request(robot, request)
        q, qd, _ = self._motion(request, joints, velocity_needed=False)
        external = self._external(robot, request.external)
        acceleration = robot.forward_dynamics(q, qd, self._effort(request, joints), external)
        self._refuse_singular(robot, q, acceleration)
        response.joint_names = joints.joint_names
        response.acceleration = messages.floats(joints.arrange(acceleration))

    async def _linearize(self, robot: Robot, request, response) -> None:
        await self._on_demand.ready("linear model", robot)
        joints = self._request(robot, request)
        q, qd, _ = self._motion(request, joints, velocity_needed=False)
        A, B, qdd = robot.linearize(q, qd, self._effort(request, joints), non_negative(request, "time_step", None),
                                    self._external(robot, request.external))
        self._refuse_singular(robot, q, qdd)
        rows = np.concatenate((joints.order, robot.n + joints.order))
        A, B = A[np.ix_(rows, rows)], B[np.ix_(rows, joints.order)]
        response.joint_names = joints.joint_names
        response.acceleration = messages.floats(joints.arrange(qdd))
        response.rows, response.cols = B.shape
        response.a, response.b = messages.floats(A), messages.floats(B)

    def _forward_kinematics(self, robot: Robot, request, response) -> None:
        joints = self._request(robot, request)
        link = self._named_link(robot, request.link)
        reference = self._link(robot, request.reference_link, "reference_link")
        q, _, stamp = self._position(request, joints)
        response.pose.header.frame_id = self._frame(robot, reference)
        response.pose.header.stamp = stamp
        response.pose.pose = messages.pose_message(robot.forward_kinematics(q, link, reference))

    async def _inverse_kinematics(self, robot: Robot, request, response) -> None:
        for joint in multi_dof_joints(robot.model)[:1]:
            raise ValueError(f"no inverse kinematics of a robot whose joint '{joint.name}' has several degrees of "
                             "freedom")
        await self._on_demand.ready("inverse kinematics", robot)
        self._request(robot, request)
        joints, base = JointRequest(self._joints, request.joint_names), self._base
        first = NUMBERS if base else 0
        q0 = inverse_kinematics.start(request, joints, robot.neutral(), first)

        def base_pose():
            still = np.zeros(len(self._joints.joint_names))
            return base.pose(self._with_base(request, StampedState(still, still, Time())).position[:NUMBERS])
        arguments = inverse_kinematics.arguments(
            robot, request, lambda name, field: self._link(robot, name, field), base, base_pose)
        found = await in_background(self._node.future, lambda: robot.inverse_kinematics(q0=q0, **arguments))
        inverse_kinematics.answer(response, joints, found, first)

    def _joint_screws(self, robot: Robot, request, response) -> None:
        joints, model = self._request(robot, request), robot.model
        links = [self._base.link] * RATES if self._base else []
        links += [joint.link for joint in multi_dof_joints(model) for _ in joint.names]
        bodies = [*(int(np.flatnonzero(model.coordinates == i)[0]) for i in self._others),
                  *(model.body_joints.index(name) for name in joints.joint_names[len(links):])]
        response.joint_names = joints.joint_names
        response.frame_id = self._node.root_frame
        response.link_names = links + [model.body_names[i] for i in bodies[len(links):]]
        response.screws = messages.floats(model.screws_spatial[bodies])
        response.body_screws = messages.floats(model.screws_body[bodies])
        response.reference_poses = [messages.pose_message(model.reference_poses[i]) for i in bodies]

    def _set_payload(self, robot: Robot, request, response) -> None:
        link = self._named_link(robot, request.link)
        try:
            self._node.set_payload(link, *messages.inertia(request.inertia))
        except ValueError as error:
            raise ValueError(f"inertia, for link '{link}': {error}") from None

    def _set_gravity(self, robot: Robot, request, response) -> None:
        link = self._link(robot, request.gravity.header.frame_id, "gravity.header.frame_id")
        body, pose = robot.model.frames[link]
        if body >= 0:
            raise ValueError(f"gravity.header.frame_id: link '{link}' moves, must be fixed to the root link")
        self._node.set_gravity(pose[:3, :3] @ messages.vector(request.gravity.vector))

    def _refuse_singular(self, robot: Robot, q: np.ndarray, acceleration: np.ndarray) -> None:
        if not np.isfinite(acceleration).all() and (i := singular_joint(robot.mass_matrix(q))) is not None:
            joint = velocity_names(robot.model)[i]
            raise ValueError(f"the mass matrix is singular at this position: no inertia resists joint '{joint}'")

    def _named_link(self, robot: Robot, name: str) -> str:
        if not name:
            raise ValueError("link: empty, must name a link of the robot")
        return self._link(robot, name, "link")
