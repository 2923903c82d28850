"""modern_robotics, the library of the book: plain NumPy, for serial chains. It reads no URDF: the model is ours."""
import modern_robotics
import numpy as np

import screw_dynamics as sd

from ..calls import Call
from ..contestants import Cannot


class Peer:
    """The lists that its functions take."""

    def __init__(self, case):
        model = sd.read_urdf(case.urdf) if case.urdf else None
        if model is None or list(model.parents) != list(range(-1, case.joints - 1)):
            raise Cannot("it is for the serial chains among the robots")
        last, in_last = model.frames[case.tip]
        tip = model.reference_poses[last] @ in_last
        self.lists = {
            "g": np.array([0.0, 0.0, -9.81]), "Ftip": np.zeros(6), "Mlist": np.array([*model.relative_poses, in_last]),
            "Glist": model.inertias, "Slist": model.screws_spatial.T,
            "Blist": modern_robotics.Adjoint(modern_robotics.TransInv(tip)) @ model.screws_spatial.T,
        }

    def calls(self, states):
        """Quantities at one state."""
        names = {"mr": modern_robotics, **self.lists, **states.one}
        texts = {
            "inverse dynamics": "mr.InverseDynamics(q, qd, qdd, g, Ftip, Mlist, Glist, Slist)",
            "gravity": "mr.GravityForces(q, g, Mlist, Glist, Slist)",
            "forward dynamics": "mr.ForwardDynamics(q, qd, tau, g, Ftip, Mlist, Glist, Slist)",
            "Jacobian": "mr.JacobianBody(Blist, q)",
            "mass matrix": "mr.MassMatrix(q, Mlist, Glist, Slist)",
        }
        return {quantity: {"": Call(text, names)} for quantity, text in texts.items()}
