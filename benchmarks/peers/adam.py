"""adam: functions that CasADi evaluates, made beforehand, with the base at rest."""
import warnings

import casadi
import numpy as np
from adam.casadi import KinDynComputations

from ..calls import Call
from ..contestants import Cannot
from ..robots import order_of_joints


class Peer:
    """A floating-base model, of which the rows and columns of the joints are kept."""

    def __init__(self, case):
        if not case.urdf:
            raise Cannot("compared on the robots only")
        self.n = case.joints
        gravity = np.array([0.0, 0.0, -9.81, 0.0, 0.0, 0.0])
        warnings.filterwarnings("ignore", category=FutureWarning, module="casadi")      # of adam's calls, not of ours
        self.model = KinDynComputations(case.urdf, order_of_joints(case.urdf), gravity=gravity)

    def calls(self, states):
        """Inverse dynamics, which is M qdd plus the bias force, gravity and mass matrix."""
        H, still = casadi.SX.eye(4), casadi.SX.zeros(6)
        q, qd, qdd = (casadi.SX.sym(name, self.n) for name in ("q", "qd", "qdd"))
        M = self.model.mass_matrix(H, q)[6:, 6:]
        bias = self.model.bias_force(H, q, still, qd)[6:]
        functions = {
            "inverse dynamics": casadi.Function("f", [q, qd, qdd], [M @ qdd + bias], {"cse": True}),
            "gravity": casadi.Function("f", [q], [self.model.gravity_term(H, q)[6:]], {"cse": True}),
            "mass matrix": casadi.Function("f", [q], [M], {"cse": True}),
        }
        arguments = {"inverse dynamics": "q, qd, qdd", "gravity": "q", "mass matrix": "q"}
        result = {"mass matrix": "np.array(x)"}
        return {quantity: {"": Call(f"x = f({arguments[quantity]})", {"f": f, "np": np, **states.one},
                                    result.get(quantity, "np.ravel(x)"))} for quantity, f in functions.items()}
