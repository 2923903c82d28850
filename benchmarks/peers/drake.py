"""Drake's MultibodyPlant, from the URDF: one state at a time."""
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces

from ..calls import Call
from ..contestants import Cannot
from ..robots import order_of_joints, root_link


class Peer:
    """A plant in continuous time, its context, and room for its forces."""

    def __init__(self, case):
        if not case.urdf:
            raise Cannot("compared on the robots only")
        self.plant = MultibodyPlant(time_step=0.0)
        model, = Parser(self.plant).AddModelsFromString(case.urdf, "urdf")
        if root_link(case.urdf) != "world":
            self.plant.WeldFrames(self.plant.world_frame(), self.plant.GetFrameByName(root_link(case.urdf)))
        self.plant.Finalize()
        joints = (self.plant.get_joint(i) for i in self.plant.GetJointIndices(model))
        moving = sorted((joint for joint in joints if joint.num_velocities()), key=lambda joint: joint.velocity_start())
        if [joint.name() for joint in moving] != order_of_joints(case.urdf):
            raise Cannot("its joints are in another order")
        self.context, self.tip = self.plant.CreateDefaultContext(), self.plant.GetFrameByName(case.tip)

    def calls(self, states):
        """Quantities at one state; setting it is part of the work, since the context keeps what it has calculated."""
        plant = self.plant
        names = {"plant": plant, "context": self.context, "forces": MultibodyForces(plant), "tip": self.tip,
                 "kV": JacobianWrtVariable.kV, "world": plant.world_frame(), "origin": [0.0, 0.0, 0.0],
                 "efforts": plant.get_applied_generalized_force_input_port(),
                 "accelerations": plant.get_generalized_acceleration_output_port(), **states.one}
        at_q = "plant.SetPositions(context, q); "
        at_q_qd = at_q + "plant.SetVelocities(context, qd); "
        texts = {
            "inverse dynamics": at_q_qd + "plant.CalcForceElementsContribution(context, forces); "
                                          "x = plant.CalcInverseDynamics(context, qdd, forces)",
            "gravity": at_q + "x = -plant.CalcGravityGeneralizedForces(context)",
            "forward dynamics": at_q_qd + "efforts.FixValue(context, tau); x = accelerations.Eval(context)",
            "Jacobian": at_q + "x = plant.CalcJacobianSpatialVelocity(context, kV, tip, origin, world, tip)",
            "mass matrix": at_q + "x = plant.CalcMassMatrix(context)",
        }
        return {quantity: {"": Call(text, names, "x")} for quantity, text in texts.items()}
