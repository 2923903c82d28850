"""Settings of steps as read by the kernels of integrators: options and addresses of called functions."""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from screw_dynamics.algorithms.choice import Choice
from screw_dynamics.algorithms.energy import KINETIC_ENERGY, POTENTIAL_ENERGY
from screw_dynamics.algorithms.jacobian import JACOBIAN, JACOBIAN_DERIVATIVE
from screw_dynamics.algorithms.kinematics import FORWARD_KINEMATICS
from screw_dynamics.compiled.algorithm import kind_of
from screw_dynamics.compiled.calls import Workspaces
from screw_dynamics.compiled.records import word_of
from screw_dynamics.constraints.contacts.calls import LEAVES_FACTORS, contact_addresses
from screw_dynamics.constraints.projection import NEEDED, acts_at_ends, projection_address, with_room
from screw_dynamics.forces import Element, ForceSum, ModelDamping, friction_of
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.utils.checks import one_of

from .controllers import CompiledController, compiled_controller, plain_controller
from .force_elements import all_elements, step_elements
from .integrators import FIXED_STEPS, INTEGRATORS, check_elements, momenta_address
from .robot_methods import FRICTION, METHODS
from .rollout_arguments import options
from .rollout_kernels import one
from .step_data import CONTROLLER, DETECT, ELEMENTS, FACTORS, FORCES, FORWARD, MOMENTA, PROJECT, RESTORE, SOLVE
from .steps import JOINTS, SETTINGS, joint_settings_in, settings_size

OTHER_METHODS = {"kinetic_energy": KINETIC_ENERGY, "potential_energy": POTENTIAL_ENERGY,
                 "forward_kinematics": FORWARD_KINEMATICS, "jacobian": JACOBIAN,
                 "jacobian_derivative": JACOBIAN_DERIVATIVE}
CALLS_AT = word_of(SETTINGS, "calls")


class StepSettings:
    """Settings of the steps of one robot, from the entry points of its algorithms, and workspaces.

    projected: the quantities projected after each step of a robot with constraints, see constraints/projection.py, or
    with contacts, whose workspaces hold them; None for a tree. projects: "joints", "loops", "contacts" or "contacts and
    loops". simple: see collision/narrow_phase.py."""

    def __init__(self, robot: Any, entries: Choice, workspaces: Workspaces,
                 projected: int | None = None, projects: str = "joints", simple: bool = True):
        self._projected, self._projects, self._simple = projected, projects, simple
        self.robot, self._model, self.entries, self._workspaces = robot, robot.model, entries, workspaces
        self._with_room = workspaces if projected is not None else Workspaces(with_room(robot.tables))
        self._checked: dict = {}            # by options: settings and number of samples
        self._steps: dict = {}              # by options: settings of one step
        self._totals: dict[tuple[Element, ...], ForceSum] = {}
        self._alone = [self.step_forces(None, own) for own in (False, True)]  # kept alive for the settings of steps
        self._on_groups = self._model.on_groups
        self._methods = {**entries._asdict(), **{
            name: entry.of(self._model.structure) for name, entry in OTHER_METHODS.items()}}
        self._no_effort = np.zeros(self._model.n)

    def _settings(self, integrator, friction, limits, springs=None):
        """Return new settings of one step with friction, limits and springs, without addresses. limits=None: they do
        not act, but their violation is noted."""
        model, settings = self._model, np.zeros(settings_size(self._model.n))
        head = head_of(settings)
        head.steps = head.every = 1
        joints = joint_settings_in(settings, model.n)
        joints.model_damping[:], joints.model_friction[:] = model.damping, model.friction
        joints.place[:] = model.q_indices
        joints.lower[:], joints.upper[:] = (model.lower, model.upper) if limits else (-np.inf, np.inf)
        joints.least[:], joints.most[:] = (model.lower, model.upper) if limits is None else (-np.inf, np.inf)
        if friction:
            joints.damping[:], joints.friction[:] = model.damping, model.friction
        if springs is not None:
            joints.stiffness[:], dampers, joints.rest[:] = springs
            joints.damping[:] += dampers
        return settings

    def total(self, forces: Sequence[Element] | None, friction: bool = False, springs: Any = None) -> ForceSum | None:
        """Return the sum of force elements on the robot, including acting friction of the model and springs at the
        joints; None for no elements."""
        return self._sum_of(all_elements(self._model, forces, friction, springs))

    def step_forces(self, forces: Sequence[Element] | None, friction: bool) -> ForceSum | None:
        """Return the sum of the force elements that steps evaluate: without friction and springs of joints, which are
        in their settings."""
        return self._sum_of(step_elements(self._model, forces, friction))

    def smooth(self, forces: Sequence[Element] | None, friction: bool) -> ForceSum | None:
        """Return the sum of `step_elements` and, with friction, the model's damping, without its dry friction; None for
        no elements."""
        damped = bool(friction and self._model.damping.any())
        return self._sum_of((*step_elements(self._model, forces, friction), *[ModelDamping()] * damped))

    def _sum_of(self, elements):
        if not elements:
            return None
        if elements not in self._totals:
            keep(self._totals, elements, ForceSum(self._model, self.robot.tables, elements))
        return self._totals[elements]

    def _call_robot(self, settings, integrator, total, lanes):
        """Write the addresses of the robot's functions that an integrator calls into settings. Return all addresses."""
        head = head_of(settings)
        calls = head.calls
        calls[FORWARD] = self.entries.acceleration.address(kind_of(lanes))
        if total:
            check_elements(integrator, total.elements)
            calls[FORCES], calls[ELEMENTS] = total.address(lanes), total.where
        if INTEGRATORS[integrator].momenta:
            calls[MOMENTA] = momenta_address(self._model.structure, lanes)
        if self._projected is not None or acts_at_ends(joint_settings_in(settings, self._model.n)):
            calls[RESTORE] = NEEDED if self._projected is None else self._projected
            calls[PROJECT] = projection_address(self._model.structure, self._projects, lanes)
            if self._projects.startswith("contacts"):
                calls[DETECT], calls[SOLVE] = contact_addresses(lanes, self._simple)
                calls[FACTORS] = not PLAIN and self.entries.acceleration.name.startswith(LEAVES_FACTORS)
        return calls

    def _pool(self, words):
        """Return the workspaces with the tables that the functions in the words of settings read."""
        return self._with_room if words.item(CALLS_AT + PROJECT) else self._workspaces

    def _with_calls(self, settings, integrator, total, controller, lanes):
        """Return a copy of settings with the addresses of the functions that an integrator and a controller call, and
        of the controller."""
        settings = settings.copy()
        calls = self._call_robot(settings, integrator, total, lanes)
        if controller:
            head_of(settings).long = 1             # for any controller
            frames = tuple(self._model.frame_names)
            found = (controller if isinstance(controller, CompiledController) else
                     plain_controller(controller, self.robot) if PLAIN else
                     compiled_controller(controller, lanes, frames, self._model.root))
            calls[CONTROLLER] = found.address
            if FRICTION in found.methods and friction_of(self._model):
                raise ValueError(f"a compiled controller cannot call robot.{FRICTION} of a robot with friction of its "
                                 "own as a force element: robot.forces, or a rigid motor that several joints turn")
            for name in found.methods.difference((FRICTION,)):
                calls[METHODS[name]] = self._methods[name].address(kind_of(found.lanes))
        return settings

    def step_settings(self, integrator: str, friction: bool, limits: bool | None, springs: Any = None,
                      total: ForceSum | None = None, lanes: bool = False, start: float = 0.0
                      ) -> tuple[np.ndarray, Workspaces]:
        """Return the settings of one step at the time `start` (s), and its workspaces. Raises ValueError for an
        adaptive integrator."""
        one_of("integrator", integrator, FIXED_STEPS)
        friction, limits = options(friction, limits)
        key = integrator, friction, limits, total, lanes
        known = self._steps.get(key) if springs is None else None
        if known is None:
            settings = self._settings(integrator, friction, limits, springs)
            known = self._with_calls(settings, integrator, total or self._alone[friction], None, lanes)
            if springs is None:
                keep(self._steps, key, known)
        settings = known.copy()
        head_of(settings).start = start
        return settings, self._pool(settings.view(np.int64))

    def step_entry(self, integrator: str, friction: bool, limits: bool | None, springs: Any = None,
                   total: ForceSum | None = None) -> tuple[Callable, np.ndarray, Workspaces]:
        """Return the entry point of one state, and `step_settings`."""
        settings, pool = self.step_settings(integrator, friction, limits, springs, total)
        return one(integrator), settings, pool


def keep(kept: dict, key: Any, value: Any) -> Any:
    """Store a value by its key, among at most 100 others, and return it."""
    if len(kept) > 100:
        kept.clear()
    kept[key] = value
    return value


def head_of(settings: np.ndarray) -> Any:
    """Return the record of settings, for Python code."""
    return settings[:JOINTS].view(SETTINGS)[0]
