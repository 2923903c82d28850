"""Robots with armature, and the same with rotors: a wheel on the root that turns by one radian for each radian or meter
of a joint, as a mimic joint, adds the kinetic energy of armature and does nothing else."""
import numpy as np

import screw_dynamics as sd
from support.random_trees import GROUPS, KINDS, builder_of, model_of, random_tree

TREES = {"tree": (0, KINDS), "mimics": (2, KINDS), "groups": (0, (*GROUPS, *KINDS))}
GRAVITY = np.array([1.0, -2.0, -9.0])
BOUND = 1e-12


class Pair:
    """A robot with armature, the same with wheels and without either, a state, and a wrench on a link."""

    def __init__(self, name, joints=7):
        rng = np.random.default_rng(3)
        parts = random_tree(rng, joints, *TREES[name])
        plain = sd.Robot(model_of(parts), GRAVITY)
        axes = [joint for joint, kind in zip(plain.joint_names, plain.model.joint_kinds, strict=True) if kind in KINDS]
        armature = dict(zip(axes, rng.uniform(0.2, 2.0, len(axes)), strict=True))
        builder = builder_of(parts)
        for joint, a in armature.items():
            wheel = sd.inertia_matrix(0.0, np.zeros(3), np.diag([a / 2, a / 2, a]))
            builder.add_joint(f"{joint} turns", f"wheel of {joint}", "root", [0, 0, 1, 0, 0, 0], inertia=wheel,
                              mimic=sd.Mimic(joint, 1.0, 0.0))
        self.plain, self.geared = plain, plain.with_armature(armature)
        self.wheels = sd.Robot(builder.build(), GRAVITY)
        self.tip = parts[-1].link
        self.q, (self.qd, self.qdd, self.qddd, self.qdddd) = plain.random_configuration(seed=rng), rng.uniform(
            -2.0, 2.0, (4, plain.n))
        self.load = {self.tip: rng.standard_normal(6)}

    def near(self, f, bound=BOUND):
        """Hold f(robot) of both to each other; it differs without armature."""
        found, expected, without = ([np.asarray(x) for x in (y if isinstance(y, tuple) else (y,))] for y in (
            f(self.geared), f(self.wheels), f(self.plain)))
        for x, y in zip(found, expected, strict=True):
            assert x.shape == y.shape and np.abs(x - y).max() <= bound * max(1.0, np.abs(y).max())
        assert any(np.abs(x - y).max() > 1e-3 for x, y in zip(without, expected, strict=True))


def arm(**options):
    """The builder of an arm that turns and extends; the options are those of the first joint."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("turn", "upper", "base", (0, 1, 0), mass=1.0, com=(0, 0, 0.5), **options)
    builder.add_screw("slide", "lower", "upper", (0, 0, 1), pitch=np.inf, mass=0.5)
    return builder
