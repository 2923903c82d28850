"""PyBullet, from the URDF: one state at a time, given as lists, which is what it takes."""
import os
import tempfile
from contextlib import contextmanager

import pybullet

from ..calls import Call
from ..contestants import Cannot

FLAGS = pybullet.URDF_USE_INERTIA_FROM_FILE


class Peer:
    """A body in a world of its own without graphics."""

    def __init__(self, case):
        if not case.urdf:
            raise Cannot("compared on the robots only")
        self.client = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0.0, 0.0, -9.81, physicsClientId=self.client)
        with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
            file.write(case.urdf)
            file.flush()
            with silence():
                self.body = pybullet.loadURDF(file.name, useFixedBase=True, flags=FLAGS, physicsClientId=self.client)

    def calls(self, states):
        """Inverse dynamics and mass matrix."""
        names = {"pybullet": pybullet, "body": self.body, "client": self.client, **states.one}
        texts = {
            "inverse dynamics": "pybullet.calculateInverseDynamics(body, q.tolist(), qd.tolist(), qdd.tolist(), "
                                "physicsClientId=client)",
            "mass matrix": "pybullet.calculateMassMatrix(body, q.tolist(), physicsClientId=client)",
        }
        return {quantity: {"": Call(text, names)} for quantity, text in texts.items()}


@contextmanager
def silence():
    """Send what C code prints meanwhile nowhere."""
    stdout, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
        os.close(nowhere)
