"""Materials of surfaces, and what two of them have between them."""
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from screw_dynamics import checks

MEAN, LARGER = "geometric mean", "larger"
# Of two surfaces of one material each gives that of the material, but for the product.
RULES: Mapping[str, Callable[[float, float], float]] = MappingProxyType({
    MEAN: lambda a, b: math.sqrt(a * b),
    LARGER: max,
    "smaller": min,
    "mean": lambda a, b: 0.5 * (a + b),
    "harmonic mean": lambda a, b: 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0,
    "product": lambda a, b: a * b,
})
LARGEST = 1e6       # a coefficient beyond it is a mistake


class Material(NamedTuple):
    """Coefficients of a surface: of friction, >= 0; of restitution, from 0 to 1; of torsional and rolling friction, m:
    the largest torque about the normal, and in the plane, per newton of normal force."""

    friction: float = 0.8
    restitution: float = 0.0
    torsion: float = 0.0
    rolling: float = 0.0

    def checked(self, name: str) -> "Material":
        """Return the material, in floats. Raises ValueError with the name of what has it, and the value that is
        wrong."""
        values = {what: checks.number(f"{name}: {what}", x, 0.0) for what, x in self._asdict().items()}
        for what, x in values.items():
            most = 1.0 if what == "restitution" else LARGEST
            if x > most:
                raise ValueError(f"{name}: {what} {x:g} must be from 0 to {most:g}")
        return Material(**values)

    def but(self, friction: float | None = None, restitution: float | None = None, torsion: float | None = None,
            rolling: float | None = None) -> "Material":
        """Return the material with other values where they are given."""
        given = friction, restitution, torsion, rolling
        return Material(*(mine if x is None else x for mine, x in zip(self, given, strict=True)))


class Combination(NamedTuple):
    """The rules, of RULES, by which two surfaces have one friction and one restitution.

    By default friction is the geometric mean: a surface on one of its own kind has the friction that is given for it,
    which tables of materials list and a product has not; and on one without friction nothing sticks, as with neither
    the larger one (MuJoCo's rule) nor the mean (PhysX's). Drake's harmonic mean and Bullet's product have that too.
    Restitution, and torsional and rolling friction, are the larger ones: the softer surface gives way."""

    friction: str = MEAN
    restitution: str = LARGER

    def checked(self, name: str) -> "Combination":
        """Return the combination. Raises ValueError for a rule that does not exist."""
        for what, rule in self._asdict().items():
            checks.one_of(f"{name}: combination of {what}", rule, tuple(RULES))
        return self

    def of(self, a: Material, b: Material) -> Material:
        """Return the material between two surfaces."""
        return Material(RULES[self.friction](a.friction, b.friction),
                        RULES[self.restitution](a.restitution, b.restitution), max(a.torsion, b.torsion),
                        max(a.rolling, b.rolling))
