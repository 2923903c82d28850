"""Estimation from measured efforts, beyond the model: external torques and contacts, and what a link carries. No ROS.
May import robot and what is below it."""
from .contact_wrench import ContactWrench, contact_wrench
from .momentum_observer import MomentumObserver
from .payload_identification import Payload, identify_payload

__all__ = ["ContactWrench", "MomentumObserver", "Payload", "contact_wrench", "identify_payload"]
