"""Pinocchio: the data made beforehand, and where it has two ways, both: the faster one counts."""
import numpy as np
import pinocchio as pin

from .. import machine, robots
from ..calls import WRENCH, Call, whole
from ..contestants import Cannot

ANGULAR_FIRST = "[[3, 4, 5, 0, 1, 2]]"
JOINTS = (pin.JointModelRZ, pin.JointModelRY, pin.JointModelRX)         # about robots.AXES


class Peer:
    """A model of Pinocchio and its data."""

    def __init__(self, case):
        root = (pin.JointModelFreeFlyer(),) * case.floating
        self.model = pin.buildModelFromXML(case.urdf, *root) if case.urdf else chain(case.joints)
        needed = 8 * 6 * self.model.nv ** 3                 # Data keeps the kinematic Hessian of all joints
        if needed > machine.memory("MemAvailable") / 2:
            raise Cannot(f"its Data takes 6 n^3 numbers, {needed / 1e9:.0f} GB, which this machine has not free")
        self.tip = self.model.getFrameId(case.tip, pin.FrameType.BODY)
        self.data = self.model.createData()
        self.forces = pin.StdVec_Force()
        self.forces.extend(pin.Force.Zero() for _ in range(self.model.njoints))
        frame = self.model.frames[self.tip]
        self.forces[frame.parentJoint] = frame.placement.act(pin.Force(WRENCH[3:], WRENCH[:3]))

    def calls(self, states):
        """Each quantity at one state; variant "world": with quantities resolved in the world frame."""
        names = {"pin": pin, "np": np, "model": self.model, "data": self.data, "tip": self.tip, "LOCAL": pin.LOCAL,
                 "WORLD": pin.Convention.WORLD, "whole": whole, "order": states.order, "forces": self.forces,
                 **states.linear_first}

        jacobian = "computeFrameJacobian(model, data, q, tip, LOCAL)"
        derivative = "frameJacobianTimeVariation(model, data, q, qd, tip, LOCAL)"

        def call(statement, result="{}"):
            return Call(f"pin.{statement}", names, result.format(f"pin.{statement}"))
        vector, matrix, twists = "{}[order]", "{}[order][:, order]", f"{{}}{ANGULAR_FIRST}[:, order]"
        mass = matrix.format("whole(data.M)")
        return {
            "inverse dynamics": {"": call("rnea(model, data, q, qd, qdd)", vector)},
            "inverse dynamics, a wrench": {"": call("rnea(model, data, q, qd, qdd, forces)", vector)},
            "gravity": {"": call("computeGeneralizedGravity(model, data, q)", vector)},
            "forward dynamics": {"": call("aba(model, data, q, qd, tau)", vector),
                                 "world": call("aba(model, data, q, qd, tau, WORLD)", vector)},
            "Jacobian": {"": call(jacobian, twists)},
            "Jacobian derivative": {"": call(derivative, twists)},
            "link acceleration": {"": Call(
                "pin.forwardKinematics(model, data, q, qd, qdd); a = pin.getFrameAcceleration(model, data, tip, LOCAL)",
                names, f"a.vector{ANGULAR_FIRST}")},
            "mass matrix": {"": call("crba(model, data, q)", mass), "world": call("crba(model, data, q, WORLD)", mass)},
            "derivatives of inverse dynamics": {"": call(
                "computeRNEADerivatives(model, data, q, qd, qdd)",
                f"[{', '.join(map(matrix.format, ('data.dtau_dq', 'data.dtau_dv', 'whole(data.M)')))}]")},
            "derivatives of forward dynamics": {"": call(
                "computeABADerivatives(model, data, q, qd, tau)",
                f"[{', '.join(map(matrix.format, ('data.ddq_dq', 'data.ddq_dv', 'whole(data.Minv)')))}]")},
            "torque regressor": {"": call(      # only ours has bodies inside the joint of the floating base
                "computeJointTorqueRegressor(model, data, q, qd, qdd)",
                "np.pad({}[order], ((0, 0), (10 * (model.nv - model.njoints + 1), 0)))")},
            "Coriolis matrix": {"": call("computeCoriolisMatrix(model, data, q, qd)", matrix)},
            "centroidal momentum matrix": {"": call("computeCentroidalMap(model, data, q)", twists)},
        }

    def batch_calls(self, states, threads):
        """Inverse and forward dynamics of all states, one in each column, in Fortran's order, which is its own; on one
        thread their derivatives, state by state, since it has no call for many."""
        rows = {name: x if name == "q" else x[:, states.order] for name, x in states.rows.items()}
        columns = {name: np.asfortranarray(x.T) for name, x in rows.items()}
        out = np.empty(columns["qd"].shape, order="F")
        names = {"pin": pin, "pool": pin.ModelPool(self.model, threads), "order": states.order, "result": out,
                 **columns}
        texts = {
            "inverse dynamics": f"pin.rneaInParallel({threads}, pool, q, qd, qdd, result)",
            "forward dynamics": f"pin.abaInParallel({threads}, pool, q, qd, tau, result)",
        }
        calls = {quantity: {"": Call(text, names, "result.T[:, order]")} for quantity, text in texts.items()}
        if threads > 1:
            return calls
        rows["derivatives"] = np.empty((states.count, 3, self.model.nv, self.model.nv))
        names = {"inverse": self._inverse, "forward": self._forward, "in_our_order": in_our_order, "rows": rows,
                 "order": states.order}
        result = "in_our_order(rows['derivatives'], order)"
        regressors = {**rows, "found": np.empty((states.count, self.model.nv, 10 * (self.model.njoints - 1)))}
        regressors.pop("derivatives")
        calls["torque regressor"] = {"": Call("regressor(**rows)", {
            "regressor": self._regressor, "rows": regressors, "np": np, "order": states.order,
            "first": 10 * (self.model.nv - self.model.njoints + 1)},
            "np.pad(rows['found'][:, order], ((0, 0), (0, 0), (first, 0)))")}
        return calls | {"derivatives of inverse dynamics": {"": Call("inverse(**rows)", names, result)},
                        "derivatives of forward dynamics": {"": Call("forward(**rows)", names, result)}}

    def _inverse(self, q, qd, qdd, tau, derivatives):
        """dtau/dq, dtau/dqd and M's upper triangle of each state."""
        model, data, compute = self.model, self.data, pin.computeRNEADerivatives
        for k in range(len(q)):
            compute(model, data, q[k], qd[k], qdd[k])
            derivatives[k] = data.dtau_dq, data.dtau_dv, data.M

    def _regressor(self, q, qd, qdd, tau, found):
        """The torque regressor of each state."""
        for k in range(len(q)):
            found[k] = pin.computeJointTorqueRegressor(self.model, self.data, q[k], qd[k], qdd[k])

    def _forward(self, q, qd, qdd, tau, derivatives):
        """dqdd/dq, dqdd/dqd and M^-1's upper triangle of each state."""
        model, data, compute = self.model, self.data, pin.computeABADerivatives
        for k in range(len(q)):
            compute(model, data, q[k], qd[k], tau[k])
            derivatives[k] = data.ddq_dq, data.ddq_dv, data.Minv


def in_our_order(derivatives, order):
    """Derivatives (states, 3, n, n), the last of which are upper triangles, by velocities in our order."""
    whole_ones = np.concatenate((derivatives[:, :2], whole(derivatives[:, 2:])), axis=1)
    return whole_ones[:, :, order][..., order]


def chain(n):
    """The chain of robots.py."""
    model, joint, placement = pin.Model(), 0, pin.SE3(np.eye(3), robots.OFFSET)
    inertia = pin.Inertia(robots.MASS, robots.COM, robots.INERTIA)
    for i in range(n):
        joint = model.addJoint(joint, JOINTS[i % 3](), placement, f"joint {i + 1}")
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        model.addBodyFrame(f"link {i + 1}", joint, pin.SE3.Identity(), 0)
    return model
