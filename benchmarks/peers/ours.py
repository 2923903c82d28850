"""This library: the checked public method as it is, with the output passed in, and so on a specialized robot."""
import warnings
from math import prod

import numpy as np

import screw_dynamics as sd

from .. import robots
from ..calls import ONE_BY_ONE, WRENCH, Call

warnings.simplefilter("ignore", sd.UrdfWarning)     # about robots that nobody here wrote
METHODS = {
    "inverse dynamics": "inverse_dynamics(q, qd, qdd{out})",
    "gravity": "gravity_torque(q{out})",
    "forward dynamics": "forward_dynamics(q, qd, tau{out})",
    "Jacobian": "jacobian(q, tip{out})",
    "Jacobian derivative": "jacobian_derivative(q, qd, tip{out})",
    "mass matrix": "mass_matrix(q{out})",
    "Coriolis matrix": "coriolis_matrix(q, qd{out})",
    "derivatives of inverse dynamics": "inverse_dynamics_derivatives(q, qd, qdd{out})",
    "derivatives of forward dynamics": "forward_dynamics_derivatives(q, qd, tau{out})",
}
OF_ROBOTS = {"inverse dynamics, a wrench": "inverse_dynamics(q, qd, qdd, {{tip: wrench}}{out})",
             "torque regressor": "torque_regressor(q, qd, qdd{out})",      # 10 n^2 numbers: not of long chains
             "link acceleration": "link_acceleration(q, qd, qdd, tip{out})"}
WALKING = {"centroidal momentum matrix": "centroidal_momentum_matrix(q{out})"}      # on a floating base


LARGEST = 5000                          # numbers in a result of a batch: 4096 regressors of Talos would take 0.3 GB


class Peer:
    """A robot of ours; up to SPECIALIZED joints also a specialized one, whose kernels take seconds each to compile."""

    SPECIALIZED = 12

    def __init__(self, case):
        self.tip = case.tip
        self.methods = METHODS | (OF_ROBOTS if case.urdf else {}) | (WALKING if case.floating else {})
        self.robot = (sd.Robot.from_urdf(case.urdf, floating_base=case.floating) if case.urdf
                      else sd.Robot(chain(case.joints)))
        short = case.urdf and not case.floating and case.joints <= self.SPECIALIZED
        self.special = self.robot.specialize([(case.tip, "body")]) if short else None

    def calls(self, states):
        """Each quantity at one state; variants "out=" and "specialized": into an array that is already there."""
        n, names = self.robot.n, {"robot": self.robot, "tip": self.tip, "wrench": WRENCH, **states.one}
        shapes = {"Jacobian": (6, n), "Jacobian derivative": (6, n), "link acceleration": 6,
                  "mass matrix": (n, n), "Coriolis matrix": (n, n),
                  "centroidal momentum matrix": (6, n), **{name: shape(n) for name, shape in ONE_BY_ONE.items()}}
        calls = {}
        for quantity, method in self.methods.items():
            room = {**names, "result": np.empty(shapes.get(quantity, n))}
            calls[quantity] = {"": Call("robot." + method.format(out=""), names),
                               "out=": Call("robot." + method.format(out=", out=result"), room, "result")}
            if self.special and quantity not in {"Jacobian derivative", *ONE_BY_ONE}:
                call = calls[quantity]["out="]
                calls[quantity]["specialized"] = call._replace(names={**room, "robot": self.special})
        return calls

    def batch_calls(self, states, threads):
        """Inverse and forward dynamics of all states, and on one thread derivatives and, of small robots, regressor."""
        n, option, calls = self.robot.n, f", out=result, threads={threads}", {}
        more = [quantity for quantity, shape in ONE_BY_ONE.items() if threads == 1 and prod(shape(n)) <= LARGEST]
        for quantity in ("inverse dynamics", "forward dynamics", *more):
            shape = ONE_BY_ONE.get(quantity, lambda n: (n,))(n)
            call = Call("robot." + self.methods[quantity].format(out=option),
                        {"robot": self.robot, "result": np.empty((states.count, *shape)), **states.rows}, "result")
            calls[quantity] = {"": call} if quantity in ONE_BY_ONE else self._variants(call)
        return calls

    def rollout_calls(self, states, dt, steps):
        """One robot, free fall from the chosen state; result: q after all steps."""
        statement = f"t, positions, rates = robot.rollout(q, qd, dt={dt}, steps={steps})"
        return self._variants(Call(statement, {"robot": self.robot, **states.one}, "positions[-1]"))

    def rollouts_calls(self, states, dt, steps, threads):
        """As many robots as there are states, free fall; result: q (states, steps, n)."""
        statement = f"t, positions, rates = robot.rollout(q, qd, dt={dt}, steps={steps}, threads={threads})"
        return self._variants(Call(statement, {"robot": self.robot, **states.rows}, "positions[:, 1:]"))

    def _variants(self, call):
        """A call as it is, and of the specialized robot where there is one."""
        if not self.special:
            return {"": call}
        return {"": call, "specialized": call._replace(names={**call.names, "robot": self.special})}


def chain(n):
    """The chain of robots.py."""
    builder, placement = sd.ModelBuilder("link 0"), np.eye(4)
    inertia = sd.inertia_matrix(robots.MASS, robots.COM, robots.INERTIA)
    placement[:3, 3] = robots.OFFSET
    for i in range(n):
        screw = np.r_[robots.AXES[i % 3], 0.0, 0.0, 0.0]
        builder.add_joint(f"joint {i + 1}", f"link {i + 1}", f"link {i}", screw, placement, inertia)
    return builder.build()
