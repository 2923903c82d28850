"""Estimation from measured efforts: external torques, contact wrenches and payloads. No ROS. May import robot and lower
layers."""
from .contact_wrench import ContactWrench, contact_wrench
from .momentum_observer import MomentumObserver
from .payload_identification import Payload, identify_payload

__all__ = ["ContactWrench", "MomentumObserver", "Payload", "contact_wrench", "identify_payload"]
