"""Every method of Robot on a few robots, as arrays by name: what one process computes, for another to compare."""
import inspect

import numpy as np
from numba import njit

import screw_dynamics as sd
from screw_dynamics.jit.numba_internals.compiler import PLAIN, start
from support.calls import calls
from support.paths import URDF
from support.random_trees import model_of, random_tree

start()         # functions of these tests are njit's

LEADS = {"one state": (), "batch": (3, 3)}      # on lanes, and one state that is left
COMPARED = np.s_[::2, 2:]       # of a batch: a state on lanes and that one, which plain Python computes alone
MANY, EVERY = 4000, 9         # states, enough for two threads; of these every ninth is compared


def spring(t, q, qd, tau):
    """A controller that nobody has compiled."""
    tau[:] = np.sin(t) - 3.0 * q - 0.5 * qd


def computed_torque(robot, t, q, qd, tau):
    """A controller that calls the robot."""
    robot.inverse_dynamics(q, qd, -3.0 * q - 0.5 * qd, out=tau)


def robots():
    """Robots by name: a tree, one with mimic joints, and one with kernels of its own."""
    pendulum = sd.Robot.from_urdf(URDF / "double_pendulum.urdf")
    trees = {f"{mimics} mimics": sd.Robot(model_of(random_tree(np.random.default_rng(3), 4, mimics)))
             for mimics in (0, 1)}
    special = pendulum.specialize([("tip", "hybrid")])
    changed = pendulum.with_payload("tip", 0.5, (0.0, 0.1, 0.2)).with_gravity((1.0, 2.0, 3.0))
    return trees | {"specialize": special, "with_payload with_gravity": changed}


def results():
    """Results by robot, method and state."""
    found = {}
    for robot_name, robot in robots().items():
        for lead_name, lead in LEADS.items():
            state = np.random.default_rng(4).uniform(-1.0, 1.0, (3, *lead, robot.n))
            for method, result in of_state(robot, *(x[COMPARED] if lead and PLAIN else x for x in state)):
                found[f"{robot_name}, {lead_name}, {method}"] = result[COMPARED] if lead and not PLAIN else result
    for method, given in calls():
        if isinstance(getattr(method, "__self__", None), (sd.Robot, type)) and is_complete(method, given):
            found[f"arm, {method.__name__}"] = np.concatenate([np.zeros(0), *numbers_in(method(**given))])
    tree = robots()["0 mimics"]
    q = np.random.default_rng(5).uniform(-1.0, 1.0, (MANY, tree.n))
    found["threads"] = (tree.gravity_torque(q[::EVERY], threads=2) if PLAIN else
                        tree.gravity_torque(q, threads=2)[::EVERY])
    return found


def numbers_in(result):
    """The arrays of a result, flat; none of robots, names and files."""
    if isinstance(result, (tuple, list)):
        return [x for part in result for x in numbers_in(part)]
    numeric = isinstance(result, (float, np.ndarray, np.number)) and np.asarray(result).dtype.kind == "f"
    return [np.ravel(result)] if numeric else []


def is_complete(method, given):
    """True if nothing is missing that a method takes."""
    try:
        inspect.signature(method).bind(**given)
    except TypeError:
        return False
    return True


def of_state(robot, q, qd, u):
    """Pairs of a method, with what distinguishes the call, and its result."""
    tip, middle = robot.link_names[-1], robot.link_names[1]
    load = {tip: np.arange(6.0)}
    for method in ("gravity_torque", "mass_matrix", "potential_energy", "body_poses", "body_jacobians",
                   "center_of_mass", "center_of_mass_jacobian", "centroidal_momentum_matrix", "composite_inertia",
                   "normalize"):
        yield method, getattr(robot, method)(q)
    for method in ("coriolis_torque", "coriolis_matrix", "kinetic_energy", "body_twists", "center_of_mass_velocity",
                   "centroidal_momentum", "centroidal_momentum_matrix_derivative", "integrate",
                   "difference", "distance"):
        yield method, getattr(robot, method)(q, qd)
    for method in ("center_of_mass_acceleration", "centroidal_momentum_rate"):
        yield method, getattr(robot, method)(q, qd, u)
    yield "average_twist", np.einsum("...ij,...j->...i", robot.composite_inertia(q), robot.average_twist(q, qd))
    yield "hybrid_dynamics", np.concatenate(robot.hybrid_dynamics(q, qd, u, u, robot.joint_names[:1], load), axis=-1)
    yield "interpolate", robot.interpolate(q, qd, np.full(q.shape[:-1], 0.3))
    for method in ("inverse_dynamics", "forward_dynamics"):
        yield method, getattr(robot, method)(q, qd, u)
        yield f"{method} loaded", getattr(robot, method)(q, qd, u, load)
    for method in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        yield method, np.stack(getattr(robot, method)(q, qd, u, load), axis=-3)
    for method in ("inverse_dynamics_second_derivatives", "forward_dynamics_second_derivatives"):
        yield method, np.stack(getattr(robot, method)(q, qd, u, load), axis=-4)
    yield "inverse_dynamics_time_derivatives", np.stack(
        robot.inverse_dynamics_time_derivatives(q, qd, u, qd, u, load), axis=-2)
    for dt in (None, 0.01):
        yield f"linearize {dt}", np.concatenate(robot.linearize(q, qd, u, dt, load, friction=True)[:2], axis=-1)
    yield "kinematic_hessian", robot.kinematic_hessian(q, tip, "hybrid", middle)
    yield "external_torque", robot.external_torque(q, load)
    yield "friction_torque", robot.friction_torque(qd)
    yield "body_poses spatial", robot.body_poses(q, "spatial", middle)
    yield "forward_kinematics", robot.forward_kinematics(q, tip, middle)
    yield "inverse_kinematics", robot.inverse_kinematics(robot.forward_kinematics(q, tip), tip, q + 0.01 * qd).q
    for form in ("body", "spatial", "hybrid", "mixed"):
        yield f"jacobian {form}", robot.jacobian(q, tip, form)
        yield f"link_acceleration {form}", robot.link_acceleration(q, qd, u, tip, form)
        yield f"link_jerk {form}", robot.link_jerk(q, qd, u, qd, tip, form, middle)
        yield f"link_snap {form}", robot.link_snap(q, qd, u, qd, u, tip, form)
        yield f"jacobian_second_derivative {form}", robot.jacobian_second_derivative(q, qd, u, tip, form, middle)
        yield f"jacobian_derivative {form}", robot.jacobian_derivative(q, qd, tip, form, middle)
    for integrator in ("semi_implicit_euler", "rk45"):
        for name, effort in (("no effort", None), ("effort", u), ("controller", spring), ("jitted", njit(spring)),
                             ("computed torque", computed_torque)):
            yield f"rollout {integrator} {name}", np.concatenate(robot.rollout(
                q, qd, effort, 0.01, 4, integrator, friction=True, limits=True, every=2)[1:], axis=-1)
    for integrator in ("semi_implicit_euler", "rk4"):
        yield f"step {integrator}", np.concatenate(robot.step(q, qd, u, 0.01, integrator, friction=True, limits=True),
                                                   axis=-1)


def save(path):
    """Write the results to a file."""
    np.savez(path, **results())
