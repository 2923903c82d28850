"""The entities of the package simulation_interfaces: the robot and the objects of a scene.

The comments of that package are the specification. Its versions differ: in SpawnEntity, 1.x has uri and
resource_string, 2.x an entity_resource with both; in SetEntityState, 2.x has flags for the quantities to set, 1.x sets
pose and twist."""

from functools import lru_cache
from types import ModuleType

import numpy as np

from screw_dynamics.description.urdf.xml import parse_xml
from screw_dynamics.model.configuration_space import rotated
from screw_dynamics.simulator.environment import Entity, checked_pose
from screw_dynamics.simulator.runner import Runner
from screw_dynamics.simulator.simulation import Simulation

from ..node import messages
from ..node.services import Service, counted, serve
from .name_filter import matching
from .scene_services import spawn
from .scenes import LONGEST
from .simulation_control import Refusal


class EntityControl:
    """The entity services of `node`, which provides the attributes that `SceneServices` requires. They use the messages
    of the package, and are not created if its version has no entities."""

    def __init__(self, node, msg: ModuleType):
        from simulation_interfaces import srv

        if hasattr(srv, "SpawnEntity"):
            self._serve(node, msg, srv)

    def _serve(self, node, msg: ModuleType, srv: ModuleType) -> None:
        self._node, self._msg, self._result = node, msg, msg.Result
        self._spawned, self._set = srv.SpawnEntity.Response, srv.SetEntityState.Response
        serve(node, lambda: self, [Service(name, counted(node, name, handler), most=LONGEST, encode=self._encode)
                                   for name, handler in (
            ("get_entities", EntityControl._get_entities), ("get_entities_states", EntityControl._get_states),
            ("get_entity_state", EntityControl._get_state), ("get_entity_info", EntityControl._get_info),
            ("set_entity_state", EntityControl._set_state), ("spawn_entity", EntityControl._spawn),
            ("delete_entity", EntityControl._delete))])

    def _encode(self, response, error: Exception | None) -> None:
        """Write the result code and the error into a response."""
        code = self._result.RESULT_OK if error is None else getattr(error, "code", self._result.RESULT_OPERATION_FAILED)
        response.result = self._result(result=code, error_message="" if error is None else str(error))

    # --------------------------------------------------------------------------------------------- queries
    def _runner(self) -> Runner:
        """Return the simulation in progress, advanced to the current time. Raises `Refusal` if there is none."""
        try:
            runner = self._node.runner()
        except ValueError as error:
            raise Refusal(self._result.RESULT_INCORRECT_STATE, str(error)) from error
        runner.catch_up()
        return runner

    def _robot(self, runner: Runner) -> str:
        """Return the name of the robot."""
        return robot_name(runner.simulation)

    def _names(self, runner: Runner) -> list[str]:
        """Return the names of the robot and of all objects."""
        around = runner.simulation.environment
        return [self._robot(runner), *(() if around is None else around.objects)]

    def _known(self, runner: Runner, name: str) -> None:
        names = self._names(runner)
        if name not in names:
            raise Refusal(self._result.RESULT_NOT_FOUND, f"entity '{name}' does not exist, there are "
                          f"{', '.join(names)}")

    def _selected(self, runner: Runner, filters) -> list[str]:
        """Return the entities that match filters."""
        unsupported = self._result.RESULT_FEATURE_UNSUPPORTED
        if len(filters.tags.tags):
            raise Refusal(unsupported, "filters.tags: tags are not supported")
        if filters.bounds.type:
            raise Refusal(unsupported, "filters.bounds: bounds are not supported")
        matches = matching("filters.filter", filters.filter)
        wanted = {each.category for each in filters.categories}
        return [name for name in self._names(runner)
                if matches(name) and (not wanted or self._category(runner, name) in wanted)]

    def _category(self, runner: Runner, name: str) -> int:
        category = self._msg.EntityCategory
        if name == self._robot(runner):
            return category.CATEGORY_ROBOT
        free = runner.simulation.environment.objects[name].free
        return category.CATEGORY_DYNAMIC_OBJECT if free else category.CATEGORY_STATIC_OBJECT

    def _state(self, runner: Runner, name: str):
        """Return the EntityState of an entity: pose and twist in the root link's frame and resolved in its axes."""
        simulation = runner.simulation
        entity = robot_entity(runner) if name == self._robot(runner) else simulation.entity(name)
        state = self._msg.EntityState()
        state.header.frame_id = self._node.settings.frame_id or simulation.robot.model.root
        state.header.stamp = messages.time_message(self._node.stamp_ns())
        state.pose = messages.placement_message(entity.pose)
        state.twist = messages.twist_message(turned(entity.pose, entity.twist))
        return state

    # --------------------------------------------------------------------------------------------- getting
    def _get_entities(self, request, response) -> None:
        response.entities = self._selected(self._runner(), request.filters)

    def _get_states(self, request, response) -> None:
        runner = self._runner()
        response.entities = self._selected(runner, request.filters)
        response.states = [self._state(runner, name) for name in response.entities]

    def _get_state(self, request, response) -> None:
        runner = self._runner()
        self._known(runner, request.entity)
        response.state = self._state(runner, request.entity)

    def _get_info(self, request, response) -> None:
        runner = self._runner()
        self._known(runner, request.entity)
        response.info.category.category = self._category(runner, request.entity)

    # --------------------------------------------------------------------------------------------- setting
    def _check_frame(self, runner: Runner, header) -> None:
        known = ("", "world", self._node.settings.frame_id, runner.simulation.robot.model.root)
        if header.frame_id not in known:
            raise Refusal(self._result.RESULT_FEATURE_UNSUPPORTED, f"frame_id '{header.frame_id}' must be empty, or "
                                                                   f"{runner.simulation.robot.model.root}: poses are "
                                                                   "in the frame of the root link")

    def _set_state(self, request, response) -> None:
        runner, name = self._runner(), request.entity
        self._known(runner, name)
        if name == self._robot(runner):
            raise Refusal(self._result.RESULT_FEATURE_UNSUPPORTED, f"entity '{name}' is the robot: use ~/reset_to")
        if getattr(request, "set_acceleration", False):
            raise Refusal(self._result.RESULT_FEATURE_UNSUPPORTED, "set_acceleration: accelerations follow from forces")
        self._check_frame(runner, request.state.header)
        pose = twist = None
        if getattr(request, "set_pose", True):
            pose = self._pose(self._set.INVALID_POSE, name, request.state.pose)
        if getattr(request, "set_twist", True):
            at = runner.simulation.entity(name).pose if pose is None else pose
            twist = turned(at * (1, 1, 1, -1, -1, -1, 1), messages.twist(request.state.twist))
        runner.simulation.place(name, pose, twist)

    def _pose(self, code: int, name: str, pose) -> np.ndarray:
        try:
            return checked_pose(f"entity '{name}'", messages.placement(pose))
        except ValueError as error:
            raise Refusal(code, str(error)) from error

    def _spawn(self, request, response) -> None:
        runner, codes = self._runner(), self._spawned
        resource = getattr(request, "entity_resource", request)
        if resource.uri:
            raise Refusal(codes.UNSUPPORTED_FORMAT, f"uri '{resource.uri}': give the text, as a scene file has it, as "
                          "resource_string")
        if not resource.resource_string:
            raise Refusal(codes.NO_RESOURCE, "uri and resource_string are both empty")
        if resource.resource_string.lstrip().startswith("<"):
            raise Refusal(codes.UNSUPPORTED_FORMAT, "resource_string is XML, must be YAML, as a scene file has it")
        if request.entity_namespace:
            raise Refusal(self._result.RESULT_FEATURE_UNSUPPORTED, "entity_namespace: not supported for objects")
        name = self._free_name(runner, request.name, request.allow_renaming)
        self._check_frame(runner, request.initial_pose.header)
        self._pose(codes.INVALID_POSE, name, request.initial_pose.pose)
        try:
            spawn(runner, name, resource.resource_string, request.initial_pose.pose)
        except ValueError as error:
            parsing = str(error).startswith("description")
            raise Refusal(codes.RESOURCE_PARSE_ERROR if parsing else self._result.RESULT_OPERATION_FAILED,
                          str(error)) from error
        response.entity_name = name

    def _free_name(self, runner: Runner, name: str, renaming: bool) -> str:
        """Return the name if it is free, or with `renaming` a similar free name."""
        robot, codes = runner.simulation.robot, self._spawned
        taken = {*self._names(runner), *robot.link_names, *robot.joint_names}
        if name and name not in taken:
            return name
        if not renaming:
            raise Refusal(codes.NAME_NOT_UNIQUE if name else codes.NAME_INVALID,
                          f"name '{name}' is taken" if name else "name is empty, and allow_renaming is false")
        stem = name or "object"
        return next(f"{stem}_{k}" for k in range(1, len(taken) + 2) if f"{stem}_{k}" not in taken)

    def _delete(self, request, response) -> None:
        runner, name = self._runner(), request.entity
        self._known(runner, name)
        if name == self._robot(runner):
            raise Refusal(self._result.RESULT_FEATURE_UNSUPPORTED, f"entity '{name}' is the robot: it stays")
        runner.simulation.delete(name)


def robot_name(simulation: Simulation) -> str:
    """Return the robot's name in its description; if it has none, or an object has the same name, the name of its
    base."""
    name, around = _name_in(simulation.robot.source), simulation.environment
    if name and (around is None or name not in around.objects):
        return name
    return simulation.robot.model.root if simulation.base is None else simulation.base.link


@lru_cache(maxsize=1)
def _name_in(description: str) -> str:
    return parse_xml(description).get("name", "")


def robot_entity(runner: Runner) -> Entity:
    """Return the pose and twist of the robot's base."""
    simulation = runner.simulation
    if simulation.base is None:
        return Entity(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), np.zeros(6))
    return Entity(simulation.base.pose(simulation.q[:7]), simulation.qd[:6])


def turned(pose: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """Return a twist (6,) given in a body's axes, resolved in the reference axes of its pose (7,)."""
    return np.concatenate((rotated(pose[3:], twist[:3]), rotated(pose[3:], twist[3:])))
