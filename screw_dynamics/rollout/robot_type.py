"""The robot in compiled controllers: a Numba type with the methods of Robot, which call the same algorithms."""
from __future__ import annotations

from collections.abc import Callable

from numba.extending import models, overload_attribute, overload_method, register_model

from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import Target, per_frame, per_joint, per_pair, per_twist, single
from screw_dynamics.compiled.native import array_at, at, call, fresh
from screw_dynamics.jit.kernel_cache.user_errors import refuse
from screw_dynamics.jit.numba_internals.compiler import CALLEE, called, cgutils, intrinsic, kernel, overload, types
from screw_dynamics.numbers.lanes import splat
from screw_dynamics.numbers.numba_types import LANE
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.structs import member
from screw_dynamics.numbers.values import null, over

from . import lane_arrays  # noqa: F401  (registers NumPy on lanes)
from .robot_methods import FRICTION, METHODS, used
from .steps import CALLS, joint_settings_at


class RobotType(types.Type):
    """The Numba type of a robot on one state or on lanes. frames: names of its frames in order, or () if no method uses
    one."""

    def __init__(self, lanes: bool, frames: tuple[str | None, ...], root: str):
        self.lanes, self.frames, self.root = lanes, frames, root
        super().__init__(f"Robot(lanes={lanes}, frames={frames}, root={root!r})")


@register_model(RobotType)
class _Model(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("memory", types.intp), ("calls", types.intp)])


def robot_maker(kind: RobotType) -> Callable:
    """Return the intrinsic that makes a robot from the addresses of a workspace and of its compiled methods."""
    @intrinsic
    def make(typing, memory, calls):
        def build(context, builder, signature, args):
            robot = cgutils.create_struct_proxy(kind)(context, builder)
            robot.memory, robot.calls = args
            return robot._getvalue()
        return kind(types.intp, types.intp), build
    return make


_memory, _calls = member("memory", lambda: types.intp), member("calls", lambda: types.intp)


# ------------------------------------------------------------------------------------------------- arrays
def _like(robot):
    """Return a number of the scalar type of the robot's states."""


@overload(_like, jit_options=CALLEE)
def _like_of(robot):
    return (lambda robot: splat(0.0)) if robot.lanes else (lambda robot: 0.0)


def _vector(like, x):
    """Return the array x, contiguous, with the scalar type of `like`."""


@overload(_vector, jit_options=CALLEE)
def _vector_of(like, x):
    if x.dtype == like and x.layout == "C":
        return lambda like, x: x

    def copied(like, x):
        y = fresh(like, x.shape)
        for k in range(len(x)):
            y[k] = over(x[k], like)
        return y
    return copied


def _result(like, out, shape):
    """Return the array for a result: out, or a new one for None."""


@overload(_result, jit_options=CALLEE)
def _result_of(like, out, shape):
    if _absent(out):
        return lambda like, out, shape: fresh(like, shape)

    def given(like, out, shape):
        if out.shape != shape:
            raise ValueError("out has another shape than the result")
        return out
    return given


def _absent(kind):
    return kind is None or isinstance(kind, (types.NoneType, types.Omitted)) and getattr(kind, "value", None) is None


# ------------------------------------------------------------------------------------------------- evaluation
@kernel
def _evaluate(robot, index, shape, target, inputs, out):
    """Call the algorithm of a method on its inputs (n,)."""
    memory = ws.memory_at(_memory(robot))
    head, like = ws.header(memory), _like(robot)
    n, nq = head.coordinates, head.configuration
    x, y, z = _vector(like, inputs[0]), _vector(like, inputs[1]), _vector(like, inputs[2])
    if len(x) != nq or len(y) != n and at(y) != at(x) or len(z) != n and at(z) != at(x):    # q again: no input
        raise ValueError("q must have robot.nq entries, and qd, qdd and tau robot.n each")
    result = _result(like, out, shape(n, head.slots - 1))
    calls = array_at(0, _calls(robot), (CALLS,))
    if calls[index] == 0:
        raise RuntimeError("this method of the robot was not prepared")
    call(calls[index], (_memory(robot), target, at(x), at(y), at(z), at(z), at(z), at(result)))
    return result


def _check(name, robot, out, external=None, **inputs):
    """Raise an error for arguments that a method cannot take in compiled code."""
    used.update({name}.intersection((*METHODS, FRICTION)))
    for key, kind in inputs.items():
        if not (isinstance(kind, types.Array) and kind.ndim == 1 and kind.dtype in (types.float64, LANE)
                and (robot.lanes or kind.dtype is not LANE)):
            refuse(f"robot.{name}: {key} must be a float64 array (n,), not {kind}")
    if not _absent(external):
        refuse(f"robot.{name}: external is not available in a controller; "
                "add robot.jacobian(q, link).T @ wrench to the efforts")
    kind = LANE if robot.lanes else types.float64
    if not (_absent(out) or isinstance(out, types.Array) and out.layout == "C" and out.dtype is kind):
        refuse(f"robot.{name}: out must be a contiguous float64 array, not {out}")


def _target(name, robot, link, reference, representation):
    """Return the packed target of link, reference and representation, which must be constants."""
    names = [getattr(x, "literal_value", getattr(x, "value", x)) for x in (link, reference, representation)]
    if isinstance(reference, types.NoneType):
        names[1] = None
    if not all(isinstance(x, str) or x is None and i == 1 for i, x in enumerate(names)):
        refuse(f"robot.{name}: the names of links and of the representation must be constant strings")
    link, reference, representation = names[0], robot.root if names[1] is None else names[1], names[2]
    for each in (link, reference):
        if each not in robot.frames:
            refuse(f"robot.{name}: link {each!r} does not exist; the model has "
                    f"{', '.join(frame for frame in robot.frames if frame is not None)}")
    if representation not in REPRESENTATIONS:
        refuse(f"robot.{name}: representation {representation!r} must be one of {', '.join(REPRESENTATIONS)}")
    return Target(robot.frames.index(link), robot.frames.index(reference), REPRESENTATIONS.index(representation)).packed


# ------------------------------------------------------------------------------------------------- methods
_method = dict(jit_options=called(CALLEE), strict=True, prefer_literal=True)


def _of_position(name, shape):
    @overload_method(RobotType, name, **_method)
    def method(robot, q, out=None, threads=None):
        _check(name, robot, out, q=q)
        index = METHODS[name]
        return lambda robot, q, out=None, threads=None: _evaluate(robot, index, shape, 0, (q, q, q), out)


def _of_motion(name, shape):
    @overload_method(RobotType, name, **_method)
    def method(robot, q, qd, out=None, threads=None):
        _check(name, robot, out, q=q, qd=qd)
        index = METHODS[name]
        return lambda robot, q, qd, out=None, threads=None: _evaluate(robot, index, shape, 0, (q, qd, qd), out)


for _name, _shape in (("gravity_torque", per_joint), ("mass_matrix", per_pair)):
    _of_position(_name, _shape)
for _name, _shape in (("coriolis_torque", per_joint), ("coriolis_matrix", per_pair)):
    _of_motion(_name, _shape)


@overload_method(RobotType, "inverse_dynamics", **_method)
def _inverse_dynamics(robot, q, qd, qdd, external=None, out=None, threads=None):
    _check("inverse_dynamics", robot, out, external, q=q, qd=qd, qdd=qdd)
    index = METHODS["inverse_dynamics"]
    return lambda robot, q, qd, qdd, external=None, out=None, threads=None: _evaluate(
        robot, index, per_joint, 0, (q, qd, qdd), out)


@overload_method(RobotType, "forward_dynamics", **_method)
def _forward_dynamics(robot, q, qd, tau, external=None, out=None, threads=None):
    _check("forward_dynamics", robot, out, external, q=q, qd=qd, tau=tau)
    index = METHODS["forward_dynamics"]
    return lambda robot, q, qd, tau, external=None, out=None, threads=None: _evaluate(
        robot, index, per_joint, 0, (q, qd, tau), out)


@overload_method(RobotType, "kinetic_energy", **_method)
def _kinetic_energy(robot, q, qd):
    _check("kinetic_energy", robot, None, q=q, qd=qd)
    index = METHODS["kinetic_energy"]
    return lambda robot, q, qd: _evaluate(robot, index, single, 0, (q, qd, qd), None)[0]


@overload_method(RobotType, "potential_energy", **_method)
def _potential_energy(robot, q):
    _check("potential_energy", robot, None, q=q)
    index = METHODS["potential_energy"]
    return lambda robot, q: _evaluate(robot, index, single, 0, (q, q, q), None)[0]


@overload_method(RobotType, "forward_kinematics", **_method)
def _forward_kinematics(robot, q, link, reference=None, out=None, threads=None):
    _check("forward_kinematics", robot, out, q=q)
    index, target = METHODS["forward_kinematics"], _target("forward_kinematics", robot, link, reference, "body")
    return lambda robot, q, link, reference=None, out=None, threads=None: _evaluate(
        robot, index, per_frame, target, (q, q, q), out)


@overload_method(RobotType, "jacobian", **_method)
def _jacobian(robot, q, link, representation="body", reference=None, out=None, threads=None):
    _check("jacobian", robot, out, q=q)
    index, target = METHODS["jacobian"], _target("jacobian", robot, link, reference, representation)
    return lambda robot, q, link, representation="body", reference=None, out=None, threads=None: _evaluate(
        robot, index, per_twist, target, (q, q, q), out)


@overload_method(RobotType, "jacobian_derivative", **_method)
def _jacobian_derivative(robot, q, qd, link, representation="body", reference=None, out=None, threads=None):
    _check("jacobian_derivative", robot, out, q=q, qd=qd)
    index, target = METHODS["jacobian_derivative"], _target("jacobian_derivative", robot, link, reference,
                                                            representation)
    return lambda robot, q, qd, link, representation="body", reference=None, out=None, threads=None: _evaluate(
        robot, index, per_twist, target, (q, qd, qd), out)


@kernel
def _friction(robot, qd, out):
    """Return damping qd + friction sign(qd), from the settings of the joints."""
    n, like = ws.header_at(_memory(robot)).coordinates, _like(robot)
    joints, v = joint_settings_at(_calls(robot) + 8 * CALLS, n), _vector(like, qd)
    if len(v) != n:
        raise ValueError("qd must have robot.n entries")
    tau = _result(like, out, (n,))
    for k in range(n):
        rest = null(v[k])
        sign = where(v[k] > 0.0, over(1.0, rest), where(v[k] < 0.0, over(-1.0, rest), v[k]))
        tau[k] = joints.model_damping[k] * v[k] + joints.model_friction[k] * sign
    return tau


@overload_method(RobotType, "friction_torque", **_method)
def _friction_torque(robot, qd, out=None):
    _check("friction_torque", robot, out, qd=qd)
    return lambda robot, qd, out=None: _friction(robot, qd, out)


@overload_attribute(RobotType, "n")
def _n(robot):
    return lambda robot: ws.header_at(_memory(robot)).coordinates


@overload_attribute(RobotType, "nq")
def _nq(robot):
    return lambda robot: ws.header_at(_memory(robot)).configuration
