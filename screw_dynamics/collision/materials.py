"""Surface materials, and their combination for pairs of surfaces."""
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from screw_dynamics.utils import checks

MEAN, LARGER = "geometric mean", "larger"
# For two surfaces of the same material each rule except the product returns the material's value.
RULES: Mapping[str, Callable[[float, float], float]] = MappingProxyType({
    MEAN: lambda a, b: math.sqrt(a * b),
    LARGER: max,
    "smaller": min,
    "mean": lambda a, b: 0.5 * (a + b),
    "harmonic mean": lambda a, b: 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0,
    "product": lambda a, b: a * b,
})
LARGEST = 1e6       # larger coefficients are rejected as mistakes


class Material(NamedTuple):
    """Coefficients of a surface: friction, >= 0; restitution, from 0 to 1; torsional and rolling friction, m: the
    largest torque about the normal, and in the plane, per newton of normal force."""

    friction: float = 0.8
    restitution: float = 0.0
    torsion: float = 0.0
    rolling: float = 0.0

    def checked(self, name: str) -> "Material":
        """Return the material as floats. Raises ValueError with the name of its owner and the invalid value."""
        values = {what: checks.number(f"{name}: {what}", x, 0.0) for what, x in self._asdict().items()}
        for what, x in values.items():
            most = 1.0 if what == "restitution" else LARGEST
            if x > most:
                raise ValueError(f"{name}: {what} {x:g} must be from 0 to {most:g}")
        return Material(**values)

    def but(self, friction: float | None = None, restitution: float | None = None, torsion: float | None = None,
            rolling: float | None = None) -> "Material":
        """Return the material with the given values replaced."""
        given = friction, restitution, torsion, rolling
        return Material(*(mine if x is None else x for mine, x in zip(self, given, strict=True)))


class Combination(NamedTuple):
    """The rules, of RULES, that combine the coefficients of two surfaces.

    By default friction is the geometric mean. Two surfaces of one material then have the material's value, as in tables
    of materials, unlike with the product; and a pair with a frictionless surface has no friction, unlike with the
    maximum (MuJoCo) or the mean (PhysX). Drake's harmonic mean and Bullet's product also have the latter property.
    Restitution, torsional and rolling friction are the maximum: the softer surface deforms."""

    friction: str = MEAN
    restitution: str = LARGER

    def checked(self, name: str) -> "Combination":
        """Return the combination. Raises ValueError for an unknown rule."""
        for what, rule in self._asdict().items():
            checks.one_of(f"{name}: combination of {what}", rule, tuple(RULES))
        return self

    def of(self, a: Material, b: Material) -> Material:
        """Return the combined material of two surfaces."""
        return Material(RULES[self.friction](a.friction, b.friction),
                        RULES[self.restitution](a.restitution, b.restitution), max(a.torsion, b.torsion),
                        max(a.rolling, b.rolling))
