"""Force elements: forces on a robot besides joint efforts, such as friction, springs, stops, wrenches, drag, user
functions.

An element is a force law (kernels of its effort or wrench and of its stored energy) with the numbers for one location.
One sum of elements (kernels.py) serves all simulations: it computes efforts, exact derivatives, energy and power."""
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
