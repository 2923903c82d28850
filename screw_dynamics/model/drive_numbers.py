"""Conversions between the parameters of drives and those of a model's coordinates, and removal of drives."""
from collections.abc import Mapping
from dataclasses import replace

from .drive import Drive, LeverArm
from .drives import motor_coordinates, without_drives
from .model import Model


def following(model: Model) -> Model:
    """Return the model with drives whose parameters match its coordinates.

    rotor_inertia, motor_damping and motor_friction are set from armature, damping and friction of the motors. For a
    rigid drive, the motor's share of damping and friction is at most the joint's. Values that no Drive can represent
    stay with the coordinates: those of two different motors on a joint, of a rotor on a carrier, and of a rigid motor
    that several joints turn."""
    found = {joint: _following(model, joint, drive) for joint, drive in model.drives.items()}
    return model if found == dict(model.drives) else replace(model, drives=found)


def _following(model, joint, drive) -> Drive:
    numbers = [_numbers(model, k) for _, k in motor_coordinates(model, joint)]
    own = numbers[0]
    if drive.winding is not None:
        L = _numbers(model, model.v_slices[f"{joint}_current"].start)["armature"]
        drive = replace(drive, electric=replace(drive.winding, inductance=L)) if L > 0.0 else drive
    if isinstance(lever := drive.stiffness, LeverArm):
        its = _numbers(model, model.v_slices[f"{joint}_lever"].start)
        if its["armature"] > 0.0:
            drive = replace(drive, stiffness=replace(lever, inertia=its["armature"], damping=its["damping"],
                                                     friction=its["friction"]))
    if drive.is_elastic and any(other != own for other in numbers) or drive.coupling and not drive.is_elastic:
        return drive
    shares = {"motor_damping": own["damping"], "motor_friction": own["friction"]}
    if not drive.is_elastic:
        shares = {name: min(getattr(drive, name), x) for name, x in shares.items()}
    if drive.carrier is None and own["armature"] != drive.inertia and (own["armature"] > 0.0 or not drive.is_elastic):
        shares["rotor_inertia"] = own["armature"] / (drive.ratio * drive.ratio)
    return replace(drive, **shares)


def _numbers(model, k) -> Mapping[str, float]:
    return {name: float(getattr(model, name)[k]) for name in ("armature", "damping", "friction")}


def undriven(model: Model) -> Model:
    """Return the model without its drives and without the armature, damping and friction that rigid drives add.

    Damping and friction are restored to machine precision. The model keeps its force elements, but for those on
    motors."""
    found = without_drives(model)
    numbers = {name: getattr(found, name).copy() for name in ("armature", "damping", "friction")}
    for joint, drive in model.drives.items():
        k = found.v_slices[joint].start
        numbers["armature"][k] = 0.0
        for name, share in (("damping", drive.motor_damping), ("friction", drive.motor_friction)):
            if not (drive.is_elastic or drive.coupling):
                numbers[name][k] = max(numbers[name][k] - share, 0.0)
    return replace(found, **numbers)
