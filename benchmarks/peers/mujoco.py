"""MuJoCo without contacts, constraints, springs and dampers, so that it simulates the same robot and nothing else."""
import mujoco
import mujoco.rollout
import numpy as np

from .. import robots
from ..calls import Call

OFF = ("CONSTRAINT", "CONTACT", "LIMIT", "FRICTIONLOSS", "EQUALITY", "SPRING", "DAMPER", "SENSOR")
STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS             # time, q, qd
EXTENSION = '<mujoco><compiler fusestatic="true" discardvisual="true" strippath="true"/></mujoco></robot>'


class Peer:
    """A model of MuJoCo and its data."""

    def __init__(self, case):
        self.model = from_urdf(case.urdf) if case.urdf else chain(case.joints)
        for flag in OFF:
            self.model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        self.data = mujoco.MjData(self.model)

    def calls(self, states):
        """Inverse and forward dynamics at one state."""
        names = {"mujoco": mujoco, "model": self.model, "data": self.data, **states.one}
        setting = "data.qpos[:] = q; data.qvel[:] = qd; "
        return {
            "inverse dynamics": {"": Call(setting + "data.qacc[:] = qdd; mujoco.mj_inverse(model, data)", names,
                                          "data.qfrc_inverse")},
            "forward dynamics": {"": Call(setting + "data.qfrc_applied[:] = tau; mujoco.mj_forward(model, data)", names,
                                          "data.qacc")},
        }

    def rollout_calls(self, states, dt, steps):
        """One robot, free fall from the chosen state, in MuJoCo's own loop over steps; result: q after all steps."""
        self.model.opt.timestep = dt
        names = {"mujoco": mujoco, "model": self.model, "data": mujoco.MjData(self.model), **states.one}
        statement = f"data.qpos[:] = q; data.qvel[:] = qd; mujoco.mj_step(model, data, {steps})"
        return {"": Call(statement, names, "data.qpos")}

    def rollouts_calls(self, states, dt, steps, threads):
        """As many robots as there are states, free fall, on threads that are kept; result: q (states, steps, n)."""
        self.model.opt.timestep = dt
        n = self.model.nq
        initial = np.zeros((states.count, mujoco.mj_stateSize(self.model, STATE)))
        initial[:, 1:n + 1], initial[:, n + 1:2 * n + 1] = states.rows["q"], states.rows["qd"]
        pool = mujoco.rollout.Rollout(nthread=threads if threads > 1 else 0)
        names = {"pool": pool, "model": self.model, "initial": initial,
                 "data": [mujoco.MjData(self.model) for _ in range(threads)]}
        statement = f"state, sensors = pool.rollout(model, data, initial, nstep={steps})"
        return {"": Call(statement, names, f"state[:, :, 1:{n + 1}]")}


def from_urdf(text):
    """The model of a URDF."""
    return mujoco.MjModel.from_xml_string(text.replace("</robot>", EXTENSION))


def chain(n):
    """The chain of robots.py."""
    spec = mujoco.MjSpec()
    body, inertia = spec.worldbody, np.diag(robots.INERTIA)
    for i in range(n):
        body = body.add_body(name=f"link {i + 1}", pos=robots.OFFSET, explicitinertial=True,
                             mass=robots.MASS, ipos=robots.COM, inertia=inertia)
        body.add_joint(axis=robots.AXES[i % 3])
    return spec.compile()
