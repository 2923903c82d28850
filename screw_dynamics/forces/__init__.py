"""Forces on a robot besides its joints' efforts: friction, springs, stops, wrenches, drag, and what users add.

An element is a law, kernels of its effort or wrench and of the energy that it stores, and the numbers of one place. One
sum of elements (kernels.py) serves all that moves a robot: its efforts, their exact derivatives, energy and power."""
from .custom import Custom
from .drag import Drag
from .element import KINDS, Element, elements_of
from .friction import Friction, ModelDamping, ModelFriction
from .gear_loss import GearLoss
from .link_wrench import LinkWrench
from .nonlinear_spring import NonlinearSpring
from .of_model import friction_of, of_drive, of_model, without_friction
from .point_spring import PointSpring
from .spring import JointSprings, Spring
from .stop import Stop
from .total import Account, Derivatives, ForceSum, check_fits
from .variable_spring import VariableSpring
from .winding import Winding

__all__ = ["KINDS", "Account", "Custom", "Derivatives", "Drag", "Element", "ForceSum", "Friction", "GearLoss",
           "JointSprings", "LinkWrench", "ModelDamping", "ModelFriction", "NonlinearSpring", "PointSpring", "Spring",
           "Stop", "VariableSpring", "Winding", "check_fits", "elements_of", "friction_of", "of_drive", "of_model",
           "without_friction"]
