"""The interfaces of the package simulation_interfaces: features, state, reset and steps of simulator_node.

The comments of that package are the specification; docs/simulator_node.md documents this simulator's
interpretation."""

from types import ModuleType

from screw_dynamics.simulator.runner import Runner

from ..node.actions import Action, RunningGoal
from ..node.services import Service, serve

ABOUT = "screw_dynamics: one robot, of robot_description, and the objects of its scene; no world is loaded"
# Features that require a version of the package with entities.
ENTITIES = ("SPAWNING", "SPAWNING_RESOURCE_STRING", "DELETING", "ENTITY_CATEGORIES", "ENTITY_STATE_GETTING",
            "ENTITY_STATE_SETTING", "ENTITY_INFO_GETTING")
NO_WORLD, LOADING_WORLD = 4, 5   # states without names in older versions of the package


class Refusal(ValueError):
    """The refusal of a request: a result code and a text."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code


class SimulationControl:
    """The services and the action of `node` with the messages of the package. The node provides the attributes that
    `SimulatorServices` requires, and `quit()`."""

    def __init__(self, node, msg: ModuleType):
        from simulation_interfaces import srv
        from simulation_interfaces.action import SimulateSteps

        self._node, self._srv = node, srv
        self._result, self._state, self._features = msg.Result, msg.SimulationState, msg.SimulatorFeatures
        self._set, self._scope = srv.SetSimulationState.Response, srv.ResetSimulation.Request
        self._steps = SimulateSteps
        self._stopped = None       # identifies the stopped state by its velocity array; each state has its own
        self._quitting = False
        rows = (
            ("get_simulator_features", self._get_features),
            ("get_simulation_state", self._get_state),
            ("set_simulation_state", self._set_state),
            ("reset_simulation", self._reset),
            ("step_simulation", self._step),
        )
        serve(node, lambda: None, [Service(*row, encode=self._encode) for row in rows])
        Action(node, "~/simulate_steps", self._on_steps, self._on_cancel)

    def _encode(self, response, error: Exception | None) -> None:
        """Write the result into a response; features have no result."""
        if hasattr(response, "result"):
            response.result = self._result_of(error)

    def _result_of(self, error: Exception | None):
        if error is None:
            return self._result(result=self._result.RESULT_OK)
        return self._result(
            result=getattr(error, "code", self._result.RESULT_OPERATION_FAILED), error_message=str(error))

    # --------------------------------------------------------------------------------------------- state
    def _get_features(self, _, request, response) -> None:
        features = self._features
        entities = [getattr(features, name) for name in ENTITIES if hasattr(self._srv, "SpawnEntity")]
        response.features = features(custom_info=ABOUT, features=[*entities,
            features.SIMULATION_RESET, features.SIMULATION_RESET_TIME, features.SIMULATION_RESET_STATE,
            features.SIMULATION_RESET_SPAWNED,
            features.SIMULATION_STATE_GETTING, features.SIMULATION_STATE_SETTING, features.SIMULATION_STATE_PAUSE,
            features.STEP_SIMULATION_SINGLE, features.STEP_SIMULATION_MULTIPLE, features.STEP_SIMULATION_ACTION])

    def _get_state(self, _, request, response) -> None:
        response.state.state = self._present()

    def _present(self) -> int:
        if self._quitting:
            return self._state.STATE_QUITTING
        try:
            runner = self._node.runner()
        except ValueError:
            description = self._node.description    # None while a service with a pending response exists
            return LOADING_WORLD if description is not None and description.loading else NO_WORLD
        if not runner.paused:
            return self._state.STATE_PLAYING
        return self._state.STATE_STOPPED if runner.simulation.qd is self._stopped else self._state.STATE_PAUSED

    def _set_state(self, _, request, response) -> None:
        target, state = request.state.state, self._state
        if target not in (state.STATE_STOPPED, state.STATE_PLAYING, state.STATE_PAUSED, state.STATE_QUITTING):
            raise Refusal(self._result.RESULT_FEATURE_UNSUPPORTED, f"state {target} cannot be set")
        if target == self._present():
            raise Refusal(self._set.ALREADY_IN_TARGET_STATE, "the simulation already is in this state")
        if target == state.STATE_QUITTING:
            self._quitting = True
            self._node.abort("the simulator is quitting")
            self._node.quit()
            return
        runner = self._runner(self._set.INCORRECT_TRANSITION)
        if target == state.STATE_STOPPED:
            runner.paused = True
            self._restart(runner, self._scope.SCOPE_ALL, "the simulation was stopped")
            self._stopped = runner.simulation.qd
            return
        if runner.stepping:
            raise Refusal(self._set.STATE_TRANSITION_ERROR, "steps are in progress")
        if target == state.STATE_PLAYING and runner.simulation.fault:
            raise Refusal(self._set.STATE_TRANSITION_ERROR, runner.simulation.fault)
        self._stopped = None
        runner.set_paused(target == state.STATE_PAUSED)

    def _runner(self, code: int) -> Runner:
        """Return the runner of the simulation. Raises `Refusal` with the code if there is none."""
        if self._quitting:
            raise Refusal(code, "the simulator is quitting")
        try:
            return self._node.runner()
        except ValueError as error:
            raise Refusal(code, str(error)) from error

    # --------------------------------------------------------------------------------------------- reset
    def _reset(self, _, request, response) -> None:
        runner, scope = self._runner(self._result.RESULT_INCORRECT_STATE), self._scope
        known = scope.SCOPE_TIME | scope.SCOPE_STATE | scope.SCOPE_SPAWNED
        if request.scope not in (scope.SCOPE_DEFAULT, scope.SCOPE_ALL) and request.scope & ~known:
            raise Refusal(
                self._result.RESULT_FEATURE_UNSUPPORTED,
                f"scope {request.scope}: only SCOPE_TIME, SCOPE_STATE, SCOPE_SPAWNED, SCOPE_ALL and SCOPE_DEFAULT are "
                "supported")
        # The interface defines SCOPE_DEFAULT as equal to SCOPE_ALL.
        self._restart(runner, request.scope or scope.SCOPE_ALL, "~/reset_simulation was called")

    def _restart(self, runner: Runner, scope: int, reason: str) -> None:
        runner.catch_up()
        self._node.abort(reason)
        if scope & self._scope.SCOPE_SPAWNED:
            runner.simulation.delete_spawned()
        if scope & self._scope.SCOPE_STATE:
            runner.simulation.reset(bool(scope & self._scope.SCOPE_TIME))
        elif scope & self._scope.SCOPE_TIME:
            runner.simulation.restart_clock()
        runner.resume()

    # --------------------------------------------------------------------------------------------- steps
    def _steppable(self) -> Runner:
        """Return the runner of the paused simulation. Raises `Refusal` otherwise."""
        runner = self._runner(self._result.RESULT_INCORRECT_STATE)
        failed = self._result.RESULT_OPERATION_FAILED
        if self._present() != self._state.STATE_PAUSED:
            now = "stopped" if runner.paused else "playing"
            raise Refusal(failed, f"the simulation is {now}, it must be paused: ~/set_simulation_state")
        try:
            self._node.check_steps(runner)
        except ValueError as error:
            raise Refusal(failed, str(error)) from error
        return runner

    async def _step(self, _, request, response) -> None:
        finished = self._node.future()
        self._steppable().step(request.steps, finished.set_result)
        reason = await finished
        if reason:
            raise ValueError(reason)

    def _on_steps(self, goal: RunningGoal) -> None:
        try:
            runner = self._steppable()
            watch = self._watch(runner, goal)

            def finished(reason: str) -> None:
                runner.watches.pop(watch, None)
                error = ValueError(reason) if reason else None
                goal.finish(error is None, self._steps.Result(result=self._result_of(error)))

            if runner.stepping:
                raise ValueError("other steps are in progress")
            runner.watches[watch] = 1
            runner.step(goal.request.steps, finished)
        except ValueError as error:
            goal.finish(False, self._steps.Result(result=self._result_of(error)))

    def _watch(self, runner: Runner, goal: RunningGoal):
        """Return the function that sends feedback after each step."""
        first, total = runner.simulation.steps, goal.request.steps

        def send() -> None:
            made = runner.simulation.steps - first
            goal.feedback(self._steps.Feedback(completed_steps=made, remaining_steps=total - made))

        return send

    def _on_cancel(self, goal: RunningGoal) -> None:
        runner = self._node.runner()
        runner.resume()     # publishes the resulting state
        runner.abort("cancelled")
