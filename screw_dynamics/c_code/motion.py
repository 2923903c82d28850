"""Exported functions of motion: friction, springs of drives, and an integration step."""
import numpy as np

from screw_dynamics.algorithms.space import integrate
from screw_dynamics.forces import friction_of, of_model
from screw_dynamics.model.model import Model
from screw_dynamics.numbers.scalars import where

from .dynamics import accelerations_by
from .functions import Array, Function, Options, at_run_time, configuration, efforts, velocities


def friction_torque(model: Model, options: Options) -> list[Function]:
    """Return the function damping qd + friction sign(qd)."""
    for element in friction_of(model):
        raise ValueError(f"friction_torque: the robot has {element}, of its own or of a drive, which cannot be "
                         "exported")

    def way(robot, qd):
        efforts = [d * v + f * where(v < 0.0, -1.0, where(v > 0.0, 1.0, v))     # propagates NaN
                   for d, f, v in zip(model.damping.tolist(), model.friction.tolist(), qd, strict=True)]
        return [np.array(efforts, dtype=object)]
    return [Function("friction_torque",
                     "the efforts that friction takes: damping qd + friction sign(qd); no other function has them",
                     (velocities(model),), (efforts(model),), {"friction_torque": way}, {})]


def drive_torque(model: Model, options: Options) -> list[Function]:
    """Return the function of the efforts of drives (springs, windings) and of the robot's force elements, without
    friction."""
    def way(robot, q, qd):
        return [robot.efforts_of(of_model(model, friction=False), q, qd)]
    return [Function("drive_torque", "the efforts of springs and windings of drives, on joints and on motors, and of "
                     "the robot's own forces but friction, which forward dynamics takes beside tau; stops, and springs "
                     "with play, give none where their position is NaN",
                     (configuration(model), velocities(model)), (efforts(model),), {"drive_torque": way}, {})]


def step(model: Model, options: Options) -> list[Function]:
    """Return the function of a semi-implicit Euler step."""
    for element in of_model(model, friction=False):
        raise ValueError(f"step: the robot has {element}, of its own or of a drive, which acts in every motion and "
                         "cannot be exported")
    inputs = (configuration(model), velocities(model), efforts(model), Array("dt", (), "length of the step, s"),
              *at_run_time(options))
    ways, symbols = accelerations_by(model, options)
    outputs = (configuration(model)._replace(name="q_next"), velocities(model)._replace(name="qd_next"))

    def stepping(forward):
        def way(robot, q, qd, tau, dt, *_):
            [qdd], h = forward(robot, q, qd, tau), dt[()]
            robot.notes.section("The step")
            after, here = qd + qdd * h, [None] * model.nq
            integrate(robot.space, list(q), h, list(after), here)
            return [np.array(here, dtype=object), after]
        return way

    return [Function("step", "the state a time dt later, by semi-implicit Euler: qd_next = qd + dt qdd, and q moves by "
                     "dt qd_next; without friction and limits", inputs, outputs,
                     {name: stepping(forward) for name, forward in ways.items()}, symbols)]
