"""Pinocchio: the data made beforehand, and where it has two ways, both: the faster one counts."""
import numpy as np
import pinocchio as pin

from .. import machine, robots
from ..calls import Call, whole
from ..contestants import Cannot

ANGULAR_FIRST = "[[3, 4, 5, 0, 1, 2]]"
JOINTS = (pin.JointModelRZ, pin.JointModelRY, pin.JointModelRX)         # about robots.AXES


class Peer:
    """A model of Pinocchio and its data."""

    def __init__(self, case):
        self.model = pin.buildModelFromXML(case.urdf) if case.urdf else chain(case.joints)
        needed = 8 * 6 * self.model.nv ** 3                 # Data keeps the kinematic Hessian of all joints
        if needed > machine.memory("MemAvailable") / 2:
            raise Cannot(f"its Data takes 6 n^3 numbers, {needed / 1e9:.0f} GB, which this machine has not free")
        self.tip = self.model.getFrameId(case.tip, pin.FrameType.BODY)
        self.data = self.model.createData()

    def calls(self, states):
        """Each quantity at one state; variant "world": with quantities resolved in the world frame."""
        names = {"pin": pin, "model": self.model, "data": self.data, "tip": self.tip, "LOCAL": pin.LOCAL,
                 "WORLD": pin.Convention.WORLD, "whole": whole, **states.one}

        jacobian = "computeFrameJacobian(model, data, q, tip, LOCAL)"
        derivative = "frameJacobianTimeVariation(model, data, q, qd, tip, LOCAL)"

        def call(statement, result=None):
            return Call(f"pin.{statement}", names, result)
        return {
            "inverse dynamics": {"": call("rnea(model, data, q, qd, qdd)")},
            "gravity": {"": call("computeGeneralizedGravity(model, data, q)")},
            "forward dynamics": {"": call("aba(model, data, q, qd, tau)"),
                                 "world": call("aba(model, data, q, qd, tau, WORLD)")},
            "Jacobian": {"": call(jacobian, f"pin.{jacobian}{ANGULAR_FIRST}")},
            "Jacobian derivative": {"": call(derivative, f"pin.{derivative}{ANGULAR_FIRST}")},
            "mass matrix": {"": call("crba(model, data, q)", "whole(data.M)"),
                            "world": call("crba(model, data, q, WORLD)", "whole(data.M)")},
            "Coriolis matrix": {"": call("computeCoriolisMatrix(model, data, q, qd)")},
        }

    def batch_calls(self, states, threads):
        """Inverse and forward dynamics of all states, one in each column, in Fortran's order, which is its own."""
        columns = {name: np.asfortranarray(rows.T) for name, rows in states.rows.items()}
        out = np.empty(columns["q"].shape, order="F")
        names = {"pin": pin, "pool": pin.ModelPool(self.model, threads), "result": out, **columns}
        texts = {
            "inverse dynamics": f"pin.rneaInParallel({threads}, pool, q, qd, qdd, result)",
            "forward dynamics": f"pin.abaInParallel({threads}, pool, q, qd, tau, result)",
        }
        return {quantity: {"": Call(text, names, "result.T")} for quantity, text in texts.items()}


def chain(n):
    """The chain of robots.py."""
    model, joint, placement = pin.Model(), 0, pin.SE3(np.eye(3), robots.OFFSET)
    inertia = pin.Inertia(robots.MASS, robots.COM, robots.INERTIA)
    for i in range(n):
        joint = model.addJoint(joint, JOINTS[i % 3](), placement, f"joint {i + 1}")
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        model.addBodyFrame(f"link {i + 1}", joint, pin.SE3.Identity(), 0)
    return model
