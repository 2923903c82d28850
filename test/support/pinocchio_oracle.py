"""Pinocchio with the methods of our Robot, one state at a time: angular parts first, our numbers in q.

Pinocchio's algorithms run on the tree with all joints free, q_full = G q + o, and G takes what they give to the
coordinates. Its own reduction of mimic joints serves inverse dynamics and the mass matrix only; version 4.1's
computeCoriolisMatrix accepts mimic joints and answers wrongly: C qd is then not its own nonLinearEffects.
"""
import numpy as np
import pinocchio as pin

ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]
# Which of its velocities are ours, of Lie-group joints.
VELOCITIES = {"JointModelFreeFlyer": ANGULAR_FIRST, "JointModelPlanar": [2, 0, 1], "JointModelSpherical": [0, 1, 2]}
FRAMES = {"body": pin.LOCAL, "spatial": pin.WORLD, "hybrid": pin.LOCAL_WORLD_ALIGNED}


class Oracle:
    """A Pinocchio model over the configurations and velocities of our robot."""

    def __init__(self, model, robot):
        mimics, ours = robot.model.mimics, robot.model
        self.bodies = [joint if link else None for joint, link in zip(ours.body_joints, ours.is_link, strict=True)]
        model.armature[:] = model.friction[:] = model.damping[:] = 0.0
        self.model, self.data = model, model.createData()
        self.weightless = pin.Model(model)
        self.weightless.gravity.setZero()
        self.mimics, self.G = mimics, np.zeros((model.nv, robot.n))
        self.joints = []        # type, and of our q which numbers, multiplied and shifted by how much
        for name, joint in zip(model.names[1:], model.joints[1:], strict=True):
            leader, multiplier, offset = mimics.get(name, (name, 1.0, 0.0))
            order = VELOCITIES.get(joint.shortname(), [0])
            ours = np.arange(robot.n)[robot.v_slices[leader]]
            self.G[joint.idx_v + np.array(order), ours] = multiplier
            self.joints.append((joint, robot.q_slices[leader], multiplier, offset))

    def _q(self, q):
        """Pinocchio's configuration, with cosine and sine of the angles of continuous and planar joints, and unit
        quaternions."""
        full = np.empty(self.model.nq)
        for joint, numbers, multiplier, offset in self.joints:
            x = multiplier * q[numbers] + offset
            if joint.nq > joint.nv and len(x) > 3:
                x[-4:] /= np.linalg.norm(x[-4:])
            elif joint.nq > joint.nv:
                x = np.r_[x[:-1], np.cos(x[-1]), np.sin(x[-1])]
            full[joint.idx_q:joint.idx_q + joint.nq] = x
        return full

    def inverse_dynamics(self, q, qd, qdd):
        return self.G.T @ pin.rnea(self.model, self.data, self._q(q), self.G @ qd, self.G @ qdd)

    def gravity_torque(self, q):
        return self.G.T @ pin.computeGeneralizedGravity(self.model, self.data, self._q(q))

    def coriolis_torque(self, q, qd):
        return self.G.T @ pin.nonLinearEffects(self.weightless, self.data, self._q(q), self.G @ qd)

    def coriolis_matrix(self, q, qd):
        return self.G.T @ pin.computeCoriolisMatrix(self.model, self.data, self._q(q), self.G @ qd) @ self.G

    def mass_matrix(self, q):
        upper = np.triu(pin.crba(self.model, self.data, self._q(q)))
        return self.G.T @ (upper + np.triu(upper, 1).T) @ self.G

    def forward_dynamics(self, q, qd, tau):
        if self.mimics:
            return np.linalg.solve(self.mass_matrix(q), tau - self.inverse_dynamics(q, qd, 0 * qd))
        return self.G.T @ pin.aba(self.model, self.data, self._q(q), self.G @ qd, self.G @ tau)

    def inverse_dynamics_derivatives(self, q, qd, qdd):
        found = pin.computeRNEADerivatives(self.model, self.data, self._q(q), self.G @ qd, self.G @ qdd)
        return [*(self.G.T @ x @ self.G for x in found[:2]), self.mass_matrix(q)]

    def forward_dynamics_derivatives(self, q, qd, tau):
        if self.mimics:
            *by, M = self.inverse_dynamics_derivatives(q, qd, self.forward_dynamics(q, qd, tau))
            return [*(-np.linalg.solve(M, x) for x in by), np.linalg.inv(M)]
        found = pin.computeABADerivatives(self.model, self.data, self._q(q), self.G @ qd, self.G @ tau)
        return [self.G.T @ x @ self.G for x in found]

    def torque_regressor(self, q, qd, qdd):
        return self.G.T @ self._columns(
            pin.computeJointTorqueRegressor(self.model, self.data, self._q(q), self.G @ qd, self.G @ qdd))

    def kinetic_energy_regressor(self, q, qd):
        return self._columns(pin.computeKineticEnergyRegressor(self.model, self.data, self._q(q), self.G @ qd))

    def potential_energy_regressor(self, q):
        return self._columns(pin.computePotentialEnergyRegressor(self.model, self.data, self._q(q)))

    def _columns(self, regressor):
        """The columns of our bodies; 0 of those that are no links."""
        ours = np.zeros((*regressor.shape[:-1], len(self.bodies), 10))
        for i, joint in enumerate(self.bodies):
            if joint is not None:
                first = 10 * (self.model.getJointId(joint) - 1)
                ours[..., i, :] = regressor[..., first:first + 10]
        return ours.reshape(*regressor.shape[:-1], 10 * len(self.bodies))

    def kinetic_energy(self, q, qd):
        return pin.computeKineticEnergy(self.model, self.data, self._q(q), self.G @ qd)

    def potential_energy(self, q):
        """Pinocchio leaves the root link out."""
        root, gravity = self.model.inertias[0], self.model.gravity.linear
        return pin.computePotentialEnergy(self.model, self.data, self._q(q)) - root.mass * gravity @ root.lever

    def forward_kinematics(self, q, link):
        pin.framesForwardKinematics(self.model, self.data, self._q(q))
        return self.data.oMf[self._frame(link)].homogeneous

    def jacobian(self, q, link, representation):
        if representation == "mixed":
            return self._mixed(self.jacobian, q, link)
        J = pin.computeFrameJacobian(self.model, self.data, self._q(q), self._frame(link), FRAMES[representation])
        return J[ANGULAR_FIRST] @ self.G

    def jacobian_derivative(self, q, qd, link, representation):
        if representation == "mixed":
            return self._mixed(self.jacobian_derivative, q, qd, link)
        if not len(qd):
            return np.zeros((6, 0))             # Pinocchio 4.1 reads past its memory
        pin.computeJointJacobiansTimeVariation(self.model, self.data, self._q(q), self.G @ qd)
        pin.updateFramePlacements(self.model, self.data)
        J = pin.getFrameJacobianTimeVariation(self.model, self.data, self._frame(link), FRAMES[representation])
        return J[ANGULAR_FIRST] @ self.G

    def _frame(self, link):
        known = self.model.existFrame(link, pin.FrameType.BODY)
        return self.model.getFrameId(link, pin.FrameType.BODY) if known else 0      # the world below a floating base

    @staticmethod
    def _mixed(f, *arguments):
        """Angular rows as measured in the body, linear rows in the world; [MK] (50)."""
        return np.vstack([f(*arguments, "body")[:3], f(*arguments, "hybrid")[3:]])


def oracle_of_urdf(path, robot):
    """The oracle of a URDF, over the configurations of our robot, with its floating base if it has one."""
    base = (pin.JointModelFreeFlyer(), "floating_base") if "floating_base" in robot.joint_names else ()
    return Oracle(pin.buildModelFromUrdf(str(path), *base), robot)


def oracle_of_parts(parts, robot):
    """The oracle of a tree of random_trees.py, over the coordinates of our robot."""
    make = {"revolute": lambda part: pin.JointModelRevoluteUnaligned(part.axis),
            "prismatic": lambda part: pin.JointModelPrismaticUnaligned(part.axis),
            "helical": lambda part: pin.JointModelHelicalUnaligned(part.axis, part.pitch),
            "spherical": lambda part: pin.JointModelSpherical(), "planar": lambda part: pin.JointModelPlanar(),
            "free": lambda part: pin.JointModelFreeFlyer()}
    model = pin.Model()
    model.addBodyFrame("root", 0, pin.SE3.Identity(), 0)

    def grow(parent, parent_joint, at):
        """Depth first: Pinocchio's mass and Coriolis matrices are right only if each branch is in one row."""
        for part in (part for part in parts if part.parent == parent):
            joint, C = parent_joint, at * pin.SE3(part.placement)
            if part.kind != "fixed":
                D = pin.SE3(part.joint_frame)
                joint, C = model.addJoint(joint, make[part.kind](part), C * D, part.joint), D.inverse()
            model.appendBodyToJoint(joint, pin.Inertia(part.mass, part.com, part.rotational), C)
            model.addBodyFrame(part.link, joint, C, 0)
            grow(part.link, joint, C)
    grow("root", 0, pin.SE3.Identity())
    return Oracle(model, robot)
